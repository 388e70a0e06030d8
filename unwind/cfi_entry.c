// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An entry of either section, with the fields of .debug_frame in brackets where they differ:
 *
 *   u32 length, or 0xffffffff and u64 length     of what follows; 0 ends .eh_frame
 *   u32 id [u64 in the 64-bit format of DWARF]   CIE: 0 [all ones]
 *                                                FDE: this place minus that of the CIE [its offset]
 *   CIE: u8 version, string augmentation, [version 4: u8 address size, u8 segment size]
 *        uleb code alignment, sleb data alignment, return column (version 1: u8, else uleb)
 *        with 'z': uleb size, then what the letters of the augmentation announce
 *        program
 *   FDE: start, size of the range (both encoded as the CIE says), with 'z': uleb size and bytes
 *        program
 */
#include "unwind/cfi_entry.h"

#include "base/checked.h"
#include "unwind/leb.h"

#include <dwarf.h>
#include <errno.h>

static struct pev_cursor cursor_at(const struct pev_cfi_table *t, size_t offset)
{
	struct pev_cursor c = pev_cursor(t->section->data + offset, t->section->size - offset);

	c.swap = t->of->swap;
	return c;
}

int pev_entry_read(const struct pev_cfi_table *t, uint64_t offset, struct pev_entry *ret)
{
	uint64_t length, id, id_at, cie_offset;
	struct pev_cursor c;
	bool wide; /* the id is 8 bytes */

	if (offset >= t->section->size)
		return -ENODATA;
	c = cursor_at(t, (size_t)offset);
	length = pev_cursor_u32(&c);
	wide = length == UINT32_MAX && t->debug;
	if (length == UINT32_MAX)
		length = pev_cursor_u64(&c);
	if (c.failed)
		return -EBADMSG;
	if (!length)
		return -ENODATA;
	if (length > pev_cursor_left(&c))
		return -EBADMSG;
	c.end = c.p + length;
	id_at = (uint64_t)(c.p - t->section->data);
	id = wide ? pev_cursor_u64(&c) : pev_cursor_u32(&c);
	if (c.failed)
		return -EBADMSG;
	cie_offset = t->debug ? id : id_at - id;
	*ret = (struct pev_entry){
		.is_cie = t->debug ? id == (wide ? UINT64_MAX : UINT32_MAX) : id == 0,
		.next = (size_t)(c.end - t->section->data),
		.body = c,
	};
	if (!ret->is_cie) {
		if (cie_offset >= t->section->size)
			return -EBADMSG;
		ret->cie_offset = (size_t)cie_offset;
	}
	return 0;
}

/* A number in the format of @enc, without what it is relative to. */
static uint64_t read_format(struct pev_cursor *c, uint8_t enc, uint8_t ptr_size)
{
	switch (enc & 0x0f) {
	case DW_EH_PE_absptr:
		return ptr_size == 4 ? pev_cursor_u32(c) : pev_cursor_u64(c);
	case DW_EH_PE_uleb128:
		return pev_cursor_uleb(c);
	case DW_EH_PE_udata2:
		return pev_cursor_u16(c);
	case DW_EH_PE_udata4:
		return pev_cursor_u32(c);
	case DW_EH_PE_sleb128:
		return (uint64_t)pev_cursor_sleb(c);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int16_t)pev_cursor_u16(c);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int32_t)pev_cursor_u32(c);
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
	case DW_EH_PE_signed:
		if ((enc & 0x0f) == DW_EH_PE_signed && ptr_size == 4)
			return (uint64_t)(int32_t)pev_cursor_u32(c);
		return pev_cursor_u64(c);
	default:
		c->failed = true;
		return 0;
	}
}

uint64_t pev_cursor_encoded(struct pev_cursor *c, const struct pev_cfi_sections *of,
			    const struct pev_cfi_section *section, uint64_t data_vaddr, uint8_t enc,
			    uint8_t ptr_size)
{
	const uint64_t here = section->vaddr + (uint64_t)(c->p - section->data);
	const uint64_t mask = ptr_size == 4 ? UINT32_MAX : UINT64_MAX;
	uint64_t v, pad;

	switch (enc & 0xf0) {
	case DW_EH_PE_absptr:
		return read_format(c, enc, ptr_size) & mask;
	case DW_EH_PE_pcrel:
		return (here + read_format(c, enc, ptr_size)) & mask;
	case DW_EH_PE_textrel:
		return (of->text_vaddr + read_format(c, enc, ptr_size)) & mask;
	case DW_EH_PE_datarel:
		return (data_vaddr + read_format(c, enc, ptr_size)) & mask;
	case DW_EH_PE_aligned:
		pad = (0 - here) & (ptr_size - 1U);
		(void)pev_cursor_bytes(c, (size_t)pad);
		v = read_format(c, DW_EH_PE_absptr, ptr_size);
		return v & mask;
	default:
		/* Relative to the function, or in memory that only the running process has. */
		c->failed = true;
		return 0;
	}
}

