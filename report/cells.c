// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/cells.h"

#include "base/cleanup.h"
#include "base/hash.h"

#include <assert.h>
#include <string.h>

/* Keys are hashed and compared as bytes. */
static_assert(sizeof(struct pev_profile_key) == 6 * 4 + 3 * 8, "no padding");

void pev_cells_done(struct pev_cells *c)
{
	pev_index_done(&c->key_index);
	pev_index_done(&c->cell_index);
	free(c->keys);
	free(c->cells);
	*c = (struct pev_cells){ 0 };
}

static int put_key(struct pev_cells *c, const struct pev_profile_key *key, uint32_t *ret)
{
	const uint64_t hash = pev_hash_bytes(key, sizeof(*key), 0);
	struct pev_probe at = pev_index_probe(&c->key_index, hash);
	int r;

	while (pev_index_next(&c->key_index, &at))
		if (!memcmp(&c->keys[at.found], key, sizeof(*key))) {
			*ret = at.found;
			return 0;
		}
	r = PEV_ARRAY_ROOM(c->keys, c->nr_keys, c->cap_keys);
	if (r == 0)
		r = pev_index_add(&c->key_index, hash, c->nr_keys);
	if (r < 0)
		return r;
	c->keys[c->nr_keys] = *key;
	*ret = c->nr_keys++;
	return 0;
}

static int count_cell(struct pev_cells *c, uint32_t stack, uint32_t key, uint64_t samples,
		      uint64_t period)
{
	const uint64_t hash = pev_hash_u64((uint64_t)stack << 32 | key);
	struct pev_probe at = pev_index_probe(&c->cell_index, hash);
	int r;

	while (pev_index_next(&c->cell_index, &at)) {
		struct pev_profile_cell *const cell = &c->cells[at.found];

		if (cell->stack == stack && cell->key == key) {
			cell->samples += samples;
			cell->period += period;
			return 0;
		}
	}
	r = PEV_ARRAY_ROOM(c->cells, c->nr_cells, c->cap_cells);
	if (r == 0)
		r = pev_index_add(&c->cell_index, hash, c->nr_cells);
	if (r < 0)
		return r;
	c->cells[c->nr_cells++] = (struct pev_profile_cell){
		.stack = stack, .key = key, .samples = samples, .period = period
	};
	return 0;
}

int pev_cells_count(struct pev_cells *c, uint32_t stack, const struct pev_profile_key *key,
		    uint64_t samples, uint64_t period)
{
	uint32_t at;
	const int r = put_key(c, key, &at);

	return r < 0 ? r : count_cell(c, stack, at, samples, period);
}

/* Counts all cells again, under other keys. */
static int recount(struct pev_cells *c, const uint32_t *new_key)
{
	const uint32_t nr = c->nr_cells;

	pev_index_clear(&c->cell_index);
	c->nr_cells = 0;
	/* In place: what is written is never beyond what was read. */
	for (uint32_t i = 0; i < nr; i++) {
		const struct pev_profile_cell cell = c->cells[i];
		const int r =
			count_cell(c, cell.stack, new_key[cell.key], cell.samples, cell.period);

		if (r < 0)
			return r;
	}
	return 0;
}

int pev_cells_halve_slices(struct pev_cells *c)
{
	const uint32_t nr = c->nr_keys;
	_cleanup_free_ uint32_t *new_key = calloc(nr ? nr : 1, sizeof(*new_key));

	if (!new_key)
		return -ENOMEM;
	pev_index_clear(&c->key_index);
	c->nr_keys = 0;
	for (uint32_t i = 0; i < nr; i++) {
		struct pev_profile_key key = c->keys[i];
		int r;

		key.slice /= 2;
		r = put_key(c, &key, &new_key[i]);
		if (r < 0)
			return r;
	}
	return recount(c, new_key);
}

void pev_cells_keep(struct pev_cells *c, bool (*keep)(void *arg, const struct pev_profile_cell *),
		    void *arg)
{
	uint32_t kept = 0;

	/* Nothing is counted any more: the index may go stale. */
	for (uint32_t i = 0; i < c->nr_cells; i++)
		if (keep(arg, &c->cells[i]))
			c->cells[kept++] = c->cells[i];
	c->nr_cells = kept;
	pev_index_done(&c->cell_index);
}
