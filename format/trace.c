// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Records, one by one. From the file they come through the input's window; a COMPRESSED record is
 * unpacked into ->raw (trace_unpack.c) and its records are handed out from there first. Where there
 * is damage, trace_find.c says where to go on.
 */
#include "format/trace_part.h"

#include "base/checked.h"
#include "base/cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What a COMPRESSED2 may take that says more than its header.size: perf empties its ring, of at
 * most 128 MB, into it. */
#define COMPRESSED2_MAX (PEV_INPUT_WINDOW_MAX / 2)

PEV_DEFINE_CLEANUP(struct pev_trace *, pev_trace_free);

void pev_trace_forget_head(struct pev_trace *t)
{
	for (size_t i = 0; i < t->nr_events; i++) {
		free((void *)(uintptr_t)t->events[i].ids);
		free((void *)(uintptr_t)t->events[i].name);
		free((void *)(uintptr_t)t->events[i].unit);
	}
	free(t->events);
	t->events = NULL;
	t->nr_events = 0;
	pev_ids_done(&t->ids);
	pev_features_done(&t->features);
}

struct pev_trace *pev_trace_free(struct pev_trace *t)
{
	if (!t)
		return NULL;
	pev_trace_forget_head(t);
	ZSTD_freeDCtx(t->dctx);
	pev_buf_done(&t->raw);
	pev_input_close(&t->in);
	free(t);
	return NULL;
}

int pev_trace_open(const char *path, const struct pev_trace_options *options,
		   struct pev_trace **ret, struct pev_err *err)
{
	_cleanup_(pev_trace_freep) struct pev_trace *t = calloc(1, sizeof(*t));
	struct pev_err own = PEV_ERR_INIT;
	int r;

	if (!t)
		return pev_err_set(err, -ENOMEM, "no memory to read %s", path);
	if (options)
		t->options = *options;
	r = pev_input_open(path, &t->in, &own);
	if (r == 0)
		r = pev_trace_read_head(t, &own);
	if (r < 0) {
		if (err)
			*err = own;
		return r;
	}
	*ret = TAKE_PTR(t);
	return 0;
}

struct pev_trace_head pev_trace_head(const struct pev_trace *t)
{
	struct pev_trace_head head = t->head;

	head.events = t->events;
	head.nr_events = t->nr_events;
	head.features = &t->features;
	return head;
}

struct pev_trace_damage pev_trace_damage(const struct pev_trace *t)
{
	return t->damage;
}

/*
 * Without IDENTIFIER the id of a record is somewhere among the fields of sample_type; then all
 * events of a trace have the same sample_type, or there is only one. Offset of the id from the
 * start of a SAMPLE's body, or -1.
 */
static int id_offset(uint64_t sample_type)
{
	const uint64_t before = PEV_SAMPLE_IP | PEV_SAMPLE_TID | PEV_SAMPLE_TIME | PEV_SAMPLE_ADDR;

	if (!(sample_type & PEV_SAMPLE_ID))
		return -1;
	return 8 * __builtin_popcountll(sample_type & before);
}

/* The same, in bytes from the end of a record that has a trailer. */
static int id_offset_from_end(uint64_t sample_type)
{
	if (!(sample_type & PEV_SAMPLE_ID))
		return -1;
	return 8 + 8 * __builtin_popcountll(sample_type & (PEV_SAMPLE_STREAM_ID | PEV_SAMPLE_CPU));
}

static uint64_t id_of(const struct pev_trace *t, const uint8_t *bytes,
		      const struct pev_rec_hdr *hdr)
{
	const struct pev_attr *const attr = &t->events[0].attr;
	uint64_t id;
	int at;

	/* The trailer is behind the body, wherever that ends; all events have the same. */
	if (pev_rec_may_be_oversized(hdr->type)) {
		struct pev_record rec;

		return pev_record_decode(attr, bytes, hdr->size, t->head.swap, &rec, NULL) < 0
			       ? 0
			       : rec.id.id;
	}
	if (attr->sample_type & PEV_SAMPLE_IDENTIFIER)
		return hdr->type == PEV_REC_SAMPLE || attr->flags & PEV_ATTR_SAMPLE_ID_ALL
			       ? pev_record_identifier(bytes, t->head.swap)
			       : 0;
	if (hdr->type == PEV_REC_SAMPLE) {
		at = id_offset(attr->sample_type);
		at = at < 0 ? -1 : at + (int)sizeof(*hdr);
	} else {
		at = attr->flags & PEV_ATTR_SAMPLE_ID_ALL ? id_offset_from_end(attr->sample_type)
							  : -1;
		at = at < 0 ? -1 : hdr->size - at;
	}
	if (at < (int)sizeof(*hdr) || at + 8 > hdr->size)
		return 0;
	memcpy(&id, bytes + at, sizeof(id));
	return t->head.swap ? __builtin_bswap64(id) : id;
}

