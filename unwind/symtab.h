/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The symbols of one module: which one holds an address, and which of its names to print. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pev_demangler;
struct pev_image;
struct pev_symtab;

struct pev_symbol {
	const char *name; /* as in the file, maybe mangled; "NAME@plt" for a PLT stub */
	uint64_t start;   /* virtual address */
	uint64_t size;    /* where the file said 0: up to the next symbol */
	uint8_t type;     /* STT_* */
	uint8_t binding;  /* STB_* */
	bool plt;         /* a stub, found by its code */
};

/*
 * Which symbols count, and which name of several at one address is printed, follows perf
 * (tools/perf/util/symbol.c and symbol-elf.c, the rules of 6.13 and later):
 *
 * - functions, objects and IFUNCs that are defined, and labels without a type in sections whose
 *   name holds "text" or "data"; not absolute ones, not those in sections that are not loaded, not
 *   the mapping symbols ($x, $d) of ARM;
 * - a symbol without a size reaches up to the next one;
 * - of several names: one with a size, with a type, not weak, global, with the fewest underscores
 * in front, the longest; the first in the file when all that is the same. Underscores and length
 *   are those of the demangled name.
 *
 * Where symbols overlap, the one that starts last and holds the address is given.
 */

/*
 * Reads the .symtab of @debug, else of @main, else of @mini, together with the .dynsym of that file
 * (of @main for @mini), and the PLT stubs of @main. Any of the three images may be NULL. They and
 * @demangler are borrowed and must live longer than the table. Names stay in the mapped files.
 *
 * A module without any symbol gives an empty table, not an error. -ENOMEM; damaged symbol tables
 * give the symbols that can be read.
 */
int pev_symtab_new(struct pev_image *main, struct pev_image *debug, struct pev_image *mini,
		   struct pev_demangler *demangler, struct pev_symtab **ret, struct pev_err *err);

/* NULL is fine; returns NULL. */
struct pev_symtab *pev_symtab_free(struct pev_symtab *t);

static inline void pev_symtab_freep(struct pev_symtab **t)
{
	*t = pev_symtab_free(*t);
}

/* The symbol that holds @vaddr. One thread at a time: what it finds out about aliases is kept. */
bool pev_symtab_find(struct pev_symtab *t, uint64_t vaddr, struct pev_symbol *ret);

/* All symbols, aliases too, sorted by address: number @i, which must be below the count. */
size_t pev_symtab_count(const struct pev_symtab *t);
void pev_symtab_at(const struct pev_symtab *t, size_t i, struct pev_symbol *ret);

/* Bytes of memory that the table takes, without the mapped names. */
size_t pev_symtab_bytes(const struct pev_symtab *t);
