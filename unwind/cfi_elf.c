// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unwind/cfi.h"

#include "base/checked.h"
#include "base/cursor.h"
#include "unwind/cfi_entry.h"

#include <dwarf.h>
#include <errno.h>
#include <gelf.h>

static int libelf_error(struct pev_err *err, const char *what)
{
	return pev_err_set(err, -EBADMSG, "cannot read %s of the ELF file: %s", what,
			   elf_errmsg(-1));
}

/* The bytes of the section, decompressed in memory when need be. */
static int section_bytes(Elf_Scn *scn, const GElf_Shdr *shdr, const char *name,
			 struct pev_cfi_section *ret, struct pev_err *err)
{
	Elf_Data *data;

	if (shdr->sh_type == SHT_NOBITS)
		return 0;
	if ((shdr->sh_flags & SHF_COMPRESSED) && elf_compress(scn, 0, 0) < 0)
		return libelf_error(err, name);
	if (!strncmp(name, ".z", 2) && elf_compress_gnu(scn, 0, 0) < 0)
		return libelf_error(err, name);
	data = elf_getdata(scn, NULL);
	if (!data)
		return libelf_error(err, name);
	*ret = (struct pev_cfi_section){ .data = data->d_buf,
					 .size = data->d_buf ? data->d_size : 0,
					 .vaddr = shdr->sh_addr };
	return 0;
}

/* .plt, .plt.got, .plt.sec, .iplt: every linker puts them side by side. */
static void extend_plt(const GElf_Shdr *shdr, struct pev_cfi_sections *s)
{
	const uint64_t end = shdr->sh_addr + shdr->sh_size;

	if (!(shdr->sh_flags & SHF_EXECINSTR))
		return;
	if (!s->plt_size) {
		s->plt_vaddr = shdr->sh_addr;
		s->plt_size = shdr->sh_size;
		return;
	}
	s->plt_size = PEV_MAX(s->plt_vaddr + s->plt_size, end);
	s->plt_vaddr = PEV_MIN(s->plt_vaddr, shdr->sh_addr);
	s->plt_size -= s->plt_vaddr;
}

/* What is taken from one section of the file; @debug: only .debug_frame is wanted. */
static int take_section(Elf_Scn *scn, const GElf_Shdr *shdr, const char *name, bool debug,
			struct pev_cfi_sections *s, struct pev_err *err)
{
	if (!strcmp(name, ".debug_frame") || !strcmp(name, ".zdebug_frame"))
		return section_bytes(scn, shdr, name, &s->debug_frame, err);
	if (debug)
		return 0;
	if (!strcmp(name, ".eh_frame"))
		return section_bytes(scn, shdr, name, &s->eh_frame, err);
	if (!strcmp(name, ".eh_frame_hdr"))
		return section_bytes(scn, shdr, name, &s->eh_frame_hdr, err);
	if (!strncmp(name, ".plt", 4) || !strcmp(name, ".iplt"))
		extend_plt(shdr, s);
	else if (!strcmp(name, ".text"))
		s->text_vaddr = shdr->sh_addr;
	else if (!strcmp(name, ".got.plt") || (!strcmp(name, ".got") && !s->data_vaddr))
		s->data_vaddr = shdr->sh_addr;
	return 0;
}

static int take_sections(Elf *elf, bool debug, struct pev_cfi_sections *s, struct pev_err *err)
{
	size_t names;
	Elf_Scn *scn = NULL;
	int r;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return 0;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *name;

		if (!gelf_getshdr(scn, &shdr))
			return libelf_error(err, "a section header");
		name = elf_strptr(elf, names, shdr.sh_name);
		if (!name)
			continue;
		r = take_section(scn, &shdr, name, debug, s, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The bytes from @vaddr to the end of the segment that they are in; none when there is no such. */
static void segment_bytes(Elf *elf, uint64_t vaddr, struct pev_cfi_section *ret)
{
	size_t nr;
	GElf_Phdr ph;
	Elf_Data *data;

	if (elf_getphdrnum(elf, &nr) < 0)
		return;
	for (size_t i = 0; i < nr; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD ||
		    vaddr - ph.p_vaddr >= ph.p_filesz)
			continue;
		data = elf_getdata_rawchunk(elf, (int64_t)(ph.p_offset + (vaddr - ph.p_vaddr)),
					    ph.p_filesz - (vaddr - ph.p_vaddr), ELF_T_BYTE);
		if (data)
			*ret = (struct pev_cfi_section){ .data = data->d_buf,
							 .size = data->d_size,
							 .vaddr = vaddr };
		return;
	}
}

/* Files without section headers: PT_GNU_EH_FRAME is .eh_frame_hdr, which points to .eh_frame. */
static void take_segments(Elf *elf, struct pev_cfi_sections *s)
{
	struct pev_cfi_section *const hdr = &s->eh_frame_hdr;
	struct pev_cursor c;
	size_t nr;
	GElf_Phdr ph;
	uint64_t vaddr;
	uint8_t enc;

	if (elf_getphdrnum(elf, &nr) < 0)
		return;
	for (size_t i = 0; i < nr; i++)
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_GNU_EH_FRAME)
			segment_bytes(elf, ph.p_vaddr, hdr);
	if (!hdr->size)
		return;
	c = pev_cursor(hdr->data, hdr->size);
	c.swap = s->swap;
	if (pev_cursor_u8(&c) != 1)
		return;
	enc = pev_cursor_u8(&c);
	(void)pev_cursor_u16(&c);
	if (c.failed || enc == DW_EH_PE_omit)
		return;
	vaddr = pev_cursor_encoded(&c, s, hdr, hdr->vaddr, enc, s->ptr_size);
	if (!c.failed)
		segment_bytes(elf, vaddr, &s->eh_frame);
}

int pev_cfi_sections_of_elf(Elf *elf, Elf *debug, struct pev_cfi_sections *ret, struct pev_err *err)
{
	struct pev_cfi_sections s = { 0 };
	GElf_Ehdr eh;
	int r;

	if (!gelf_getehdr(elf, &eh))
		return libelf_error(err, "the header");
	s.arch = pev_arch_of_elf(eh.e_machine);
	if (!s.arch)
		return pev_err_set(
			err, -EPROTONOSUPPORT,
			"ELF machine %u has no unwinder here; x86-64, i386 and aarch64 do",
			eh.e_machine);
	s.swap = eh.e_ident[EI_DATA] !=
		 (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
	s.ptr_size = eh.e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
	r = take_sections(elf, false, &s, err);
	if (r < 0)
		return r;
	if (!s.eh_frame.size)
		take_segments(elf, &s);
	if (!s.debug_frame.size && debug)
		r = take_sections(debug, true, &s, err);
	if (r < 0)
		return r;
	*ret = s;
	return 0;
}
