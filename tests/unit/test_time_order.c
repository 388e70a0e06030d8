// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Records come out as a stable sort of what each round lets go would have them; whatever order they
 * came in, and without memory growing while rounds go on.
 */
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "format/time_order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

PEV_DEFINE_CLEANUP(struct pev_time_order *, pev_time_order_free);

#define ROUND 0 /* no record has this time */

static struct pev_time_order *new_order(void)
{
	struct pev_time_order *o = NULL;

	assert_int_equal(pev_time_order_new(&o), 0);
	return o;
}

/* The bytes of record @i: its size and contents tell it from others. */
static uint32_t fill(uint8_t *bytes, uint32_t i)
{
	const uint32_t size = 8 + i % 61;

	for (uint32_t k = 0; k < size; k++)
		bytes[k] = (uint8_t)(i * 31 + k);
	return size;
}

static int put(struct pev_time_order *o, uint64_t time, uint32_t i)
{
	uint8_t bytes[128];
	const struct pev_waiting w = {
		.bytes = bytes,
		.size = fill(bytes, i),
		.tag = i,
		.time = time,
		.offset = ~(uint64_t)i,
	};

	return pev_time_order_put(o, &w);
}

static void assert_taken(const struct pev_waiting *w, uint64_t time, uint32_t i)
{
	uint8_t bytes[128];

	assert_true(w->time == time);
	assert_int_equal(w->tag, i);
	assert_true(w->offset == ~(uint64_t)i);
	assert_int_equal(w->size, fill(bytes, i));
	assert_memory_equal(w->bytes, bytes, w->size);
}

struct expected {
	uint64_t time;
	uint32_t i;
};

static int compare(const void *a, const void *b)
{
	const struct expected *const x = a, *const y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

/* Those of @waiting up to @limit, sorted, must come out now; returns how many are left. */
static size_t check_turn(struct pev_time_order *o, struct expected *waiting, size_t nr,
			 uint64_t limit)
{
	struct pev_waiting w;
	uint64_t time;
	size_t n = 0;

	qsort(waiting, nr, sizeof(*waiting), compare);
	for (; n < nr && waiting[n].time <= limit; n++) {
		assert_true(pev_time_order_peek(o, &time));
		assert_true(time == waiting[n].time);
		assert_true(pev_time_order_take(o, &w));
		assert_taken(&w, waiting[n].time, waiting[n].i);
	}
	assert_false(pev_time_order_peek(o, &time));
	assert_false(pev_time_order_take(o, &w));
	memmove(waiting, waiting + n, (nr - n) * sizeof(*waiting));
	return nr - n;
}

/* Puts records of these times, with ROUND for a finished round, and holds the order to the model.
 */
static uint64_t check(const uint64_t *times, size_t nr)
{
	_cleanup_(pev_time_order_freep) struct pev_time_order *o = new_order();
	_cleanup_free_ struct expected *waiting = calloc(nr + 1, sizeof(*waiting));
	uint64_t latest = 0, limit = 0;
	size_t n = 0;

	assert_non_null(waiting);
	for (size_t i = 0; i < nr; i++) {
		if (times[i] == ROUND) {
			pev_time_order_round(o);
			n = check_turn(o, waiting, n, limit);
			limit = latest;
			continue;
		}
		assert_int_equal(put(o, times[i], (uint32_t)i), 0);
		waiting[n++] = (struct expected){ times[i], (uint32_t)i };
		latest = PEV_MAX(latest, times[i]);
	}
	pev_time_order_end(o);
	assert_int_equal(check_turn(o, waiting, n, UINT64_MAX), 0);
	return pev_time_order_max_bytes(o);
}

static void test_small(void **state)
{
	static const struct {
		uint64_t times[12];
		size_t nr;
	} cases[] = {
		{ { 0 }, 0 },
		{ { ROUND }, 1 },
		{ { 5 }, 1 },
		{ { 1, 2, 3 }, 3 },
		{ { 3, 2, 1 }, 3 },
		{ { 2, 2, 2, 1, 2 }, 5 },
		{ { 5, ROUND, ROUND }, 3 },
		{ { 5, ROUND, 6, ROUND, 7, ROUND }, 6 },
		{ { 5, 9, ROUND, 6, 10, ROUND, 8, 11, ROUND }, 9 },
		{ { 5, ROUND, 6, ROUND, 1, ROUND, 7 },
		  7 }, /* 1 is too late, and comes all the same */
		{ { UINT64_MAX - 1, 1, ROUND, ROUND, 2 }, 5 },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++)
		(void)check(cases[i].times, cases[i].nr);
}

/* Rings of several CPUs, drained one after another, round after round. */
static size_t make_rings(uint64_t *random, unsigned int cpus, bool rounds, uint64_t *times,
			 size_t max)
{
	uint64_t now = 1000;
	size_t n = 0;

	while (n + 1 < max) {
		for (unsigned int cpu = 0; cpu < cpus; cpu++) {
			uint64_t t = now;

			for (uint64_t k = test_random(random) % 20; k > 0 && n + 1 < max; k--)
				times[n++] = t += test_random(random) % 5;
		}
		if (rounds)
			times[n++] = ROUND;
		now += 50;
	}
	return n;
}

static void test_rings(void **state)
{
	static const unsigned int cpus[] = { 1, 2, 3, 8, 64, 300, 2000 };
	static uint64_t times[20000];
	uint64_t random = 1;

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cpus); i++)
		for (int rounds = 0; rounds < 2; rounds++)
			(void)check(times, make_rings(&random, cpus[i], rounds, times,
						      PEV_ARRAY_SIZE(times)));
}

