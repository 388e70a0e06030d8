/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the reader makes of a file, record by record, for tests of small ones. */
#pragma once

#include "format/trace.h"

#define MAX_SEEN 64

struct seen {
	uint32_t types[MAX_SEEN];
	size_t sizes[MAX_SEEN];
	uint64_t ips[MAX_SEEN]; /* of samples */
	int events[MAX_SEEN];   /* -1: none */
	size_t nr, bad;
	struct pev_trace_damage damage;
	struct pev_err err; /* the last */
	int r;              /* 0 or what ended it */
};

extern const struct pev_trace_options see_checked;

/* Reads @t, or the file of these bytes, to its end. */
void see(struct pev_trace *t, struct seen *ret);
void see_bytes(const struct pev_buf *buf, struct seen *ret);

/* Fails the test unless there were samples of form_attr with the ips from @first to @last, and
 * nothing else. */
void check_ips(const struct seen *seen, unsigned int first, unsigned int last);
