// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevrec diff: what grew and what shrank between two traces, as perf diff shows it. */
#include "base/checked.h"
#include "base/cleanup.h"
#include "cli/cmd.h"
#include "cli/pager.h"
#include "cli/progress.h"
#include "cli/view.h"
#include "report/diff.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum key {
	KEY_JSON = 0x2000,
};

struct args {
	struct view before; /* and all that is said of which samples are meant */
	struct view after;
	const char *sort;
	struct pev_diff_options how;
	struct pev_fields fields;
	bool json;
};

static const struct argp_option options[] = {
	{ 0, 0, 0, 0, "What is shown:", 3 },
	{ "compute", 'c', "HOW", 0,
	  "delta-abs (default), delta, ratio, or wdiff:W1,W2; rows come in that order", 0 },
	{ "sort", 's', "KEY,...", 0, "What rows are told apart by (default dso,sym)", 0 },
	{ "baseline-only", 'b', 0, 0, "Only what is in both traces", 0 },
	{ "period", 'p', 0, 0, "Columns with the sums of the periods", 0 },
	{ "json", KEY_JSON, 0, 0, "A JSON object for each event, on a line", 0 },
	{ "force", 'f', 0, OPTION_HIDDEN, 0, 0 },
	{ 0 },
};

static void args_done(struct args *a)
{
	/* What the command line said is the first view's; the second one has it borrowed. */
	a->after = (struct view){ .paths = a->after.paths,
				  .reader = a->after.reader,
				  .times = a->after.times,
				  .resolver = a->after.resolver,
				  .borrowed_resolver = true };
	view_done(&a->after);
	view_done(&a->before);
}

static void parse_compute(struct args *a, const char *arg, struct argp_state *state)
{
	static const struct {
		const char *name;
		enum pev_diff_by by;
	} ways[] = {
		{ "delta-abs", PEV_DIFF_DELTA_ABS },
		{ "delta", PEV_DIFF_DELTA },
		{ "ratio", PEV_DIFF_RATIO },
	};
	char *end;

	for (size_t i = 0; i < PEV_ARRAY_SIZE(ways); i++)
		if (!strcmp(arg, ways[i].name)) {
			a->how.by = ways[i].by;
			return;
		}
	if (strncmp(arg, "wdiff:", 6) != 0)
		argp_error(state, "-c knows delta-abs, delta, ratio and wdiff:W1,W2, not '%s'",
			   arg);
	a->how.by = PEV_DIFF_WDIFF;
	/* perf's order: the first is the weight of what came later. */
	a->how.weight_after = strtol(arg + 6, &end, 10);
	if (end == arg + 6 || *end != ',')
		argp_error(state, "'%s' needs two weights: wdiff:1,2", arg);
	arg = end + 1;
	a->how.weight_before = strtol(arg, &end, 10);
	if (end == arg || *end)
		argp_error(state, "wdiff needs two weights: wdiff:1,2");
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct args *const a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->before;
		break;
	case 'c':
		parse_compute(a, arg, state);
		break;
	case 's':
		a->sort = arg;
		break;
	case 'b':
		a->how.common_only = true;
		break;
	case 'p':
		a->how.period = true;
		break;
	case KEY_JSON:
		a->json = true;
		break;
	case 'f':
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num > 1)
			argp_error(state, "two traces are compared, not more");
		return view_add_path(state->arg_num ? &a->after : &a->before, arg) ? 0 : ENOMEM;
	case ARGP_KEY_END:
		/* As perf: what the last recording left behind, and its own. */
		if (state->arg_num == 0 && (!view_add_path(&a->before, "perf.data.old") ||
					    !view_add_path(&a->after, "perf.data")))
			return ENOMEM;
		if (state->arg_num == 1)
			argp_error(state, "name two traces, the older one first");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* What was said of the one view holds for the other; the lists stay the first one's. */
static void share(struct args *a)
{
	const struct view_list paths = a->after.paths;

	a->after = a->before;
	a->after.paths = paths;
}

static int make_profile(struct view *v, unsigned int key, uint32_t first_trace,
			struct pev_profile **ret, struct pev_err *err)
{
	const struct pev_profile_options how = {
		.key = key, .filter = &v->filter, .no_chains = true, .first_trace = first_trace
	};
	_cleanup_(pev_profile_freep) struct pev_profile *p = NULL;
	int r = pev_profile_new(&how, v->resolver, &p, err);

	if (r == 0)
		r = pev_profile_read(p, v->reader, err);
	if (r == 0)
		r = pev_profile_name(p, progress_name, NULL, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(p);
	return 0;
}

static int parse_fields(struct args *a, struct pev_err *err)
{
	const struct pev_fields_options how = { .fields = a->sort ? a->sort : "dso,symbol" };
	const int r = pev_fields_parse(&a->fields, &how, err);

	a->how.fields = &a->fields;
	for (size_t i = 0; r == 0 && i < a->fields.nr; i++)
		if (pev_field_is_number(a->fields.v[i]))
			return pev_err_set(err, -EINVAL, "rows cannot be told apart by '%s'",
					   pev_field_name(a->fields.v[i]));
	return r;
}

static int print_all(const struct args *a, const struct pev_profile_data *before,
		     const struct pev_profile_data *after, bool color, struct pev_err *err)
{
	for (uint32_t e = 0; e < before->nr_events; e++) {
		_cleanup_(pev_diff_done) struct pev_diff d = { 0 };
		int r;

		if (!before->events[e].all_samples)
			continue;
		r = pev_diff_make(&d, before, after, e, &a->how, err);
		if (r == -ENOENT) {
			cmd_say("%s", err->msg);
			continue;
		}
		if (r == 0 && a->json)
			r = pev_diff_json(&d, &a->how, stdout);
		if (r < 0)
			return r;
		if (a->json)
			continue;
		if (e)
			(void)fputs("\n\n", stdout);
		pev_diff_print(&d, &a->how, color, stdout);
	}
	return 0;
}

static int compare(struct args *a, struct pev_err *err)
{
	_cleanup_(pev_profile_freep) struct pev_profile *before = NULL, *after = NULL;
	const unsigned int key = pev_fields_key(&a->fields);
	bool color;
	int r;

	r = make_profile(&a->before, key, 0, &before, err);
	if (r == 0)
		r = make_profile(&a->after, key, (uint32_t)pev_reader_nr_traces(a->before.reader),
				 &after, err);
	progress_end();
	if (r < 0)
		return r;
	color = pager_has_color();
	pager_start();
	r = print_all(a, pev_profile_data(before), pev_profile_data(after), color, err);
	pager_end();
	return r;
}

int cmd_diff(int argc, char **argv)
{
	static const struct argp_child children[] = { { &view_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.args_doc = "[BEFORE AFTER]",
		.doc = "Show what grew and what shrank from one trace to another (default "
		       "perf.data.old and perf.data).",
		.children = children,
	};
	static char name[] = "pevrec diff";
	_cleanup_(args_done) struct args a = { 0 };
	struct pev_err err = PEV_ERR_INIT;
	int r;

	argp_err_exit_status = PEV_EXIT_USAGE;
	argv[0] = name;
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return PEV_EXIT_USAGE;
	share(&a);
	r = parse_fields(&a, &err);
	if (r == 0)
		r = view_open(&a.before, NULL, &err);
	if (r == 0)
		r = view_open(&a.after, a.before.resolver, &err);
	if (r == 0)
		r = compare(&a, &err);
	progress_end();
	return r < 0 ? cmd_fail(&err) : 0;
}
