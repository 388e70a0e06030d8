// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sealing what is unfinished, cut or damaged: nothing that is whole is lost, and nothing at all
 * when it fails. */
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "fault.h"
#include "format/seal.h"
#include "trace_make.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

PEV_DEFINE_CLEANUP(struct pev_trace *, pev_trace_free);
PEV_DEFINE_CLEANUP(struct pev_writer *, pev_writer_free);

static int verify(const char *path, struct pev_verify *ret, struct pev_err *err)
{
	const struct pev_trace_options how = { .check = true };
	_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
	int r;

	r = pev_trace_open(path, &how, &t, err);
	return r < 0 ? r : pev_verify_run(t, NULL, NULL, ret, err);
}

/* Verifies and seals, as the command does. */
static int seal(const char *path, struct pev_seal_result *ret, struct pev_err *err)
{
	_cleanup_(pev_verify_done) struct pev_verify v = { 0 };
	int r;

	r = verify(path, &v, err);
	return r < 0 ? r : pev_seal(path, &v, ret, err);
}

/* A regular file, whole, with these counts, that says of itself what it said before. */
static void check_sealed(const char *path, uint64_t records, uint64_t samples, bool one_event)
{
	_cleanup_(pev_verify_done) struct pev_verify v = { 0 };
	_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
	struct pev_err err = PEV_ERR_INIT;
	struct pev_trace_head head;

	if (verify(path, &v, &err) < 0)
		fail_msg("%s", err.msg);
	if (v.verdict != PEV_WHOLE)
		fail_msg("%s", v.first.msg);
	/* One without records gets one. */
	assert_int_equal(v.stats.records, records ? records : 1);
	assert_int_equal(v.stats.samples, samples);
	assert_int_equal(pev_trace_open(path, NULL, &t, NULL), 0);
	head = pev_trace_head(t);
	assert_true(!head.pipe && head.ours && head.data_size);
	assert_string_equal(head.features->hostname, "made");
	assert_int_equal(head.features->nrcpus.avail, 4);
	assert_int_equal(head.nr_events, one_event ? 1 : MADE_EVENTS);
	for (size_t i = 0; i < head.nr_events; i++) {
		assert_memory_equal(&head.events[i].attr, &made_events[i].attr,
				    sizeof(struct pev_attr));
		assert_string_equal(head.events[i].name, made_events[i].name);
		assert_int_equal(head.events[i].nr_ids, made_events[i].nr_ids);
		assert_memory_equal(head.events[i].ids, made_events[i].ids,
				    made_events[i].nr_ids * sizeof(uint64_t));
	}
	assert_int_equal(pev_features_has(head.features, PEV_FEAT_SAMPLE_TIME), samples != 0);
	if (samples) {
		assert_int_equal(head.features->sample_time.first_ns, v.stats.first_ns);
		assert_int_equal(head.features->sample_time.last_ns, v.stats.last_ns);
	}
	assert_int_equal(head.features->build_ids.nr, v.build_ids.nr);
}

static const struct make_trace shapes[] = {
	{ .records = 40, .per_block = 15 },
	{ .records = 40, .per_block = 15, .sealed = true },
	{ .records = 12, .one_event = true },
	{ .records = 12, .one_event = true, .sealed = true },
};

static bool has_events(const struct make_trace *how, size_t size)
{
	const size_t attr_record = 8 + 128 + 32;

	return size >= 104 + (how->one_event ? 1 : MADE_EVENTS) * attr_record;
}

/* Offset of the first record of data: what tells of the events and the machine is whole from there
 * on. */
static uint64_t head_end(const struct pev_buf *bytes)
{
	return walk_trace(bytes->data, bytes->size).data_offset;
}

/* Cut at any byte, and sealed: all whole records. */
static void test_every_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(shapes); i++) {
		_cleanup_folder_ struct test_folder folder;
		_cleanup_buf_ struct pev_buf bytes = { 0 };
		const char *path;

		make_trace_bytes(&shapes[i], &bytes);
		test_folder_init(&folder);
		path = test_path(&folder, "trace");
		for (size_t n = 0; n <= bytes.size; n++) {
			const struct walked walked = walk_trace(bytes.data, n);
			struct pev_err err = PEV_ERR_INIT;
			struct pev_seal_result res;
			int r;

			test_write_file(path, bytes.data, n);
			r = seal(path, &res, &err);
			assert_int_equal(test_count_files(&folder), 1);
			if (r < 0) {
				/* Only without its events there is nothing to keep. */
				assert_int_equal(r, -ENODATA);
				assert_true(err.code == r && err.msg[0]);
				assert_false(has_events(&shapes[i], n));
				continue;
			}
			if (n < head_end(&bytes))
				continue;
			check_sealed(path, walked.records, walked.samples, shapes[i].one_event);
			assert_int_equal(res.dropped_blocks, 0);
		}
	}
}

