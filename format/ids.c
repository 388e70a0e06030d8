// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format/ids.h"

#include <errno.h>
#include <stdlib.h>

void pev_ids_done(struct pev_ids *ids)
{
	free(ids->slots);
	*ids = (struct pev_ids){ 0 };
}

static void insert(struct pev_id *slots, size_t mask, struct pev_id entry)
{
	size_t i = entry.id & mask;

	while (slots[i].id)
		i = (i + 1) & mask;
	slots[i] = entry;
}

int pev_ids_add(struct pev_ids *ids, uint64_t id, uint32_t event, uint32_t ring)
{
	if (!id || pev_ids_find(ids, id))
		return 0;
	if (!ids->slots || ids->nr * 2 > ids->mask) {
		const size_t mask = ids->slots ? ids->mask * 2 + 1 : 63;
		struct pev_id *const slots = calloc(mask + 1, sizeof(*slots));

		if (!slots)
			return -ENOMEM;
		for (size_t i = 0; ids->slots && i <= ids->mask; i++)
			if (ids->slots[i].id)
				insert(slots, mask, ids->slots[i]);
		free(ids->slots);
		ids->slots = slots;
		ids->mask = mask;
	}
	insert(ids->slots, ids->mask, (struct pev_id){ .id = id, .event = event, .ring = ring });
	ids->nr++;
	return 0;
}
