// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reader, on files put together by hand, as perf of all ages and machines of the other byte
 * order write them, and as nobody should.
 */
#include "test.h"

#include "base/cleanup.h"
#include "feature_make.h"
#include "trace_make.h"

#include <errno.h>
#include <string.h>
#include <zstd.h>

PEV_DEFINE_CLEANUP(struct pev_trace *, pev_trace_free);

static const struct pev_trace_options checked = { .check = true };

#define MAX_SEEN 64

/* What reading a file came to. */
struct seen {
	uint32_t types[MAX_SEEN];
	size_t sizes[MAX_SEEN];
	uint64_t ips[MAX_SEEN]; /* of samples */
	int events[MAX_SEEN];   /* -1: none */
	size_t nr, bad;
	struct pev_trace_damage damage;
	struct pev_err err; /* the last */
	int r;              /* 0 or what ended it */
};

static void see(struct pev_trace *t, struct seen *ret)
{
	*ret = (struct seen){ .err = PEV_ERR_INIT };
	for (;;) {
		const struct pev_trace_event *const events = pev_trace_head(t).events;
		struct pev_trace_record rec;
		size_t at;

		ret->r = pev_trace_next(t, &rec, &ret->err);
		if (ret->r == -EBADMSG || ret->r == -ENODATA) {
			assert_in_range(++ret->bad, 1, MAX_SEEN);
			continue;
		}
		if (ret->r <= 0)
			break;
		assert_in_range(ret->nr, 0, MAX_SEEN - 1);
		at = ret->nr++;
		ret->types[at] = rec.hdr.type;
		ret->sizes[at] = rec.size;
		ret->events[at] = rec.event ? (int)(rec.event - events) : -1;
		if (rec.hdr.type == PEV_REC_SAMPLE && rec.event) {
			struct pev_record decoded;

			assert_int_equal(pev_record_decode(&rec.event->attr, rec.bytes, rec.size,
							   pev_trace_head(t).swap, &decoded, NULL),
					 0);
			ret->ips[at] = decoded.sample.ip;
		}
	}
	ret->damage = pev_trace_damage(t);
}

static void see_bytes(const struct pev_buf *buf, struct seen *ret)
{
	_cleanup_file_ struct test_file f = test_file(buf->data, buf->size);
	_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
	struct pev_err err = PEV_ERR_INIT;

	if (pev_trace_open(f.path, &checked, &t, &err) < 0)
		fail_msg("%s", err.msg);
	see(t, ret);
}

static const struct pev_attr simple = {
	.type = PEV_TYPE_SOFTWARE,
	.config = PEV_SW_CPU_CLOCK,
	.sample_period = 4000,
	.sample_type = PEV_SAMPLE_IP | PEV_SAMPLE_TID | PEV_SAMPLE_TIME | PEV_SAMPLE_ID,
	.flags = PEV_ATTR_FREQ | PEV_ATTR_COMM | PEV_ATTR_SAMPLE_ID_ALL | PEV_ATTR_INHERIT,
};

static void put_hdr(struct maker *m, uint32_t type, uint16_t misc, size_t size)
{
	make_u32(m, type);
	make_u16(m, misc);
	make_u16(m, (uint16_t)size);
}

/* A sample of `simple`. */
static void put_sample(struct maker *m, uint64_t ip, uint64_t id)
{
	put_hdr(m, PEV_REC_SAMPLE, PEV_MISC_USER, 8 + 4 * 8);
	make_u64(m, ip);
	make_u32(m, 11);
	make_u32(m, 12);
	make_u64(m, 1000 + ip);
	make_u64(m, id);
}

static void put_comm(struct maker *m, uint64_t id)
{
	put_hdr(m, PEV_REC_COMM, 0, 8 + 8 + 8 + 24);
	make_u32(m, 11);
	make_u32(m, 12);
	pev_buf_put(m->buf, "other\0\0", 8);
	make_u32(m, 11);
	make_u32(m, 12);
	make_u64(m, 1);
	make_u64(m, id);
}

