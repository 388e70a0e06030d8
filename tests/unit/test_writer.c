// SPDX-License-Identifier: LGPL-2.1-or-later
/* The writer: what the bytes are, and what is left of them when the disk fails at any step. */
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "fault.h"
#include "feature_make.h"
#include "trace_make.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

PEV_DEFINE_CLEANUP(struct pev_writer *, pev_writer_free);
PEV_DEFINE_CLEANUP(struct pev_trace *, pev_trace_free);
PEV_DEFINE_CLEANUP(struct pev_block *, pev_block_free);

#define MAX_SECTIONS 8

static void put_hdr(struct maker *m, uint32_t type, size_t size)
{
	make_u32(m, type);
	make_u16(m, 0);
	make_u16(m, (uint16_t)size);
}

/* The open form of a trace of made_events[MADE_CLOCK] with HOSTNAME, drawn by hand. */
static void draw_open(struct pev_buf *ret, bool file)
{
	const struct pev_trace_event *const e = &made_events[MADE_CLOCK];
	struct maker m = { .buf = ret };
	size_t ids_at;

	pev_buf_put(ret, "PERFILE2", 8);
	make_u64(&m, 16);
	put_hdr(&m, 65, 88);
	pev_buf_zero(ret, 80);
	put_hdr(&m, 64, 8 + 128 + 32);
	make_attr_bytes(&m, &e->attr, 128);
	pev_buf_put(ret, e->ids, 32);
	put_hdr(&m, 78, 24 + 16); /* name */
	make_u64(&m, 2);
	make_u64(&m, 0x1000);
	pev_buf_put(ret, "cpu-clock\0\0\0\0\0\0", 16);
	put_hdr(&m, 78, 24 + 8); /* unit */
	make_u64(&m, 0);
	make_u64(&m, 0x1000);
	pev_buf_put(ret, "msec\0\0\0", 8);
	put_hdr(&m, 78, 24 + 8); /* scale */
	make_u64(&m, 1);
	make_u64(&m, 0x1000);
	pev_buf_put(ret, &e->scale, 8);
	if (file) {
		put_hdr(&m, 65, 8 + 32 + 128 + 16);
		ids_at = ret->size;
		pev_buf_put(ret, e->ids, 32);
		make_attr_bytes(&m, &e->attr, 128);
		make_u64(&m, ids_at);
		make_u64(&m, 32);
	}
	put_hdr(&m, 80, 16 + 68 + 4);
	make_u64(&m, PEV_FEAT_HOSTNAME);
	make_str(&m, "made");
	pev_buf_zero(ret, 4);
}

static size_t hostname_only(struct pev_feat_section *sections)
{
	struct maker m = { .buf = &sections[0].data };

	sections[0].feat = PEV_FEAT_HOSTNAME;
	make_str(&m, "made");
	return 1;
}

static void test_open_form(void **state)
{
	_cleanup_folder_ struct test_folder folder;
	_cleanup_(pev_writer_freep) struct pev_writer *w = NULL;
	_cleanup_buf_ struct pev_buf want = { 0 }, got = { 0 };
	struct pev_feat_section sections[1] = { 0 };
	const char *path;
	struct stat st;

	(void)state;
	test_folder_init(&folder);
	path = test_path(&folder, "trace");
	(void)hostname_only(sections);
	assert_int_equal(pev_writer_open(path, -1, made_events, 1, sections, 1, &w, NULL), 0);
	draw_open(&want, true);
	test_read_file(path, &got);
	assert_int_equal(got.size, want.size);
	assert_memory_equal(got.data, want.data, want.size);
	assert_int_equal(pev_writer_stats(w).bytes, want.size);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	pev_feat_sections_done(sections, 1);
}

