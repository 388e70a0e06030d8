// SPDX-License-Identifier: LGPL-2.1-or-later
/* The reader, on what perf compresses: one stream of zstd over many records. */
#include "test.h"

#include "base/cleanup.h"
#include "trace_forms.h"
#include "trace_make.h"
#include "trace_see.h"

#include <errno.h>
#include <string.h>
#include <zstd.h>

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
	form_hdr(m, PEV_REC_COMPRESSED, 0, 8 + size);
	pev_buf_put(m->buf, bytes, size);
}

static void put_compressed2(struct maker *m, const void *bytes, size_t size)
{
	form_hdr(m, PEV_REC_COMPRESSED2, 0, pev_align8(16 + size));
	make_u64(m, size);
	pev_buf_put(m->buf, bytes, size);
	pev_buf_zero(m->buf, -(16 + size) & 7);
}

/* Samples with ips from 1 on. */
static void make_samples(struct pev_buf *buf, bool swap, unsigned int nr)
{
	struct maker m = { .buf = buf, .swap = swap };

	for (unsigned int i = 1; i <= nr; i++)
		form_sample(&m, i, form_id(0, 0));
}

static void test_streams(void **state)
{
	static struct pieces pieces;

	(void)state;
	for (int type = PEV_REC_COMPRESSED; type <= PEV_REC_COMPRESSED2; type += 2)
		for (size_t i = 0; i < nr_trace_forms; i++) {
			_cleanup_buf_ struct pev_buf raw = { 0 }, data = { 0 }, file = { 0 };
			struct maker m = { .buf = &data, .swap = trace_forms[i].swap };
			struct seen seen;

			make_samples(&raw, trace_forms[i].swap, 40);
			/* Seven pieces of 40 records: no border is one between records. */
			compress(raw.data, raw.size, 7, &pieces);
			for (size_t j = 0; j < pieces.nr; j++)
				if (type == PEV_REC_COMPRESSED)
					put_compressed(&m, pieces.bytes[j], pieces.sizes[j]);
				else
					put_compressed2(&m, pieces.bytes[j], pieces.sizes[j]);
			make_form(&trace_forms[i], &data, &file);
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
	make_form(&trace_forms[FORM_PERF_6_1], &data, &file);
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
	form_sample(&m, 41, form_id(0, 0));
	make_form(&trace_forms[FORM_PERF_6_1], &data, &file);
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
		form_hdr(&m, PEV_REC_COMPRESSED2, 0, pev_align8(16 + cases[i].size));
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
					form_hdr(&m, PEV_REC_COMPRESSED2, 0, 16 + n);
					make_u64(&m, 0xdeadbeef); /* perf leaves it as it was */
				}
				pev_buf_put(&data, all.data + at, n);
			}
		}
		if (cases[i].says == 65528)
			pev_buf_zero(&data, -data.size & 7);
		form_sample(&m, 11, form_id(0, 0));
		make_form(&trace_forms[FORM_PERF_6_1], &data, &file);
		see_bytes(&file, &seen);
		if (seen.bad)
			fail_msg("%zu: %s", cases[i].size, seen.err.msg);
		check_ips(&seen, 1, 11);
	}
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
	make_form(&trace_forms[FORM_PERF_6_1], &data, &file);
	see_bytes(&file, &seen);
	assert_int_equal(seen.r, 0);
	assert_int_equal(seen.bad, 1);
	assert_int_equal(seen.damage.blocks, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams),        cmocka_unit_test(test_stream_cut),
		cmocka_unit_test(test_stream_damaged), cmocka_unit_test(test_overflowed),
		cmocka_unit_test(test_bomb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
