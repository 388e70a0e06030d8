// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Stacks of a profile are walked down from the outermost caller, once for each name of a thread
 * that has them, and merge where name and file of a function are the same. Sorting numbers the
 * nodes anew, so that a subtree is a range of numbers.
 */
#include "report/flame_tree.h"

#include "base/cleanup.h"
#include "base/hash.h"

#include <errno.h>
#include <string.h>

void pev_flame_tree_done(struct pev_flame_tree *t)
{
	free(t->labels);
	free(t->nodes);
	free(t->events);
	free(t->counts);
	pev_index_done(&t->label_index);
	pev_index_done(&t->node_index);
	*t = (struct pev_flame_tree){ 0 };
}

static int add_label(struct pev_flame_tree *t, const char *name, const char *dso, uint32_t *ret)
{
	const uint64_t hash =
		pev_hash_bytes(name, strlen(name), pev_hash_bytes(dso, strlen(dso), 0));
	struct pev_probe at = pev_index_probe(&t->label_index, hash);
	int r;

	while (pev_index_next(&t->label_index, &at)) {
		const struct pev_flame_label *const l = &t->labels[at.found];

		if (!strcmp(l->name, name) && !strcmp(l->dso, dso)) {
			*ret = at.found;
			return 0;
		}
	}
	r = PEV_ARRAY_ROOM(t->labels, t->nr_labels, t->cap_labels);
	if (r == 0)
		r = pev_index_add(&t->label_index, hash, t->nr_labels);
	if (r < 0)
		return r;
	t->labels[t->nr_labels] = (struct pev_flame_label){ .name = name, .dso = dso };
	*ret = t->nr_labels++;
	return 0;
}

/* The child of *@node with that label; *@node becomes it. */
static int descend(struct pev_flame_tree *t, uint32_t label, enum pev_flame_kind kind,
		   uint32_t *node)
{
	const uint64_t hash = pev_hash_u64((uint64_t)*node << 32 | label);
	struct pev_probe at = pev_index_probe(&t->node_index, hash);
	int r;

	while (pev_index_next(&t->node_index, &at))
		if (t->nodes[at.found].parent == *node && t->nodes[at.found].label == label) {
			*node = at.found;
			return 0;
		}
	r = PEV_ARRAY_ROOM(t->nodes, t->nr_nodes, t->cap_nodes);
	if (r == 0)
		r = pev_index_add(&t->node_index, hash, t->nr_nodes);
	if (r < 0)
		return r;
	t->nodes[t->nr_nodes] =
		(struct pev_flame_node){ .parent = *node, .label = label, .kind = kind };
	*node = t->nr_nodes++;
	return 0;
}

static bool starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* Code that a JIT compiler wrote is in what perf calls perf-PID.map or jitted-PID-N.so. */
static bool is_jit(const char *dso)
{
	const char *const slash = strrchr(dso, '/');
	const char *const name = slash ? slash + 1 : dso;
	const size_t n = strlen(name);

	return (starts_with(name, "perf-") && n > 9 && !strcmp(name + n - 4, ".map")) ||
	       starts_with(name, "jitted-");
}

enum pev_flame_kind pev_flame_kind_of(const struct pev_frame *f)
{
	if (!f->name)
		return PEV_FLAME_UNKNOWN;
	if (f->kernel)
		return PEV_FLAME_KERNEL;
	if (f->inlined)
		return PEV_FLAME_INLINED;
	return f->dso && is_jit(f->dso) ? PEV_FLAME_JIT : PEV_FLAME_USER;
}

/* One profile being added. */
struct adding {
	struct pev_flame_tree *tree;
	const struct pev_profile_data *d;
	enum pev_flame_side side;
	uint32_t *first;  /* by code: its first one in ->labels, and behind the last code the end */
	uint32_t *labels; /* of the frames of all codes */
	uint32_t *events; /* by event of the profile: event of the tree */
	uint32_t *path;   /* codes of the stack at hand, innermost first */
	struct pev_index ends;
	struct end { /* a stack under a thread, and the node where it ends */
		uint32_t comm, stack, node;
	} * end;
	uint32_t nr_ends, cap_ends;
};

static void adding_done(struct adding *a)
{
	free(a->first);
	free(a->labels);
	free(a->events);
	free(a->path);
	free(a->end);
	pev_index_done(&a->ends);
}

