/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writing a trace: a file that is valid at every byte while it grows, and an ordinary perf.data
 * once it is sealed. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "format/abi.h"
#include "format/block.h"
#include "format/feature.h"

#include <stddef.h>
#include <stdint.h>

/* An event of the trace: its attributes, and the kernel's ids of all its counters. */
struct pev_trace_event {
	struct pev_attr attr;
	const uint64_t *ids;
	size_t nr_ids;
	const char *name;
	const char *unit; /* NULL: none */
	double scale;     /* 0 or 1: none */
};

struct pev_writer_stats {
	uint64_t bytes;     /* of the file so far */
	uint64_t raw_bytes; /* of records, before compression */
	uint64_t blocks;
	uint64_t records;
};

/*
 * One open trace. Not thread-safe. Errors of the file itself (no space, I/O) leave the trace cut at
 * a whole record and are returned with a sentence that names the file; the writer can then only be
 * sealed or freed.
 */
struct pev_writer;

/*
 * Creates @path (which must not exist, except with -EEXIST as the answer) and writes the head of a
 * pipe-mode trace: the events, and the @sections that pipe mode can carry. With @fd >= 0 the trace
 * goes there instead, @path is only its name in messages, and it can not be sealed: for pipes. The
 * fd stays the caller's.
 */
int pev_writer_open(const char *path, int fd, const struct pev_trace_event *events,
		    size_t nr_events, const struct pev_feat_section *sections, size_t nr_sections,
		    struct pev_writer **ret, struct pev_err *err);

/* Closes without sealing: the file stays as it is, in pipe mode. NULL is fine. Returns NULL. */
struct pev_writer *pev_writer_free(struct pev_writer *w);

/* Appends whole records as they are. */
int pev_writer_put(struct pev_writer *w, const void *records, size_t size, struct pev_err *err);

/* Appends what is complete in @b, or with @all everything that it holds. */
int pev_writer_block(struct pev_writer *w, struct pev_block *b, bool all, struct pev_err *err);

/*
 * Turns the file into a regular one, with the features of @sections (ascending by feature), on
 * disk, and renames it to @final_path unless that is NULL. Perf can read it at every moment. The
 * writer is then good for nothing but pev_writer_free(). On failure the records are still there.
 */
int pev_writer_seal(struct pev_writer *w, const struct pev_feat_section *sections,
		    size_t nr_sections, const char *final_path, struct pev_err *err);

struct pev_writer_stats pev_writer_stats(const struct pev_writer *w);
