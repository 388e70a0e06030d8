// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unwind/table.h"

#include <errno.h>
#include <stdlib.h>

void pev_table_done(struct pev_table *t)
{
	free(t->slots);
	*t = (struct pev_table){ 0 };
}

static size_t home(const struct pev_table *t, uint64_t a, uint64_t b)
{
	return pev_hash_u64(a ^ pev_hash_u64(b)) & t->mask;
}

/* The slot of the key, or the free one where it belongs. */
static struct pev_table_slot *slot_of(const struct pev_table *t, uint64_t a, uint64_t b)
{
	size_t i = home(t, a, b);

	while (t->slots[i].value && (t->slots[i].a != a || t->slots[i].b != b))
		i = (i + 1) & t->mask;
	return &t->slots[i];
}

static int grow(struct pev_table *t)
{
	const size_t nr = t->slots ? (t->mask + 1) * 2 : 16;
	struct pev_table larger = { .mask = nr - 1, .nr = t->nr };

	larger.slots = calloc(nr, sizeof(larger.slots[0]));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; t->slots && i <= t->mask; i++)
		if (t->slots[i].value)
			*slot_of(&larger, t->slots[i].a, t->slots[i].b) = t->slots[i];
	free(t->slots);
	*t = larger;
	return 0;
}

int pev_table_put(struct pev_table *t, uint64_t a, uint64_t b, void *value)
{
	struct pev_table_slot *slot;
	int r;

	if (!t->slots || t->nr * 2 > t->mask) {
		r = grow(t);
		if (r < 0)
			return r;
	}
	slot = slot_of(t, a, b);
	t->nr += !slot->value;
	*slot = (struct pev_table_slot){ .a = a, .b = b, .value = value };
	return 0;
}

/* Closes the gap, so that no search stops there: what comes behind it and would be at home at or
 * before the gap moves into it. */
void pev_table_remove(struct pev_table *t, uint64_t a, uint64_t b)
{
	struct pev_table_slot *slot;
	size_t gap;

	if (!t->slots)
		return;
	slot = slot_of(t, a, b);
	if (!slot->value)
		return;
	gap = (size_t)(slot - t->slots);
	t->nr--;
	for (size_t i = (gap + 1) & t->mask; t->slots[i].value; i = (i + 1) & t->mask) {
		const size_t from = home(t, t->slots[i].a, t->slots[i].b);

		if (((i - from) & t->mask) < ((i - gap) & t->mask))
			continue;
		t->slots[gap] = t->slots[i];
		gap = i;
	}
	t->slots[gap] = (struct pev_table_slot){ 0 };
}