static int label_codes(struct adding *a)
{
	const struct pev_profile_data *const d = a->d;
	uint32_t at = 0;

	for (uint32_t c = 0; c < d->nr_codes; c++) {
		a->first[c] = at;
		for (uint32_t i = 0; i < d->codes[c].nr_frames; i++, at++) {
			const struct pev_frame *const f = &d->codes[c].frames[i];
			const int r = add_label(a->tree, f->name ? f->name : "[unknown]",
						f->dso ? f->dso : "", &a->labels[at]);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int map_events(struct adding *a)
{
	struct pev_flame_tree *const t = a->tree;

	for (uint32_t i = 0; i < a->d->nr_events; i++) {
		const struct pev_profile_event *const e = &a->d->events[i];
		uint32_t at = 0;

		if (!e->samples)
			continue;
		while (at < t->nr_events && strcmp(t->events[at].name, e->name) != 0)
			at++;
		if (at == t->nr_events) {
			const int r = PEV_ARRAY_ROOM(t->events, t->nr_events, t->cap_events);

			if (r < 0)
				return r;
			t->events[t->nr_events++] = (struct pev_flame_event){ .name = e->name };
		}
		a->events[i] = at;
	}
	return 0;
}

static int adding_init(struct adding *a)
{
	const struct pev_profile_data *const d = a->d;
	size_t frames = 0, depth = 1;
	int r;

	for (uint32_t c = 0; c < d->nr_codes; c++)
		frames += d->codes[c].nr_frames;
	for (uint32_t s = 0; s < d->nr_stacks; s++)
		if (d->stacks[s].depth > depth)
			depth = d->stacks[s].depth;
	if (frames > UINT32_MAX)
		return -E2BIG;
	a->first = calloc(d->nr_codes + 1UL, sizeof(*a->first));
	a->labels = calloc(frames + 1, sizeof(*a->labels));
	a->events = calloc(d->nr_events + 1UL, sizeof(*a->events));
	a->path = calloc(depth, sizeof(*a->path));
	if (!a->first || !a->labels || !a->events || !a->path)
		return -ENOMEM;
	r = label_codes(a);
	return r < 0 ? r : map_events(a);
}

/* Goes down from *@node through the frames of @code, the inlined ones last. */
static int descend_code(struct adding *a, uint32_t code, uint32_t *node)
{
	const struct pev_profile_code *const c = &a->d->codes[code];

	for (uint32_t i = c->nr_frames; i-- > 0;) {
		const int r = descend(a->tree, a->labels[a->first[code] + i],
				      pev_flame_kind_of(&c->frames[i]), node);

		if (r < 0)
			return r;
	}
	return 0;
}

static int walk_stack(struct adding *a, uint32_t comm, uint32_t stack, uint32_t *ret)
{
	const struct pev_profile_stack *const s = &a->d->stacks[stack];
	uint32_t n = 0, node = 0;
	int r = descend(a->tree, comm, PEV_FLAME_THREAD, &node);

	if (!s->leaf)
		a->path[n++] = s->self;
	for (uint32_t at = s->leaf; at; at = a->d->nodes[at].parent)
		a->path[n++] = a->d->nodes[at].code;
	while (r == 0 && n > 0)
		r = descend_code(a, a->path[--n], &node);
	*ret = node;
	return r;
}

/* The node where @stack under the thread name @comm ends; many cells have the same. */
static int end_of(struct adding *a, uint32_t comm, uint32_t stack, uint32_t *ret)
{
	const uint64_t hash = pev_hash_u64((uint64_t)comm << 32 | stack);
	struct pev_probe at = pev_index_probe(&a->ends, hash);
	int r;

	while (pev_index_next(&a->ends, &at))
		if (a->end[at.found].comm == comm && a->end[at.found].stack == stack) {
			*ret = a->end[at.found].node;
			return 0;
		}
	r = walk_stack(a, comm, stack, ret);
	if (r == 0)
		r = PEV_ARRAY_ROOM(a->end, a->nr_ends, a->cap_ends);
	if (r == 0)
		r = pev_index_add(&a->ends, hash, a->nr_ends);
	if (r == 0)
		a->end[a->nr_ends++] = (struct end){ comm, stack, *ret };
	return r;
}

static int add_cell(struct adding *a, const struct pev_profile_cell *cell)
{
	const struct pev_profile_key *const key = &a->d->keys[cell->key];
	struct pev_flame_tree *const t = a->tree;
	const uint32_t event = a->events[key->event];
	uint32_t comm, node = 0;
	int r = add_label(t, key->comm ? key->comm : "[unknown]", "", &comm);

	if (r == 0)
		r = end_of(a, comm, cell->stack, &node);
	if (r == 0)
		r = PEV_ARRAY_ROOM(t->counts, t->nr_counts, t->cap_counts);
	if (r < 0)
		return r;
	t->counts[t->nr_counts++] = (struct pev_flame_count){ .event = event,
							      .node = node,
							      .slice = key->slice,
							      .side = a->side,
							      .samples = cell->samples };
	t->events[event].samples[a->side] += cell->samples;
	return 0;
}

int pev_flame_tree_add(struct pev_flame_tree *t, const struct pev_profile_data *d,
		       enum pev_flame_side side, struct pev_err *err)
{
	_cleanup_(adding_done) struct adding a = { .tree = t, .d = d, .side = side };
	int r = PEV_ARRAY_ROOM(t->nodes, t->nr_nodes, t->cap_nodes);

	if (r == 0 && !t->nr_nodes)
		t->nodes[t->nr_nodes++] = (struct pev_flame_node){ 0 };
	if (r == 0)
		r = adding_init(&a);
	for (uint32_t i = 0; r == 0 && i < d->nr_cells; i++)
		if (d->cells[i].samples)
			r = add_cell(&a, &d->cells[i]);
	if (r < 0)
		return pev_err_set(err, r, "cannot make the tree of functions: %s",
				   pev_errno_str(r));
	return 0;
}

struct place {
	const char *name, *dso;
	uint32_t parent, node;
};

/* Last parent first, siblings backwards: so popped from a stack they come in order. */
static int compare_places(const void *va, const void *vb)
{
	const struct place *const a = va, *const b = vb;
	int by_name;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	by_name = strcmp(b->name, a->name);
	if (by_name == 0)
		by_name = strcmp(b->dso, a->dso);
	return by_name ? by_name : a->node < b->node ? 1 : -1;
}

/* Old numbers of nodes in the order of the walk, children of @first[n] to @first[n + 1]. */
static void walk_order(const struct place *places, const uint32_t *first, uint32_t nr,
		       uint32_t *todo, uint32_t *ret_order)
{
	uint32_t left = 1;

	todo[0] = 0;
	for (uint32_t i = 0; i < nr; i++) {
		const uint32_t node = todo[--left];

		ret_order[i] = node;
		for (uint32_t c = first[node]; c < first[node + 1]; c++)
			todo[left++] = places[c].node;
	}
}

static int compare_counts(const void *va, const void *vb)
{
	const struct pev_flame_count *const a = va, *const b = vb;

	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->side != b->side)
		return a->side < b->side ? -1 : 1;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return a->slice < b->slice ? -1 : a->slice > b->slice;
}

static void sort_counts(struct pev_flame_tree *t)
{
	uint32_t nr = 0;

	if (t->nr_counts)
		qsort(t->counts, t->nr_counts, sizeof(*t->counts), compare_counts);
	for (uint32_t i = 0; i < t->nr_counts; i++)
		if (nr && compare_counts(&t->counts[nr - 1], &t->counts[i]) == 0)
			t->counts[nr - 1].samples += t->counts[i].samples;
		else
			t->counts[nr++] = t->counts[i];
	t->nr_counts = nr;
}

/* Gives the nodes the numbers of @order, which is of old ones; @renumbered is room for as many. */
static void renumber(struct pev_flame_tree *t, const uint32_t *order, uint32_t *renumbered,
		     struct pev_flame_node *nodes)
{
	for (uint32_t i = 0; i < t->nr_nodes; i++) {
		renumbered[order[i]] = i;
		nodes[i] = t->nodes[order[i]];
		nodes[i].parent = renumbered[nodes[i].parent];
	}
	for (uint32_t i = 0; i < t->nr_counts; i++)
		t->counts[i].node = renumbered[t->counts[i].node];
	free(t->nodes);
	t->nodes = nodes;
	t->cap_nodes = t->nr_nodes;
	pev_index_clear(&t->node_index);
}

int pev_flame_tree_sort(struct pev_flame_tree *t, struct pev_err *err)
{
	const size_t n = t->nr_nodes;
	_cleanup_free_ struct place *places = calloc(n + 1, sizeof(*places));
	_cleanup_free_ uint32_t *first = calloc(n + 1, sizeof(*first));
	_cleanup_free_ uint32_t *todo = calloc(n + 1, sizeof(*todo));
	_cleanup_free_ uint32_t *order = calloc(n + 1, sizeof(*order));
	struct pev_flame_node *const nodes = calloc(n + 1, sizeof(*nodes));
	uint32_t at = 0;

	if (!places || !first || !todo || !order || !nodes) {
		free(nodes);
		return pev_err_set(err, -ENOMEM, "no memory to sort the tree of functions");
	}
	for (uint32_t i = 1; i < n; i++) {
		const struct pev_flame_label *const l = &t->labels[t->nodes[i].label];

		places[i - 1] = (struct place){ l->name, l->dso, t->nodes[i].parent, i };
	}
	if (n > 1)
		qsort(places, n - 1, sizeof(*places), compare_places);
	for (uint32_t i = 0; i < n; i++) {
		first[i] = at;
		while (at + 1 < n && places[at].parent == i)
			at++;
	}
	first[n] = at;
	walk_order(places, first, t->nr_nodes, todo, order);
	renumber(t, order, todo, nodes);
	sort_counts(t);
	return 0;
}
