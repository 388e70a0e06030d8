// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/cmd.h"

#include <stdarg.h>
#include <stdio.h>

void cmd_say(const char *fmt, ...)
{
	va_list ap;

	(void)fflush(stdout);
	(void)fputs("pevrec: ", stderr);
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
}

int cmd_fail(const struct pev_err *err)
{
	cmd_say("%s", err->msg);
	return PEV_EXIT_FAILURE;
}

const char *cmd_bytes(uint64_t bytes, char buf[32])
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB" };
	double v = (double)bytes;
	size_t i = 0;

	while (v >= 999.95 && i + 1 < sizeof(units) / sizeof(units[0])) {
		v /= 1000;
		i++;
	}
	(void)snprintf(buf, 32, i ? "%.1f %s" : "%.0f %s", v, units[i]);
	return buf;
}
