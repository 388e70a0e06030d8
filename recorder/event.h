/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Events as a person asked for them: what to count, how it is spelled, how it is grouped. Nothing
 * is opened here. */
#pragma once

/*
 * The spelling is that of perf-record(1) -e and perf-list(1); names and attr fields are those that
 * perf gives to the same spelling. Where perfs of different age do not agree, the newest is
 * followed: exclude_guest is set by :H alone (perf before 6.14 set it for nearly every event), the
 * generic names are taken in either case, and a cache event keeps its modifiers in its name. Two
 * things are ours: the terms of uprobe/path=FILE,offset=N/ and kprobe/func=NAME/, for which perf
 * has no spelling, and that a term given twice is not ORed together but the last one wins.
 */

#include "base/err.h"
#include "format/abi.h"

#include <stdbool.h>
#include <stddef.h>

/* What an event's own terms say of a thing that the session decides otherwise. */
enum pev_choice {
	PEV_CHOICE_SESSION = 0, /* the event says nothing */
	PEV_CHOICE_NO,
	PEV_CHOICE_YES,
};

enum pev_callgraph {
	PEV_CALLGRAPH_NONE,
	PEV_CALLGRAPH_FP,
	PEV_CALLGRAPH_DWARF,
	PEV_CALLGRAPH_LBR,
};

/* What the kernel accepts: the largest multiple of 8 that a u16 holds. It cuts a dump so that the
 * sample fits header.size, but only with what lies before it: PERF_SAMPLE_REGS_INTR, which lies
 * behind, would overflow it (Linux 6.18). */
#define PEV_MAX_STACK_BYTES 65528

/* One event. ->attr holds what its spelling says, with attr.size the smallest that holds it;
 * sampling options of the session are laid over it later (recorder/config.c). */
struct pev_event {
	struct pev_attr attr;
	char *name;       /* as perf prints it: "cycles:P", "sched:sched_switch", "mem:0x1234:rw" */
	size_t leader;    /* index in the list of the group's leader; its own index when it leads or
			     stands alone */
	char *group_name; /* NAME of NAME:{...} on a leader, else NULL */
	char *filter;     /* --filter for a tracepoint, else NULL */
	char *pmu;  /* name of the PMU below /sys/bus/event_source/devices for pmu/.../ events, else
		       NULL */
	char *cpus; /* the PMU's cpumask or cpus file, e.g. "0,64": the CPUs to open it on; NULL
		       when it has none: all CPUs */
	char *path; /* file of a uprobe or function of a kprobe; attr.config1 points to it while it
		       is open */
	char *unit; /* from the PMU's events/NAME.unit, else NULL */
	double scale;       /* from events/NAME.scale, else 1.0 */
	bool precise_max;   /* :P: the highest precise_ip that the kernel takes; the attr says 3, to
			       be lowered */
	bool sample_read;   /* :S: samples carry the counts of the whole group (PEV_SAMPLE_READ,
			       PEV_FORMAT_GROUP), and only the leader samples */
	bool has_period;    /* the spelling itself fixed attr.sample_period (period=, or freq= with
			       PEV_ATTR_FREQ). Without it a non-zero attr.sample_period (1, for
			       tracepoints, probes and breakpoints) yields to -c and -F of the session
			     */
	bool may_fall_back; /* the default event: cycles:P turns into cpu-clock where there is no
			       PMU */
	bool tracking;      /* the dummy event that carries the side-band */

	/* Terms that overrule the session for this event; max-stack= is in
	 * attr.sample_max_stack. */
	enum pev_choice want_inherit; /* inherit, no-inherit */
	bool has_callgraph;           /* call-graph= was given: */
	enum pev_callgraph callgraph;
	uint32_t stack_bytes; /* stack-size=, a multiple of 8; 0: the session's */
};

/* Zero-initialise to start, pev_evlist_done() to end. */
struct pev_evlist {
	struct pev_event *events; /* owned, and so is all that they point to */
	size_t nr;
	size_t cap;  /* allocated */
	size_t last; /* index of the first event that the last pev_evlist_parse() appended */
};

/* Where the machine's events are described; tests put trees of their own here. */
struct pev_event_sources {
	const char *pmus;    /* /sys/bus/event_source/devices */
	const char *tracefs; /* NULL: looked for (pev_tracefs_find()) once it is needed */
};

#define PEV_EVENT_SOURCES_DEFAULT \
	((struct pev_event_sources){ .pmus = "/sys/bus/event_source/devices" })

/*
 * Appends the events of @spec, spelled as perf's -e takes them, to @list. -EINVAL for a spelling
 * nobody knows, -ENOENT for a PMU, event or tracepoint that this machine does not have, -EACCES
 * when tracefs or sysfs cannot be read, -E2BIG for a spelling of absurd length; each with a
 * sentence that says what to do. On failure the list is as it was.
 */
int pev_evlist_parse(struct pev_evlist *list, const char *spec, struct pev_err *err);

/* The same, from a machine described by @sources. */
int pev_evlist_parse_from(struct pev_evlist *list, const char *spec,
			  const struct pev_event_sources *sources, struct pev_err *err);

/*
 * Sets the --filter of the tracepoints that the last pev_evlist_parse() appended; -EINVAL when none
 * of them is a tracepoint. A second filter narrows the first, as with perf: both must hold. The
 * kernel checks the text only when the event is opened.
 */
int pev_evlist_filter(struct pev_evlist *list, const char *filter, struct pev_err *err);

void pev_evlist_done(struct pev_evlist *list);

/* For those who build a list: a new event at the end, zeroed but for ->leader (itself), ->scale and
 * attr.size; NULL without memory. */
struct pev_event *pev_evlist_add(struct pev_evlist *list);

/* Drops the events from index @nr on. */
void pev_evlist_truncate(struct pev_evlist *list, size_t nr);
