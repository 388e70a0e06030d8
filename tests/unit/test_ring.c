// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "fake_ring.h"

#include <string.h>

static uint8_t bytes[PEV_REC_MAX_SIZE];

static void write_record(struct fake_ring *f, uint32_t type, uint16_t size)
{
	const struct pev_rec_hdr hdr = { .type = type, .size = size };

	memset(bytes, (int)type, size);
	memcpy(bytes, &hdr, sizeof(hdr));
	fake_ring_write(f, bytes, size);
}

static void expect_record(struct fake_ring *f, uint32_t type, uint16_t size)
{
	struct pev_rec_hdr hdr;
	const uint8_t *const p = pev_ring_next(&f->ring, &hdr);

	assert_non_null(p);
	assert_int_equal(hdr.type, type);
	assert_int_equal(hdr.size, size);
	for (size_t i = sizeof(hdr); i < size; i++)
		assert_int_equal(p[i], (uint8_t)type);
}

static void test_empty(void **state)
{
	struct fake_ring f;
	struct pev_rec_hdr hdr;

	(void)state;
	fake_ring_init(&f, FAKE_RING_BYTES);
	assert_int_equal(pev_ring_begin(&f.ring), 0);
	assert_null(pev_ring_next(&f.ring, &hdr));
	fake_ring_done(&f);
}

/* Records of many sizes, so that they wrap at every place a record can. */
static void test_wraps_everywhere(void **state)
{
	struct fake_ring f;
	struct pev_rec_hdr hdr;
	uint64_t bytes_in = 0, records = 0;

	(void)state;
	fake_ring_init(&f, FAKE_RING_BYTES);
	for (uint32_t i = 0; i < 5000; i++) {
		const uint16_t a = (uint16_t)(8 + 8 * (i % 97)), b = (uint16_t)(16 + 8 * (i % 31));

		write_record(&f, i, a);
		write_record(&f, i + 1, b);
		assert_int_equal(pev_ring_begin(&f.ring), a + b);
		expect_record(&f, i, a);
		expect_record(&f, i + 1, b);
		assert_null(pev_ring_next(&f.ring, &hdr));
		pev_ring_release(&f.ring);
		bytes_in += a + b;
		records += 2;
		assert_int_equal(fake_ring_tail(&f), bytes_in);
	}
	assert_int_equal(f.ring.stats.records, records);
	assert_int_equal(f.ring.stats.bytes, bytes_in);
	assert_int_equal(f.ring.stats.corrupt, 0);
	fake_ring_done(&f);
}

static void test_gives_back_what_lies_before_the_last(void **state)
{
	struct fake_ring f;

	(void)state;
	fake_ring_init(&f, FAKE_RING_BYTES);
	write_record(&f, 1, 64);
	write_record(&f, 2, 128);
	(void)pev_ring_begin(&f.ring);
	expect_record(&f, 1, 64);
	pev_ring_release_before_last(&f.ring);
	assert_int_equal(fake_ring_tail(&f), 0);
	expect_record(&f, 2, 128);
	pev_ring_release_before_last(&f.ring);
	assert_int_equal(fake_ring_tail(&f), 64);
	pev_ring_release(&f.ring);
	assert_int_equal(fake_ring_tail(&f), 192);
	fake_ring_done(&f);
}

/* What the kernel writes after begin() is seen by the next begin() only. */
static void test_sees_a_snapshot_of_the_head(void **state)
{
	struct fake_ring f;
	struct pev_rec_hdr hdr;

	(void)state;
	fake_ring_init(&f, FAKE_RING_BYTES);
	write_record(&f, 1, 8);
	(void)pev_ring_begin(&f.ring);
	write_record(&f, 2, 8);
	expect_record(&f, 1, 8);
	assert_null(pev_ring_next(&f.ring, &hdr));
	assert_int_equal(pev_ring_begin(&f.ring), 8);
	expect_record(&f, 2, 8);
	fake_ring_done(&f);
}

static void test_corrupt_headers(void **state)
{
	static const struct {
		uint16_t size;
		size_t there;
	} cases[] = { { 0, 64 }, { 7, 64 }, { 72, 64 }, { 12, 64 }, { 65528, 64 } };

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		struct pev_rec_hdr hdr = { .type = 9, .size = cases[i].size };
		struct fake_ring f;

		fake_ring_init(&f, FAKE_RING_BYTES);
		write_record(&f, 1, 16);
		memset(bytes, 0, cases[i].there);
		memcpy(bytes, &hdr, sizeof(hdr));
		fake_ring_write(&f, bytes, cases[i].there);
		(void)pev_ring_begin(&f.ring);
		expect_record(&f, 1, 16);
		assert_null(pev_ring_next(&f.ring, &hdr));
		assert_int_equal(f.ring.stats.corrupt, 1);
		/* All that waited is dropped, and the next record is fine again. */
		pev_ring_release(&f.ring);
		write_record(&f, 2, 24);
		(void)pev_ring_begin(&f.ring);
		expect_record(&f, 2, 24);
		fake_ring_done(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_wraps_everywhere),
		cmocka_unit_test(test_gives_back_what_lies_before_the_last),
		cmocka_unit_test(test_sees_a_snapshot_of_the_head),
		cmocka_unit_test(test_corrupt_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
