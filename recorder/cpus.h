/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sets of CPUs in the kernel's list notation: "0-3,8". */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Far above any machine; keeps a typo from asking for gigabytes. */
#define PEV_CPUS_MAX 65536

/* Ascending, each once. */
struct pev_cpus {
	int *cpus;
	size_t nr;
};

void pev_cpus_done(struct pev_cpus *c);
#define _cleanup_cpus_ _cleanup_(pev_cpus_done)

/* -EINVAL for text that is no list, -E2BIG for a CPU number of PEV_CPUS_MAX or more. An empty text
 * is an empty set. */
int pev_cpus_parse(const char *text, struct pev_cpus *ret, struct pev_err *err);

/* The CPUs that are online now (/sys/devices/system/cpu/online). */
int pev_cpus_online(struct pev_cpus *ret, struct pev_err *err);

bool pev_cpus_has(const struct pev_cpus *c, int cpu);
