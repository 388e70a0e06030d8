/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Long output on a terminal goes through a pager. */
#pragma once

#include <stdbool.h>

/* Whether standard output is a terminal that shows colours, and nobody said no (NO_COLOR). To be
 * asked before pager_start(). */
bool pager_has_color(void);

/*
 * When standard output is a terminal: from here on it goes to $PEVREC_PAGER, $PAGER or less, which
 * ends by itself when everything fits on one screen. An empty one, or cat, is none.
 */
void pager_start(void);

/* Flushes standard output and waits until the person has seen enough. */
void pager_end(void);
