/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parts of a trace by time, as perf --time takes them, and as journalctl does. */
#pragma once

#include "base/err.h"
#include "format/clock.h"
#include "report/filter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the text is about. */
struct pev_timespan {
	uint64_t first_ns, last_ns; /* samples of the trace; both 0: not known */
	struct pev_clock clock;     /* that the times of the trace are by */
	uint64_t now_ns;            /* CLOCK_REALTIME */
};

/* Whether the text has percentages, so that ->first_ns and ->last_ns are needed. */
bool pev_timespan_is_relative(const char *text);

/* A moment in the time of the trace: seconds of its clock with up to nine decimals ("1234.5"), or
 * what pev_wall_time_parse() knows. -EINVAL with a sentence. */
int pev_timespan_moment(const struct pev_timespan *s, const char *text, uint64_t *ret_ns,
			struct pev_err *err);

/*
 * Ranges in the time of the trace, to be freed: "10%-20%,40%-50%" of its length, "10%/2" (the
 * second tenth), "10%" (the first); "FROM,TO", "FROM,", ",TO" with moments as above, and with
 * seconds several of them with blanks between. The end is part of the range, as perf has it.
 * -EINVAL with a sentence.
 */
int pev_timespan_parse(const struct pev_timespan *s, const char *text, struct pev_time_range **ret,
		       size_t *ret_nr, struct pev_err *err);
