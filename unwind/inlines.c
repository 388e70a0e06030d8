// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Happy path: open the DWARF, list which unit has which addresses (.debug_aranges, and for units
 * that are not in there their own DW_AT_ranges: clang writes no .debug_aranges). An address asked
 * for finds its unit; the unit is compiled the first time (unwind/inline_unit.c); then it is a few
 * binary searches, and libdw is asked for a name the first time an instance is hit.
 *
 * libdw never gives back the memory of the lines it decoded. Since everything kept here is an
 * offset or a string of our own, its handle is closed and opened again once it holds a lot.
 */
#include "unwind/inlines.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "unwind/dwp.h"
#include "unwind/image.h"
#include "unwind/inline_unit.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Rows of line tables that libdw may hold before it starts over: some 64 MiB. */
#define MAX_LIBDW_ROWS 2000000
/* Unit ranges should not overlap. When they do, this many earlier ones are looked at. */
#define LOOK_BACK 16

struct unit_range {
	uint64_t lo, hi;
	uint32_t unit;
};

/* Where the functions of a unit are described, once that was looked for. */
enum place {
	PLACE_UNKNOWN,
	PLACE_HERE,    /* in the unit itself */
	PLACE_DWO,     /* in a .dwo file, which libdw opens */
	PLACE_PACKAGE, /* in the .dwp file */
	PLACE_NOWHERE, /* in a file that is not there */
};

struct unit {
	uint64_t die; /* offset of the unit's DIE in .debug_info */
	struct pev_inline_unit *compiled;
	enum place place;
};

struct pev_inlines {
	struct pev_image *image, *alt;
	Dwarf *dwarf, *alt_dwarf;
	struct pev_dwp *dwp; /* NULL: there is none */
	struct unit *units;
	size_t nr_units, cap_units;
	struct unit_range *ranges; /* by ->lo */
	size_t nr_ranges, cap_ranges;
	struct pev_strings strings;
	size_t libdw_rows;
	struct pev_inlines_counters counters;
};

static void close_dwarf(struct pev_inlines *inl)
{
	pev_dwp_close_units(inl->dwp);
	if (inl->dwarf)
		(void)dwarf_end(inl->dwarf);
	if (inl->alt_dwarf)
		(void)dwarf_end(inl->alt_dwarf);
	inl->dwarf = inl->alt_dwarf = NULL;
	inl->libdw_rows = 0;
}

/*
 * libdw opens files that the DWARF names, wherever they are. False when @name in @dir is something
 * that one does not just open, like a FIFO.
 */
static bool is_safe_file(const char *dir, const char *name)
{
	_cleanup_free_ char *path = NULL;
	struct stat st;

	if (name[0] == '/')
		return stat(name, &st) < 0 || S_ISREG(st.st_mode);
	if (asprintf(&path, "%s/%s", dir, name) < 0) {
		path = NULL;
		return false;
	}
	return stat(path, &st) < 0 || S_ISREG(st.st_mode);
}

/* The same next to @image, where libdw looks first: it goes by the open file. */
static bool is_safe_beside(const struct pev_image *image, const char *name)
{
	char link[32], dir[PATH_MAX];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", image->fd);
	n = readlink(link, dir, sizeof(dir) - 1);
	dir[n > 0 ? n : 0] = 0;
	if (strrchr(dir, '/'))
		*strrchr(dir, '/') = 0;
	return is_safe_file(dir, name);
}

/* Whether libdw may look for the .dwo file of a skeleton: next to the file, then in the directory
 * that it was compiled in. */
static bool is_safe_to_split(const struct pev_image *image, Dwarf_Die *die)
{
	const char *name = NULL, *comp_dir = NULL;
	Dwarf_Attribute attr;

	if (dwarf_attr(die, DW_AT_dwo_name, &attr) || dwarf_attr(die, DW_AT_GNU_dwo_name, &attr))
		name = dwarf_formstring(&attr);
	if (dwarf_attr(die, DW_AT_comp_dir, &attr))
		comp_dir = dwarf_formstring(&attr);
	return name && is_safe_beside(image, name) && (!comp_dir || is_safe_file(comp_dir, name));
}

