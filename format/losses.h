/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where samples went missing, by trace, event and CPU. */
#pragma once

#include "format/ids.h"
#include "format/record.h"

#include <stddef.h>
#include <stdint.h>

#define PEV_CPU_UNKNOWN UINT32_MAX

struct pev_loss {
	uint32_t trace, event;
	uint32_t cpu;          /* PEV_CPU_UNKNOWN: not told */
	uint64_t lost;         /* records that LOST tells of: the ring was full */
	uint64_t lost_samples; /* LOST_SAMPLES: mostly the same ones, as the kernel counted them */
	uint64_t filtered;     /* LOST_SAMPLES of those that a BPF filter dropped on purpose */
	uint64_t throttles;    /* times that the kernel stopped the event because of its rate */
};

/* Zero-initialise to start. */
struct pev_losses {
	struct pev_loss *v; /* owned; by trace, event, CPU */
	size_t nr, cap;
};

void pev_losses_done(struct pev_losses *l);

/* Counts @rec if it is LOST, LOST_SAMPLES or THROTTLE. -ENOMEM. Beyond some thousands of entries
 * CPUs are not told apart any more. */
int pev_losses_see(struct pev_losses *l, uint32_t trace, uint32_t event, uint32_t cpu,
		   const struct pev_record *rec);

/*
 * Which CPU a loss was on. LOST_SAMPLES that perf writes at the end have an id, but neither time
 * nor CPU in their trailer (__record__save_lost_samples()); what ID_INDEX said about the id tells
 * then.
 */
uint32_t pev_losses_cpu(const struct pev_record *rec, const struct pev_ids *cpus);

/* Learns from an ID_INDEX record: ->ring of each id is its CPU. -ENOMEM. */
int pev_losses_learn(struct pev_ids *cpus, const uint8_t *bytes, size_t size, bool swap);
