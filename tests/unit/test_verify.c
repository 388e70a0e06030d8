// SPDX-License-Identifier: LGPL-2.1-or-later
/* Verdicts, the sentence that goes with each, and what is counted. */
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "format/verify.h"
#include "trace_make.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

PEV_DEFINE_CLEANUP(struct pev_trace *, pev_trace_free);

#define RECORDS 60

static int verify_bytes(const struct pev_buf *bytes, struct pev_verify *ret, char path[32],
			struct pev_err *err)
{
	const struct pev_trace_options how = { .check = true };
	_cleanup_file_ struct test_file f = test_file(bytes->data, bytes->size);
	_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
	int r;

	memcpy(path, f.path, sizeof(f.path));
	r = pev_trace_open(f.path, &how, &t, err);
	return r < 0 ? r : pev_verify_run(t, NULL, NULL, ret, err);
}

/* Something done to a trace, and the first damage that it leads to. */
struct wound {
	uint64_t offset; /* of the damage */
	uint64_t bytes;  /* that the sentence names */
};

static uint64_t nth_record(const struct pev_buf *b, uint64_t at, unsigned int n)
{
	struct pev_rec_hdr hdr;

	for (; n; n--, at += hdr.size)
		memcpy(&hdr, b->data + at, sizeof(hdr));
	return at;
}

static struct wound nothing(struct pev_buf *b)
{
	(void)b;
	return (struct wound){ 0 };
}

/* A seal that was killed before its last step. */
static struct wound half_sealed(struct pev_buf *b)
{
	memset(b->data + 72, 0, 32); /* the features */
	return (struct wound){ 0 };
}

static struct wound cut_in_record(struct pev_buf *b)
{
	const struct walked walked = walk_trace(b->data, b->size);
	const uint64_t at = nth_record(b, walked.data_offset, 2);

	b->size = at + 20;
	return (struct wound){ at, 20 };
}

static struct wound cut_in_sealed_data(struct pev_buf *b)
{
	const struct wound w = cut_in_record(b);
	const uint64_t end = walk_trace(b->data, b->size).data_end;

	return (struct wound){ b->size, end - w.offset - 20 };
}

static struct wound cut_behind_record(struct pev_buf *b)
{
	(void)cut_in_record(b);
	b->size -= 20;
	return (struct wound){ b->size, walk_trace(b->data, b->size).data_end - b->size };
}

static struct wound cut_behind_open_record(struct pev_buf *b)
{
	(void)cut_in_record(b);
	b->size -= 20;
	return (struct wound){ 0 };
}

static struct wound cut_tables(struct pev_buf *b)
{
	b->size--;
	return (struct wound){ b->size, 0 };
}

static struct wound rubbish(struct pev_buf *b)
{
	const uint64_t at = b->size;

	pev_buf_zero(b, 100);
	return (struct wound){ at, 100 };
}

static struct wound bad_block(struct pev_buf *b)
{
	const uint64_t at = nth_record(b, walk_trace(b->data, b->size).data_offset, 1);

	b->data[at + 80] ^= 1;
	return (struct wound){ at, 0 };
}

/* A sample whose RAW claims more than there is. Record 5 is one of the tracepoint. */
static struct wound bad_record(struct pev_buf *b)
{
	const uint64_t at = nth_record(b, walk_trace(b->data, b->size).data_offset, 5);
	struct pev_rec_hdr hdr;

	memcpy(&hdr, b->data + at, sizeof(hdr));
	b->data[at + hdr.size - 16] = 0xff;
	return (struct wound){ at, hdr.size };
}

static struct wound no_event(struct pev_buf *b)
{
	const uint64_t at = nth_record(b, walk_trace(b->data, b->size).data_offset, 5);

	b->data[at + 8 + 5] = 0xff; /* of IDENTIFIER */
	return (struct wound){ at, 0 };
}

static struct wound unknown_type(struct pev_buf *b)
{
	b->data[nth_record(b, walk_trace(b->data, b->size).data_offset, 49)] = 222;
	return (struct wound){ 0 };
}

#define OPEN                                        \
	{                                           \
		.records = RECORDS, .per_block = 20 \
	}
#define SEALED                                                      \
	{                                                           \
		.records = RECORDS, .per_block = 20, .sealed = true \
	}
#define PLAIN                      \
	{                          \
		.records = RECORDS \
	}
#define PLAIN_SEALED                               \
	{                                          \
		.records = RECORDS, .sealed = true \
	}