static int open_dwarf(struct pev_inlines *inl)
{
	struct pev_build_id id;
	const char *alt;

	/* Without being given the alternate file, libdw looks for it by itself. */
	if (!inl->alt && pev_image_debugaltlink(inl->image, &alt, &id) == 0 &&
	    !is_safe_beside(inl->image, alt))
		return -EBADMSG;
	inl->dwarf = dwarf_begin_elf(inl->image->elf, DWARF_C_READ, NULL);
	if (!inl->dwarf)
		return -EBADMSG;
	if (inl->alt) {
		inl->alt_dwarf = dwarf_begin_elf(inl->alt->elf, DWARF_C_READ, NULL);
		if (inl->alt_dwarf)
			dwarf_setalt(inl->dwarf, inl->alt_dwarf);
	}
	return 0;
}

struct pev_inlines *pev_inlines_free(struct pev_inlines *inl)
{
	if (!inl)
		return NULL;
	close_dwarf(inl);
	for (size_t i = 0; i < inl->nr_units; i++)
		(void)pev_inline_unit_free(inl->units[i].compiled);
	(void)pev_dwp_free(inl->dwp);
	pev_strings_done(&inl->strings);
	free(inl->units);
	free(inl->ranges);
	free(inl);
	return NULL;
}

static int add_range(struct pev_inlines *inl, uint64_t lo, uint64_t hi, uint32_t unit)
{
	if (lo >= hi || !pev_inline_is_code(inl->image, lo))
		return 0;
	if (inl->nr_ranges == inl->cap_ranges) {
		const size_t cap = inl->cap_ranges ? inl->cap_ranges * 2 : 64;
		struct unit_range *const p = reallocarray(inl->ranges, cap, sizeof(*p));

		if (!p)
			return -ENOMEM;
		inl->ranges = p;
		inl->cap_ranges = cap;
	}
	inl->ranges[inl->nr_ranges++] = (struct unit_range){ lo, hi, unit };
	return 0;
}

static int range_cmp(const void *pa, const void *pb)
{
	const struct unit_range *const a = pa, *const b = pb;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	return (a->unit > b->unit) - (a->unit < b->unit);
}

static int unit_cmp(const void *pa, const void *pb)
{
	const struct unit *const a = pa, *const b = pb;

	return (a->die > b->die) - (a->die < b->die);
}

/* All units of .debug_info by the offset of their DIE, which is the order they come in. */
static int list_units(struct pev_inlines *inl)
{
	Dwarf_Off at = 0, next;
	size_t header;

	while (dwarf_next_unit(inl->dwarf, at, &next, &header, NULL, NULL, NULL, NULL, NULL,
			       NULL) == 0) {
		if (inl->nr_units == inl->cap_units) {
			const size_t cap = inl->cap_units ? inl->cap_units * 2 : 64;
			struct unit *const p = reallocarray(inl->units, cap, sizeof(*p));

			if (!p || cap > UINT32_MAX) {
				inl->units = p ? p : inl->units;
				return -ENOMEM;
			}
			inl->units = p;
			inl->cap_units = cap;
		}
		inl->units[inl->nr_units++] = (struct unit){ .die = at + header };
		if (next <= at)
			break;
		at = next;
	}
	return 0;
}

/* Takes .debug_aranges, and marks in @seen which units it knows. */
static int read_aranges(struct pev_inlines *inl, bool *seen)
{
	Dwarf_Aranges *aranges;
	size_t nr;

	if (dwarf_getaranges(inl->dwarf, &aranges, &nr) < 0)
		return 0;
	for (size_t i = 0; i < nr; i++) {
		Dwarf_Addr lo;
		Dwarf_Word length;
		struct unit key = { 0 };
		const struct unit *unit;
		uint64_t hi;
		int r;

		if (dwarf_getarangeinfo(dwarf_onearange(aranges, i), &lo, &length, &key.die) < 0 ||
		    !pev_add_u64(lo, length, &hi))
			continue;
		unit = bsearch(&key, inl->units, inl->nr_units, sizeof(key), unit_cmp);
		if (!unit)
			continue;
		seen[unit - inl->units] = true;
		r = add_range(inl, lo, hi, (uint32_t)(unit - inl->units));
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_own_ranges(struct pev_inlines *inl, uint32_t unit)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t offset = 0;
	Dwarf_Die die;
	int tag, r = 0;

	if (!dwarf_offdie(inl->dwarf, inl->units[unit].die, &die))
		return 0;
	tag = dwarf_tag(&die);
	if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit)
		return 0;
	while (r == 0 && (offset = dwarf_ranges(&die, offset, &base, &lo, &hi)) > 0)
		r = add_range(inl, lo, hi, unit);
	return r;
}

