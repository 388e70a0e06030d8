// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A .dwp file is many .dwo files, merged section by section, with an index (.debug_cu_index, DWARF
 * 5 section 7.3.5.3) that tells which bytes of each section belong to which unit:
 *
 *   version, nr of columns, nr of units, nr of slots       4 x u32 (version 5: u16 and 2 zeros)
 *   signature of a unit, or 0                              nr of slots x u64, a hash table
 *   its row, counted from 1                                nr of slots x u32
 *   which section a column is about (DW_SECT_*)            nr of columns x u32
 *   offset in that section                                 nr of units x nr of columns x u32
 *   size                                                   the same
 *
 * To show a unit to libdw, the package is mapped once more, privately, and its ELF header is made
 * to point to new section headers that are appended: they name the unit's bytes only, as its .dwo
 * file would have. Nothing is copied but the unit's addresses (.debug_addr), which a .dwo file has
 * in the program:
 *
 *   | ELF header* | the package as it is, not copied | section headers | names | addresses |
 *     * a private copy of this page
 */
#include "unwind/dwp.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "unwind/image.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <libelf.h>
#include <string.h>
#include <sys/mman.h>

#define MAX_COLUMNS  16
#define MAX_SECTIONS 16
/* Addresses and ranges of one unit, when nothing says where they end. */
#define MAX_TAIL (16U << 20)
#define PAGE     4096U

/* A unit as libdw sees it. */
struct view {
	struct view *next;
	uint64_t id;
	void *map;
	size_t size;
	Elf *elf;
	Dwarf *dwarf;
	Dwarf_Die die;
};

struct pev_dwp {
	struct pev_image *program, *package;
	uint32_t version;
	uint32_t nr_columns, nr_units, nr_slots;
	uint32_t columns[MAX_COLUMNS];
	struct pev_cursor slots, rows, offsets, sizes; /* each over its whole part */
	struct view *views;
};

struct slice {
	const char *name;
	uint64_t offset, size; /* in the view */
};

static void view_free(struct view *v)
{
	if (v->dwarf)
		(void)dwarf_end(v->dwarf);
	if (v->elf)
		(void)elf_end(v->elf);
	if (v->map)
		(void)munmap(v->map, v->size);
	free(v);
}
PEV_DEFINE_CLEANUP(struct view *, view_free);

void pev_dwp_close_units(struct pev_dwp *dwp)
{
	struct view *v = dwp ? dwp->views : NULL;

	while (v) {
		struct view *const next = v->next;

		view_free(v);
		v = next;
	}
	if (dwp)
		dwp->views = NULL;
}

struct pev_dwp *pev_dwp_free(struct pev_dwp *dwp)
{
	if (dwp) {
		pev_dwp_close_units(dwp);
		(void)pev_image_free(dwp->package);
		free(dwp);
	}
	return NULL;
}
PEV_DEFINE_CLEANUP(struct pev_dwp *, pev_dwp_free);

static uint32_t u32_at(const struct pev_cursor *part, uint64_t index)
{
	struct pev_cursor c = *part;

	if (index > pev_cursor_left(&c) / 4)
		return 0;
	(void)pev_cursor_bytes(&c, (size_t)index * 4);
	return pev_cursor_u32(&c);
}

/* Moves @c over the next @nr items of @size bytes, and returns a cursor over them. */
static struct pev_cursor part_of(struct pev_cursor *c, uint64_t nr, uint64_t size)
{
	const uint8_t *const p =
		nr <= pev_cursor_left(c) / size ? pev_cursor_bytes(c, (size_t)(nr * size)) : NULL;

	if (!p)
		c->failed = true;
	return pev_cursor(p, p ? (size_t)(nr * size) : 0);
}

static bool read_index(struct pev_dwp *dwp, const uint8_t *bytes, size_t size)
{
	struct pev_cursor c = pev_cursor(bytes, size), columns;

	dwp->version = pev_cursor_u32(&c);
	dwp->nr_columns = pev_cursor_u32(&c);
	dwp->nr_units = pev_cursor_u32(&c);
	dwp->nr_slots = pev_cursor_u32(&c);
	if (c.failed || (dwp->version != 2 && dwp->version != 5) || dwp->nr_columns > MAX_COLUMNS ||
	    !pev_is_pow2(dwp->nr_slots))
		return false;
	dwp->slots = part_of(&c, dwp->nr_slots, 8);
	dwp->rows = part_of(&c, dwp->nr_slots, 4);
	columns = part_of(&c, dwp->nr_columns, 4);
	dwp->offsets = part_of(&c, (uint64_t)dwp->nr_units * dwp->nr_columns, 4);
	dwp->sizes = part_of(&c, (uint64_t)dwp->nr_units * dwp->nr_columns, 4);
	for (uint32_t i = 0; i < dwp->nr_columns; i++)
		dwp->columns[i] = pev_cursor_u32(&columns);
	return !c.failed;
}

