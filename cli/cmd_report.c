// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevrec report: where the samples were, as the table that perf report has. */
#include "base/cleanup.h"
#include "cli/cmd.h"
#include "cli/pager.h"
#include "cli/progress.h"
#include "cli/report_args.h"
#include "report/report_json.h"
#include "report/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* Files without symbols that are told of, and what share of the samples they must have. */
#define UNRESOLVED_MAX     10
#define UNRESOLVED_PERCENT 0.5

/* Everything that a report is made of. */
struct report {
	struct report_args *a;
	struct pev_profile *profile;
	const struct pev_profile_data *d;
	struct pev_summary summary;
	struct pev_unresolved_list unresolved;
	struct pev_hist *hists; /* by event */
	bool color;
};

static void report_done(struct report *r)
{
	for (uint32_t e = 0; r->hists && e < r->d->nr_events; e++)
		pev_hist_done(&r->hists[e]);
	free(r->hists);
	pev_summary_done(&r->summary);
	pev_unresolved_done(&r->unresolved);
	r->profile = pev_profile_free(r->profile);
}

static bool has_chains(const struct pev_profile_data *d)
{
	for (uint32_t e = 0; e < d->nr_events; e++)
		if (d->events[e].has_chains)
			return true;
	return false;
}

static int read_samples(struct report *r, struct pev_err *err)
{
	const struct pev_profile_options how = {
		.key = report_args_key(r->a),
		.filter = &r->a->view.filter,
	};
	int code = pev_profile_new(&how, r->a->view.resolver, &r->profile, err);

	if (code == 0)
		code = pev_profile_read(r->profile, r->a->view.reader, err);
	if (code == 0)
		code = pev_profile_name(r->profile, progress_name, NULL, err);
	if (code < 0)
		return code;
	r->d = pev_profile_data(r->profile);
	code = pev_summary_make(&r->summary, r->a->view.reader, r->d);
	if (code == 0)
		code = pev_unresolved_find(&r->unresolved, r->d);
	return code < 0 ? pev_err_set(err, code, "no memory for the report") : 0;
}

static int make_rows(struct report *r, struct pev_err *err)
{
	struct pev_hist_options how = { 0 };
	int code = report_args_finish(r->a, has_chains(r->d), err);

	if (code < 0)
		return code;
	how.fields = &r->a->fields;
	how.children = r->a->children;
	how.graph = r->a->graph;
	how.min_percent = r->a->min_percent;
	how.relative = r->a->relative;
	r->hists = calloc(r->d->nr_events + 1ULL, sizeof(*r->hists));
	if (!r->hists)
		return pev_err_set(err, -ENOMEM, "no memory for the report");
	for (uint32_t e = 0; e < r->d->nr_events && code == 0; e++)
		code = pev_hist_make(&r->hists[e], r->d, e, &how, err);
	return code;
}

/* perf's "22K": the number that is left when thousands are cut off. */
static void print_count(uint64_t n)
{
	static const char units[] = " KMGTP";
	size_t i = 0;

	for (; n >= 1000 && units[i + 1]; i++)
		n /= 1000;
	(void)printf("# Samples: %" PRIu64 "%.*s", n, i ? 1 : 0, &units[i]);
}

static int print_event(const struct report *r, uint32_t e)
{
	const struct pev_profile_event *const event = &r->d->events[e];
	const struct pev_table_options how = {
		.fields = &r->a->fields,
		.graph = r->a->graph,
		.children = r->a->children,
		.color = r->color,
		.skip_first = report_args_sorts_first_by(r->a, PEV_FIELD_SYM),
		.indent = report_args_sorts_first_by(r->a, PEV_FIELD_COMM),
	};
	int code;

	if (!r->a->quiet) {
		print_count(r->a->relative ? event->samples : event->all_samples);
		(void)printf(" of event '%s'", event->name);
		if (r->a->view.time)
			(void)printf(" (time slices: %s)", r->a->view.time);
		(void)printf("\n# Event count (approx.): %" PRIu64 "\n#\n", r->hists[e].total);
	}
	code = pev_table_print(&r->hists[e], r->d, &how, stdout);
	(void)fputs("\n\n", stdout);
	return code;
}

/* What could not be named, most of it first. */
static int print_unresolved(const struct report *r)
{
	const struct pev_unresolved_list *const l = &r->unresolved;
	_cleanup_buf_ struct pev_buf text = { 0 };

	for (size_t i = 0; i < l->nr && i < UNRESOLVED_MAX; i++) {
		if ((double)l->v[i].samples * 100 <
		    UNRESOLVED_PERCENT * (double)(l->user + l->kernel))
			break;
		pev_buf_reset(&text);
		pev_unresolved_explain(l, i, &text);
		if (pev_buf_status(&text) < 0)
			return -ENOMEM;
		(void)printf("# %.*s\n", (int)text.size, (const char *)text.data);
	}
	return 0;
}

/* Why unwound stacks are shorter than they were. */
static void print_ends(const struct report *r)
{
	const struct pev_resolver_counters *const c = pev_resolver_counters(r->a->view.resolver);

	for (unsigned int end = 0; end < PEV_UNWIND_NR_ENDS && c->unwound; end++) {
		const double percent = 100.0 * (double)c->ends[end] / (double)c->unwound;

		if (end != PEV_UNWIND_OUTERMOST && percent >= UNRESOLVED_PERCENT)
			(void)printf("# %.0f %% of the unwound stacks end early: %s\n", percent,
				     pev_unwind_end_str((enum pev_unwind_end)end));
	}
	if (c->corrupt)
		(void)printf("# %" PRIu64 " recorded call chains were not understood\n",
			     c->corrupt);
}

static int print_text(const struct report *r)
{
	bool any = false;
	int code = 0;

	if (!r->a->quiet) {
		pev_summary_print(&r->summary, r->a->view.reader, r->d, stdout);
		(void)fputs("#\n", stdout);
	}
	for (uint32_t e = 0; e < r->d->nr_events && code == 0; e++) {
		/* An event that was filtered away is not there. */
		if (!r->d->events[e].all_samples)
			continue;
		code = print_event(r, e);
		any = true;
	}
	if (!any && !r->a->quiet)
		(void)fputs("# No samples.\n", stdout);
	if (!r->a->quiet && code == 0) {
		code = print_unresolved(r);
		print_ends(r);
	}
	return code;
}

static int print_report(const struct report *r, struct pev_err *err)
{
	const struct pev_report_json json = {
		.reader = r->a->view.reader,
		.data = r->d,
		.summary = &r->summary,
		.unresolved = &r->unresolved,
		.fields = &r->a->fields,
		.hists = r->hists,
	};
	int code;

	if (r->a->json)
		return pev_report_json_write(&json, stdout, err);
	code = print_text(r);
	return code < 0 ? pev_err_set(err, code, "no memory to print the report") : 0;
}

int cmd_report(int argc, char **argv)
{
	_cleanup_(report_args_done) struct report_args a = { 0 };
	_cleanup_(report_done) struct report r = { .a = &a };
	struct pev_err err = PEV_ERR_INIT;
	int code;

	code = report_args_parse(argc, argv, &a);
	if (code)
		return code;
	code = view_open(&a.view, NULL, &err);
	if (code == 0)
		code = read_samples(&r, &err);
	if (code == 0)
		code = make_rows(&r, &err);
	progress_end();
	if (code < 0)
		return cmd_fail(&err);
	r.color = pager_has_color();
	pager_start();
	code = print_report(&r, &err);
	pager_end();
	return code < 0 ? cmd_fail(&err) : 0;
}