static int list_ranges(struct pev_inlines *inl)
{
	_cleanup_free_ bool *seen = calloc(inl->nr_units + 1, sizeof(*seen));
	int r;

	if (!seen)
		return -ENOMEM;
	r = read_aranges(inl, seen);
	for (uint32_t i = 0; r == 0 && i < inl->nr_units; i++)
		if (!seen[i])
			r = read_own_ranges(inl, i);
	if (r < 0)
		return r;
	if (inl->nr_ranges)
		qsort(inl->ranges, inl->nr_ranges, sizeof(*inl->ranges), range_cmp);
	for (size_t i = 0; i < inl->nr_units; i++)
		seen[i] = false;
	for (size_t i = 0; i < inl->nr_ranges; i++) {
		inl->counters.units += !seen[inl->ranges[i].unit];
		seen[inl->ranges[i].unit] = true;
	}
	return 0;
}

int pev_inlines_new(struct pev_image *image, struct pev_image *alt, struct pev_inlines **ret,
		    struct pev_err *err)
{
	_cleanup_(pev_inlines_freep) struct pev_inlines *inl = NULL;
	int r;

	if (!pev_image_has(image, ".debug_info"))
		return pev_err_set(err, -ENODATA, "%s has no DWARF (.debug_info)", image->path);
	if (image->type == ET_REL)
		return pev_err_set(err, -EOPNOTSUPP,
				   "%s is a relocatable file; its DWARF has no addresses yet",
				   image->path);
	inl = calloc(1, sizeof(*inl));
	if (!inl)
		return pev_err_set(err, -ENOMEM, "No memory for the DWARF of %s", image->path);
	inl->image = image;
	inl->alt = alt;
	r = open_dwarf(inl);
	if (r < 0)
		return pev_err_set(err, r, "libdw does not take the DWARF of %s: %s", image->path,
				   dwarf_errmsg(-1));
	r = list_units(inl);
	if (r == 0)
		r = list_ranges(inl);
	if (r == 0)
		r = pev_dwp_open(image, &inl->dwp);
	if (r < 0)
		return pev_err_set(err, r, "No memory for the DWARF of %s", image->path);
	*ret = TAKE_PTR(inl);
	return 0;
}

static struct unit *find_unit(struct pev_inlines *inl, uint64_t vaddr)
{
	size_t lo = 0, hi = inl->nr_ranges;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (inl->ranges[mid].lo <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (unsigned i = 0; i < LOOK_BACK && lo > 0; i++)
		if (vaddr < inl->ranges[--lo].hi)
			return &inl->units[inl->ranges[lo].unit];
	return NULL;
}

static enum place find_place(struct pev_inlines *inl, Dwarf_Die *die)
{
	Dwarf_Half version;
	Dwarf_Die split;
	uint8_t type;
	uint64_t id;

