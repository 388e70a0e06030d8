// SPDX-License-Identifier: LGPL-2.1-or-later
/* The record layer at its edges: what it refuses and in which words, its limits, its small helpers.
 */
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "record_make.h"

#include <errno.h>
#include <string.h>

#define H(v)   (uint8_t)(v), (uint8_t)((v) >> 8)
#define W(v)   H(v), H((v) >> 16)
#define Q(v)   W((uint64_t)(v)), W((uint64_t)(v) >> 32)
#define BAD    "its fields do not fit its size"
#define NO_REC "no record of the kernel that we know"

/* Bytes are little-endian; a host of the other order reads them swapped. */
static const bool swap = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__;

/* clang-format off */
static const struct {
	const char *why;
	uint64_t sample_type;
	uint8_t bytes[64];
	size_t size;
	int r;
	const char *msg;
} refusals[] = {
	{ "nothing", 0, { 0 }, 0, -ENODATA, "record cut within its header" },
	{ "half a header", 0, { W(9), H(0) }, 6, -ENODATA, "record cut within its header" },
	{ "size 0", 0, { W(9), H(0), H(0) }, 8,
	  -EBADMSG, "record SAMPLE of 0 bytes: smaller than its own header" },
	{ "zeros", 0, { 0 }, 64,
	  -EBADMSG, "record of type 0, 0 bytes: smaller than its own header" },
	{ "size 7", 0, { W(3), H(0), H(7) }, 8,
	  -EBADMSG, "record COMM of 7 bytes: smaller than its own header" },
	{ "cut", 0, { W(2), H(0), H(24), Q(1) }, 16,
	  -ENODATA, "record LOST of 24 bytes: cut short" },
	{ "too small", 0, { W(2), H(0), H(16), Q(1) }, 16,
	  -EBADMSG, "record LOST of 16 bytes: " BAD },
	{ "type 0", 0, { W(0), H(0), H(8) }, 8,
	  -EPROTONOSUPPORT, "record of type 0, 8 bytes: " NO_REC },
	{ "newer kernel", 0, { W(23), H(0), H(8) }, 8,
	  -EPROTONOSUPPORT, "record of type 23, 8 bytes: " NO_REC },
	{ "user type", 0, { W(68), H(0), H(8) }, 8,
	  -EPROTONOSUPPORT, "record FINISHED_ROUND of 8 bytes: " NO_REC },
	{ "huge type", 0, { W(0xffffffff), H(0), H(8) }, 8,
	  -EPROTONOSUPPORT, "record of type 4294967295, 8 bytes: " NO_REC },
	{ "no NUL", 0, { W(3), H(0), H(24), W(1), W(1), 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' }, 24,
	  -EBADMSG, "record COMM of 24 bytes: " BAD },
	{ "no name", 0, { W(3), H(0), H(16), W(1), W(1) }, 16,
	  -EBADMSG, "record COMM of 16 bytes: " BAD },
	{ "build-id of 21", 0, { W(10), H(1 << 14), H(64), Q(0), Q(0), Q(0), Q(0), 21 }, 64,
	  -EBADMSG, "record MMAP2 of 64 bytes: " BAD },
	{ "chain overflow", PEV_SAMPLE_CALLCHAIN, { W(9), H(0), H(24), Q(1ULL << 61), Q(0) }, 24,
	  -EBADMSG, "record SAMPLE of 24 bytes: " BAD },
	{ "raw too long", PEV_SAMPLE_RAW, { W(9), H(0), H(16), W(0xffffffff) }, 16,
	  -EBADMSG, "record SAMPLE of 16 bytes: " BAD },
	{ "branch overflow", PEV_SAMPLE_BRANCH_STACK,
	  { W(9), H(0), H(24), Q(0xaaaaaaaaaaaaaaabULL), Q(0) }, 24,
	  -EBADMSG, "record SAMPLE of 24 bytes: " BAD },
	{ "more stack than dumped", PEV_SAMPLE_STACK_USER,
	  { W(9), H(0), H(32), Q(8), Q(0), Q(9) }, 32,
	  -EBADMSG, "record SAMPLE of 32 bytes: " BAD },
	{ "namespaces overflow", 0, { W(16), H(0), H(24), Q(0), Q(1ULL << 63) }, 24,
	  -EBADMSG, "record NAMESPACES of 24 bytes: " BAD },
	{ "poke too long", 0, { W(20), H(0), H(24), Q(0), H(5), H(0) }, 24,
	  -EBADMSG, "record TEXT_POKE of 24 bytes: " BAD },
	{ "pokes too long", 0, { W(20), H(0), H(24), Q(0), H(4), H(1) }, 24,
	  -EBADMSG, "record TEXT_POKE of 24 bytes: " BAD },
};
/* clang-format on */

static void test_refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(refusals); i++) {
		const struct pev_attr attr = { .sample_type = refusals[i].sample_type,
					       .flags = PEV_ATTR_BUILD_ID };
		_cleanup_free_ uint8_t *bytes = malloc(refusals[i].size + !refusals[i].size);
		struct pev_err err = PEV_ERR_INIT;
		struct pev_record got;

		memcpy(bytes, refusals[i].bytes, refusals[i].size);
		print_message("%s\n", refusals[i].why);
		assert_int_equal(
			pev_record_decode(&attr, bytes, refusals[i].size, swap, &got, &err),
			refusals[i].r);
		assert_err(&err, refusals[i].r, refusals[i].msg);
		/* And nobody needs to listen. */
		assert_int_equal(
			pev_record_decode(&attr, bytes, refusals[i].size, swap, &got, NULL),
			refusals[i].r);
	}
}

