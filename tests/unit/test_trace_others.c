// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reader, on files put together by hand, as perf of all ages and machines of the other byte
 * order write them, and as nobody should.
 */
#include "test.h"

#include "base/cleanup.h"
#include "trace_forms.h"
#include "trace_make.h"
#include "trace_see.h"

#include <errno.h>
#include <string.h>

PEV_DEFINE_CLEANUP(struct pev_trace *, pev_trace_free);

static void check_head(const struct form *form, struct pev_trace *t)
{
	const struct pev_trace_head head = pev_trace_head(t);

	assert_int_equal(head.pipe, form->pipe);
	assert_int_equal(head.swap, form->swap);
	assert_int_equal(head.version, form->v1 ? 1 : 2);
	assert_false(head.ours || head.sealing || head.cut_tables);
	assert_int_equal(head.nr_events, form->events + !form->events);
	for (unsigned int e = 0; e < head.nr_events; e++) {
		assert_int_equal(head.events[e].attr.config, e);
		assert_int_equal(head.events[e].attr.sample_type, form_attr.sample_type);
		assert_int_equal(head.events[e].attr.flags, form_attr.flags);
		assert_int_equal(head.events[e].attr.sample_period, form_attr.sample_period);
		assert_int_equal(head.events[e].nr_ids, IDS_PER_EVENT);
		for (unsigned int i = 0; i < IDS_PER_EVENT; i++)
			assert_int_equal(head.events[e].ids[i], form_id(e, i));
	}
	if (form->pipe || form->no_size || form->header_size == 72)
		assert_null(head.features->hostname);
	else
		assert_string_equal(head.features->hostname, "elsewhere");
}

static void test_forms(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_trace_forms; i++) {
		const struct form *const form = &trace_forms[i];
		_cleanup_buf_ struct pev_buf data = { 0 }, file = { 0 };
		_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
		_cleanup_file_ struct test_file f = { .fd = -1 };
		struct maker m = { .buf = &data, .swap = form->swap };
		const unsigned int last = form->events ? form->events - 1 : 0;
		struct pev_err err = PEV_ERR_INIT;
		struct seen seen;

		form_comm(&m, form_id(0, 0));
		form_sample(&m, 0x1111, form_id(0, 1));
		form_sample(&m, 0x2222, form_id(last, 0));
		form_hdr(&m, PEV_REC_FINISHED_ROUND, 0, 8);
		form_hdr(&m, 200, 0, 24); /* a type of tomorrow */
		pev_buf_zero(&data, 16);
		form_sample(&m, 0x3333, form_id(last, 1));
		form_comm(&m, 0); /* made by perf itself: the first event's */
		make_form(form, &data, &file);
		f = test_file(file.data, file.size);
		if (pev_trace_open(f.path, &see_checked, &t, &err) < 0)
			fail_msg("%s: %s", form->name, err.msg);
		check_head(form, t);
		see(t, &seen);
		if (seen.r || seen.nr != 7 || seen.bad)
			fail_msg("%s: %zu records, %s", form->name, seen.nr, seen.err.msg);
		assert_int_equal(seen.types[0], PEV_REC_COMM);
		assert_int_equal(seen.ips[1], 0x1111);
		assert_int_equal(seen.ips[2], 0x2222);
		assert_int_equal(seen.events[2], last);
		assert_int_equal(seen.types[3], PEV_REC_FINISHED_ROUND);
		assert_int_equal(seen.types[4], 200);
		assert_int_equal(seen.events[4], -1);
		assert_int_equal(seen.ips[5], 0x3333);
		assert_int_equal(seen.events[5], last);
		assert_int_equal(seen.events[6], 0);
		assert_int_equal(seen.damage.first_offset, 0);
	}
}

