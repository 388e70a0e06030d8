// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The calls under one row. A node of the graph stands for a set of places in the group's tree, and
 * is taken apart only when it costs enough to be shown: so the work is about what is shown, however
 * many stacks there are.
 *
 * What perf collects for a row, and we with it: of samples in the row itself the whole chain; when
 * rows count what they call, also of each other chain that the row's function is on, the part from
 * there on: inwards in the order of callers, from the outermost place; outwards in that of callees,
 * from the innermost.
 */
#include "base/checked.h"
#include "base/cleanup.h"
#include "report/hist_part.h"
#include "report/index.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which chains through a place count, and where they go on. */
enum direction {
	OUT,      /* to the caller */
	IN_SELF,  /* to the callees: chains of samples in the row */
	IN_OTHER, /* the others */
};

struct place {
	uint32_t node;
	enum direction direction;
	uint64_t weight;
};

struct places {
	struct place *v;
	uint32_t nr, cap;
};

static void places_done(struct places *p)
{
	free(p->v);
	*p = (struct places){ 0 };
}

static int put(struct places *p, uint32_t node, enum direction direction, uint64_t weight)
{
	int r;

	if (!weight)
		return 0;
	r = PEV_ARRAY_ROOM(p->v, p->nr, p->cap);
	if (r == 0)
		p->v[p->nr++] = (struct place){ node, direction, weight };
	return r;
}

/* A node of the graph that is still to be taken apart. */
struct pending {
	uint32_t node;
	struct places places; /* owned */
};

struct drawing {
	const struct hist_build *b;
	const struct hist_group *g;
	struct pev_graph_node *nodes;
	uint32_t nr_nodes, cap_nodes;
	struct pending *pending;
	uint32_t nr_pending, cap_pending;
};

static void drawing_done(struct drawing *d)
{
	for (uint32_t i = 0; i < d->nr_pending; i++)
		places_done(&d->pending[i].places);
	free(d->pending);
	free(d->nodes);
}

/* Where the chains of a place go on. */
static int follow(const struct drawing *d, const struct place *p, struct places *next)
{
	const struct hist_node *const nodes = d->g->nodes;
	int r = 0;

	if (p->direction == OUT)
		return nodes[p->node].parent ? put(next, nodes[p->node].parent, OUT, p->weight) : 0;
	for (uint32_t c = nodes[p->node].child; c && r == 0; c = nodes[c].sibling)
		r = put(next, c, p->direction,
			p->direction == IN_SELF ? nodes[c].self : nodes[c].total - nodes[c].self);
	return r;
}

static uint32_t function_at(const struct drawing *d, const struct place *p)
{
	return d->b->labels.function_of[d->g->nodes[p->node].label];
}

static int by_function(const void *a, const void *b, void *arg)
{
	const uint32_t x = function_at(arg, a), y = function_at(arg, b);

	return (x > y) - (x < y);
}

/* Places of one function, next to each other. */
struct bundle {
	uint32_t first, nr;
	uint64_t total;
	uint64_t start; /* of the function */
};

static int by_total(const void *a, const void *b)
{
	const struct bundle *const x = a, *const y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	if (x->start != y->start)
		return x->start < y->start ? 1 : -1; /* as perf happens to have it */
	return (x->first > y->first) - (x->first < y->first);
}

static int make_bundles(const struct drawing *d, struct places *places, struct bundle **ret,
			uint32_t *ret_nr)
{
	struct bundle *const bundles = calloc(places->nr + 1ULL, sizeof(*bundles));
	uint32_t nr = 0;

	if (!bundles)
		return -ENOMEM;
	if (places->nr)
		qsort_r(places->v, places->nr, sizeof(*places->v), by_function,
			(void *)(uintptr_t)d);
	for (uint32_t i = 0; i < places->nr; i++) {
		if (!i || function_at(d, &places->v[i]) != function_at(d, &places->v[i - 1]))
			bundles[nr++] = (struct bundle){
				.first = i,
				.start = d->b->labels.function_start[function_at(d, &places->v[i])],
			};
		bundles[nr - 1].nr++;
		bundles[nr - 1].total += places->v[i].weight;
	}
	qsort(bundles, nr, sizeof(*bundles), by_total);
	*ret = bundles;
	*ret_nr = nr;
	return 0;
}

static int put_node(struct drawing *d, uint32_t parent, const struct bundle *bundle,
		    const struct places *places, uint32_t *ret)
{
	const struct hist_node *const at = &d->g->nodes[places->v[bundle->first].node];
	const int r = PEV_ARRAY_ROOM(d->nodes, d->nr_nodes, d->cap_nodes);

	if (r < 0)
		return r;
	d->nodes[d->nr_nodes] = (struct pev_graph_node){
		.parent = parent,
		.code = at->code,
		.frame = at->frame,
		.total = bundle->total,
	};
	*ret = d->nr_nodes++;
	return 0;
}

/* Leaves the places of a bundle for later. */
static int put_pending(struct drawing *d, uint32_t node, const struct bundle *bundle,
		       const struct places *places)
{
	_cleanup_(places_done) struct places own = { 0 };
	int r = PEV_ARRAY_ROOM(d->pending, d->nr_pending, d->cap_pending);

	if (r < 0)
		return r;
	own.v = calloc(bundle->nr, sizeof(*own.v));
	if (!own.v)
		return -ENOMEM;
	memcpy(own.v, &places->v[bundle->first], bundle->nr * sizeof(*own.v));
	own.nr = own.cap = bundle->nr;
	d->pending[d->nr_pending++] = (struct pending){ .node = node, .places = own };
	own = (struct places){ 0 };
	return 0;
}

