/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which samples a view is about. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pev_filter_names {
	const char *const *v;
	size_t nr; /* 0: any */
};

struct pev_filter_numbers {
	const uint32_t *v;
	size_t nr; /* 0: any */
};

struct pev_time_range {
	uint64_t since_ns, until_ns; /* [since, until); UINT64_MAX: no end */
};

/* A sample has to satisfy every list, and one entry of it. All is borrowed. */
struct pev_filter {
	/* Tested on each record: those that fail count nowhere. */
	struct pev_filter_numbers cpus;
	struct pev_filter_names events;
	/* In the time of the reader. Give the whole span to pev_reader_set_time(), too:
	 * that is where the speed is. */
	const struct pev_time_range *times;
	size_t nr_times; /* 0: any */
	/* What fails these still counts in the ->all_samples of its event, as in perf. */
	struct pev_filter_names comms;
	struct pev_filter_numbers pids, tids;
	struct pev_filter_names cgroups; /* paths; those below them count, too */
	/* Of where the sample was, not of its callers. */
	struct pev_filter_names dsos; /* paths or file names */
	struct pev_filter_names symbols;
};

/* Whether a list lets something through; an empty one lets everything. A NULL name is in no list.
 */
bool pev_filter_has_name(const struct pev_filter_names *list, const char *name);
bool pev_filter_has_number(const struct pev_filter_numbers *list, uint32_t number);
bool pev_filter_has_time(const struct pev_filter *f, uint64_t time_ns);
bool pev_filter_has_cgroup(const struct pev_filter_names *list, const char *path);
bool pev_filter_has_dso(const struct pev_filter_names *list, const char *path,
			const char *short_name);
