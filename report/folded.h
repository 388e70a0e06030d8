/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Folded stacks: one line for each distinct stack, "comm;caller;callee count". */
#pragma once

#include "report/profile.h"

#include <stdio.h>

/*
 * Writes what stackcollapse-perf.pl (the one of 2019 and later) makes of the output of perf script,
 * sorted as it sorts: the sum of the periods behind each stack, of the first event that has samples
 * and of tracepoints, whose samples count 1 each; names without their parameters, ";" in them
 * turned into ":", quotes dropped; "[file]" for what has no name. Two things are better than there:
 * samples of events without call chains are not lost, and the file of deleted code has its name.
 *
 * The profile is to be made with PEV_KEY_COMM, and named. 0; -ENOMEM; or the error of writing.
 */
int pev_folded_write(const struct pev_profile_data *d, FILE *out, struct pev_err *err);
