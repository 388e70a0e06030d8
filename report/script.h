/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every sample as a text, as perf script prints it. */
#pragma once

#include "report/filter.h"
#include "report/script_fields.h"
#include "unwind/resolver.h"

#include <stdbool.h>

struct pev_reader;

/*
 * Whose output it is to be like, byte for byte. What differs:
 *
 *			callers			pid, tid	C++ names
 *	6.1		offset in the file	5 wide		without parameters
 *	6.12, 7.2	address			7 wide		in full
 */
enum pev_script_style {
	PEV_SCRIPT_PERF_6_1,
	PEV_SCRIPT_PERF_6_12,
	PEV_SCRIPT_PERF_7_2,
};

struct pev_script_options {
	enum pev_script_style style;
	const struct pev_filter *filter; /* NULL: everything; borrowed */
	struct pev_script_fields fields;
	/* Records beside the samples. */
	bool show_tasks, show_mmaps, show_switches, show_namespaces, show_cgroups, show_lost;
	bool show_bpf, show_text_pokes;
	bool hide_chains; /* -G */
	bool nanoseconds; /* nine decimals */
	bool relative_time, delta_time;
	bool full_paths; /* of source files */
	bool no_demangle;
	bool latency; /* -L */
};

/*
 * Reads @reader to its end and prints to @fd. 0; -EINVAL with a sentence when the fields do not fit
 * what was recorded; the error of reading or writing (-EPIPE: nobody reads any more).
 */
int pev_script_run(const struct pev_script_options *options, struct pev_reader *reader,
		   struct pev_resolver *resolver, int fd, struct pev_err *err);
