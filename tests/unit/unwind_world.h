/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A process made by hand, to be unwound: code with CFI, registers and a stack. */
#pragma once

#include "tests/unit/cfi_build.h"
#include "unwind/unwinder.h"

#define MAX_FRAMES 32
#define MAX_WORDS  128

/* Code is linked at 0, a function every 0x1000, each of 0x100 bytes. */
#define F(n) (0x1000ULL * (n))

/* One module and one stack; begin with world_begin(). */
struct world {
	struct cfi_build b;
	uint64_t code; /* bias of the module, which is 0x100000 long */
	uint64_t sp;
	uint64_t words[MAX_WORDS]; /* from sp on */
	size_t nr_words;
	uint8_t stack[8 * MAX_WORDS];
	uint64_t regs[64]; /* by perf's numbers */
	uint64_t mask;
	uint64_t plt_vaddr, plt_size;
	bool swap, no_cfi;
	struct pev_cfi *cfi;
	uint64_t elsewhere, elsewhere_value; /* a word that read_memory() knows */
	uint64_t ips[MAX_FRAMES];
	size_t max;
	enum pev_unwind_end end;
};

void world_begin(struct world *w, unsigned machine);
void world_end(struct world *w);

/* Adds function @n, at F(n). */
void world_function(struct world *w, unsigned n, const uint8_t *program, size_t size);

/* The stack grows towards higher addresses here, as it is read. */
void world_push(struct world *w, uint64_t word);
void world_push_zeros(struct world *w, size_t n);
/* Where the next word that is pushed will lie. */
uint64_t world_here(const struct world *w);

/* Sets a register by its DWARF column. */
void world_set_reg(struct world *w, unsigned column, uint64_t value);

/* Unwinds it into ->ips and ->end, with the whole stack or as many bytes of it. */
size_t world_unwind(struct world *w);
size_t world_unwind_bytes(struct world *w, size_t stack_bytes);

/* The chain must be these offsets into the module, innermost first, and end like this. */
void world_check(struct world *w, enum pev_unwind_end how, size_t nr, const uint64_t *offsets);
#define CHAIN(...)                                                              \
	PEV_ARRAY_SIZE(((const uint64_t[]){ __VA_ARGS__ })), (const uint64_t[]) \
	{                                                                       \
		__VA_ARGS__                                                     \
	}