/* The augmentation data of a CIE, which @data holds, as the letters after 'z' announce it. */
static int read_augmentation(const struct pev_cfi_table *t, const char *letters,
			     struct pev_cursor data, struct pev_cie *cie)
{
	uint8_t enc;

	for (; *letters && !data.failed; letters++) {
		switch (*letters) {
		case 'R':
			cie->pc_enc = pev_cursor_u8(&data);
			break;
		case 'L':
			(void)pev_cursor_u8(&data);
			break;
		case 'P':
			enc = pev_cursor_u8(&data);
			/* The personality routine is not of interest, but its size is. */
			if (enc != DW_EH_PE_omit)
				(void)pev_cursor_encoded(&data, t->of, t->section,
							 t->of->data_vaddr, enc & 0x7f,
							 cie->ptr_size);
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B': /* aarch64: return addresses are signed with the B key */
		case 'G': /* aarch64: frames are tagged */
			break;
		default:
			/* Of unknown size; what comes after it cannot be found. */
			return 0;
		}
	}
	return data.failed ? -EBADMSG : 0;
}

static int read_augmented(const struct pev_cfi_table *t, struct pev_cursor *c, const char *letters,
			  struct pev_cie *cie)
{
	struct pev_cursor data;
	uint64_t size;

	if (!letters[0] || letters[0] != 'z')
		return 0;
	cie->augmented = true;
	size = pev_cursor_uleb(c);
	if (c->failed || size > pev_cursor_left(c))
		return -EBADMSG;
	data = *c;
	data.end = data.p + size;
	(void)pev_cursor_bytes(c, (size_t)size);
	return read_augmentation(t, letters + 1, data, cie);
}

int pev_cie_read(const struct pev_cfi_table *t, uint64_t offset, struct pev_cie *ret)
{
	struct pev_cie cie = { .ptr_size = t->of->ptr_size, .pc_enc = DW_EH_PE_absptr };
	struct pev_entry entry;
	struct pev_cursor c;
	const uint8_t *nul;
	const char *letters;
	uint8_t version;
	int r;

	r = pev_entry_read(t, offset, &entry);
	if (r < 0)
		return -EBADMSG;
	if (!entry.is_cie)
		return -EBADMSG;
	c = entry.body;
	version = pev_cursor_u8(&c);
	if (version != 1 && version != 3 && version != 4)
		return -EPROTONOSUPPORT;
	nul = memchr(c.p, 0, pev_cursor_left(&c));
	if (!nul)
		return -EBADMSG;
	letters = pev_cursor_str(&c, (size_t)(nul - c.p) + 1);
	if (letters[0] && letters[0] != 'z' && strcmp(letters, "eh") != 0 &&
	    strcmp(letters, "S") != 0)
		return -EPROTONOSUPPORT;
	if (!strcmp(letters, "eh"))
		(void)pev_cursor_bytes(&c, cie.ptr_size);
	cie.signal = !strcmp(letters, "S");
	if (version == 4) {
		cie.ptr_size = pev_cursor_u8(&c);
		if (pev_cursor_u8(&c) || (cie.ptr_size != 4 && cie.ptr_size != 8))
			return -EPROTONOSUPPORT;
	}
	cie.code_align = pev_cursor_uleb(&c);
	cie.data_align = pev_cursor_sleb(&c);
	cie.ra = version == 1 ? pev_cursor_u8(&c) : pev_cursor_uleb(&c);
	r = read_augmented(t, &c, letters, &cie);
	if (c.failed || r < 0)
		return c.failed ? -EBADMSG : r;
	cie.program = c;
	*ret = cie;
	return 0;
}

int pev_fde_read_body(const struct pev_cfi_table *t, const struct pev_entry *entry,
		      struct pev_fde *ret)
{
	const struct pev_cie *const cie = &ret->cie;
	const uint64_t mask = cie->ptr_size == 4 ? UINT32_MAX : UINT64_MAX;
	struct pev_cursor c = entry->body;
	uint64_t size;

	ret->start = pev_cursor_encoded(&c, t->of, t->section, t->of->data_vaddr, cie->pc_enc,
					cie->ptr_size);
	/* The size has the width of the address, but is neither relative nor signed. */
	size = read_format(&c, cie->pc_enc & 0x07, cie->ptr_size) & mask;
	if (c.failed || !pev_add_u64(ret->start, size, &ret->end))
		return -EBADMSG;
	if (cie->augmented)
		(void)pev_cursor_bytes(&c, (size_t)pev_cursor_uleb(&c));
	if (c.failed)
		return -EBADMSG;
	ret->program = c;
	return 0;
}

int pev_fde_read(const struct pev_cfi_table *t, uint64_t offset, struct pev_fde *ret)
{
	struct pev_entry entry;
	int r;

	r = pev_entry_read(t, offset, &entry);
	if (r < 0)
		return -EBADMSG;
	if (entry.is_cie)
		return -EBADMSG;
	r = pev_cie_read(t, entry.cie_offset, &ret->cie);
	if (r < 0)
		return r;
	return pev_fde_read_body(t, &entry, ret);
}
