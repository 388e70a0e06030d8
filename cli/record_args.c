// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/record_args.h"

#include "base/checked.h"
#include "cli/cmd.h"
#include "recorder/config.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum key {
	KEY_CALL_GRAPH = 256,
	KEY_FILTER,
	KEY_SWITCH_EVENTS,
	KEY_NAMESPACES,
	KEY_ALL_CGROUPS,
	KEY_PHYS_DATA,
	KEY_SAMPLE_CPU,
	KEY_NO_BUILD_IDS,
	KEY_ALL_USER,
	KEY_ALL_KERNEL,
	KEY_USER_CALLCHAINS,
	KEY_KERNEL_CALLCHAINS,
	KEY_EXCLUDE_PERF,
	KEY_DATA_PAGE_SIZE,
	KEY_CODE_PAGE_SIZE,
	KEY_ALWAYS,
};

static const struct argp_option options[] = {
	{ 0, 0, 0, 0, "What to record:", 1 },
	{ "all-cpus", 'a', 0, 0, "All processes on all CPUs (the default without COMMAND)", 0 },
	{ "cpu", 'C', "LIST", 0, "Only on these CPUs, like 0-3,8", 0 },
	{ "pid", 'p', "PID,...", 0, "Processes, with all their threads and children to come", 0 },
	{ "tid", 't', "TID,...", 0, "Threads", 0 },
	{ "cgroup", 'G', "NAME,...", 0, "Only in these cgroups: one per event, or one for all", 0 },
	{ "no-inherit", 'i', 0, 0, "Not the children of what is recorded", 0 },
	{ 0, 0, 0, 0, "Which events, and how often:", 2 },
	{ "event", 'e', "EVENT,...", 0,
	  "Events as perf list spells them (default cycles:P, or cpu-clock without a PMU)", 0 },
	{ "filter", KEY_FILTER, "FILTER", 0, "Filter for the tracepoints of the last -e", 0 },
	{ "freq", 'F', "HZ", 0, "Samples per second and CPU, or 'max' (default 4000)", 0 },
	{ "count", 'c', "N", 0, "A sample every N events instead", 0 },
	{ "delay", 'D', "MS", 0, "Wait so long before the first sample", 0 },
	{ "all-user", KEY_ALL_USER, 0, 0, "All events in user space only", 0 },
	{ "all-kernel", KEY_ALL_KERNEL, 0, 0, "All events in the kernel only", 0 },
	{ "exclude-perf", KEY_EXCLUDE_PERF, 0, 0, "No tracepoints that pevrec itself passes", 0 },
	{ 0, 0, 0, 0, "What a sample holds:", 3 },
	{ 0, 'g', 0, 0, "Call chains by frame pointers", 0 },
	{ "call-graph", KEY_CALL_GRAPH, "MODE[,BYTES]", 0,
	  "Call chains: fp, dwarf[,BYTES of stack (default 8192)], or lbr", 0 },
	{ "user-callchains", KEY_USER_CALLCHAINS, 0, 0, "User space only, in call chains", 0 },
	{ "kernel-callchains", KEY_KERNEL_CALLCHAINS, 0, 0, "The kernel only, in call chains", 0 },
	{ "data", 'd', 0, 0, "The addresses of the data", 0 },
	{ "phys-data", KEY_PHYS_DATA, 0, 0, "The physical addresses of the data", 0 },
	{ "data-page-size", KEY_DATA_PAGE_SIZE, 0, 0, "The size of the data's page", 0 },
	{ "code-page-size", KEY_CODE_PAGE_SIZE, 0, 0, "The size of the code's page", 0 },
	{ "all-cgroups", KEY_ALL_CGROUPS, 0, 0, "The cgroup", 0 },
	{ "period", 'P', 0, 0, "The period, also where it is fixed", 0 },
	{ "raw-samples", 'R', 0, 0, "The raw data of all events (those of tracepoints always)", 0 },
	{ "sample-cpu", KEY_SAMPLE_CPU, 0, 0, "The CPU (always recorded)", 0 },
	{ "timestamp", 'T', 0, 0, "The time (always recorded)", 0 },
	{ "stat", 's', 0, 0, "Per-thread counts, when a thread ends", 0 },
	{ "clockid", 'k', "CLOCK", 0,
	  "The clock of the times: monotonic (default), monotonic_raw, "
	  "boottime, realtime, tai",
	  0 },
	{ "switch-events", KEY_SWITCH_EVENTS, 0, 0, "Record context switches too", 0 },
	{ "namespaces", KEY_NAMESPACES, 0, 0, "Record the namespaces of processes too", 0 },
	{ "no-buildid-mmap", KEY_NO_BUILD_IDS, 0, 0,
	  "Files by inode, not by build-id: while a recording with build-ids runs, Linux up to at "
	  "least 6.18 makes a "
	  "perf record of 6.x that runs beside it crash",
	  0 },
	{ "no-buildid", 'B', 0, OPTION_ALIAS, 0, 0 },
	{ 0, 0, 0, 0, "Output:", 4 },
	{ "output", 'o', "FILE", 0,
	  "The trace (default perf.data; an older one is kept as FILE.old); - for standard output",
	  0 },
	{ "compression-level", 'z', "LEVEL", OPTION_ARG_OPTIONAL, "Of zstd (default 1)", 0 },
	{ "mmap-pages", 'm', "PAGES", 0,
	  "Size of the ring of each CPU, in pages or with a suffix B, K, M, G (default 512K)", 0 },
	{ "quiet", 'q', 0, 0, "Say nothing but errors", 0 },
	{ "verbose", 'v', 0, 0, "Say what was opened and what it cost", 0 },
	{ 0, 0, 0, 0, "Taken because perf record knows them:", 5 },
	{ "no-buildid-cache", 'N', 0, 0, "Always so: there is no such cache", 0 },
	{ "buildid-all", KEY_ALWAYS, 0, 0, "Always so, without -B", 0 },
	{ "buildid-mmap", KEY_ALWAYS, 0, 0, "Always so, without -B", 0 },
	{ "sample-identifier", KEY_ALWAYS, 0, 0, "Always so", 0 },
	{ "timestamp-boundary", KEY_ALWAYS, 0, 0, "Always so", 0 },
	{ 0 },
};

