/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A sink that keeps what it is given, for tests that look at the records. */
#pragma once

#include "base/buf.h"
#include "format/record.h"
#include "recorder/emit.h"

/* The attr of a tracking event as the recorder opens it: every trailer field is there. */
extern const struct pev_attr collect_attr;

struct collect {
	struct pev_sink sink;
	struct pev_buf records;
	size_t at;   /* where collect_next() goes on */
	int fail_in; /* the so-manieth put fails with -ENOSPC; 0: none */
};

void collect_init(struct collect *c);
void collect_done(struct collect *c);

/* The next record, decoded by collect_attr; false at the end. Fails the test when it is damaged. */
bool collect_next(struct collect *c, struct pev_record *ret);
