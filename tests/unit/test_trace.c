// SPDX-License-Identifier: LGPL-2.1-or-later
/* The reader, on traces of ours: whole, cut at every byte, with every bit wrong once. What others
 * write is in test_trace_others.c. */
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "trace_make.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

PEV_DEFINE_CLEANUP(struct pev_trace *, pev_trace_free);

static const struct make_trace shapes[] = {
	{ .records = 60, .per_block = 25 },
	{ .records = 60, .per_block = 25, .sealed = true },
	{ .records = 12, .per_block = 0 },
	{ .records = 12, .per_block = 0, .sealed = true },
	{ .records = 30, .per_block = 7, .one_event = true },
	{ .records = 30, .per_block = 7, .one_event = true, .sealed = true },
	{ .records = 0 },
	{ .records = 0, .sealed = true },
};

struct counts {
	uint64_t records, samples, bad;
};

/* Reads to the end. No input may keep the reader busy for more steps than it has bytes, unpacked.
 */
static int read_all(struct pev_trace *t, struct counts *ret, struct pev_err *err)
{
	*ret = (struct counts){ 0 };
	for (uint64_t steps = 0;; steps++) {
		struct pev_trace_record rec;
		const int r = pev_trace_next(t, &rec, err);

		assert_in_range(steps, 0, 1 << 20);
		if (r == -EBADMSG || r == -ENODATA) {
			assert_true(err->msg[0]);
			ret->bad++;
			continue;
		}
		if (r <= 0)
			return r;
		assert_in_range(rec.size, sizeof(rec.hdr), SIZE_MAX / 2);
		ret->records++;
		ret->samples += rec.hdr.type == PEV_REC_SAMPLE;
	}
}

static int open_and_read(const char *path, const struct pev_trace_options *options,
			 struct counts *ret, struct pev_trace_damage *ret_damage,
			 struct pev_err *err)
{
	_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
	int r;

	r = pev_trace_open(path, options, &t, err);
	if (r < 0)
		return r;
	r = read_all(t, ret, err);
	*ret_damage = pev_trace_damage(t);
	return r;
}

static void check_events(const struct pev_trace_head *head, bool one_event, bool updates)
{
	assert_int_equal(head->nr_events, one_event ? 1 : MADE_EVENTS);
	for (size_t i = 0; i < head->nr_events; i++) {
		const struct pev_trace_event *const e = &head->events[i], *const m =
										  &made_events[i];

		assert_memory_equal(&e->attr, &m->attr, sizeof(e->attr));
		assert_int_equal(e->nr_ids, m->nr_ids);
		assert_memory_equal(e->ids, m->ids, m->nr_ids * sizeof(*m->ids));
		assert_string_equal(e->name, m->name);
		/* A regular file has no place for these. */
		if (updates && m->unit)
			assert_string_equal(e->unit, m->unit);
		if (updates)
			assert_memory_equal(&e->scale, &m->scale, sizeof(e->scale));
	}
	assert_string_equal(head->features->hostname, "made");
	assert_int_equal(head->features->nrcpus.avail, 4);
	assert_int_equal(head->features->compressed.mmap_len, PEV_BLOCK_RAW_MAX);
	assert_int_equal(pev_features_has(head->features, PEV_FEAT_TRACING_DATA), !one_event);
}

/* Every record is the one that was written, of the event that it was written for. */
static void check_records(struct pev_trace *t, const struct make_trace *how)
{
	_cleanup_buf_ struct pev_buf want = { 0 };
	struct pev_trace_record rec;
	unsigned int i = 0;

	for (; pev_trace_next(t, &rec, NULL) > 0; i++) {
		if (!how->records) { /* a regular file must have one */
			assert_int_equal(rec.hdr.type, PEV_REC_FINISHED_ROUND);
			return;
		}
		pev_buf_reset(&want);
		make_trace_record(i, how->one_event, &want);
		assert_int_equal(rec.size, want.size);
		assert_memory_equal(rec.bytes, want.data, want.size);
		assert_int_equal(rec.compressed, how->per_block != 0);
		assert_int_equal(rec.our_block, how->per_block != 0);
		assert_int_equal(rec.payload, 0);
		if (rec.hdr.type >= PEV_REC_USER_START) {
			assert_null(rec.event);
			continue;
		}
		assert_non_null(rec.event);
		if (rec.hdr.type == PEV_REC_SAMPLE)
			assert_int_equal(rec.event->attr.type == PEV_TYPE_TRACEPOINT,
					 !how->one_event && i % 2);
	}
	assert_int_equal(i, how->records);
}

