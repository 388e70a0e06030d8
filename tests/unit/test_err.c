// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "base/err.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static void test_set(void **state)
{
	struct pev_err err = PEV_ERR_INIT;

	(void)state;
	assert_int_equal(err.code, 0);
	assert_string_equal(err.msg, "");
	assert_int_equal(pev_err_set(&err, -EBADMSG, "record %d is corrupt", 7), -EBADMSG);
	assert_err(&err, -EBADMSG, "record 7 is corrupt");
	assert_int_equal(pev_err_set(&err, -ENODATA, "cut"), -ENODATA);
	assert_err(&err, -ENODATA, "cut");
}

static void test_wrap(void **state)
{
	struct pev_err err = PEV_ERR_INIT;

	(void)state;
	pev_err_set(&err, -ENOENT, "no such file");
	assert_int_equal(pev_err_wrap(&err, "open %s", "a.data"), -ENOENT);
	assert_int_equal(pev_err_wrap(&err, "report"), -ENOENT);
	assert_err(&err, -ENOENT, "report: open a.data: no such file");
}

static void test_nobody_listens(void **state)
{
	(void)state;
	assert_int_equal(pev_err_set(NULL, -EINVAL, "x"), -EINVAL);
	assert_int_equal(pev_err_wrap(NULL, "x"), -EIO);
}

static void test_wrap_of_nothing(void **state)
{
	struct pev_err err = PEV_ERR_INIT;

	(void)state;
	assert_int_equal(pev_err_wrap(&err, "alone"), -EIO);
	assert_string_equal(err.msg, "alone");
}

/* A story that is too long is cut at its end; the outermost words, which come first, stay. */
static void test_long_stories(void **state)
{
	struct pev_err err = PEV_ERR_INIT;
	char text[3000];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	assert_int_equal(pev_err_set(&err, -EIO, "%s", text), -EIO);
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
	assert_int_equal(pev_err_wrap(&err, "outside"), -EIO);
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
	assert_memory_equal(err.msg, "outside: xxx", 12);
	assert_int_equal(pev_err_wrap(&err, "%s", text), -EIO);
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
	assert_int_equal(err.code, -EIO);
}

static void test_errno_str(void **state)
{
	static const int unknown[] = { 100000, -100000, INT_MAX, INT_MIN };

	(void)state;
	assert_string_equal(pev_errno_str(ENOENT), "No such file or directory");
	assert_string_equal(pev_errno_str(-ENOENT), "No such file or directory");
	assert_string_equal(pev_errno_str(0), "Success");
	for (size_t i = 0; i < PEV_ARRAY_SIZE(unknown); i++)
		assert_string_equal(pev_errno_str(unknown[i]), "Unknown error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_nobody_listens),
		cmocka_unit_test(test_wrap_of_nothing),
		cmocka_unit_test(test_long_stories),
		cmocka_unit_test(test_errno_str),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