struct parse {
	struct pev_record_opts *opts;
	struct pev_err *err;
	int r; /* the first error that is not one of grammar */
};

/* A whole number of @arg in [min, max]; anything else ends the program with a sentence. */
static uint64_t number(struct argp_state *state, const char *option, const char *arg, uint64_t min,
		       uint64_t max)
{
	char *end;
	uint64_t v;

	errno = 0;
	v = strtoull(arg, &end, 0);
	if (errno || end == arg || *end || *arg == '-' || v < min || v > max)
		argp_failure(state, PEV_EXIT_USAGE, 0,
			     "%s %s: a whole number from %" PRIu64 " to %" PRIu64 " is expected",
			     option, arg, min, max);
	return v;
}

static void add_pids(struct argp_state *state, struct pev_pids *pids, const char *option,
		     const char *arg)
{
	char *copy = strdup(arg), *rest = copy;

	for (char *s; copy && (s = strsep(&rest, ","));) {
		pid_t *const p = realloc(pids->pids, (pids->nr + 1) * sizeof(*p));

		if (!p)
			break;
		pids->pids = p;
		p[pids->nr++] = (pid_t)number(state, option, s, 1, INT32_MAX);
	}
	free(copy);
}

/* -m: pages, or bytes with a suffix; rounded up to a power of two of pages, as perf does. */
static void set_ring(struct argp_state *state, struct pev_record_opts *opts, const char *arg)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t bytes, unit = page, pages = 1;
	char *end;

	errno = 0;
	bytes = strtoull(arg, &end, 0);
	if (*end && !end[1]) {
		static const char suffixes[] = "BKMG";
		const char *const s = strchr(suffixes, *end);

		unit = s ? 1ULL << (10 * (s - suffixes)) : 0;
	} else if (*end) {
		unit = 0;
	}
	if (errno || end == arg || *arg == '-' || !unit || !bytes || bytes > (4ULL << 30) / unit)
		argp_failure(state, PEV_EXIT_USAGE, 0,
			     "-m %s: a number of pages, or a size like 512K or 4M, up to 4G, is "
			     "expected",
			     arg);
	bytes *= unit;
	while (pages * page < bytes)
		pages *= 2;
	opts->ring_bytes = pages * page;
}

static void set_callgraph(struct argp_state *state, struct pev_record_opts *opts, const char *arg)
{
	const size_t n = strcspn(arg, ",");

	if (n == 2 && !strncmp(arg, "fp", n) && !arg[n]) {
		opts->callgraph = PEV_CALLGRAPH_FP;
	} else if (n == 3 && !strncmp(arg, "lbr", n) && !arg[n]) {
		opts->callgraph = PEV_CALLGRAPH_LBR;
	} else if (n == 5 && !strncmp(arg, "dwarf", n)) {
		opts->callgraph = PEV_CALLGRAPH_DWARF;
		if (arg[n])
			opts->stack_bytes = (uint32_t)pev_align8(
				number(state, "--call-graph dwarf,BYTES:", arg + n + 1, 8,
				       PEV_MAX_STACK_BYTES));
	} else {
		argp_failure(state, PEV_EXIT_USAGE, 0,
			     "--call-graph %s: fp, dwarf, dwarf,BYTES or lbr is expected", arg);
	}
}

