/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between the files that make the rows of a report; others use report/hist.h. */
#pragma once

#include "report/hist.h"
#include "report/tree.h"

/*
 * Three ways to tell frames apart: by everything that is asked of them (the labels of the tree), by
 * the fields of the rows, and by the function, which is what calls under a row are merged by.
 */
struct hist_labels {
	struct pev_labels labels;
	uint32_t *row_of;         /* by label */
	uint32_t *function_of;    /* by label */
	uint64_t *function_start; /* by function: its address, to put equal ones in perf's order */
	uint32_t *self_of; /* by code: the row of what is really there, without what is inlined */
	uint32_t *row_code, *row_frame; /* by row: a frame that is in it */
	uint32_t nr_rows;
};

int hist_labels_make(struct hist_labels *l, const struct pev_profile_data *d,
		     const struct pev_fields *fields);
void hist_labels_done(struct hist_labels *l);

/* A cell of a group. */
struct hist_cell {
	uint64_t period, samples;
	uint32_t code; /* where the samples were */
	uint32_t leaf; /* node in the group's tree; 0: no chain */
	uint32_t next; /* cell with the same ->leaf, plus 1; 0: none */
	uint32_t same; /* and with the same row of ->code */
};

/* The part of the tree that the samples of one group are on. Node 0 is the root; children come
 * after their parents. */
struct hist_node {
	uint32_t parent, label;
	uint32_t code, frame;
	uint32_t child, sibling; /* 0: none */
	uint32_t cell;           /* first that ends here, plus 1; 0: none */
	uint32_t same;           /* node of the same row, 0: none */
	uint32_t height;         /* frames of the longest chain from here in, this one included */
	uint32_t depth;          /* frames from the root to here, this one included */
	uint64_t total;          /* period of all chains that go through it */
	uint64_t self;   /* of the graph at hand: of those, what was sampled in the row; else 0 */
	uint64_t weight; /* of the graph at hand */
};

struct hist_group {
	struct hist_node *nodes;
	uint32_t nr_nodes, cap_nodes;
	struct hist_cell *cells;
	uint32_t nr_cells, cap_cells;
};

/* What is known of a row label in the group at hand. */
struct hist_label_state {
	uint32_t row;     /* in the hist, behind the group's first, plus 1; 0: none */
	uint32_t on_path; /* nodes that have it on the path of a walk */
	uint32_t cell;    /* first with it, plus 1; 0: none */
	uint32_t node;    /* first with it, 0: none */
};

/* What the rows are made with. */
struct hist_build {
	const struct pev_profile_data *d;
	const struct pev_hist_options *options;
	struct hist_labels labels;
	struct pev_tree tree;
	uint32_t *place;               /* by node of the tree: of the group's; 0 between groups */
	struct hist_label_state *rows; /* by row label; zero between groups */
	struct hist_group group;
	struct pev_hist *hist;
};

/* Adds the rows of the group, all of whose keys are alike to @key. */
int hist_group_rows(struct hist_build *b, uint32_t key, uint32_t group);

/* The calls under @row, one of the group's; it has none when they are all too small. */
int hist_graph_make(struct hist_build *b, struct pev_row *row);