static void test_pipe(void **state)
{
	_cleanup_(pev_writer_freep) struct pev_writer *w = NULL;
	_cleanup_buf_ struct pev_buf want = { 0 }, record = { 0 };
	struct pev_feat_section sections[1] = { 0 };
	struct pev_err err = PEV_ERR_INIT;
	uint8_t got[8192];
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	(void)hostname_only(sections);
	assert_int_equal(pev_writer_open("a pipe", fds[1], made_events, 1, sections, 1, &w, NULL),
			 0);
	draw_open(&want, false);
	make_trace_record(5, true, &record);
	assert_int_equal(pev_writer_put(w, record.data, record.size, NULL), 0);
	pev_buf_put(&want, record.data, record.size);
	assert_int_equal(read(fds[0], got, sizeof(got)), want.size);
	assert_memory_equal(got, want.data, want.size);
	assert_int_equal(pev_writer_seal(w, sections, 1, NULL, &err), -ESPIPE);
	assert_err(&err, -ESPIPE, "a pipe: a stream cannot be sealed");

	/* Nobody reads any more. */
	(void)close(fds[0]);
	(void)signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pev_writer_put(w, record.data, record.size, &err), -EPIPE);
	(void)snprintf((char *)got, sizeof(got),
		       "cannot write a pipe: Broken pipe; it ends after %zu bytes", want.size);
	assert_err(&err, -EPIPE, (char *)got);
	pev_writer_free(TAKE_PTR(w));
	assert_int_equal(fcntl(fds[1], F_GETFD), FD_CLOEXEC); /* it stays the caller's */
	(void)close(fds[1]);
	pev_feat_sections_done(sections, 1);
}

static struct pev_file_section section_at(const struct pev_buf *buf, uint64_t at)
{
	struct pev_file_section s;

	assert_in_range(at, 104, buf->size - sizeof(s));
	memcpy(&s, buf->data + at, sizeof(s));
	assert_in_range(s.offset, 104, buf->size);
	assert_in_range(s.size, 0, buf->size - s.offset);
	assert_int_equal(s.offset % 8, 0);
	return s;
}

/* A sealed file by the letter of perf's format. */
static void check_sealed(const struct pev_buf *file, const struct pev_trace_event *events,
			 size_t nr_events, const struct pev_feat_section *sections,
			 size_t nr_sections, uint32_t attr_size)
{
	struct pev_file_header h;
	uint64_t at;

	memcpy(&h, file->data, sizeof(h));
	assert_int_equal(h.magic, PEV_MAGIC);
	assert_int_equal(h.size, 104);
	assert_int_equal(h.attr_size, attr_size + 16);
	assert_int_equal(h.attrs.size, nr_events * h.attr_size);
	assert_int_equal(h.event_types.offset | h.event_types.size, 0);
	assert_int_not_equal(h.data.size, 0);
	at = h.data.offset + h.data.size;
	for (size_t i = 0; i < nr_sections; i++, at += 16) {
		const struct pev_file_section s = section_at(file, at);
		const unsigned int feat = sections[i].feat;

		assert_true(h.features[feat / 64] >> feat % 64 & 1);
		h.features[feat / 64] &= ~(1ULL << feat % 64);
		assert_int_equal(s.size, sections[i].data.size);
		assert_memory_equal(file->data + s.offset, sections[i].data.data, s.size);
	}
	assert_int_equal(h.features[0] | h.features[1] | h.features[2] | h.features[3], 0);
	for (size_t i = 0; i < nr_events; i++) {
		const struct pev_file_section ids =
			section_at(file, h.attrs.offset + i * h.attr_size + attr_size);
		struct pev_attr attr = events[i].attr;

		attr.size = attr_size;
		assert_memory_equal(file->data + h.attrs.offset + i * h.attr_size, &attr,
				    attr_size);
		assert_int_equal(ids.size, events[i].nr_ids * 8);
		assert_memory_equal(file->data + ids.offset, events[i].ids, ids.size);
	}
}

