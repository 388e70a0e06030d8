/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line of pevrec record, in perf record's spelling. */
#pragma once

#include "recorder/options.h"

/*
 * Fills @opts from the command line; exits by itself for --help and for what makes no sense.
 * @cmdline is what the trace is to show. -errno with a sentence for an event or list that is
 * refused.
 */
int record_args_parse(int argc, char **argv, struct pev_record_opts *opts, struct pev_err *err);

void record_args_done(struct pev_record_opts *opts);
