/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One tree of functions out of one or two profiles, with their counts at its nodes. */
#pragma once

#include "base/err.h"
#include "report/index.h"
#include "report/profile.h"

#include <stdint.h>

/* What a frame is, and by that its colour. Numbers are those of report/flamegraph/model.js. */
enum pev_flame_kind {
	PEV_FLAME_THREAD, /* the name of the thread, outermost */
	PEV_FLAME_USER,
	PEV_FLAME_INLINED,
	PEV_FLAME_KERNEL,
	PEV_FLAME_JIT,
	PEV_FLAME_UNKNOWN, /* without a name */
};

enum pev_flame_kind pev_flame_kind_of(const struct pev_frame *f);

enum pev_flame_side {
	PEV_FLAME_AFTER,
	PEV_FLAME_BEFORE,
	PEV_FLAME_NR_SIDES
};

/* A function, told by both strings; they are the profile's. */
struct pev_flame_label {
	const char *name;
	const char *dso; /* "" for threads */
};

/* Number 0 is the root; a node comes after its parent. */
struct pev_flame_node {
	uint32_t parent, label;
	enum pev_flame_kind kind; /* as first seen */
};

struct pev_flame_count {
	uint32_t event; /* in ->events */
	uint32_t node, slice;
	enum pev_flame_side side;
	uint64_t samples;
};

struct pev_flame_event {
	const char *name; /* the profile's */
	uint64_t samples[PEV_FLAME_NR_SIDES];
};

/* Zero-initialise to start; every array is owned, what its strings point to is not. */
struct pev_flame_tree {
	struct pev_flame_label *labels;
	struct pev_flame_node *nodes;
	struct pev_flame_event *events;
	struct pev_flame_count *counts; /* a sum per event, node, slice and side may be in parts */
	uint32_t nr_labels, cap_labels, nr_nodes, cap_nodes, nr_events, cap_events;
	uint32_t nr_counts, cap_counts;
	struct pev_index label_index, node_index;
};

void pev_flame_tree_done(struct pev_flame_tree *t);

/*
 * Adds the counts of a named profile whose keys have the PEV_KEY_COMM, and the PEV_KEY_TIME where
 * slices are wanted. The profile and its resolver have to outlive the tree. -ENOMEM; -E2BIG with
 * more than 2^32 nodes.
 */
int pev_flame_tree_add(struct pev_flame_tree *t, const struct pev_profile_data *d,
		       enum pev_flame_side side, struct pev_err *err);

/*
 * Sorts the nodes into the order of a walk, siblings by name, and the counts by event, side, node
 * and slice, each once. To be called once, when all is added. -ENOMEM.
 */
int pev_flame_tree_sort(struct pev_flame_tree *t, struct pev_err *err);
