// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a COMPRESSED record holds. perf compresses one long stream whose records may straddle
 * COMPRESSED records, so what is left of one is carried over to the next; our own blocks stand
 * alone, and one that is damaged costs only itself.
 */
#include "format/trace_part.h"

#include "base/checked.h"

#include <errno.h>
#include <string.h>

/* What one COMPRESSED record may unpack to where the head does not tell: perf's are bounded by its
 * ring, of at most some hundred MB. */
#define UNPACKED_MAX ((uint64_t)512 << 20)

/* perf gives zstd so much room in each COMPRESSED2. */
#define COMPRESSED2_PIECE 65519

/* A block of ours: its head says what has to come out. */
static int unpack_block(struct pev_trace *t, const uint8_t *p, size_t size,
			const struct pev_block_head *head, struct pev_err *err)
{
	uint8_t *out;
	size_t n;

	if (head->raw_size > PEV_BLOCK_RAW_MAX)
		return pev_err_set(err, -EBADMSG, "claims %u bytes of records", head->raw_size);
	pev_buf_reset(&t->raw);
	out = pev_buf_extend(&t->raw, head->raw_size);
	if (!out)
		return pev_err_set(err, -ENOMEM, "no memory to unpack it");
	n = ZSTD_decompressDCtx(t->dctx, out, head->raw_size, p, size);
	if (ZSTD_isError(n))
		return pev_err_set(err, -EBADMSG, "does not decompress: %s", ZSTD_getErrorName(n));
	if (n != head->raw_size)
		return pev_err_set(err, -EBADMSG, "decompresses to %zu bytes instead of %u", n,
				   head->raw_size);
	return 0;
}

/* Another writer's: a piece of one stream, appended to what was carried over. */
static int unpack_stream(struct pev_trace *t, const uint8_t *p, size_t size, struct pev_err *err)
{
	const uint64_t promised = 2 * (uint64_t)t->features.compressed.mmap_len;
	const uint64_t max = promised ? PEV_MIN(promised, UNPACKED_MAX) : UNPACKED_MAX;
	ZSTD_inBuffer in = { p, size, 0 };
	uint64_t grown = 0;

	for (;;) {
		const size_t chunk = (size_t)256 << 10;
		uint8_t *const dst = pev_buf_extend(&t->raw, chunk);
		ZSTD_outBuffer out = { dst, chunk, 0 };
		size_t n;

		if (!dst)
			return pev_err_set(err, -ENOMEM, "no memory to unpack it");
		n = ZSTD_decompressStream(t->dctx, &out, &in);
		t->raw.size -= chunk - out.pos;
		grown += out.pos;
		if (ZSTD_isError(n) || grown > max) {
			(void)ZSTD_DCtx_reset(t->dctx, ZSTD_reset_session_only);
			return pev_err_set(err, -EBADMSG, "does not decompress: %s",
					   grown > max ? "there is more of it than its writer had"
						       : ZSTD_getErrorName(n));
		}
		if (in.pos == in.size && out.pos < chunk)
			return 0;
	}
}

/*
 * The data of a COMPRESSED2, @c. In one that overflowed, more of them lie within the data of the
 * first, whole but for their data_size, which perf never set then.
 */
static int unpack_pieces(struct pev_trace *t, struct pev_cursor c, struct pev_err *err)
{
	size_t size = PEV_MIN(pev_cursor_left(&c), (size_t)COMPRESSED2_PIECE);

	for (;;) {
		const uint8_t *const p = pev_cursor_bytes(&c, size);
		struct pev_rec_hdr hdr;
		const uint8_t *next;
		int r;

		r = p ? unpack_stream(t, p, size, err)
		      : pev_err_set(err, -EBADMSG, "its parts do not fit into it");
		if (r < 0 || !pev_cursor_left(&c))
			return r;
		next = pev_cursor_bytes(&c, PEV_COMPRESSED2_HEAD);
		if (next)
			pev_trace_hdr(t, next, &hdr);
		if (!next || hdr.type != PEV_REC_COMPRESSED2 || hdr.size < PEV_COMPRESSED2_HEAD)
			return pev_err_set(err, -EBADMSG, "its parts do not fit into it");
		size = hdr.size - PEV_COMPRESSED2_HEAD;
	}
}

/* Keeps what is left of the record before, at the front. */
static void carry_over(struct pev_trace *t)
{
	const size_t left = t->raw.size - t->raw_pos;

	if (left)
		memmove(t->raw.data, t->raw.data + t->raw_pos, left);
	t->raw.size = left;
	t->raw_pos = 0;
}

/* What a COMPRESSED2 at @bytes holds, without its padding. */
static struct pev_cursor data_of(const struct pev_trace *t, const uint8_t *bytes, size_t size)
{
	struct pev_cursor c = pev_cursor(bytes, size);
	uint64_t data_size;

	(void)pev_cursor_bytes(&c, sizeof(struct pev_rec_hdr));
	c.swap = t->head.swap;
	data_size = pev_cursor_u64(&c);
	if (data_size <= pev_cursor_left(&c))
		c.end = c.p + data_size;
	return c;
}

int pev_trace_unpack(struct pev_trace *t, const uint8_t *bytes, size_t size,
		     const struct pev_rec_hdr *hdr, struct pev_err *err)
{
	struct pev_block_head head = { 0 };
	size_t skip = sizeof(*hdr);
	int r;

	if (!t->dctx)
		t->dctx = ZSTD_createDCtx();
	if (!t->dctx)
		return pev_err_set(err, -ENOMEM, "no memory to unpack it");
	r = t->head.swap ? 0 : pev_block_head_read(bytes, size, false, &head);
	if (r < 0)
		r = pev_err_set(err, r, "its head contradicts itself");
	else if (r > 0)
		r = unpack_block(t, bytes + skip, size - skip, &head, err);
	else {
		carry_over(t);
		r = hdr->type == PEV_REC_COMPRESSED2
			    ? unpack_pieces(t, data_of(t, bytes, size), err)
			    : unpack_stream(t, bytes + skip, size - skip, err);
	}
	t->raw_pos = 0;
	t->raw_offset = t->in.offset;
	t->raw_ours = head.raw_size != 0;
	if (r < 0)
		pev_buf_reset(&t->raw);
	return r;
}
