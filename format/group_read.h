/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples that read counters (PERF_SAMPLE_READ, "{a,b}:S"): one record that is a sample of each
 * counter in it. */
#pragma once

#include <stdint.h>

/*
 * A record tells the value of each counter of the group since the counter was opened; how much it
 * counts for is the difference to the record before. (perf: session.c, deliver_sample_value().)
 */
struct pev_group_read;

struct pev_group_read *pev_group_read_free(struct pev_group_read *g);

/*
 * By how much the counter @id went on to @value since the call before. With @tid, where the
 * counters of threads go under one id (attr.inherit with PERF_SAMPLE_TID, Linux 6.12), of that
 * thread; else 0. *g is allocated by the first call; -ENOMEM.
 */
int pev_group_read_step(struct pev_group_read **g, uint64_t id, uint32_t tid, uint64_t value,
			uint64_t *ret);