/* More runs than are kept: falling times, and no order at all. */
static void test_no_order(void **state)
{
	static uint64_t times[20000];
	const size_t nr = PEV_ARRAY_SIZE(times);
	uint64_t random = 2;

	(void)state;
	for (size_t i = 0; i < nr; i++)
		times[i] = nr - i;
	(void)check(times, nr);
	for (int rounds = 0; rounds < 2; rounds++) {
		for (size_t i = 0; i < nr; i++)
			times[i] = 1 + test_random(&random) % 10000;
		for (size_t i = 0; rounds && i < 50; i++)
			times[test_random(&random) % nr] = ROUND;
		(void)check(times, nr);
	}
}

static void test_large_records(void **state)
{
	_cleanup_(pev_time_order_freep) struct pev_time_order *o = new_order();
	_cleanup_free_ uint8_t *bytes = malloc(65535);
	struct pev_waiting w;

	(void)state;
	assert_non_null(bytes);
	for (uint32_t i = 0; i < 50; i++) {
		const struct pev_waiting large = {
			.bytes = bytes,
			.size = 65535 - i,
			.tag = i,
			.time = 100 - i,
		};

		memset(bytes, (int)i, 65535);
		assert_int_equal(pev_time_order_put(o, &large), 0);
	}
	pev_time_order_end(o);
	for (uint32_t i = 50; i-- > 0;) {
		assert_true(pev_time_order_take(o, &w));
		assert_int_equal(w.tag, i);
		assert_int_equal(w.size, 65535 - i);
		assert_int_equal(w.bytes[0], i);
		assert_int_equal(w.bytes[w.size - 1], i);
	}
}

/* Ten times the rounds take no more memory. */
static void test_memory_is_flat(void **state)
{
	static uint64_t times[200000];
	uint64_t random = 3, few, many;

	(void)state;
	few = check(times, make_rings(&random, 8, true, times, PEV_ARRAY_SIZE(times) / 10));
	random = 3;
	many = check(times, make_rings(&random, 8, true, times, PEV_ARRAY_SIZE(times)));
	assert_true(few > 0 && many < few + few / 2);
}

/* Freed in the middle of a turn, with records waiting. */
static void test_freed_in_a_turn(void **state)
{
	_cleanup_(pev_time_order_freep) struct pev_time_order *o = new_order();
	struct pev_waiting w;

	(void)state;
	pev_time_order_free(NULL);
	for (uint32_t i = 0; i < 3000; i++)
		assert_int_equal(put(o, 5000 - i, i), 0);
	pev_time_order_end(o);
	assert_true(pev_time_order_take(o, &w));
}

static void test_no_memory(void **state)
{
	bool failed = true;

	(void)state;
	for (unsigned int nth = 1; failed; nth++) {
		struct pev_time_order *o = NULL;
		int r;

		alloc_fail_at(nth);
		r = pev_time_order_new(&o);
		for (uint32_t i = 0; i < 200 && r == 0; i++)
			r = put(o, i % 2 ? 1000 - i : i + 1, i);
		failed = alloc_fail_end();
		assert_int_equal(r, failed ? -ENOMEM : 0);
		/* What was put before is still there. */
		if (o) {
			struct pev_waiting w;
			uint64_t last = 0;

			for (pev_time_order_end(o); pev_time_order_take(o, &w); last = w.time)
				assert_true(w.time >= last);
		}
		pev_time_order_free(o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),          cmocka_unit_test(test_rings),
		cmocka_unit_test(test_no_order),       cmocka_unit_test(test_large_records),
		cmocka_unit_test(test_memory_is_flat), cmocka_unit_test(test_freed_in_a_turn),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
