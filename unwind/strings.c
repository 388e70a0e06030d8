// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unwind/strings.h"

#include "base/checked.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Small strings share chunks; one bigger than a quarter of a chunk gets its own. */
#define CHUNK_BYTES 65536

struct pev_strings_chunk {
	struct pev_strings_chunk *next;
	size_t used, size;
	char bytes[];
};

void pev_strings_done(struct pev_strings *pool)
{
	struct pev_strings_chunk *c = pool->chunks;

	while (c) {
		struct pev_strings_chunk *const next = c->next;

		free(c);
		c = next;
	}
	free(pool->slots);
	*pool = (struct pev_strings){ 0 };
}

static struct pev_strings_chunk *chunk_new(struct pev_strings *pool, size_t size)
{
	struct pev_strings_chunk *const c = malloc(sizeof(*c) + size);

	if (!c)
		return NULL;
	c->used = 0;
	c->size = size;
	pool->bytes += sizeof(*c) + size;
	return c;
}

/* Room for @n bytes that never moves. */
static char *carve(struct pev_strings *pool, size_t n)
{
	struct pev_strings_chunk *c = pool->chunks;

	if (n > CHUNK_BYTES / 4) {
		c = chunk_new(pool, n);
		if (!c)
			return NULL;
		/* Behind the open chunk, whose rest is still good for small strings. */
		if (pool->chunks) {
			c->next = pool->chunks->next;
			pool->chunks->next = c;
		} else {
			c->next = NULL;
			pool->chunks = c;
		}
	} else if (!c || c->size - c->used < n) {
		c = chunk_new(pool, CHUNK_BYTES);
		if (!c)
			return NULL;
		c->next = pool->chunks;
		pool->chunks = c;
	}
	c->used += n;
	return c->bytes + c->used - n;
}

static bool grow(struct pev_strings *pool)
{
	const size_t nr = pool->nr_slots ? pool->nr_slots * 2 : 256;
	struct pev_strings_slot *const slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < pool->nr_slots; i++) {
		const struct pev_strings_slot *const old = &pool->slots[i];
		size_t j;

		if (!old->hash)
			continue;
		for (j = old->hash & (nr - 1); slots[j].hash; j = (j + 1) & (nr - 1))
			;
		slots[j] = *old;
	}
	pool->bytes += (nr - pool->nr_slots) * sizeof(*slots);
	free(pool->slots);
	pool->slots = slots;
	pool->nr_slots = nr;
	return true;
}

const char *pev_strings_put(struct pev_strings *pool, const char *s, size_t n)
{
	const uint32_t h = (uint32_t)pev_hash_bytes(s, n, 0), hash = h ? h : 1;
	struct pev_strings_slot *slot;
	char *copy;
	size_t j;

	if (n >= UINT32_MAX)
		return NULL;
	if (pool->nr >= pool->nr_slots / 4 * 3 && !grow(pool))
		return NULL;
	for (j = hash & (pool->nr_slots - 1);; j = (j + 1) & (pool->nr_slots - 1)) {
		slot = &pool->slots[j];
		if (!slot->hash)
			break;
		if (slot->hash == hash && slot->size == n && memcmp(slot->s, s, n) == 0)
			return slot->s;
	}
	copy = carve(pool, n + 1);
	if (!copy)
		return NULL;
	memcpy(copy, s, n);
	copy[n] = 0;
	*slot = (struct pev_strings_slot){ .hash = hash, .size = (uint32_t)n, .s = copy };
	pool->nr++;
	return copy;
}