const struct pev_trace_event *pev_trace_event_of(const struct pev_trace *t, const uint8_t *bytes,
						 const struct pev_rec_hdr *hdr)
{
	const struct pev_id *found;
	uint64_t id;

	if (!t->nr_events || hdr->type >= PEV_REC_USER_START)
		return NULL;
	if (t->nr_events == 1)
		return &t->events[0];
	if (pev_rec_may_be_oversized(hdr->type)) {
		const uint64_t flags = PEV_ATTR_KSYMBOL | PEV_ATTR_BPF_EVENT | PEV_ATTR_TEXT_POKE;

		for (size_t i = 0; i < t->nr_events; i++)
			if (t->events[i].attr.flags & flags)
				return &t->events[i];
		return &t->events[0];
	}
	id = id_of(t, bytes, hdr);
	/* Records that perf makes itself carry 0: the first event's. */
	if (!id)
		return &t->events[0];
	found = pev_ids_find(&t->ids, id);
	return found ? &t->events[found->event] : NULL;
}

/* Notes damage at @offset; returns @code so that callers can return it. */
static int damaged(struct pev_trace *t, uint64_t offset, int code)
{
	if (!t->damage.first_offset)
		t->damage.first_offset = offset;
	return code;
}

/* After damage, of which @err tells, in the @size bytes of a record that the input stands in front
 * of: decides where to go on, for the size may be wrong, too. */
static int bad_block(struct pev_trace *t, uint64_t size, struct pev_err *err)
{
	const uint64_t at = t->in.offset;

	size = pev_trace_resume(t, size);
	t->pending = size;
	t->damage.blocks++;
	t->damage.block_bytes += size;
	(void)pev_err_wrap(err, "%s: block at offset %" PRIu64 " is damaged", t->in.name, at);
	return damaged(t, at, -EBADMSG);
}

/* What is known of a block before it is unpacked. */
static int check_block(struct pev_trace *t, const struct pev_trace_record *rec, struct pev_err *err)
{
	struct pev_block_head head;
	int r;

	if (t->head.swap)
		return 0;
	r = pev_block_head_read(rec->bytes, rec->size, true, &head);
	if (r < 0)
		(void)pev_err_set(err, r, "its checksum is wrong");
	else if (r > 0 && rec->hdr.type != PEV_REC_COMPRESSED)
		r = pev_err_set(err, -EBADMSG, "its record has type %u", rec->hdr.type);
	return r < 0 ? bad_block(t, rec->size, err) : 0;
}

static int unpack(struct pev_trace *t, const struct pev_trace_record *rec, struct pev_err *err)
{
	const int r = pev_trace_unpack(t, rec->bytes, rec->size, &rec->hdr, err);

	if (r == -EBADMSG)
		return bad_block(t, rec->size, err);
	return r < 0 ? pev_err_wrap(err, "%s: block at offset %" PRIu64, t->in.name, t->in.offset)
		     : 0;
}

/* A record out of ->raw. 1; 0 when there is no whole one left; -EBADMSG. */
static int next_unpacked(struct pev_trace *t, struct pev_trace_record *ret, struct pev_err *err)
{
	const size_t left = t->raw.size - t->raw_pos;
	const uint8_t *p;

	if (left < sizeof(ret->hdr))
		return 0;
	p = t->raw.data + t->raw_pos;
	pev_trace_hdr(t, p, &ret->hdr);
	if (ret->hdr.size < sizeof(ret->hdr)) {
		t->damage.blocks++;
		pev_buf_reset(&t->raw);
		t->raw_pos = 0;
		(void)pev_err_set(err, -EBADMSG,
				  "%s: block at offset %" PRIu64
				  " is damaged: it holds a record of %u bytes",
				  t->in.name, t->raw_offset, ret->hdr.size);
		return damaged(t, t->raw_offset, -EBADMSG);
	}
	if (ret->hdr.size > left)
		return 0;
	ret->bytes = p;
	ret->size = ret->hdr.size;
	ret->offset = t->raw_offset;
	ret->payload = 0;
	ret->compressed = true;
	ret->our_block = t->raw_ours;
	t->raw_pos += ret->hdr.size;
	return 1;
}

/* The file ends @have bytes into a record; 0: between two. What was carried over will never be
 * whole either. */
static int cut(struct pev_trace *t, uint64_t offset, uint64_t have)
{
	t->finished = true;
	have += t->raw.size - t->raw_pos;
	t->damage.cut_bytes = have;
	return have ? damaged(t, offset, 0) : 0;
}