static void test_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(shapes); i++) {
		_cleanup_buf_ struct pev_buf bytes = { 0 };
		_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
		_cleanup_file_ struct test_file f;
		struct pev_trace_damage damage, none = { 0 };
		struct pev_trace_head head;
		struct walked walked;

		make_trace_bytes(&shapes[i], &bytes);
		walked = walk_trace(bytes.data, bytes.size);
		f = test_file(bytes.data, bytes.size);
		assert_int_equal(pev_trace_open(f.path, NULL, &t, NULL), 0);
		head = pev_trace_head(t);
		assert_int_equal(head.pipe, !shapes[i].sealed);
		assert_true(head.ours && !head.swap && !head.sealing && !head.cut_tables);
		assert_int_equal(head.version, 2);
		assert_int_equal(head.file_size, bytes.size);
		assert_int_equal(head.data_offset, walked.data_offset);
		assert_int_equal(head.data_size,
				 head.pipe ? 0 : walked.data_end - walked.data_offset);
		check_events(&head, shapes[i].one_event, head.pipe);
		check_records(t, &shapes[i]);
		damage = pev_trace_damage(t);
		assert_memory_equal(&damage, &none, sizeof(none));
	}
}

/* The same bytes through a pipe: only pipe mode can be read there. */
static void test_from_pipe(void **state)
{
	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(shapes); i++) {
		_cleanup_buf_ struct pev_buf bytes = { 0 };
		_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
		struct pev_err err = PEV_ERR_INIT;
		char path[32], want[256];
		int fds[2], r;

		make_trace_bytes(&shapes[i], &bytes);
		assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
		assert_in_range(bytes.size, 1, 65536); /* what a pipe holds */
		assert_int_equal(write(fds[1], bytes.data, bytes.size), bytes.size);
		(void)close(fds[1]);
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
		r = pev_trace_open(path, NULL, &t, &err);
		if (shapes[i].sealed) {
			(void)snprintf(want, sizeof(want),
				       "%s: a regular perf.data cannot be read from a pipe; name "
				       "the file instead",
				       path);
			assert_int_equal(r, -ESPIPE);
			assert_err(&err, -ESPIPE, want);
		} else {
			assert_int_equal(r, 0);
			assert_int_equal(pev_trace_head(t).file_size, UINT64_MAX);
			check_records(t, &shapes[i]);
		}
		(void)close(fds[0]);
	}
}

/* Cut anywhere, all whole records are there, and the damage is what is left of the next. */
static void check_prefix(const struct pev_buf *bytes, size_t n)
{
	_cleanup_file_ struct test_file f = test_file(bytes->data, n);
	const struct walked walked = walk_trace(bytes->data, n);
	const struct pev_trace_options check = { .check = true };
	struct pev_err err = PEV_ERR_INIT;
	struct pev_trace_damage damage;
	struct counts counts;
	int r;

	r = open_and_read(f.path, &check, &counts, &damage, &err);
	if (n < 16 || !walked.whole_end || (walked.whole_end > n && r < 0)) {
		assert_int_equal(r, -ENODATA);
		assert_int_equal(err.code, -ENODATA);
		return;
	}
	if (r < 0)
		fail_msg("cut at %zu: %s", n, err.msg);
	assert_int_equal(counts.records, walked.records);
	assert_int_equal(counts.samples, walked.samples);
	assert_int_equal(counts.bad, 0);
	if (walked.whole_end > n) /* the header says where data start, but the file ends before */
		return;
	assert_int_equal(damage.cut_bytes, PEV_MIN(walked.data_end, n) - walked.whole_end);
	assert_int_equal(damage.missing_bytes, walked.data_end - PEV_MIN(walked.data_end, n));
	assert_int_equal(damage.tail_bytes, 0);
	assert_int_equal(damage.blocks, 0);
}

static void test_prefixes(void **state)
{
	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(shapes); i++) {
		_cleanup_buf_ struct pev_buf bytes = { 0 };

		make_trace_bytes(&shapes[i], &bytes);
		for (size_t n = 0; n <= bytes.size; n++)
			check_prefix(&bytes, n);
	}
}

