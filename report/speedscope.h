/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A profile as speedscope reads it: https://www.speedscope.app/file-format-schema.json */
#pragma once

#include "base/err.h"
#include "report/profile.h"

#include <stdio.h>

/*
 * Writes a named profile made with PEV_THREADS_KEY: one sampled profile for each thread and event,
 * in the order of time. Weights are the periods: ns for clocks, else without a unit. -ENOMEM, or
 * the error of writing.
 */
int pev_speedscope_write(const struct pev_profile_data *d, const char *title, FILE *out,
			 struct pev_err *err);
