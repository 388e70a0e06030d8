/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Ownership by attribute: what a variable owns is released when it goes out of scope, unless it was
 * taken. */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))

/* Declares f##p(), a cleanup handler for "type p" that calls f() unless p is NULL. */
#define PEV_DEFINE_CLEANUP(type, f)                              \
	static inline __attribute__((unused)) void f##p(type *p) \
	{                                                        \
		if (*p)                                          \
			f(*p);                                   \
	}                                                        \
	struct pev_needs_a_semicolon

/* Moves the value out of a variable that a cleanup attribute guards. */
#define TAKE_PTR(p)                         \
	({                                  \
		__typeof__(p) taken_ = (p); \
		(p) = NULL;                 \
		taken_;                     \
	})

static inline int pev_take_fd(int *fd)
{
	const int taken = *fd;

	*fd = -1;
	return taken;
}
#define TAKE_FD(fd) pev_take_fd(&(fd))

static inline void pev_freep(void *p)
{
	free(*(void **)p);
}

static inline void pev_closep(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

PEV_DEFINE_CLEANUP(FILE *, fclose);
PEV_DEFINE_CLEANUP(DIR *, closedir);

#define _cleanup_free_     _cleanup_(pev_freep)
#define _cleanup_close_    _cleanup_(pev_closep)
#define _cleanup_fclose_   _cleanup_(fclosep)
#define _cleanup_closedir_ _cleanup_(closedirp)
