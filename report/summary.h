/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is to be known of traces before their rows are read: how many samples of what, when, and
 * what was lost. */
#pragma once

#include "format/reader.h"
#include "report/profile.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What went missing on one CPU, or is not told on which (PEV_CPU_UNKNOWN). */
struct pev_cpu_loss {
	uint32_t cpu;
	uint64_t lost;      /* samples, as the kernel counted them, or records */
	uint64_t throttles; /* times that it stopped an event for its rate */
};

struct pev_summary {
	uint64_t samples;            /* that the filter let through */
	uint64_t first_ns, last_ns;  /* of them */
	struct pev_clock clock;      /* that these are by */
	struct pev_cpu_loss *losses; /* owned; by CPU */
	size_t nr_losses;
	uint64_t lost, filtered,
		throttles; /* of all CPUs; ->filtered by a BPF program, on purpose */
};

void pev_summary_done(struct pev_summary *s);

/* To be called when all was read. -ENOMEM. */
int pev_summary_make(struct pev_summary *s, const struct pev_reader *reader,
		     const struct pev_profile_data *d);

/* Prints it as lines with "# " in front of them, which programs that read perf's reports skip. */
void pev_summary_print(const struct pev_summary *s, const struct pev_reader *reader,
		       const struct pev_profile_data *d, FILE *out);