/* Every prefix of every form: no record that is cut, no byte that is not there. */
static void test_prefixes(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_trace_forms; i++) {
		_cleanup_buf_ struct pev_buf data = { 0 }, file = { 0 };
		struct maker m = { .buf = &data, .swap = trace_forms[i].swap };
		size_t tail;

		form_comm(&m, form_id(0, 0));
		form_sample(&m, 0x1111, form_id(0, 1));
		make_form(&trace_forms[i], &data, &file);
		tail = trace_forms[i].pipe || trace_forms[i].no_size ||
				       trace_forms[i].header_size == 72
			       ? 0
			       : 84;
		for (size_t n = 0; n < file.size; n++) {
			_cleanup_file_ struct test_file f = test_file(file.data, n);
			_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
			const size_t data_at = file.size - tail - data.size;
			size_t whole = 0;
			struct pev_err err = PEV_ERR_INIT;
			struct seen seen;

			if (pev_trace_open(f.path, &see_checked, &t, &err) < 0) {
				assert_true(n < data_at && err.msg[0]);
				continue;
			}
			see(t, &seen);
			assert_int_equal(seen.r, 0);
			if (n >= data_at + data.size)
				whole = 2;
			else if (n >= data_at + 48)
				whole = 1;
			assert_int_equal(seen.nr, whole);
			if (tail && n >= data_at)
				assert_true(pev_trace_head(t).cut_tables);
		}
	}
}

/* Payloads lie outside of header.size. */
static void put_auxtrace(struct maker *m, uint64_t size)
{
	form_hdr(m, PEV_REC_AUXTRACE, 0, 48);
	make_u64(m, size);
	pev_buf_zero(m->buf, 32);
}

static void test_auxtrace(void **state)
{
	static const struct {
		uint64_t claims;
		size_t has;
		bool whole;
	} cases[] = {
		{ 0, 0, true },
		{ 8, 8, true },
		{ 100000, 100000, true },
		{ 600000, 600000, true },
		{ 8, 7, false },
		{ 600001, 600000, false },
		{ UINT64_MAX, 10, false },
		{ UINT64_MAX - 47, 10, false }, /* record and payload come to 0 bytes */
		{ UINT64_MAX - 39, 10, false }, /* and to 8 */
		{ INT64_MAX, 10, false },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++)
		for (int form = 0; form < 3; form++) {
			static const size_t which[] = { FORM_PERF_6_1, FORM_KILLED, FORM_PIPE };
			_cleanup_buf_ struct pev_buf data = { 0 }, file = { 0 };
			struct maker m = { .buf = &data };
			struct seen seen;

			form_sample(&m, 1, form_id(0, 0));
			put_auxtrace(&m, cases[i].claims);
			/* Rubbish that would be no record, were it taken for one. */
			memset(pev_buf_extend(&data, cases[i].has), 0, cases[i].has);
			if (cases[i].whole)
				form_sample(&m, 2, form_id(0, 0));
			make_form(&trace_forms[which[form]], &data, &file);
			see_bytes(&file, &seen);
			assert_int_equal(seen.r, 0);
			assert_int_equal(seen.nr, cases[i].whole ? 3 : 1);
			assert_int_equal(seen.damage.cut_bytes,
					 cases[i].whole ? 0 : 48 + cases[i].has);
			if (cases[i].whole)
				assert_int_equal(seen.ips[2], 2);
		}
}

static void test_tracing_data(void **state)
{
	static const uint8_t blob[21] = "\x17\x08\x44tracing0.6\0 etc.";
	_cleanup_buf_ struct pev_buf file = { 0 };
	_cleanup_file_ struct test_file f = { .fd = -1 };
	_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
	struct maker m = { .buf = &file };
	struct seen seen;

	(void)state;
	form_pipe_head(&m, &trace_forms[FORM_PIPE]);
	form_hdr(&m, PEV_REC_HEADER_TRACING_DATA, 0, 12);
	make_u32(&m, sizeof(blob)); /* perf says the padded size; the padding is there anyway */
	pev_buf_put(&file, blob, sizeof(blob));
	pev_buf_zero(&file, -sizeof(blob) & 7);
	form_sample(&m, 1, form_id(0, 0));
	f = test_file(file.data, file.size);
	assert_int_equal(pev_trace_open(f.path, NULL, &t, NULL), 0);
	assert_int_equal(pev_trace_head(t).features->tracing_data.size, 24);
	assert_memory_equal(pev_trace_head(t).features->tracing_data.p, blob, sizeof(blob));
	see(t, &seen);
	check_ips(&seen, 1, 1);
}

