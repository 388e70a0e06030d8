/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What this kernel's perf_event_open(2) knows, found by asking it. */
#pragma once

#include "format/abi.h"

/*
 * A newer attr field or bit makes an older kernel answer EINVAL (an unknown bit) or E2BIG (a longer
 * attr that is not zero). Each is tried alone, on a dummy event that counts nothing of this
 * process, so that one missing feature costs only itself. Refusals for lack of rights (EACCES,
 * EPERM) come after the attr was understood and count as "known".
 */
struct pev_kernel_features {
	uint64_t attr_flags;  /* PEV_ATTR_*: of those that came after Linux 3.12, the ones known */
	uint64_t sample_type; /* PEV_SAMPLE_*: likewise */
	uint64_t read_format; /* PEV_FORMAT_*: likewise */
};

void pev_kernel_features_probe(struct pev_kernel_features *ret);

/* perf_event_open(2), which glibc does not wrap: an fd or a negative errno. @attr->size is set to
 * what is meaningful. */
int pev_perf_event_open(struct pev_attr *attr, int pid, int cpu, int group_fd, unsigned long flags);
