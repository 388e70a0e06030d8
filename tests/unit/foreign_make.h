/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Traces as perf writes them, of either byte order, put together byte by byte: for the tests of
 * what reads them, and with none of its code. */
#pragma once

#include "base/buf.h"
#include "format/record.h"
#include "format/trace.h"

#include <stdbool.h>
#include <stdint.h>

#define FOREIGN_EVENTS 4

struct foreign {
	bool big; /* byte order of the file */
	struct pev_trace_event events[FOREIGN_EVENTS];
	size_t nr_events;
	struct pev_buf data; /* records */
	size_t plain_from;   /* those from here on foreign_compress() has not seen yet */
	void *cctx;

	/* Header features; 0 and NULL: left out. */
	const char *hostname;
	uint64_t first_ns, last_ns; /* SAMPLE_TIME */
	int32_t clockid;            /* CLOCK_DATA, with these: */
	uint64_t tod_ns, clockid_ns;
	uint64_t dir_version;
};

void foreign_init(struct foreign *f, bool big);
void foreign_done(struct foreign *f);
#define _cleanup_foreign_ _cleanup_(foreign_done)

/* Adds an event with one id, its number plus 1. */
void foreign_event(struct foreign *f, const struct pev_attr *attr, const char *name);

/* Appends a record of the kernel, or one of another type with these words behind its header. */
void foreign_record(struct foreign *f, size_t event, const struct pev_record *rec);
void foreign_user(struct foreign *f, uint32_t type, const uint64_t *words, size_t nr);
void foreign_round(struct foreign *f);

/* A SAMPLE of the first event with nothing but the fields of @id. */
void foreign_sample(struct foreign *f, uint64_t time, uint32_t cpu, uint32_t tid);

/*
 * Puts the records since the last call, but for their last @leave bytes, into a record of @type
 * COMPRESSED or COMPRESSED2, as a piece of one zstd stream; what is left stays for the next call.
 */
void foreign_compress(struct foreign *f, uint32_t type, size_t leave);

/* The bytes of a regular file, of a pipe, of a data.N. */
void foreign_file(const struct foreign *f, struct pev_buf *ret);
void foreign_pipe(const struct foreign *f, struct pev_buf *ret);

/* Bytes as a file that has a path and no place on disk. */
struct foreign_path {
	int fd;
	char path[32];
};
struct foreign_path foreign_path(const struct pev_buf *bytes);
void foreign_path_done(struct foreign_path *p);
#define _cleanup_foreign_path_ _cleanup_(foreign_path_done)
