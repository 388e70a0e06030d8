// SPDX-License-Identifier: LGPL-2.1-or-later
/* The record layer at its edges: what it refuses and in which words, its limits, its small helpers.
 */
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "record_make.h"

#include <errno.h>
#include <string.h>

#define W(v)   (v) & 0xff, (v) >> 8 & 0xff, (v) >> 16 & 0xff, (v) >> 24 & 0xff
#define Q(v)   W((uint64_t)(v)&0xffffffff), W((uint64_t)(v) >> 32)
#define H(v)   (v) & 0xff, (v) >> 8 & 0xff
#define BAD    "its fields do not fit its size"
#define NO_REC "no record of the kernel that we know"

/* Bytes are little-endian; a host of the other order reads them swapped. */
static const bool swap = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__;

static void test_refusals(void **state)
{
	static const struct {
		const char *why;
		uint64_t sample_type, flags;
		uint8_t bytes[64];
		size_t size;
		int r;
		const char *msg;
	} cases[] = {
		{ "no header", 0, 0, { W(9), H(0) }, 6, -ENODATA, "record cut within its header" },
		{ "nothing", 0, 0, { 0 }, 0, -ENODATA, "record cut within its header" },
		{ "size 0",
		  0,
		  0,
		  { W(9), H(0), H(0) },
		  8,
		  -EBADMSG,
		  "record SAMPLE of 0 bytes: smaller than its own header" },
		{ "zeros",
		  0,
		  0,
		  { 0 },
		  64,
		  -EBADMSG,
		  "record of type 0, 0 bytes: smaller than its own header" },
		{ "size 7",
		  0,
		  0,
		  { W(3), H(0), H(7) },
		  8,
		  -EBADMSG,
		  "record COMM of 7 bytes: smaller than its own header" },
		{ "cut",
		  0,
		  0,
		  { W(2), H(0), H(24), Q(1) },
		  16,
		  -ENODATA,
		  "record LOST of 24 bytes: cut short" },
		{ "too small",
		  0,
		  0,
		  { W(2), H(0), H(16), Q(1) },
		  16,
		  -EBADMSG,
		  "record LOST of 16 bytes: " BAD },
		{ "type 0",
		  0,
		  0,
		  { W(0), H(0), H(8) },
		  8,
		  -EPROTONOSUPPORT,
		  "record of type 0, 8 bytes: " NO_REC },
		{ "newer kernel",
		  0,
		  0,
		  { W(23), H(0), H(8) },
		  8,
		  -EPROTONOSUPPORT,
		  "record of type 23, 8 bytes: " NO_REC },
		{ "user type",
		  0,
		  0,
		  { W(68), H(0), H(8) },
		  8,
		  -EPROTONOSUPPORT,
		  "record FINISHED_ROUND of 8 bytes: " NO_REC },
		{ "huge type",
		  0,
		  0,
		  { W(0xffffffff), H(0), H(8) },
		  8,
		  -EPROTONOSUPPORT,
		  "record of type 4294967295, 8 bytes: " NO_REC },
		{ "no NUL",
		  0,
		  0,
		  { W(3), H(0), H(24), W(1), W(1), 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h' },
		  24,
		  -EBADMSG,
		  "record COMM of 24 bytes: " BAD },
		{ "no name",
		  0,
		  0,
		  { W(3), H(0), H(16), W(1), W(1) },
		  16,
		  -EBADMSG,
		  "record COMM of 16 bytes: " BAD },
		{ "chain overflow",
		  PEV_SAMPLE_CALLCHAIN,
		  0,
		  { W(9), H(0), H(24), Q(1ULL << 61), Q(0) },
		  24,
		  -EBADMSG,
		  "record SAMPLE of 24 bytes: " BAD },
		{ "raw too long",
		  PEV_SAMPLE_RAW,
		  0,
		  { W(9), H(0), H(16), W(0xffffffff) },
		  16,
		  -EBADMSG,
		  "record SAMPLE of 16 bytes: " BAD },
		{ "branch overflow",
		  PEV_SAMPLE_BRANCH_STACK,
		  0,
		  { W(9), H(0), H(24), Q(0xaaaaaaaaaaaaaaabULL), Q(0) },
		  24,
		  -EBADMSG,
		  "record SAMPLE of 24 bytes: " BAD },
		{ "more stack than dumped",
		  PEV_SAMPLE_STACK_USER,
		  0,
		  { W(9), H(0), H(32), Q(8), Q(0), Q(9) },
		  32,
		  -EBADMSG,
		  "record SAMPLE of 32 bytes: " BAD },
		{ "namespaces overflow",
		  0,
		  0,
		  { W(16), H(0), H(24), Q(0), Q(1ULL << 60) },
		  24,
		  -EBADMSG,
		  "record NAMESPACES of 24 bytes: " BAD },
		{ "poke too long",
		  0,
		  0,
		  { W(20), H(0), H(24), Q(0), H(5), H(0) },
		  24,
		  -EBADMSG,
		  "record TEXT_POKE of 24 bytes: " BAD },
		{ "poke too long",
		  0,
		  0,
		  { W(20), H(0), H(24), Q(0), H(4), H(1) },
		  24,
		  -EBADMSG,
		  "record TEXT_POKE of 24 bytes: " BAD },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		const struct pev_attr attr = { .sample_type = cases[i].sample_type,
					       .flags = cases[i].flags };
		_cleanup_free_ uint8_t *bytes = malloc(cases[i].size + !cases[i].size);
		struct pev_err err = PEV_ERR_INIT;
		struct pev_record got;

		memcpy(bytes, cases[i].bytes, cases[i].size);
		print_message("%s\n", cases[i].why);
		assert_int_equal(pev_record_decode(&attr, bytes, cases[i].size, swap, &got, &err),
				 cases[i].r);
		assert_err(&err, cases[i].r, cases[i].msg);
		/* And nobody needs to listen. */
		assert_int_equal(pev_record_decode(&attr, bytes, cases[i].size, swap, &got, NULL),
				 cases[i].r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_refusals) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
