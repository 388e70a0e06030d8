/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* "Did you mean ...?": keeps the few names that come nearest to a misspelt word. */
#pragma once

#include <stddef.h>

#define PEV_NEAR_MAX 3
#define PEV_NEAR_LEN 64 /* longer names are never offered, longer words never answered */

struct pev_near {
	const char *word; /* borrowed */
	size_t nr;
	struct {
		size_t distance; /* typing errors apart */
		char name[PEV_NEAR_LEN];
	} best[PEV_NEAR_MAX];
};

static inline struct pev_near pev_near(const char *word)
{
	return (struct pev_near){ .word = word };
}

/* Lets @name compete. Upper and lower case count as the same letter; the name is copied. */
void pev_near_offer(struct pev_near *near, const char *name);

/* "did you mean 'cycles' or 'cs'?" in @buf, or @otherwise when nothing came near. Returns @buf. */
char *pev_near_phrase(const struct pev_near *near, const char *otherwise, char *buf, size_t size);
