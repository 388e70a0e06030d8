/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events as a person asked for them: what to count, how it is spelled, how it is grouped. Nothing
 * is opened here. */
#pragma once

#include "base/err.h"
#include "format/abi.h"

#include <stdbool.h>
#include <stddef.h>

/* One event. ->attr holds what its spelling says; sampling options of the session are laid over it
 * later (recorder/config.c). */
struct pev_event {
	struct pev_attr attr;
	char *name;    /* as perf prints it: "cycles:P", "sched:sched_switch", "mem:0x1234/8:rw" */
	size_t leader; /* index in the list of the group's leader; its own index when it leads or
			  stands alone */
	char *group_name; /* NAME of NAME:{...} on a leader, else NULL */
	char *filter;     /* --filter for a tracepoint, else NULL */
	char *pmu;  /* name of the PMU below /sys/bus/event_source/devices for pmu/.../ events, else
		       NULL */
	char *cpus; /* the PMU's cpumask file, e.g. "0,64", NULL when it has none: all CPUs */
	char *path; /* file of a uprobe; attr.config1 points to it while it is open */
	char *unit; /* from the PMU's events/NAME.unit, else NULL */
	double scale;       /* from events/NAME.scale, else 1.0 */
	bool precise_max;   /* :P: the highest precise_ip that the kernel takes */
	bool has_period;    /* the spelling itself fixed attr.sample_period (period=, or freq= with
			       PEV_ATTR_FREQ) */
	bool may_fall_back; /* the default event: cycles:P turns into cpu-clock where there is no
			       PMU */
	bool tracking;      /* the dummy event that carries the side-band */
};

struct pev_evlist {
	struct pev_event *events;
	size_t nr;
};

/*
 * Appends the events of @spec, spelled as perf's -e takes them, to @list. -EINVAL for a spelling
 * nobody knows, -ENOENT for a PMU, event or tracepoint that this machine does not have, -EACCES
 * when tracefs or sysfs cannot be read; each with a sentence that says what to do.
 */
int pev_evlist_parse(struct pev_evlist *list, const char *spec, struct pev_err *err);

/* Sets the --filter of the events that the last pev_evlist_parse() appended; -EINVAL when none of
 * them is a tracepoint. */
int pev_evlist_filter(struct pev_evlist *list, const char *filter, struct pev_err *err);

void pev_evlist_done(struct pev_evlist *list);
