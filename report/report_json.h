/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A report as JSON. */
#pragma once

#include "report/hist.h"
#include "report/summary.h"
#include "report/unresolved.h"

#include <stdio.h>

struct pev_report_json {
	const struct pev_reader *reader;
	const struct pev_profile_data *data;
	const struct pev_summary *summary;
	const struct pev_unresolved_list *unresolved;
	const struct pev_fields *fields;
	const struct pev_hist *hists; /* one for each event of ->data */
};

/*
 * One object, see pevrec-report(1):
 *
 *	{"files": [...], "samples": N, "first_ns": N, "last_ns": N, "lost": N, "throttled": N,
 *	 "losses": [{"cpu": N, "lost": N, "throttled": N}],
 *	 "events": [{"name": "...", "samples": N, "period": N,
 *		     "rows": [{"overhead": PERCENT, "comm": "...", ..., "calls": [...]}]}],
 *	 "unresolved": [{"dso": "...", "samples": N, "why": "..."}]}
 *
 * Rows have what the fields of the table are; "calls" is {"symbol", "dso", "period", "calls"}.
 */
int pev_report_json_write(const struct pev_report_json *r, FILE *out, struct pev_err *err);
