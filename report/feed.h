/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From reader to resolver: what traces say of processes and files reaches those who name code. */
#pragma once

#include "base/err.h"
#include "format/reader.h"
#include "format/record.h"
#include "unwind/resolver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise, pev_feed_init() to start, pev_feed_done() to end. */
struct pev_feed {
	struct pev_reader *reader;     /* borrowed */
	struct pev_resolver *resolver; /* borrowed */
	uint32_t first_trace;          /* added to the reader's numbers of traces */
	bool *stale;                   /* by trace: its head may say more than was passed on */
	size_t nr_traces;
	struct pev_record exit; /* to be told before the next record; type 0: none */
	uint32_t exit_trace;
};

/* -ENOMEM. */
int pev_feed_init(struct pev_feed *f, struct pev_reader *reader, struct pev_resolver *resolver,
		  uint32_t first_trace, struct pev_err *err);
void pev_feed_done(struct pev_feed *f);

/* pev_reader_next(); what the record says is told to the resolver before it is given out, but for
 * the end of a task, which is told behind it: whose end it is has a name yet. The number of its
 * trace is the reader's. */
int pev_feed_next(struct pev_feed *f, struct pev_reader_record *ret, struct pev_err *err);