static uint64_t threshold(const struct drawing *d, uint64_t of_children)
{
	const struct pev_graph_options *const o = &d->b->options->graph;

	if (o->mode == PEV_GRAPH_RELATIVE)
		return (uint64_t)ceil((double)of_children * (o->min_percent / 100));
	return (uint64_t)((double)d->b->hist->total * (o->min_percent / 100));
}

/* Gives @node the children that the places make, those that cost enough. */
static int grow(struct drawing *d, uint32_t node, struct places *places)
{
	_cleanup_free_ struct bundle *bundles = NULL;
	uint64_t below = 0, least;
	uint32_t nr = 0, last = 0;
	int r = make_bundles(d, places, &bundles, &nr);

	for (uint32_t i = 0; i < nr && r == 0; i++)
		below += bundles[i].total;
	least = threshold(d, below);
	for (uint32_t i = 0; i < nr && r == 0 && bundles[i].total >= least; i++) {
		uint32_t child;

		r = put_node(d, node, &bundles[i], places, &child);
		if (r == 0)
			r = put_pending(d, child, &bundles[i], places);
		if (r < 0)
			break;
		if (last)
			d->nodes[last].next = child;
		else
			d->nodes[node].first = child;
		last = child;
	}
	if (r == 0) {
		d->nodes[node].nr_children = nr;
		d->nodes[node].own = d->nodes[node].total - below;
	}
	return r;
}

static int grow_all(struct drawing *d)
{
	while (d->nr_pending) {
		_cleanup_(places_done) struct places next = { 0 };
		struct pending p = d->pending[--d->nr_pending];
		int r = 0;

		for (uint32_t i = 0; i < p.places.nr && r == 0; i++)
			r = follow(d, &p.places.v[i], &next);
		places_done(&p.places);
		if (r == 0)
			r = grow(d, p.node, &next);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Sums up what was sampled in the row, from where chains end to the root; or takes it back. */
static void mark_self(struct hist_build *b, uint32_t label, bool undo)
{
	struct hist_group *const g = &b->group;

	for (uint32_t i = b->rows[label].cell; i; i = g->cells[i - 1].same)
		for (uint32_t n = g->cells[i - 1].leaf; n; n = g->nodes[n].parent)
			g->nodes[n].self = undo ? 0 : g->nodes[n].self + g->cells[i - 1].period;
}

/* The nearest caller of @node of the same row, 0 when there is none. */
static uint32_t outer_of(const struct hist_build *b, uint32_t node, uint32_t label)
{
	const struct hist_node *const nodes = b->group.nodes;
	uint32_t n = nodes[node].parent;

	while (n && b->labels.row_of[nodes[n].label] != label)
		n = nodes[n].parent;
	return n;
}

/* Where the chains begin that pass through the row, but whose samples are not in it. */
static int start_others(struct hist_build *b, uint32_t label, struct places *start)
{
	struct hist_node *const nodes = b->group.nodes;
	int r = 0;

	for (uint32_t n = b->rows[label].node; n; n = nodes[n].same)
		nodes[n].weight = nodes[n].total - nodes[n].self;
	for (uint32_t n = b->rows[label].node; n; n = nodes[n].same) {
		const uint32_t outer = outer_of(b, n, label);
		const uint64_t all = nodes[n].total - nodes[n].self;

		/* The outermost place has all of the inner ones', or the inner ones their own. */
		if (outer && b->options->graph.caller)
			nodes[n].weight = 0;
		else if (outer)
			nodes[outer].weight -= all;
	}
	for (uint32_t n = b->rows[label].node; n && r == 0; n = nodes[n].same)
		r = put(start, n, b->options->graph.caller ? IN_OTHER : OUT, nodes[n].weight);
	return r;
}

static int start_self(const struct hist_build *b, uint32_t label, struct places *start)
{
	const struct hist_group *const g = &b->group;
	int r = 0;

	if (!b->options->graph.caller) {
		for (uint32_t i = b->rows[label].cell; i && r == 0; i = g->cells[i - 1].same)
			if (g->cells[i - 1].leaf)
				r = put(start, g->cells[i - 1].leaf, OUT, g->cells[i - 1].period);
		return r;
	}
	for (uint32_t n = g->nodes[0].child; n && r == 0; n = g->nodes[n].sibling)
		r = put(start, n, IN_SELF, g->nodes[n].self);
	return r;
}

int hist_graph_make(struct hist_build *b, struct pev_row *row)
{
	const uint64_t cost = b->options->children ? row->children : row->period;
	_cleanup_(drawing_done) struct drawing d = { .b = b, .g = &b->group };
	_cleanup_(places_done) struct places start = { 0 };
	int r;

	if (!cost || cost < threshold(&d, 0))
		return 0;
	r = PEV_ARRAY_ROOM(d.nodes, d.nr_nodes, d.cap_nodes);
	if (r < 0)
		return r;
	d.nodes[d.nr_nodes++] = (struct pev_graph_node){ .total = cost };
	mark_self(b, row->label, false);
	r = start_self(b, row->label, &start);
	if (r == 0 && b->options->children)
		r = start_others(b, row->label, &start);
	if (r == 0)
		r = grow(&d, 0, &start);
	if (r == 0)
		r = grow_all(&d);
	mark_self(b, row->label, true);
	if (r < 0)
		return r;
	row->graph = (struct pev_graph){ .nodes = d.nodes, .nr = d.nr_nodes };
	d.nodes = NULL;
	return 0;
}
