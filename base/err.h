/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An error with its story: a negative errno for programs, one sentence for people. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

/*
 * Functions return 0 or a positive value, or a negative errno. Parsing and multi-step calls also
 * take a struct pev_err * (always last, may be NULL): it is set where the error happens and wrapped
 * on the way up until a person can act on it. Fixed meanings, everywhere:
 *
 *   -EBADMSG          the bytes are corrupt
 *   -ENODATA          the bytes end too early
 *   -EPROTONOSUPPORT  the bytes are from a newer version than we know
 *   -E2BIG            over one of our own limits
 *   -ESTALE           the file belongs to another build-id
 */
struct pev_err {
	int code; /* negative errno, 0 when no error was set */
	char msg[1024];
};

#define PEV_ERR_INIT ((struct pev_err){ .code = 0 })

/* Sets @err to @code (a negative errno) and the formatted sentence. Returns @code, so that callers
 * can return it. */
int pev_err_set(struct pev_err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "<formatted>: " in front of what @err says. Returns the code of @err (-EIO when @err is NULL
 * or unset). */
int pev_err_wrap(struct pev_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The words of an errno, of either sign; thread-safe and never NULL. */
const char *pev_errno_str(int code);