/* The states between the steps of a seal, at every byte of what it appends. */
static void test_interrupted(void **state)
{
	const struct make_trace how = { .records = 40, .per_block = 15, .sealed = true };
	_cleanup_folder_ struct test_folder folder;
	_cleanup_buf_ struct pev_buf bytes = { 0 };
	struct walked walked;
	struct pev_seal_result res;

	(void)state;
	make_trace_bytes(&how, &bytes);
	walked = walk_trace(bytes.data, bytes.size);
	memset(bytes.data + 72, 0, 32); /* the features: the first step has none */
	test_folder_init(&folder);
	for (size_t n = walked.data_end; n <= bytes.size; n++) {
		test_write_file(test_path(&folder, "trace"), bytes.data, n);
		assert_int_equal(seal(test_path(&folder, "trace"), &res, NULL), 0);
		check_sealed(test_path(&folder, "trace"), walked.records, walked.samples, false);
	}
	/* So many events that there is no first step: tables behind a trace that is still in pipe
	 * mode. */
	memcpy(bytes.data + 8, &(uint64_t){ 16 }, 8);
	memset(bytes.data + 16, 0, 88);
	memcpy(bytes.data + 16, &(struct pev_rec_hdr){ .type = 65, .size = 88 }, 8);
	for (size_t n = walked.data_end; n <= bytes.size; n++) {
		test_write_file(test_path(&folder, "trace"), bytes.data, n);
		assert_int_equal(seal(test_path(&folder, "trace"), &res, NULL), 0);
		check_sealed(test_path(&folder, "trace"), walked.records, walked.samples, false);
	}
}

/* Each block damaged in turn: it is left out, all others stay. */
static void test_damaged(void **state)
{
	const struct make_trace how = { .records = 60, .per_block = 10 };
	_cleanup_folder_ struct test_folder folder;
	_cleanup_buf_ struct pev_buf bytes = { 0 };
	struct pev_rec_hdr hdr;
	unsigned int blocks = 0;

	(void)state;
	make_trace_bytes(&how, &bytes);
	test_folder_init(&folder);
	for (uint64_t at = head_end(&bytes); at < bytes.size; at += hdr.size, blocks++) {
		const char *const path = test_path(&folder, "trace");
		struct pev_block_head head;
		struct pev_seal_result res;

		memcpy(&hdr, bytes.data + at, sizeof(hdr));
		assert_int_equal(pev_block_head_read(bytes.data + at, hdr.size, true, &head), 1);
		bytes.data[at + hdr.size - 10] ^= 0x10;
		test_write_file(path, bytes.data, bytes.size);
		bytes.data[at + hdr.size - 10] ^= 0x10;
		assert_int_equal(seal(path, &res, NULL), 0);
		assert_int_equal(res.dropped_blocks, 1);
		assert_int_equal(res.dropped_bytes, hdr.size);
		assert_int_equal(res.records, 5);
		check_sealed(path, 60 - head.records, 41 - head.samples, false);
	}
	assert_int_equal(blocks, 6);
}

/* A file of somebody else's, as its owner and mode have it. */
static void test_owner_and_mode(void **state)
{
	static const struct {
		uid_t uid;
		gid_t gid;
		mode_t mode;
	} cases[] = {
		{ 0, 0, 0600 }, { 1234, 4321, 0640 }, { 65534, 65534, 0400 }, { 0, 7, 0444 }
	};
	const struct make_trace how = { .records = 5 };

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		_cleanup_folder_ struct test_folder folder;
		struct pev_seal_result res;
		const char *path;
		struct stat st;

		if (geteuid() != 0 && cases[i].uid) /* only root gives files away */
			continue;
		test_folder_init(&folder);
		path = test_path(&folder, "trace");
		make_trace(&how, path);
		if (geteuid() == 0)
			assert_int_equal(chown(path, cases[i].uid, cases[i].gid), 0);
		assert_int_equal(chmod(path, cases[i].mode), 0);
		assert_int_equal(seal(path, &res, NULL), 0);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 07777, cases[i].mode);
		if (geteuid() == 0) {
			assert_int_equal(st.st_uid, cases[i].uid);
			assert_int_equal(st.st_gid, cases[i].gid);
		}
	}
}

