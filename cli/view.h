/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the commands that look at traces have in common: which traces, which samples of them, and
 * where the files of the recorded machine are. */
#pragma once

#include "base/err.h"
#include "format/reader.h"
#include "report/filter.h"
#include "unwind/resolver.h"

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

struct view_list {
	char **v; /* owned */
	size_t nr;
};

/* Zero-initialise to start, view_done() to end. */
struct view {
	struct view_list paths;

	/* The command line. */
	struct view_list comms, dsos, symbols, cgroups, events;
	struct pev_filter_numbers cpus, pids, tids; /* owned */
	struct view_list debug_dirs;
	const char *time, *since, *until;
	const char *symfs, *kallsyms, *vmlinux;
	unsigned int max_stack;
	bool no_inline, no_demangle;
	bool as_perf; /* names and chains with the mistakes of perf, for pevrec script */

	/* What view_open() makes of it. */
	struct pev_filter filter;
	struct pev_time_range *times;      /* owned */
	struct pev_reader *reader;         /* owned */
	struct pev_resolver *resolver;     /* owned, or that of another view */
	struct pev_debuginfod *debuginfod; /* owned */
	bool borrowed_resolver;
};

void view_done(struct view *v);

/*
 * The options for argp: a child of a command's own, whose parser hands the struct view on with
 * state->child_inputs. All are long but -i, -C and -S; a command adds its own letters with
 * view_add_names() and its like.
 */
extern const struct argp view_argp;

/* Appends the entries of @arg, which are separated by commas. False without memory. */
bool view_add_names(struct view_list *list, const char *arg);
bool view_add_path(struct view *v, const char *path);

/* Whether one of the paths is standard input. */
bool view_has_stdin(const struct view *v);

/*
 * Opens the traces (without any: perf.data, or standard input when that is a pipe, as perf does),
 * makes the resolver, and finds out which times are meant. Shows progress on a terminal. With
 * @shared, that resolver is used.
 */
int view_open(struct view *v, struct pev_resolver *shared, struct pev_err *err);
