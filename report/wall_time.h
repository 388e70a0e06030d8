/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Moments as journalctl --since takes them. */
#pragma once

#include "base/err.h"

#include <stdint.h>

/*
 * The time of day that @text says, in ns since 1970, as systemd.time(7) has it: "2026-11-20
 * 03:05[:06[.789]]", "2026-11-20", "03:05" (of today), "now", "today", "yesterday", "tomorrow",
 * "-10min", "+1h 30min", "2 days ago", "@1395716396"; a day of the week may come first ("Fri"),
 * "UTC", "Z" or "+02:00" last, and "T" may be between date and time. Without one of these it is
 * local time.
 * @now_ns is what "now" is.
 *
 * -EINVAL with a sentence.
 */
int pev_wall_time_parse(const char *text, uint64_t now_ns, uint64_t *ret_ns, struct pev_err *err);
