/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A hash table from a pair of numbers to a pointer. */
#pragma once

#include "base/hash.h"

#include <stddef.h>
#include <stdint.h>

struct pev_table_slot {
	uint64_t a, b;
	void *value; /* NULL: the slot is free */
};

/*
 * Zero-initialise to start, pev_table_done() to end; what the values point to is the caller's. Open
 * addressing over a power of two, at most half full.
 */
struct pev_table {
	struct pev_table_slot *slots;
	size_t mask; /* slots - 1 */
	size_t nr;
};

void pev_table_done(struct pev_table *t);

/* Keeps @value (not NULL) under the key, in place of what was there. -ENOMEM. */
int pev_table_put(struct pev_table *t, uint64_t a, uint64_t b, void *value);

/* Forgets the key; it need not be there. */
void pev_table_remove(struct pev_table *t, uint64_t a, uint64_t b);

/* The value, NULL when the key is not there. */
static inline void *pev_table_get(const struct pev_table *t, uint64_t a, uint64_t b)
{
	if (!t->slots)
		return NULL;
	for (size_t i = pev_hash_u64(a ^ pev_hash_u64(b)) & t->mask; t->slots[i].value;
	     i = (i + 1) & t->mask)
		if (t->slots[i].a == a && t->slots[i].b == b)
			return t->slots[i].value;
	return NULL;
}

/*
 * Walks the table: for (size_t i = 0; (v = pev_table_next(t, &i));). Nothing may be put or removed
 * meanwhile.
 */
static inline void *pev_table_next(const struct pev_table *t, size_t *i)
{
	while (t->slots && *i <= t->mask) {
		void *const v = t->slots[(*i)++].value;

		if (v)
			return v;
	}
	return NULL;
}
