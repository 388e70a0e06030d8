// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Bigger frames compress better, and header.size allows a COMPRESSED record 64 KiB: so raw records
 * are gathered until the compressed frame is expected to come near that, judged by the ratio of the
 * blocks before. Where the guess was too bold, the block is cut in two at a record and compressed
 * again; the guess learns from it. A record that stays too large even alone (a stack dump of noise)
 * is written as it is.
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
#include <zstd_errors.h>

#define FRAME_MAX (PEV_BLOCK_MAX - PEV_BLOCK_OVERHEAD - 7)
/* Aim below the limit: ratios of neighbouring blocks differ by a few percent, and a miss costs a
 * second compression. */
#define FRAME_AIM (FRAME_MAX - FRAME_MAX / 8)

struct pev_block {
	ZSTD_CCtx *cctx;
	uint8_t *raw; /* PEV_BLOCK_RAW_MAX bytes */
	size_t size;  /* gathered */
	size_t done;  /* of these already encoded, while a block is being taken out in pieces */
	size_t aim;   /* gather no more than this */
	struct pev_block_head head; /* of what was gathered, but for counts of the pieces */
	uint8_t out[PEV_BLOCK_MAX];
};

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

int pev_block_new(int level, struct pev_block **ret)
{
	_cleanup_(pev_block_freep) struct pev_block *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	if (level > ZSTD_maxCLevel() || level < ZSTD_minCLevel())
		return -EINVAL;
	b->raw = malloc(PEV_BLOCK_RAW_MAX);
	b->cctx = ZSTD_createCCtx();
	if (!b->raw || !b->cctx)
		return -ENOMEM;
	if (ZSTD_isError(ZSTD_CCtx_setParameter(b->cctx, ZSTD_c_compressionLevel, level)))
		return -EINVAL;
	b->aim = PEV_BLOCK_RAW_MAX / 4;
	*ret = TAKE_PTR(b);
	return 0;
}

struct pev_block *pev_block_free(struct pev_block *b)
{
	if (!b)
		return NULL;
	ZSTD_freeCCtx(b->cctx);
	free(b->raw);
	free(b);
	return NULL;
}

bool pev_block_empty(const struct pev_block *b)
{
	return b->size == 0;
}

size_t pev_block_raw_size(const struct pev_block *b)
{
	return b->size;
}

uint8_t *pev_block_reserve(struct pev_block *b, size_t max)
{
	if (b->done || max > PEV_BLOCK_RAW_MAX - b->size || (b->size >= b->aim && b->size))
		return NULL;
	return b->raw + b->size;
}

