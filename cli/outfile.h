/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file that is there whole or not at all. */
#pragma once

#include "base/err.h"

#include <stdio.h>

/*
 * What is written goes to a file beside @path, which takes its place when it is finished; if the
 * program ends before that, also by SIGINT, SIGTERM or SIGHUP, it goes away. One at a time. A @path
 * of NULL or "-" is standard output, and what is no regular file (/dev/null, a pipe) is written to
 * as it is. Zero-initialise to start.
 */
struct outfile {
	FILE *f;
	char *temporary; /* NULL: ->f is @path itself */
	const char *path;
};

int outfile_open(struct outfile *o, const char *path, struct pev_err *err);

/* Makes it the file at @path. 0, or the error of writing it; then it is gone. */
int outfile_finish(struct outfile *o, struct pev_err *err);

/* Takes back what was not finished. */
void outfile_done(struct outfile *o);