struct form {
	const char *name;
	bool pipe, swap, v1;
	uint32_t attr_size;   /* of the attr in the file */
	uint64_t header_size; /* 0: 104 */
	bool no_size;         /* data.size is 0 */
	unsigned int events;  /* 0: one */
};

#define IDS_PER_EVENT 2

static uint64_t id_at(unsigned int event, unsigned int i)
{
	return 100 * (event + 1) + i;
}

static void put_magic(struct maker *m, const struct form *form, uint64_t size)
{
	const uint64_t v1 = PEV_MAGIC_V1;

	if (form->v1)
		pev_buf_put(m->buf, &v1, sizeof(v1));
	else
		make_u64(m, PEV_MAGIC);
	make_u64(m, size);
}

static struct pev_attr attr_of(const struct form *form, unsigned int event)
{
	struct pev_attr attr = simple;

	attr.size = form->attr_size;
	attr.config = event;
	return attr;
}

static void put_pipe_head(struct maker *m, const struct form *form)
{
	put_magic(m, form, 16);
	for (unsigned int e = 0; e < form->events + !form->events; e++) {
		const struct pev_attr attr = attr_of(form, e);

		put_hdr(m, PEV_REC_HEADER_ATTR, 0, 8 + form->attr_size + 8 * IDS_PER_EVENT);
		make_attr_bytes(m, &attr, form->attr_size);
		for (unsigned int i = 0; i < IDS_PER_EVENT; i++)
			make_u64(m, id_at(e, i));
	}
}

static void put_section(struct maker *m, uint64_t offset, uint64_t size)
{
	make_u64(m, offset);
	make_u64(m, size);
}

/* A whole file around @data: header, ids, attrs, data, and HOSTNAME as the only feature. */
static void make_file(const struct form *form, const struct pev_buf *data, struct pev_buf *ret)
{
	struct maker m = { .buf = ret, .swap = form->swap };
	const uint64_t header = form->header_size ? form->header_size : 104;
	const unsigned int events = form->events + !form->events;
	const uint64_t entry = form->attr_size + 16, ids = 8 * IDS_PER_EVENT;
	const uint64_t data_at = header + events * (ids + entry);

	pev_buf_reset(ret);
	if (form->pipe) {
		put_pipe_head(&m, form);
		pev_buf_put(ret, data->data, data->size);
		return;
	}
	put_magic(&m, form, header);
	make_u64(&m, entry);
	put_section(&m, header + events * ids, events * entry);
	put_section(&m, data_at, form->no_size ? 0 : data->size);
	put_section(&m, 0, 0);
	if (header > 72)
		make_u64(&m, 1ULL << PEV_FEAT_HOSTNAME);
	pev_buf_zero(ret, header - ret->size);
	for (unsigned int e = 0; e < events; e++)
		for (unsigned int i = 0; i < IDS_PER_EVENT; i++)
			make_u64(&m, id_at(e, i));
	for (unsigned int e = 0; e < events; e++) {
		const struct pev_attr attr = attr_of(form, e);

		make_attr_bytes(&m, &attr, form->attr_size);
		put_section(&m, header + e * ids, ids);
	}
	assert_int_equal(ret->size, data_at);
	pev_buf_put(ret, data->data, data->size);
	if (header > 72 && !form->no_size) {
		put_section(&m, data_at + data->size + 16, 68);
		make_str(&m, "elsewhere");
	}
}