	if (dwarf_cu_info(die->cu, &version, &type, NULL, NULL, &id, NULL, NULL) < 0 ||
	    type != DW_UT_skeleton)
		return PLACE_HERE;
	if (inl->dwp && pev_dwp_unit(inl->dwp, die, id, &split))
		return PLACE_PACKAGE;
	if (is_safe_to_split(inl->image, die) &&
	    dwarf_cu_info(die->cu, &version, &type, NULL, &split, &id, NULL, NULL) == 0 &&
	    split.addr)
		return PLACE_DWO;
	return PLACE_NOWHERE;
}

/* The DIEs of a unit; false when libdw does not find it any more. */
static bool unit_dies(struct pev_inlines *inl, struct unit *unit, struct pev_inline_dies *ret)
{
	Dwarf_Half version;
	uint8_t type;
	uint64_t id;

	*ret = (struct pev_inline_dies){ 0 };
	if (!dwarf_offdie(inl->dwarf, unit->die, &ret->unit))
		return false;
	if (unit->place == PLACE_UNKNOWN)
		unit->place = find_place(inl, &ret->unit);
	if (unit->place != PLACE_DWO && unit->place != PLACE_PACKAGE)
		return true;
	if (dwarf_cu_info(ret->unit.cu, &version, &type, NULL,
			  unit->place == PLACE_DWO ? &ret->split : NULL, &id, NULL, NULL) < 0)
		return false;
	ret->from_package = unit->place == PLACE_PACKAGE;
	if (ret->from_package && !pev_dwp_unit(inl->dwp, &ret->unit, id, &ret->split))
		return false;
	ret->has_split = ret->split.addr != NULL;
	return ret->has_split;
}

static int compile(struct pev_inlines *inl, struct unit *unit)
{
	struct pev_inline_dies dies;
	struct pev_inline_unit *u;
	int r;

	if (inl->libdw_rows > MAX_LIBDW_ROWS) {
		close_dwarf(inl);
		r = open_dwarf(inl);
		if (r < 0)
			return r == -EBADMSG ? -ENOMEM : r;
	}
	if (!unit_dies(inl, unit, &dies))
		return -EBADMSG;
	r = pev_inline_unit_new(inl->image, &dies, &inl->strings, &u);
	if (r < 0)
		return r;
	unit->compiled = u;
	inl->libdw_rows += u->libdw_rows;
	inl->counters.units_compiled++;
	inl->counters.units_damaged += u->damaged;
	inl->counters.units_no_split += unit->place == PLACE_NOWHERE;
	inl->counters.bytes += pev_inline_unit_bytes(u);
	return 0;
}

static const char *ask_name(struct pev_inlines *inl, struct unit *unit,
			    const struct pev_inline_node *node)
{
	struct pev_inline_dies dies;
	Dwarf_Attribute attr;
	const char *name = NULL;
	Dwarf_Die die;
	Dwarf *dwarf;

	if (!unit_dies(inl, unit, &dies))
		return "";
	dwarf = dies.has_split ? dwarf_cu_getdwarf(dies.split.cu) : inl->dwarf;
	if (!dwarf_offdie(dwarf, unit->compiled->die + node->die, &die))
		return "";
	if (dwarf_attr_integrate(&die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(&die, DW_AT_MIPS_linkage_name, &attr))
		name = dwarf_formstring(&attr);
	if (!name)
		name = dwarf_diename(&die);
	return name && *name ? pev_strings_put(&inl->strings, name, strlen(name)) : "";
}

static int name_of(struct pev_inlines *inl, struct unit *unit, struct pev_inline_node *node,
		   const char **ret)
{
	if (!node->name)
		node->name = ask_name(inl, unit, node);
	if (!node->name)
		return -ENOMEM;
	*ret = *node->name ? node->name : NULL;
	return 0;
}

int pev_inlines_find(struct pev_inlines *inl, uint64_t vaddr, struct pev_inline_frame *frames,
		     size_t max)
{
	struct unit *const unit = find_unit(inl, vaddr);
	uint32_t path[PEV_INLINES_MAX];
	const struct pev_inline_line *line;
	const struct pev_inline_unit *u;
	struct pev_inline_frame frame = { 0 };
	size_t n;

	if (!unit)
		return 0;
	if (!unit->compiled) {
		const int r = compile(inl, unit);

		if (r < 0)
			return r == -EBADMSG ? 0 : r;
	}
	u = unit->compiled;
	line = pev_inline_unit_line(u, vaddr);
	if (line) {
		frame.file = line->file < u->nr_line_files ? u->line_files[line->file] : NULL;
		frame.line = line->line;
	}
	n = pev_inline_unit_path(u, vaddr, path, PEV_ARRAY_SIZE(path));
	if (n == 0) {
		frames[0] = frame;
		return line != NULL;
	}
	max = PEV_MIN(max, n);
	for (size_t i = 0; i < max; i++) {
		struct pev_inline_node *const node = &u->nodes[path[n - 1 - i]];
		const int r = name_of(inl, unit, node, &frame.function);

		if (r < 0)
			return r;
		frame.inlined = i + 1 < n;
		frames[i] = frame;
		frame.file =
			node->call_file < u->nr_call_files ? u->call_files[node->call_file] : NULL;
		frame.line = node->call_line;
	}
	return (int)max;
}

const struct pev_inlines_counters *pev_inlines_counters(const struct pev_inlines *inl)
{
	return &inl->counters;
}
