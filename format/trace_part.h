/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of the trace reader share; others use format/trace.h. */
#pragma once

#include "format/ids.h"
#include "format/input.h"
#include "format/trace.h"

#include <zstd.h>

struct pev_trace {
	struct pev_trace_options options;
	struct pev_input in;
	struct pev_trace_head head;
	struct pev_trace_damage damage;

	struct pev_trace_event *events; /* owned, with what they point to */
	size_t nr_events;
	struct pev_ids ids;
	struct pev_features features;

	uint64_t end;     /* offset in the file where data ends; UINT64_MAX when only the end of the
			     input tells */
	bool finished;    /* no going on */
	uint64_t pending; /* bytes of the record handed out last, still in front of the input */

	/* The COMPRESSED record being read, unpacked. */
	ZSTD_DCtx *dctx;    /* NULL before the first, and at the end */
	struct pev_buf raw; /* with what was carried over from the record before, at its front */
	size_t raw_pos;
	bool raw_ours;       /* it is a block of ours */
	uint64_t raw_offset; /* in the file, of the COMPRESSED record */

	uint64_t skipped_blocks, skipped_samples; /* by options.skip_block */
};

/* Adds an event; takes ownership of nothing. -ENOMEM. */
int pev_trace_add_event(struct pev_trace *t, const struct pev_attr *attr, const uint64_t *ids,
			size_t nr_ids, struct pev_err *err);

/* COMPRESSED2 starts with its header and a u64 data_size. */
#define PEV_COMPRESSED2_HEAD 16

/* No record of any perf has a type as high as this. */
#define PEV_TRACE_TYPES_MAX 256

/* Forgets all events and features. */
void pev_trace_forget_head(struct pev_trace *t);

/*
 * Learns from one of the records that pipe mode has in place of tables: ATTR, EVENT_UPDATE,
 * FEATURE, TRACING_DATA (whose payload of @payload_size bytes is at
 * @payload). 1 when it was one of those; 0 otherwise.
 */
int pev_trace_learn(struct pev_trace *t, const uint8_t *bytes, const struct pev_rec_hdr *hdr,
		    const uint8_t *payload, size_t payload_size, struct pev_err *err);

/* Reads the head. The input stands at the first record of the data then. */
int pev_trace_read_head(struct pev_trace *t, struct pev_err *err);

/* Copies the header at @p to *ret in host byte order. */
void pev_trace_hdr(const struct pev_trace *t, const uint8_t *p, struct pev_rec_hdr *ret);

/* Bytes that follow the record outside of it; @bytes: the first of it, 16 if it has so many. */
uint64_t pev_trace_payload(const struct pev_trace *t, const uint8_t *bytes, size_t have,
			   const struct pev_rec_hdr *hdr);

/*
 * The first block of ours at @from or behind it that is whole, to go on at after damage. 1 and its
 * offset; 0 when there is none, or none can be looked for. The input stands where it stood.
 */
int pev_trace_find_block(struct pev_trace *t, uint64_t from, uint64_t *ret, struct pev_err *err);

/* Bytes from the record that the input stands in front of, which is damaged and says that it has
 * @size of them, to where to go on: its size may be wrong, too. */
uint64_t pev_trace_resume(struct pev_trace *t, uint64_t size);

/*
 * Unpacks the COMPRESSED record at @bytes, @hdr its header, into ->raw. 0; on damage ->raw is empty
 * and the error says what is wrong: -EBADMSG, or -E2BIG or -ENOMEM when it may be right.
 */
int pev_trace_unpack(struct pev_trace *t, const uint8_t *bytes, size_t size,
		     const struct pev_rec_hdr *hdr, struct pev_err *err);
