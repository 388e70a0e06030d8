// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "unwind/radix.h"
#include "unwind/strings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void equal_strings_are_one(void **state)
{
	struct pev_strings pool = { 0 };
	const char *const a = pev_strings_put(&pool, "frame", 5);
	const char *const b = pev_strings_put(&pool, "framed", 5);

	(void)state;
	assert_ptr_equal(a, b);
	assert_string_equal(a, "frame");
	assert_ptr_not_equal(a, pev_strings_put(&pool, "framed", 6));
	assert_string_equal(pev_strings_put(&pool, "", 0), "");
	pev_strings_done(&pool);
}

static void strings_stay_where_they_are(void **state)
{
	enum {
		NR = 20000
	};
	static const char *kept[NR];
	struct pev_strings pool = { 0 };
	char big[40000], text[32];

	(void)state;
	memset(big, 'x', sizeof(big));
	for (size_t i = 0; i < NR; i++) {
		const int n = snprintf(text, sizeof(text), "name%zu", i);

		kept[i] = pev_strings_put(&pool, text, (size_t)n);
		/* Bigger than what shares a chunk, and each of another length. */
		if (i % 1000 == 0)
			assert_non_null(pev_strings_put(&pool, big, 20000 + i));
	}
	for (size_t i = 0; i < NR; i++) {
		const int n = snprintf(text, sizeof(text), "name%zu", i);

		assert_ptr_equal(kept[i], pev_strings_put(&pool, text, (size_t)n));
		assert_string_equal(kept[i], text);
	}
	assert_int_equal(pool.nr, NR + NR / 1000);
	pev_strings_done(&pool);
}

static void radix_order_sorts_and_is_stable(void **state)
{
	static const size_t sizes[] = { 0, 1, 2, 17, 5000 };
	static uint64_t keys[5000];
	uint64_t seed = 1;

	(void)state;
	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		for (unsigned bits = 1; bits <= 64; bits += 7) {
			uint32_t *order = NULL;

			for (size_t i = 0; i < sizes[s]; i++) {
				seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
				keys[i] = seed >> (64 - bits);
			}
			assert_int_equal(pev_radix_order(keys, sizes[s], &order), 0);
			for (size_t i = 1; i < sizes[s]; i++) {
				assert_true(keys[order[i - 1]] <= keys[order[i]]);
				if (keys[order[i - 1]] == keys[order[i]])
					assert_true(order[i - 1] < order[i]);
			}
			free(order);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_strings_are_one),
		cmocka_unit_test(strings_stay_where_they_are),
		cmocka_unit_test(radix_order_sorts_and_is_stable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
