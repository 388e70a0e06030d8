/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The letters behind an event or a group: "u", "kpp", "P". */
#pragma once

#include "recorder/event.h"

/*
 * Lays @letters over @event, on top of what it has: those of a group come after those of its
 * members. D and e belong to a group's leader and do nothing to @member. -EINVAL for an unknown or
 * repeated letter and for more than three p; the sentence does not name the event.
 *
 * u k h  only user space, kernel, hypervisor     G H  only guests, only the host
 * p pp ppp P  precise_ip 1, 2, 3, the best there is        I  not the idle task
 * S  samples carry the counts of the whole group        D  pinned        e  exclusive
 */
int pev_modifiers_apply(const char *letters, bool member, struct pev_event *event,
			struct pev_err *err);

/* Whether @text is made of nothing but letters that are modifiers. */
bool pev_modifiers_possible(const char *text);
