// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/tree.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "report/index.h"

#include <errno.h>
#include <stdlib.h>

void pev_labels_done(struct pev_labels *l)
{
	free(l->first);
	free(l->of);
	*l = (struct pev_labels){ 0 };
}

/* Room for the labels of all frames. */
static int init_labels(struct pev_labels *l, const struct pev_profile_data *d)
{
	uint64_t nr = 0;

	for (uint32_t c = 0; c < d->nr_codes; c++)
		nr += d->codes[c].nr_frames;
	if (nr >= UINT32_MAX)
		return -E2BIG;
	*l = (struct pev_labels){
		.first = calloc(d->nr_codes + 1ULL, sizeof(*l->first)),
		.of = calloc(nr + 1, sizeof(*l->of)),
	};
	if (!l->first || !l->of)
		return -ENOMEM;
	for (uint32_t c = 0; c < d->nr_codes; c++)
		l->first[c + 1] = l->first[c] + d->codes[c].nr_frames;
	return 0;
}

static bool same_function(const struct pev_frame *a, const struct pev_frame *b,
			  enum pev_label_by by)
{
	/* Strings of a resolver that are equal have equal pointers. */
	return a->name == b->name && a->dso == b->dso &&
	       (by == PEV_LABEL_NAME || (a->line == b->line && a->file == b->file));
}

static uint64_t hash_function(const struct pev_frame *f, enum pev_label_by by)
{
	const uint64_t h = pev_hash_u64((uintptr_t)f->name ^ pev_hash_u64((uintptr_t)f->dso));

	return by == PEV_LABEL_NAME ? h : pev_hash_u64(h ^ f->line ^ (uintptr_t)f->file);
}

/* Labels found so far: frame number i of ->frames has label i. */
struct seen {
	const struct pev_frame **frames;
	uint32_t nr, cap;
	struct pev_index index;
};

static void seen_done(struct seen *s)
{
	free((void *)s->frames);
	pev_index_done(&s->index);
}

static int label_of(struct seen *s, const struct pev_frame *f, enum pev_label_by by, uint32_t *ret)
{
	const uint64_t hash = hash_function(f, by);
	struct pev_probe at = pev_index_probe(&s->index, hash);
	int r;

	while (pev_index_next(&s->index, &at))
		if (same_function(s->frames[at.found], f, by)) {
			*ret = at.found;
			return 0;
		}
	r = PEV_ARRAY_ROOM(s->frames, s->nr, s->cap);
	if (r == 0)
		r = pev_index_add(&s->index, hash, s->nr);
	if (r < 0)
		return r;
	s->frames[s->nr] = f;
	*ret = s->nr++;
	return 0;
}

int pev_labels_make(struct pev_labels *l, const struct pev_profile_data *d, enum pev_label_by by)
{
	_cleanup_(seen_done) struct seen seen = { 0 };
	int r = init_labels(l, d);

	for (uint32_t c = 0; c < d->nr_codes && r == 0; c++)
		for (uint32_t f = 0; f < d->codes[c].nr_frames && r == 0; f++)
			r = label_of(&seen, &d->codes[c].frames[f], by, &l->of[l->first[c] + f]);
	l->nr = seen.nr;
	if (r < 0)
		pev_labels_done(l);
	return r;
}

void pev_tree_done(struct pev_tree *t)
{
	free(t->nodes);
	free(t->leaves);
	*t = (struct pev_tree){ 0 };
}

/* A tree while it grows. */
struct grow {
	struct pev_tree *tree;
	const struct pev_profile_data *d;
	const struct pev_labels *labels;
	struct pev_index index;
};

static void grow_done(struct grow *g)
{
	pev_index_done(&g->index);
}

/* The child of *node for label number @i, one of @code's, which becomes *node. */
static int step(struct grow *g, uint32_t code, uint32_t i, uint32_t *node)
{
	struct pev_tree *const t = g->tree;
	const struct pev_tree_node want = {
		.parent = *node,
		.label = g->labels->of[i],
		.code = code,
		.at = i - g->labels->first[code],
	};
	const uint64_t hash = pev_hash_u64((uint64_t)want.parent << 32 | want.label);
	struct pev_probe at = pev_index_probe(&g->index, hash);
	int r;

	while (pev_index_next(&g->index, &at))
		if (t->nodes[at.found].parent == want.parent &&
		    t->nodes[at.found].label == want.label) {
			*node = at.found;
			return 0;
		}
	r = PEV_ARRAY_ROOM(t->nodes, t->nr_nodes, t->cap_nodes);
	if (r == 0)
		r = pev_index_add(&g->index, hash, t->nr_nodes);
	if (r < 0)
		return r;
	t->nodes[t->nr_nodes] = want;
	*node = t->nr_nodes++;
	return 0;
}

/* Each node of the profile once: its caller has its place already. */
static int grow_from_root(struct grow *g)
{
	const struct pev_profile_data *const d = g->d;
	const uint32_t *const first = g->labels->first;
	_cleanup_free_ uint32_t *place = calloc(d->nr_nodes, sizeof(*place));
	int r = 0;

	if (!place)
		return -ENOMEM;
	for (uint32_t n = 1; n < d->nr_nodes && r == 0; n++) {
		const uint32_t code = d->nodes[n].code;

		place[n] = place[d->nodes[n].parent];
		for (uint32_t i = first[code + 1]; i-- > first[code] && r == 0;)
			r = step(g, code, i, &place[n]);
	}
	for (uint32_t s = 0; s < d->nr_stacks; s++)
		g->tree->leaves[s] = place[d->stacks[s].leaf];
	return r;
}

static int grow_from_leaves(struct grow *g)
{
	const struct pev_profile_data *const d = g->d;
	const uint32_t *const first = g->labels->first;
	int r = 0;

	for (uint32_t s = 0; s < d->nr_stacks && r == 0; s++) {
		uint32_t *const place = &g->tree->leaves[s];

		for (uint32_t n = d->stacks[s].leaf; n && r == 0; n = d->nodes[n].parent) {
			const uint32_t code = d->nodes[n].code;

			for (uint32_t i = first[code]; i < first[code + 1] && r == 0; i++)
				r = step(g, code, i, place);
		}
	}
	return r;
}

int pev_tree_make(struct pev_tree *t, const struct pev_profile_data *d,
		  const struct pev_labels *labels, bool inverted)
{
	_cleanup_(grow_done) struct grow g = { .tree = t, .d = d, .labels = labels };
	int r;

	*t = (struct pev_tree){ .leaves = calloc(d->nr_stacks + 1ULL, sizeof(*t->leaves)) };
	r = t->leaves ? PEV_ARRAY_ROOM(t->nodes, t->nr_nodes, t->cap_nodes) : -ENOMEM;
	if (r == 0) {
		t->nodes[t->nr_nodes++] = (struct pev_tree_node){ 0 };
		r = inverted ? grow_from_leaves(&g) : grow_from_root(&g);
	}
	if (r < 0)
		pev_tree_done(t);
	return r;
}
