/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One or several traces as one stream of decoded records in the order of time. */
#pragma once

#include "base/err.h"
#include "format/clock.h"
#include "format/losses.h"
#include "format/record.h"
#include "format/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A trace is a regular file, a pipe-mode file, standard input ("-"), or a folder as perf record
 * --threads leaves it (DIR/data with the head, DIR/data.N with records). Files of any age and byte
 * order are read; damage costs what it hit, is counted, and reading goes on.
 *
 * Order: as perf's. A record with a time waits until nothing older can come: until the second
 * FINISHED_ROUND behind it, or the end of a trace that has none. Records without a time (0 or ~0:
 * the snapshot that perf takes at its start) and those that are not the kernel's (type >=
 * PEV_REC_USER_START) are handed out at once, where they are in the file. Records of the same time
 * stay in the order of the file. Memory holds what waits: between rounds, some MB.
 *
 * Several traces are merged by time. Each may tell of processes and addresses that have nothing to
 * do with another's: keep what you learn per ->trace. What a trace says before its first time comes
 * before that time, not necessarily before the records of other traces.
 *
 *	pev_reader_open(paths, nr, NULL, &r, &err);
 *	while ((n = pev_reader_next(r, &rec, &err)) > 0)
 *		switch (rec.rec.hdr.type) { ... }
 *	pev_reader_free(r);
 */
struct pev_reader;

struct pev_reader_options {
	/* Only samples of these CPUs; NULL: all. Samples that do not say their CPU are of none. */
	const uint32_t *cpus;
	size_t nr_cpus;
	/* A sample that read the counters of its group ("{a,b}:S", PERF_SAMPLE_READ) comes as it
	 * was recorded. Otherwise it comes once for each of them that went on, as that one's event
	 * and with the difference as its period: as perf script shows it. */
	bool keep_groups;
	/* Told now and then how many of how many bytes were read; @total is 0 when a stream is
	 * among the traces. */
	void (*progress)(void *userdata, uint64_t bytes, uint64_t total);
	void *userdata;
};

/* A record of type 0 says that its trace has ended: what was kept for it can go. */
#define PEV_READER_TRACE_END 0

/* All pointers are valid until the next call of pev_reader_next(). */
struct pev_reader_record {
	/* Decoded; of types that are not the kernel's only ->hdr. The period of a sample that has
	 * none is that of its event's attr. */
	struct pev_record rec;
	/* The event it belongs to, in pev_reader_head(r, trace).events; NULL for types that are not
	 * the kernel's. */
	const struct pev_trace_event *event;
	uint32_t trace;       /* index of the path it came from */
	uint32_t event_index; /* of ->event */
	uint64_t time_ns;     /* in the time of the reader, see pev_reader_clock(); 0: none */
	const uint8_t *bytes; /* as in the file */
	size_t size;
	bool swap;       /* ->bytes are of the other byte order */
	uint64_t offset; /* in the file: of the record, or of the COMPRESSED record around it */
};

/*
 * Opens @nr traces and reads their heads. Nothing of @options is kept but its callback. A sentence,
 * and the error of pev_trace_open(), when one cannot be read at all; -EINVAL when the clocks of
 * several traces have nothing in common, so that they have no common order.
 */
int pev_reader_open(const char *const *paths, size_t nr, const struct pev_reader_options *options,
		    struct pev_reader **ret, struct pev_err *err);
struct pev_reader *pev_reader_free(struct pev_reader *r);

/*
 * Only samples of [since_ns, until_ns), in the time of the reader; UINT64_MAX: no end. All other
 * records still come, so that the samples make sense, but blocks of ours that have nothing but
 * samples out of the range or of other CPUs are not unpacked, and traces whose head says that all
 * their samples are out of the range (SAMPLE_TIME) are not read. Before the first
 * pev_reader_next().
 */
void pev_reader_set_time(struct pev_reader *r, uint64_t since_ns, uint64_t until_ns);

/*
 * The next record. 1; 0 at the end of all traces; a negative errno and a sentence when reading
 * cannot go on (-EIO and its like, -ENOMEM). Damage is no error here: see pev_reader_damage().
 * Records that cannot be decoded or that belong to no event are counted and left out.
 */
int pev_reader_next(struct pev_reader *r, struct pev_reader_record *ret, struct pev_err *err);

/* Number of traces, one per path. */
size_t pev_reader_nr_traces(const struct pev_reader *r);
/* As given, but "standard input" for "-". */
const char *pev_reader_path(const struct pev_reader *r, size_t trace);
/* Features and events of a pipe may grow while its first records are read. */
struct pev_trace_head pev_reader_head(const struct pev_reader *r, size_t trace);

/*
 * What the time of the reader means. Traces of one clock are merged by it as it is. Traces of
 * different clocks (other machines, other boots) that all tell the time of day are merged by that,
 * and CLOCK_REALTIME is the time of the reader then.
 */
struct pev_clock pev_reader_clock(const struct pev_reader *r);

/* Of all that was read so far. */
struct pev_reader_stats {
	uint64_t records;                   /* handed out */
	uint64_t by_type[PEV_REC_USER_MAX]; /* of these */
	uint64_t unknown;                   /* of types that this version does not know */
	uint64_t undecodable;               /* contradict themselves; left out */
	uint64_t no_event;                  /* with an id that no event has; left out */
	uint64_t late;                      /* older than what was handed out before them */
	uint64_t skipped_samples;           /* for their time or CPU */
	uint64_t skipped_blocks;            /* that did not have to be unpacked */
	uint64_t skipped_traces;            /* whose head says that they are of another time */
	uint64_t first_ns, last_ns;         /* times of the samples handed out; 0: none */
	uint64_t max_waiting;          /* bytes of records that waited for their turn, at most */
	const struct pev_loss *losses; /* by trace, event, CPU; the reader's, until its next call */
	size_t nr_losses;
};

struct pev_reader_stats pev_reader_stats(const struct pev_reader *r);

/* What was lost of a trace on the way, the files of a folder together. */
struct pev_trace_damage pev_reader_damage(const struct pev_reader *r, size_t trace);

/* The same and the records left out in one sentence; false when there is nothing to say. */
bool pev_reader_damage_words(const struct pev_reader *r, size_t trace, struct pev_err *ret);
