/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of a report: samples told apart by some fields, each with what it cost, and what it cost
 * with all that it called. */
#pragma once

#include "report/fields.h"
#include "report/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How calls are shown under a row. */
enum pev_graph_mode {
	PEV_GRAPH_NONE,
	PEV_GRAPH_ABSOLUTE, /* percentages of everything */
	PEV_GRAPH_RELATIVE, /* of the caller: perf's fractal */
};

struct pev_graph_options {
	enum pev_graph_mode mode;
	bool caller; /* from the outermost caller in, else from the row's function out */
	double min_percent;
};

struct pev_hist_options {
	const struct pev_fields *fields;
	bool children;
	struct pev_graph_options graph;
	double min_percent; /* rows below are left out */
	bool relative;      /* percentages are of what the filter left, and not of everything */
};

/* Calls under a row; a child comes after its parent, and those of one parent by what they cost. */
struct pev_graph_node {
	uint32_t parent; /* index; 0: of the root, which is no call */
	uint32_t code, frame;
	uint64_t total;       /* period */
	uint64_t own;         /* of which stacks end here */
	uint32_t nr_children; /* also of those that are left out for being too small */
	uint32_t next;        /* sibling, 0: none */
	uint32_t first;       /* child, 0: none */
};

struct pev_graph {
	struct pev_graph_node *nodes; /* owned; [0] is the root */
	uint32_t nr;
};

struct pev_row {
	uint32_t key;             /* one of the profile's that has its fields of the sample */
	uint32_t code, frame;     /* one that has its fields of the code */
	uint32_t label, group;    /* equal ones have equal fields, of the code and of the sample */
	uint64_t samples, period; /* where samples were */
	uint64_t period_by[4];    /* of which kernel, user, guest kernel, guest user */
	uint64_t children;        /* period of that and of what it called */
	uint32_t depth;           /* of the longest chain it is in: decides between equal rows */
	struct pev_graph graph;
};

/* The rows of one event. */
struct pev_hist {
	struct pev_row *rows; /* owned; as a person wants to read them */
	size_t nr, cap;
	uint64_t total; /* period that percentages are of */
};

void pev_hist_done(struct pev_hist *h);

/* Makes the rows of @event of @d, which has names. -ENOMEM, -E2BIG. */
int pev_hist_make(struct pev_hist *h, const struct pev_profile_data *d, uint32_t event,
		  const struct pev_hist_options *options, struct pev_err *err);

/* What a row shows, for those who print it: the frame, and the file's name as perf report has it.
 */
const struct pev_frame *pev_row_frame(const struct pev_profile_data *d, const struct pev_row *row);
const char *pev_frame_short_dso(const struct pev_frame *frame);

/* 'k', '.', 'g', 'u', 'H': the letter between the brackets in front of a symbol. */
char pev_code_level(const struct pev_code *code);