/* Whatever bit is wrong, the reader comes to an end, and says so or reads on. */
static void test_flips(void **state)
{
	static const struct make_trace small[] = {
		{ .records = 20, .per_block = 10 },
		{ .records = 20, .per_block = 10, .sealed = true },
		{ .records = 6, .one_event = true },
		{ .records = 6, .one_event = true, .sealed = true },
	};
	static const struct pev_trace_options ways[] = { { 0 },
							 { .check = true },
							 { .raw = true } };

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(small); i++) {
		_cleanup_buf_ struct pev_buf bytes = { 0 };
		_cleanup_file_ struct test_file f = { .fd = -1 };

		make_trace_bytes(&small[i], &bytes);
		f = test_file(bytes.data, bytes.size);
		for (size_t bit = 0; bit < 8 * bytes.size; bit++) {
			const uint8_t byte = bytes.data[bit / 8];
			const uint8_t flipped = byte ^ (uint8_t)(1 << bit % 8);

			assert_int_equal(pwrite(f.fd, &flipped, 1, (off_t)bit / 8), 1);
			for (size_t way = 0; way < PEV_ARRAY_SIZE(ways); way++) {
				struct pev_err err = PEV_ERR_INIT;
				struct pev_trace_damage damage;
				struct counts counts;
				const int r =
					open_and_read(f.path, &ways[way], &counts, &damage, &err);

				if (r < 0)
					assert_true(err.code == r && err.msg[0]);
			}
			assert_int_equal(pwrite(f.fd, &byte, 1, (off_t)bit / 8), 1);
		}
	}
}

/* A damaged block costs that block. */
static void test_damaged_block(void **state)
{
	const struct make_trace how = { .records = 60, .per_block = 20, .sealed = true };
	const struct pev_trace_options check = { .check = true };
	_cleanup_buf_ struct pev_buf bytes = { 0 };
	_cleanup_file_ struct test_file f = { .fd = -1 };
	struct pev_trace_damage damage;
	struct pev_err err = PEV_ERR_INIT;
	struct counts counts;
	struct pev_rec_hdr hdr;
	struct walked walked;
	char want[256];
	uint64_t at;

	(void)state;
	make_trace_bytes(&how, &bytes);
	walked = walk_trace(bytes.data, bytes.size);
	assert_int_equal(walked.blocks, 3);
	memcpy(&hdr, bytes.data + walked.data_offset, sizeof(hdr));
	at = walked.data_offset + hdr.size;
	memcpy(&hdr, bytes.data + at, sizeof(hdr));
	bytes.data[at + hdr.size / 2] ^= 4;
	f = test_file(bytes.data, bytes.size);
	assert_int_equal(open_and_read(f.path, &check, &counts, &damage, &err), 0);
	assert_int_equal(counts.records, 40);
	assert_int_equal(counts.bad, 1);
	assert_int_equal(damage.blocks, 1);
	assert_int_equal(damage.block_bytes, hdr.size);
	assert_int_equal(damage.first_offset, at);
	(void)snprintf(want, sizeof(want),
		       "%s: block at offset %zu is damaged: its checksum is wrong", f.path,
		       (size_t)at);
	assert_err(&err, -EBADMSG, want);
}

/* Offsets of the blocks of a made trace, and of the end of the last. */
static size_t find_blocks(const struct pev_buf *bytes, uint64_t *offsets, size_t max)
{
	const struct walked walked = walk_trace(bytes->data, bytes->size);
	struct pev_rec_hdr hdr;
	size_t nr = 0;

	for (uint64_t at = walked.data_offset; at < walked.data_end; at += hdr.size) {
		assert_in_range(nr, 0, max - 2);
		memcpy(&hdr, bytes->data + at, sizeof(hdr));
		assert_int_equal(hdr.type, PEV_REC_COMPRESSED);
		offsets[nr++] = at;
	}
	offsets[nr] = walked.data_end;
	return nr;
}

#define BLOCKS 6

static const struct make_trace of_blocks[] = {
	{ .records = BLOCKS * 10, .per_block = 10 },
	{ .records = BLOCKS * 10, .per_block = 10, .sealed = true },
};

