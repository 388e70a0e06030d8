// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A stub is code of a fixed size that jumps through a slot of the GOT:
 *
 *   x86-64   [endbr64] [bnd] jmp *slot(%rip) ...                      8 or 16 bytes
 *   aarch64  [bti c] adrp x16, page; ldr x17, [x16, #in_page] ...    16 or 24 bytes
 *
 * and the dynamic relocation of that slot names the function. Going by the slot rather than by the
 * order of the relocations needs no belief in how a linker lays out its stubs.
 */
#include "unwind/plt.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "unwind/image.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <string.h>

/* The biggest programs have some ten thousand. */
#define MAX_STUBS 1000000

struct slot {
	uint64_t vaddr;
	uint32_t symbols; /* section of the symbol table */
	uint32_t symbol;  /* 0: an IFUNC, whose resolver is at ->addend */
	uint64_t addend;
};

struct slots {
	struct slot *slots;
	size_t nr, cap;
	size_t nr_plt; /* relocations in .rela.plt */
};

/* How one machine makes its stubs. */
struct machine {
	uint32_t jump_slot, glob_dat, irelative;
	uint32_t header_bytes;
	/* The slot that the stub at @vaddr jumps through, 0 when the @n bytes are no stub. */
	uint64_t (*decode)(const uint8_t *stub, size_t n, uint64_t vaddr);
};

static uint32_t le32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t decode_x86_64(const uint8_t *stub, size_t n, uint64_t vaddr)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t i = 0;

	if (n >= 4 && memcmp(stub, endbr64, 4) == 0)
		i = 4;
	if (i < n && stub[i] == 0xf2)
		i++;
	if (n < 6 || i > n - 6 || stub[i] != 0xff || stub[i + 1] != 0x25)
		return 0;
	return vaddr + i + 6 + (uint64_t)(int64_t)(int32_t)le32(stub + i + 2);
}

