// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "alloc.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "format/btf.h"

#include <errno.h>
#include <string.h>

/* Strings: 0 "", 1 "int", 5 "main_func", 15 "sub". */
#define STRINGS "\0int\0main_func\0sub"

static void put_type(struct pev_buf *b, uint32_t name, uint32_t kind, uint32_t vlen, size_t more)
{
	pev_buf_u32(b, name);
	pev_buf_u32(b, kind << 24 | vlen);
	pev_buf_u32(b, 0);
	pev_buf_zero(b, more);
}

static void put_header(struct pev_buf *b, uint32_t type_len)
{
	pev_buf_u16(b, 0xeb9f);
	pev_buf_u8(b, 1);
	pev_buf_u8(b, 0);
	pev_buf_u32(b, 24);
	pev_buf_u32(b, 0);
	pev_buf_u32(b, type_len);
	pev_buf_u32(b, type_len);
	pev_buf_u32(b, sizeof(STRINGS));
}

/* One of each kind, so that a wrong size of any shows in the names that follow. */
static void make(struct pev_buf *b)
{
	_cleanup_buf_ struct pev_buf types = { 0 };

	put_type(&types, 1, 1, 0, 4); /* 1: INT */
	for (uint32_t kind = 2; kind <= 19; kind++) {
		static const size_t more[20] = { [3] = 12, [4] = 24,  [5] = 24, [6] = 16, [13] = 16,
						 [14] = 4, [15] = 24, [17] = 4, [19] = 24 };

		put_type(&types, 0, kind, 2, more[kind]); /* 2..19 */
	}
	put_type(&types, 5, 12, 0, 0);  /* 20: FUNC */
	put_type(&types, 15, 12, 1, 0); /* 21: FUNC */
	put_type(&types, 99, 12, 0, 0); /* 22: FUNC with a name that is not there */
	put_header(b, (uint32_t)types.size);
	pev_buf_put(b, types.data, types.size);
	pev_buf_put(b, STRINGS, sizeof(STRINGS));
	assert_int_equal(pev_buf_status(b), 0);
}

static void test_names(void **state)
{
	_cleanup_buf_ struct pev_buf b = { 0 };
	_cleanup_(pev_btf_done) struct pev_btf btf = { 0 };

	(void)state;
	make(&b);
	assert_int_equal(pev_btf_index(b.data, b.size, &btf), 0);
	assert_int_equal(btf.nr, 23);
	assert_string_equal(pev_btf_name(&btf, 1), "int");
	assert_string_equal(pev_btf_name(&btf, 20), "main_func");
	assert_string_equal(pev_btf_name(&btf, 21), "sub");
	assert_null(pev_btf_name(&btf, 0));
	assert_null(pev_btf_name(&btf, 2));
	assert_null(pev_btf_name(&btf, 22));
	assert_null(pev_btf_name(&btf, 23));
	assert_null(pev_btf_name(&(struct pev_btf){ .nr = 0 }, 1));
}

/* A kind from the future hides what comes after it, not what came before. */
static void test_unknown_kind(void **state)
{
	_cleanup_buf_ struct pev_buf b = { 0 };
	_cleanup_(pev_btf_done) struct pev_btf btf = { 0 };

	(void)state;
	put_header(&b, 36);
	put_type(&b, 5, 12, 0, 0);
	put_type(&b, 1, 31, 0, 0);
	put_type(&b, 15, 12, 0, 0);
	pev_buf_put(&b, STRINGS, sizeof(STRINGS));
	assert_int_equal(pev_btf_index(b.data, b.size, &btf), 0);
	assert_string_equal(pev_btf_name(&btf, 1), "main_func");
	assert_null(pev_btf_name(&btf, 2));
	assert_null(pev_btf_name(&btf, 3));
}

static int index_copy(const struct pev_buf *b, size_t size)
{
	_cleanup_(pev_btf_done) struct pev_btf btf = { 0 };
	_cleanup_free_ uint8_t *copy = malloc(size + !size);
	int r;

	assert_non_null(copy);
	memcpy(copy, b->data, size);
	r = pev_btf_index(copy, size, &btf);
	if (r < 0) {
		assert_int_equal(btf.nr, 0);
		return r;
	}
	for (uint32_t id = 0; id <= btf.nr; id++) {
		const char *const name = pev_btf_name(&btf, id);

		if (name)
			assert_true(strlen(name) < size);
	}
	return 0;
}

static void test_damaged(void **state)
{
	_cleanup_buf_ struct pev_buf b = { 0 };

	(void)state;
	make(&b);
	for (size_t n = 0; n < b.size; n++)
		assert_int_equal(index_copy(&b, n), -ENODATA);
	for (size_t bit = 0; bit < b.size * 8; bit++) {
		b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		(void)index_copy(&b, b.size);
		b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	b.data[2] = 2;
	assert_int_equal(index_copy(&b, b.size), -EPROTONOSUPPORT);
	b.data[0] = 0;
	assert_int_equal(index_copy(&b, b.size), -EBADMSG);
}

static void test_without_memory(void **state)
{
	_cleanup_buf_ struct pev_buf b = { 0 };
	struct pev_btf btf;

	(void)state;
	make(&b);
	alloc_fail_at(1);
	assert_int_equal(pev_btf_index(b.data, b.size, &btf), -ENOMEM);
	assert_true(alloc_fail_end());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_unknown_kind),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