/* A record without the trailer that the event promises, as older perfs synthesise them, is read. */
static void test_missing_trailer(void **state)
{
	const struct pev_attr attr = {
		.sample_type = PEV_SAMPLE_TID | PEV_SAMPLE_TIME | PEV_SAMPLE_CPU,
		.flags = PEV_ATTR_SAMPLE_ID_ALL,
	};
	const uint8_t bytes[] = { W(13), H(0), H(16), Q(42) };
	struct pev_record got;

	(void)state;
	assert_int_equal(pev_record_decode(&attr, bytes, sizeof(bytes), swap, &got, NULL), 0);
	assert_true(got.lost_samples.lost == 42);
	assert_true(got.id.has == 0);
	assert_int_equal(got.rest, 0);
}

/* What a newer kernel adds behind the fields that we know is left over, and counted. */
static void test_rest(void **state)
{
	const struct pev_attr attr = { .sample_type = PEV_SAMPLE_TID,
				       .flags = PEV_ATTR_SAMPLE_ID_ALL };
	const uint8_t bytes[] = { W(2), H(0), H(40), Q(1), Q(2), Q(3), W(4), W(5) };
	const uint8_t sample[] = { W(9), H(0), H(32), W(6), W(7), Q(1), Q(2) };
	struct pev_record got;

	(void)state;
	assert_int_equal(pev_record_decode(&attr, bytes, sizeof(bytes), swap, &got, NULL), 0);
	assert_int_equal(got.rest, 8);
	assert_true(got.lost.id == 1 && got.lost.lost == 2);
	assert_true(got.id.pid == 4 && got.id.tid == 5);
	assert_int_equal(pev_record_decode(&attr, sample, sizeof(sample), swap, &got, NULL), 0);
	assert_int_equal(got.rest, 16);
	assert_true(got.id.pid == 6 && got.id.tid == 7);
}

/* More bytes may follow than the record has: it is read from a ring or a file. */
static void test_more_follows(void **state)
{
	const struct pev_attr attr = { .sample_type = PEV_SAMPLE_IP };
	const uint8_t bytes[] = { W(9), H(2), H(16), Q(0x1234), Q(-1) };
	struct pev_record got;

	(void)state;
	assert_int_equal(pev_record_decode(&attr, bytes, sizeof(bytes), swap, &got, NULL), 0);
	assert_int_equal(got.hdr.size, 16);
	assert_int_equal(got.hdr.misc, PEV_MISC_USER);
	assert_true(got.sample.ip == 0x1234);
	assert_int_equal(got.rest, 0);
}

/* The size word of a stack dump is where ->offset says, whatever comes before it. */
static void test_stack_offset(void **state)
{
	static struct made_record made;
	uint64_t random = 1;
	struct pev_attr attr;

	(void)state;
	for (int i = 0; i < 200; i++) {
		_cleanup_buf_ struct pev_buf buf = { 0 };
		struct pev_record got;
		uint64_t size;

		make_attr(&random, (test_random(&random) & PEV_SAMPLE_ALL) | PEV_SAMPLE_STACK_USER,
			  &attr);
		make_record(&random, &attr, PEV_REC_SAMPLE, &made);
		assert_int_equal(pev_record_encode(&attr, &made.rec, &buf), 0);
		assert_int_equal(pev_record_decode(&attr, buf.data, buf.size, false, &got, NULL),
				 0);
		memcpy(&size, buf.data + got.sample.stack_user.offset, sizeof(size));
		assert_true(size == got.sample.stack_user.data.size);
		if (size)
			assert_ptr_equal(buf.data + got.sample.stack_user.offset + 8,
					 got.sample.stack_user.data.p);
	}
}

/* header.size is a u16, and records are multiples of 8: 65528 is the largest. */
static void test_size_limit(void **state)
{
	static const uint64_t words[8200];
	const struct pev_attr attr = { .sample_type = PEV_SAMPLE_CALLCHAIN };
	const uint64_t most = (PEV_REC_MAX_SIZE - sizeof(struct pev_rec_hdr)) / 8 - 1;
	struct pev_record rec = {
		.hdr.type = PEV_REC_SAMPLE,
		.sample.callchain = { .p = (const uint8_t *)words, .nr = most },
	};
	_cleanup_buf_ struct pev_buf buf = { 0 };
	struct pev_record got;

	(void)state;
	pev_buf_put(&buf, "before", 6);
	assert_int_equal(pev_record_encode(&attr, &rec, &buf), 0);
	assert_int_equal(buf.size, 6 + 65528);
	assert_int_equal(pev_record_decode(&attr, buf.data + 6, 65528, false, &got, NULL), 0);
	assert_true(got.sample.callchain.nr == most);
	rec.sample.callchain.nr++;
	assert_int_equal(pev_record_encode(&attr, &rec, &buf), -E2BIG);
	assert_int_equal(buf.size, 6 + 65528);
	assert_int_equal(pev_buf_status(&buf), 0);
}

