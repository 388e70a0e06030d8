// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format/clock.h"

#include "base/checked.h"

#include <string.h>
#include <time.h>

/*
 * By how much the distance between a clock and the time of day may differ from one trace to another
 * of the same boot. NTP turns CLOCK_REALTIME by at most 500 ppm, 43 s in a day; the distance
 * changes with every boot by the time that the machine was up before.
 */
#define WALL_SLACK (60 * PEV_NSEC_PER_SEC)

struct pev_clock pev_clock_of(const struct pev_trace_head *head)
{
	struct pev_clock c = { .id = PEV_CLOCK_PERF };
	const struct pev_features *const f = head->features;

	if (head->nr_events && head->events[0].attr.flags & PEV_ATTR_USE_CLOCKID)
		c.id = head->events[0].attr.clockid;
	if (c.id == CLOCK_REALTIME) {
		c.has_wall = true;
	} else if (c.id != PEV_CLOCK_PERF && pev_features_has(f, PEV_FEAT_CLOCK_DATA) &&
		   (int32_t)f->clock_data.clockid == c.id) {
		c.has_wall = true;
		c.at_ns = f->clock_data.clockid_ns;
		c.wall_ns = f->clock_data.tod_ns;
	}
	return c;
}

/* @ns + @to - @from, or 0 where that would be negative. */
static uint64_t shift(uint64_t ns, uint64_t from, uint64_t to)
{
	if (ns >= from)
		return to + (ns - from);
	return from - ns > to ? 0 : to - (from - ns);
}

uint64_t pev_clock_to_wall(const struct pev_clock *c, uint64_t ns)
{
	return shift(ns, c->at_ns, c->wall_ns);
}

uint64_t pev_clock_from_wall(const struct pev_clock *c, uint64_t wall_ns)
{
	return shift(wall_ns, c->wall_ns, c->at_ns);
}

const char *pev_clock_name(int32_t id)
{
	switch (id) {
	case PEV_CLOCK_PERF:
		return "perf's own clock";
	case CLOCK_REALTIME:
		return "CLOCK_REALTIME";
	case CLOCK_MONOTONIC:
		return "CLOCK_MONOTONIC";
	case CLOCK_MONOTONIC_RAW:
		return "CLOCK_MONOTONIC_RAW";
	case CLOCK_BOOTTIME:
		return "CLOCK_BOOTTIME";
	case CLOCK_TAI:
		return "CLOCK_TAI";
	default:
		return "a clock of unknown number";
	}
}

static bool same_host(const struct pev_features *a, const struct pev_features *b)
{
	return !a->hostname || !b->hostname || !strcmp(a->hostname, b->hostname);
}

bool pev_clock_same(const struct pev_trace_head *a, const struct pev_trace_head *b)
{
	const struct pev_clock x = pev_clock_of(a), y = pev_clock_of(b);
	uint64_t of_x, of_y;

	if (x.id != y.id)
		return false;
	if (x.id == CLOCK_REALTIME)
		return true;
	if (!same_host(a->features, b->features))
		return false;
	if (!x.has_wall || !y.has_wall)
		return true;
	of_x = x.wall_ns - x.at_ns;
	of_y = y.wall_ns - y.at_ns;
	return of_x - of_y <= WALL_SLACK || of_y - of_x <= WALL_SLACK;
}
