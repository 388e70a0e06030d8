/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The calls under a row, drawn with lines. */
#pragma once

#include "report/hist.h"

#include <stdio.h>

struct pev_graph_text {
	const struct pev_graph *graph;
	const struct pev_profile_data *data;
	bool relative;      /* percentages of the caller, and "[...]" for what is left out */
	uint64_t total;     /* that percentages are of, when they are not */
	uint64_t row_total; /* what the row costs */
	bool skip_first;
	size_t margin; /* more blanks in front of each line */
};

/* Prints it, and an empty line if there was something to print. -ENOMEM. */
int pev_graph_print(const struct pev_graph_text *t, FILE *out);