/* The next @left bytes are no records. */
static int rubbish(struct pev_trace *t, uint64_t left)
{
	const uint64_t offset = t->in.offset;

	t->finished = true;
	t->damage.tail_bytes = pev_input_skip(&t->in, left);
	return damaged(t, offset, 0);
}

/* Fewer than @left bytes are there of the record @hdr. Of a type that does not exist it is none:
 * words that perf record said, for one, where its standard error went to the same file. */
static int ends_within(struct pev_trace *t, const struct pev_rec_hdr *hdr, uint64_t left)
{
	const uint64_t offset = t->in.offset;

	if (!pev_rec_type_name(hdr->type))
		return rubbish(t, left);
	return cut(t, offset, pev_input_skip(&t->in, left));
}

/*
 * The bytes that a record takes. perf 6.16 and after let header.size of a COMPRESSED2 overflow when
 * its padded size reaches 64 KiB: then the true size is in its data_size, and, what is not
 * intended either, no padding follows (record__pushfn(): its size underflows, and write(2) refuses
 * it).
 */
static uint64_t true_size(const struct pev_trace *t, const uint8_t *p,
			  const struct pev_rec_hdr *hdr)
{
	struct pev_cursor c = pev_cursor(p + sizeof(*hdr), 8);
	uint64_t data_size;

	if (hdr->type != PEV_REC_COMPRESSED2)
		return hdr->size;
	c.swap = t->head.swap;
	data_size = pev_cursor_u64(&c);
	if (data_size > COMPRESSED2_MAX ||
	    pev_align8(PEV_COMPRESSED2_HEAD + data_size) <= PEV_REC_MAX_SIZE ||
	    (uint16_t)pev_align8(PEV_COMPRESSED2_HEAD + data_size) != hdr->size)
		return hdr->size;
	return PEV_COMPRESSED2_HEAD + data_size;
}

/* Moves behind the record that was handed out last. 1, or 0 when its payload is not all there. */
static int pass(struct pev_trace *t)
{
	const uint64_t offset = t->in.offset, size = t->pending;
	uint64_t passed;

	t->pending = 0;
	passed = pev_input_skip(&t->in, size);
	if (passed == size)
		return 1;
	return cut(t, offset, passed);
}

/* The payload is TRACING_DATA, and of a size that it may have. */
static bool can_learn(const struct pev_trace_record *rec)
{
	return rec->hdr.type == PEV_REC_HEADER_TRACING_DATA &&
	       rec->payload <= PEV_INPUT_WINDOW_MAX / 2;
}

/* Bytes of data from here to where they must end, as far as that is known. */
static uint64_t data_left(const struct pev_trace *t)
{
	const uint64_t end = PEV_MIN(t->end, t->in.size);

	return end == UINT64_MAX ? end : end - PEV_MIN(end, t->in.offset);
}

static bool is_record(const struct pev_trace_record *rec, uint64_t size, uint64_t whole,
		      uint64_t left)
{
	return size >= sizeof(rec->hdr) && whole <= left && rec->hdr.type < PEV_TRACE_TYPES_MAX;
}

/* There is no record where the input stands. -EBADMSG when there is a block to go on at. */
static int go_on_behind(struct pev_trace *t, struct pev_err *err)
{
	const uint64_t at = t->in.offset;
	uint64_t next;
	int r;

	r = pev_trace_find_block(t, at + 8, &next, err);
	if (r <= 0)
		return r;
	t->pending = next - at;
	t->damage.blocks++;
	t->damage.block_bytes += next - at;
	(void)pev_err_set(err, -EBADMSG,
			  "%s: %" PRIu64 " bytes at offset %" PRIu64 " are no records", t->in.name,
			  next - at, at);
	return damaged(t, at, -EBADMSG);
}

/*
 * The next record of the file itself. 1; 0 at the end. The input stays in front of it until the
 * next call, so that the bytes stay where they are.
 */
