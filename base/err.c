// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/err.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int pev_err_set(struct pev_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	err->code = code;
	va_start(ap, fmt);
	(void)vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	return code;
}

int pev_err_wrap(struct pev_err *err, const char *fmt, ...)
{
	char said[sizeof(err->msg)];
	va_list ap;
	int n;

	if (!err)
		return -EIO;
	memcpy(said, err->msg, sizeof(said));
	va_start(ap, fmt);
	n = vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(err->msg))
		(void)snprintf(err->msg + n, sizeof(err->msg) - (size_t)n, "%s%s",
			       said[0] ? ": " : "", said);
	return err->code ? err->code : -EIO;
}

const char *pev_errno_str(int code)
{
	/* INT_MIN has no positive twin; the kernel's codes are far from it. */
	const char *const s = strerrordesc_np(code == INT_MIN ? INT_MAX : abs(code));

	return s ? s : "Unknown error";
}
