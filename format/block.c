// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Bigger frames compress better, and header.size allows a COMPRESSED record 64 KiB: so a frame
 * shall end just below that, however well its records compress.
 *
 * Raw records are gathered in a chunk of at most 128 KiB, the most that one zstd block holds, and
 * compressed while they are still in the cache; ZSTD_e_flush then tells what the frame takes so
 * far. The next chunk is as large as what is left of the frame will hold, going by the ratio of the
 * chunk before. When that was too bold and the frame outgrows its limit, it ends where the chunk
 * before ended: every flush leaves whole blocks, and an empty last block closes a frame anywhere.
 * The chunk goes into the next frame. A record that is too large even alone (a stack dump of noise)
 * is written as it is.
 *
 * A frame is begun as if 1 MiB would come, and its content size is put right at its end, so that
 * readers know it in advance and unpack in one go (RFC 8878, 3.1.1.1: with Single_Segment_flag and
 * a Frame_Content_Size of 4 bytes, that is at offset 5).
 */
#include "format/block.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* What zstd may write of a frame, its closing block of 3 bytes aside; the record may need 7 bytes
 * of padding. */
#define CLOSE_SIZE 3
#define FRAME_MAX  (PEV_BLOCK_MAX - PEV_BLOCK_OVERHEAD - 7 - CLOSE_SIZE)

#define CHUNK_MAX ((size_t)128 << 10)
#define CHUNK_MIN ((size_t)12 << 10) /* a frame that has room for less is complete */
#define CHUNK_CAP (CHUNK_MAX + PEV_REC_MAX_SIZE + 1)

/* RFC 8878, 3.1.1.1: behind the magic a descriptor, which here has to say single segment and 4
 * bytes of content size; then those. */
#define DESCRIPTOR_AT   4
#define DESCRIPTOR      0xa0
#define CONTENT_SIZE_AT 5

/* Fixed-point ratios: raw bytes per compressed byte, times this. */
#define RATIO_ONE 64

struct pev_block {
	ZSTD_CCtx *cctx;
	int level;
	bool dumps;                  /* the parameters are those for stack dumps */
	uint8_t *raw;                /* the chunk being gathered, CHUNK_CAP bytes */
	size_t size;                 /* bytes of it */
	size_t drop;                 /* bytes at its front that were taken as they are */
	size_t aim;                  /* compress it when it has reached this */
	struct pev_block_head chunk; /* what is in it */
	uint8_t *out;      /* OUT_CAP bytes: room for the head of the record, then the frame */
	size_t frame_size; /* bytes of the frame so far, all of it whole zstd blocks */
	struct pev_block_head head; /* what is in the frame; ->raw_size is kept */
	bool full;                  /* the frame is complete */
	bool failed;                /* zstd did: nothing is to be had any more */
	bool plain;                 /* the first record of the chunk cannot be compressed */
	size_t ratio;               /* of the last chunk, in RATIO_ONE */
};

/* Room for a frame at its limit and one more chunk that does not compress at all. */
#define FRAME_AT (PEV_BLOCK_OVERHEAD + 7)
#define OUT_CAP  (FRAME_AT + FRAME_MAX + CLOSE_SIZE + ZSTD_COMPRESSBOUND(CHUNK_CAP) + 64)

PEV_DEFINE_CLEANUP(struct pev_block *, pev_block_free);

bool pev_rec_is_state(uint32_t type)
{
	switch (type) {
	case PEV_REC_MMAP:
	case PEV_REC_MMAP2:
	case PEV_REC_COMM:
	case PEV_REC_FORK:
	case PEV_REC_EXIT:
	case PEV_REC_NAMESPACES:
	case PEV_REC_KSYMBOL:
	case PEV_REC_BPF_EVENT:
	case PEV_REC_CGROUP:
	case PEV_REC_TEXT_POKE:
	case PEV_REC_ITRACE_START:
	case PEV_REC_AUX_OUTPUT_HW_ID:
		return true;
	default:
		/* Of the user types only the round and the end of the snapshot say nothing about
		 * anything. */
		return type >= PEV_REC_USER_START && type != PEV_REC_FINISHED_ROUND &&
		       type != PEV_REC_FINISHED_INIT;
	}
}

static bool is_loss(uint32_t type)
{
	return type == PEV_REC_LOST || type == PEV_REC_LOST_SAMPLES || type == PEV_REC_THROTTLE ||
	       type == PEV_REC_UNTHROTTLE;
}

