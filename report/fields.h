/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The columns of a report, in perf report's names: what rows are told apart by, and what is shown.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum pev_field {
	/* Numbers: shown, not told apart by. */
	PEV_FIELD_OVERHEAD,
	PEV_FIELD_OVERHEAD_SYS,
	PEV_FIELD_OVERHEAD_US,
	PEV_FIELD_OVERHEAD_GUEST_SYS,
	PEV_FIELD_OVERHEAD_GUEST_US,
	PEV_FIELD_CHILDREN,
	PEV_FIELD_SAMPLES,
	PEV_FIELD_PERIOD,
	/* Of the sample: the same for all frames of its stack. */
	PEV_FIELD_PID,  /* of the thread, with its name, as perf has it */
	PEV_FIELD_TGID, /* of the process, with its name */
	PEV_FIELD_COMM,
	PEV_FIELD_CPU,
	PEV_FIELD_CGROUP,
	PEV_FIELD_CGROUP_ID,
	/* Of the code. */
	PEV_FIELD_DSO,
	PEV_FIELD_SYM,
	PEV_FIELD_SRCLINE,
	PEV_FIELD_SRCFILE,
	PEV_NR_FIELDS,
};

#define PEV_FIELDS_MAX 32

/* Columns in their order. */
struct pev_fields {
	enum pev_field v[PEV_FIELDS_MAX];
	size_t nr;
};

struct pev_fields_options {
	const char *sort;   /* --sort, or NULL: comm,dso,sym; with "+" in front, more of them */
	const char *fields; /* --fields, or NULL */
	bool children;      /* show what the callees cost, too */
	bool samples;       /* a column of samples */
	bool period;        /* and one of periods */
};

/* -EINVAL with a sentence that lists the names there are. */
int pev_fields_parse(struct pev_fields *f, const struct pev_fields_options *how,
		     struct pev_err *err);

bool pev_fields_has(const struct pev_fields *f, enum pev_field field);

static inline bool pev_field_is_number(enum pev_field f)
{
	return f <= PEV_FIELD_PERIOD;
}

static inline bool pev_field_is_code(enum pev_field f)
{
	return f >= PEV_FIELD_DSO;
}

/* "overhead", "sym"; and what stands above the column: "Overhead", "Symbol". */
const char *pev_field_name(enum pev_field f);
const char *pev_field_title(enum pev_field f);

/* PEV_KEY_* that a profile has to be made with. */
unsigned int pev_fields_key(const struct pev_fields *f);
