/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From what a person asked to record to the CPUs, threads and cgroups to open counters on. */
#pragma once

#include "recorder/counters.h"

void pev_target_done(struct pev_target *t);

/*
 * Resolves the target of @opts. @workload_pid: of the command that was prepared, 0: none. A target
 * that is nothing but a command or processes has their threads on every online CPU. -ESRCH for a
 * process that does not exist, -ENOENT for a cgroup.
 */
int pev_target_resolve(const struct pev_record_opts *opts, size_t nr_events, pid_t workload_pid,
		       struct pev_target *ret, struct pev_err *err);

/* True when whole CPUs are recorded, not single tasks. */
bool pev_target_system_wide(const struct pev_target *t);
