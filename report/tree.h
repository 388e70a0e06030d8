/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A tree of named frames: the stacks of a profile, merged where they are of the same functions. */
#pragma once

#include "report/profile.h"

#include <stddef.h>
#include <stdint.h>

/*
 * What is the same function is for the view to say: it gives each frame of each code a label, a
 * number of its own choice, and frames of the same caller and label become one node. Labels of
 * code c are at ->first[c], innermost first, as many as it has frames.
 */
struct pev_labels {
	uint32_t *first;  /* by code */
	uint32_t *labels; /* by first[code] + frame */
	size_t nr_labels; /* in all */
};

void pev_labels_done(struct pev_labels *l);

/* What two frames have in common when they have the same label. */
enum pev_label_by {
	PEV_LABEL_NAME_DSO, /* the function and the file it is in; frames without a name are one
			       per file */
	PEV_LABEL_LINE,     /* and the line of the source */
	PEV_LABEL_ADDRESS,  /* and the address */
};

/*
 * Labels from 0 on without gaps, in the order of first sight. ->ret_frames[label] is one frame that
 * has it: an index of ->labels. To be freed. -ENOMEM.
 */
int pev_labels_make(const struct pev_profile_data *d, enum pev_label_by by, struct pev_labels *ret,
		    uint32_t **ret_frames, size_t *ret_nr);

/* Number 0 is the root; a node comes after its parent. */
struct pev_tree_node {
	uint32_t parent;
	uint32_t label;
	uint32_t code, frame; /* one that is here: data.codes[code].frames[frame] */
};

struct pev_tree {
	struct pev_tree_node *nodes; /* owned */
	size_t nr_nodes;
	uint32_t *leaves; /* owned; by stack: the node where it ends */
	size_t nr_leaves;
};

void pev_tree_done(struct pev_tree *t);

/* Builds the tree of all stacks of @d: callers next to the root, or with @inverted next to the
 * leaves. -ENOMEM. */
int pev_tree_make(const struct pev_profile_data *d, const struct pev_labels *labels, bool inverted,
		  struct pev_tree *ret);
