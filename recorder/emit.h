/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Records that we make ourselves, gathered and handed to a sink in the shape that the readers of a
 * trace expect of one event's side-band. */
#pragma once

#include "base/buf.h"
#include "format/record.h"
#include "recorder/sink.h"

#include <stdint.h>

/* Fill the first five, zero the rest, pev_emit_done() to end. */
struct pev_emit {
	const struct pev_attr *attr; /* of the tracking event; borrowed */
	const struct pev_sink *sink; /* borrowed */
	uint64_t id;                 /* the tracking event's id, for the trailer */
	uint64_t time;               /* for the trailer: 0 for what was there before */
	uint64_t records;            /* put so far */
	struct pev_buf buf;          /* owned: not handed over yet */
};

/*
 * Encodes @rec with a trailer that says @pid, @tid, ->time, ->id and CPU 0 (what rec->id holds is
 * overwritten), and hands full buffers to the sink. 0, -ENOMEM, -E2BIG when the record is too big
 * for its u16 size, or what the sink returned.
 */
int pev_emit(struct pev_emit *e, uint32_t pid, uint32_t tid, struct pev_record *rec);

/* Hands over what is gathered; call it at the end, and before somebody else writes to the sink. */
int pev_emit_flush(struct pev_emit *e);

void pev_emit_done(struct pev_emit *e);