static void set_clock(struct argp_state *state, struct pev_record_opts *opts, const char *arg)
{
	static const struct {
		const char *name;
		int32_t id;
	} clocks[] = {
		{ "monotonic", CLOCK_MONOTONIC },
		{ "mono", CLOCK_MONOTONIC },
		{ "monotonic_raw", CLOCK_MONOTONIC_RAW },
		{ "raw", CLOCK_MONOTONIC_RAW },
		{ "boottime", CLOCK_BOOTTIME },
		{ "boot", CLOCK_BOOTTIME },
		{ "realtime", CLOCK_REALTIME },
		{ "real", CLOCK_REALTIME },
		{ "tai", CLOCK_TAI },
	};
	const char *name = arg;

	if (!strncasecmp(name, "CLOCK_", 6))
		name += 6;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(clocks); i++) {
		if (strcasecmp(name, clocks[i].name) != 0)
			continue;
		opts->has_clockid = true;
		opts->clockid = clocks[i].id;
		return;
	}
	argp_failure(state, PEV_EXIT_USAGE, 0,
		     "-k %s: no such clock; monotonic, monotonic_raw, boottime, realtime or tai is "
		     "expected",
		     arg);
}

static void set_freq(struct argp_state *state, struct pev_record_opts *opts, const char *arg)
{
	const uint64_t limit = pev_max_sample_rate(UINT64_MAX);

	opts->freq_max = !strcmp(arg, "max");
	opts->freq = opts->freq_max ? pev_max_sample_rate(100000)
				    : number(state, "-F", arg, 1, INT64_MAX);
	if (opts->freq > limit)
		argp_failure(state, PEV_EXIT_USAGE, 0,
			     "-F %s: the kernel's limit is %" PRIu64
			     " (kernel.perf_event_max_sample_rate): lower it, raise that, or say "
			     "-F max",
			     arg, limit);
}

static error_t parse_event(struct parse *p, const char *arg)
{
	p->r = pev_evlist_parse(&p->opts->events, arg, p->err);
	return p->r < 0 ? -p->r : 0;
}

/* Options that only switch something on. */
static const struct {
	int key;
	size_t at; /* of a bool in struct pev_record_opts */
} switches[] = {
#define SWITCH(key, field)                                     \
	{                                                      \
		(key), offsetof(struct pev_record_opts, field) \
	}
	SWITCH('a', all_cpus),
	SWITCH('d', sample_data),
	SWITCH('s', inherit_stat),
	SWITCH('P', sample_period),
	SWITCH('R', sample_raw),
	SWITCH('B', no_build_ids),
	SWITCH('q', quiet),
	SWITCH('v', verbose),
	SWITCH(KEY_PHYS_DATA, sample_phys_addr),
	SWITCH(KEY_DATA_PAGE_SIZE, data_page_size),
	SWITCH(KEY_CODE_PAGE_SIZE, code_page_size),
	SWITCH(KEY_ALL_CGROUPS, all_cgroups),
	SWITCH(KEY_SWITCH_EVENTS, switch_events),
	SWITCH(KEY_NAMESPACES, namespaces),
	SWITCH(KEY_NO_BUILD_IDS, no_build_ids),
	SWITCH(KEY_ALL_USER, all_user),
	SWITCH(KEY_ALL_KERNEL, all_kernel),
	SWITCH(KEY_USER_CALLCHAINS, user_callchains),
	SWITCH(KEY_KERNEL_CALLCHAINS, kernel_callchains),
	SWITCH(KEY_EXCLUDE_PERF, exclude_self),
#undef SWITCH
};

