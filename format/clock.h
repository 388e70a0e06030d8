/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the times of a trace mean: by which clock, and when that was by the time of day. */
#pragma once

#include "format/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pev_clock {
	int32_t id;       /* CLOCK_*, or PEV_CLOCK_PERF */
	bool has_wall;    /* the next two are known */
	uint64_t at_ns;   /* a moment by this clock */
	uint64_t wall_ns; /* the same by CLOCK_REALTIME: ns since 1970 */
};

#define PEV_CLOCK_PERF (-1) /* perf's own, where no clockid was asked for: sched_clock() */

/*
 * The clock of a trace: attr.clockid, and the moment that CLOCK_DATA tells (pevrec writes it
 * always, perf with -k). TIME_CONV is no substitute: it relates the clock to the TSC, not to the
 * time of day.
 */
struct pev_clock pev_clock_of(const struct pev_trace_head *head);

/* Between a clock and CLOCK_REALTIME; only with ->has_wall. Times before 1970, or before the clock
 * began, are 0. */
uint64_t pev_clock_to_wall(const struct pev_clock *c, uint64_t ns);
uint64_t pev_clock_from_wall(const struct pev_clock *c, uint64_t wall_ns);

/* "CLOCK_MONOTONIC" and so on, "perf's own clock"; never NULL. */
const char *pev_clock_name(int32_t id);

/*
 * Do two traces tell time by the same clock of the same boot of the same machine? As far as they
 * say: where they do not name their host, or the time of day, that much is taken on trust.
 */
bool pev_clock_same(const struct pev_trace_head *a, const struct pev_trace_head *b);