/* More than anybody may ask to be kept in memory: passed over, if it is there. */
static void test_huge_tracing_data(void **state)
{
	_cleanup_buf_ struct pev_buf file = { 0 };
	_cleanup_file_ struct test_file f = { .fd = -1 };
	_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
	struct maker m = { .buf = &file };
	const off_t huge = 300 << 20;
	struct seen seen;

	(void)state;
	form_pipe_head(&m, &trace_forms[FORM_PIPE]);
	form_sample(&m, 1, form_id(0, 0));
	form_hdr(&m, PEV_REC_HEADER_TRACING_DATA, 0, 16);
	make_u32(&m, (uint32_t)huge);
	make_u32(&m, 0);
	f = test_file(file.data, file.size);
	/* A hole. */
	assert_int_equal(ftruncate(f.fd, (off_t)file.size + huge), 0);
	assert_int_equal(pev_trace_open(f.path, NULL, &t, NULL), 0);
	see(t, &seen);
	assert_int_equal(seen.r, 0);
	assert_int_equal(seen.nr, 2);
	assert_int_equal(seen.damage.cut_bytes, 0);
	assert_null(pev_trace_head(t).features->tracing_data.p);
}

/* What pipe mode tells while data flow already. */
static void test_learns_late(void **state)
{
	const struct form two = { .attr_size = 128, .pipe = true, .events = 2 };
	_cleanup_buf_ struct pev_buf file = { 0 }, all = { 0 };
	_cleanup_file_ struct test_file f = { .fd = -1 };
	_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
	struct maker m = { .buf = &file }, rest = { .buf = &all };
	struct seen seen;

	(void)state;
	form_pipe_head(&rest, &two);
	pev_buf_put(&file, all.data, 16 + 8 + 128 + 16); /* one event */
	form_sample(&m, 1, form_id(0, 0));
	pev_buf_put(&file, all.data + 16 + 8 + 128 + 16, 8 + 128 + 16); /* the other */
	form_sample(&m, 2, form_id(1, 0));
	form_hdr(&m, PEV_REC_EVENT_UPDATE, 0, 8 + 16 + 16);
	make_u64(&m, PEV_EVENT_UPDATE_NAME);
	make_u64(&m, form_id(1, 1));
	pev_buf_put(&file, "late-name\0\0\0\0\0\0", 16);
	form_sample(&m, 3, 4711); /* nobody's */
	f = test_file(file.data, file.size);
	assert_int_equal(pev_trace_open(f.path, NULL, &t, NULL), 0);
	assert_int_equal(pev_trace_head(t).nr_events, 1);
	see(t, &seen);
	assert_int_equal(seen.r, 0);
	assert_int_equal(seen.nr, 5);
	assert_int_equal(seen.events[2], 1);
	assert_int_equal(seen.events[4], -1);
	assert_int_equal(pev_trace_head(t).nr_events, 2);
	assert_string_equal(pev_trace_head(t).events[1].name, "late-name");
}

/* Rubbish where a record should start: all that is before it counts. */
static void test_rubbish(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_trace_forms; i++) {
		_cleanup_buf_ struct pev_buf data = { 0 }, file = { 0 };
		struct maker m = { .buf = &data, .swap = trace_forms[i].swap };
		struct seen seen;

		form_sample(&m, 1, form_id(0, 0));
		form_sample(&m, 2, form_id(0, 0));
		form_hdr(&m, 0, 0, 7);
		pev_buf_zero(&data, 1000);
		make_form(&trace_forms[i], &data, &file);
		see_bytes(&file, &seen);
		check_ips(&seen, 1, 2);
		assert_int_equal(seen.damage.tail_bytes, 1008);
		assert_int_not_equal(seen.damage.first_offset, 0);
	}
}

