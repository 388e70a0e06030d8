/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files by build-id from the servers that DEBUGINFOD_URLS names; debuginfod-find(1). */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct pev_build_id;
struct pev_debuginfod;

/*
 * Called some times a second while a file is fetched: @what is what the servers are asked for,
 * ("debug info of /usr/lib/libx.so"), @done of @total bytes are here, both 0 while nobody has
 * answered. Nonzero gives up this file.
 */
typedef int (*pev_debuginfod_progress)(void *arg, const char *what, uint64_t done, uint64_t total);

/*
 * -ENOENT when DEBUGINFOD_URLS is not set or empty, which is no error; -ENOSYS when it is set and
 * libdebuginfod.so.1 is not installed; -ENOMEM. The library is loaded here and not linked, since it
 * brings an HTTP client with it that nobody else needs. @progress may be NULL.
 *
 * A file gets @timeout_ms to arrive. After two that did not, no more are asked for. (libdebuginfod
 * takes what was given up for missing, and does not ask for it again for ten minutes: cache_miss_s
 * in its cache directory.)
 */
int pev_debuginfod_new(uint64_t timeout_ms, pev_debuginfod_progress progress, void *arg,
		       struct pev_debuginfod **ret, struct pev_err *err);

/* NULL is fine; returns NULL. */
struct pev_debuginfod *pev_debuginfod_free(struct pev_debuginfod *d);

static inline void pev_debuginfod_freep(struct pev_debuginfod **d)
{
	*d = pev_debuginfod_free(*d);
}

/*
 * The debug info (@debug) or the program itself of @id: an open file, which the caller closes, and
 * where it lies in the cache of libdebuginfod (from malloc()). @what is for the progress. -ENOENT
 * when no server has it, -ETIMEDOUT, -ECANCELED when @progress said so, others as libdebuginfod
 * gives them.
 */
int pev_debuginfod_find(struct pev_debuginfod *d, const struct pev_build_id *id, bool debug,
			const char *what, int *ret_fd, char **ret_path, struct pev_err *err);
