/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The facts about this machine that the header of a trace tells: names, CPUs, memory, caches, PMUs.
 */
#pragma once

#include "format/feature.h"

/*
 * Fills what a trace says of the machine it was made on, from uname(2), /proc and /sys, as perf
 * would: HOSTNAME OSRELEASE VERSION ARCH NRCPUS CPUDESC CPUID TOTAL_MEM CPU_TOPOLOGY NUMA_TOPOLOGY
 * PMU_MAPPINGS CACHE MEM_TOPOLOGY CPU_PMU_CAPS HYBRID_TOPOLOGY PMU_CAPS. What the machine does not
 * tell is left out, bit and all, as perf leaves it out. Features that perf 6.12 does not know are
 * not filled: it and older ones warn about each.
 *
 * 0 or -ENOMEM. It reads some ten small files per CPU, most of them in sysfs: not for the hot path.
 */
int pev_host_gather(struct pev_features *f);

/* The same with @root in front of "/proc" and "/sys", for machines that are only files. */
int pev_host_gather_from(const char *root, struct pev_features *f);
