/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The drain: from the rings into blocks, every record decoded, nothing allocated. */
#pragma once

#include "format/record.h"
#include "format/writer.h"
#include "recorder/counters.h"

struct pev_drain_stats {
	uint64_t records;
	uint64_t samples;
	uint64_t lost_records; /* sum of what LOST records tell */
	uint64_t lost_samples; /* sum of what the kernel's LOST_SAMPLES records tell */
	uint64_t throttles;
	uint64_t unknown; /* records of a type or event we do not know; passed on or dropped, see
			     below */
	uint64_t undecodable;                     /* records that contradict themselves: dropped */
	uint64_t trimmed_bytes;                   /* rubbish behind stack dumps that was left out */
	uint64_t first_sample_ns, last_sample_ns; /* in the clock of the trace */
};

/* What was lost in one place: per ring (CPU) and per event. */
struct pev_loss {
	uint64_t lost_records;
	uint64_t samples;
};

struct pev_drain {
	/* Borrowed */
	const struct pev_evlist *events;
	struct pev_counters *counters;
	struct pev_block *block;
	struct pev_writer *writer;
	/* A side-band record was seen: for whoever keeps a table of it. May be NULL. */
	void (*on_state)(void *userdata, const struct pev_record *rec);
	void *userdata;

	/* Owned */
	struct pev_loss *ring_loss;  /* per ring */
	struct pev_loss *event_loss; /* per event */
	struct pev_drain_stats stats;
	struct pev_record record;
	uint64_t block_since_ns; /* CLOCK_MONOTONIC when the first record came into the block; 0:
				    empty */
	bool round_due;          /* something was read since the last FINISHED_ROUND */
};

/* ->events, ->counters, ->block, ->writer are set by the caller before. -ENOMEM. */
int pev_drain_init(struct pev_drain *d);
void pev_drain_done(struct pev_drain *d);

/* Drains ring @index as far as it is filled now. Errors are the writer's. */
int pev_drain_ring(struct pev_drain *d, size_t index, struct pev_err *err);

/*
 * Drains all rings, and then tells readers that the round is complete (FINISHED_ROUND): what was
 * written before the round before this one started is all there, so they may sort and pass on up to
 * there.
 */
int pev_drain_all(struct pev_drain *d, struct pev_err *err);

/* Puts records that we made ourselves into the block, in order with the others. */
int pev_drain_put(struct pev_drain *d, const void *records, size_t size, struct pev_err *err);

/* Writes out the block when it is older than @max_age_ns at @now_ns (CLOCK_MONOTONIC). 0: in any
 * case. */
int pev_drain_flush(struct pev_drain *d, uint64_t now_ns, uint64_t max_age_ns, struct pev_err *err);