/* How much to gather next, and whether the frame has room for it at all. */
static void plan_chunk(struct pev_block *b)
{
	/* The chunk may outgrow its aim by one record. */
	const size_t raw_max = PEV_BLOCK_RAW_MAX - PEV_REC_MAX_SIZE;
	const size_t raw_left = raw_max - PEV_MIN((size_t)b->head.raw_size, raw_max);
	const size_t left = FRAME_MAX - b->frame_size;
	/* Ratios of neighbouring chunks differ; a miss costs compressing a chunk again. */
	const size_t fits = left * b->ratio / RATIO_ONE / 8 * 7;

	b->aim = PEV_MIN(PEV_MIN(fits, raw_left), CHUNK_MAX);
	if (b->aim < CHUNK_MIN && b->frame_size)
		b->full = true;
	b->aim = PEV_MAX(b->aim, CHUNK_MIN);
}

/*
 * zstd takes its parameters from the level and the size; those of level 1 are better known here, by
 * what is recorded. Its hash tables are small enough for the first-level cache, which the recorder
 * finds cold whenever it wakes up on a busy CPU. Frame-pointer samples are full of equal 8-byte
 * words in long runs: with two tables, one of them for long matches (the strategy of level 3), they
 * come out 6 to 20 % smaller in the same time. Stack dumps (@dumps) do not, and take 5 % longer.
 */
static int set_parameters(ZSTD_CCtx *cctx, int level, bool dumps)
{
	const bool own = level == 1;
	const struct {
		ZSTD_cParameter what;
		int value; /* 0: what the level says */
	} params[] = {
		{ ZSTD_c_compressionLevel, level },
		{ ZSTD_c_windowLog, 20 }, /* all of the frame */
		{ ZSTD_c_strategy, own ? (dumps ? ZSTD_fast : ZSTD_dfast) : 0 },
		{ ZSTD_c_hashLog, own ? (dumps ? 13 : 12) : 0 },
		{ ZSTD_c_chainLog, own ? 12 : 0 },
		{ ZSTD_c_minMatch, own ? 6 : 0 },
	};

	if (level > ZSTD_maxCLevel() || level < ZSTD_minCLevel())
		return -EINVAL;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(params); i++)
		if (ZSTD_isError(ZSTD_CCtx_setParameter(cctx, params[i].what, params[i].value)))
			return -EINVAL;
	return 0;
}

/* Begins a frame, with the parameters for what the chunk holds. */
static bool begin_frame(struct pev_block *b)
{
	const bool dumps = b->chunk.raw_size / 1024 > b->chunk.records;

	if (ZSTD_isError(ZSTD_CCtx_reset(b->cctx, ZSTD_reset_session_only)))
		return false;
	if (dumps != b->dumps && set_parameters(b->cctx, b->level, dumps) < 0)
		return false;
	b->dumps = dumps;
	return !ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(b->cctx, PEV_BLOCK_RAW_MAX));
}

/* Compresses the first @n bytes of the chunk behind what the frame has. The new size of the frame,
 * or 0 when zstd failed. */
static size_t compress_behind(struct pev_block *b, size_t n)
{
	ZSTD_inBuffer in = { b->raw, n, 0 };
	ZSTD_outBuffer out = { b->out + FRAME_AT, OUT_CAP - FRAME_AT, b->frame_size };

	if (!b->frame_size && !begin_frame(b))
		return 0;
	if (ZSTD_compressStream2(b->cctx, &out, &in, ZSTD_e_flush) != 0 || in.pos != n)
		return 0;
	return out.pos;
}

int pev_block_new(int level, struct pev_block **ret)
{
	_cleanup_(pev_block_freep) struct pev_block *b = calloc(1, sizeof(*b));
	int r;

	if (!b)
		return -ENOMEM;
	b->raw = malloc(CHUNK_CAP);
	b->out = malloc(OUT_CAP);
	b->cctx = ZSTD_createCCtx();
	if (!b->raw || !b->out || !b->cctx)
		return -ENOMEM;
	b->level = level;
	r = set_parameters(b->cctx, level, false);
	if (r < 0)
		return r;
	/* zstd allocates its tables with the first frame: let that be one that nobody wants. */
	memset(b->raw, 0, 8);
	if (!compress_behind(b, 8))
		return -ENOMEM;
	b->ratio = 4 * RATIO_ONE;
	plan_chunk(b);
	*ret = TAKE_PTR(b);
	return 0;
}

struct pev_block *pev_block_free(struct pev_block *b)
{
	if (!b)
		return NULL;
	ZSTD_freeCCtx(b->cctx);
	free(b->raw);
	free(b->out);
	free(b);
	return NULL;
}

bool pev_block_empty(const struct pev_block *b)
{
	return b->size == b->drop && !b->frame_size;
}

