/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The event names that need no PMU to be looked up: hardware, software and cache events. */
#pragma once

#include "recorder/near.h"

#include <stdint.h>

struct pev_named_event {
	uint32_t type; /* PEV_TYPE_HARDWARE, PEV_TYPE_SOFTWARE or PEV_TYPE_HW_CACHE */
	uint64_t config;
};

/*
 * Looks @name up, in either case: "cycles", "cs", "L1-dcache-load-misses". -ENOENT for any other
 * name; -EINVAL for a cache that cannot be asked that, as "iTLB-stores".
 */
int pev_named_event_find(const char *name, struct pev_named_event *ret);

/* Lets all the names compete, cache events in their usual spelling. */
void pev_named_event_offer(struct pev_near *near);
