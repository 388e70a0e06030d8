// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recorder/near.h"

#include "base/checked.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/*
 * How many insertions, deletions, replacements and swaps of neighbours lead from @a to @b ("optimal
 * string alignment"). Both are shorter than PEV_NEAR_LEN. Three rows of the table are enough, since
 * a swap looks two rows back.
 */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][PEV_NEAR_LEN];
	size_t *before = rows[0], *above = rows[1], *row = rows[2], *spare;
	const size_t na = strlen(a), nb = strlen(b);

	for (size_t j = 0; j <= nb; j++)
		above[j] = j;
	for (size_t i = 1; i <= na; i++) {
		const int ca = tolower((unsigned char)a[i - 1]);

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			const int cb = tolower((unsigned char)b[j - 1]);
			size_t d = PEV_MIN(above[j], row[j - 1]) + 1;

			d = PEV_MIN(d, above[j - 1] + (ca != cb));
			if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) &&
			    cb == tolower((unsigned char)a[i - 2]))
				d = PEV_MIN(d, before[j - 2] + 1);
			row[j] = d;
		}
		spare = before;
		before = above;
		above = row;
		row = spare;
	}
	return above[nb];
}

void pev_near_offer(struct pev_near *near, const char *name)
{
	const size_t nword = strlen(near->word), nname = strlen(name);
	const size_t limit = 1 + nword / 4;
	size_t d, at;

	if (nword < 2 || nword >= PEV_NEAR_LEN || nname >= PEV_NEAR_LEN)
		return;
	/* It is there, but of no use: to name it again would not help. */
	if (!strcmp(near->word, name))
		return;
	d = distance(near->word, name);
	if (d > limit) {
		/* An abbreviation is as good as the worst misspelling. */
		if (nword < 4 || !strcasestr(name, near->word))
			return;
		d = limit;
	}
	for (at = 0; at < near->nr && near->best[at].distance <= d; at++)
		if (!strcmp(near->best[at].name, name))
			return;
	if (at == PEV_NEAR_MAX)
		return;
	if (near->nr < PEV_NEAR_MAX)
		near->nr++;
	memmove(&near->best[at + 1], &near->best[at], (near->nr - at - 1) * sizeof(near->best[0]));
	near->best[at].distance = d;
	memcpy(near->best[at].name, name, nname + 1);
}

char *pev_near_phrase(const struct pev_near *near, const char *otherwise, char *buf, size_t size)
{
	size_t n = 0;

	if (!near->nr) {
		(void)snprintf(buf, size, "%s", otherwise);
		return buf;
	}
	for (size_t i = 0; i < near->nr && n < size; i++) {
		const char *const glue = i == 0             ? "did you mean "
					 : i + 1 < near->nr ? ", "
							    : " or ";
		const int k = snprintf(buf + n, size - n, "%s'%s'%s", glue, near->best[i].name,
				       i + 1 < near->nr ? "" : "?");

		n += k > 0 ? (size_t)k : 0;
	}
	return buf;
}
