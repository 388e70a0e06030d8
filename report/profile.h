/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counted stacks: what one pass over traces leaves in memory, and every view is made from. */
#pragma once

/*
 *	pev_profile_new(&options, resolver, &p, &err);
 *	pev_profile_read(p, reader, &err);      each record once; nothing is named yet
 *	pev_profile_name(p, NULL, NULL, &err);  each distinct code once
 *	d = pev_profile_data(p);
 *	for (size_t i = 0; i < d->nr_cells; i++)
 *		... d->cells[i] counts d->stacks[.stack] under d->keys[.key] ...
 *	pev_profile_free(p);
 *
 * A sample is one stack and one key: the key is what the view tells apart beside the stack (the
 * event, the thread, the CPU, a slice of time; see PEV_KEY_*). Samples of the same stack and key
 * are one cell. Memory follows the number of distinct stacks, keys and cells, and not the number of
 * samples.
 *
 * Stacks are paths of one tree of codes, outermost caller next to the root, so that common callers
 * are kept once. A node comes after its parent in the array: sums over subtrees are one loop
 * backwards, whatever is handed down is one loop forwards (see report/tree.h, which makes trees of
 * functions so).
 */

#include "base/err.h"
#include "format/reader.h"
#include "report/filter.h"
#include "unwind/resolver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pev_profile;

/* What a key is made of, beside the event; what was not asked for is 0 in it. */
enum pev_profile_key_part {
	PEV_KEY_COMM = 1 << 0,
	PEV_KEY_PID = 1 << 1,
	PEV_KEY_TID = 1 << 2,
	PEV_KEY_CPU = 1 << 3,
	PEV_KEY_CGROUP = 1 << 4,
	PEV_KEY_TRACE = 1 << 5,
	PEV_KEY_TIME = 1 << 6, /* the slice of time, see ->max_slices */
};

struct pev_profile_options {
	unsigned int key;                /* PEV_KEY_* */
	const struct pev_filter *filter; /* NULL: everything; borrowed while reading and naming */
	bool no_chains;                  /* only where samples were, not who called */
	/*
	 * With PEV_KEY_TIME: slices start 1 ms long at the first sample, and double when there
	 * would be more than this many (0: 1024), so that no one needs to know beforehand how long
	 * the trace is.
	 */
	uint32_t max_slices;
	/* Added to the number of a trace when the resolver is asked, so that readers can share one
	 * (the two sides of a comparison: names that are equal have equal pointers then). */
	uint32_t first_trace;
};

/* What samples are counted by. Events of the same name in several traces are one, the second one of
 * that name in a trace is another. */
struct pev_profile_event {
	const char *name;     /* the profile's */
	struct pev_attr attr; /* of the first trace that has it */
	/* All samples that the reader gave and ->trace, pids and so on let through; this is what
	 * perf's percentages are of. */
	uint64_t all_samples, all_period;
	/* Without those that the filter's comms, threads, dsos or symbols left out: the sum of the
	 * cells. perf calls it filtered. */
	uint64_t samples, period;
	bool has_chains; /* some samples had callers */
};

/* Distinct code, and its names after pev_profile_name(). */
struct pev_profile_code {
	struct pev_code code;
	const struct pev_frame *frames; /* innermost first, inlined ones before the real one */
	uint32_t nr_frames;             /* 0 before they are named */
};

/* Number 0 is the root, which is no code. */
struct pev_profile_node {
	uint32_t parent; /* index of the caller; lower than one's own */
	uint32_t code;
};

/* A distinct stack: walk from ->leaf over ->parent until 0, innermost first. */
struct pev_profile_stack {
	uint32_t leaf;  /* node; 0: the sample had no chain (with an event that records none, or
			   ->no_chains, it has its own code here) */
	uint32_t self;  /* code where the sample was, as its ip says: mostly that of ->leaf */
	uint32_t depth; /* codes on the path */
};

struct pev_profile_key {
	uint32_t event; /* in ->events */
	uint32_t trace; /* without ->first_trace */
	uint32_t pid, tid;
	uint32_t cpu;   /* UINT32_MAX: the sample does not tell */
	uint32_t slice; /* of time: from first_slice_ns + slice * slice_ns on */
	const char *comm;
	uint64_t cgroup_id;
	const char *cgroup; /* its path; NULL: not told */
};

struct pev_profile_cell {
	uint32_t stack, key;
	uint64_t samples, period;
};

/* All arrays are the profile's. */
struct pev_profile_data {
	const struct pev_profile_event *events;
	const struct pev_profile_code *codes;
	const struct pev_profile_node *nodes;
	const struct pev_profile_stack *stacks;
	const struct pev_profile_key *keys;
	const struct pev_profile_cell *cells; /* each (stack, key) once, in the order of first
						 sight */
	uint32_t nr_events, nr_codes, nr_nodes, nr_stacks, nr_keys, nr_cells;
	uint64_t first_slice_ns, slice_ns; /* with PEV_KEY_TIME, in the time of the reader */
	uint64_t first_ns, last_ns;        /* of the samples in the cells; 0: none has a time */
};

/* @resolver is borrowed for the life of the profile, and strings of the profile may be its. -EINVAL
 * when the filter does not make sense; -ENOMEM. */
int pev_profile_new(const struct pev_profile_options *options, struct pev_resolver *resolver,
		    struct pev_profile **ret, struct pev_err *err);

/* NULL is fine. Returns NULL. */
struct pev_profile *pev_profile_free(struct pev_profile *p);

static inline void pev_profile_freep(struct pev_profile **p)
{
	*p = pev_profile_free(*p);
}

/*
 * Reads @reader to its end, tells the resolver what it says, and counts its samples. More than one
 * reader can be read into a profile, when their times can be compared or do not matter. 0; what
 * pev_reader_next() returns; -E2BIG with more than 2^32 - 1 distinct stacks; -ENOMEM.
 */
int pev_profile_read(struct pev_profile *p, struct pev_reader *reader, struct pev_err *err);

/*
 * Names every code that is counted, then drops the cells that the filter's dsos and symbols leave
 * out. @progress (or NULL) is told now and then how many of how many codes have names. To be called
 * once, behind the last pev_profile_read(). 0, -ENOMEM.
 */
int pev_profile_name(struct pev_profile *p,
		     void (*progress)(void *userdata, uint64_t done, uint64_t total),
		     void *userdata, struct pev_err *err);

/* Good until the next call that changes the profile. */
const struct pev_profile_data *pev_profile_data(const struct pev_profile *p);
