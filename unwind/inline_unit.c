// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A unit is walked once, DIE by DIE, through everything that may hold a function: each instance
 * with code becomes a node, each of its ranges an entry that names the node around it. Sorted by
 * that node and by address, the entries of one node lie side by side, and finding the chain of an
 * address is a binary search per level.
 *
 * Names are not looked at: most nodes are never hit. A node keeps the offset of its DIE instead.
 *
 * The tree comes from a file, so the walk is fenced: a depth, as many DIEs as the unit has bytes,
 * as many ranges as could be meant, and no step backwards.
 */
#include "unwind/inline_unit.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "unwind/dwp.h"
#include "unwind/image.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Compilers nest some dozens deep. */
#define MAX_DEPTH 512
/* Ranges of one instance. A whole unit may have that many more than it has bytes. */
#define MAX_DIE_RANGES 65536
/* When ranges of one node overlap, which they should not, an earlier one may hold the address. */
#define LOOK_BACK 8

struct raw_range {
	uint64_t lo, hi;
	uint32_t parent, node;
};

struct walk {
	const struct pev_image *image;
	struct pev_inline_unit *unit;
	struct raw_range *ranges;
	size_t nr_ranges, cap_ranges, cap_nodes;
	uint64_t dies_left, ranges_left;
	bool from_package;
	Dwarf_Addr skeleton_low; /* DW_AT_low_pc of the skeleton */
	int r;                   /* -ENOMEM stops everything */
};

static void walk_done(struct walk *w)
{
	free(w->ranges);
}

struct pev_inline_unit *pev_inline_unit_free(struct pev_inline_unit *u)
{
	if (!u)
		return NULL;
	if (u->call_files != u->line_files)
		free(u->call_files);
	free(u->line_files);
	free(u->lines);
	free(u->ranges);
	free(u->nodes);
	free(u);
	return NULL;
}

bool pev_inline_is_code(const struct pev_image *image, uint64_t lo)
{
	for (size_t i = 0; i < image->nr_loads; i++) {
		const struct pev_load *const l = &image->loads[i];

		if ((l->flags & PF_X) && lo >= l->vaddr && lo - l->vaddr < l->memsz)
			return true;
	}
	return false;
}

static uint32_t udata(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word v;

	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &v) < 0 || v > UINT32_MAX)
		return 0;
	return (uint32_t)v;
}

/* A new node; 0, which is no instance's, without memory. */
static uint32_t add_node(struct walk *w, const struct pev_inline_node *node)
{
	struct pev_inline_unit *const u = w->unit;

	if (u->nr_nodes == w->cap_nodes) {
		const size_t cap = w->cap_nodes ? w->cap_nodes * 2 : 64;
		struct pev_inline_node *const p = reallocarray(u->nodes, cap, sizeof(*p));

		if (!p || cap > UINT32_MAX) {
			u->nodes = p ? p : u->nodes;
			w->r = -ENOMEM;
			return 0;
		}
		u->nodes = p;
		w->cap_nodes = cap;
	}
	u->nodes[u->nr_nodes] = *node;
	return (uint32_t)u->nr_nodes++;
}

static void add_range(struct walk *w, const struct raw_range *range)
{
	if (w->nr_ranges == w->cap_ranges) {
		const size_t cap = w->cap_ranges ? w->cap_ranges * 2 : 64;
		struct raw_range *const p = reallocarray(w->ranges, cap, sizeof(*p));

		if (!p || cap > UINT32_MAX) {
			w->ranges = p ? p : w->ranges;
			w->r = -ENOMEM;
			return;
		}
		w->ranges = p;
		w->cap_ranges = cap;
	}
	w->ranges[w->nr_ranges++] = *range;
}