/* Whatever fails: the trace is as it was, and alone. */
static void test_failures(void **state)
{
	static const enum fault_call kinds[] = { FAULT_WRITE, FAULT_PWRITE, FAULT_FSYNC,
						 FAULT_RENAME };
	const struct make_trace how = { .records = 40, .per_block = 15 };
	_cleanup_folder_ struct test_folder folder;
	_cleanup_buf_ struct pev_buf bytes = { 0 }, now = { 0 };
	unsigned int failures = 0;
	const char *path;

	(void)state;
	test_folder_init(&folder);
	path = test_path(&folder, "trace");
	make_trace_bytes(&how, &bytes);
	for (size_t k = 0; k < PEV_ARRAY_SIZE(kinds); k++)
		for (unsigned int nth = 1;; nth++) {
			struct pev_err err = PEV_ERR_INIT;
			struct pev_seal_result res;
			int r;

			test_write_file(path, bytes.data, bytes.size);
			fault_at(kinds[k], nth, ENOSPC, nth % 2 * 10);
			r = seal(path, &res, &err);
			fault_end(NULL);
			assert_int_equal(test_count_files(&folder), 1);
			if (r == 0)
				break;
			failures++;
			assert_int_equal(r, -ENOSPC);
			assert_true(err.code == -ENOSPC && strstr(err.msg, path) &&
				    strstr(err.msg, "No space left on device"));
			test_read_file(path, &now);
			assert_int_equal(now.size, bytes.size);
			assert_memory_equal(now.data, bytes.data, bytes.size);
		}
	/* The head, three blocks and the tail; two headers; four syncs; a rename. */
	assert_int_equal(failures, 5 + 2 + 4 + 1);
}

