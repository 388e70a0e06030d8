/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lays the options of a recording over the attributes of its events. */
#pragma once

#include "recorder/kernel_features.h"
#include "recorder/options.h"

/*
 * Appends the tracking event, a software dummy that counts nothing and carries the side-band, and
 * gives every event of @list its sampling attributes, as @opts asks and @kernel allows. What was
 * asked for by name and the kernel lacks is -EOPNOTSUPP with a sentence.
 */
int pev_config_apply(struct pev_evlist *list, const struct pev_record_opts *opts,
		     const struct pev_kernel_features *kernel, struct pev_err *err);

/* Excludes kernel and hypervisor from all events: what remains allowed when perf_event_paranoid
 * forbids the rest. Names get perf's ":u". */
int pev_config_user_only(struct pev_evlist *list);

/* Turns the default event cycles:P into cpu-clock. */
int pev_config_cpu_clock(struct pev_event *event);

/* kernel.perf_event_max_sample_rate, or @otherwise when it cannot be read. */
uint64_t pev_max_sample_rate(uint64_t otherwise);
