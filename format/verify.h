/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looks at every record and block of a trace. */
#pragma once

#include "format/build_ids.h"
#include "format/trace.h"

struct pev_verify_stats {
	uint64_t records; /* whole ones, of data */
	uint64_t samples;
	uint64_t blocks;       /* COMPRESSED records */
	uint64_t our_blocks;   /* of these with a head of ours */
	uint64_t raw_bytes;    /* of records */
	uint64_t undecodable;  /* records of the kernel that contradict themselves or their event */
	uint64_t no_event;     /* records whose id no event has */
	uint64_t unknown;      /* records of a type that no ABI has */
	uint64_t lost;         /* what LOST records tell: when it happened, per ring */
	uint64_t lost_samples; /* what LOST_SAMPLES tell: totals, per counter */
	uint64_t first_ns, last_ns; /* of the samples */
};

/* Nothing of the file is missing and nothing contradicts itself. */
enum pev_verdict {
	PEV_WHOLE,      /* a regular file, all of it there */
	PEV_UNFINISHED, /* pipe mode, ends with a whole record: its writer was killed, or it was
			   written to a pipe */
	PEV_CUT,        /* ends within a record, or before its header says */
	PEV_DAMAGED,    /* something in the middle is wrong */
};

struct pev_verify {
	enum pev_verdict verdict;
	struct pev_verify_stats stats;
	struct pev_trace_damage damage;
	struct pev_err first; /* the first damage, in a sentence with its offset; code 0: none */
	/* Offsets of the blocks that are damaged, ascending; owned. */
	uint64_t *bad_blocks;
	size_t nr_bad_blocks;
	struct pev_build_ids build_ids; /* of the mappings in it */
};

void pev_verify_done(struct pev_verify *v);

/*
 * Reads @t, which was opened with ->check set, to its end. @progress, when given, is called now and
 * then with the offset. 0; a negative errno when the trace could not be read at all; damage is no
 * error but a verdict.
 */
int pev_verify_run(struct pev_trace *t, void (*progress)(void *userdata, uint64_t offset),
		   void *userdata, struct pev_verify *ret, struct pev_err *err);