static void test_no_memory(void **state)
{
	const struct make_trace how = { .records = 40, .per_block = 15 };
	_cleanup_folder_ struct test_folder folder;
	_cleanup_buf_ struct pev_buf bytes = { 0 };
	const char *path;

	(void)state;
	test_folder_init(&folder);
	path = test_path(&folder, "trace");
	make_trace_bytes(&how, &bytes);
	for (unsigned int nth = 1;; nth++) {
		_cleanup_(pev_verify_done) struct pev_verify v = { 0 };
		struct pev_err err = PEV_ERR_INIT;
		struct pev_seal_result res;
		int r;

		test_write_file(path, bytes.data, bytes.size);
		assert_int_equal(verify(path, &v, NULL), 0);
		alloc_fail_at(nth);
		r = pev_seal(path, &v, &res, &err);
		if (!alloc_fail_end()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(test_count_files(&folder), 1);
		if (r < 0)
			assert_true(r == -ENOMEM && err.code == r && err.msg[0]);
	}
}

/* What is still being written is left alone. */
static void test_busy(void **state)
{
	_cleanup_folder_ struct test_folder folder;
	_cleanup_(pev_writer_freep) struct pev_writer *w = NULL;
	_cleanup_buf_ struct pev_buf record = { 0 };
	struct pev_seal_result res;
	struct pev_err err = PEV_ERR_INIT;
	const char *path;
	char want[256];

	(void)state;
	test_folder_init(&folder);
	path = test_path(&folder, "trace");
	assert_int_equal(pev_writer_open(path, -1, made_events, 1, NULL, 0, &w, NULL), 0);
	make_trace_record(5, true, &record);
	assert_int_equal(pev_writer_put(w, record.data, record.size, NULL), 0);
	assert_int_equal(seal(path, &res, &err), -EBUSY);
	(void)snprintf(want, sizeof(want),
		       "%s is still being recorded: stop that, and it seals the trace", path);
	assert_err(&err, -EBUSY, want);
	pev_writer_free(TAKE_PTR(w));
	assert_int_equal(seal(path, &res, NULL), 0);
	assert_int_equal(res.records, 1);
}

/* What a link points to is sealed; the link stays. What a seal left that was killed goes. */
static void test_link_and_leftover(void **state)
{
	const struct make_trace how = { .records = 5 };
	_cleanup_folder_ struct test_folder folder;
	_cleanup_(pev_verify_done) struct pev_verify v = { 0 };
	struct pev_seal_result res;
	struct stat st;

	(void)state;
	test_folder_init(&folder);
	make_trace(&how, test_path(&folder, "trace"));
	assert_int_equal(symlink("trace", test_path(&folder, "link")), 0);
	test_write_file(test_path(&folder, "trace.sealing"), "half", 4);
	assert_int_equal(seal(test_path(&folder, "link"), &res, NULL), 0);
	assert_int_equal(lstat(test_path(&folder, "link"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(test_count_files(&folder), 2);
	assert_int_equal(verify(test_path(&folder, "trace"), &v, NULL), 0);
	assert_int_equal(v.verdict, PEV_WHOLE);
}

static void test_refusals(void **state)
{
	const struct make_trace how = { .records = 5 };
	_cleanup_folder_ struct test_folder folder;
	_cleanup_buf_ struct pev_buf bytes = { 0 };
	_cleanup_(pev_verify_done) struct pev_verify v = { 0 };
	struct pev_seal_result res;
	struct pev_err err = PEV_ERR_INIT;
	const uint64_t swapped[2] = { PEV_MAGIC_SWAPPED, __builtin_bswap64(16) };
	const char *path;
	char want[256];

	(void)state;
	test_folder_init(&folder);
	path = test_path(&folder, "trace");
	make_trace_bytes(&how, &bytes);

	test_write_file(path, bytes.data, 104 + 100); /* within the first event */
	assert_int_equal(seal(path, &res, &err), -ENODATA);
	(void)snprintf(want, sizeof(want),
		       "%s is cut before its first event: there is nothing to keep", path);
	assert_err(&err, -ENODATA, want);

	test_write_file(path, swapped, sizeof(swapped));
	assert_int_equal(seal(path, &res, &err), -EPROTONOSUPPORT);
	(void)snprintf(want, sizeof(want),
		       "%s was written on a machine of the other byte order: seal it there", path);
	assert_err(&err, -EPROTONOSUPPORT, want);

	assert_int_equal(pev_seal("/nonexistent/trace", &v, &res, &err), -ENOENT);
	assert_err(&err, -ENOENT, "cannot seal /nonexistent/trace: No such file or directory");

	/* Somebody has a folder where the new file would be. */
	make_trace(&how, test_path(&folder, "blocked"));
	assert_int_equal(mkdir(test_path(&folder, "blocked.sealing"), 0700), 0);
	assert_int_equal(seal(test_path(&folder, "blocked"), &res, &err), -EEXIST);
	(void)snprintf(want, sizeof(want), "cannot create %s: File exists",
		       test_path(&folder, "blocked.sealing"));
	assert_err(&err, -EEXIST, want);
	test_read_file(test_path(&folder, "blocked"), &bytes);
	assert_memory_equal(bytes.data, "PERFILE2\x10", 9);
}

/* Records with a payload behind them, and records that a regular file has tables for. */
static void test_payload(void **state)
{
	_cleanup_folder_ struct test_folder folder;
	_cleanup_buf_ struct pev_buf bytes = { 0 };
	const struct make_trace how = { .records = 5, .one_event = true };
	const struct pev_rec_hdr aux = { .type = PEV_REC_AUXTRACE, .size = 48 };
	const struct pev_rec_hdr update = { .type = PEV_REC_EVENT_UPDATE, .size = 40 };
	const uint64_t words[4] = { PEV_EVENT_UPDATE_UNIT, 0x1000, 0x74696e75, 0 };
	enum {
		PAYLOAD = 3000000
	};
	struct pev_seal_result res;
	const char *path;

	(void)state;
	test_folder_init(&folder);
	path = test_path(&folder, "trace");
	make_trace_bytes(&how, &bytes);
	pev_buf_put(&bytes, &aux, sizeof(aux));
	pev_buf_u64(&bytes, PAYLOAD);
	pev_buf_zero(&bytes, 32);
	memset(pev_buf_extend(&bytes, PAYLOAD), 0x5a, PAYLOAD);
	pev_buf_put(&bytes, &update, sizeof(update));
	pev_buf_put(&bytes, words, sizeof(words));
	make_trace_record(5, true, &bytes);
	test_write_file(path, bytes.data, bytes.size);
	assert_int_equal(seal(path, &res, NULL), 0);
	assert_int_equal(res.records, 7);
	check_sealed(path, 7, 3, true);

	/* Cut within the payload: that record goes, too. */
	test_write_file(path, bytes.data, bytes.size - PAYLOAD / 2);
	assert_int_equal(seal(path, &res, NULL), 0);
	assert_int_equal(res.records, 5);
	check_sealed(path, 5, 2, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_cut), cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_damaged),   cmocka_unit_test(test_owner_and_mode),
		cmocka_unit_test(test_failures),  cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_busy),      cmocka_unit_test(test_link_and_leftover),
		cmocka_unit_test(test_refusals),  cmocka_unit_test(test_payload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
