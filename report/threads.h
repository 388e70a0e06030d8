/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cells of a profile by thread and time, for formats that show threads. */
#pragma once

#include "report/profile.h"

#include <stdint.h>

/* What keys have to be made of. */
#define PEV_THREADS_KEY (PEV_KEY_COMM | PEV_KEY_PID | PEV_KEY_TID | PEV_KEY_TRACE | PEV_KEY_TIME)

/* One thread, and one event that it had samples of. */
struct pev_thread {
	uint32_t event, trace, pid, tid;
	const char *comm;        /* the last name it had in the profile */
	const char *process;     /* the name of its first thread, or of its own */
	uint32_t first_cell, nr; /* in ->cells */
};

struct pev_threads {
	uint32_t *cells;      /* owned: numbers of cells with samples, by thread and then time */
	struct pev_thread *v; /* owned: by event, trace, pid, tid */
	uint32_t nr;
};

void pev_threads_done(struct pev_threads *t);

/* -ENOMEM. */
int pev_threads_make(struct pev_threads *t, const struct pev_profile_data *d);
