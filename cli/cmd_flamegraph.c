// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevrec flamegraph: traces as one page of HTML. */
#include "base/buf.h"
#include "base/checked.h"
#include "base/cleanup.h"
#include "cli/cmd.h"
#include "cli/outfile.h"
#include "cli/progress.h"
#include "cli/view.h"
#include "report/flamegraph.h"
#include "report/summary.h"
#include "report/unresolved.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Slices of the timeline: about as many as a wide screen has room for. */
#define MAX_SLICES 1024

/* Files without names that are told of. */
#define MAX_UNRESOLVED 3U

struct args {
	struct view view;
	struct view_list before;
	const char *output, *title;
};

static void list_done(struct view_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		free(l->v[i]);
	free(l->v);
}

static void args_done(struct args *a)
{
	view_done(&a->view);
	list_done(&a->before);
}

enum key {
	KEY_DIFF = 0x2000,
	KEY_TITLE,
};

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "The page (default flamegraph.html)", 0 },
	{ "diff", KEY_DIFF, "BEFORE", 0, "Show what changed since the trace BEFORE", 0 },
	{ "title", KEY_TITLE, "TEXT", 0, "What the page is called", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct args *const a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->view;
		break;
	case 'o':
		a->output = arg;
		break;
	case KEY_DIFF:
		return view_add_names(&a->before, arg) ? 0 : ENOMEM;
	case KEY_TITLE:
		a->title = arg;
		break;
	case ARGP_KEY_ARG:
		return view_add_path(&a->view, arg) ? 0 : ENOMEM;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static int make_profile(struct view *v, unsigned int key, uint32_t first_trace,
			struct pev_profile **ret, struct pev_err *err)
{
	const struct pev_profile_options how = { .key = key,
						 .filter = &v->filter,
						 .max_slices = MAX_SLICES,
						 .first_trace = first_trace };
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

/* The other side of the comparison, through the same filters but for times, which are its own. */
static int make_before(struct args *a, struct view *v, struct pev_profile **ret,
		       struct pev_err *err)
{
	const uint32_t first_trace = (uint32_t)pev_reader_nr_traces(a->view.reader);
	struct pev_filter filter = a->view.filter;
	int r;

	for (size_t i = 0; i < a->before.nr; i++)
		if (!view_add_path(v, a->before.v[i]))
			return pev_err_set(err, -ENOMEM, "no memory for the names of files");
	r = view_open(v, a->view.resolver, err);
	if (r < 0)
		return r;
	filter.times = NULL;
	filter.nr_times = 0;
	v->filter = filter;
	return make_profile(v, PEV_KEY_COMM, first_trace, ret, err);
}

static void make_title(const struct args *a, struct pev_buf *b)
{
	const struct pev_reader *const reader = a->view.reader;
	const struct pev_trace_head head = pev_reader_head(reader, 0);
	const size_t nr = pev_reader_nr_traces(reader);

	if (a->title) {
		pev_buf_printf(b, "%s", a->title);
	} else {
		pev_buf_printf(b, "%s", pev_reader_path(reader, 0));
		if (nr > 1)
			pev_buf_printf(b, " and %zu more", nr - 1);
		if (pev_features_has(head.features, PEV_FEAT_HOSTNAME))
			pev_buf_printf(b, " on %s", head.features->hostname);
		if (a->before.nr)
			pev_buf_printf(b, ", since %s", a->before.v[0]);
	}
	pev_buf_u8(b, 0);
}

/* What the picture does not show: what is not in the traces, and what got no names. */
static int make_note(struct pev_reader *reader, const struct pev_profile_data *d, struct pev_buf *b)
{
	_cleanup_(pev_summary_done) struct pev_summary summary = { 0 };
	_cleanup_(pev_unresolved_done) struct pev_unresolved_list list = { 0 };

	if (pev_summary_make(&summary, reader, d) < 0 || pev_unresolved_find(&list, d) < 0)
		return -ENOMEM;
	if (summary.lost)
		pev_buf_printf(b, "%" PRIu64 " samples were lost while recording. ", summary.lost);
	if (summary.throttles)
		pev_buf_printf(b, "The kernel throttled events %" PRIu64 " times. ",
			       summary.throttles);
	for (size_t i = 0; i < pev_reader_nr_traces(reader); i++) {
		struct pev_err words = PEV_ERR_INIT;

		if (pev_reader_damage_words(reader, i, &words))
			pev_buf_printf(b, "%s. ", words.msg);
	}
	for (size_t i = 0; i < PEV_MIN(list.nr, MAX_UNRESOLVED); i++) {
		/* Not worth a line where nobody would see them. */
		if (list.v[i].samples * 100 < list.user + list.kernel)
			break;
		pev_unresolved_explain(&list, i, b);
		pev_buf_printf(b, ". ");
	}
	pev_buf_u8(b, 0);
	return pev_buf_status(b);
}

static int run(struct args *a, FILE *out, struct pev_err *err)
{
	_cleanup_(pev_profile_freep) struct pev_profile *after = NULL;
	_cleanup_(view_done) struct view other = { 0 };
	_cleanup_(pev_profile_freep) struct pev_profile *before = NULL;
	_cleanup_buf_ struct pev_buf title = { 0 }, note = { 0 };
	const char *notes[1];
	struct pev_flamegraph_options how = { 0 };
	int r = make_profile(&a->view, PEV_KEY_COMM | PEV_KEY_TIME, 0, &after, err);

	if (r == 0 && a->before.nr)
		r = make_before(a, &other, &before, err);
	if (r < 0)
		return r;
	make_title(a, &title);
	if (pev_buf_status(&title) < 0 ||
	    make_note(a->view.reader, pev_profile_data(after), &note) < 0)
		return pev_err_set(err, -ENOMEM, "no memory for the title");
	notes[0] = (const char *)note.data;
	how = (struct pev_flamegraph_options){ .title = (const char *)title.data,
					       .notes = notes,
					       .nr_notes = note.size > 1,
					       .clock = pev_reader_clock(a->view.reader) };
	return pev_flamegraph_write(pev_profile_data(after),
				    before ? pev_profile_data(before) : NULL, &how, out, err);
}

int cmd_flamegraph(int argc, char **argv)
{
	static const struct argp_child children[] = { { &view_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.args_doc = "[FILE...]",
		.doc = "Write a flame graph: one page of HTML that needs nothing beside itself.",
		.children = children,
	};
	static char name[] = "pevrec flamegraph";
	_cleanup_(outfile_done) struct outfile out = { 0 };
	_cleanup_(args_done) struct args a = { .output = "flamegraph.html" };
	struct pev_err err = PEV_ERR_INIT;
	int r;

	argp_err_exit_status = PEV_EXIT_USAGE;
	argv[0] = name;
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return PEV_EXIT_USAGE;
	r = view_open(&a.view, NULL, &err);
	if (r == 0)
		r = outfile_open(&out, a.output, &err);
	if (r == 0)
		r = run(&a, out.f, &err);
	progress_end();
	if (r == 0)
		r = outfile_finish(&out, &err);
	return r < 0 ? cmd_fail(&err) : 0;
}