/* Makes a node of @die below @parent when it has code; returns 0 when not. */
static uint32_t add_instance(struct walk *w, Dwarf_Die *die, uint32_t parent, bool inlined)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t offset = 0;
	uint32_t node = 0;

	for (unsigned i = 0; i < MAX_DIE_RANGES; i++) {
		offset = w->from_package
				 ? pev_dwp_ranges(die, w->skeleton_low, offset, &base, &lo, &hi)
				 : dwarf_ranges(die, offset, &base, &lo, &hi);
		if (offset <= 0)
			break;
		if (w->ranges_left == 0) {
			w->unit->damaged = true;
			break;
		}
		w->ranges_left--;
		if (lo >= hi || !pev_inline_is_code(w->image, lo))
			continue;
		if (!node) {
			const uint64_t at = dwarf_dieoffset(die) - w->unit->die;

			if (at > UINT32_MAX)
				break;
			node = add_node(
				w, &(struct pev_inline_node){
					   .die = (uint32_t)at,
					   .call_file = inlined ? udata(die, DW_AT_call_file) : 0,
					   .call_line = inlined ? udata(die, DW_AT_call_line) : 0,
				   });
			if (!node)
				return 0;
		}
		add_range(w, &(struct raw_range){ lo, hi, parent, node });
	}
	return node;
}

/* Walks what is below @die; instances found there are inlined into @parent. */
static void walk_children(struct walk *w, Dwarf_Die *die, uint32_t parent, unsigned depth)
{
	Dwarf_Die child, next;
	int more = dwarf_child(die, &child);

	for (; more == 0 && w->r == 0; child = next) {
		uint32_t node;

		if (depth == MAX_DEPTH || w->dies_left == 0) {
			w->unit->damaged = true;
			return;
		}
		w->dies_left--;
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			/* A function written inside of another one is a function of its own. */
			node = add_instance(w, &child, 0, false);
			walk_children(w, &child, node, depth + 1);
			break;
		case DW_TAG_inlined_subroutine:
			node = add_instance(w, &child, parent, true);
			walk_children(w, &child, node ? node : parent, depth + 1);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
		case DW_TAG_with_stmt:
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
		case DW_TAG_interface_type:
			walk_children(w, &child, parent, depth + 1);
			break;
		default:
			break;
		}
		more = dwarf_siblingof(&child, &next);
		if (more == 0 && next.addr <= child.addr)
			more = -1;
	}
	if (more < 0)
		w->unit->damaged = true;
}

static int range_cmp(const void *pa, const void *pb)
{
	const struct pev_inline_range *const a = pa, *const b = pb;

	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	return (a->node > b->node) - (a->node < b->node);
}

/* Puts the ranges of each node side by side, sorted: by counting, then node by node. */
static int sort_ranges(struct walk *w)
{
	struct pev_inline_unit *const u = w->unit;
	uint32_t at = 0;

	u->ranges = calloc(w->nr_ranges + 1, sizeof(*u->ranges));
	if (!u->ranges)
		return -ENOMEM;
	for (size_t i = 0; i < w->nr_ranges; i++)
		u->nodes[w->ranges[i].parent].nr++;
	for (size_t i = 0; i < u->nr_nodes; i++) {
		u->nodes[i].first = at;
		at += u->nodes[i].nr;
		u->nodes[i].nr = 0;
	}
	for (size_t i = 0; i < w->nr_ranges; i++) {
		const struct raw_range *const raw = &w->ranges[i];
		struct pev_inline_node *const parent = &u->nodes[raw->parent];

		if (raw->hi - u->base > UINT32_MAX)
			continue;
		u->ranges[parent->first + parent->nr++] = (struct pev_inline_range){
			.lo = (uint32_t)(raw->lo - u->base),
			.hi = (uint32_t)(raw->hi - u->base),
			.node = raw->node,
		};
	}
	u->nr_ranges = w->nr_ranges;
	for (size_t i = 0; i < u->nr_nodes; i++)
		if (u->nodes[i].nr > 1)
			qsort(u->ranges + u->nodes[i].first, u->nodes[i].nr, sizeof(*u->ranges),
			      range_cmp);
	return 0;
}

