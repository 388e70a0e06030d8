// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/view.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "cli/cmd.h"
#include "cli/progress.h"
#include "recorder/cpus.h"
#include "report/timespan.h"
#include "unwind/debuginfod.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

PEV_DEFINE_CLEANUP(struct pev_reader *, pev_reader_free);

/* A file that no server has sent within this is done without. */
#define DEBUGINFOD_TIMEOUT_MS 60000

enum key {
	KEY_COMMS = 0x1000,
	KEY_DSOS,
	KEY_PIDS,
	KEY_TIDS,
	KEY_CGROUPS,
	KEY_EVENTS,
	KEY_TIME,
	KEY_SINCE,
	KEY_UNTIL,
	KEY_SYMFS,
	KEY_DEBUG_DIR,
	KEY_KALLSYMS,
	KEY_VMLINUX,
	KEY_MAX_STACK,
	KEY_NO_INLINE,
	KEY_NO_DEMANGLE,
};

static const struct argp_option options[] = {
	{ 0, 0, 0, 0, "Which traces, and what of them:", 1 },
	{ "input", 'i', "FILE", 0,
	  "The trace (default perf.data); - for standard input; several times for several traces",
	  0 },
	{ "comm", KEY_COMMS, "NAME,...", 0, "Threads of these names", 0 },
	{ "comms", KEY_COMMS, 0, OPTION_ALIAS, 0, 0 },
	{ "pid", KEY_PIDS, "PID,...", 0, "Processes", 0 },
	{ "tid", KEY_TIDS, "TID,...", 0, "Threads", 0 },
	{ "cpu", 'C', "LIST", 0, "CPUs, like 0-3,8", 0 },
	{ "cgroup", KEY_CGROUPS, "PATH,...", 0, "Cgroups, with those below them", 0 },
	{ "event", KEY_EVENTS, "NAME,...", 0, "Events", 0 },
	{ "dso", KEY_DSOS, "FILE,...", 0, "Files that the samples were in: paths or names", 0 },
	{ "dsos", KEY_DSOS, 0, OPTION_ALIAS, 0, 0 },
	{ "symbol", 'S', "NAME,...", 0, "Functions that the samples were in", 0 },
	{ "symbols", 'S', 0, OPTION_ALIAS, 0, 0 },
	{ "since", KEY_SINCE, "TIME", 0,
	  "From then on: '2026-11-20 03:05', '03:05', 'yesterday', '-10min', or seconds of the "
	  "trace's clock",
	  0 },
	{ "until", KEY_UNTIL, "TIME", 0, "Until then", 0 },
	{ "time", KEY_TIME, "RANGE", 0, "FROM,TO with times as above, or 10%-20%, or 10%/2", 0 },
	{ 0, 0, 0, 0, "How names are found:", 2 },
	{ "symfs", KEY_SYMFS, "DIR", 0, "The files of the recorded machine are below DIR", 0 },
	{ "debug-dir", KEY_DEBUG_DIR, "DIR", 0,
	  "Look for separate debug files here, too; several times for several", 0 },
	{ "kallsyms", KEY_KALLSYMS, "FILE", 0, "A copy of /proc/kallsyms of the recorded kernel",
	  0 },
	{ "vmlinux", KEY_VMLINUX, "FILE", 0, "The ELF file of the recorded kernel", 0 },
	{ "max-stack", KEY_MAX_STACK, "N", 0, "Look at so many callers at most (default 127)", 0 },
	{ "no-inline", KEY_NO_INLINE, 0, 0, "No inlined functions", 0 },
	{ "no-demangle", KEY_NO_DEMANGLE, 0, 0, "Names as the compiler mangled them", 0 },
	{ 0 },
};

static bool add_one(struct view_list *list, const char *s, size_t n)
{
	char **const more = reallocarray(list->v, list->nr + 1, sizeof(*more));

	if (!more)
		return false;
	list->v = more;
	more[list->nr] = strndup(s, n);
	return more[list->nr] && ++list->nr;
}

bool view_add_path(struct view *v, const char *path)
{
	return add_one(&v->paths, path, strlen(path));
}

bool view_add_names(struct view_list *list, const char *arg)
{
	for (;;) {
		const size_t n = strcspn(arg, ",");

		if (n && !add_one(list, arg, n))
			return false;
		if (!arg[n])
			return true;
		arg += n + 1;
	}
}

static bool add_number(struct pev_filter_numbers *list, uint32_t number)
{
	uint32_t *const more = realloc((void *)(uintptr_t)list->v, (list->nr + 1) * sizeof(*more));

	if (!more)
		return false;
	more[list->nr++] = number;
	list->v = more;
	return true;
}

static void parse_numbers(struct pev_filter_numbers *list, const char *what, const char *arg,
			  struct argp_state *state)
{
	const char *s = arg;

	for (;;) {
		char *end;
		const long n = strtol(s, &end, 10);

		if (end == s || n < -1 || n > UINT32_MAX || (*end && *end != ','))
			argp_error(state, "'%s' is no list of %s", arg, what);
		if (!add_number(list, (uint32_t)n))
			argp_failure(state, PEV_EXIT_FAILURE, ENOMEM, "%s", arg);
		if (!*end)
			return;
		s = end + 1;
	}
}

