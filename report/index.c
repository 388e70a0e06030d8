// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/index.h"

#include "base/checked.h"

#include <string.h>

#define FIRST 64

int pev_array_grow(void *array, uint32_t nr, uint32_t *cap, size_t size)
{
	void **const p = array;
	const uint32_t want = nr > UINT32_MAX / 2 ? UINT32_MAX : PEV_MAX(nr * 2, FIRST);
	size_t bytes;
	void *moved;

	if (nr == UINT32_MAX)
		return -E2BIG;
	if (!pev_mul_size(want, size, &bytes))
		return -ENOMEM;
	moved = realloc(*p, bytes);
	if (!moved)
		return -ENOMEM;
	*p = moved;
	*cap = want;
	return 0;
}

void pev_index_done(struct pev_index *x)
{
	free(x->slots);
	*x = (struct pev_index){ 0 };
}

void pev_index_clear(struct pev_index *x)
{
	if (x->slots)
		memset(x->slots, 0, (x->mask + 1) * sizeof(*x->slots));
	x->nr = 0;
}

/* Hashes are 32 bits of the table's memory, and the slot is found by the lowest ones of them: so
 * tables of more than 2^32 slots would have no use for the rest, and there are none. */
static void place(struct pev_index_slot *slots, size_t mask, struct pev_index_slot s)
{
	size_t i = s.hash & mask;

	while (slots[i].place)
		i = (i + 1) & mask;
	slots[i] = s;
}

static int grow(struct pev_index *x)
{
	const size_t nr = x->slots ? (x->mask + 1) * 2 : FIRST;
	struct pev_index_slot *const slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; x->slots && i <= x->mask; i++)
		if (x->slots[i].place)
			place(slots, nr - 1, x->slots[i]);
	free(x->slots);
	x->slots = slots;
	x->mask = nr - 1;
	return 0;
}

int pev_index_add(struct pev_index *x, uint64_t hash, uint32_t at)
{
	if (!x->slots || x->nr * 2 > x->mask) {
		const int r = grow(x);

		if (r < 0)
			return r;
	}
	place(x->slots, x->mask,
	      (struct pev_index_slot){ .hash = (uint32_t)hash, .place = at + 1 });
	x->nr++;
	return 0;
}