/* How many bytes of .debug_info the unit of @die has; 0 when libdw cannot say. */
static uint64_t unit_bytes(Dwarf_Die *die)
{
	const Dwarf_Off start = dwarf_dieoffset(die) - dwarf_cuoffset(die);
	Dwarf_Off next;
	size_t header;

	if (dwarf_next_unit(dwarf_cu_getdwarf(die->cu), start, &next, &header, NULL, NULL, NULL,
			    NULL, NULL, NULL) != 0)
		return 0;
	return next - start;
}

/* The lowest address of the line table that is code. libdw sorts by address. */
static uint64_t lowest_row(const struct pev_image *image, Dwarf_Die *die)
{
	Dwarf_Lines *lines;
	Dwarf_Addr addr;
	size_t nr;

	if (dwarf_getsrclines(die, &lines, &nr) < 0)
		return UINT64_MAX;
	for (size_t i = 0; i < nr; i++)
		if (dwarf_lineaddr(dwarf_onesrcline(lines, i), &addr) == 0 &&
		    pev_inline_is_code(image, addr))
			return addr;
	return UINT64_MAX;
}

static int compile_functions(const struct pev_image *image, struct pev_inline_dies *dies,
			     struct pev_inline_unit *u)
{
	Dwarf_Die *const die = dies->has_split ? &dies->split : &dies->unit;
	const uint64_t bytes = unit_bytes(die);
	_cleanup_(walk_done) struct walk w = {
		.image = image,
		.unit = u,
		.dies_left = bytes,
		.ranges_left = bytes + MAX_DIE_RANGES,
		.from_package = dies->from_package,
	};

	if (dwarf_lowpc(&dies->unit, &w.skeleton_low) < 0)
		w.skeleton_low = 0;
	u->base = lowest_row(image, &dies->unit);
	u->die = dwarf_dieoffset(die);
	(void)add_node(&w, &(struct pev_inline_node){ .name = "" });
	if (w.r == 0)
		walk_children(&w, die, 0, 0);
	for (size_t i = 0; i < w.nr_ranges; i++)
		u->base = PEV_MIN(u->base, w.ranges[i].lo);
	return w.r < 0 ? w.r : sort_ranges(&w);
}

static int intern_files(Dwarf_Files *files, size_t nr, struct pev_strings *strings,
			const char ***ret)
{
	_cleanup_free_ const char **names = calloc(nr + 1, sizeof(*names));

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		const char *const name = dwarf_filesrc(files, i, NULL, NULL);

		if (!name || !*name)
			continue;
		names[i] = pev_strings_put(strings, name, strlen(name));
		if (!names[i])
			return -ENOMEM;
	}
	*ret = TAKE_PTR(names);
	return 0;
}

/* The row that @line makes; false when there is nothing to keep of it. */
static bool row_of(const struct pev_image *image, Dwarf_Line *line, uint64_t *ret_addr,
		   struct pev_inline_line *ret)
{
	Dwarf_Files *files;
	Dwarf_Addr addr;
	size_t file;
	bool end;
	int number;

	if (dwarf_lineaddr(line, &addr) < 0 || dwarf_lineendsequence(line, &end) < 0)
		return false;
	*ret_addr = addr;
	*ret = (struct pev_inline_line){ .file = UINT32_MAX };
	if (end)
		return true;
	if (!pev_inline_is_code(image, addr) || dwarf_lineno(line, &number) < 0 ||
	    dwarf_line_file(line, &files, &file) < 0 || file >= UINT32_MAX)
		return false;
	ret->file = (uint32_t)file;
	ret->line = (uint32_t)number;
	return true;
}

/* Rows that say the same as the one before them are left out; of rows at one address the last
 * counts, but an end never wins over a beginning. */
static int compile_lines(const struct pev_image *image, Dwarf_Die *die, struct pev_strings *strings,
			 struct pev_inline_unit *u)
{
	_cleanup_free_ struct pev_inline_line *rows = NULL;
	struct pev_inline_line *fitted;
	Dwarf_Lines *lines;
	Dwarf_Files *files;
	size_t nr, n = 0;
	int r;