static error_t switch_on(int key, struct pev_record_opts *opts)
{
	for (size_t i = 0; i < PEV_ARRAY_SIZE(switches); i++) {
		if (switches[i].key != key)
			continue;
		*(bool *)((char *)opts + switches[i].at) = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct parse *const p = state->input;
	struct pev_record_opts *const opts = p->opts;

	switch (key) {
	case 'C':
		opts->cpu_list = arg;
		break;
	case 'p':
		add_pids(state, &opts->pids, "-p", arg);
		break;
	case 't':
		add_pids(state, &opts->tids, "-t", arg);
		break;
	case 'G':
		opts->cgroups = arg;
		break;
	case 'i':
		opts->inherit = false;
		break;
	case 'e':
		return parse_event(p, arg);
	case KEY_FILTER:
		p->r = pev_evlist_filter(&opts->events, arg, p->err);
		return p->r < 0 ? -p->r : 0;
	case 'F':
		set_freq(state, opts, arg);
		break;
	case 'c':
		opts->period = number(state, "-c", arg, 1, INT64_MAX);
		break;
	case 'D':
		opts->delay_ms =
			!strcmp(arg, "-1") ? -1 : (int)number(state, "-D", arg, 0, INT32_MAX);
		break;
	case 'g':
		/* As with perf it says that there shall be some, not which. */
		if (opts->callgraph == PEV_CALLGRAPH_NONE)
			opts->callgraph = PEV_CALLGRAPH_FP;
		break;
	case KEY_CALL_GRAPH:
		set_callgraph(state, opts, arg);
		break;
	case 'T':
	case 'N':
	case KEY_SAMPLE_CPU:
	case KEY_ALWAYS:
		break;
	case 'k':
		set_clock(state, opts, arg);
		break;
	case 'o':
		opts->output = arg;
		break;
	case 'z':
		if (arg)
			opts->level = (int)number(state, "-z", arg, 1, 22);
		break;
	case 'm':
		set_ring(state, opts, arg);
		break;
	case ARGP_KEY_ARGS:
		opts->argv = state->argv + state->next;
		break;
	default:
		return switch_on(key, opts);
	}
	return 0;
}

/* What no option alone can see. */
static void check(const struct pev_record_opts *opts)
{
	const bool tasks = opts->pids.nr || opts->tids.nr;
	const char *wrong = NULL;

	if (opts->freq && opts->period)
		wrong = "-F and -c both say how often to sample: give one of them";
	else if (opts->all_cpus && tasks)
		wrong = "-a records all processes, -p and -t only some: give one of them";
	else if (opts->cgroups && tasks)
		wrong = "-G records by cgroup, -p and -t by process: give one of them";
	else if (opts->delay_ms < 0)
		wrong = "-D -1 would never begin: nothing can enable the events later";
	else if (opts->all_user && opts->all_kernel)
		wrong = "--all-user and --all-kernel together leave nothing to record: give one "
			"of them";
	else if (opts->user_callchains && opts->kernel_callchains)
		wrong = "--user-callchains and --kernel-callchains together leave no call chains: "
			"give one of them";
	if (!wrong)
		return;

	cmd_say("%s", wrong);
	exit(PEV_EXIT_USAGE);
}

int record_args_parse(int argc, char **argv, struct pev_record_opts *opts, struct pev_err *err)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.args_doc = "[-- COMMAND [ARG...]]",
		.doc = "Record the machine, processes or a command into a trace that perf opens.\v"
		       "The trace is valid at every moment: one that was cut by a crash opens in "
		       "perf as it is, and "
		       "'pevrec verify --seal' makes a regular file of it.",
	};
	struct parse p = { .opts = opts, .err = err };
	char **const cmdline = calloc((size_t)argc + 2, sizeof(*cmdline));
	static char program[] = "pevrec";
	static char name[] = "pevrec record";
	error_t e;

	*opts = (struct pev_record_opts){
		.inherit = true,
		.stack_bytes = PEV_DEFAULT_STACK_BYTES,
		.has_clockid = true,
		.clockid = CLOCK_MONOTONIC,
		.ring_bytes = PEV_DEFAULT_RING_BYTES,
		.level = PEV_DEFAULT_LEVEL,
		.output = "perf.data",
		.cmdline = cmdline,
	};
	if (!cmdline)
		return pev_err_set(err, -ENOMEM, "no memory for the command line");
	cmdline[0] = program;
	memcpy(cmdline + 1, argv, (size_t)argc * sizeof(*argv));
	argp_err_exit_status = PEV_EXIT_USAGE;
	argv[0] = name;
	/* In order: options behind COMMAND are the command's. */
	e = argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &p);
	if (e)
		return p.r < 0 ? p.r : pev_err_set(err, -e, "%s", pev_errno_str(e));
	if (!opts->argv && !opts->pids.nr && !opts->tids.nr && !opts->cgroups && !opts->cpu_list)
		opts->all_cpus = true;
	check(opts);
	return 0;
}

void record_args_done(struct pev_record_opts *opts)
{
	pev_evlist_done(&opts->events);
	free(opts->cmdline);
	free(opts->pids.pids);
	free(opts->tids.pids);
}