static const struct {
	const char *name;
	struct make_trace how;
	struct wound (*wound)(struct pev_buf *b);
	enum pev_verdict verdict;
	uint64_t records;
	int code;
	bool path;        /* the sentence starts with it */
	const char *says; /* with the offset, then the bytes, where it has them */
} cases[] = {
	{ "open", OPEN, nothing, PEV_UNFINISHED, RECORDS, 0, false, "" },
	{ "sealed", SEALED, nothing, PEV_WHOLE, RECORDS, 0, false, "" },
	{ "plain", PLAIN, nothing, PEV_UNFINISHED, RECORDS, 0, false, "" },
	{ "plain, sealed", PLAIN_SEALED, nothing, PEV_WHOLE, RECORDS, 0, false, "" },
	{ "half sealed", SEALED, half_sealed, PEV_UNFINISHED, RECORDS, 0, false, "" },
	{ "cut", PLAIN, cut_in_record, PEV_CUT, 2, -ENODATA, false,
	  "at offset %" PRIu64 ": cut short: %" PRIu64 " bytes of a record are left" },
	{ "cut in a block", OPEN, cut_in_record, PEV_CUT, 40, -ENODATA, false,
	  "at offset %" PRIu64 ": cut short: %" PRIu64 " bytes of a record are left" },
	{ "cut between", OPEN, cut_behind_open_record, PEV_UNFINISHED, 40, 0, false, "" },
	{ "sealed, cut", SEALED, cut_in_sealed_data, PEV_CUT, 40, -ENODATA, false,
	  "at offset %" PRIu64 ": cut short: %" PRIu64
	  " bytes of data are missing, and all that came after them" },
	{ "sealed, cut between", SEALED, cut_behind_record, PEV_CUT, 40, -ENODATA, false,
	  "at offset %" PRIu64 ": cut short: %" PRIu64
	  " bytes of data are missing, and all that came after them" },
	{ "sealed, tables cut", SEALED, cut_tables, PEV_CUT, RECORDS, -ENODATA, false,
	  "at offset %" PRIu64 ": cut short: the tables behind the data are missing" },
	{ "rubbish", OPEN, rubbish, PEV_CUT, RECORDS, -EBADMSG, false,
	  "at offset %" PRIu64 ": the last %" PRIu64
	  " bytes are no records: a seal was interrupted there, or they are rubbish" },
	{ "bad block", OPEN, bad_block, PEV_DAMAGED, 40, -EBADMSG, true,
	  "block at offset %" PRIu64 " is damaged: its checksum is wrong" },
	{ "bad block, sealed", SEALED, bad_block, PEV_DAMAGED, 40, -EBADMSG, true,
	  "block at offset %" PRIu64 " is damaged: its checksum is wrong" },
	{ "bad record", PLAIN, bad_record, PEV_DAMAGED, RECORDS, -EBADMSG, false,
	  "at offset %" PRIu64 ": record SAMPLE of %" PRIu64
	  " bytes: its fields do not fit its size" },
	{ "no event", PLAIN_SEALED, no_event, PEV_DAMAGED, RECORDS, -EBADMSG, false,
	  "at offset %" PRIu64 ": record SAMPLE belongs to no event of this trace" },
	{ "unknown type", PLAIN_SEALED, unknown_type, PEV_WHOLE, RECORDS, 0, false, "" },
};

static void test_verdicts(void **state)
{
	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		_cleanup_(pev_verify_done) struct pev_verify v = { 0 };
		_cleanup_buf_ struct pev_buf bytes = { 0 };
		struct pev_err err = PEV_ERR_INIT;
		char path[32], want[256];
		struct wound w;
		int n = 0;

		make_trace_bytes(&cases[i].how, &bytes);
		w = cases[i].wound(&bytes);
		if (verify_bytes(&bytes, &v, path, &err) < 0)
			fail_msg("%s: %s", cases[i].name, err.msg);
		if (v.verdict != cases[i].verdict || v.stats.records != cases[i].records)
			fail_msg("%s: verdict %d, %" PRIu64 " records: %s", cases[i].name,
				 (int)v.verdict, v.stats.records, v.first.msg);
		if (cases[i].path)
			n = snprintf(want, sizeof(want), "%s: ", path);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		(void)snprintf(want + n, sizeof(want) - (size_t)n, cases[i].says, w.offset,
			       w.bytes);
#pragma GCC diagnostic pop
		assert_err(&v.first, cases[i].code, want);
		assert_int_equal(v.nr_bad_blocks, cases[i].wound == bad_block);
		if (v.nr_bad_blocks)
			assert_int_equal(v.bad_blocks[0], w.offset);
		assert_int_equal(v.stats.undecodable, cases[i].wound == bad_record);
		assert_int_equal(v.stats.no_event, cases[i].wound == no_event);
		assert_int_equal(v.stats.unknown, cases[i].wound == unknown_type);
	}
}

