// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format/group_read.h"

#include "base/hash.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

struct slot {
	uint64_t id, value;
	uint32_t tid;
	bool used;
};

/* Open addressing over a power of two, at most three quarters full. */
struct pev_group_read {
	struct slot *slots;
	size_t mask, nr;
};

struct pev_group_read *pev_group_read_free(struct pev_group_read *g)
{
	if (!g)
		return NULL;
	free(g->slots);
	free(g);
	return NULL;
}

static struct slot *find(const struct pev_group_read *g, uint64_t id, uint32_t tid)
{
	size_t i = pev_hash_u64(id ^ pev_hash_u64(tid)) & g->mask;

	while (g->slots[i].used && (g->slots[i].id != id || g->slots[i].tid != tid))
		i = (i + 1) & g->mask;
	return &g->slots[i];
}

static int grow(struct pev_group_read *g)
{
	const size_t nr = g->slots ? 2 * (g->mask + 1) : 64;
	struct pev_group_read old = *g;

	g->slots = calloc(nr, sizeof(*g->slots));
	if (!g->slots) {
		*g = old;
		return -ENOMEM;
	}
	g->mask = nr - 1;
	for (size_t i = 0; old.slots && i <= old.mask; i++)
		if (old.slots[i].used)
			*find(g, old.slots[i].id, old.slots[i].tid) = old.slots[i];
	free(old.slots);
	return 0;
}

int pev_group_read_step(struct pev_group_read **g, uint64_t id, uint32_t tid, uint64_t value,
			uint64_t *ret)
{
	struct slot *slot;

	if (!*g) {
		*g = calloc(1, sizeof(**g));
		if (!*g)
			return -ENOMEM;
	}
	if ((!(*g)->slots || (*g)->nr >= ((*g)->mask + 1) / 4 * 3) && grow(*g) < 0)
		return -ENOMEM;
	slot = find(*g, id, tid);
	if (!slot->used) {
		*slot = (struct slot){ .id = id, .tid = tid, .used = true };
		(*g)->nr++;
	}
	*ret = value - slot->value;
	slot->value = value;
	return 0;
}