static const struct form forms[] = {
	{ "today", .attr_size = 136 },
	{ "perf 6.1", .attr_size = 128 },
	{ "attr of 120", .attr_size = 120 },
	{ "attr of 112", .attr_size = 112 },
	{ "attr of 104", .attr_size = 104 },
	{ "attr of 96", .attr_size = 96 },
	{ "attr of 80", .attr_size = 80 },
	{ "attr of 72", .attr_size = 72 },
	{ "attr of 64", .attr_size = 64 },
	{ "attr of tomorrow", .attr_size = 200 },
	{ "header without features", .attr_size = 64, .header_size = 72 },
	{ "header of tomorrow", .attr_size = 128, .header_size = 112 },
	{ "killed", .attr_size = 128, .no_size = true },
	{ "two events", .attr_size = 128, .events = 2 },
	{ "version 1", .attr_size = 72, .v1 = true },
	{ "version 1, other byte order", .attr_size = 72, .v1 = true, .swap = true },
	{ "other byte order", .attr_size = 128, .swap = true },
	{ "other byte order, two events", .attr_size = 112, .swap = true, .events = 2 },
	{ "pipe", .attr_size = 128, .pipe = true },
	{ "pipe, attr of 64", .attr_size = 64, .pipe = true },
	{ "pipe, attr of tomorrow", .attr_size = 200, .pipe = true },
	{ "pipe, two events", .attr_size = 136, .pipe = true, .events = 2 },
	{ "pipe, other byte order", .attr_size = 128, .pipe = true, .swap = true },
};

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
		assert_int_equal(head.events[e].attr.sample_type, simple.sample_type);
		assert_int_equal(head.events[e].attr.flags, simple.flags);
		assert_int_equal(head.events[e].attr.sample_period, simple.sample_period);
		assert_int_equal(head.events[e].nr_ids, IDS_PER_EVENT);
		for (unsigned int i = 0; i < IDS_PER_EVENT; i++)
			assert_int_equal(head.events[e].ids[i], id_at(e, i));
	}
	if (form->pipe || form->no_size || form->header_size == 72)
		assert_null(head.features->hostname);
	else
		assert_string_equal(head.features->hostname, "elsewhere");
}

