/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One trace of a reader: its records, each with its time, in their order. Part of format/reader.c.
 */
#pragma once

#include "format/time_order.h"
#include "format/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which samples are wanted. */
struct pev_choice {
	uint64_t since_ns, until_ns; /* [since, until); UINT64_MAX: no end */
	uint64_t *cpus;              /* a bit per CPU below ->nr_cpus; NULL: all */
	uint32_t nr_cpus;
	uint64_t cpus_mod_64; /* bit (cpu % 64) of each, as block heads have it */
};

/* How far reading went, over all traces. */
struct pev_progress {
	void (*tell)(void *userdata, uint64_t bytes, uint64_t total); /* may be NULL */
	void *userdata;
	uint64_t bytes;
	uint64_t total; /* UINT64_MAX when a stream is among them */
};

/* Where the fields that matter before decoding are; -1: nowhere. */
struct pev_layout {
	int time;         /* in a SAMPLE, from its start */
	int cpu;          /* likewise */
	int trailer_time; /* in other records, from their end */
	bool reads;       /* has counters in it, that count on from sample to sample */
};

struct pev_source_counts {
	uint64_t unknown, undecodable, no_event;
	uint64_t skipped_samples, skipped_blocks;
};

#define PEV_NO_EVENT UINT32_MAX

struct pev_source {
	const char *path;         /* owned */
	struct pev_trace **parts; /* owned; the first has the head */
	size_t nr_parts;
	size_t part;                  /* being read */
	struct pev_time_order *order; /* while it is read */
	uint64_t max_waiting;         /* bytes in it, at most */
	struct pev_layout *layouts;   /* by event */
	size_t nr_layouts;
	bool reads; /* of any of them */

	const struct pev_choice *choice;
	uint64_t shift; /* from the trace's time to the reader's: add it, modulo 2^64 */
	struct pev_source_counts counts;
	struct pev_trace_damage damage; /* of the parts that were read to their end */
	struct pev_progress *progress;
	uint64_t told; /* bytes of the part that ->progress knows of */
	bool ended;
};

/* Opens the trace at @path, and adds its size to that of all. *ret is to be closed even when this
 * fails; it must not move. */
int pev_source_open(const char *path, const struct pev_choice *choice,
		    struct pev_progress *progress, struct pev_source *ret, struct pev_err *err);
void pev_source_close(struct pev_source *s);

/*
 * The next record: its bytes until the next call, its time by the trace's clock (0: none), ->tag
 * the index of its event or PEV_NO_EVENT. 1; 0 at the end; a negative errno and a sentence.
 */
int pev_source_next(struct pev_source *s, struct pev_waiting *ret, struct pev_err *err);

/* Passes over all of it when its head tells that its samples are of a time that is not wanted. */
bool pev_source_skip(struct pev_source *s);

/* The time of its first sample by its clock, as the head tells; 0: it does not. */
uint64_t pev_source_first_ns(const struct pev_source *s);

/* Of a sample at @time by the trace's clock (0: none): is it within the choice? */
bool pev_source_wants(const struct pev_source *s, uint64_t time, bool has_cpu, uint32_t cpu);

struct pev_source_counts pev_source_counts(const struct pev_source *s);
struct pev_trace_damage pev_source_damage(const struct pev_source *s);