/* Of RECORDS made records: one in ten each is COMM, MMAP2 and LOST, the 50th a round. */
static void test_stats(void **state)
{
	const struct make_trace how = SEALED;
	_cleanup_(pev_verify_done) struct pev_verify v = { 0 };
	_cleanup_buf_ struct pev_buf bytes = { 0 };
	char path[32];

	(void)state;
	make_trace_bytes(&how, &bytes);
	assert_int_equal(verify_bytes(&bytes, &v, path, NULL), 0);
	assert_int_equal(v.stats.samples, RECORDS - 3 * 6 - 1);
	assert_int_equal(v.stats.blocks, 3);
	assert_int_equal(v.stats.our_blocks, 3);
	assert_int_equal(v.stats.lost, 2 + 12 + 22 + 32 + 42 + 52);
	assert_int_equal(v.stats.lost_samples, 0);
	assert_int_equal(v.stats.first_ns, 4 * 1000000);
	assert_int_equal(v.stats.last_ns, 60 * 1000000);
	assert_int_equal(v.build_ids.nr, 2);
	assert_int_equal(v.damage.first_offset, 0);
}

static void count_call(void *userdata, uint64_t offset)
{
	uint64_t *const calls = userdata;

	assert_true(offset > 0);
	(*calls)++;
}

static void test_progress(void **state)
{
	const struct make_trace how = { .records = 40000 };
	_cleanup_(pev_verify_done) struct pev_verify v = { 0 };
	_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
	_cleanup_buf_ struct pev_buf bytes = { 0 };
	_cleanup_file_ struct test_file f = { .fd = -1 };
	uint64_t calls = 0;

	(void)state;
	make_trace_bytes(&how, &bytes);
	f = test_file(bytes.data, bytes.size);
	assert_int_equal(pev_trace_open(f.path, NULL, &t, NULL), 0);
	assert_int_equal(pev_verify_run(t, count_call, &calls, &v, NULL), 0);
	assert_int_equal(v.stats.records, 40000);
	assert_in_range(calls, bytes.size >> 21, bytes.size >> 20);
}

/* Every bit flip of the data is either damage or of no consequence: what is read is right. */
static void test_flips(void **state)
{
	const struct make_trace how = { .records = 20, .per_block = 10, .one_event = true };
	_cleanup_(pev_verify_done) struct pev_verify good = { 0 };
	_cleanup_buf_ struct pev_buf bytes = { 0 };
	struct walked walked;
	char path[32];

	(void)state;
	make_trace_bytes(&how, &bytes);
	walked = walk_trace(bytes.data, bytes.size);
	assert_int_equal(verify_bytes(&bytes, &good, path, NULL), 0);
	for (size_t bit = 8 * walked.data_offset; bit < 8 * bytes.size; bit++) {
		_cleanup_(pev_verify_done) struct pev_verify v = { 0 };

		bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(verify_bytes(&bytes, &v, path, NULL), 0);
		if (v.verdict == PEV_DAMAGED || v.verdict == PEV_CUT)
			assert_true(v.first.code && v.first.msg[0]);
		else if (v.stats.samples != good.stats.samples)
			fail_msg("bit %zu of byte %zu", bit % 8, bit / 8 - walked.data_offset);
		bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

static void test_no_memory(void **state)
{
	const struct make_trace how = SEALED;
	_cleanup_buf_ struct pev_buf bytes = { 0 };
	char path[32];

	(void)state;
	make_trace_bytes(&how, &bytes);
	(void)bad_block(&bytes);
	for (unsigned int nth = 1;; nth++) {
		_cleanup_(pev_verify_done) struct pev_verify v = { 0 };
		struct pev_err err = PEV_ERR_INIT;
		int r;

		alloc_fail_at(nth);
		r = verify_bytes(&bytes, &v, path, &err);
		if (!alloc_fail_end()) {
			assert_int_equal(r, 0);
			break;
		}
		if (r < 0)
			assert_true(r == -ENOMEM && err.code == -ENOMEM && err.msg[0]);
		else
			assert_int_equal(v.nr_bad_blocks, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),  cmocka_unit_test(test_stats),
		cmocka_unit_test(test_progress),  cmocka_unit_test(test_flips),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
