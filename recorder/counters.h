/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The open counters of a recording: every event on every CPU and thread, and the rings that they
 * share. */
#pragma once

#include "format/ids.h"
#include "recorder/config.h"
#include "recorder/ring.h"

/* One open perf_event fd. */
struct pev_counter {
	int fd;
	uint32_t event; /* index in the event list */
	uint32_t ring;  /* index in ->rings */
	int cpu;
	pid_t tid;   /* -1: all tasks */
	uint64_t id; /* the kernel's */
};

struct pev_counters {
	struct pev_counter *counters;
	size_t nr;
	struct pev_ring *rings; /* one per CPU */
	size_t nr_rings;
	struct pev_ids ids;
	uint8_t *scratch; /* that of the rings */
};

/* Where to open: one row per CPU, one column per thread. */
struct pev_target {
	struct pev_cpus cpus;
	pid_t *tids; /* { -1 } for whole CPUs */
	size_t nr_tids;
	int *cgroup_fds; /* per event of the list; -1: no cgroup; NULL: none has one */
	size_t nr_cgroup_fds;
};

/* What was given up so that the events could be opened; for one line each to the user. */
struct pev_downgrades {
	bool cpu_clock; /* no PMU: cycles:P became cpu-clock */
	bool user_only; /* perf_event_paranoid: no kernel samples */
	int paranoid;
	size_t gone;    /* threads that ended before they could be opened */
	size_t offline; /* CPUs that went away meanwhile */
};

/*
 * Opens all events of @list on @target and one ring per CPU of @opts->ring_bytes. Events are
 * disabled but for the tracking event. On refusal: falls back where the event or the rights allow
 * it (told in @ret_downgrades), else the errno and a sentence that names the event, the reason and
 * the remedy.
 */
int pev_counters_open(struct pev_evlist *list, const struct pev_record_opts *opts,
		      const struct pev_target *target, struct pev_counters *ret,
		      struct pev_downgrades *ret_downgrades, struct pev_err *err);

/* Closes everything. */
void pev_counters_done(struct pev_counters *c);

/* The kernel's ids of all counters of the event at @event in the list, in the order they were
 * opened; *ret is heap-allocated, and not NULL for none. -ENOMEM. */
int pev_counters_ids(const struct pev_counters *c, size_t event, uint64_t **ret, size_t *ret_nr);

/* Enables or disables all counters of events that sample (not the tracking event). */
int pev_counters_enable(const struct pev_counters *c, const struct pev_evlist *list, bool on);

/* The kernel's count of records it could not write for this counter, by PERF_FORMAT_LOST; 0 where
 * it does not count them. */
uint64_t pev_counter_lost(const struct pev_counter *counter, const struct pev_attr *attr);
