/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Distinct keys, and the counts of each (stack, key). */
#pragma once

#include "report/index.h"
#include "report/profile.h"

/* Zero-initialise to start, pev_cells_done() to end. The arrays are those of struct
 * pev_profile_data. */
struct pev_cells {
	struct pev_profile_key *keys;
	struct pev_profile_cell *cells;
	uint32_t nr_keys, nr_cells;
	uint32_t cap_keys, cap_cells;
	struct pev_index key_index, cell_index;
};

void pev_cells_done(struct pev_cells *c);

/* Counts @samples samples of @stack under @key. -ENOMEM, -E2BIG. */
int pev_cells_count(struct pev_cells *c, uint32_t stack, const struct pev_profile_key *key,
		    uint64_t samples, uint64_t period);

/* Makes each two slices of time one: slice 2n and 2n + 1 become n. -ENOMEM. */
int pev_cells_halve_slices(struct pev_cells *c);

/* Keeps the cells that @keep wants; keys without cells stay. Nothing can be counted any more. */
void pev_cells_keep(struct pev_cells *c, bool (*keep)(void *arg, const struct pev_profile_cell *),
		    void *arg);
