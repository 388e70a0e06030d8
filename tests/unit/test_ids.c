// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "format/ids.h"

#include <errno.h>

#define _cleanup_ids_ _cleanup_(pev_ids_done)

static void test_empty(void **state)
{
	_cleanup_ids_ struct pev_ids ids = { 0 };

	(void)state;
	assert_null(pev_ids_find(&ids, 0));
	assert_null(pev_ids_find(&ids, 1));
	assert_null(pev_ids_find(&ids, UINT64_MAX));
}

/* As the kernel hands them out, as a hostile file may: all in one slot, and at random. */
static uint64_t sequence(uint64_t i)
{
	return 1000 + i;
}

static uint64_t crowd(uint64_t i)
{
	return (i + 1) << 20;
}

static uint64_t anything(uint64_t i)
{
	return test_random(&i) | 1;
}

static void test_find(void **state)
{
	static uint64_t (*const kinds[])(uint64_t i) = { sequence, crowd, anything };
	enum {
		NR = 3000
	};

	(void)state;
	for (size_t k = 0; k < PEV_ARRAY_SIZE(kinds); k++) {
		_cleanup_ids_ struct pev_ids ids = { 0 };

		for (uint32_t i = 0; i < NR; i++)
			assert_int_equal(pev_ids_add(&ids, kinds[k](i), i, i * 2), 0);
		assert_int_equal(ids.nr, NR);
		assert_true(ids.nr <= (ids.mask + 1) / 2 + 1);
		for (uint32_t i = 0; i < NR; i++) {
			const struct pev_id *const id = pev_ids_find(&ids, kinds[k](i));

			assert_non_null(id);
			assert_int_equal(id->id, kinds[k](i));
			assert_int_equal(id->event, i);
			assert_int_equal(id->ring, i * 2);
		}
		for (uint32_t i = NR; i < 2 * NR; i++)
			assert_null(pev_ids_find(&ids, kinds[k](i)));
		assert_null(pev_ids_find(&ids, 0));
	}
}

static void test_first_stays(void **state)
{
	_cleanup_ids_ struct pev_ids ids = { 0 };

	(void)state;
	assert_int_equal(pev_ids_add(&ids, 7, 1, 2), 0);
	assert_int_equal(pev_ids_add(&ids, 7, 3, 4), 0);
	assert_int_equal(ids.nr, 1);
	assert_int_equal(pev_ids_find(&ids, 7)->event, 1);
}

/* 0 is no id, and takes no slot. */
static void test_zero(void **state)
{
	_cleanup_ids_ struct pev_ids ids = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(pev_ids_add(&ids, 0, 1, 2), 0);
	assert_null(pev_ids_find(&ids, 0));
	assert_int_equal(ids.nr, 0);
}

static void test_no_memory(void **state)
{
	(void)state;
	for (unsigned int nth = 1;; nth++) {
		_cleanup_ids_ struct pev_ids ids = { 0 };
		uint32_t added = 0;

		alloc_fail_at(nth);
		while (added < 200 && pev_ids_add(&ids, added + 1, added, 0) == 0)
			added++;
		if (!alloc_fail_end()) {
			assert_int_equal(added, 200);
			break;
		}
		assert_int_equal(ids.nr, added);
		/* What was there stays, and another try works. */
		assert_int_equal(pev_ids_add(&ids, added + 1, added, 0), 0);
		for (uint32_t i = 0; i <= added; i++)
			assert_int_equal(pev_ids_find(&ids, i + 1)->event, i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),       cmocka_unit_test(test_find),
		cmocka_unit_test(test_first_stays), cmocka_unit_test(test_zero),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
