// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "base/cleanup.h"
#include "base/cursor.h"

/* 30 bytes that say where they are. */
static const uint8_t bytes[30] = {
	0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e,
	0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d,
};

static void read_all(struct pev_cursor *c, bool big_endian)
{
	assert_int_equal(pev_cursor_u8(c), 0);
	assert_int_equal(pev_cursor_u16(c), big_endian ? 0x0102 : 0x0201);
	assert_int_equal(pev_cursor_u32(c), big_endian ? 0x03040506 : 0x06050403);
	assert_true(pev_cursor_u64(c) ==
		    (big_endian ? 0x0708090a0b0c0d0eULL : 0x0e0d0c0b0a090807ULL));
	assert_ptr_equal(pev_cursor_bytes(c, 15), bytes + 15);
	assert_false(c->failed);
	assert_int_equal(pev_cursor_left(c), 0);
}

static void test_reads_both_byte_orders(void **state)
{
	struct pev_cursor c = pev_cursor(bytes, sizeof(bytes));
	const bool big_endian_host = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	(void)state;
	read_all(&c, big_endian_host);
	c = pev_cursor(bytes, sizeof(bytes));
	c.swap = true;
	read_all(&c, !big_endian_host);
}

/* Each read, on every count of bytes too few for it: 0, failed, and the position stays. */
static void test_short_reads_fail(void **state)
{
	static const size_t sizes[] = { 1, 2, 4, 8, 13 };

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(sizes); i++) {
		for (size_t there = 0; there < sizes[i]; there++) {
			/* Exactly as much memory as is there, so that ASan sees a read too far. */
			_cleanup_free_ uint8_t *exact = malloc(there ? there : 1);
			struct pev_cursor c;

			memset(exact, 0xff, there);
			c = pev_cursor(exact, there);
			switch (sizes[i]) {
			case 1:
				assert_int_equal(pev_cursor_u8(&c), 0);
				break;
			case 2:
				assert_int_equal(pev_cursor_u16(&c), 0);
				break;
			case 4:
				assert_int_equal(pev_cursor_u32(&c), 0);
				break;
			case 8:
				assert_true(pev_cursor_u64(&c) == 0);
				break;
			default:
				assert_null(pev_cursor_bytes(&c, sizes[i]));
			}
			assert_true(c.failed);
			assert_ptr_equal(c.p, exact);
		}
	}
}

static void test_stays_failed(void **state)
{
	struct pev_cursor c = pev_cursor(bytes, 4);

	(void)state;
	assert_true(pev_cursor_u64(&c) == 0);
	assert_int_equal(pev_cursor_u8(&c), 0);
	assert_int_equal(pev_cursor_u32(&c), 0);
	assert_null(pev_cursor_bytes(&c, 0));
	assert_null(pev_cursor_str(&c, 1));
	assert_true(c.failed);
	assert_int_equal(pev_cursor_left(&c), 4);
}

static void test_huge_counts(void **state)
{
	static const size_t counts[] = { 31, SIZE_MAX, SIZE_MAX - 29, SIZE_MAX / 2 };

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(counts); i++) {
		struct pev_cursor c = pev_cursor(bytes, sizeof(bytes));

		assert_null(pev_cursor_bytes(&c, counts[i]));
		assert_true(c.failed);
		c = pev_cursor(bytes, sizeof(bytes));
		assert_null(pev_cursor_str(&c, counts[i]));
		assert_true(c.failed);
	}
}

static void test_nothing(void **state)
{
	struct pev_cursor c = pev_cursor(NULL, 0);

	(void)state;
	assert_int_equal(pev_cursor_left(&c), 0);
	(void)pev_cursor_bytes(&c, 0);
	assert_false(c.failed);
	assert_null(pev_cursor_str(&c, 0));
	assert_true(c.failed);
	c = pev_cursor(NULL, 0);
	assert_int_equal(pev_cursor_u8(&c), 0);
	assert_true(c.failed);
}

static void test_str(void **state)
{
	static const struct {
		const char *field;
		size_t size;
		const char *s; /* NULL: no terminator within the field */
	} cases[] = {
		{ "abc", 4, "abc" }, { "abc\0\0\0\0", 8, "abc" }, { "", 1, "" },
		{ "a\0b", 4, "a" },  { "abc", 3, NULL },          { "", 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		_cleanup_free_ uint8_t *exact = malloc(cases[i].size + 1);
		struct pev_cursor c;
		const char *s;

		memcpy(exact, cases[i].field, cases[i].size);
		exact[cases[i].size] = 0x5a;
		c = pev_cursor(exact, cases[i].size + 1);
		s = pev_cursor_str(&c, cases[i].size);
		if (!cases[i].s) {
			assert_null(s);
			assert_true(c.failed);
			continue;
		}
		assert_string_equal(s, cases[i].s);
		assert_int_equal(pev_cursor_u8(&c), 0x5a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads_both_byte_orders),
		cmocka_unit_test(test_short_reads_fail),
		cmocka_unit_test(test_stays_failed),
		cmocka_unit_test(test_huge_counts),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_str),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
