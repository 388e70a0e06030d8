/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays that grow, and finding in them by hash: every table of this room is one of each. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Room for one more in an array of @nr elements of @size bytes: *(void **)@array may move. At most
 * UINT32_MAX elements, -E2BIG beyond; -ENOMEM. */
int pev_array_grow(void *array, uint32_t nr, uint32_t *cap, size_t size);

/* The same for a typed array; without a call while there is room. */
#define PEV_ARRAY_ROOM(array, nr, cap) \
	((nr) < (cap) ? 0 : pev_array_grow(&(array), (nr), &(cap), sizeof((array)[0])))

struct pev_index_slot {
	uint32_t hash;
	uint32_t place; /* index in the array, plus 1; 0: free */
};

/*
 * From hashes to places in an array, by open addressing over a power of two, at most half full.
 * Zero-initialise to start, pev_index_done() to end. The array is the caller's, and so is telling
 * apart what has the same hash:
 *
 *	struct pev_probe at = pev_index_probe(&index, hash);
 *
 *	while (pev_index_next(&index, &at))
 *		if (array[at.found] is the one)
 *			return at.found;
 *	pev_index_add(&index, hash, nr++);
 */
struct pev_index {
	struct pev_index_slot *slots; /* owned; NULL: empty */
	size_t mask;                  /* slots - 1 */
	size_t nr;
};

void pev_index_done(struct pev_index *x);

/* Forgets everything, keeps the memory. */
void pev_index_clear(struct pev_index *x);

/* -ENOMEM; then nothing has changed. */
int pev_index_add(struct pev_index *x, uint64_t hash, uint32_t place);

struct pev_probe {
	size_t slot;
	uint32_t hash;
	uint32_t found;
};

static inline struct pev_probe pev_index_probe(const struct pev_index *x, uint64_t hash)
{
	return (struct pev_probe){ .slot = (uint32_t)hash & x->mask, .hash = (uint32_t)hash };
}

/* The next place whose hash is the same, in ->found; false when there is none. */
static inline bool pev_index_next(const struct pev_index *x, struct pev_probe *at)
{
	if (!x->slots)
		return false;
	for (;;) {
		const struct pev_index_slot s = x->slots[at->slot];

		if (!s.place)
			return false;
		at->slot = (at->slot + 1) & x->mask;
		if (s.hash == at->hash) {
			at->found = s.place - 1;
			return true;
		}
	}
}