static void test_sealed_form(void **state)
{
	_cleanup_folder_ struct test_folder folder;
	_cleanup_(pev_writer_freep) struct pev_writer *w = NULL;
	_cleanup_buf_ struct pev_buf open_form = { 0 }, got = { 0 };
	struct pev_feat_section sections[MAX_SECTIONS] = { 0 };
	const size_t nr = make_sections(false, sections, MAX_SECTIONS);
	const char *path, *final_path;
	struct pev_err err = PEV_ERR_INIT;

	(void)state;
	test_folder_init(&folder);
	path = test_path(&folder, "trace.open");
	final_path = test_path(&folder, "trace");
	assert_int_equal(
		pev_writer_open(path, -1, made_events, MADE_EVENTS, sections, nr, &w, NULL), 0);
	for (unsigned int i = 0; i < 10; i++) {
		_cleanup_buf_ struct pev_buf record = { 0 };

		make_trace_record(i, false, &record);
		assert_int_equal(pev_writer_put(w, record.data, record.size, NULL), 0);
	}
	test_read_file(path, &open_form);
	assert_int_equal(pev_writer_seal(w, sections, nr, final_path, &err), 0);
	assert_int_equal(test_count_files(&folder), 1);
	test_read_file(final_path, &got);
	assert_int_equal(pev_writer_stats(w).bytes, got.size);
	assert_memory_equal(got.data + 104, open_form.data + 104, open_form.size - 104);
	check_sealed(&got, made_events, MADE_EVENTS, sections, nr, 128);
	pev_feat_sections_done(sections, nr);
}

/* Fields that only newer attrs have make all entries longer; others are not longer than they must
 * be, which the perf of 2022 refuses. */
static void test_attr_sizes(void **state)
{
	static const struct {
		uint64_t config3, config4;
		uint32_t size;
	} cases[] = { { 0, 0, 128 }, { 1, 0, 136 }, { 1, 1, 144 }, { 0, 1, 144 } };

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		_cleanup_folder_ struct test_folder folder;
		_cleanup_(pev_writer_freep) struct pev_writer *w = NULL;
		_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
		_cleanup_buf_ struct pev_buf got = { 0 };
		struct pev_trace_event events[2] = { made_events[0], made_events[2] };
		struct pev_trace_head head;

		events[1].attr.config3 = cases[i].config3;
		events[1].attr.config4 = cases[i].config4;
		events[1].attr.size = cases[i].size;
		test_folder_init(&folder);
		assert_int_equal(
			pev_writer_open(test_path(&folder, "t"), -1, events, 2, NULL, 0, &w, NULL),
			0);
		assert_int_equal(pev_trace_open(test_path(&folder, "t"), NULL, &t, NULL), 0);
		head = pev_trace_head(t);
		assert_int_equal(head.nr_events, 2);
		assert_memory_equal(&head.events[1].attr, &events[1].attr, sizeof(struct pev_attr));
		assert_int_equal(pev_writer_seal(w, NULL, 0, NULL, NULL), 0);
		test_read_file(test_path(&folder, "t"), &got);
		check_sealed(&got, events, 2, NULL, 0, cases[i].size);
	}
}

