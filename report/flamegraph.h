/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A flame graph as one page of HTML that needs nothing beside itself. */
#pragma once

#include "base/err.h"
#include "format/reader.h"
#include "report/profile.h"

#include <stddef.h>
#include <stdio.h>

struct pev_flamegraph_options {
	const char *title;        /* not NULL */
	const char *const *notes; /* sentences to be shown on top: what is missing */
	size_t nr_notes;
	/* Of the reader that @after came from, for the labels of the timeline. */
	struct pev_clock clock;
};

/*
 * Writes the page of @after, or of the change from @before to @after (@before is NULL: none). Both
 * are named profiles with PEV_KEY_COMM; @after with PEV_KEY_TIME has a timeline. -ENOMEM; -E2BIG;
 * the errno of a failed write to @out, with a sentence.
 */
int pev_flamegraph_write(const struct pev_profile_data *after,
			 const struct pev_profile_data *before,
			 const struct pev_flamegraph_options *options, FILE *out,
			 struct pev_err *err);
