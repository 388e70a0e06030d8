/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A profile as the Firefox Profiler (profiler.firefox.com) reads it. */
#pragma once

#include "base/err.h"
#include "format/reader.h"
#include "report/profile.h"

#include <stdio.h>

/*
 * Writes a named profile made with PEV_THREADS_KEY in the "processed" format of version 49, which
 * every later one of the profiler brings up to date. Samples stand at the start of their slice of
 * time, with their number as the weight. @clock is that of the reader. -ENOMEM, or the error of
 * writing.
 */
int pev_firefox_write(const struct pev_profile_data *d, const char *title,
		      const struct pev_clock *clock, FILE *out, struct pev_err *err);
