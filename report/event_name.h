/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an event is called. */
#pragma once

#include "format/trace.h"

/*
 * The name that the trace has for it; without one, what perf makes of its attributes: "cycles:u",
 * "L1-dcache-load-misses", "raw 0x1a8", or the tracepoint that TRACING_DATA has under its number.
 * To be freed; NULL without memory.
 */
char *pev_event_name(const struct pev_trace_event *event, const struct pev_features *features);
