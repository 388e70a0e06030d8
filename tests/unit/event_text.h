/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A list of events in words, so that a table of spellings can say what each must become. */
#pragma once

#include "base/buf.h"
#include "recorder/event.h"

/*
 * "NAME TYPE:CONFIG ..." for each event, with "; " between them. Behind the config, where it is so:
 * c1= c2= c3= c4= bp= in hexadecimal, -u -k -h -i -H -G for what is excluded, p1 to p3 or P, D, e,
 * S, period= or freq= with a "!" when the spelling fixed it, st= for the sample_type, <N for the
 * leader, and the other fields by their names.
 */
void event_text(const struct pev_evlist *list, struct pev_buf *ret);
