/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The TRACING_DATA section: what a reader needs to take the raw bytes of tracepoints apart. */
#pragma once

#include "base/buf.h"
#include "recorder/event.h"

/*
 * Appends to @ret the bytes of the section (PEV_FEAT_TRACING_DATA; in pipe mode they follow a
 * PEV_REC_HEADER_TRACING_DATA record) for the tracepoints of @list, from the mounted tracefs. For a
 * list without tracepoints nothing is appended. They are the bytes that perf 6.1 to 7.2 write for
 * the same events (tests/integration/events.sh), so that every reader of theirs reads them.
 *
 * -ENOENT when tracefs or a tracepoint is not there, -EACCES when it may not be read, with a
 * sentence; @ret may then hold a part.
 */
int pev_tracing_data_build(const struct pev_evlist *list, struct pev_buf *ret, struct pev_err *err);

/* The same from a tracefs mounted at @tracefs. */
int pev_tracing_data_build_from(const char *tracefs, const struct pev_evlist *list,
				struct pev_buf *ret, struct pev_err *err);