void pev_block_commit(struct pev_block *b, const struct pev_rec_hdr *hdr, uint64_t time_ns,
		      uint32_t cpu)
{
	b->size += hdr->size;
	b->head.records++;
	if (hdr->type == PEV_REC_SAMPLE) {
		b->head.samples++;
		b->head.cpus |= 1ULL << (cpu % 64);
	} else if (pev_rec_is_state(hdr->type)) {
		b->head.states++;
	} else if (is_loss(hdr->type)) {
		b->head.losses++;
	}
	if (!time_ns)
		return;
	if (!b->head.first_ns || time_ns < b->head.first_ns)
		b->head.first_ns = time_ns;
	if (time_ns > b->head.last_ns)
		b->head.last_ns = time_ns;
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

/* Counts the records of a piece of a block; its times and CPUs stay those of the whole, which they
 * lie within. */
static void count_records(const uint8_t *p, size_t size, struct pev_block_head *head)
{
	head->records = head->samples = head->states = head->losses = 0;
	for (size_t n = 0; n < size; n += hdr_at(p + n).size) {
		const uint32_t type = hdr_at(p + n).type;

		head->records++;
		head->samples += type == PEV_REC_SAMPLE;
		head->states += type != PEV_REC_SAMPLE && pev_rec_is_state(type);
		head->losses += is_loss(type);
	}
}

static uint32_t block_crc(const struct pev_block_head *head, const void *rest, size_t size)
{
	struct pev_block_head h = *head;
	uLong crc;

	h.crc = 0;
	crc = crc32(0, (const Bytef *)&h, sizeof(h));
	return (uint32_t)crc32(crc, rest, (uInt)size);
}

/* Frames what zstd made of @raw_size bytes, which lies in ->out behind room for the longest prefix;
 * returns where the record starts. */
static const uint8_t *finish_record(struct pev_block *b, size_t raw_size, size_t frame_size,
				    size_t *ret_size)
{
	const size_t pad = -frame_size & 7; /* the overhead is a multiple of 8 */
	const size_t size = PEV_BLOCK_OVERHEAD + pad + frame_size;
	uint8_t *const record = b->out + 7 - pad;
	struct pev_block_head head = b->head;
	const struct pev_rec_hdr hdr = { .type = PEV_REC_COMPRESSED, .size = (uint16_t)size };
	const uint32_t skip[2] = { PEV_BLOCK_SKIP_MAGIC, (uint32_t)(sizeof(head) + pad) };

	if (raw_size != b->size)
		count_records(b->raw + b->done, raw_size, &head);
	head.magic = PEV_BLOCK_MAGIC;
	head.version = PEV_BLOCK_VERSION;
	head.raw_size = (uint32_t)raw_size;
	memset(record + PEV_BLOCK_OVERHEAD, 0, pad);
	head.crc = block_crc(&head, record + PEV_BLOCK_OVERHEAD, pad + frame_size);
	memcpy(record, &hdr, sizeof(hdr));
	memcpy(record + sizeof(hdr), skip, sizeof(skip));
	memcpy(record + sizeof(hdr) + sizeof(skip), &head, sizeof(head));
	*ret_size = size;
	return record;
}

/* Marks @n more bytes as encoded and starts afresh when that was all. */
static void took(struct pev_block *b, size_t n)
{
	b->done += n;
	if (b->done < b->size)
		return;
	b->size = b->done = 0;
	b->head = (struct pev_block_head){ 0 };
}

/* Gathers as much next time as the ratio of this frame says; slowly upwards, at once downwards. */
static void learn_aim(struct pev_block *b, size_t raw_size, size_t frame_size)
{
	const size_t fits = raw_size * FRAME_AIM / frame_size;

	b->aim = fits < b->aim ? fits : b->aim + (fits - b->aim) / 2;
	b->aim = PEV_MIN(b->aim, (size_t)PEV_BLOCK_RAW_MAX - PEV_REC_MAX_SIZE);
}

int pev_block_encode(struct pev_block *b, const void **ret_bytes, size_t *ret_size)
{
	const uint8_t *const raw = b->raw + b->done;
	size_t n = b->size - b->done;

	for (;;) {
		uint8_t *const frame = b->out + 7 + PEV_BLOCK_OVERHEAD;
		const size_t k = ZSTD_compress2(b->cctx, frame, FRAME_MAX, raw, n);

		if (!ZSTD_isError(k)) {
			learn_aim(b, n, k);
			*ret_bytes = finish_record(b, n, k, ret_size);
			break;
		}
		if (ZSTD_getErrorCode(k) != ZSTD_error_dstSize_tooSmall)
			return -EIO;
		if (n == hdr_at(raw).size) {
			*ret_bytes = raw;
			*ret_size = n;
			break;
		}
		n = cut_at_record(raw, n, n - n / 4);
		b->aim = PEV_MAX(n, (size_t)PEV_REC_MAX_SIZE);
	}
	took(b, n);
	return 0;
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
	if (!p || skip_magic != PEV_BLOCK_SKIP_MAGIC || skip_size < sizeof(head) ||
	    skip_size > sizeof(head) + 7)
		return 0;
	memcpy(&head, p, sizeof(head));
	if (head.magic != PEV_BLOCK_MAGIC || head.version != PEV_BLOCK_VERSION)
		return 0;
	if (check_crc && block_crc(&head, c.p, pev_cursor_left(&c)) != head.crc)
		return -EBADMSG;
	*ret = head;
	return 1;
}