	if (dwarf_getsrclines(die, &lines, &nr) < 0 ||
	    dwarf_getsrcfiles(die, &files, &u->nr_line_files) < 0)
		return 0;
	u->libdw_rows = nr;
	r = intern_files(files, u->nr_line_files, strings, &u->line_files);
	if (r < 0) {
		u->nr_line_files = 0;
		return r;
	}
	rows = reallocarray(NULL, nr + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct pev_inline_line row;
		uint64_t addr;

		if (!row_of(image, dwarf_onesrcline(lines, i), &addr, &row))
			continue;
		if (addr < u->base || addr - u->base > UINT32_MAX)
			continue;
		row.addr = (uint32_t)(addr - u->base);
		if (n && rows[n - 1].addr == row.addr)
			n--;
		if (n && rows[n - 1].file == row.file && rows[n - 1].line == row.line)
			continue;
		rows[n++] = row;
	}
	fitted = realloc(rows, (n + 1) * sizeof(*rows));
	u->lines = fitted ? fitted : rows;
	rows = NULL;
	u->nr_lines = n;
	return 0;
}

/* The call sites of a split unit number their files by a table of its own, when it has one. */
static int compile_call_files(struct pev_inline_dies *dies, struct pev_strings *strings,
			      struct pev_inline_unit *u)
{
	Dwarf_Files *files;
	size_t nr;
	int r;

	if (!dies->has_split || dwarf_getsrcfiles(&dies->split, &files, &nr) < 0) {
		u->call_files = u->line_files;
		u->nr_call_files = u->nr_line_files;
		return 0;
	}
	r = intern_files(files, nr, strings, &u->call_files);
	if (r < 0)
		return r;
	u->nr_call_files = nr;
	return 0;
}

int pev_inline_unit_new(const struct pev_image *image, struct pev_inline_dies *dies,
			struct pev_strings *strings, struct pev_inline_unit **ret)
{
	_cleanup_(pev_inline_unit_freep) struct pev_inline_unit *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		return -ENOMEM;
	r = compile_functions(image, dies, u);
	if (r == 0)
		r = compile_lines(image, &dies->unit, strings, u);
	if (r == 0)
		r = compile_call_files(dies, strings, u);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(u);
	return 0;
}

/* Of the ranges [@first, @first + @nr), the last one that starts at @at or below and holds it. */
static const struct pev_inline_range *find_range(const struct pev_inline_unit *u, size_t first,
						 size_t nr, uint32_t at)
{
	size_t lo = first, hi = first + nr;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (u->ranges[mid].lo <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (unsigned i = 0; i < LOOK_BACK && lo > first; i++)
		if (at < u->ranges[--lo].hi)
			return &u->ranges[lo];
	return NULL;
}

size_t pev_inline_unit_path(const struct pev_inline_unit *u, uint64_t vaddr, uint32_t *path,
			    size_t max)
{
	const uint64_t at = vaddr - u->base;
	uint32_t node = 0;
	size_t n = 0;

	if (vaddr < u->base || at > UINT32_MAX)
		return 0;
	while (n < max) {
		const struct pev_inline_range *const range =
			find_range(u, u->nodes[node].first, u->nodes[node].nr, (uint32_t)at);

		if (!range)
			break;
		node = range->node;
		path[n++] = node;
	}
	return n;
}

const struct pev_inline_line *pev_inline_unit_line(const struct pev_inline_unit *u, uint64_t vaddr)
{
	const uint64_t at = vaddr - u->base;
	size_t lo = 0, hi = u->nr_lines;

	if (vaddr < u->base || at > UINT32_MAX)
		return NULL;
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (u->lines[mid].addr <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && u->lines[lo - 1].file != UINT32_MAX ? &u->lines[lo - 1] : NULL;
}

size_t pev_inline_unit_bytes(const struct pev_inline_unit *u)
{
	const size_t call_files = u->call_files != u->line_files ? u->nr_call_files : 0;

	return sizeof(*u) + u->nr_nodes * sizeof(*u->nodes) + u->nr_ranges * sizeof(*u->ranges) +
	       u->nr_lines * sizeof(*u->lines) + (u->nr_line_files + call_files) * sizeof(char *);
}