static int next_in_file(struct pev_trace *t, struct pev_trace_record *ret, struct pev_err *err)
{
	uint64_t left, size, whole, want;
	const uint8_t *p;
	size_t have;
	int r;

	if (!pass(t))
		return 0;
	left = data_left(t);
	p = pev_input_peek(&t->in, PEV_MIN((uint64_t)16, left), &have, err);
	if (!p)
		return err->code;
	if (have < sizeof(ret->hdr))
		return cut(t, t->in.offset, have);
	pev_trace_hdr(t, p, &ret->hdr);
	size = have == 16 ? true_size(t, p, &ret->hdr) : ret->hdr.size;
	ret->payload = pev_trace_payload(t, p, have, &ret->hdr);
	if (!pev_add_u64(size, ret->payload, &whole))
		whole = UINT64_MAX;
	r = is_record(ret, size, whole, left) ? 0 : go_on_behind(t, err);
	if (r < 0)
		return r;
	/* What a seal that was interrupted appended, or rubbish: no record starts like that. */
	if (size < sizeof(ret->hdr))
		return rubbish(t, left);
	if (whole > left)
		return ends_within(t, &ret->hdr, left);
	want = can_learn(ret) ? whole : size;
	p = pev_input_peek(&t->in, want, &have, err);
	if (!p)
		return err->code;
	if (have < want)
		return ends_within(t, &ret->hdr, left);
	ret->bytes = p;
	ret->size = size;
	ret->offset = t->in.offset;
	ret->compressed = false;
	t->pending = whole;
	return 1;
}

static bool is_compressed(const struct pev_rec_hdr *hdr)
{
	return hdr->type == PEV_REC_COMPRESSED || hdr->type == PEV_REC_COMPRESSED2;
}

/* Of a record in the file itself: pipe mode keeps there what a regular file has in tables. */
static int learn(struct pev_trace *t, const struct pev_trace_record *rec, struct pev_err *err)
{
	const bool with_payload = can_learn(rec);

	if (!t->head.pipe || rec->compressed || rec->hdr.type < PEV_REC_USER_START)
		return 0;
	return pev_trace_learn(t, rec->bytes, &rec->hdr,
			       with_payload ? rec->bytes + rec->size : NULL,
			       with_payload ? (size_t)rec->payload : 0, err);
}

/* A block that the one who reads does not want. */
static bool skip_block(struct pev_trace *t, const struct pev_trace_record *rec)
{
	struct pev_block_head head;

	if (!t->options.skip_block || t->head.swap ||
	    pev_block_head_read(rec->bytes, rec->size, false, &head) <= 0 ||
	    !t->options.skip_block(t->options.userdata, &head) ||
	    pev_block_head_read(rec->bytes, rec->size, true, &head) <= 0)
		return false;
	t->skipped_blocks++;
	t->skipped_samples += head.samples;
	return true;
}

int pev_trace_next(struct pev_trace *t, struct pev_trace_record *ret, struct pev_err *err)
{
	struct pev_err own = PEV_ERR_INIT;
	int r;

	if (!err)
		err = &own;
	*ret = (struct pev_trace_record){ 0 };
	for (;;) {
		r = next_unpacked(t, ret, err);
		if (r < 0)
			return r;
		if (r > 0)
			break;
		if (t->finished)
			return 0;
		r = next_in_file(t, ret, err);
		if (r <= 0)
			return r;
		if (t->options.check) {
			r = check_block(t, ret, err);
			if (r < 0)
				return r;
		}
		if (!is_compressed(&ret->hdr) || t->options.raw)
			break;
		if (skip_block(t, ret))
			continue;
		r = unpack(t, ret, err);
		if (r < 0)
			return r;
	}
	if (ret->hdr.type < PEV_REC_USER_START)
		ret->event = pev_trace_event_of(t, ret->bytes, &ret->hdr);
	r = learn(t, ret, err);
	return r < 0 ? r : 1;
}

uint64_t pev_trace_at(const struct pev_trace *t)
{
	/* Records of a COMPRESSED record come out of it while the input stands in front of it. */
	return t->in.offset;
}

void pev_trace_rest(struct pev_trace *t)
{
	if (t->finished) {
		ZSTD_freeDCtx(t->dctx);
		t->dctx = NULL;
	}
	if (t->raw_pos == t->raw.size) {
		pev_buf_done(&t->raw);
		t->raw_pos = 0;
	}
	pev_input_rest(&t->in);
}

int pev_trace_copy_payload(struct pev_trace *t, const struct pev_trace_record *rec,
			   struct pev_writer *w, struct pev_err *err)
{
	uint64_t left = rec->payload;

	(void)pev_input_skip(&t->in, rec->size);
	t->pending -= rec->size;
	while (left) {
		const size_t chunk = PEV_MIN(left, (uint64_t)1 << 20);
		size_t have;
		const uint8_t *const p = pev_input_peek(&t->in, chunk, &have, err);
		int r;

		if (!p)
			return err->code;
		if (have < chunk)
			return pev_err_set(err, -ENODATA,
					   "%s is cut within a record's data at offset %" PRIu64,
					   t->in.name, t->in.offset);
		r = pev_writer_put(w, p, chunk, err);
		if (r < 0)
			return r;
		(void)pev_input_skip(&t->in, chunk);
		t->pending -= chunk;
		left -= chunk;
	}
	return 0;
}
