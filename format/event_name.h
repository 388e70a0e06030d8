/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What perf calls an event that nobody gave a name. */
#pragma once

#include "format/feature.h"

/*
 * The name of an event by its attributes alone, heap-allocated: "cycles:u",
 * "L1-dcache-load-misses", "raw 0x1c2"; that of a tracepoint by the TRACING_DATA among @f, where
 * its config stands for "sched:sched_switch"; that of another PMU's by PMU_MAPPINGS:
 * "uprobe/config=0x1/". As perf's evsel__name(), for traces without EVENT_DESC: pipes, and perf
 * before 3.2. NULL without memory.
 */
char *pev_event_guess_name(const struct pev_attr *attr, const struct pev_features *f);

/* The tracepoint of number @id in the bytes of TRACING_DATA: "system:name", heap-allocated; NULL
 * when it is not there. */
char *pev_tracing_data_name(const struct pev_feat_blob *tracing_data, uint64_t id);
