// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/progress.h"

#include "base/checked.h"
#include "cli/cmd.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* What takes less is not worth a line, and more often nobody can read it. */
#define INTERVAL_NS (100 * PEV_NSEC_PER_MSEC)

static struct {
	uint64_t last_ns; /* 0: nothing was to be shown yet */
	int terminal;     /* -1: not known yet */
	bool shown;
} line = { .terminal = -1 };

static bool is_due(void)
{
	struct timespec now;
	uint64_t ns;

	if (line.terminal < 0)
		line.terminal = isatty(STDERR_FILENO);
	if (!line.terminal || clock_gettime(CLOCK_MONOTONIC, &now) < 0)
		return false;
	ns = (uint64_t)now.tv_sec * PEV_NSEC_PER_SEC + (uint64_t)now.tv_nsec;
	if (!line.last_ns)
		line.last_ns = ns;
	if (ns - line.last_ns < INTERVAL_NS)
		return false;
	line.last_ns = ns;
	return true;
}

__attribute__((format(printf, 1, 2))) static void show(const char *fmt, ...)
{
	va_list ap;

	(void)fputs("\r\033[K", stderr);
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	line.shown = true;
}

void progress_end(void)
{
	if (line.shown)
		(void)fputs("\r\033[K", stderr);
	line.shown = false;
}

void progress_read(void *userdata, uint64_t bytes, uint64_t total)
{
	char a[32], b[32];

	(void)userdata;
	if (!is_due())
		return;
	if (total)
		show("reading: %s of %s, %" PRIu64 " %%", cmd_bytes(bytes, a), cmd_bytes(total, b),
		     (uint64_t)(100.0 * (double)bytes / (double)total));
	else
		show("reading: %s", cmd_bytes(bytes, a));
}

void progress_name(void *userdata, uint64_t done, uint64_t total)
{
	(void)userdata;
	if (is_due())
		show("looking for names: %" PRIu64 " of %" PRIu64 " addresses", done, total);
}

int progress_fetch(void *userdata, const char *what, uint64_t done, uint64_t total)
{
	char a[32], b[32];

	(void)userdata;
	if (!is_due())
		return 0;
	if (total)
		show("fetching %s: %s of %s", what, cmd_bytes(done, a), cmd_bytes(total, b));
	else
		show("asking debuginfod for %s", what);
	return 0;
}
