/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Distinct stacks, and the distinct codes they are made of. */
#pragma once

#include "report/index.h"
#include "report/profile.h"

/* Zero-initialise, pev_stacks_init() to start, pev_stacks_done() to end. The arrays are those of
 * struct pev_profile_data. */
struct pev_stacks {
	struct pev_profile_code *codes;
	struct pev_profile_node *nodes;
	struct pev_profile_stack *stacks;
	uint32_t nr_codes, nr_nodes, nr_stacks;
	uint32_t cap_codes, cap_nodes, cap_stacks;
	struct pev_index code_index, node_index, stack_index;
	uint64_t hits; /* stacks that were there already */
};

/* -ENOMEM. */
int pev_stacks_init(struct pev_stacks *s);
void pev_stacks_done(struct pev_stacks *s);

/* The number of the stack of @chain, or of ->self alone with @no_chain. -ENOMEM, -E2BIG. */
int pev_stacks_put(struct pev_stacks *s, const struct pev_chain *chain, bool no_chain,
		   uint32_t *ret);
