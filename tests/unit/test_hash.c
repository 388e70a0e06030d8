// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "base/hash.h"

#include <stdlib.h>

static int compare_u64(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void assert_distinct(uint64_t *hashes, size_t n)
{
	qsort(hashes, n, sizeof(*hashes), compare_u64);
	for (size_t i = 1; i < n; i++)
		assert_true(hashes[i - 1] != hashes[i]);
}

/* A bijection: no two of anything collide, and the low bits, which tables use, are well spread. */
static void test_u64_spreads(void **state)
{
	enum {
		N = 65536,
		BUCKETS = 256
	};
	static uint64_t hashes[N];
	unsigned int fill[BUCKETS] = { 0 };

	(void)state;
	for (uint64_t i = 0; i < N; i++) {
		hashes[i] = pev_hash_u64(i * 4096); /* page addresses: their low bits say nothing */
		fill[hashes[i] % BUCKETS]++;
	}
	for (size_t i = 0; i < BUCKETS; i++) {
		assert_true(fill[i] > N / BUCKETS / 2);
		assert_true(fill[i] < N / BUCKETS * 2);
	}
	assert_distinct(hashes, N);
}

/* Every length around the word size, every single bit, and zeros of every length differ. */
static void test_bytes_tell_apart(void **state)
{
	uint64_t hashes[1000];
	uint8_t bytes[40] = { 0 };
	size_t n = 0;

	(void)state;
	for (size_t size = 0; size <= sizeof(bytes); size++)
		hashes[n++] = pev_hash_bytes(bytes, size, 0);
	for (size_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		hashes[n++] = pev_hash_bytes(bytes, sizeof(bytes), 0);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	assert_distinct(hashes, n);
	for (n = 0; n < 100; n++)
		hashes[n] = pev_hash_bytes(bytes, sizeof(bytes), n);
	assert_distinct(hashes, n);
}

static void test_bytes_need_no_alignment(void **state)
{
	uint8_t bytes[64], shifted[64];
	uint64_t expected;

	(void)state;
	for (uint8_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	expected = pev_hash_bytes(bytes, 29, 5);
	for (size_t shift = 0; shift < 8; shift++) {
		memcpy(shifted + shift, bytes, 29);
		assert_true(pev_hash_bytes(shifted + shift, 29, 5) == expected);
	}
}

static void test_nothing(void **state)
{
	(void)state;
	assert_true(pev_hash_bytes(NULL, 0, 1) == pev_hash_bytes("", 0, 1));
	assert_true(pev_hash_bytes(NULL, 0, 1) != pev_hash_bytes(NULL, 0, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_u64_spreads),
		cmocka_unit_test(test_bytes_tell_apart),
		cmocka_unit_test(test_bytes_need_no_alignment),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