static void check_trace(const char *path, size_t nr_events, unsigned int records)
{
	const struct pev_trace_options how = { .check = true };
	_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
	struct pev_err err = PEV_ERR_INIT;
	struct pev_trace_damage damage, none = { 0 };
	struct pev_trace_record rec;
	unsigned int seen = 0;
	int r;

	if (pev_trace_open(path, &how, &t, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(pev_trace_head(t).nr_events, nr_events);
	while ((r = pev_trace_next(t, &rec, &err)) > 0)
		seen++;
	if (r < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(seen, records);
	damage = pev_trace_damage(t);
	assert_memory_equal(&damage, &none, sizeof(none));
}

/* Sections and tables beyond the 64 KiB of a record have to wait for the seal, and get there. */
static void test_large(void **state)
{
	enum {
		EVENTS = 500,
		IDS = 20000
	};
	_cleanup_folder_ struct test_folder folder;
	_cleanup_(pev_writer_freep) struct pev_writer *w = NULL;
	_cleanup_buf_ struct pev_buf got = { 0 }, record = { 0 };
	static struct pev_trace_event events[EVENTS];
	static uint64_t ids[IDS];
	struct pev_feat_section sections[4] = { { .feat = PEV_FEAT_TRACING_DATA },
						{ .feat = PEV_FEAT_BUILD_ID },
						{ .feat = PEV_FEAT_HOSTNAME },
						{ .feat = PEV_FEAT_CMDLINE } };
	const char *path;

	(void)state;
	for (size_t i = 0; i < IDS; i++)
		ids[i] = 0x100000 + i;
	for (size_t i = 0; i < EVENTS; i++)
		events[i] = made_events[MADE_CLOCK];
	events[3].ids = ids;
	events[3].nr_ids = IDS;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(sections); i++)
		pev_buf_zero(&sections[i].data,
			     sections[i].feat == PEV_FEAT_HOSTNAME ? 64 : 100001);
	test_folder_init(&folder);
	path = test_path(&folder, "trace");
	assert_int_equal(pev_writer_open(path, -1, events, EVENTS, sections, 4, &w, NULL), 0);
	make_trace_record(5, true, &record);
	assert_int_equal(pev_writer_put(w, record.data, record.size, NULL), 0);
	check_trace(path, EVENTS, 1);
	assert_int_equal(pev_writer_seal(w, sections, 4, NULL, NULL), 0);
	check_trace(path, EVENTS, 1);
	test_read_file(path, &got);
	check_sealed(&got, events, EVENTS, sections, 4, 128);
	pev_feat_sections_done(sections, 4);
}

static void test_cannot_create(void **state)
{
	_cleanup_folder_ struct test_folder folder;
	_cleanup_buf_ struct pev_buf got = { 0 };
	struct pev_err err = PEV_ERR_INIT;
	struct pev_writer *w = NULL;
	char want[256];

	(void)state;
	test_folder_init(&folder);
	test_write_file(test_path(&folder, "there"), "mine", 4);
	assert_int_equal(
		pev_writer_open(test_path(&folder, "there"), -1, made_events, 1, NULL, 0, &w, &err),
		-EEXIST);
	(void)snprintf(want, sizeof(want), "cannot create %s: File exists",
		       test_path(&folder, "there"));
	assert_err(&err, -EEXIST, want);
	test_read_file(test_path(&folder, "there"), &got);
	assert_int_equal(got.size, 4);
	assert_int_equal(pev_writer_open(test_path(&folder, "no/where"), -1, made_events, 1, NULL,
					 0, &w, &err),
			 -ENOENT);
	(void)snprintf(want, sizeof(want), "cannot create %s: No such file or directory",
		       test_path(&folder, "no/where"));
	assert_err(&err, -ENOENT, want);
	assert_null(w);

	/* A disk that is full from the start leaves no file. */
	for (unsigned int some = 0; some < 200; some += 50) {
		fault_at(FAULT_WRITE, 1, ENOSPC, some);
		assert_int_equal(pev_writer_open(test_path(&folder, "full"), -1, made_events, 1,
						 NULL, 0, &w, &err),
				 -ENOSPC);
		fault_end(NULL);
		(void)snprintf(want, sizeof(want),
			       "cannot write %s: No space left on device; it ends after 0 bytes",
			       test_path(&folder, "full"));
		assert_err(&err, -ENOSPC, want);
		assert_int_equal(test_count_files(&folder), 1);
	}
	assert_null(pev_writer_free(NULL));
}

/* A write that fails, after some of its bytes or none: the file ends with the last whole record,
 * and can still be sealed when there is space again. */
static void test_full_disk(void **state)
{
	static const struct {
		int error;
		unsigned int some;
	} cases[] = {
		{ ENOSPC, 0 }, { ENOSPC, 1 }, { ENOSPC, 23 },
		{ EIO, 0 },    { EFBIG, 40 }, { EDQUOT, 8 },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		_cleanup_folder_ struct test_folder folder;
		_cleanup_(pev_writer_freep) struct pev_writer *w = NULL;
		_cleanup_buf_ struct pev_buf record = { 0 };
		struct pev_err err = PEV_ERR_INIT;
		const char *path;
		uint64_t bytes;
		char want[256];

		test_folder_init(&folder);
		path = test_path(&folder, "trace");
		assert_int_equal(pev_writer_open(path, -1, made_events, 1, NULL, 0, &w, NULL), 0);
		make_trace_record(5, true, &record);
		assert_int_equal(pev_writer_put(w, record.data, record.size, NULL), 0);
		bytes = pev_writer_stats(w).bytes;
		fault_at(FAULT_WRITE, 1, cases[i].error, cases[i].some);
		assert_int_equal(pev_writer_put(w, record.data, record.size, &err),
				 -cases[i].error);
		fault_end(NULL);
		(void)snprintf(want, sizeof(want), "cannot write %s: %s; it ends after %zu bytes",
			       path, strerror(cases[i].error), (size_t)bytes);
		assert_err(&err, -cases[i].error, want);
		assert_int_equal(pev_writer_stats(w).bytes, bytes);
		check_trace(path, 1, 1);
		assert_int_equal(pev_writer_put(w, record.data, record.size, &err), -EIO);
		(void)snprintf(want, sizeof(want), "%s: an earlier write failed", path);
		assert_err(&err, -EIO, want);
		assert_int_equal(pev_writer_seal(w, NULL, 0, NULL, &err), 0);
		check_trace(path, 1, 1);
	}
}

/* Not even cutting it back works. */
static void test_dead_disk(void **state)
{
	_cleanup_folder_ struct test_folder folder;
	_cleanup_(pev_writer_freep) struct pev_writer *w = NULL;
	struct pev_err err = PEV_ERR_INIT;
	char want[256];

	(void)state;
	test_folder_init(&folder);
	assert_int_equal(
		pev_writer_open(test_path(&folder, "t"), -1, made_events, 1, NULL, 0, &w, NULL), 0);
	fault_at(FAULT_FTRUNCATE, 1, EROFS, 0);
	assert_int_equal(pev_writer_put(w, (const void *)-1, 8, &err), -EFAULT);
	fault_end(NULL);
	(void)snprintf(want, sizeof(want),
		       "cannot write %s: Bad address; nor cut it at its last whole record: "
		       "Read-only file system",
		       test_path(&folder, "t"));
	assert_err(&err, -EFAULT, want);
}

/* The same by the kernel's own hand: what fits is written, then SIGXFSZ and EFBIG. */
static void test_file_limit(void **state)
{
	_cleanup_folder_ struct test_folder folder;
	_cleanup_(pev_writer_freep) struct pev_writer *w = NULL;
	_cleanup_buf_ struct pev_buf record = { 0 };
	struct pev_err err = PEV_ERR_INIT;
	unsigned int records = 0;
	struct rlimit old, limit;
	const char *path;
	int r = 0;

	(void)state;
	test_folder_init(&folder);
	path = test_path(&folder, "trace");
	make_trace_record(5, true, &record);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 10001;
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(pev_writer_open(path, -1, made_events, 1, NULL, 0, &w, NULL), 0);
	while ((r = pev_writer_put(w, record.data, record.size, &err)) == 0)
		records++;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(r, -EFBIG);
	assert_in_range(records, 50, 1000);
	check_trace(path, 1, records);
}

/* A failure at each step of the seal: every record can still be read, whatever there is of a tail.
 */
static void test_seal_fails(void **state)
{
	static const enum fault_call kinds[] = { FAULT_WRITE, FAULT_PWRITE, FAULT_FSYNC,
						 FAULT_RENAME };
	struct pev_feat_section sections[MAX_SECTIONS] = { 0 };
	const size_t nr = make_sections(false, sections, MAX_SECTIONS);
	unsigned int steps = 0;

	(void)state;
	for (size_t k = 0; k < PEV_ARRAY_SIZE(kinds); k++)
		for (unsigned int nth = 1;; nth++) {
			_cleanup_folder_ struct test_folder folder;
			_cleanup_(pev_writer_freep) struct pev_writer *w = NULL;
			_cleanup_buf_ struct pev_buf record = { 0 };
			struct pev_err err = PEV_ERR_INIT;
			unsigned int calls[FAULT_CALLS];
			const char *path, *final_path;
			int r;

			test_folder_init(&folder);
			path = test_path(&folder, "trace.open");
			final_path = test_path(&folder, "trace");
			assert_int_equal(pev_writer_open(path, -1, made_events, MADE_EVENTS,
							 sections, nr, &w, NULL),
					 0);
			for (unsigned int i = 0; i < 20; i++)
				make_trace_record(i, false, &record);
			assert_int_equal(pev_writer_put(w, record.data, record.size, NULL), 0);
			fault_at(kinds[k], nth, EIO, kinds[k] == FAULT_WRITE ? 100 : 0);
			r = pev_writer_seal(w, sections, nr, final_path, &err);
			fault_end(calls);
			if (r == 0) {
				assert_in_range(calls[kinds[k]], 1, nth);
				check_trace(final_path, MADE_EVENTS, 20);
				break;
			}
			steps++;
			assert_int_equal(r, -EIO);
			assert_true(err.code == -EIO && strstr(err.msg, path) &&
				    strstr(err.msg, "Input/output error"));
			assert_int_equal(test_count_files(&folder), 1);
			check_trace(path, MADE_EVENTS, 20);
		}
	assert_int_equal(steps, 1 + 2 + 4 + 1);
	pev_feat_sections_done(sections, nr);
}

/* Blocks, and records that no block can hold, with their counts. */
static void test_blocks(void **state)
{
	_cleanup_folder_ struct test_folder folder;
	_cleanup_(pev_writer_freep) struct pev_writer *w = NULL;
	_cleanup_(pev_block_freep) struct pev_block *b = NULL;
	const struct pev_rec_hdr hdr = { .type = PEV_REC_FINISHED_ROUND, .size = PEV_BLOCK_MAX };
	uint64_t random = 1, before;
	const char *path;
	uint8_t *p;

	(void)state;
	test_folder_init(&folder);
	path = test_path(&folder, "trace");
	assert_int_equal(pev_writer_open(path, -1, made_events, 1, NULL, 0, &w, NULL), 0);
	before = pev_writer_stats(w).bytes;
	assert_int_equal(pev_block_new(1, &b), 0);
	assert_int_equal(pev_writer_block(w, b, true, NULL), 0);
	assert_int_equal(pev_writer_stats(w).bytes, before);
	p = pev_block_reserve(b, hdr.size);
	assert_non_null(p);
	for (size_t i = 0; i < hdr.size; i += 8) {
		const uint64_t noise = test_random(&random);

		memcpy(p + i, &noise, sizeof(noise));
	}
	memcpy(p, &hdr, sizeof(hdr));
	pev_block_commit(b, &hdr, 0, 0);
	p = pev_block_reserve(b, 64);
	assert_non_null(p);
	memset(p, 0, 64);
	memcpy(p, &(struct pev_rec_hdr){ .type = PEV_REC_FINISHED_ROUND, .size = 64 }, 8);
	pev_block_commit(b, &(struct pev_rec_hdr){ .type = PEV_REC_FINISHED_ROUND, .size = 64 }, 0,
			 0);
	assert_int_equal(pev_writer_block(w, b, true, NULL), 0);
	assert_int_equal(pev_writer_stats(w).raw_bytes, PEV_BLOCK_MAX + 64);
	assert_int_equal(pev_writer_stats(w).blocks, 2);
	assert_in_range(pev_writer_stats(w).bytes - before, PEV_BLOCK_MAX + 72,
			PEV_BLOCK_MAX + 200);
	check_trace(path, 1, 2);
}

static void test_no_memory(void **state)
{
	struct pev_feat_section sections[MAX_SECTIONS] = { 0 };
	const size_t nr = make_sections(false, sections, MAX_SECTIONS);
	unsigned int opened = 0;

	(void)state;
	for (unsigned int nth = 1;; nth++) {
		_cleanup_folder_ struct test_folder folder;
		_cleanup_(pev_writer_freep) struct pev_writer *w = NULL;
		struct pev_err err = PEV_ERR_INIT;
		const char *path;
		int r;

		test_folder_init(&folder);
		path = test_path(&folder, "trace");
		alloc_fail_at(nth);
		r = pev_writer_open(path, -1, made_events, MADE_EVENTS, sections, nr, &w, &err);
		if (r == 0) {
			opened++;
			r = pev_writer_seal(w, sections, nr, NULL, &err);
		}
		if (!alloc_fail_end()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_true(err.code == -ENOMEM && strstr(err.msg, path));
		assert_int_equal(test_count_files(&folder), w ? 1 : 0);
	}
	assert_true(opened > 1);
	pev_feat_sections_done(sections, nr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open_form),   cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_sealed_form), cmocka_unit_test(test_attr_sizes),
		cmocka_unit_test(test_large),       cmocka_unit_test(test_cannot_create),
		cmocka_unit_test(test_full_disk),   cmocka_unit_test(test_dead_disk),
		cmocka_unit_test(test_file_limit),  cmocka_unit_test(test_seal_fails),
		cmocka_unit_test(test_blocks),      cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
