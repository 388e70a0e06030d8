/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One DWARF compilation unit, compiled into sorted tables (private to unwind/inlines.c). */
#pragma once

#include "unwind/strings.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pev_image;

/*
 * A function instance: a DW_TAG_subprogram with code, or below it a DW_TAG_inlined_subroutine. The
 * instances inlined into it have their ranges side by side, sorted, from ->first on.
 */
struct pev_inline_node {
	const char *name; /* NULL: not asked for yet; "": it has none */
	uint32_t die;     /* offset of its DIE from that of its unit */
	uint32_t first, nr;
	uint32_t call_file, call_line;
};

/* Addresses here and in the lines count from ->base of the unit. */
struct pev_inline_range {
	uint32_t lo, hi; /* [lo, hi) */
	uint32_t node;
};

struct pev_inline_line {
	uint32_t addr; /* from here up to the next */
	uint32_t file; /* index in ->line_files; UINT32_MAX: nothing is known here */
	uint32_t line;
};

struct pev_inline_unit {
	uint64_t base;
	struct pev_inline_node *nodes; /* number 0 stands for the unit, and holds its functions */
	size_t nr_nodes;
	struct pev_inline_range *ranges;
	size_t nr_ranges;
	struct pev_inline_line *lines;
	size_t nr_lines;
	const char **line_files; /* the file table of the line table */
	size_t nr_line_files;
	const char **call_files; /* that of the split unit; or ->line_files again, not owned */
	size_t nr_call_files;
	uint64_t die; /* of the unit whose functions these are, in its own .debug_info */

	bool damaged;      /* something in it was not understood */
	size_t libdw_rows; /* lines that libdw holds in memory for this unit */
};

/* The DIEs of a unit, and of the split unit that holds its functions, if that is how it is. */
struct pev_inline_dies {
	Dwarf_Die unit;
	Dwarf_Die split; /* with ->has_split */
	bool has_split;
	bool from_package; /* ->split is of unwind/dwp.h */
};

/*
 * Compiles a unit. @image tells which addresses hold code. File names go to @strings, which must
 * live longer. -ENOMEM only; what is damaged is left out.
 */
int pev_inline_unit_new(const struct pev_image *image, struct pev_inline_dies *dies,
			struct pev_strings *strings, struct pev_inline_unit **ret);

/* NULL is fine; returns NULL. */
struct pev_inline_unit *pev_inline_unit_free(struct pev_inline_unit *u);

static inline void pev_inline_unit_freep(struct pev_inline_unit **u)
{
	*u = pev_inline_unit_free(*u);
}

/*
 * The nodes that hold @vaddr, outermost first, into @path of @max: returns how many. A node that
 * does not fit is left out.
 */
size_t pev_inline_unit_path(const struct pev_inline_unit *u, uint64_t vaddr, uint32_t *path,
			    size_t max);

/* The row of the line table for @vaddr, NULL without one. */
const struct pev_inline_line *pev_inline_unit_line(const struct pev_inline_unit *u, uint64_t vaddr);

size_t pev_inline_unit_bytes(const struct pev_inline_unit *u);

/* True when @lo is where @image has code: what a linker dropped keeps its DWARF, at address 0. */
bool pev_inline_is_code(const struct pev_image *image, uint64_t lo);
