// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "alloc.h"
#include "base/buf.h"
#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

static void test_puts(void **state)
{
	_cleanup_buf_ struct pev_buf b = { 0 };
	static const uint8_t expected[] = { 1, 2, 2, 3, 3, 3, 3, 4,   4,  4,
					    4, 4, 4, 4, 4, 0, 0, 'x', 'y' };

	(void)state;
	pev_buf_u8(&b, 1);
	pev_buf_u16(&b, 0x0202);
	pev_buf_u32(&b, 0x03030303);
	pev_buf_u64(&b, 0x0404040404040404);
	pev_buf_zero(&b, 2);
	pev_buf_put(&b, "xy", 2);
	pev_buf_put(&b, NULL, 0);
	assert_int_equal(pev_buf_status(&b), 0);
	assert_int_equal(b.size, sizeof(expected));
	assert_memory_equal(b.data, expected, sizeof(expected));
}

static void test_integers_are_in_host_order(void **state)
{
	_cleanup_buf_ struct pev_buf b = { 0 };
	const uint16_t u16 = 0x1234;
	const uint32_t u32 = 0x12345678;
	const uint64_t u64 = 0x123456789abcdef0;

	(void)state;
	pev_buf_u16(&b, u16);
	pev_buf_u32(&b, u32);
	pev_buf_u64(&b, u64);
	assert_memory_equal(b.data, &u16, 2);
	assert_memory_equal(b.data + 2, &u32, 4);
	assert_memory_equal(b.data + 6, &u64, 8);
}

static void test_str8(void **state)
{
	static const struct {
		const char *s;
		size_t size;
	} cases[] = {
		{ "", 8 },
		{ "a", 8 },
		{ "1234567", 8 },
		{ "12345678", 16 },
		{ "123456789abcdef", 16 },
		{ "0123456789abcdef", 24 },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		_cleanup_buf_ struct pev_buf b = { 0 };
		const char zeros[8] = { 0 };
		const size_t length = strlen(cases[i].s);

		/* The padding is reckoned from where the string starts. */
		pev_buf_put(&b, "---", 3);
		pev_buf_str8(&b, cases[i].s);
		assert_int_equal(b.size, 3 + cases[i].size);
		assert_string_equal((const char *)b.data + 3, cases[i].s);
		assert_memory_equal(b.data + 3 + length, zeros, cases[i].size - length);
	}
}

static void test_printf(void **state)
{
	_cleanup_buf_ struct pev_buf b = { 0 };
	char long_text[1001];

	(void)state;
	memset(long_text, 'x', 1000);
	long_text[1000] = 0;
	pev_buf_printf(&b, "%d-%s", 42, "ab");
	assert_int_equal(b.size, 5);
	pev_buf_printf(&b, "%s", "");
	assert_int_equal(b.size, 5);
	pev_buf_printf(&b, "%s", long_text);
	assert_int_equal(b.size, 1005);
	assert_memory_equal(b.data, "42-abxxx", 8);
	assert_int_equal(b.data[1004], 'x');
}

static void test_growth_keeps_the_bytes(void **state)
{
	_cleanup_buf_ struct pev_buf b = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 50000; i++)
		pev_buf_u32(&b, i);
	assert_int_equal(b.size, 200000);
	for (uint32_t i = 0; i < 50000; i++)
		assert_memory_equal(b.data + 4 * i, &i, 4);
}

static void test_extend(void **state)
{
	_cleanup_buf_ struct pev_buf b = { 0 };
	uint8_t *p;

	(void)state;
	assert_non_null(pev_buf_extend(&b, 0));
	assert_int_equal(b.size, 0);
	p = pev_buf_extend(&b, 1000);
	assert_ptr_equal(p, b.data);
	memset(p, 7, 1000);
	assert_int_equal(b.size, 1000);
}

static void test_reset_keeps_the_memory(void **state)
{
	_cleanup_buf_ struct pev_buf b = { 0 };
	const uint8_t *data;

	(void)state;
	pev_buf_zero(&b, 100);
	data = b.data;
	pev_buf_reset(&b);
	assert_int_equal(b.size, 0);
	pev_buf_zero(&b, 100);
	assert_ptr_equal(b.data, data);
}

static void test_too_big(void **state)
{
	_cleanup_buf_ struct pev_buf b = { 0 };

	(void)state;
	pev_buf_u8(&b, 1);
	assert_null(pev_buf_extend(&b, SIZE_MAX));
	assert_int_equal(pev_buf_status(&b), -ENOMEM);
	assert_int_equal(b.size, 1);
}

/* What is put after a failure is dropped, whatever it is; what was there before stays. */
static void test_failure_stays(void **state)
{
	_cleanup_buf_ struct pev_buf b = { 0 };

	(void)state;
	pev_buf_put(&b, "keep", 4);
	alloc_fail_at(1);
	pev_buf_zero(&b, 10000);
	assert_true(alloc_fail_end());
	assert_int_equal(pev_buf_status(&b), -ENOMEM);

	pev_buf_u8(&b, 1);
	pev_buf_u64(&b, 1);
	pev_buf_put(&b, "x", 1);
	pev_buf_str8(&b, "x");
	pev_buf_printf(&b, "x");
	assert_null(pev_buf_extend(&b, 0));
	assert_int_equal(b.size, 4);
	assert_memory_equal(b.data, "keep", 4);
	assert_int_equal(pev_buf_status(&b), -ENOMEM);

	pev_buf_reset(&b);
	assert_int_equal(pev_buf_status(&b), 0);
	pev_buf_zero(&b, 10000);
	assert_int_equal(b.size, 10000);
}

static void test_first_allocation_fails(void **state)
{
	struct pev_buf b = { 0 };

	(void)state;
	alloc_fail_at(1);
	pev_buf_printf(&b, "%s", "text");
	assert_true(alloc_fail_end());
	assert_int_equal(pev_buf_status(&b), -ENOMEM);
	assert_int_equal(b.size, 0);
	pev_buf_done(&b);
	pev_buf_done(&b);
	assert_null(b.data);
	assert_int_equal(pev_buf_status(&b), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_puts),
		cmocka_unit_test(test_integers_are_in_host_order),
		cmocka_unit_test(test_str8),
		cmocka_unit_test(test_printf),
		cmocka_unit_test(test_growth_keeps_the_bytes),
		cmocka_unit_test(test_extend),
		cmocka_unit_test(test_reset_keeps_the_memory),
		cmocka_unit_test(test_too_big),
		cmocka_unit_test(test_failure_stays),
		cmocka_unit_test(test_first_allocation_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
