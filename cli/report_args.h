/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line of pevrec report, in perf report's spelling. */
#pragma once

#include "cli/view.h"
#include "report/hist.h"

#include <stdbool.h>

struct report_args {
	struct view view;
	const char *sort, *field_order; /* --sort, --fields */
	const char *call_graph;         /* NULL: not given */
	int children_wanted;            /* -1: not said */
	bool caller_wanted;             /* -G */
	bool samples, total_period;
	bool relative; /* percentages of what the filters left */
	bool quiet, json;
	double min_percent;
	bool min_percent_given;

	/* Made by report_args_finish(). */
	struct pev_fields fields;
	struct pev_graph_options graph;
	bool children;
};

/* 0, or the exit code. */
int report_args_parse(int argc, char **argv, struct report_args *a);
void report_args_done(struct report_args *a);

/* PEV_KEY_* that the profile needs. */
unsigned int report_args_key(const struct report_args *a);

/* Settles what depends on whether there are call chains. -EINVAL with a sentence. */
int report_args_finish(struct report_args *a, bool has_chains, struct pev_err *err);

/* Whether rows are sorted by @field first, and columns are in their usual order. */
bool report_args_sorts_first_by(const struct report_args *a, enum pev_field field);
