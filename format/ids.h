/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the kernel's id of a counter to what it counts, at the speed of the drain loop. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct pev_id {
	uint64_t id;    /* 0: empty slot; the kernel starts at 1 */
	uint32_t event; /* index in the event list */
	uint32_t ring;  /* index of the ring it comes through, while recording */
};

/* Open addressing over a power of two. The kernel hands ids out in sequence, so that they are their
 * own hash. */
struct pev_ids {
	struct pev_id *slots;
	size_t mask; /* slots - 1 */
	size_t nr;
};

void pev_ids_done(struct pev_ids *ids);

/* -ENOMEM. An id that is there already keeps its first entry; 0 is none and is ignored. */
int pev_ids_add(struct pev_ids *ids, uint64_t id, uint32_t event, uint32_t ring);

/* NULL when unknown. */
static inline const struct pev_id *pev_ids_find(const struct pev_ids *ids, uint64_t id)
{
	if (!ids->slots || !id)
		return NULL;
	for (size_t i = id & ids->mask; ids->slots[i].id; i = (i + 1) & ids->mask)
		if (ids->slots[i].id == id)
			return &ids->slots[i];
	return NULL;
}