/* Tables that claim what cannot be. */
static const struct {
	const char *name;
	size_t at; /* of the u64 that is overwritten */
	uint64_t value;
	int code;
	const char *says;
} wrongs[] = {
	{ "attr_size 0", 16, 0, -EBADMSG,
	  ": its header has an attr table of 288 bytes with entries of 0" },
	{ "attr_size of nobody", 16, 79, -EBADMSG,
	  ": its header has an attr table of 288 bytes with entries of 79" },
	{ "attr_size of everybody", 16, 1 << 20, -EBADMSG,
	  ": its header has an attr table of 288 bytes with entries of 1048576" },
	{ "attrs too far", 24, UINT64_MAX - 100, -ENODATA,
	  " is cut short: its attr table is at offset 18446744073709551515, but the file has only "
	  "588 bytes" },
	{ "attrs too long", 32, UINT64_MAX, -EBADMSG,
	  ": its header has an attr table of 18446744073709551615 bytes with entries of 144" },
	{ "attrs longer than the file", 32, 144 * 10, -ENODATA,
	  " is cut short: its attr table is at offset 136, but the file has only 588 bytes" },
	{ "ids too far", 104 + 32 + 128, 1ULL << 63, -ENODATA,
	  " is cut short: its id table is at offset 9223372036854775808, but the file has only 588 "
	  "bytes" },
	{ "ids too long", 104 + 32 + 128 + 8, 127 << 20, -ENODATA,
	  " is cut short: its id table is at offset 104, but the file has only 588 bytes" },
	{ "ids far too long", 104 + 32 + 128 + 8, UINT64_MAX, -E2BIG,
	  ": its id table at offset 104 claims 18446744073709551615 bytes" },
};

static void test_wrong_tables(void **state)
{
	const struct form two = { .attr_size = 128, .events = 2 };
	_cleanup_buf_ struct pev_buf data = { 0 }, file = { 0 };
	struct maker m = { .buf = &data };

	(void)state;
	form_sample(&m, 1, form_id(0, 0));
	form_sample(&m, 2, form_id(1, 0));
	make_form(&two, &data, &file);
	assert_int_equal(file.size, 588);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(wrongs); i++) {
		_cleanup_file_ struct test_file f = test_file(file.data, file.size);
		struct pev_err err = PEV_ERR_INIT;
		struct pev_trace *t = NULL;
		char want[256];

		assert_int_equal(pwrite(f.fd, &wrongs[i].value, 8, (off_t)wrongs[i].at), 8);
		if (pev_trace_open(f.path, NULL, &t, &err) != wrongs[i].code)
			fail_msg("%s: %s", wrongs[i].name, err.msg);
		(void)snprintf(want, sizeof(want), "%s%s", f.path, wrongs[i].says);
		assert_err(&err, wrongs[i].code, want);
	}
}

/* Entries may point to the same ids again and again, but not to more than the file could hold. */
static void test_ids_of_many(void **state)
{
	const struct form many = { .attr_size = 64, .events = 400 };
	_cleanup_buf_ struct pev_buf data = { 0 }, file = { 0 };
	_cleanup_file_ struct test_file f = { .fd = -1 };
	struct pev_err err = PEV_ERR_INIT;
	struct maker m = { .buf = &data };
	struct pev_trace *t = NULL;
	char want[128];

	(void)state;
	form_sample(&m, 1, form_id(0, 0));
	make_form(&many, &data, &file);
	for (size_t e = 0; e < 400; e++) {
		const uint64_t all = file.size;
		uint8_t *const entry = file.data + 104 + 400 * 16 + e * 80;

		memset(entry + 64, 0, 8);
		memcpy(entry + 72, &all, sizeof(all));
	}
	f = test_file(file.data, file.size);
	assert_int_equal(pev_trace_open(f.path, NULL, &t, &err), -EBADMSG);
	(void)snprintf(want, sizeof(want), "%s: its events claim more ids than fit into it",
		       f.path);
	assert_err(&err, -EBADMSG, want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_auxtrace),
		cmocka_unit_test(test_tracing_data),
		cmocka_unit_test(test_huge_tracing_data),
		cmocka_unit_test(test_learns_late),
		cmocka_unit_test(test_rubbish),
		cmocka_unit_test(test_wrong_tables),
		cmocka_unit_test(test_ids_of_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
