/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* jit-PID.dump: what a runtime says of the code it made, with times, lines and unwind tables
 * (tools/perf/Documentation/jitdump-specification.txt of the kernel). */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For pev_jitdump_find(): whatever was there last. */
#define PEV_JITDUMP_LATEST UINT64_MAX

struct pev_jitdump;

struct pev_jitdump_header {
	uint32_t version;
	uint32_t machine; /* EM_* */
	uint32_t pid;
	uint64_t time;
	bool arch_time; /* times are cycles of the CPU, else of CLOCK_MONOTONIC */
	bool swapped;   /* of the other byte order */
};

/* One piece of code, from when it was loaded or moved to an address. All is borrowed from the bytes
 * of the dump. */
struct pev_jit_code {
	const char *name;
	uint64_t start, size;
	uint64_t index; /* the runtime's own number of it */
	uint64_t time;  /* since when it is there */
	uint32_t pid, tid;
	const uint8_t *code; /* as it was when loaded; NULL: not in the dump */
	uint64_t code_size;

	/* .eh_frame_hdr and .eh_frame for it, or NULL. */
	const uint8_t *unwinding;
	uint64_t unwinding_size, eh_frame_hdr_size, mapped_size;

	uint32_t entry; /* for pev_jitdump_line() */
};

struct pev_jitdump_counters {
	uint64_t records;
	uint64_t loads, moves;
	uint64_t closed;        /* JIT_CODE_CLOSE */
	uint64_t unknown;       /* records of a type that the specification does not have */
	uint64_t bad;           /* records that do not hold what they should */
	uint64_t bad_lines;     /* line entries that are not within their code */
	uint64_t unknown_moves; /* of code that was never loaded */
	uint64_t cut_bytes;     /* at the end, not a whole record */
};

/*
 * Parses @size bytes, which are borrowed and must live as long as the result; of either byte order.
 * -EBADMSG when it is no jitdump, -ENODATA when not even the header is there, -EPROTONOSUPPORT for
 * a version other than 1, -E2BIG for more than 2^32 - 1 pieces of code, -ENOMEM. A runtime that was
 * killed leaves a partial record at the end; that and damaged records are counted.
 */
int pev_jitdump_new(const void *bytes, size_t size, struct pev_jitdump **ret, struct pev_err *err);

/* NULL is fine; returns NULL. */
struct pev_jitdump *pev_jitdump_free(struct pev_jitdump *j);

static inline void pev_jitdump_freep(struct pev_jitdump **j)
{
	*j = pev_jitdump_free(*j);
}

const struct pev_jitdump_header *pev_jitdump_header(const struct pev_jitdump *j);
const struct pev_jitdump_counters *pev_jitdump_counters(const struct pev_jitdump *j);

/*
 * The code at @addr at @time (in the clock of the dump): the last that was put there by then. May
 * be called by several threads.
 */
bool pev_jitdump_find(const struct pev_jitdump *j, uint64_t addr, uint64_t time,
		      struct pev_jit_code *ret);

/* The source line of @addr in @code: a file name, borrowed, and a line. False when none is known.
 */
bool pev_jitdump_line(const struct pev_jitdump *j, const struct pev_jit_code *code, uint64_t addr,
		      const char **ret_file, uint32_t *ret_line);
