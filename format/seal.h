/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Makes a regular file of a trace that was left unfinished, cut or damaged. */
#pragma once

#include "format/verify.h"

struct pev_seal_result {
	uint64_t records; /* of the file, COMPRESSED ones counted as one */
	uint64_t dropped_blocks, dropped_bytes;
};

/*
 * Writes all that is whole of the trace at @path, as @v found it, beside it as a regular file, and
 * renames that over it: the events, the features, every record in front of the cut, every block
 * that is not damaged. The file keeps its owner and mode. On failure the trace is untouched and
 * nothing is left beside it.
 */
int pev_seal(const char *path, const struct pev_verify *v, struct pev_seal_result *ret,
	     struct pev_err *err);
