/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The events of several traces as one list. */
#pragma once

#include "format/reader.h"
#include "report/profile.h"

struct pev_events_map {
	uint32_t *of; /* by the event's index in its trace; UINT32_MAX: not met yet */
	size_t nr;
};

/* Zero-initialise to start, pev_events_done() to end. */
struct pev_events {
	struct pev_profile_event *events; /* ->name is owned */
	uint32_t nr, cap;
	struct pev_events_map *maps; /* by trace */
	size_t nr_maps;
};

void pev_events_done(struct pev_events *e);

/* A new reader: its traces have nothing to do with those before. Events stay. */
void pev_events_next_reader(struct pev_events *e);

/* The number of the event that @rec is of. -ENOMEM. */
int pev_events_of(struct pev_events *e, const struct pev_reader *reader,
		  const struct pev_reader_record *rec, uint32_t *ret);
