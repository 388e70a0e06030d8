/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A profile as `go tool pprof` and its like read it: gzipped profile.proto. */
#pragma once

#include "base/err.h"
#include "format/reader.h"
#include "report/profile.h"

#include <stdio.h>

/* The parts of keys that become labels; a profile may have been made with fewer. */
#define PEV_PPROF_KEY (PEV_KEY_COMM | PEV_KEY_PID | PEV_KEY_TID | PEV_KEY_CPU | PEV_KEY_CGROUP)

/*
 * Writes a named profile made with the parts @key. @clock is that of its reader. Each event has the
 * values samples/count, and cpu/nanoseconds where it is a clock, else the event's name/count, the
 * sum of the periods; with several events the samples are called "samples of EVENT". -ENOMEM, or
 * the error of writing.
 */
int pev_pprof_write(const struct pev_profile_data *d, unsigned int key,
		    const struct pev_clock *clock, FILE *out, struct pev_err *err);
