/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A gzip member (RFC 1952) streamed into a file. */
#pragma once

#include "base/err.h"

#include <stddef.h>
#include <stdio.h>

struct pev_gzip;

/* @out stays the caller's. -ENOMEM. */
int pev_gzip_new(FILE *out, struct pev_gzip **ret, struct pev_err *err);

/* NULL is fine; what was not finished is cut. */
struct pev_gzip *pev_gzip_free(struct pev_gzip *z);

static inline void pev_gzip_freep(struct pev_gzip **z)
{
	*z = pev_gzip_free(*z);
}

/* The errno of a failed write, with a sentence. */
int pev_gzip_write(struct pev_gzip *z, const void *bytes, size_t n, struct pev_err *err);
/* Ends the member, and flushes @out. */
int pev_gzip_finish(struct pev_gzip *z, struct pev_err *err);
