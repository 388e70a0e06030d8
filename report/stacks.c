// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Most samples have a stack that was seen before. So the whole chain is hashed first, as addresses,
 * and compared with the one stack that has this hash by walking up the tree: a few reads for each
 * frame. Only a new stack has its codes and nodes looked for one by one.
 */
#include "report/stacks.h"

#include "base/hash.h"

#include <string.h>

int pev_stacks_init(struct pev_stacks *s)
{
	const int r = PEV_ARRAY_ROOM(s->nodes, s->nr_nodes, s->cap_nodes);

	if (r < 0)
		return r;
	s->nodes[s->nr_nodes++] = (struct pev_profile_node){ 0 };
	return 0;
}

void pev_stacks_done(struct pev_stacks *s)
{
	pev_index_done(&s->code_index);
	pev_index_done(&s->node_index);
	pev_index_done(&s->stack_index);
	free(s->codes);
	free(s->nodes);
	free(s->stacks);
	*s = (struct pev_stacks){ 0 };
}

static bool same_code(const struct pev_code *a, const struct pev_code *b)
{
	return a->address == b->address && a->module == b->module;
}

static uint64_t hash_code(const struct pev_code *c)
{
	return pev_hash_u64(c->address ^ pev_hash_u64((uintptr_t)c->module));
}

static int put_code(struct pev_stacks *s, const struct pev_code *code, uint32_t *ret)
{
	const uint64_t hash = hash_code(code);
	struct pev_probe at = pev_index_probe(&s->code_index, hash);
	int r;

	while (pev_index_next(&s->code_index, &at))
		if (same_code(&s->codes[at.found].code, code)) {
			*ret = at.found;
			return 0;
		}
	r = PEV_ARRAY_ROOM(s->codes, s->nr_codes, s->cap_codes);
	if (r == 0)
		r = pev_index_add(&s->code_index, hash, s->nr_codes);
	if (r < 0)
		return r;
	s->codes[s->nr_codes] = (struct pev_profile_code){ .code = *code };
	*ret = s->nr_codes++;
	return 0;
}

/* The node of @code below *node, which becomes it. */
static int put_node(struct pev_stacks *s, uint32_t code, uint32_t *node)
{
	const struct pev_profile_node want = { .parent = *node, .code = code };
	const uint64_t hash = pev_hash_u64((uint64_t)want.parent << 32 | want.code);
	struct pev_probe at = pev_index_probe(&s->node_index, hash);
	int r;

	while (pev_index_next(&s->node_index, &at))
		if (s->nodes[at.found].parent == want.parent &&
		    s->nodes[at.found].code == want.code) {
			*node = at.found;
			return 0;
		}
	r = PEV_ARRAY_ROOM(s->nodes, s->nr_nodes, s->cap_nodes);
	if (r == 0)
		r = pev_index_add(&s->node_index, hash, s->nr_nodes);
	if (r < 0)
		return r;
	s->nodes[s->nr_nodes] = want;
	*node = s->nr_nodes++;
	return 0;
}

/* Speed counts here more than evenness: one multiplication for each frame, and a good mixer for the
 * sum. */
static uint64_t hash_chain(const struct pev_code *self, const struct pev_code *codes, size_t nr)
{
	const uint64_t k = 0x9e3779b97f4a7c15ULL;
	uint64_t h = (self->address ^ (uintptr_t)self->module) * k + nr;

	for (size_t i = 0; i < nr; i++)
		h = ((h << 7 | h >> 57) ^ codes[i].address ^ (uintptr_t)codes[i].module) * k;
	return pev_hash_u64(h);
}

static bool same_chain(const struct pev_stacks *s, const struct pev_profile_stack *have,
		       const struct pev_code *self, const struct pev_code *codes, size_t nr)
{
	uint32_t node = have->leaf;

	if (have->depth != nr || !same_code(&s->codes[have->self].code, self))
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (!same_code(&s->codes[s->nodes[node].code].code, &codes[i]))
			return false;
		node = s->nodes[node].parent;
	}
	return true;
}

static int add_chain(struct pev_stacks *s, uint64_t hash, const struct pev_code *self,
		     const struct pev_code *codes, size_t nr)
{
	struct pev_profile_stack stack = { .depth = (uint32_t)nr };
	uint32_t code;
	int r;

	r = put_code(s, self, &stack.self);
	for (size_t i = nr; i-- > 0 && r == 0;) {
		r = put_code(s, &codes[i], &code);
		if (r == 0)
			r = put_node(s, code, &stack.leaf);
	}
	if (r == 0)
		r = PEV_ARRAY_ROOM(s->stacks, s->nr_stacks, s->cap_stacks);
	if (r == 0)
		r = pev_index_add(&s->stack_index, hash, s->nr_stacks);
	if (r < 0)
		return r;
	s->stacks[s->nr_stacks++] = stack;
	return 0;
}

int pev_stacks_put(struct pev_stacks *s, const struct pev_chain *chain, bool no_chain,
		   uint32_t *ret)
{
	const struct pev_code *const codes = no_chain ? &chain->self : chain->codes;
	const size_t nr = no_chain ? 1 : chain->nr;
	const uint64_t hash = hash_chain(&chain->self, codes, nr);
	struct pev_probe at = pev_index_probe(&s->stack_index, hash);
	int r;

	while (pev_index_next(&s->stack_index, &at))
		if (same_chain(s, &s->stacks[at.found], &chain->self, codes, nr)) {
			s->hits++;
			*ret = at.found;
			return 0;
		}
	r = add_chain(s, hash, &chain->self, codes, nr);
	if (r == 0)
		*ret = s->nr_stacks - 1;
	return r;
}
