// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevrec script: each sample as a text, for people who look closely and for their scripts. */
#include "base/checked.h"
#include "base/cleanup.h"
#include "cli/cmd.h"
#include "cli/pager.h"
#include "cli/progress.h"
#include "cli/view.h"
#include "report/script.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum key {
	KEY_TASKS = 0x2000,
	KEY_MMAPS,
	KEY_SWITCHES,
	KEY_NAMESPACES,
	KEY_CGROUPS,
	KEY_LOST,
	KEY_BPF,
	KEY_TEXT_POKES,
	KEY_NS,
	KEY_RELTIME,
	KEY_DELTATIME,
	KEY_FULL_PATHS,
	KEY_COMPAT,
};

static const struct argp_option options[] = {
	{ 0, 0, 0, 0, "What is printed:", 3 },
	{ "fields", 'F', "FIELD,...", 0,
	  "Fields, '+FIELD' and '-FIELD' to change the usual ones; 'TYPE:' in front for one type "
	  "of "
	  "events: hw, sw, trace, raw, break",
	  0 },
	{ "hide-call-graph", 'G', 0, 0, "No call chains", 0 },
	{ "show-task-events", KEY_TASKS, 0, 0, "Also threads that begin, are named, and end", 0 },
	{ "show-mmap-events", KEY_MMAPS, 0, 0, "Also what is mapped", 0 },
	{ "show-switch-events", KEY_SWITCHES, 0, 0, "Also context switches", 0 },
	{ "show-namespace-events", KEY_NAMESPACES, 0, 0, "Also namespaces", 0 },
	{ "show-cgroup-events", KEY_CGROUPS, 0, 0, "Also cgroups", 0 },
	{ "show-lost-events", KEY_LOST, 0, 0, "Also what was lost", 0 },
	{ "show-bpf-events", KEY_BPF, 0, 0, "Also BPF programs", 0 },
	{ "show-text-poke-events", KEY_TEXT_POKES, 0, 0, "Also changes of the kernel's code", 0 },
	{ "ns", KEY_NS, 0, 0, "Times with nine decimals", 0 },
	{ "reltime", KEY_RELTIME, 0, 0, "Times since the first one", 0 },
	{ "deltatime", KEY_DELTATIME, 0, 0, "Times since the one before", 0 },
	{ "full-source-path", KEY_FULL_PATHS, 0, 0, "Source files with their folders", 0 },
	{ "Latency", 'L', 0, 0, "The narrow columns of latency tracers", 0 },
	{ "compat", KEY_COMPAT, "VERSION", 0,
	  "Print like perf 6.1 (default), 6.12 or 7.2, which differ in the width of numbers, in "
	  "how "
	  "addresses of callers are shown, and in C++ names",
	  0 },
	{ "comms", 'c', "NAME,...", OPTION_HIDDEN, 0, 0 },
	{ "dsos", 'd', "FILE,...", OPTION_HIDDEN, 0, 0 },
	{ "vmlinux", 'k', "FILE", OPTION_HIDDEN, 0, 0 },
	{ "force", 'f', 0, OPTION_HIDDEN, 0, 0 },
	{ 0 },
};

struct args {
	struct view view;
	struct pev_script_options how;
};

static void args_done(struct args *a)
{
	view_done(&a->view);
}

/* The switches that are one bool each. */
static bool *switch_of(struct pev_script_options *how, int key)
{
	switch (key) {
	case KEY_TASKS:
		return &how->show_tasks;
	case KEY_MMAPS:
		return &how->show_mmaps;
	case KEY_SWITCHES:
		return &how->show_switches;
	case KEY_NAMESPACES:
		return &how->show_namespaces;
	case KEY_CGROUPS:
		return &how->show_cgroups;
	case KEY_LOST:
		return &how->show_lost;
	case KEY_BPF:
		return &how->show_bpf;
	case KEY_TEXT_POKES:
		return &how->show_text_pokes;
	case KEY_NS:
		return &how->nanoseconds;
	case KEY_RELTIME:
		return &how->relative_time;
	case KEY_DELTATIME:
		return &how->delta_time;
	case KEY_FULL_PATHS:
		return &how->full_paths;
	case 'G':
		return &how->hide_chains;
	case 'L':
		return &how->latency;
	default:
		return NULL;
	}
}

static enum pev_script_style parse_compat(const char *arg, struct argp_state *state)
{
	static const struct {
		const char *version;
		enum pev_script_style style;
	} styles[] = {
		{ "6.1", PEV_SCRIPT_PERF_6_1 },
		{ "6.12", PEV_SCRIPT_PERF_6_12 },
		{ "7.2", PEV_SCRIPT_PERF_7_2 },
	};

	for (size_t i = 0; i < PEV_ARRAY_SIZE(styles); i++)
		if (!strcmp(arg, styles[i].version))
			return styles[i].style;
	argp_error(state, "--compat knows perf 6.1, 6.12 and 7.2, not '%s'", arg);
	return PEV_SCRIPT_PERF_6_1;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct args *const a = state->input;
	struct pev_err err = PEV_ERR_INIT;
	bool *const on = switch_of(&a->how, key);

	if (on) {
		*on = true;
		return 0;
	}
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->view;
		break;
	case 'F':
		if (pev_script_fields_parse(&a->how.fields, arg, &err) < 0)
			argp_error(state, "%s", err.msg);
		break;
	case KEY_COMPAT:
		a->how.style = parse_compat(arg, state);
		break;
	case 'c':
		return view_add_names(&a->view.comms, arg) ? 0 : ENOMEM;
	case 'd':
		return view_add_names(&a->view.dsos, arg) ? 0 : ENOMEM;
	case 'k':
		a->view.vmlinux = arg;
		break;
	case 'f':
		break;
	case ARGP_KEY_ARG:
		return view_add_path(&a->view, arg) ? 0 : ENOMEM;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

int cmd_script(int argc, char **argv)
{
	static const struct argp_child children[] = { { &view_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.args_doc = "[FILE...]",
		.doc = "Print each sample of traces as perf script does, byte for byte.",
		.children = children,
	};
	static char name[] = "pevrec script";
	_cleanup_(args_done) struct args a = { 0 };
	struct pev_err err = PEV_ERR_INIT;
	int r;

	argp_err_exit_status = PEV_EXIT_USAGE;
	argv[0] = name;
	pev_script_fields_init(&a.how.fields);
	a.view.as_perf = true;
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return PEV_EXIT_USAGE;
	r = view_open(&a.view, NULL, &err);
	progress_end();
	if (r < 0)
		return cmd_fail(&err);
	a.how.filter = &a.view.filter;
	a.how.no_demangle = a.view.no_demangle;
	pager_start();
	r = pev_script_run(&a.how, a.view.reader, a.view.resolver, STDOUT_FILENO, &err);
	progress_end();
	pager_end();
	/* Whoever reads may stop early: that is no failure, as it is none of cat(1). */
	return r < 0 && r != -EPIPE ? cmd_fail(&err) : 0;
}
