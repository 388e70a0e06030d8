// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/unit/test.h"

#include "tests/unit/cfi_build.h"

#include <dwarf.h>
#include <string.h>

static size_t begin_entry(struct cfi_build *b)
{
	const size_t at = b->bytes.size;

	pev_buf_u32(&b->bytes, b->wide ? UINT32_MAX : 0);
	if (b->wide)
		pev_buf_u64(&b->bytes, 0);
	return at;
}

/* Pads the entry with DW_CFA_nop and fills in its length. */
static void end_entry(struct cfi_build *b, size_t at)
{
	const size_t head = b->wide ? 12 : 4;
	uint64_t length;

	while ((b->bytes.size - at - head) % 4)
		pev_buf_u8(&b->bytes, DW_CFA_nop);
	length = b->bytes.size - at - head;
	if (b->wide)
		memcpy(b->bytes.data + at + 4, &length, 8);
	else
		memcpy(b->bytes.data + at, &(uint32_t){ (uint32_t)length }, 4);
}

static void put_id(struct cfi_build *b, uint64_t id)
{
	if (b->wide && b->debug)
		pev_buf_u64(&b->bytes, id);
	else
		pev_buf_u32(&b->bytes, (uint32_t)id);
}

static void put_augmentation_data(struct pev_buf *to, const char *letters)
{
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			pev_buf_u8(to, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
			break;
		case 'L':
			pev_buf_u8(to, DW_EH_PE_omit);
			break;
		case 'P':
			pev_buf_u8(to, DW_EH_PE_udata4);
			pev_buf_u32(to, 0x1234);
			break;
		default:
			break;
		}
	}
}

void build_cie(struct cfi_build *b, const struct build_cie *cie, const uint8_t *program,
	       size_t size)
{
	const char *const letters = cie->augmentation ? cie->augmentation : b->debug ? "" : "zR";
	const uint8_t version = cie->version ? cie->version : 1;
	struct pev_buf data = { 0 };

	b->cie = begin_entry(b);
	put_id(b, b->debug ? UINT64_MAX : 0);
	pev_buf_u8(&b->bytes, version);
	pev_buf_put(&b->bytes, letters, strlen(letters) + 1);
	if (!strcmp(letters, "eh"))
		pev_buf_zero(&b->bytes, b->arch->word);
	if (version == 4) {
		pev_buf_u8(&b->bytes, b->arch->word);
		pev_buf_u8(&b->bytes, 0);
	}
	pev_buf_u8(&b->bytes, cie->code_align ? cie->code_align : 1);
	pev_buf_u8(&b->bytes, 0x7f & (cie->data_align ? cie->data_align : -b->arch->word));
	pev_buf_u8(&b->bytes, cie->ra ? cie->ra : b->arch->ra);
	if (letters[0] == 'z') {
		put_augmentation_data(&data, letters + 1);
		pev_buf_u8(&b->bytes, (uint8_t)data.size);
		pev_buf_put(&b->bytes, data.data, data.size);
		pev_buf_done(&data);
	}
	pev_buf_put(&b->bytes, program, size);
	end_entry(b, b->cie);
}

size_t build_fde(struct cfi_build *b, uint64_t start, uint64_t size, const uint8_t *program,
		 size_t program_size)
{
	const size_t at = begin_entry(b);
	const uint64_t here = b->bytes.size;

	put_id(b, b->debug ? b->cie : here - b->cie);
	if (b->debug && b->arch->word == 8) {
		pev_buf_u64(&b->bytes, start);
		pev_buf_u64(&b->bytes, size);
	} else {
		const uint64_t from = b->debug ? 0 : BUILD_VADDR + b->bytes.size;

		pev_buf_u32(&b->bytes, (uint32_t)(start - from));
		pev_buf_u32(&b->bytes, (uint32_t)size);
	}
	if (!b->debug)
		pev_buf_u8(&b->bytes, 0);
	pev_buf_put(&b->bytes, program, program_size);
	end_entry(b, at);
	return at;
}

void build_hdr(struct cfi_build *b, const uint64_t *starts, const size_t *offsets, size_t nr)
{
	b->hdr_vaddr = BUILD_VADDR - 0x1000;
	pev_buf_u8(&b->hdr, 1);
	pev_buf_u8(&b->hdr, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	pev_buf_u8(&b->hdr, DW_EH_PE_udata4);
	pev_buf_u8(&b->hdr, DW_EH_PE_datarel | DW_EH_PE_sdata4);
	pev_buf_u32(&b->hdr, (uint32_t)(BUILD_VADDR - b->hdr_vaddr - 4));
	pev_buf_u32(&b->hdr, (uint32_t)nr);
	for (size_t i = 0; i < nr; i++) {
		pev_buf_u32(&b->hdr, (uint32_t)(starts[i] - b->hdr_vaddr));
		pev_buf_u32(&b->hdr, (uint32_t)(BUILD_VADDR + offsets[i] - b->hdr_vaddr));
	}
}

struct pev_cfi_sections build_sections(const struct cfi_build *b)
{
	const struct pev_cfi_section bytes = { .data = b->bytes.data,
					       .size = b->bytes.size,
					       .vaddr = BUILD_VADDR };
	struct pev_cfi_sections s = { .arch = b->arch, .ptr_size = b->arch->word };

	assert_int_equal(pev_buf_status(&b->bytes), 0);
	if (b->debug)
		s.debug_frame = bytes;
	else
		s.eh_frame = bytes;
	s.eh_frame_hdr = (struct pev_cfi_section){ .data = b->hdr.data,
						   .size = b->hdr.size,
						   .vaddr = b->hdr_vaddr };
	return s;
}

struct pev_cfi *build_new(const struct cfi_build *b)
{
	const struct pev_cfi_sections s = build_sections(b);
	struct pev_err err = PEV_ERR_INIT;
	struct pev_cfi *cfi;

	assert_int_equal(pev_cfi_new(&s, &cfi, &err), 0);
	return cfi;
}
