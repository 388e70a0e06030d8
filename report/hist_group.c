// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The rows of one group. What a row costs itself is the sum of the cells that are in it. What it
 * costs with all that it calls is counted along a walk over the part of the tree that the group is
 * on: where the first frame of a row is met on a path, everything below it counts, and further ones
 * on the same path (recursion) add nothing.
 */
#include "base/checked.h"
#include "base/cleanup.h"
#include "report/hist_part.h"
#include "report/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* perf counts what is neither as the user's. */
static unsigned int mode_of(const struct pev_code *code)
{
	switch (code->mode) {
	case PEV_MISC_KERNEL:
	case PEV_MISC_HYPERVISOR:
		return 0;
	case PEV_MISC_GUEST_KERNEL:
		return 2;
	case PEV_MISC_GUEST_USER:
		return 3;
	default:
		return 1;
	}
}

/* What a group is being counted for. */
struct counting {
	struct hist_build *b;
	uint32_t key, group;
	size_t first_row; /* of the group in the hist */
};

/* The row with @label; NULL without memory. */
static struct pev_row *row_of(struct counting *c, uint32_t label)
{
	struct hist_build *const b = c->b;
	struct pev_hist *const h = b->hist;

	if (b->rows[label].row)
		return &h->rows[c->first_row + b->rows[label].row - 1];
	if (h->nr == h->cap) {
		const size_t cap = h->cap ? h->cap * 2 : 64;
		struct pev_row *const rows = reallocarray(h->rows, cap, sizeof(*rows));

		if (!rows)
			return NULL;
		h->rows = rows;
		h->cap = cap;
	}
	h->rows[h->nr] = (struct pev_row){
		.key = c->key,
		.group = c->group,
		.label = label,
		.code = b->labels.row_code[label],
		.frame = b->labels.row_frame[label],
	};
	b->rows[label].row = (uint32_t)(h->nr - c->first_row) + 1;
	return &h->rows[h->nr++];
}

static int count_self(struct counting *c)
{
	const struct hist_group *const g = &c->b->group;

	for (uint32_t i = 0; i < g->nr_cells; i++) {
		const struct hist_cell *const cell = &g->cells[i];
		struct pev_row *const row = row_of(c, c->b->labels.self_of[cell->code]);

		if (!row)
			return -ENOMEM;
		row->samples += cell->samples;
		row->period += cell->period;
		row->period_by[mode_of(&c->b->d->codes[cell->code].code)] += cell->period;
	}
	return 0;
}

