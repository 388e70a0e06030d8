/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What tracepoints recorded, as the text that the kernel would print of it. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "format/feature.h"
#include "format/record.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * TRACING_DATA holds the "format" file of each tracepoint that was recorded: its fields, and the
 * arguments of a printf() that shows them, in the words of C. That is taken apart once, and then
 * done for each record. What this version does not understand of it is shown as a list of the
 * fields, as libtraceevent does.
 */
struct pev_tracepoints;
struct pev_tracepoint;

/* -ENODATA or -EBADMSG with a sentence when the section is cut or damaged; -ENOMEM. The section is
 * copied. */
int pev_tracepoints_new(const struct pev_feat_blob *tracing_data, struct pev_tracepoints **ret,
			struct pev_err *err);

/* NULL is fine. Returns NULL. */
struct pev_tracepoints *pev_tracepoints_free(struct pev_tracepoints *t);

/* That of attr.config; NULL when it is not there. Belongs to @t. */
const struct pev_tracepoint *pev_tracepoints_find(const struct pev_tracepoints *t, uint64_t id);

/* Who knows more than the record; either may be NULL. */
struct pev_tracepoint_names {
	/* Appends the symbol at a kernel address, false when there is none. */
	bool (*symbol)(void *arg, uint64_t address, bool offset, struct pev_buf *text);
	void *arg;
};

/* Appends the text of @raw. */
void pev_tracepoint_print(const struct pev_tracepoint *t, const struct pev_bytes *raw,
			  const struct pev_tracepoint_names *names, struct pev_buf *text);