int pev_dwp_open(struct pev_image *image, struct pev_dwp **ret)
{
	_cleanup_(pev_dwp_freep) struct pev_dwp *dwp = NULL;
	_cleanup_free_ char *path = NULL;
	struct pev_section section;
	size_t n = strlen(image->path), size;
	const uint8_t *bytes;

	*ret = NULL;
	if (!image->is_64 || image->bytes[EI_DATA] != ELFDATA2LSB)
		return 0;
	dwp = calloc(1, sizeof(*dwp));
	if (!dwp)
		return -ENOMEM;
	if (n > 6 && strcmp(image->path + n - 6, ".debug") == 0)
		n -= 6;
	if (asprintf(&path, "%.*s.dwp", (int)n, image->path) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	dwp->program = image;
	if (pev_image_open(path, &dwp->package, NULL) < 0 || !dwp->package->is_64 ||
	    pev_image_section(dwp->package, ".debug_cu_index", &section) < 0 ||
	    (section.flags & SHF_COMPRESSED) ||
	    pev_image_section_bytes(dwp->package, &section, &bytes, &size) < 0 ||
	    !read_index(dwp, bytes, size))
		return 0;
	*ret = TAKE_PTR(dwp);
	return 0;
}

/* The row of unit @id, counted from 0; false when the package does not have it. */
static bool find_row(const struct pev_dwp *dwp, uint64_t id, uint32_t *ret)
{
	const uint32_t mask = dwp->nr_slots - 1;
	const uint32_t step = ((uint32_t)(id >> 32) & mask) | 1;
	uint32_t slot = (uint32_t)id & mask;

	for (uint32_t i = 0; i <= mask; i++, slot = (slot + step) & mask) {
		const uint32_t row = u32_at(&dwp->rows, slot);
		const uint64_t signature = (uint64_t)u32_at(&dwp->slots, slot * 2ULL) |
					   (uint64_t)u32_at(&dwp->slots, slot * 2ULL + 1) << 32;

		if (row == 0 && signature == 0)
			return false;
		if (signature != id || row == 0 || row > dwp->nr_units)
			continue;
		*ret = row - 1;
		return true;
	}
	return false;
}

/* The section that column @id is about; the numbers differ between GNU's version 2 and DWARF 5. */
static const char *column_name(uint32_t version, uint32_t id)
{
	switch (id) {
	case 1:
		return ".debug_info.dwo";
	case 3:
		return ".debug_abbrev.dwo";
	case 4:
		return ".debug_line.dwo";
	case 6:
		return ".debug_str_offsets.dwo";
	case 8:
		return version == 5 ? ".debug_rnglists.dwo" : NULL;
	default:
		return NULL; /* types, locations and macros are not asked for */
	}
}

/* Where section @name of the package is in the file; false when it is not there as it is. */
static bool section_place(const struct pev_dwp *dwp, const char *name, struct slice *ret)
{
	struct pev_section section;

	if (pev_image_section(dwp->package, name, &section) < 0 || section.type == SHT_NOBITS ||
	    (section.flags & SHF_COMPRESSED) || section.offset > dwp->package->size ||
	    section.size > dwp->package->size - section.offset)
		return false;
	*ret = (struct slice){ name, section.offset, section.size };
	return true;
}

/* The unit's bytes in each section; returns how many sections, 0 when they lie outside. */
static size_t unit_slices(const struct pev_dwp *dwp, uint32_t row, struct slice *slices)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < dwp->nr_columns; i++) {
		const uint64_t at = (uint64_t)row * dwp->nr_columns + i;
		const uint64_t offset = u32_at(&dwp->offsets, at), size = u32_at(&dwp->sizes, at);
		const char *const name = column_name(dwp->version, dwp->columns[i]);
		struct slice whole;

		if (!name || !size)
			continue;
		if (nr == MAX_SECTIONS - 4 || !section_place(dwp, name, &whole) ||
		    offset > whole.size || size > whole.size - offset)
			return 0;
		slices[nr++] = (struct slice){ name, whole.offset + offset, size };
	}
	if (section_place(dwp, ".debug_str.dwo", &slices[nr]))
		nr++;
	return nr;
}

