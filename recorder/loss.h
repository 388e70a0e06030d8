/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The account of what the kernel could not write, at the end of a recording. */
#pragma once

#include "recorder/drain.h"

/*
 * What the kernel counted as lost per counter (PERF_FORMAT_LOST), written to the trace as
 * LOST_SAMPLES that carry the counter's id and CPU, the way perf record writes it: readers take
 * their totals from these. The LOST records between the samples tell when it happened; a last one
 * per ring tells of what was lost after them, so that both add up. @event_lost, one entry per
 * event, gets what each lost, *ret_lost all of it. Errors are the writer's.
 */
int pev_loss_write(struct pev_drain *d, uint64_t *event_lost, uint64_t *ret_lost,
		   struct pev_err *err);