static int by_number(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The nodes of the tree that the group is on, ascending, and so parents first. */
static int find_nodes(struct hist_build *b, uint32_t **ret, uint32_t *ret_nr)
{
	const struct hist_group *const g = &b->group;
	_cleanup_free_ uint32_t *found = NULL;
	uint32_t nr = 0, cap = 0;

	for (uint32_t i = 0; i < g->nr_cells; i++)
		for (uint32_t n = g->cells[i].leaf; n && !b->place[n];
		     n = b->tree.nodes[n].parent) {
			const int r = PEV_ARRAY_ROOM(found, nr, cap);

			if (r < 0)
				return r;
			b->place[n] = UINT32_MAX;
			found[nr++] = n;
		}
	if (nr)
		qsort(found, nr, sizeof(*found), by_number);
	*ret = TAKE_PTR(found);
	*ret_nr = nr;
	return 0;
}

static void link_cells(struct hist_build *b)
{
	struct hist_group *const g = &b->group;

	for (uint32_t i = 0; i < g->nr_cells; i++) {
		struct hist_cell *const cell = &g->cells[i];

		if (!cell->leaf)
			continue;
		cell->leaf = b->place[cell->leaf];
		cell->next = g->nodes[cell->leaf].cell;
		g->nodes[cell->leaf].cell = i + 1;
		g->nodes[cell->leaf].total += cell->period;
	}
}

/* Makes the group's own part of the tree, with sums. */
static int make_nodes(struct hist_build *b)
{
	struct hist_group *const g = &b->group;
	_cleanup_free_ uint32_t *found = NULL;
	uint32_t nr = 0;
	int r = find_nodes(b, &found, &nr);

	g->nr_nodes = 0;
	for (uint32_t i = 0; i <= nr && r == 0; i++) {
		const struct pev_tree_node *const from = i ? &b->tree.nodes[found[i - 1]] : NULL;

		r = PEV_ARRAY_ROOM(g->nodes, g->nr_nodes, g->cap_nodes);
		if (r < 0)
			break;
		g->nodes[g->nr_nodes] = (struct hist_node){ 0 };
		if (from) {
			const uint32_t parent = b->place[from->parent];

			g->nodes[i].parent = parent;
			g->nodes[i].label = from->label;
			g->nodes[i].code = from->code;
			g->nodes[i].frame = from->at;
			g->nodes[i].depth = g->nodes[parent].depth + 1;
			b->place[found[i - 1]] = i;
		}
		g->nr_nodes++;
	}
	if (r == 0)
		link_cells(b);
	/* A node's turn comes when all below it have had theirs. */
	for (uint32_t i = r == 0 ? nr : 0; i > 0; i--) {
		struct hist_node *const n = &g->nodes[i], *const parent = &g->nodes[n->parent];

		n->height++;
		n->sibling = parent->child;
		parent->child = i;
		parent->total += n->total;
		parent->height = PEV_MAX(parent->height, n->height);
	}
	for (uint32_t i = 0; i < nr; i++)
		b->place[found[i]] = 0;
	return r;
}

/* What is met at a node on the way in. */
static int enter(struct counting *c, const struct hist_node *n)
{
	struct hist_build *const b = c->b;
	const uint32_t label = b->labels.row_of[n->label];
	const bool caller = b->options->graph.caller;
	struct pev_row *row;

	if (b->rows[label].on_path++ == 0) {
		row = row_of(c, label);
		if (!row)
			return -ENOMEM;
		row->children += n->total;
		row->depth = PEV_MAX(row->depth, caller ? n->height : n->depth);
	}
	for (uint32_t i = n->cell; i; i = b->group.cells[i - 1].next) {
		const struct hist_cell *const cell = &b->group.cells[i - 1];
		const uint32_t self = b->labels.self_of[cell->code];

		row = row_of(c, self);
		if (!row)
			return -ENOMEM;
		/* The chain need not have the place where the sample was. */
		if (!b->rows[self].on_path)
			row->children += cell->period;
		row->depth = PEV_MAX(row->depth, n->depth);
	}
	return 0;
}

static int count_children(struct counting *c)
{
	struct hist_build *const b = c->b;
	const struct hist_group *const g = &b->group;
	uint32_t at = g->nodes[0].child;
	int r = 0;

	for (uint32_t i = 0; i < g->nr_cells; i++)
		if (!g->cells[i].leaf) {
			struct pev_row *const row = row_of(c, b->labels.self_of[g->cells[i].code]);

			if (!row)
				return -ENOMEM;
			row->children += g->cells[i].period;
		}
	while (at && r == 0) {
		const struct hist_node *n = &g->nodes[at];

		r = enter(c, n);
		if (n->child) {
			at = n->child;
			continue;
		}
		while (at && !g->nodes[at].sibling) {
			b->rows[b->labels.row_of[g->nodes[at].label]].on_path--;
			at = g->nodes[at].parent;
		}
		if (at) {
			b->rows[b->labels.row_of[g->nodes[at].label]].on_path--;
			at = g->nodes[at].sibling;
		}
	}
	return r;
}

/* Whether the row is shown. */
static bool is_shown(const struct hist_build *b, const struct pev_row *row)
{
	const uint64_t cost = b->options->children ? row->children : row->period;
	const double total = (double)b->hist->total;

	return total <= 0 || (double)cost * 100.0 / total >= b->options->min_percent;
}

/* Chains what has the same row label, for the graphs. */
static void link_rows(struct hist_build *b)
{
	struct hist_group *const g = &b->group;

	for (uint32_t i = g->nr_cells; i > 0; i--) {
		struct hist_label_state *const s =
			&b->rows[b->labels.self_of[g->cells[i - 1].code]];

		g->cells[i - 1].same = s->cell;
		s->cell = i;
	}
	for (uint32_t i = g->nr_nodes; i-- > 1;) {
		struct hist_label_state *const s = &b->rows[b->labels.row_of[g->nodes[i].label]];

		g->nodes[i].same = s->node;
		s->node = i;
	}
}

static void forget_labels(struct hist_build *b)
{
	const struct hist_group *const g = &b->group;

	for (uint32_t i = 0; i < g->nr_cells; i++)
		b->rows[b->labels.self_of[g->cells[i].code]] = (struct hist_label_state){ 0 };
	for (uint32_t i = 1; i < g->nr_nodes; i++)
		b->rows[b->labels.row_of[g->nodes[i].label]] = (struct hist_label_state){ 0 };
}

static int draw_graphs(struct counting *c)
{
	struct pev_hist *const h = c->b->hist;
	size_t kept = c->first_row;

	for (size_t i = c->first_row; i < h->nr; i++) {
		int r = 0;

		if (!is_shown(c->b, &h->rows[i]))
			continue;
		if (c->b->options->graph.mode != PEV_GRAPH_NONE)
			r = hist_graph_make(c->b, &h->rows[i]);
		if (r < 0) {
			h->nr = kept; /* each graph has one owner */
			return r;
		}
		h->rows[kept++] = h->rows[i];
	}
	h->nr = kept;
	return 0;
}

int hist_group_rows(struct hist_build *b, uint32_t key, uint32_t group)
{
	struct counting c = { .b = b, .key = key, .group = group, .first_row = b->hist->nr };
	const bool tree = b->options->children || b->options->graph.mode != PEV_GRAPH_NONE;
	int r = count_self(&c);

	b->group.nr_nodes = 0;
	if (r == 0 && tree)
		r = make_nodes(b);
	if (r == 0 && b->options->children)
		r = count_children(&c);
	if (r == 0 && b->options->graph.mode != PEV_GRAPH_NONE)
		link_rows(b);
	if (r == 0)
		r = draw_graphs(&c);
	forget_labels(b);
	return r;
}
