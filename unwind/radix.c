// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unwind/radix.h"

#include "base/cleanup.h"

#include <errno.h>

#define DIGIT_BITS 11
#define DIGITS     (1U << DIGIT_BITS)

struct item {
	uint64_t key;
	uint32_t index;
};

/* One pass: moves @from to @to in the order of the digit at @shift. */
static void pass(const struct item *from, struct item *to, size_t nr, unsigned shift)
{
	uint32_t count[DIGITS] = { 0 }, at = 0;

	for (size_t i = 0; i < nr; i++)
		count[from[i].key >> shift & (DIGITS - 1)]++;
	for (size_t d = 0; d < DIGITS; d++) {
		const uint32_t n = count[d];

		count[d] = at;
		at += n;
	}
	for (size_t i = 0; i < nr; i++)
		to[count[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

int pev_radix_order(const uint64_t *keys, size_t nr, uint32_t **ret)
{
	_cleanup_free_ struct item *a = reallocarray(NULL, nr + 1, sizeof(*a));
	_cleanup_free_ struct item *b = reallocarray(NULL, nr + 1, sizeof(*b));
	uint64_t low = UINT64_MAX, high = 0;
	uint32_t *order;

	order = reallocarray(NULL, nr + 1, sizeof(*order));
	if (!a || !b || !order) {
		free(order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++) {
		low = keys[i] < low ? keys[i] : low;
		high = keys[i] > high ? keys[i] : high;
	}
	for (size_t i = 0; i < nr; i++)
		a[i] = (struct item){ .key = keys[i] - low, .index = (uint32_t)i };
	for (unsigned shift = 0; nr && shift < 64 && (high - low) >> shift; shift += DIGIT_BITS) {
		struct item *const sorted = b;

		pass(a, b, nr, shift);
		b = a;
		a = sorted;
	}
	for (size_t i = 0; i < nr; i++)
		order[i] = a[i].index;
	*ret = order;
	return 0;
}