static uint64_t decode_aarch64(const uint8_t *stub, size_t n, uint64_t vaddr)
{
	uint32_t adrp, ldr;
	int64_t pages;
	size_t i = 0;

	if (n >= 12 && le32(stub) == 0xd503245f)
		i = 4;
	if (n < 8)
		return 0;
	adrp = le32(stub + i);
	ldr = le32(stub + i + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return 0;
	/* A signed number of pages: 19 high bits in 23..5, 2 low bits in 30..29. */
	pages = (int64_t)((uint64_t)(adrp >> 5 & 0x7ffff) << 45) >> 43 | (adrp >> 29 & 3);
	return (vaddr & ~0xfffULL) + (uint64_t)pages * 4096 + (uint64_t)(ldr >> 10 & 0xfff) * 8;
}

static const struct machine *machine_of(const struct pev_image *image)
{
	static const struct machine x86_64 = {
		.jump_slot = R_X86_64_JUMP_SLOT,
		.glob_dat = R_X86_64_GLOB_DAT,
		.irelative = R_X86_64_IRELATIVE,
		.decode = decode_x86_64,
	};
	static const struct machine aarch64 = {
		.jump_slot = R_AARCH64_JUMP_SLOT,
		.glob_dat = R_AARCH64_GLOB_DAT,
		.irelative = R_AARCH64_IRELATIVE,
		.header_bytes = 32,
		.decode = decode_aarch64,
	};

	if (image->machine == EM_X86_64 && image->is_64)
		return &x86_64;
	return image->machine == EM_AARCH64 && image->is_64 ? &aarch64 : NULL;
}

void pev_plt_done(struct pev_plt *plt)
{
	free(plt->stubs);
	pev_buf_done(&plt->names);
	*plt = (struct pev_plt){ 0 };
}

static int slot_cmp(const void *pa, const void *pb)
{
	const struct slot *const a = pa, *const b = pb;

	return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

static void slots_done(struct slots *s)
{
	free(s->slots);
}

/* The relocations of section @name that fill slots with functions. */
static int read_slots(const struct pev_image *image, const struct machine *m, const char *name,
		      struct slots *s)
{
	struct pev_section section;
	Elf_Data *data;
	size_t nr;

	if (pev_image_section(image, name, &section) < 0 || section.type != SHT_RELA)
		return 0;
	data = elf_getdata(elf_getscn(image->elf, section.index), NULL);
	if (!data || !data->d_buf)
		return 0;
	nr = PEV_MIN(data->d_size / sizeof(Elf64_Rela), (size_t)INT32_MAX);
	for (size_t i = 0; i < nr; i++) {
		GElf_Rela rela;
		uint64_t type;

		if (!gelf_getrela(data, (int)i, &rela))
			break;
		type = GELF_R_TYPE(rela.r_info);
		if (type != m->jump_slot && type != m->glob_dat && type != m->irelative)
			continue;
		if (s->nr == s->cap) {
			const size_t cap = s->cap ? s->cap * 2 : 64;
			struct slot *const p = reallocarray(s->slots, cap, sizeof(*p));

			if (!p)
				return -ENOMEM;
			s->slots = p;
			s->cap = cap;
		}
		s->slots[s->nr++] = (struct slot){
			.vaddr = rela.r_offset,
			.symbols = section.link,
			.symbol = (uint32_t)GELF_R_SYM(rela.r_info),
			.addend = (uint64_t)rela.r_addend,
		};
	}
	return 0;
}

static const char *slot_name(const struct pev_image *image, const struct slot *slot)
{
	Elf_Scn *const scn = elf_getscn(image->elf, slot->symbols);
	Elf_Data *const data = scn ? elf_getdata(scn, NULL) : NULL;
	GElf_Shdr sh;
	GElf_Sym sym;

	if (!slot->symbol || slot->symbol > INT32_MAX || !data || !gelf_getshdr(scn, &sh) ||
	    !gelf_getsym(data, (int)slot->symbol, &sym))
		return NULL;
	return elf_strptr(image->elf, sh.sh_link, sym.st_name);
}

/* Adds a stub; one that continues a run of ".plt" bytes makes that run longer. */
static int add_stub(struct pev_plt *plt, uint64_t vaddr, uint32_t size, const char *name,
		    uint64_t ifunc)
{
	struct pev_plt_stub *const last = plt->nr ? &plt->stubs[plt->nr - 1] : NULL;

	if (!name && last && last->vaddr + last->size == vaddr && last->size < UINT32_MAX - size &&
	    strcmp((const char *)plt->names.data + last->name, ".plt") == 0) {
		last->size += size;
		return 0;
	}
	if (plt->nr == MAX_STUBS || plt->names.size > UINT32_MAX / 2)
		return 0;
	if (pev_is_pow2(plt->nr) || !plt->nr) {
		struct pev_plt_stub *const p =
			reallocarray(plt->stubs, plt->nr ? plt->nr * 2 : 1, sizeof(*p));

		if (!p)
			return -ENOMEM;
		plt->stubs = p;
	}
	plt->stubs[plt->nr++] = (struct pev_plt_stub){
		.vaddr = vaddr,
		.size = size,
		.name = (uint32_t)plt->names.size,
		.ifunc = ifunc,
	};
	pev_buf_printf(&plt->names, "%s%s", name ? name : ".plt", name ? "@plt" : "");
	pev_buf_u8(&plt->names, 0);
	return pev_buf_status(&plt->names);
}

static uint32_t stub_bytes(const struct pev_image *image, const struct pev_section *section,
			   const struct slots *s)
{
	if (image->machine == EM_AARCH64) {
		/* 24 bytes with branch protection. */
		return s->nr_plt && section->size > 32 && (section->size - 32) / s->nr_plt == 24
			       ? 24
			       : 16;
	}
	if (section->entsize == 8 || section->entsize == 16)
		return (uint32_t)section->entsize;
	return section->addralign == 8 ? 8 : 16;
}

static int read_stubs(struct pev_image *image, const struct machine *m, const char *name,
		      const struct slots *s, struct pev_plt *plt)
{
	const bool is_plt = strcmp(name, ".plt") == 0;
	struct pev_section section;
	const uint8_t *bytes;
	size_t size, step, i = 0;
	int r = 0;

	if (pev_image_section(image, name, &section) < 0 ||
	    pev_image_section_bytes(image, &section, &bytes, &size) < 0)
		return 0;
	step = stub_bytes(image, &section, s);
	if (is_plt && m->header_bytes) {
		i = PEV_MIN(size, (size_t)m->header_bytes);
		r = add_stub(plt, section.addr, (uint32_t)i, NULL, 0);
	}
	for (; r >= 0 && i < size; i += step) {
		const uint64_t vaddr = section.addr + i;
		const uint32_t n = (uint32_t)PEV_MIN(step, size - i);
		const uint64_t target = m->decode(bytes + i, n, vaddr);
		const struct slot key = { .vaddr = target };
		const struct slot *const slot =
			target && s->nr ? bsearch(&key, s->slots, s->nr, sizeof(key), slot_cmp)
					: NULL;
		const char *const symbol = slot ? slot_name(image, slot) : NULL;
		char fallback[40];

		if (symbol && *symbol) {
			r = add_stub(plt, vaddr, n, symbol, 0);
			continue;
		}
		(void)snprintf(fallback, sizeof(fallback), "offset_%#" PRIx64, section.offset + i);
		r = add_stub(plt, vaddr, n, is_plt && !slot ? NULL : fallback,
			     slot && !slot->symbol ? slot->addend : 0);
	}
	return r;
}

int pev_plt_read(struct pev_image *image, struct pev_plt *ret)
{
	static const char *const sections[] = { ".plt", ".plt.got", ".plt.sec" };
	_cleanup_(slots_done) struct slots s = { 0 };
	_cleanup_(pev_plt_done) struct pev_plt plt = { 0 };
	const struct machine *const m = machine_of(image);
	int r;

	if (!m) {
		*ret = plt;
		return 0;
	}
	r = read_slots(image, m, ".rela.plt", &s);
	s.nr_plt = s.nr;
	if (r == 0)
		r = read_slots(image, m, ".rela.dyn", &s);
	if (s.nr)
		qsort(s.slots, s.nr, sizeof(*s.slots), slot_cmp);
	for (size_t i = 0; r >= 0 && i < PEV_ARRAY_SIZE(sections); i++)
		r = read_stubs(image, m, sections[i], &s, &plt);
	if (r < 0)
		return r;
	*ret = plt;
	plt = (struct pev_plt){ 0 };
	return 0;
}
