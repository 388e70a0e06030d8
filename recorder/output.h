/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a trace goes, and what becomes of an older one in its place. */
#pragma once

#include "base/err.h"

#include <stdbool.h>

struct pev_output {
	const char *path; /* as it was asked for; borrowed */
	const char *name; /* for people */
	int fd;           /* of a stream: standard output, a pipe, a device; -1: a regular file */
	bool own_fd;
	bool made_way; /* PATH is ours to create, and to remove */
	bool moved;    /* an older trace is PATH.old now */
};

#define PEV_OUTPUT_INIT ((struct pev_output){ .fd = -1, .name = "the trace" })

/*
 * Looks at where @path leads; "-" is standard output. Pipes and character devices are opened.
 * -EISDIR, -EINVAL (a terminal, or nothing that can be written to) and what open(2) says, with a
 * sentence.
 */
int pev_output_open(const char *path, struct pev_output *ret, struct pev_err *err);

/* Of a regular file: keeps an older trace as PATH.old (perf's habit), so that PATH can be created.
 */
int pev_output_make_way(struct pev_output *o, struct pev_err *err);

/* When nothing was recorded after all: removes what was created since, and puts the older trace
 * back. */
void pev_output_undo(struct pev_output *o);

void pev_output_done(struct pev_output *o);
