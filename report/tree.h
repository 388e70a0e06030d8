/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A tree of named frames: the stacks of a profile, merged where they are of the same functions. */
#pragma once

#include "report/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What is the same function is for the view to say: it gives each code labels, numbers of its own
 * choice, and labels that are equal below the same caller become one node. Mostly a code has a
 * label for each of its frames; innermost first, those of code c are of[first[c]] to of[first[c +
 * 1] - 1].
 */
struct pev_labels {
	uint32_t *first; /* owned; by code, and one more */
	uint32_t *of;    /* owned */
	uint32_t nr;     /* labels are below */
};

void pev_labels_done(struct pev_labels *l);

/* What frames with the same label have in common. */
enum pev_label_by {
	/* The name of the function and the path of its file; those without a name are one per file.
	 */
	PEV_LABEL_NAME,
	/* And the line of the source. */
	PEV_LABEL_LINE,
};

/* A label for each frame, numbered in the order of first sight. -ENOMEM, -E2BIG. */
int pev_labels_make(struct pev_labels *l, const struct pev_profile_data *d, enum pev_label_by by);

/* Number 0 is the root; a node comes after its parent. */
struct pev_tree_node {
	uint32_t parent;
	uint32_t label;
	/* One code that is here, and which of its labels; of pev_labels_make(): the frame. */
	uint32_t code, at;
};

/* Zero-initialise to start, pev_tree_done() to end. */
struct pev_tree {
	struct pev_tree_node *nodes; /* owned */
	uint32_t nr_nodes, cap_nodes;
	uint32_t *leaves; /* owned; by stack: the node where it ends */
};

void pev_tree_done(struct pev_tree *t);

/* The tree of all stacks of @d: outermost callers next to the root, or with @inverted where samples
 * were. -ENOMEM, -E2BIG. */
int pev_tree_make(struct pev_tree *t, const struct pev_profile_data *d,
		  const struct pev_labels *labels, bool inverted);
