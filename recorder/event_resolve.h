/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the spelling of one event to the events that it means on this machine. */
#pragma once

#include "recorder/event.h"
#include "recorder/pmu.h"

/* What the machine has, read once it is needed. */
struct pev_resolver {
	struct pev_event_sources sources;
	struct pev_pmus pmus;
	bool has_pmus; /* ->pmus is read */
	char *tracefs; /* NULL until it is found */
};

void pev_resolver_done(struct pev_resolver *resolver);
#define _cleanup_resolver_ _cleanup_(pev_resolver_done)

/* One event, cut up by the slashes in it but not by colons: what these part depends on the names
 * before them. */
struct pev_spelling {
	const char *name;      /* as perf would name it */
	const char *base;      /* "cycles:u", "cpu", "sched:sched_switch", "mem:0x1000/8:rw" */
	const char *terms;     /* "event=0x3c", NULL when there are no slashes */
	const char *modifiers; /* behind the second slash, else "" */
};

/*
 * Appends to @list what @spelling means, modifiers and terms applied: one event, or several for a
 * glob, for a name that several PMUs know, and for a generic name on a machine with more than one
 * kind of CPU. Errors are those of pev_evlist_parse(); @list may then have grown.
 */
int pev_resolve(struct pev_resolver *resolver, const struct pev_spelling *spelling,
		struct pev_evlist *list, struct pev_err *err);

/* The number of @event's PMU among those of several kinds of CPUs, -1 for all other events. */
int pev_resolver_cpu_kind(const struct pev_resolver *resolver, const struct pev_event *event);