static void test_encode_refuses(void **state)
{
	static const uint32_t types[] = { 0, PEV_REC_KERNEL_MAX, PEV_REC_FINISHED_ROUND,
					  UINT32_MAX };
	const struct pev_attr attr = { 0 };
	_cleanup_buf_ struct pev_buf buf = { 0 };

	(void)state;
	pev_buf_put(&buf, "before", 6);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(types); i++) {
		const struct pev_record rec = { .hdr.type = types[i] };

		assert_int_equal(pev_record_encode(&attr, &rec, &buf), -EPROTONOSUPPORT);
		assert_int_equal(buf.size, 6);
	}
}

/* Whichever allocation fails, the bytes that were there before are all that is there after. */
static void test_encode_without_memory(void **state)
{
	static const uint64_t words[4000];
	const struct pev_attr attr = { .sample_type = PEV_SAMPLE_CALLCHAIN };
	const struct pev_record rec = {
		.hdr.type = PEV_REC_SAMPLE,
		.sample.callchain = { .p = (const uint8_t *)words, .nr = PEV_ARRAY_SIZE(words) },
	};
	unsigned int nth = 0;
	bool failed;

	(void)state;
	do {
		_cleanup_buf_ struct pev_buf buf = { 0 };
		int r;

		pev_buf_put(&buf, "before", 6);
		alloc_fail_at(++nth);
		r = pev_record_encode(&attr, &rec, &buf);
		failed = alloc_fail_end();
		assert_int_equal(r, failed ? -ENOMEM : 0);
		if (failed)
			assert_int_equal(buf.size, 6);
	} while (failed);
	assert_true(nth > 3);
}

static void test_sample_id_size(void **state)
{
	static const struct {
		uint64_t sample_type;
		size_t size;
	} cases[] = {
		{ 0, 0 },
		{ PEV_SAMPLE_TID, 8 },
		{ PEV_SAMPLE_CPU | PEV_SAMPLE_IDENTIFIER, 16 },
		{ PEV_SAMPLE_ID_BITS, 48 },
		{ PEV_SAMPLE_ALL, 48 },
		{ PEV_SAMPLE_ALL & ~PEV_SAMPLE_ID_BITS, 0 },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		struct pev_attr attr = { .sample_type = cases[i].sample_type };

		assert_int_equal(pev_sample_id_size(&attr), 0);
		attr.flags = PEV_ATTR_SAMPLE_ID_ALL;
		assert_int_equal(pev_sample_id_size(&attr), cases[i].size);
	}
}

/* The id that a drain loop takes without decoding is the id that decoding finds. */
static void test_identifier(void **state)
{
	static struct made_record made;
	const uint8_t empty[16] = { W(14), H(0), H(8) };
	uint64_t random = 2;
	struct pev_attr attr;

	(void)state;
	for (uint32_t type = 1; type < PEV_REC_KERNEL_MAX; type++) {
		_cleanup_buf_ struct pev_buf buf = { 0 };

		make_attr(&random, (test_random(&random) & PEV_SAMPLE_ALL) | PEV_SAMPLE_IDENTIFIER,
			  &attr);
		attr.flags = PEV_ATTR_SAMPLE_ID_ALL;
		make_record(&random, &attr, type, &made);
		assert_int_equal(pev_record_encode(&attr, &made.rec, &buf), 0);
		assert_true(pev_record_identifier(buf.data, false) == made.rec.id.id);
		swap_record(&attr, buf.data, buf.size);
		assert_true(pev_record_identifier(buf.data, true) == made.rec.id.id);
	}
	assert_true(pev_record_identifier(empty, swap) == 0);
}

static void test_type_names(void **state)
{
	(void)state;
	for (uint32_t type = 0; type < 100; type++) {
		const bool known = (type >= 1 && type < PEV_REC_KERNEL_MAX) ||
				   (type >= PEV_REC_USER_START && type < PEV_REC_USER_MAX);

		assert_int_equal(pev_rec_type_name(type) != NULL, known);
	}
	assert_string_equal(pev_rec_type_name(PEV_REC_MMAP2), "MMAP2");
	assert_string_equal(pev_rec_type_name(PEV_REC_COMPRESSED2), "COMPRESSED2");
	assert_null(pev_rec_type_name(UINT32_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),       cmocka_unit_test(test_missing_trailer),
		cmocka_unit_test(test_rest),           cmocka_unit_test(test_more_follows),
		cmocka_unit_test(test_stack_offset),   cmocka_unit_test(test_size_limit),
		cmocka_unit_test(test_encode_refuses), cmocka_unit_test(test_encode_without_memory),
		cmocka_unit_test(test_sample_id_size), cmocka_unit_test(test_identifier),
		cmocka_unit_test(test_type_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
