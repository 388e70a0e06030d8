/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small traces, written as a recording writes them, for the tests of what reads, verifies and seals
 * them. */
#pragma once

#include "base/buf.h"
#include "format/trace.h"

#include <stdbool.h>

/* Where tests put files: a folder of their own, gone with test_folder_done(). */
struct test_folder {
	char path[64];
};
void test_folder_init(struct test_folder *folder);
void test_folder_done(struct test_folder *folder);
#define _cleanup_folder_ _cleanup_(test_folder_done)

/* "FOLDER/NAME", valid until the next 8 calls. */
const char *test_path(const struct test_folder *folder, const char *name);

void test_write_file(const char *path, const void *bytes, size_t size);
void test_read_file(const char *path, struct pev_buf *ret);

/* How many files the folder has. */
unsigned int test_count_files(const struct test_folder *folder);

/* Bytes as a file that has a path and no place on disk. */
struct test_file {
	int fd;
	char path[32];
};
struct test_file test_file(const void *bytes, size_t size);
void test_file_done(struct test_file *f);
#define _cleanup_file_ _cleanup_(test_file_done)

struct make_trace {
	unsigned int records;
	unsigned int per_block; /* records in each block; 0: none is compressed */
	bool one_event;         /* else cpu-clock, a tracepoint, and dummy */
	bool sealed;
};

enum make_trace_event {
	MADE_CLOCK,
	MADE_TRACEPOINT,
	MADE_DUMMY,
	MADE_EVENTS
};

/* The events that it has, and the ids that they have: 0x1000 * (event + 1) + 0 to 3. */
extern const struct pev_trace_event made_events[MADE_EVENTS];

/* Appends record @i of every made trace: COMM, MMAP2 with build-id, LOST and FINISHED_ROUND now and
 * then, else SAMPLE, at 1000000 * (i + 1) ns. */
void make_trace_record(unsigned int i, bool one_event, struct pev_buf *buf);

/* The sections of header features; free with free_sections(). */
size_t make_sections(bool one_event, struct pev_feat_section *sections, size_t max);

/* Writes a trace to @path. */
void make_trace(const struct make_trace *how, const char *path);

/* The same as bytes. */
void make_trace_bytes(const struct make_trace *how, struct pev_buf *ret);

struct walked {
	uint64_t data_offset,
		data_end;   /* as the header has it; of pipe mode the end of the bytes */
	uint64_t whole_end; /* of the last whole record */
	uint64_t records, samples, blocks;
};

/*
 * What is whole of the first @size bytes of a made trace: the records are counted by their headers
 * and by the heads of blocks, with none of the reader's code. Records in front of the data are not
 * counted.
 */
struct walked walk_trace(const uint8_t *bytes, size_t size);