static void test_forms(void **state)
{
	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(forms); i++) {
		const struct form *const form = &forms[i];
		_cleanup_buf_ struct pev_buf data = { 0 }, file = { 0 };
		_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
		_cleanup_file_ struct test_file f = { .fd = -1 };
		struct maker m = { .buf = &data, .swap = form->swap };
		const unsigned int last = form->events ? form->events - 1 : 0;
		struct pev_err err = PEV_ERR_INIT;
		struct seen seen;

		put_comm(&m, id_at(0, 0));
		put_sample(&m, 0x1111, id_at(0, 1));
		put_sample(&m, 0x2222, id_at(last, 0));
		put_hdr(&m, PEV_REC_FINISHED_ROUND, 0, 8);
		put_hdr(&m, 200, 0, 24); /* a type of tomorrow */
		pev_buf_zero(&data, 16);
		put_sample(&m, 0x3333, id_at(last, 1));
		put_comm(&m, 0); /* made by perf itself: the first event's */
		make_file(form, &data, &file);
		f = test_file(file.data, file.size);
		if (pev_trace_open(f.path, &checked, &t, &err) < 0)
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
	for (size_t i = 0; i < PEV_ARRAY_SIZE(forms); i++) {
		_cleanup_buf_ struct pev_buf data = { 0 }, file = { 0 };
		struct maker m = { .buf = &data, .swap = forms[i].swap };
		size_t tail;

		put_comm(&m, id_at(0, 0));
		put_sample(&m, 0x1111, id_at(0, 1));
		make_file(&forms[i], &data, &file);
		tail = forms[i].pipe || forms[i].no_size || forms[i].header_size == 72 ? 0 : 84;
		for (size_t n = 0; n < file.size; n++) {
			_cleanup_file_ struct test_file f = test_file(file.data, n);
			_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
			const size_t data_at = file.size - tail - data.size;
			size_t whole = 0;
			struct pev_err err = PEV_ERR_INIT;
			struct seen seen;

			if (pev_trace_open(f.path, &checked, &t, &err) < 0) {
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

/* perf's compression: one stream, records straddling; @size bytes of data come out as @n pieces. */
struct pieces {
	uint8_t bytes[8][70000];
	size_t sizes[8];
	size_t nr;
};

static void compress(const void *data, size_t size, size_t nr, struct pieces *ret)
{
	ZSTD_CCtx *const cctx = ZSTD_createCCtx();

	assert_non_null(cctx);
	for (size_t i = 0; i < nr; i++) {
		const size_t from = size * i / nr, to = size * (i + 1) / nr;
		ZSTD_inBuffer in = { (const uint8_t *)data + from, to - from, 0 };
		ZSTD_outBuffer out = { ret->bytes[i], sizeof(ret->bytes[i]), 0 };

		assert_int_equal(ZSTD_compressStream2(cctx, &out, &in, ZSTD_e_flush), 0);
		ret->sizes[i] = out.pos;
	}
	ret->nr = nr;
	ZSTD_freeCCtx(cctx);
}

static void put_compressed(struct maker *m, const void *bytes, size_t size)
{
	put_hdr(m, PEV_REC_COMPRESSED, 0, 8 + size);
	pev_buf_put(m->buf, bytes, size);
}

static void put_compressed2(struct maker *m, const void *bytes, size_t size)
{
	put_hdr(m, PEV_REC_COMPRESSED2, 0, pev_align8(16 + size));
	make_u64(m, size);
	pev_buf_put(m->buf, bytes, size);
	pev_buf_zero(m->buf, -(16 + size) & 7);
}

/* Samples with ips from 1 on. */
static void make_samples(struct pev_buf *buf, bool swap, unsigned int nr)
{
	struct maker m = { .buf = buf, .swap = swap };

	for (unsigned int i = 1; i <= nr; i++)
		put_sample(&m, i, id_at(0, 0));
}

static void check_ips(const struct seen *seen, unsigned int first, unsigned int last)
{
	assert_int_equal(seen->r, 0);
	assert_int_equal(seen->nr, last - first + 1);
	for (unsigned int i = first; i <= last; i++)
		assert_int_equal(seen->ips[i - first], i);
}

static void test_streams(void **state)
{
	static struct pieces pieces;

	(void)state;
	for (int type = PEV_REC_COMPRESSED; type <= PEV_REC_COMPRESSED2; type += 2)
		for (size_t i = 0; i < PEV_ARRAY_SIZE(forms); i++) {
			_cleanup_buf_ struct pev_buf raw = { 0 }, data = { 0 }, file = { 0 };
			struct maker m = { .buf = &data, .swap = forms[i].swap };
			struct seen seen;

			make_samples(&raw, forms[i].swap, 40);
			/* Seven pieces of 40 records: no border is one between records. */
			compress(raw.data, raw.size, 7, &pieces);
			for (size_t j = 0; j < pieces.nr; j++)
				if (type == PEV_REC_COMPRESSED)
					put_compressed(&m, pieces.bytes[j], pieces.sizes[j]);
				else
					put_compressed2(&m, pieces.bytes[j], pieces.sizes[j]);
			make_file(&forms[i], &data, &file);
			see_bytes(&file, &seen);
			check_ips(&seen, 1, 40);
			assert_int_equal(seen.damage.cut_bytes, 0);
		}
}

/* Cut behind a piece: the part of the record that straddled is damage. */
static void test_stream_cut(void **state)
{
	static struct pieces pieces;
	_cleanup_buf_ struct pev_buf raw = { 0 }, data = { 0 }, file = { 0 };
	struct maker m = { .buf = &data };
	struct seen seen;

	(void)state;
	make_samples(&raw, false, 40);
	compress(raw.data, raw.size, 3, &pieces);
	put_compressed(&m, pieces.bytes[0], pieces.sizes[0]);
	make_file(&forms[1], &data, &file);
	see_bytes(&file, &seen);
	check_ips(&seen, 1, 13);
	assert_int_equal(seen.damage.cut_bytes, 40 * 40 / 3 - 13 * 40);
}

/* A piece that is damaged costs what depends on it, and the reader goes on. */
static void test_stream_damaged(void **state)
{
	static struct pieces pieces;
	_cleanup_buf_ struct pev_buf raw = { 0 }, data = { 0 }, file = { 0 };
	struct maker m = { .buf = &data };
	struct seen seen;

	(void)state;
	make_samples(&raw, false, 40);
	compress(raw.data, raw.size, 4, &pieces);
	memset(pieces.bytes[1], 0xee, pieces.sizes[1]);
	for (size_t j = 0; j < pieces.nr; j++)
		put_compressed(&m, pieces.bytes[j], pieces.sizes[j]);
	put_sample(&m, 41, id_at(0, 0));
	make_file(&forms[1], &data, &file);
	see_bytes(&file, &seen);
	assert_int_equal(seen.r, 0);
	assert_int_equal(seen.bad, 3);
	assert_int_equal(seen.damage.blocks, 3);
	assert_int_equal(seen.nr, 11);
	assert_int_equal(seen.ips[10], 41);
	assert_non_null(strstr(seen.err.msg, "is damaged: does not decompress: "));
}

/*
 * perf 6.16 and after: a COMPRESSED2 whose padded size is 64 KiB or more says the low half of it,
 * and is not padded. What zstd does not get into 65519 bytes goes on behind a header of its own.
 */
static void test_overflowed(void **state)
{
	static const struct {
		size_t size; /* of all the data */
		uint16_t says;
	} cases[] = {
		{ 65512, 65528 },       /* the largest that is right */
		{ 65513, 0 },           /* the smallest that is not */
		{ 65519, 0 },           /* the largest of one piece */
		{ 65519 + 16 + 1, 16 }, /* two pieces */
		{ 65519 + 16 + 40000, 40016 },
		{ 65519 + 16 + 65519 + 16 + 500, 520 },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		_cleanup_buf_ struct pev_buf raw = { 0 }, zstd = { 0 }, data = { 0 }, file = { 0 };
		struct maker m = { .buf = &data };
		size_t size = 0, pieces, skip;
		uint32_t filler[2] = { 0x184D2A50, 0 };
		uint8_t *frame;
		struct seen seen;

		/* As many bytes of zstd as are wanted: a frame, and a skippable one. */
		make_samples(&raw, false, 10);
		frame = pev_buf_extend(&zstd, ZSTD_compressBound(raw.size));
		zstd.size = ZSTD_compress(frame, zstd.size, raw.data, raw.size, 1);
		pieces = 1 + cases[i].size / (65519 + 16);
		size = cases[i].size - (pieces - 1) * 16;
		if (size < zstd.size + 8)
			continue;
		skip = size - zstd.size - 8;
		filler[1] = (uint32_t)skip;
		/* The skippable one first, so that the records come out of the last piece. */
		put_hdr(&m, PEV_REC_COMPRESSED2, 0, pev_align8(16 + cases[i].size));
		assert_int_equal((uint16_t)pev_align8(16 + cases[i].size), cases[i].says);
		make_u64(&m, cases[i].size);
		{
			_cleanup_buf_ struct pev_buf all = { 0 };

			pev_buf_put(&all, filler, sizeof(filler));
			pev_buf_zero(&all, skip);
			pev_buf_put(&all, zstd.data, zstd.size);
			for (size_t at = 0, n; at < all.size; at += n) {
				n = PEV_MIN(all.size - at, (size_t)65519);
				if (at) {
					put_hdr(&m, PEV_REC_COMPRESSED2, 0, 16 + n);
					make_u64(&m, 0xdeadbeef); /* perf leaves it as it was */
				}
				pev_buf_put(&data, all.data + at, n);
			}
		}
		if (cases[i].says == 65528)
			pev_buf_zero(&data, -data.size & 7);
		put_sample(&m, 11, id_at(0, 0));
		make_file(&forms[1], &data, &file);
		see_bytes(&file, &seen);
		if (seen.bad)
			fail_msg("%zu: %s", cases[i].size, seen.err.msg);
		check_ips(&seen, 1, 11);
	}
}

/* Payloads lie outside of header.size. */
static void put_auxtrace(struct maker *m, uint64_t size)
{
	put_hdr(m, PEV_REC_AUXTRACE, 0, 48);
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
			static const size_t which[] = { 1, 12, 18 }; /* perf 6.1, killed, pipe */
			_cleanup_buf_ struct pev_buf data = { 0 }, file = { 0 };
			struct maker m = { .buf = &data };
			struct seen seen;

			put_sample(&m, 1, id_at(0, 0));
			put_auxtrace(&m, cases[i].claims);
			/* Rubbish that would be no record, were it taken for one. */
			memset(pev_buf_extend(&data, cases[i].has), 0, cases[i].has);
			if (cases[i].whole)
				put_sample(&m, 2, id_at(0, 0));
			make_file(&forms[which[form]], &data, &file);
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
	put_pipe_head(&m, &forms[18]);
	put_hdr(&m, PEV_REC_HEADER_TRACING_DATA, 0, 12);
	make_u32(&m, sizeof(blob)); /* perf says the padded size; the padding is there anyway */
	pev_buf_put(&file, blob, sizeof(blob));
	pev_buf_zero(&file, -sizeof(blob) & 7);
	put_sample(&m, 1, id_at(0, 0));
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
	put_pipe_head(&m, &forms[18]);
	put_sample(&m, 1, id_at(0, 0));
	put_hdr(&m, PEV_REC_HEADER_TRACING_DATA, 0, 16);
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
	put_pipe_head(&rest, &two);
	pev_buf_put(&file, all.data, 16 + 8 + 128 + 16); /* one event */
	put_sample(&m, 1, id_at(0, 0));
	pev_buf_put(&file, all.data + 16 + 8 + 128 + 16, 8 + 128 + 16); /* the other */
	put_sample(&m, 2, id_at(1, 0));
	put_hdr(&m, PEV_REC_EVENT_UPDATE, 0, 8 + 16 + 16);
	make_u64(&m, PEV_EVENT_UPDATE_NAME);
	make_u64(&m, id_at(1, 1));
	pev_buf_put(&file, "late-name\0\0\0\0\0\0", 16);
	put_sample(&m, 3, 4711); /* nobody's */
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
	for (size_t i = 0; i < PEV_ARRAY_SIZE(forms); i++) {
		_cleanup_buf_ struct pev_buf data = { 0 }, file = { 0 };
		struct maker m = { .buf = &data, .swap = forms[i].swap };
		struct seen seen;

		put_sample(&m, 1, id_at(0, 0));
		put_sample(&m, 2, id_at(0, 0));
		put_hdr(&m, 0, 0, 7);
		pev_buf_zero(&data, 1000);
		make_file(&forms[i], &data, &file);
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
	put_sample(&m, 1, id_at(0, 0));
	put_sample(&m, 2, id_at(1, 0));
	make_file(&two, &data, &file);
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
	put_sample(&m, 1, id_at(0, 0));
	make_file(&many, &data, &file);
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

/* A frame of zeros that would fill all memory is damage, and costs what it is. */
static void test_bomb(void **state)
{
	_cleanup_buf_ struct pev_buf data = { 0 }, file = { 0 };
	struct maker m = { .buf = &data };
	static uint8_t frame[60000];
	ZSTD_CCtx *const cctx = ZSTD_createCCtx();
	static const uint8_t zeros[1 << 20];
	ZSTD_outBuffer out = { frame, sizeof(frame), 0 };
	struct seen seen;

	(void)state;
	assert_non_null(cctx);
	for (int i = 0; i < 600; i++) {
		ZSTD_inBuffer in = { zeros, sizeof(zeros), 0 };

		assert_int_equal(ZSTD_compressStream2(cctx, &out, &in, ZSTD_e_flush), 0);
	}
	ZSTD_freeCCtx(cctx);
	put_compressed(&m, frame, out.pos);
	make_file(&forms[1], &data, &file);
	see_bytes(&file, &seen);
	assert_int_equal(seen.r, 0);
	assert_int_equal(seen.bad, 1);
	assert_int_equal(seen.damage.blocks, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_stream_cut),
		cmocka_unit_test(test_stream_damaged),
		cmocka_unit_test(test_overflowed),
		cmocka_unit_test(test_auxtrace),
		cmocka_unit_test(test_tracing_data),
		cmocka_unit_test(test_huge_tracing_data),
		cmocka_unit_test(test_learns_late),
		cmocka_unit_test(test_rubbish),
		cmocka_unit_test(test_wrong_tables),
		cmocka_unit_test(test_ids_of_many),
		cmocka_unit_test(test_bomb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
