/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What grew and what shrank from one trace to another. */
#pragma once

#include "report/fields.h"
#include "report/profile.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* How rows are compared, and in which order they come: perf diff -c. */
enum pev_diff_by {
	PEV_DIFF_DELTA_ABS, /* percentages, the largest change first, either way */
	PEV_DIFF_DELTA,     /* what grew most first */
	PEV_DIFF_RATIO,     /* of the periods */
	PEV_DIFF_WDIFF,     /* of the periods, each times a weight */
};

struct pev_diff_options {
	const struct pev_fields *fields; /* that rows are told apart by: no numbers */
	enum pev_diff_by by;
	int64_t weight_before, weight_after; /* of PEV_DIFF_WDIFF */
	bool common_only;                    /* only what is in both */
	bool period;                         /* columns of periods */
};

struct pev_diff_row {
	char *key; /* what the fields show, a NUL behind each; owned */
	size_t key_size;
	uint64_t before, after; /* periods */
	bool has_before, has_after;
	double value; /* what is compared; of rows that both have, and of deltas */
};

/* The rows of one event. */
struct pev_diff {
	const char *event;         /* of the first profile */
	struct pev_diff_row *rows; /* owned; in order */
	uint32_t nr, cap;
	uint64_t total_before, total_after;
	uint64_t total_baseline; /* that the baselines shown are percentages of */
};

void pev_diff_done(struct pev_diff *d);

/*
 * Compares @event of @before with the event of its name in @after; both profiles have names by one
 * resolver. Code is the same when its file and its name are. -ENOENT when @after has no such event;
 * -ENOMEM.
 */
int pev_diff_make(struct pev_diff *d, const struct pev_profile_data *before,
		  const struct pev_profile_data *after, uint32_t event,
		  const struct pev_diff_options *options, struct pev_err *err);

/* As perf diff prints it. */
void pev_diff_print(const struct pev_diff *d, const struct pev_diff_options *options, bool color,
		    FILE *out);

/* The same as JSON: {"event": "...", "rows": [...]}. -ENOMEM, -EIO. */
int pev_diff_json(const struct pev_diff *d, const struct pev_diff_options *options, FILE *out);
