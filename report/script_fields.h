/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which fields of samples are printed, by the type of their event: the -F of perf script. */
#pragma once

#include "base/err.h"
#include "format/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PEV_SCRIPT_COMM           (1ULL << 0)
#define PEV_SCRIPT_TID            (1ULL << 1)
#define PEV_SCRIPT_PID            (1ULL << 2)
#define PEV_SCRIPT_TIME           (1ULL << 3)
#define PEV_SCRIPT_CPU            (1ULL << 4)
#define PEV_SCRIPT_EVENT          (1ULL << 5)
#define PEV_SCRIPT_TRACE          (1ULL << 6)
#define PEV_SCRIPT_IP             (1ULL << 7)
#define PEV_SCRIPT_SYM            (1ULL << 8)
#define PEV_SCRIPT_DSO            (1ULL << 9)
#define PEV_SCRIPT_ADDR           (1ULL << 10)
#define PEV_SCRIPT_SYMOFF         (1ULL << 11)
#define PEV_SCRIPT_SRCLINE        (1ULL << 12)
#define PEV_SCRIPT_PERIOD         (1ULL << 13)
#define PEV_SCRIPT_IREGS          (1ULL << 14)
#define PEV_SCRIPT_UREGS          (1ULL << 15)
#define PEV_SCRIPT_BRSTACK        (1ULL << 16)
#define PEV_SCRIPT_BRSTACKSYM     (1ULL << 17)
#define PEV_SCRIPT_BRSTACKOFF     (1ULL << 18)
#define PEV_SCRIPT_DATA_SRC       (1ULL << 19)
#define PEV_SCRIPT_WEIGHT         (1ULL << 20)
#define PEV_SCRIPT_BPF_OUTPUT     (1ULL << 21)
#define PEV_SCRIPT_PHYS_ADDR      (1ULL << 22)
#define PEV_SCRIPT_MISC           (1ULL << 23)
#define PEV_SCRIPT_TOD            (1ULL << 24)
#define PEV_SCRIPT_DATA_PAGE_SIZE (1ULL << 25)
#define PEV_SCRIPT_CODE_PAGE_SIZE (1ULL << 26)
#define PEV_SCRIPT_INS_LAT        (1ULL << 27)
#define PEV_SCRIPT_RETIRE_LAT     (1ULL << 28)
#define PEV_SCRIPT_DSOFF          (1ULL << 29)
#define PEV_SCRIPT_CGROUP         (1ULL << 30)
#define PEV_SCRIPT_FLAGS          (1ULL << 31)
/* Of hardware traces only, which are not decoded here: accepted, and empty. */
#define PEV_SCRIPT_NOTHING (1ULL << 32)

/* perf keeps a set of fields for each type of event: those of attr.type, and one for all others. */
#define PEV_SCRIPT_TYPE_OTHER 6
#define PEV_SCRIPT_NR_TYPES   7

struct pev_script_type {
	uint64_t fields;
	uint64_t asked;     /* by name */
	uint64_t not_asked; /* taken away by name */
	bool replaced;      /* nothing is left of what there was without -F */
	bool set;           /* -F was given for it */
	bool all; /* by one that is for all types, so that there need not be such an event */
};

struct pev_script_fields {
	struct pev_script_type types[PEV_SCRIPT_NR_TYPES];
};

/* What is printed without -F. */
void pev_script_fields_init(struct pev_script_fields *f);

/*
 * Takes in the argument of one -F: "comm,tid,ip", "trace:time,trace", "+srcline,-period". -EINVAL
 * with a sentence. What does not fit a type of event is ignored, as perf does (with a warning).
 */
int pev_script_fields_parse(struct pev_script_fields *f, const char *arg, struct pev_err *err);

/* The set that the samples of an event are printed by. */
static inline struct pev_script_type *pev_script_type_of(struct pev_script_fields *f,
							 const struct pev_attr *attr)
{
	return &f->types[attr->type < PEV_SCRIPT_TYPE_OTHER ? attr->type : PEV_SCRIPT_TYPE_OTHER];
}

/*
 * Fits the fields to what the events recorded: those that are not there are left out, or -EINVAL
 * with a sentence when they were asked for. @chains: call chains are to be printed where there are
 * some.
 */
int pev_script_fields_check(struct pev_script_fields *f, const struct pev_trace_head *head,
			    bool chains, struct pev_err *err);