static struct pev_rec_hdr hdr_at(const uint8_t *p)
{
	struct pev_rec_hdr hdr;

	memcpy(&hdr, p, sizeof(hdr));
	return hdr;
}

/* The largest whole number of records in @p that takes at most @max bytes, but at least one; its
 * size. */
static size_t cut_at_record(const uint8_t *p, size_t size, size_t max)
{
	size_t n = hdr_at(p).size;

	while (n < size && n + hdr_at(p + n).size <= max)
		n += hdr_at(p + n).size;
	return n;
}

static void count_record(struct pev_block_head *head, uint32_t type)
{
	head->records++;
	head->samples += type == PEV_REC_SAMPLE;
	head->states += type != PEV_REC_SAMPLE && pev_rec_is_state(type);
	head->losses += is_loss(type);
}

/* What is in the first @n bytes of the chunk: its times and CPUs are those of the chunk, which they
 * lie within. */
static struct pev_block_head part_of_chunk(const struct pev_block *b, size_t n)
{
	struct pev_block_head part = b->chunk;

	if (n == b->size)
		return part;
	part.records = part.samples = part.states = part.losses = 0;
	for (size_t at = 0; at < n; at += hdr_at(b->raw + at).size)
		count_record(&part, hdr_at(b->raw + at).type);
	part.raw_size = (uint32_t)n;
	return part;
}

static void widen_times(struct pev_block_head *head, uint64_t first_ns, uint64_t last_ns)
{
	if (first_ns && (!head->first_ns || first_ns < head->first_ns))
		head->first_ns = first_ns;
	if (last_ns > head->last_ns)
		head->last_ns = last_ns;
}

void pev_block_commit(struct pev_block *b, const struct pev_rec_hdr *hdr, uint64_t time_ns,
		      uint32_t cpu)
{
	b->size += hdr->size;
	b->chunk.raw_size += hdr->size;
	count_record(&b->chunk, hdr->type);
	if (hdr->type == PEV_REC_SAMPLE)
		b->chunk.cpus |= 1ULL << (cpu % 64);
	widen_times(&b->chunk, time_ns, time_ns);
}

/* Takes the first @n bytes of the chunk away; the counts of what stays are right, its times and
 * CPUs may be too wide. */
static void leave_chunk(struct pev_block *b, size_t n)
{
	const struct pev_block_head part = part_of_chunk(b, n);

	b->size -= n;
	if (!b->size) {
		b->chunk = (struct pev_block_head){ 0 };
		return;
	}
	memmove(b->raw, b->raw + n, b->size);
	b->chunk.records -= part.records;
	b->chunk.samples -= part.samples;
	b->chunk.states -= part.states;
	b->chunk.losses -= part.losses;
	b->chunk.raw_size -= part.raw_size;
}

/* Moves the first @n bytes of the chunk, which are in the frame now, to what the frame says of
 * itself. */
static void enter_frame(struct pev_block *b, size_t n)
{
	const struct pev_block_head part = part_of_chunk(b, n);

	b->head.records += part.records;
	b->head.samples += part.samples;
	b->head.states += part.states;
	b->head.losses += part.losses;
	b->head.raw_size += part.raw_size;
	b->head.cpus |= part.cpus;
	widen_times(&b->head, part.first_ns, part.last_ns);
	leave_chunk(b, n);
}

/* Brings the chunk into the frame, or, when it does not fit, completes the frame without it. */
static int compress_chunk(struct pev_block *b)
{
	size_t n = b->size;

	while (n) {
		const size_t before = b->frame_size;
		const size_t size = compress_behind(b, n);

		if (!size) {
			b->failed = true;
			return -EIO;
		}
		if (size <= FRAME_MAX) {
			/* Learns slowly upwards, at once downwards. */
			const size_t ratio = n * RATIO_ONE / (size - before);

			b->ratio = ratio < b->ratio ? ratio : (b->ratio + ratio) / 2;
			b->frame_size = size;
			enter_frame(b, n);
			b->full = b->size != 0;
			plan_chunk(b);
			return 0;
		}
		if (b->ratio > RATIO_ONE)
			b->ratio -= b->ratio / 4;
		if (before) {
			b->full = true;
			return 0;
		}
		if (n == hdr_at(b->raw).size) {
			b->plain = true;
			return 0;
		}
		n = cut_at_record(b->raw, n, n / 2);
	}
	return 0;
}

/* Behind a record that was handed out where it lay. */
static void drop_plain(struct pev_block *b)
{
	if (!b->drop)
		return;
	leave_chunk(b, b->drop);
	b->drop = 0;
}

