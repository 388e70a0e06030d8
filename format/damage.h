/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was lost of a trace, in words. */
#pragma once

#include "base/err.h"
#include "format/trace.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * One sentence about all that is wrong with the trace @path: in *ret, with -EBADMSG when bytes of
 * it are corrupt and -ENODATA when it only ends too early. @undecodable records contradict
 * themselves,
 * @no_event are of none of its events. False, and *ret untouched, when nothing is wrong.
 */
bool pev_damage_words(const char *path, const struct pev_trace_damage *d, uint64_t undecodable,
		      uint64_t no_event, struct pev_err *ret);