/* Whatever a block says of its size, it costs only itself. */
static void test_wrong_size(void **state)
{
	const struct pev_trace_options check = { .check = true };

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(of_blocks); i++) {
		_cleanup_buf_ struct pev_buf bytes = { 0 };
		uint64_t blocks[BLOCKS + 1];

		make_trace_bytes(&of_blocks[i], &bytes);
		assert_int_equal(find_blocks(&bytes, blocks, BLOCKS + 2), BLOCKS);
		for (size_t bit = 0; bit < 16 * BLOCKS; bit++) {
			uint8_t *const byte = bytes.data + blocks[bit / 16] + 6 + bit % 16 / 8;
			_cleanup_file_ struct test_file f = { .fd = -1 };
			struct pev_trace_damage damage;
			struct pev_err err = PEV_ERR_INIT;
			struct counts counts;

			*byte ^= (uint8_t)(1 << bit % 8);
			f = test_file(bytes.data, bytes.size);
			assert_int_equal(open_and_read(f.path, &check, &counts, &damage, &err), 0);
			if (counts.records != (BLOCKS - 1) * 10)
				fail_msg("bit %zu of block %zu: %zu records", bit % 16, bit / 16,
					 (size_t)counts.records);
			assert_in_range(damage.first_offset, blocks[bit / 16],
					blocks[bit / 16 + 1] - 1);
			*byte ^= (uint8_t)(1 << bit % 8);
		}
	}
}

/* What a power loss may leave: pages of zeros. All blocks that are whole are found. */
static void test_hole(void **state)
{
	static const struct {
		unsigned int from, to; /* from within this block to within that one */
	} holes[] = { { 0, 0 }, { 0, 1 }, { 1, 3 }, { 2, 2 }, { 3, 5 }, { 5, 5 }, { 0, 5 } };
	const struct pev_trace_options check = { .check = true };

	(void)state;
	for (size_t i = 0; i < 2 * PEV_ARRAY_SIZE(holes); i++) {
		const unsigned int from = holes[i / 2].from, to = holes[i / 2].to;
		_cleanup_buf_ struct pev_buf bytes = { 0 };
		_cleanup_file_ struct test_file f = { .fd = -1 };
		struct pev_err err = PEV_ERR_INIT;
		uint64_t blocks[BLOCKS + 1];
		struct pev_trace_damage damage;
		struct counts counts;

		make_trace_bytes(&of_blocks[i % 2], &bytes);
		assert_int_equal(find_blocks(&bytes, blocks, BLOCKS + 2), BLOCKS);
		memset(bytes.data + blocks[from] + 50, 0, blocks[to + 1] - blocks[from] - 60);
		f = test_file(bytes.data, bytes.size);
		assert_int_equal(open_and_read(f.path, &check, &counts, &damage, &err), 0);
		assert_int_equal(counts.records, (BLOCKS - 1 - (to - from)) * 10);
		assert_int_equal(damage.first_offset, blocks[from]);
	}
}

/* The states that a seal goes through, after one that was killed: a regular header without
 * features, and any part of what comes behind the data. */
static void test_interrupted_seal(void **state)
{
	const struct make_trace open_how = { .records = 60, .per_block = 20 };
	struct make_trace how = open_how;
	_cleanup_buf_ struct pev_buf opened = { 0 }, sealed = { 0 };
	struct pev_file_header header = { 0 };

	(void)state;
	how.sealed = true;
	make_trace_bytes(&open_how, &opened);
	make_trace_bytes(&how, &sealed);
	assert_true(sealed.size > opened.size);
	/* Behind the header both are the same up to the end of the data. */
	assert_memory_equal(opened.data + 104, sealed.data + 104, opened.size - 104);
	memcpy(&header, sealed.data, sizeof(header));
	memset(header.features, 0, sizeof(header.features));
	/* The table in front is found by looking for what the one behind says. */
	header.attrs.offset = 0;
	for (size_t at = 104;
	     at + header.attrs.size <= walk_trace(opened.data, opened.size).data_offset; at += 8)
		if (!memcmp(sealed.data + at, &made_events[0].attr, 128) &&
		    !memcmp(sealed.data + at + 128 + 16 + 128 + 16, &made_events[2].attr, 128))
			header.attrs.offset = at;
	assert_int_not_equal(header.attrs.offset, 0);
	memcpy(sealed.data, &header, sizeof(header));
	for (size_t n = opened.size; n <= sealed.size; n++) {
		_cleanup_file_ struct test_file f = test_file(sealed.data, n);
		_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
		struct pev_trace_damage damage, none = { 0 };
		struct pev_trace_head head;

		assert_int_equal(pev_trace_open(f.path, NULL, &t, NULL), 0);
		head = pev_trace_head(t);
		assert_true(head.ours && head.sealing && !head.pipe && !head.cut_tables);
		check_events(&head, false, true);
		check_records(t, &how);
		damage = pev_trace_damage(t);
		assert_memory_equal(&damage, &none, sizeof(none));
	}
}

