// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "base/checked.h"

static void test_add_size(void **state)
{
	static const struct {
		size_t a, b, sum;
		bool fits;
	} cases[] = {
		{ 0, 0, 0, true },
		{ 1, 2, 3, true },
		{ SIZE_MAX, 0, SIZE_MAX, true },
		{ SIZE_MAX - 1, 1, SIZE_MAX, true },
		{ SIZE_MAX, 1, 0, false },
		{ SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1, 0, false },
		{ SIZE_MAX, SIZE_MAX, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		size_t sum = 4711;

		assert_int_equal(pev_add_size(cases[i].a, cases[i].b, &sum), cases[i].fits);
		assert_int_equal(sum, cases[i].fits ? cases[i].sum : 4711);
	}
}

static void test_mul_size(void **state)
{
	static const struct {
		size_t a, b, product;
		bool fits;
	} cases[] = {
		{ 0, SIZE_MAX, 0, true },          { 3, 4, 12, true },
		{ SIZE_MAX, 1, SIZE_MAX, true },   { SIZE_MAX / 2, 2, SIZE_MAX - 1, true },
		{ SIZE_MAX / 2 + 1, 2, 0, false }, { SIZE_MAX, SIZE_MAX, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		size_t product = 4711;

		assert_int_equal(pev_mul_size(cases[i].a, cases[i].b, &product), cases[i].fits);
		assert_int_equal(product, cases[i].fits ? cases[i].product : 4711);
	}
}

static void test_add_u64(void **state)
{
	uint64_t sum = 4711;

	(void)state;
	assert_true(pev_add_u64(UINT64_MAX - 5, 5, &sum));
	assert_true(sum == UINT64_MAX);
	assert_false(pev_add_u64(UINT64_MAX - 5, 6, &sum));
	assert_true(sum == UINT64_MAX);
}

static void test_align8(void **state)
{
	static const size_t cases[][2] = {
		{ 0, 0 }, { 1, 8 }, { 7, 8 }, { 8, 8 }, { 9, 16 }, { SIZE_MAX - 7, SIZE_MAX - 7 },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++)
		assert_int_equal(pev_align8(cases[i][0]), cases[i][1]);
}

static void test_is_pow2(void **state)
{
	(void)state;
	assert_false(pev_is_pow2(0));
	assert_false(pev_is_pow2(3));
	assert_false(pev_is_pow2(UINT64_MAX));
	for (int shift = 0; shift < 64; shift++) {
		assert_true(pev_is_pow2(1ULL << shift));
		assert_int_equal(pev_is_pow2((1ULL << shift) + 1), shift == 0);
	}
}

static void test_limits(void **state)
{
	static const int three[3];

	(void)state;
	assert_int_equal(PEV_ARRAY_SIZE(three), 3);
	assert_int_equal(PEV_MIN(2, 3), 2);
	assert_int_equal(PEV_MAX(2, 3), 3);
	assert_true(PEV_NSEC_PER_SEC == 1000 * PEV_NSEC_PER_MSEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add_size), cmocka_unit_test(test_mul_size),
		cmocka_unit_test(test_add_u64),  cmocka_unit_test(test_align8),
		cmocka_unit_test(test_is_pow2),  cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
