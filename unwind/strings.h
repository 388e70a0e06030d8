/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pool of strings, each kept once: equal strings have equal pointers. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct pev_strings_chunk;

struct pev_strings_slot {
	uint32_t hash; /* of the string, never 0; 0: free */
	uint32_t size; /* without the NUL */
	const char *s;
};

/*
 * Zero-initialise to start, pev_strings_done() to end. The strings stay where they are until then,
 * so that names can be compared and hashed by their pointer. One thread at a time.
 */
struct pev_strings {
	struct pev_strings_chunk *chunks; /* owned; newest first */
	struct pev_strings_slot *slots;   /* owned; open addressing, a power of two of them */
	size_t nr_slots, nr;
	size_t bytes; /* memory in use, for a person who asks where it went */
};

void pev_strings_done(struct pev_strings *pool);

/* The pool's own copy of @n bytes at @s, with a NUL behind them; the bytes themselves hold none.
 * NULL without memory. */
const char *pev_strings_put(struct pev_strings *pool, const char *s, size_t n);
