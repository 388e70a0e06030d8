// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finding the way again. Where the length of a record is wrong, or where a power loss left a hole,
 * nobody knows where the next one starts; but a block of ours can be told from anything else by its
 * magics and its checksum, and it starts at a multiple of 8. So all blocks behind the damage are
 * found again. What lies between is lost.
 */
#include "format/trace_part.h"

#include "base/checked.h"

#include <string.h>

/* Bytes looked at at once, and how often a block may look like one and have a wrong checksum before
 * this is taken for an attack. */
#define SCAN_SIZE      ((size_t)256 << 10)
#define CANDIDATES_MAX 4096

/* What starts like a block: the size and the checksum are still to be seen to. */
static bool looks_like_block(const uint8_t *p)
{
	const struct pev_rec_hdr want = { .type = PEV_REC_COMPRESSED };
	const uint32_t skip_magic = PEV_BLOCK_SKIP_MAGIC, magic = PEV_BLOCK_MAGIC;

	return !memcmp(p, &want, offsetof(struct pev_rec_hdr, size)) &&
	       !memcmp(p + 8, &skip_magic, 4) && !memcmp(p + 16, &magic, 4);
}

/* The first place in @p where a block may start, or the first that was not looked at. */
static size_t scan(const uint8_t *p, size_t have)
{
	size_t i = 0;

	while (i + PEV_BLOCK_OVERHEAD <= have && !looks_like_block(p + i))
		i += 8;
	return i;
}

/* 1 when a whole block is where the input stands. */
static int is_block(struct pev_trace *t, uint64_t end, struct pev_err *err)
{
	struct pev_block_head head;
	struct pev_rec_hdr hdr;
	const uint8_t *p;
	size_t have;

	p = pev_input_peek(&t->in, PEV_MIN((uint64_t)PEV_BLOCK_MAX, end - t->in.offset), &have,
			   err);
	if (!p)
		return err->code;
	pev_trace_hdr(t, p, &hdr);
	return hdr.size >= PEV_BLOCK_OVERHEAD && hdr.size <= have &&
	       pev_block_head_read(p, hdr.size, true, &head) > 0;
}

int pev_trace_find_block(struct pev_trace *t, uint64_t from, uint64_t *ret, struct pev_err *err)
{
	const uint64_t start = t->in.offset, end = PEV_MIN(t->end, t->in.size);
	unsigned int candidates = 0;
	int r = 0;

	/* A pipe cannot be read twice. */
	if (!t->head.ours || t->head.swap || !t->in.seekable)
		return 0;
	pev_input_seek(&t->in, from + ((t->head.data_offset - from) & 7));
	while (candidates < CANDIDATES_MAX && t->in.offset < end &&
	       end - t->in.offset >= PEV_BLOCK_OVERHEAD) {
		const size_t n = (size_t)PEV_MIN((uint64_t)SCAN_SIZE, end - t->in.offset);
		const uint8_t *p;
		size_t have, i;

		p = pev_input_peek(&t->in, n, &have, err);
		if (!p)
			return err->code;
		i = scan(p, have);
		(void)pev_input_skip(&t->in, i);
		if (i + PEV_BLOCK_OVERHEAD > have) {
			if (have < SCAN_SIZE)
				break;
			continue;
		}
		r = is_block(t, end, err);
		if (r)
			break;
		(void)pev_input_skip(&t->in, 8);
		candidates++;
	}
	if (r > 0)
		*ret = t->in.offset;
	pev_input_seek(&t->in, start);
	return r;
}

/* True when a record may start at @offset, or the data may end there. */
static bool is_plausible(struct pev_trace *t, uint64_t offset)
{
	const uint64_t start = t->in.offset, end = PEV_MIN(t->end, t->in.size);
	bool plausible = offset >= end;
	struct pev_rec_hdr hdr;
	const uint8_t *p;
	size_t have;

	pev_input_seek(&t->in, offset);
	p = pev_input_peek(&t->in, sizeof(hdr), &have, NULL);
	if (!plausible && p && have == sizeof(hdr)) {
		pev_trace_hdr(t, p, &hdr);
		plausible = hdr.type < PEV_TRACE_TYPES_MAX && hdr.size >= sizeof(hdr) &&
			    hdr.size <= end - offset;
	}
	pev_input_seek(&t->in, start);
	return plausible;
}

uint64_t pev_trace_resume(struct pev_trace *t, uint64_t size)
{
	const uint64_t at = t->in.offset;
	struct pev_err err = PEV_ERR_INIT;
	uint64_t next;

	if (!t->head.ours || !t->in.seekable || is_plausible(t, at + size) ||
	    pev_trace_find_block(t, at + 8, &next, &err) <= 0)
		return size;
	return next - at;
}
