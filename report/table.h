/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of a report as the text that perf report --stdio prints. */
#pragma once

#include "report/hist.h"

#include <stdio.h>

struct pev_table_options {
	const struct pev_fields *fields;
	struct pev_graph_options graph;
	bool children;
	bool color;
	/* The graph starts with the function of the row, which need not be said twice: --sort sym.
	 */
	bool skip_first;
	/* The graph is moved under the end of the thread's name: --sort comm. */
	bool indent;
};

/* Prints the head of the table and all rows of @h with their graphs. -ENOMEM. */
int pev_table_print(const struct pev_hist *h, const struct pev_profile_data *d,
		    const struct pev_table_options *options, FILE *out);

/* Appends what a row shows for a field, numbers in the width of their column. */
struct pev_buf;
void pev_field_print(const struct pev_hist *h, const struct pev_profile_data *d,
		     const struct pev_row *row, enum pev_field field, struct pev_buf *text);
