// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevrec export: traces for other programs. A format is a row of a table. */
#include "base/checked.h"
#include "base/cleanup.h"
#include "cli/cmd.h"
#include "cli/outfile.h"
#include "cli/progress.h"
#include "cli/view.h"
#include "report/firefox.h"
#include "report/folded.h"
#include "report/pprof.h"
#include "report/slice.h"
#include "report/speedscope.h"
#include "report/threads.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* Formats with times get slices of a millisecond for half an hour, then of two. */
#define MAX_SLICES (1U << 21)

struct args {
	struct view view;
	const struct format *format;
	const char *output;
	struct outfile out;
};

struct format {
	const char *name;
	const char *what;
	/* Writes the traces of a view that is open. */
	int (*run)(struct args *a, FILE *out, struct pev_err *err);
};

static void args_done(struct args *a)
{
	outfile_done(&a->out);
	view_done(&a->view);
}

/* All of the view as counted and named stacks. */
static int make_profile(struct args *a, unsigned int key, struct pev_profile **ret,
			struct pev_err *err)
{
	const struct pev_profile_options how = { .key = key,
						 .filter = &a->view.filter,
						 .max_slices = MAX_SLICES };
	_cleanup_(pev_profile_freep) struct pev_profile *p = NULL;
	int r = pev_profile_new(&how, a->view.resolver, &p, err);

	if (r == 0)
		r = pev_profile_read(p, a->view.reader, err);
	if (r == 0)
		r = pev_profile_name(p, progress_name, NULL, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(p);
	return 0;
}

static int export_folded(struct args *a, FILE *out, struct pev_err *err)
{
	_cleanup_(pev_profile_freep) struct pev_profile *p = NULL;
	const int r = make_profile(a, PEV_KEY_COMM, &p, err);

	return r == 0 ? pev_folded_write(pev_profile_data(p), out, err) : r;
}

static int export_pprof(struct args *a, FILE *out, struct pev_err *err)
{
	const struct pev_clock clock = pev_reader_clock(a->view.reader);
	_cleanup_(pev_profile_freep) struct pev_profile *p = NULL;
	const int r = make_profile(a, PEV_PPROF_KEY, &p, err);

	return r == 0 ? pev_pprof_write(pev_profile_data(p), PEV_PPROF_KEY, &clock, out, err) : r;
}

static int export_speedscope(struct args *a, FILE *out, struct pev_err *err)
{
	_cleanup_(pev_profile_freep) struct pev_profile *p = NULL;
	const int r = make_profile(a, PEV_THREADS_KEY, &p, err);

	return r == 0 ? pev_speedscope_write(pev_profile_data(p),
					     pev_reader_path(a->view.reader, 0), out, err)
		      : r;
}

static int export_firefox(struct args *a, FILE *out, struct pev_err *err)
{
	const struct pev_clock clock = pev_reader_clock(a->view.reader);
	_cleanup_(pev_profile_freep) struct pev_profile *p = NULL;
	const int r = make_profile(a, PEV_THREADS_KEY, &p, err);

	return r == 0 ? pev_firefox_write(pev_profile_data(p), pev_reader_path(a->view.reader, 0),
					  &clock, out, err)
		      : r;
}

/* A trace is sealed in its place, so it is made under the name of the temporary file; to a pipe it
 * goes in pipe mode. */
static int export_perfdata(struct args *a, FILE *out, struct pev_err *err)
{
	const char *const path = a->out.temporary;
	struct pev_slice_counters counters;
	int r;

	if (path && unlink(path) < 0)
		return pev_err_set(err, -errno, "cannot make way for %s: %s", path,
				   pev_errno_str(errno));
	r = pev_slice_write(a->view.reader, a->view.resolver, &a->view.filter,
			    path ? path : a->out.path, path ? -1 : fileno(out), &counters, err);
	if (r < 0)
		return r;
	progress_end();
	if (counters.left_aux)
		cmd_say("%" PRIu64 " records of AUX area data were left out", counters.left_aux);
	if (!counters.samples)
		cmd_say("no sample passes the filters; %" PRIu64 " were looked at",
			counters.left_samples);
	return 0;
}

static const struct format formats[] = {
	{ "folded", "a line for each stack, as stackcollapse-perf.pl has them", export_folded },
	{ "pprof", "gzipped profile.proto, for go tool pprof", export_pprof },
	{ "speedscope", "JSON for www.speedscope.app", export_speedscope },
	{ "firefox", "JSON for profiler.firefox.com", export_firefox },
	{ "perfdata", "a trace of its own, with the samples that are asked for", export_perfdata },
};

enum key {
	KEY_FORMAT = 0x2000,
};

static const struct argp_option options[] = {
	{ "format", KEY_FORMAT, "FORMAT", 0, "What to write, see below", 0 },
	{ "output", 'o', "FILE", 0, "Where to (default standard output)", 0 },
	{ 0 },
};

static const struct format *find_format(const char *name, struct argp_state *state)
{
	for (size_t i = 0; i < PEV_ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	argp_error(state, "there is no format '%s'", name);
	return NULL;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct args *const a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->view;
		break;
	case KEY_FORMAT:
		a->format = find_format(arg, state);
		break;
	case 'o':
		a->output = arg;
		break;
	case ARGP_KEY_ARG:
		return view_add_path(&a->view, arg) ? 0 : ENOMEM;
	case ARGP_KEY_END:
		if (!a->format)
			argp_error(state, "--format is missing");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* The formats, behind the options of --help. */
static char *help_filter(int key, const char *text, void *input)
{
	struct pev_buf b = { 0 };

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)(uintptr_t)text;
	pev_buf_printf(&b, "Formats:\n");
	for (size_t i = 0; i < PEV_ARRAY_SIZE(formats); i++)
		pev_buf_printf(&b, "  %-12s %s\n", formats[i].name, formats[i].what);
	pev_buf_u8(&b, 0);
	return (char *)b.data;
}

int cmd_export(int argc, char **argv)
{
	static const struct argp_child children[] = { { &view_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.args_doc = "[FILE...]",
		.doc = "Write traces in a form that other programs read.\v",
		.children = children,
		.help_filter = help_filter,
	};
	static char name[] = "pevrec export";
	_cleanup_(args_done) struct args a = { 0 };
	struct pev_err err = PEV_ERR_INIT;
	int r;

	argp_err_exit_status = PEV_EXIT_USAGE;
	argv[0] = name;
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return PEV_EXIT_USAGE;
	r = view_open(&a.view, NULL, &err);
	if (r == 0)
		r = outfile_open(&a.out, a.output, &err);
	if (r == 0)
		r = a.format->run(&a, a.out.f, &err);
	progress_end();
	if (r == 0)
		r = outfile_finish(&a.out, &err);
	return r < 0 ? cmd_fail(&err) : 0;
}