static uint64_t skeleton_base(Dwarf_Die *skeleton, unsigned name, unsigned gnu_name)
{
	Dwarf_Attribute attr;
	Dwarf_Word v;

	if ((!name || !dwarf_attr(skeleton, name, &attr)) && !dwarf_attr(skeleton, gnu_name, &attr))
		return UINT64_MAX;
	return dwarf_formudata(&attr, &v) == 0 ? v : UINT64_MAX;
}

/* What the program's section @name has for this unit, from @base on. */
static struct pev_cursor program_part(const struct pev_dwp *dwp, const char *name, uint64_t base)
{
	struct pev_section section;
	const uint8_t *bytes;
	size_t size, length;

	if (base == UINT64_MAX || pev_image_section(dwp->program, name, &section) < 0 ||
	    pev_image_section_bytes(dwp->program, &section, &bytes, &size) < 0 || base > size)
		return (struct pev_cursor){ 0 };
	length = size - base;
	/* DWARF 5: the addresses of a unit follow a header that tells their size. */
	if (dwp->version == 5 && base >= 8) {
		struct pev_cursor header = pev_cursor(bytes + base - 8, 8);
		const uint32_t unit_length = pev_cursor_u32(&header);

		if (pev_cursor_u16(&header) == 5 && unit_length >= 4)
			length = PEV_MIN(length, (size_t)unit_length - 4);
	}
	return pev_cursor(bytes + base, PEV_MIN(length, (size_t)MAX_TAIL));
}

/* Appends @part to the view at *at and makes a section of it. */
static void append_part(struct view *v, size_t *at, const char *name, const struct pev_cursor *part,
			struct slice *slices, size_t *nr)
{
	const size_t n = pev_cursor_left(part);

	if (!n)
		return;
	memcpy((uint8_t *)v->map + *at, part->p, n);
	slices[(*nr)++] = (struct slice){ name, *at, n };
	*at += pev_align8(n);
}

/* Writes the new section headers at @at, and points the ELF header to them. */
static void write_headers(struct view *v, size_t at, const struct slice *slices, size_t nr)
{
	const size_t names = at + (nr + 2) * sizeof(Elf64_Shdr);
	Elf64_Shdr sh = { 0 };
	Elf64_Ehdr eh;
	size_t used = 1;
	uint8_t *const map = v->map;

	memcpy(map + at, &sh, sizeof(sh));
	for (size_t i = 0; i < nr; i++) {
		const size_t n = strlen(slices[i].name) + 1;

		sh = (Elf64_Shdr){
			.sh_name = (Elf64_Word)used,
			.sh_type = SHT_PROGBITS,
			.sh_offset = slices[i].offset,
			.sh_size = slices[i].size,
			.sh_addralign = 1,
		};
		memcpy(map + at + (i + 1) * sizeof(sh), &sh, sizeof(sh));
		memcpy(map + names + used, slices[i].name, n);
		used += n;
	}
	sh = (Elf64_Shdr){
		.sh_type = SHT_STRTAB,
		.sh_offset = names,
		.sh_size = used,
		.sh_addralign = 1,
	};
	memcpy(map + at + (nr + 1) * sizeof(sh), &sh, sizeof(sh));
	memcpy(&eh, map, sizeof(eh));
	eh.e_shoff = at;
	eh.e_shnum = (Elf64_Half)(nr + 2);
	eh.e_shstrndx = (Elf64_Half)(nr + 1);
	eh.e_shentsize = sizeof(Elf64_Shdr);
	eh.e_phnum = 0;
	memcpy(map, &eh, sizeof(eh));
}