uint8_t *pev_block_reserve(struct pev_block *b, size_t max)
{
	drop_plain(b);
	if (b->size >= b->aim && !b->full && !b->plain && compress_chunk(b) < 0)
		return NULL; /* pev_block_take() will say why */
	if (b->full || b->plain || max > CHUNK_CAP - b->size)
		return NULL;
	return b->raw + b->size;
}

static uint32_t block_crc(const struct pev_block_head *head, const void *rest, size_t size)
{
	struct pev_block_head h = *head;
	uLong crc;

	h.crc = 0;
	crc = crc32(0, (const Bytef *)&h, sizeof(h));
	return (uint32_t)crc32(crc, rest, (uInt)size);
}

/* Closes the frame, and puts in front of it what makes it a record. Returns where that starts. */
static const uint8_t *finish_record(struct pev_block *b, size_t *ret_size)
{
	static const uint8_t last_block[CLOSE_SIZE] = { 0x01, 0x00,
							0x00 }; /* raw, empty, the last */
	const size_t frame_size = b->frame_size + CLOSE_SIZE;
	const size_t pad = -frame_size & 7; /* the overhead is a multiple of 8 */
	const size_t size = PEV_BLOCK_OVERHEAD + pad + frame_size;
	uint8_t *const frame = b->out + FRAME_AT, *const record = frame - pad - PEV_BLOCK_OVERHEAD;
	const struct pev_rec_hdr hdr = { .type = PEV_REC_COMPRESSED, .size = (uint16_t)size };
	const uint32_t skip[2] = { PEV_BLOCK_SKIP_MAGIC, (uint32_t)(sizeof(b->head) + pad) };

	memcpy(frame + b->frame_size, last_block, sizeof(last_block));
	for (size_t i = 0; i < sizeof(b->head.raw_size); i++)
		frame[CONTENT_SIZE_AT + i] = (uint8_t)(b->head.raw_size >> (8 * i));
	b->head.magic = PEV_BLOCK_MAGIC;
	b->head.version = PEV_BLOCK_VERSION;
	memset(record + PEV_BLOCK_OVERHEAD, 0, pad);
	b->head.crc = block_crc(&b->head, record + PEV_BLOCK_OVERHEAD, pad + frame_size);
	memcpy(record, &hdr, sizeof(hdr));
	memcpy(record + sizeof(hdr), skip, sizeof(skip));
	memcpy(record + sizeof(hdr) + sizeof(skip), &b->head, sizeof(b->head));
	*ret_size = size;
	return record;
}

int pev_block_take(struct pev_block *b, bool all, const void **ret_bytes, size_t *ret_size)
{
	drop_plain(b);
	/* What is left of a chunk may be due at once: when nothing comes out, there is room. */
	if (!b->failed && !b->full && !b->plain && (all || b->size >= b->aim))
		(void)compress_chunk(b);
	if (b->failed)
		return -EIO;
	if (b->plain) {
		b->plain = false;
		b->drop = hdr_at(b->raw).size;
		*ret_bytes = b->raw;
		*ret_size = b->drop;
		return 1;
	}
	if (!b->frame_size || !(all || b->full))
		return 0;
	/* What readers are told of the size must be where they look for it. */
	if (b->out[FRAME_AT + DESCRIPTOR_AT] != DESCRIPTOR) {
		b->failed = true;
		return -EIO;
	}
	*ret_bytes = finish_record(b, ret_size);
	b->frame_size = 0;
	b->head = (struct pev_block_head){ 0 };
	b->full = false;
	plan_chunk(b);
	return 1;
}

int pev_block_head_read(const void *bytes, size_t size, bool check_crc, struct pev_block_head *ret)
{
	struct pev_cursor c = pev_cursor(bytes, size);
	struct pev_block_head head;
	uint32_t skip_magic, skip_size;
	const uint8_t *p;

	(void)pev_cursor_bytes(&c, sizeof(struct pev_rec_hdr));
	skip_magic = pev_cursor_u32(&c);
	skip_size = pev_cursor_u32(&c);
	p = pev_cursor_bytes(&c, sizeof(head));
	if (!p || skip_magic != PEV_BLOCK_SKIP_MAGIC)
		return 0;
	memcpy(&head, p, sizeof(head));
	if (head.magic != PEV_BLOCK_MAGIC || head.version != PEV_BLOCK_VERSION)
		return 0;
	/* zstd would silently skip what it should unpack. */
	if (skip_size < sizeof(head) || skip_size > sizeof(head) + 7)
		return -EBADMSG;
	if (check_crc && block_crc(&head, c.p, pev_cursor_left(&c)) != head.crc)
		return -EBADMSG;
	*ret = head;
	return 1;
}