static void parse_cpus(struct pev_filter_numbers *list, const char *arg, struct argp_state *state)
{
	_cleanup_cpus_ struct pev_cpus cpus = { 0 };
	struct pev_err err = PEV_ERR_INIT;

	if (pev_cpus_parse(arg, &cpus, &err) < 0)
		argp_error(state, "%s", err.msg);
	for (size_t i = 0; i < cpus.nr; i++)
		if (!add_number(list, (uint32_t)cpus.cpus[i]))
			argp_failure(state, PEV_EXIT_FAILURE, ENOMEM, "%s", arg);
}

static unsigned int parse_max_stack(const char *arg, struct argp_state *state)
{
	char *end;
	const long n = strtol(arg, &end, 10);

	if (end == arg || *end || n < 1 || n > 65535)
		argp_error(state, "'%s' is no number of callers", arg);
	return (unsigned int)n;
}

/* Whether it was one of the lists of names; without memory the program ends. */
static bool parse_names(struct view *v, int key, const char *arg, struct argp_state *state)
{
	struct view_list *const list = key == KEY_COMMS     ? &v->comms
				       : key == KEY_DSOS    ? &v->dsos
				       : key == KEY_CGROUPS ? &v->cgroups
				       : key == KEY_EVENTS  ? &v->events
				       : key == 'S'         ? &v->symbols
							    : NULL;

	if (list && !view_add_names(list, arg))
		argp_failure(state, PEV_EXIT_FAILURE, ENOMEM, "%s", arg);
	return list;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct view *const v = state->input;

	switch (key) {
	case 'i':
		if (!view_add_path(v, arg))
			return ENOMEM;
		break;
	case 'C':
		parse_cpus(&v->cpus, arg, state);
		break;
	case KEY_PIDS:
		parse_numbers(&v->pids, "processes", arg, state);
		break;
	case KEY_TIDS:
		parse_numbers(&v->tids, "threads", arg, state);
		break;
	case KEY_TIME:
		v->time = arg;
		break;
	case KEY_SINCE:
		v->since = arg;
		break;
	case KEY_UNTIL:
		v->until = arg;
		break;
	case KEY_SYMFS:
		v->symfs = arg;
		break;
	case KEY_DEBUG_DIR:
		return add_one(&v->debug_dirs, arg, strlen(arg)) ? 0 : ENOMEM;
	case KEY_KALLSYMS:
		v->kallsyms = arg;
		break;
	case KEY_VMLINUX:
		v->vmlinux = arg;
		break;
	case KEY_MAX_STACK:
		v->max_stack = parse_max_stack(arg, state);
		break;
	case KEY_NO_INLINE:
		v->no_inline = true;
		break;
	case KEY_NO_DEMANGLE:
		v->no_demangle = true;
		break;
	default:
		return parse_names(v, key, arg, state) ? 0 : ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp view_argp = { .options = options, .parser = parse_option };

static void list_done(struct view_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->v[i]);
	free(list->v);
}

void view_done(struct view *v)
{
	struct view_list *const lists[] = { &v->paths,   &v->comms,  &v->dsos,      &v->symbols,
					    &v->cgroups, &v->events, &v->debug_dirs };
	struct pev_filter_numbers *const numbers[] = { &v->cpus, &v->pids, &v->tids };

	v->reader = pev_reader_free(v->reader);
	if (!v->borrowed_resolver)
		v->resolver = pev_resolver_free(v->resolver);
	v->debuginfod = pev_debuginfod_free(v->debuginfod);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(lists); i++)
		list_done(lists[i]);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(numbers); i++)
		free((void *)(uintptr_t)numbers[i]->v);
	free(v->times);
	*v = (struct view){ 0 };
}

bool view_has_stdin(const struct view *v)
{
	for (size_t i = 0; i < v->paths.nr; i++)
		if (!strcmp(v->paths.v[i], "-"))
			return true;
	return false;
}

static struct pev_filter_names names_of(const struct view_list *list)
{
	return (struct pev_filter_names){ (const char *const *)list->v, list->nr };
}

static int open_resolver(struct view *v, struct pev_err *err)
{
	const struct pev_resolver_options how = {
		.symfs = v->symfs,
		.debug_dirs = (const char *const *)v->debug_dirs.v,
		.nr_debug_dirs = v->debug_dirs.nr,
		.kallsyms = v->kallsyms,
		.vmlinux = v->vmlinux,
		.no_inline = v->no_inline,
		.no_demangle = v->no_demangle,
		.as_perf = v->as_perf,
		.max_stack = v->max_stack,
		.debuginfod = v->debuginfod,
	};

	return pev_resolver_new(&how, &v->resolver, err);
}

