/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading a perf.data: its head, then its records one by one, compressed or not, whole or damaged.
 */
#pragma once

#include "base/err.h"
#include "format/block.h"
#include "format/feature.h"
#include "format/record.h"
#include "format/writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A trace being read. Not thread-safe. */
struct pev_trace;

/* What its head says. Everything is the trace's own; of a pipe it may grow while records are read.
 */
struct pev_trace_head {
	bool pipe;       /* pipe mode: unfinished, or written to a pipe; else a regular file */
	bool ours;       /* has the filler record that pevrec starts a trace with */
	bool sealing;    /* a regular header that has no features yet: a seal was interrupted */
	bool cut_tables; /* a regular header, but tables that it points to are cut off. Of ours the
			    head was read from the records before the data then */
	bool swap;       /* of the other byte order */
	int version;     /* of the container: 1 or 2 */
	uint64_t data_offset; /* of the first record that is data */
	uint64_t data_size;   /* as the header says; 0 in pipe mode */
	uint64_t file_size;   /* UINT64_MAX for a stream */
	const struct pev_trace_event *events;
	size_t nr_events;
	const struct pev_features *features;
};

/* A record, and where it was. */
struct pev_trace_record {
	struct pev_rec_hdr hdr; /* in host byte order */
	const uint8_t *bytes;   /* the record as it is in the file; until the next call */
	size_t size;            /* hdr.size, but for a COMPRESSED2 that overflowed it */
	uint64_t offset; /* in the file: of the record, or of the COMPRESSED record that holds it */
	uint64_t payload; /* bytes that follow the record outside of it: AUXTRACE, TRACING_DATA */
	bool compressed;  /* it came out of a COMPRESSED record */
	bool our_block;   /* and that one is a block of ours */
	const struct pev_trace_event *event; /* NULL for user types and for an unknown id */
};

/* What was lost on the way, for one sentence at the end. */
struct pev_trace_damage {
	uint64_t cut_bytes;     /* of a record that the file ends within */
	uint64_t missing_bytes; /* of data that the header promises and the file does not have */
	uint64_t tail_bytes; /* behind the last record, that are none: where a seal was interrupted,
				or rubbish */
	uint64_t blocks; /* COMPRESSED records that do not decompress, or whose checksum is wrong */
	uint64_t block_bytes;  /* of those, in the file */
	uint64_t first_offset; /* of the first damage in the file */
};

struct pev_trace_options {
	/* Hands COMPRESSED records out as they are, and does not look into them. */
	bool raw;
	/* Checks the checksum of each block, too. */
	bool check;
	/* May be NULL. Asked before a block of ours is unpacked: true passes over it, if its
	 * checksum says that the head can be trusted. */
	bool (*skip_block)(void *userdata, const struct pev_block_head *head);
	void *userdata;
};

/*
 * Opens @path ("-": standard input), a regular or pipe-mode perf.data of either byte order and any
 * age, and reads its head. -EBADMSG when it is no perf.data; -ENODATA when it is cut within its
 * head; -EPROTONOSUPPORT.
 */
int pev_trace_open(const char *path, const struct pev_trace_options *options,
		   struct pev_trace **ret, struct pev_err *err);
struct pev_trace *pev_trace_free(struct pev_trace *t);

struct pev_trace_head pev_trace_head(const struct pev_trace *t);
struct pev_trace_damage pev_trace_damage(const struct pev_trace *t);

/*
 * The next record. 1; 0 at the end, cut or not: pev_trace_damage() tells; a negative errno and a
 * sentence with the offset for damage. After -EBADMSG or -ENODATA reading may go on behind the
 * damage (or returns 0, when there is no going on); after other errors not.
 */
int pev_trace_next(struct pev_trace *t, struct pev_trace_record *ret, struct pev_err *err);

/* The event that the record of a kernel type belongs to, by its id; NULL when no event has that id.
 */
const struct pev_trace_event *pev_trace_event_of(const struct pev_trace *t, const uint8_t *bytes,
						 const struct pev_rec_hdr *hdr);

/* Where reading stands in the file: at the record, or the block, that the last call of
 * pev_trace_next() was about. */
uint64_t pev_trace_at(const struct pev_trace *t);

/* Gives back the memory that reading takes, as far as it holds nothing that is still to be handed
 * out. Reading may go on. */
void pev_trace_rest(struct pev_trace *t);

/* Appends the payload of @rec, the record handed out last, to @w; -ENODATA when it is cut. Reading
 * goes on behind it. */
int pev_trace_copy_payload(struct pev_trace *t, const struct pev_trace_record *rec,
			   struct pev_writer *w, struct pev_err *err);
