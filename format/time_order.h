/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Records of a trace wait here for their turn in time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A record that waits, or whose turn it is. */
struct pev_waiting {
	const uint8_t *bytes;
	uint32_t size;
	uint32_t tag; /* whatever the caller said */
	uint64_t time;
	uint64_t offset; /* likewise */
};

struct pev_time_order;

/* -ENOMEM. */
int pev_time_order_new(struct pev_time_order **ret);
struct pev_time_order *pev_time_order_free(struct pev_time_order *o);

/* Copies @rec and its bytes. Only when pev_time_order_take() has nothing (more) to give. -ENOMEM.
 */
int pev_time_order_put(struct pev_time_order *o, const struct pev_waiting *rec);

/*
 * A round is finished: whatever is put from now on is at least as late as what was put before the
 * round before this one ended. So the turn is that of all records up to the latest time which had
 * been put by then. This is what FINISHED_ROUND means (perf's ordered-events.c).
 */
void pev_time_order_round(struct pev_time_order *o);

/* Nothing more will be put: the turn is that of all. */
void pev_time_order_end(struct pev_time_order *o);

/*
 * The next record whose turn it is, by time, those of the same time as they were put; false when
 * there is none (yet). *ret is valid until the next call of any function but pev_time_order_peek().
 */
bool pev_time_order_take(struct pev_time_order *o, struct pev_waiting *ret);

/* Time of the record that pev_time_order_take() would give; false when it would give none. */
bool pev_time_order_peek(struct pev_time_order *o, uint64_t *ret_time);

/* Bytes that waited at the same time, at most: of the records and of what is kept about them. */
uint64_t pev_time_order_max_bytes(const struct pev_time_order *o);