static void test_no_memory(void **state)
{
	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(shapes); i++) {
		_cleanup_buf_ struct pev_buf bytes = { 0 };
		_cleanup_file_ struct test_file f = { .fd = -1 };
		struct pev_trace_damage damage;
		struct counts whole, counts;
		struct pev_err err;

		make_trace_bytes(&shapes[i], &bytes);
		f = test_file(bytes.data, bytes.size);
		assert_int_equal(open_and_read(f.path, NULL, &whole, &damage, &err), 0);
		for (unsigned int nth = 1;; nth++) {
			int r;

			err = PEV_ERR_INIT;
			alloc_fail_at(nth);
			r = open_and_read(f.path, NULL, &counts, &damage, &err);
			if (!alloc_fail_end())
				break;
			/* A name or a feature may be missing, a record may not. */
			if (r < 0)
				assert_true(r == -ENOMEM && err.code == -ENOMEM && err.msg[0]);
			else
				assert_memory_equal(&counts, &whole, sizeof(whole));
		}
	}
}

static const struct {
	const char *bytes;
	size_t size;
	int code;
	const char *sentence; /* after the path */
} refusals[] = {
	{ "", 0, -ENODATA, " is empty: there is nothing in it to read" },
	{ "PERFILE2", 8, -ENODATA, " is cut short: it has only 8 bytes" },
	{ "PERFILE2\x10\0\0\0\0\0\0", 15, -ENODATA, " is cut short: it has only 15 bytes" },
	{ "PERFILE3\x10\0\0\0\0\0\0\0", 16, -EBADMSG,
	  " is no perf.data: it does not start with PERFILE2" },
	{ "\x7f"
	  "ELF\2\1\1\0\0\0\0\0\0\0\0\0",
	  16, -EBADMSG, " is no perf.data: it does not start with PERFILE2" },
	{ "PERFILE2\x47\0\0\0\0\0\0\0", 16, -EBADMSG, ": its header claims 71 bytes" },
	{ "PERFILE2\x68\0\0\0\0\0\0\0", 16, -ENODATA, " is cut short: it ends within its header" },
};

static void test_refusals(void **state)
{
	_cleanup_folder_ struct test_folder folder;
	struct pev_trace *t = NULL;
	struct pev_err err = PEV_ERR_INIT;
	char want[256];

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(refusals); i++) {
		_cleanup_file_ struct test_file f = test_file(refusals[i].bytes, refusals[i].size);

		err = PEV_ERR_INIT;
		assert_int_equal(pev_trace_open(f.path, NULL, &t, &err), refusals[i].code);
		(void)snprintf(want, sizeof(want), "%s%s", f.path, refusals[i].sentence);
		assert_err(&err, refusals[i].code, want);
	}
	test_folder_init(&folder);
	assert_int_equal(pev_trace_open(folder.path, NULL, &t, &err), -EISDIR);
	(void)snprintf(want, sizeof(want), "cannot read %s: it is a directory", folder.path);
	assert_err(&err, -EISDIR, want);
	assert_int_equal(pev_trace_open("/nonexistent/trace", NULL, &t, &err), -ENOENT);
	assert_err(&err, -ENOENT, "cannot open /nonexistent/trace: No such file or directory");
	assert_null(t);
	assert_null(pev_trace_free(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),         cmocka_unit_test(test_from_pipe),
		cmocka_unit_test(test_prefixes),      cmocka_unit_test(test_flips),
		cmocka_unit_test(test_damaged_block), cmocka_unit_test(test_interrupted_seal),
		cmocka_unit_test(test_wrong_size),    cmocka_unit_test(test_hole),
		cmocka_unit_test(test_no_memory),     cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
