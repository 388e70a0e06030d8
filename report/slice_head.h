/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The head of a trace made out of others: their events as one list, and what they say of the
 * machine. */
#pragma once

#include "base/err.h"
#include "format/reader.h"
#include "report/index.h"

#include <stdbool.h>
#include <stdint.h>

struct pev_slice_event {
	struct pev_trace_event event; /* ->ids and ->name are owned */
	uint32_t cap_ids;
	uint32_t last_trace; /* that an event was taken from */
};

/* Zero-initialise to start, pev_slice_head_done() to end. */
struct pev_slice_head {
	struct pev_slice_event *events;
	uint32_t nr_events, cap_events;
	size_t *known;                /* owned; by trace: how many events it had */
	struct pev_index ids;         /* to the events */
	struct pev_trace_event *list; /* owned: ->events as the writer takes them */
	struct pev_features features; /* as the first trace has them, with ->events */
};

void pev_slice_head_done(struct pev_slice_head *h);

/*
 * Takes in what the heads of all traces of @reader say now. Events of the same attributes and name
 * are one. -EINVAL with a sentence when the traces cannot be one: they are of different machines,
 * or the ids of their events cannot be told apart. -ENOMEM.
 */
int pev_slice_head_make(struct pev_slice_head *h, const struct pev_reader *reader,
			struct pev_err *err);

/* Whether the event with @index of @trace was there when the head was made: a pipe may tell of one
 * later. */
bool pev_slice_head_knows(const struct pev_slice_head *h, uint32_t trace, uint32_t index);
