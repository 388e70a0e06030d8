/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The commands of pevrec, and how they speak to a person. */
#pragma once

#include "base/err.h"

#include <stdint.h>
#include <stdio.h>

/* Exit codes beside 0. A recorded command's own status is passed on where it has one. */
enum pev_exit {
	PEV_EXIT_FAILURE = 1, /* it did not work, or what was looked at is damaged */
	PEV_EXIT_USAGE = 2,   /* the command line makes no sense */
};

/* Each takes its own name as argv[0] and returns an exit code. */
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_flamegraph(int argc, char **argv);

/* "pevrec: <sentence>" on stderr. */
void cmd_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Says what @err says and returns PEV_EXIT_FAILURE. */
int cmd_fail(const struct pev_err *err);

/* "12.3 kB", "4.0 MB": bytes for people, in powers of 1000; the text lives in @buf. */
const char *cmd_bytes(uint64_t bytes, char buf[32]);
