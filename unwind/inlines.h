/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What DWARF knows of an address: the functions that were inlined there, and the source lines. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pev_image;
struct pev_inlines;

/* Nobody inlines deeper than this; what does is not followed further in. */
#define PEV_INLINES_MAX 256

/*
 * One function at an address. The innermost comes first; its line is that of the address. The line
 * of each further one is where it calls the one before, as DW_AT_call_file and DW_AT_call_line say.
 * The last one is the function that really is there; its name may be missing.
 */
struct pev_inline_frame {
	const char *function; /* the linkage name, mangled, where there is one; else the plain name;
				 NULL: not known, ask the symbol table */
	const char *file;     /* as compiled, with directories; NULL: not known */
	uint32_t line;        /* 0: not known */
	bool inlined;
};

struct pev_inlines_counters {
	uint64_t units;          /* compilation units with code */
	uint64_t units_compiled; /* of which an address was asked */
	uint64_t units_damaged;  /* of those: not understood to the end */
	uint64_t units_no_split; /* of those: the .dwo or .dwp with their functions was not found */
	uint64_t bytes;          /* memory of the compiled tables */
};

/*
 * Opens the DWARF (2 to 5, split or not) of @image: of the module itself or of its separate debug
 * file, whichever has .debug_info. @alt is the file that .gnu_debugaltlink of @image names, or
 * NULL. Both are borrowed, and must live longer. Only the ranges of the units are read here; what a
 * unit holds is compiled when an address in it is asked for, once.
 *
 * -ENODATA when there is no DWARF, -EBADMSG when libdw does not take it, -EOPNOTSUPP for a
 * relocatable file (ET_REL), -ENOMEM.
 */
int pev_inlines_new(struct pev_image *image, struct pev_image *alt, struct pev_inlines **ret,
		    struct pev_err *err);

/* NULL is fine; returns NULL. */
struct pev_inlines *pev_inlines_free(struct pev_inlines *inl);

static inline void pev_inlines_freep(struct pev_inlines **inl)
{
	*inl = pev_inlines_free(*inl);
}

/*
 * The functions at @vaddr into @frames, which holds @max of them (1 or more; the outer ones that do
 * not fit are left out): returns how many, 0 when DWARF says nothing about the address. For a
 * return address ask for the byte before it. The strings live as long as @inl; equal ones have
 * equal pointers. One thread at a time. -ENOMEM.
 */
int pev_inlines_find(struct pev_inlines *inl, uint64_t vaddr, struct pev_inline_frame *frames,
		     size_t max);

const struct pev_inlines_counters *pev_inlines_counters(const struct pev_inlines *inl);