/* The package mapped once more, with room behind it. */
static bool map_view(const struct pev_dwp *dwp, size_t more, struct view *v)
{
	const size_t package = (dwp->package->size + PAGE - 1) / PAGE * PAGE;

	v->size = package + more;
	v->map = mmap(NULL, v->size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (v->map == MAP_FAILED) {
		v->map = NULL;
		return false;
	}
	return mmap(v->map, dwp->package->size, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, dwp->package->fd, 0) != MAP_FAILED;
}

static bool open_view(struct view *v)
{
	Dwarf_Half version;
	Dwarf_CU *cu;
	uint8_t type;

	v->elf = elf_memory(v->map, v->size);
	v->dwarf = v->elf ? dwarf_begin_elf(v->elf, DWARF_C_READ, NULL) : NULL;
	return v->dwarf &&
	       dwarf_get_units(v->dwarf, NULL, &cu, &version, &type, &v->die, NULL) == 0 &&
	       type == DW_UT_split_compile;
}

bool pev_dwp_unit(struct pev_dwp *dwp, Dwarf_Die *skeleton, uint64_t id, Dwarf_Die *ret)
{
	_cleanup_(view_freep) struct view *v = NULL;
	struct slice slices[MAX_SECTIONS];
	struct pev_cursor addresses, ranges = { 0 };
	size_t nr, at;
	uint32_t row;

	for (const struct view *known = dwp->views; known; known = known->next) {
		if (known->id != id)
			continue;
		*ret = known->die;
		return true;
	}
	v = calloc(1, sizeof(*v));
	if (!v || !find_row(dwp, id, &row))
		return false;
	nr = unit_slices(dwp, row, slices);
	if (!nr)
		return false;
	addresses = program_part(dwp, ".debug_addr",
				 skeleton_base(skeleton, DW_AT_addr_base, DW_AT_GNU_addr_base));
	if (dwp->version == 2)
		ranges = program_part(dwp, ".debug_ranges",
				      skeleton_base(skeleton, 0, DW_AT_GNU_ranges_base));
	if (!map_view(dwp, pev_cursor_left(&addresses) + pev_cursor_left(&ranges) + PAGE, v))
		return false;
	at = v->size - pev_cursor_left(&addresses) - pev_cursor_left(&ranges) - PAGE;
	append_part(v, &at, ".debug_addr.dwo", &addresses, slices, &nr);
	append_part(v, &at, ".debug_ranges.dwo", &ranges, slices, &nr);
	write_headers(v, at, slices, nr);
	if (!open_view(v))
		return false;
	v->id = id;
	*ret = v->die;
	v->next = dwp->views;
	dwp->views = TAKE_PTR(v);
	return true;
}

/* Where list number @index starts in the .debug_rnglists of the unit: it begins with unit length,
 * version, sizes and the number of lists, 12 bytes, then the offset of each from there. */
static bool list_offset(Dwarf *dwarf, uint64_t index, uint64_t *ret)
{
	Elf *const elf = dwarf_getelf(dwarf);
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		const Elf64_Shdr *const sh = elf64_getshdr(scn);
		const char *const name = sh ? elf_strptr(elf, names, sh->sh_name) : NULL;
		const Elf_Data *data;
		struct pev_cursor c;

		if (!name || strcmp(name, ".debug_rnglists.dwo") != 0)
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf)
			return false;
		c = pev_cursor(data->d_buf, data->d_size);
		if (u32_at(&c, 2) <= index)
			return false;
		*ret = 12 + u32_at(&c, 3 + index);
		return true;
	}
	return false;
}

ptrdiff_t pev_dwp_ranges(Dwarf_Die *die, Dwarf_Addr skeleton_low, ptrdiff_t offset,
			 Dwarf_Addr *base, Dwarf_Addr *ret_lo, Dwarf_Addr *ret_hi)
{
	Dwarf_Attribute attr;
	Dwarf_Word start;

	if (offset || !dwarf_attr(die, DW_AT_ranges, &attr) || dwarf_formudata(&attr, &start) < 0)
		return dwarf_ranges(die, offset, base, ret_lo, ret_hi);
	if (dwarf_whatform(&attr) == DW_FORM_rnglistx &&
	    !list_offset(dwarf_cu_getdwarf(die->cu), start, &start))
		return -1;
	/* Asked for an offset, libdw takes the base it is given; for 0 it looks for its own. */
	*base = skeleton_low;
	if (start > 1)
		return dwarf_ranges(die, (ptrdiff_t)start, base, ret_lo, ret_hi);
	offset = dwarf_ranges(die, 0, base, ret_lo, ret_hi);
	if (offset > 0 && *base == 0) {
		*base = skeleton_low;
		*ret_lo += skeleton_low;
		*ret_hi += skeleton_low;
	}
	return offset;
}