static int open_debuginfod(struct view *v, struct pev_err *err)
{
	const int r = pev_debuginfod_new(DEBUGINFOD_TIMEOUT_MS, progress_fetch, NULL,
					 &v->debuginfod, err);

	if (r == -ENOSYS) {
		/* Names can be had without it. */
		cmd_say("%s", err->msg);
		return 0;
	}
	return r == -ENOENT ? 0 : r;
}

static int open_reader(const struct view *v, struct pev_reader **ret, struct pev_err *err)
{
	const struct pev_reader_options how = {
		.cpus = v->cpus.v,
		.nr_cpus = v->cpus.nr,
		.progress = progress_read,
	};

	return pev_reader_open((const char *const *)v->paths.v, v->paths.nr, &how, ret, err);
}

/* When the samples of the traces begin and end: as the header says, or by reading them all. */
static int find_bounds(const struct view *v, struct pev_timespan *s, struct pev_err *err)
{
	const struct pev_trace_head head = pev_reader_head(v->reader, 0);
	_cleanup_(pev_reader_freep) struct pev_reader *reader = NULL;
	struct pev_reader_record rec;
	struct pev_reader_stats stats;
	int r;

	if (v->paths.nr == 1 && pev_features_has(head.features, PEV_FEAT_SAMPLE_TIME) &&
	    head.features->sample_time.last_ns) {
		s->first_ns = head.features->sample_time.first_ns;
		s->last_ns = head.features->sample_time.last_ns;
		return 0;
	}
	if (view_has_stdin(v))
		return pev_err_set(err, -EINVAL,
				   "percentages need the length of the trace, which standard input "
				   "does not tell: give seconds, or a file");
	r = open_reader(v, &reader, err);
	while (r >= 0 && (r = pev_reader_next(reader, &rec, err)) > 0)
		;
	progress_end();
	if (r < 0)
		return r;
	stats = pev_reader_stats(reader);
	s->first_ns = stats.first_ns;
	s->last_ns = stats.last_ns;
	return 0;
}

/* Keeps of each range what is in [since, until). */
static void clip(struct view *v, uint64_t since_ns, uint64_t until_ns)
{
	size_t nr = 0;

	for (size_t i = 0; i < v->filter.nr_times; i++) {
		struct pev_time_range t = v->times[i];

		t.since_ns = PEV_MAX(t.since_ns, since_ns);
		t.until_ns = PEV_MIN(t.until_ns, until_ns);
		if (t.since_ns < t.until_ns)
			v->times[nr++] = t;
	}
	if (!nr) /* nothing is left, which is not the same as no limit */
		v->times[nr++] = (struct pev_time_range){ 0, 0 };
	v->filter.nr_times = nr;
}

static int find_times(struct view *v, struct pev_err *err)
{
	struct pev_timespan span = { .clock = pev_reader_clock(v->reader) };
	uint64_t since = 0, until = UINT64_MAX, first = UINT64_MAX, last = 0;
	struct timespec now;
	int r = 0;

	if (!v->time && !v->since && !v->until)
		return 0;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	span.now_ns = (uint64_t)now.tv_sec * PEV_NSEC_PER_SEC + (uint64_t)now.tv_nsec;
	if (v->since)
		r = pev_timespan_moment(&span, v->since, &since, err);
	if (r == 0 && v->until)
		r = pev_timespan_moment(&span, v->until, &until, err);
	if (r == 0 && v->time && pev_timespan_is_relative(v->time))
		r = find_bounds(v, &span, err);
	if (r == 0)
		r = pev_timespan_parse(&span, v->time ? v->time : "0,", &v->times,
				       &v->filter.nr_times, err);
	if (r < 0)
		return r;
	clip(v, since, until);
	v->filter.times = v->times;
	for (size_t i = 0; i < v->filter.nr_times; i++) {
		first = PEV_MIN(first, v->times[i].since_ns);
		last = PEV_MAX(last, v->times[i].until_ns);
	}
	pev_reader_set_time(v->reader, first, last);
	return 0;
}

/* As perf: what comes through a pipe, else perf.data. */
static bool add_default_path(struct view *v)
{
	struct stat st;

	return view_add_path(
		v, fstat(STDIN_FILENO, &st) == 0 && S_ISFIFO(st.st_mode) ? "-" : "perf.data");
}

int view_open(struct view *v, struct pev_resolver *shared, struct pev_err *err)
{
	int r = 0;

	if (!v->paths.nr && !add_default_path(v))
		return pev_err_set(err, -ENOMEM, "no memory for the command line");
	v->filter = (struct pev_filter){
		.comms = names_of(&v->comms),
		.dsos = names_of(&v->dsos),
		.symbols = names_of(&v->symbols),
		.cgroups = names_of(&v->cgroups),
		.events = names_of(&v->events),
		.cpus = v->cpus,
		.pids = v->pids,
		.tids = v->tids,
	};
	v->resolver = shared;
	v->borrowed_resolver = shared;
	if (!shared) {
		r = open_debuginfod(v, err);
		if (r == 0)
			r = open_resolver(v, err);
	}
	if (r == 0)
		r = open_reader(v, &v->reader, err);
	return r == 0 ? find_times(v, err) : r;
}
