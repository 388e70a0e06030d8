// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "base/cleanup.h"
#include "recorder/cpus.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

static void test_lists(void **state)
{
	static const struct {
		const char *text;
		size_t nr;
		int cpus[8];
	} cases[] = {
		{ "", 0, { 0 } },
		{ "0", 1, { 0 } },
		{ "0-3", 4, { 0, 1, 2, 3 } },
		{ "3,1,1-2", 3, { 1, 2, 3 } },
		{ "0-1,64,65535", 4, { 0, 1, 64, 65535 } },
		{ "5\n", 1, { 5 } },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		_cleanup_cpus_ struct pev_cpus c = { 0 };

		assert_int_equal(pev_cpus_parse(cases[i].text, &c, NULL), 0);
		assert_int_equal(c.nr, cases[i].nr);
		if (c.nr)
			assert_memory_equal(c.cpus, cases[i].cpus, c.nr * sizeof(c.cpus[0]));
	}
}

static void test_refuses(void **state)
{
	static const char *const texts[] = { "x",   "1-",    "-1",
					     "3-1", "1,,2",  "0x1",
					     "1 2", "65536", "99999999999999999999" };

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(texts); i++) {
		struct pev_err err = PEV_ERR_INIT;
		struct pev_cpus c = { 0 };
		char expected[128];

		(void)snprintf(expected, sizeof(expected),
			       "'%s' is no list of CPUs: write it like 0-3,8", texts[i]);
		assert_int_equal(pev_cpus_parse(texts[i], &c, &err), -EINVAL);
		assert_err(&err, -EINVAL, expected);
		assert_null(c.cpus);
	}
}

static void test_online(void **state)
{
	_cleanup_cpus_ struct pev_cpus c = { 0 };

	(void)state;
	assert_int_equal(pev_cpus_online(&c, NULL), 0);
	assert_true(c.nr > 0);
	assert_true(pev_cpus_has(&c, sched_getcpu()));
	assert_false(pev_cpus_has(&c, PEV_CPUS_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_online),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
