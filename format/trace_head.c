// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The head of a perf.data.
 *
 * Regular file: pev_file_header at 0; the attr table, each entry an attr and the section of its
 * ids; the feature table behind the data, one section per set bit. Pipe mode: 16 bytes, then
 * records that say the same. Our own regular files still have the records of their pipe mode behind
 * the header: when the tables at the end are cut off, or were never written because the seal was
 * interrupted, all that they would say is found there.
 */
#include "format/trace_part.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "format/attr.h"
#include "format/event_name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What one feature section or id table may take; the largest real ones are build-id tables and BTF
 * of some MB. */
#define SECTION_MAX ((uint64_t)128 << 20)
#define EVENTS_MAX  65536

int pev_trace_add_event(struct pev_trace *t, const struct pev_attr *attr, const uint64_t *ids,
			size_t nr_ids, struct pev_err *err)
{
	struct pev_trace_event *const events =
		realloc(t->events, (t->nr_events + 1) * sizeof(*events));
	uint64_t *copy = NULL;

	if (!events)
		return pev_err_set(err, -ENOMEM, "%s: no memory for its events", t->in.name);
	t->events = events;
	if (t->nr_events >= EVENTS_MAX)
		return pev_err_set(err, -E2BIG, "%s: more than %d events", t->in.name, EVENTS_MAX);
	copy = calloc(nr_ids + 1, sizeof(*copy));
	if (!copy)
		return pev_err_set(err, -ENOMEM, "%s: no memory for its events", t->in.name);
	if (nr_ids)
		memcpy(copy, ids, nr_ids * sizeof(*copy));
	events[t->nr_events++] =
		(struct pev_trace_event){ .attr = *attr, .ids = copy, .nr_ids = nr_ids };
	for (size_t i = 0; i < nr_ids; i++)
		if (pev_ids_add(&t->ids, copy[i], (uint32_t)t->nr_events - 1, 0) < 0)
			return pev_err_set(err, -ENOMEM, "%s: no memory for its events",
					   t->in.name);
	return 0;
}

/* @nr ids at @p in the byte order of the file. */
static int add_event_bytes(struct pev_trace *t, const struct pev_attr *attr, const uint8_t *p,
			   size_t nr, struct pev_err *err)
{
	_cleanup_free_ uint64_t *ids = calloc(nr + 1, sizeof(*ids));
	struct pev_cursor c = pev_cursor(p, nr * sizeof(*ids));

	if (!ids)
		return pev_err_set(err, -ENOMEM, "%s: no memory for its events", t->in.name);
	c.swap = t->head.swap;
	for (size_t i = 0; i < nr; i++)
		ids[i] = pev_cursor_u64(&c);
	return pev_trace_add_event(t, attr, ids, nr, err);
}

/* Section @s of a regular file, whole. NULL and an error when it is not all there. */
static const uint8_t *section(struct pev_trace *t, struct pev_file_section s, const char *what,
			      struct pev_err *err)
{
	const uint8_t *p;
	size_t have;

	if (s.size > SECTION_MAX) {
		(void)pev_err_set(err, -E2BIG,
				  "%s: its %s at offset %" PRIu64 " claims %" PRIu64 " bytes",
				  t->in.name, what, s.offset, s.size);
		return NULL;
	}
	if (s.offset > t->in.size || s.size > t->in.size - s.offset) {
		(void)pev_err_set(err, -ENODATA,
				  "%s is cut short: its %s is at offset %" PRIu64
				  ", but the file has only %" PRIu64 " bytes",
				  t->in.name, what, s.offset, t->in.size);
		return NULL;
	}
	pev_input_seek(&t->in, s.offset);
	p = pev_input_peek(&t->in, s.size, &have, err);
	if (p && have < s.size) {
		(void)pev_err_set(err, -ENODATA, "%s: its %s at offset %" PRIu64 " went away",
				  t->in.name, what, s.offset);
		return NULL;
	}
	return p;
}

static struct pev_file_section read_section(struct pev_cursor *c)
{
	struct pev_file_section s;

	s.offset = pev_cursor_u64(c);
	s.size = pev_cursor_u64(c);
	return s;
}

/* One entry of the attr table: the attr, then the section of its ids at the end of what attr_size
 * leaves. All the ids together take no more than *ids_left bytes. */
static int read_attr(struct pev_trace *t, struct pev_file_section attrs, uint64_t attr_size,
		     uint64_t i, uint64_t *ids_left, struct pev_err *err)
{
	const struct pev_file_section entry = { attrs.offset + i * attr_size, attr_size };
	struct pev_file_section ids;
	struct pev_attr attr;
	struct pev_cursor c;
	const uint8_t *p;
	int r;

	p = section(t, entry, "attr table", err);
	if (!p)
		return err->code;
	c = pev_cursor(p, attr_size);
	c.swap = t->head.swap;
	r = pev_attr_decode(&c, attr_size - sizeof(ids), &attr, err);
	if (r < 0)
		return pev_err_wrap(err, "%s: attr %" PRIu64, t->in.name, i);
	ids = read_section(&c);
	p = section(t, ids, "id table", err);
	if (!p)
		return err->code;
	if (ids.size > *ids_left)
		return pev_err_set(err, -EBADMSG, "%s: its events claim more ids than fit into it",
				   t->in.name);
	*ids_left -= ids.size;
	return add_event_bytes(t, &attr, p, ids.size / sizeof(uint64_t), err);
}

static int read_attrs(struct pev_trace *t, const struct pev_file_header *h, struct pev_err *err)
{
	uint64_t ids_left = t->in.size;

	if (h->attr_size < PEV_ATTR_SIZE_VER0 + sizeof(struct pev_file_section) ||
	    h->attr_size > 4096 || h->attrs.size / h->attr_size > EVENTS_MAX)
		return pev_err_set(err, -EBADMSG,
				   "%s: its header has an attr table of %" PRIu64
				   " bytes with entries of %" PRIu64,
				   t->in.name, h->attrs.size, h->attr_size);
	if (h->attrs.offset > t->in.size || h->attrs.size > t->in.size - h->attrs.offset)
		return pev_err_set(err, -ENODATA,
				   "%s is cut short: its attr table is at offset %" PRIu64
				   ", but the file has only %" PRIu64 " bytes",
				   t->in.name, h->attrs.offset, t->in.size);
	for (uint64_t i = 0; i < h->attrs.size / h->attr_size; i++) {
		const int r = read_attr(t, h->attrs, h->attr_size, i, &ids_left, err);

		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * The feature table behind the data. A feature that is cut off or that nobody understands is left
 * out: the samples are worth more. So is all of it in a file whose writer never came to write it.
 * False when the file does not have all of it.
 */
static bool read_features(struct pev_trace *t, const struct pev_file_header *h)
{
	struct pev_err err = PEV_ERR_INIT;
	bool whole = true;
	uint64_t at;

	if (!h->data.size || !pev_add_u64(h->data.offset, h->data.size, &at))
		return true;
	for (unsigned int feat = 0; feat < 256; feat++) {
		struct pev_file_section where = { at, sizeof(where) }, s;
		struct pev_cursor c;
		const uint8_t *p;

		if (!(h->features[feat / 64] >> (feat % 64) & 1))
			continue;
		p = section(t, where, "feature table", &err);
		if (!p)
			return false;
		c = pev_cursor(p, sizeof(s));
		c.swap = t->head.swap;
		s = read_section(&c);
		at += sizeof(s);
		if (feat >= PEV_FEAT_MAX)
			continue;
		p = section(t, s, "feature", &err);
		if (p)
			(void)pev_feature_decode(&t->features, (enum pev_feat)feat, p, s.size,
						 t->head.swap, &err);
		else
			whole = false;
	}
	return whole;
}

/* Names the event, unless it has a better name than a guess. */
static void name_event(struct pev_trace *t, struct pev_trace_event *e, const char *name)
{
	_cleanup_free_ char *guess = pev_event_guess_name(&e->attr, &t->features);
	char *copy;

	if (e->name && (!guess || strcmp(e->name, guess) != 0))
		return;
	copy = strdup(name);
	if (!copy)
		return;
	free((void *)(uintptr_t)e->name);
	e->name = copy;
}

/* Names of events come from EVENT_DESC, whose entries are in the order of the attrs. */
static void name_events(struct pev_trace *t)
{
	const struct pev_feat_event_desc *const desc = &t->features.event_desc;

	for (size_t i = 0; i < t->nr_events && i < desc->nr; i++)
		if (desc->events[i].name)
			name_event(t, &t->events[i], desc->events[i].name);
}

/* Those that nothing in the head names. */
static void guess_names(struct pev_trace *t)
{
	for (size_t i = 0; i < t->nr_events; i++)
		if (!t->events[i].name)
			t->events[i].name = pev_event_guess_name(&t->events[i].attr, &t->features);
}

static int learn_attr(struct pev_trace *t, const uint8_t *bytes, const struct pev_rec_hdr *hdr,
		      struct pev_err *err)
{
	struct pev_cursor c = pev_cursor(bytes + sizeof(*hdr), hdr->size - sizeof(*hdr));
	struct pev_cursor peek = c;
	struct pev_attr attr;
	uint32_t size;
	int r;

	/* The attr says its own size, and the ids take what is left. */
	(void)pev_cursor_u32(&peek);
	peek.swap = c.swap = t->head.swap;
	size = pev_cursor_u32(&peek);
	if (!size)
		size = PEV_ATTR_SIZE_VER0;
	r = pev_attr_decode(&c, size, &attr, err);
	if (r < 0)
		return pev_err_wrap(err, "%s: ATTR record", t->in.name);
	return add_event_bytes(t, &attr, c.p, pev_cursor_left(&c) / sizeof(uint64_t), err);
}

static void learn_update(struct pev_trace *t, const uint8_t *bytes, const struct pev_rec_hdr *hdr)
{
	struct pev_cursor c = pev_cursor(bytes + sizeof(*hdr), hdr->size - sizeof(*hdr));
	const struct pev_id *id;
	struct pev_trace_event *e;
	uint64_t which;
	const char *s;

	c.swap = t->head.swap;
	which = pev_cursor_u64(&c);
	id = pev_ids_find(&t->ids, pev_cursor_u64(&c));
	if (c.failed || !id)
		return;
	e = &t->events[id->event];
	if (which == PEV_EVENT_UPDATE_SCALE) {
		const uint64_t bits = pev_cursor_u64(&c);

		if (!c.failed)
			memcpy(&e->scale, &bits, sizeof(e->scale));
		return;
	}
	s = pev_cursor_left(&c) ? pev_cursor_str(&c, pev_cursor_left(&c)) : NULL;
	if (s && which == PEV_EVENT_UPDATE_NAME)
		name_event(t, e, s);
	else if (s && which == PEV_EVENT_UPDATE_UNIT && !e->unit)
		e->unit = strdup(s);
}

static void learn_feature(struct pev_trace *t, const uint8_t *bytes, const struct pev_rec_hdr *hdr)
{
	struct pev_cursor c = pev_cursor(bytes + sizeof(*hdr), hdr->size - sizeof(*hdr));
	uint64_t feat;

	c.swap = t->head.swap;
	feat = pev_cursor_u64(&c);
	if (!c.failed && feat < PEV_FEAT_MAX)
		(void)pev_feature_decode(&t->features, (enum pev_feat)feat, c.p,
					 pev_cursor_left(&c), t->head.swap, NULL);
	if (feat == PEV_FEAT_EVENT_DESC)
		name_events(t);
}

int pev_trace_learn(struct pev_trace *t, const uint8_t *bytes, const struct pev_rec_hdr *hdr,
		    const uint8_t *payload, size_t payload_size, struct pev_err *err)
{
	int r = 0;

	switch (hdr->type) {
	case PEV_REC_HEADER_ATTR:
		r = learn_attr(t, bytes, hdr, err);
		if (r == 0 && t->head.data_offset) /* late, and nothing more may come */
			guess_names(t);
		break;
	case PEV_REC_EVENT_UPDATE:
		learn_update(t, bytes, hdr);
		break;
	case PEV_REC_HEADER_FEATURE:
		learn_feature(t, bytes, hdr);
		break;
	case PEV_REC_HEADER_TRACING_DATA:
		(void)pev_feature_decode(&t->features, PEV_FEAT_TRACING_DATA, payload, payload_size,
					 t->head.swap, NULL);
		break;
	case PEV_REC_HEADER_EVENT_TYPE:
		break;
	default:
		return 0;
	}
	return r < 0 ? r : 1;
}

void pev_trace_hdr(const struct pev_trace *t, const uint8_t *p, struct pev_rec_hdr *ret)
{
	memcpy(ret, p, sizeof(*ret));
	if (t->head.swap) {
		ret->type = __builtin_bswap32(ret->type);
		ret->misc = __builtin_bswap16(ret->misc);
		ret->size = __builtin_bswap16(ret->size);
	}
}

/* AUXTRACE {u64 size}, TRACING_DATA {u32 size, padded to 8}. */
uint64_t pev_trace_payload(const struct pev_trace *t, const uint8_t *bytes, size_t have,
			   const struct pev_rec_hdr *hdr)
{
	struct pev_cursor c = pev_cursor(bytes + sizeof(*hdr), have - sizeof(*hdr));

	c.swap = t->head.swap;
	if (hdr->type == PEV_REC_AUXTRACE && hdr->size >= 16)
		return pev_cursor_u64(&c);
	if (hdr->type == PEV_REC_HEADER_TRACING_DATA && hdr->size >= 12)
		return ((uint64_t)pev_cursor_u32(&c) + 7) & ~7ULL;
	return 0;
}

/* Reads the records that stand in for tables, from where the input is up to the first one that is
 * data. */
static int read_head_records(struct pev_trace *t, struct pev_err *err)
{
	for (;;) {
		struct pev_block_head block;
		struct pev_rec_hdr hdr;
		const uint8_t *p;
		uint64_t payload;
		size_t have;
		int r;

		p = pev_input_peek(&t->in, 16, &have, err);
		if (!p)
			return err->code;
		if (have < 16)
			return 0;
		pev_trace_hdr(t, p, &hdr);
		payload = pev_trace_payload(t, p, have, &hdr);
		if (hdr.size < sizeof(hdr) || hdr.type == PEV_REC_AUXTRACE || payload > SECTION_MAX)
			return 0;
		p = pev_input_peek(&t->in, hdr.size + payload, &have, err);
		if (!p)
			return err->code;
		/* A block whose type is damaged is no part of the head either. */
		if (have < hdr.size + payload ||
		    pev_block_head_read(p, hdr.size, false, &block) > 0)
			return 0;
		r = pev_trace_learn(t, p, &hdr, p + hdr.size, payload, err);
		if (r <= 0)
			return r;
		(void)pev_input_skip(&t->in, hdr.size + payload);
	}
}

/*
 * The bitmap is an array of longs of the writer: on a big-endian 32-bit machine the halves of each
 * word are the other way round. As perf does (perf_file_header__read()), the one that has HOSTNAME
 * set is taken to be right.
 */
static void fix_features(uint64_t features[4])
{
	if (features[0] >> PEV_FEAT_HOSTNAME & 1)
		return;
	for (size_t i = 0; i < 4; i++)
		features[i] = features[i] << 32 | features[i] >> 32;
	if (features[0] >> PEV_FEAT_HOSTNAME & 1)
		return;
	memset(features, 0, 4 * sizeof(*features));
	features[0] = 1ULL << PEV_FEAT_BUILD_ID;
}

static int read_file_header(struct pev_trace *t, uint64_t size, struct pev_file_header *ret,
			    struct pev_err *err)
{
	struct pev_file_header h = { .size = size };
	struct pev_cursor c;
	const uint8_t *p;
	size_t have;

	/* Before perf 2.6.33 the header ended before the bitmap. */
	if (size < offsetof(struct pev_file_header, features))
		return pev_err_set(err, -EBADMSG, "%s: its header claims %" PRIu64 " bytes",
				   t->in.name, size);
	p = pev_input_peek(&t->in, sizeof(h), &have, err);
	if (!p)
		return err->code;
	if (have < PEV_MIN(size, sizeof(h)))
		return pev_err_set(err, -ENODATA, "%s is cut short: it ends within its header",
				   t->in.name);
	c = pev_cursor(p, PEV_MIN(size, sizeof(h)));
	c.swap = t->head.swap;
	h.magic = pev_cursor_u64(&c);
	h.size = pev_cursor_u64(&c);
	h.attr_size = pev_cursor_u64(&c);
	h.attrs = read_section(&c);
	h.data = read_section(&c);
	h.event_types = read_section(&c);
	for (size_t i = 0; i < 4 && pev_cursor_left(&c) >= 8; i++)
		h.features[i] = pev_cursor_u64(&c);
	if (t->head.swap)
		fix_features(h.features);
	*ret = h;
	return 0;
}

/* A regular file of ours has its first ATTR record right behind the header. */
static bool has_filler_behind(struct pev_trace *t, const struct pev_file_header *h)
{
	struct pev_rec_hdr hdr;
	const uint8_t *p;
	size_t have;

	if (h->data.offset <= sizeof(*h))
		return false;
	pev_input_seek(&t->in, sizeof(*h));
	p = pev_input_peek(&t->in, sizeof(hdr), &have, NULL);
	if (!p || have < sizeof(hdr))
		return false;
	pev_trace_hdr(t, p, &hdr);
	return hdr.type == PEV_REC_HEADER_ATTR && hdr.size >= sizeof(hdr) + PEV_ATTR_SIZE_VER7;
}

/* Reads the head from its records instead of the tables. Stands behind them then. */
static int read_head_again(struct pev_trace *t, struct pev_err *err)
{
	pev_trace_forget_head(t);
	pev_input_seek(&t->in, sizeof(struct pev_file_header));
	return read_head_records(t, err);
}

static int read_file(struct pev_trace *t, uint64_t header_size, struct pev_err *err)
{
	struct pev_file_header h = { 0 };
	uint64_t start;
	int r;

	if (!t->in.seekable)
		return pev_err_set(
			err, -ESPIPE,
			"%s: a regular perf.data cannot be read from a pipe; name the file instead",
			t->in.name);
	r = read_file_header(t, header_size, &h, err);
	if (r < 0)
		return r;
	start = h.data.offset;
	t->head.ours = has_filler_behind(t, &h);
	t->head.sealing = t->head.ours && !h.features[0];
	r = read_attrs(t, &h, err);
	if (r == 0)
		t->head.cut_tables = !read_features(t, &h);
	if (t->head.ours && (r < 0 || t->head.cut_tables || t->head.sealing)) {
		t->head.cut_tables = !t->head.sealing;
		r = read_head_again(t, err);
		start = PEV_MAX(start, t->in.offset);
	}
	if (r < 0)
		return r;
	name_events(t);
	/* A writer that was killed left the size at 0: all that follows is data. */
	if (!h.data.size || !pev_add_u64(h.data.offset, h.data.size, &t->end))
		t->end = UINT64_MAX;
	if (t->end != UINT64_MAX && t->end > t->in.size)
		t->damage.missing_bytes = t->end - t->in.size;
	t->head.data_offset = start;
	t->head.data_size = h.data.size;
	pev_input_seek(&t->in, start);
	return 0;
}

static int read_pipe(struct pev_trace *t, struct pev_err *err)
{
	struct pev_rec_hdr hdr;
	const uint8_t *p;
	size_t have;
	int r;

	t->head.pipe = true;
	t->end = UINT64_MAX;
	(void)pev_input_skip(&t->in, sizeof(struct pev_pipe_header));
	p = pev_input_peek(&t->in, sizeof(hdr), &have, err);
	if (!p)
		return err ? err->code : -EIO;
	if (have == sizeof(hdr)) {
		pev_trace_hdr(t, p, &hdr);
		t->head.ours = hdr.type == PEV_REC_HEADER_EVENT_TYPE;
	}
	r = read_head_records(t, err);
	t->head.data_offset = t->in.offset;
	return r;
}

int pev_trace_read_head(struct pev_trace *t, struct pev_err *err)
{
	struct pev_cursor c;
	const uint8_t *p;
	uint64_t magic, size;
	size_t have;
	int r;

	t->head.file_size = t->in.size;
	p = pev_input_peek(&t->in, sizeof(struct pev_pipe_header), &have, err);
	if (!p)
		return err ? err->code : -EIO;
	if (!have)
		return pev_err_set(err, -ENODATA, "%s is empty: there is nothing in it to read",
				   t->in.name);
	if (have < sizeof(struct pev_pipe_header))
		return pev_err_set(err, -ENODATA, "%s is cut short: it has only %zu bytes",
				   t->in.name, have);
	c = pev_cursor(p, have);
	magic = pev_cursor_u64(&c);
	t->head.swap = magic == PEV_MAGIC_SWAPPED;
	t->head.version = magic == PEV_MAGIC_V1 ? 1 : 2;
	c.swap = t->head.swap;
	size = pev_cursor_u64(&c);
	if (magic == PEV_MAGIC_V1 && size >> 32) {
		/* Version 1 had the same magic on every machine: its byte order shows in the size.
		 */
		t->head.swap = true;
		size = __builtin_bswap64(size);
	}
	if (magic != PEV_MAGIC && magic != PEV_MAGIC_SWAPPED && magic != PEV_MAGIC_V1)
		return pev_err_set(err, -EBADMSG,
				   "%s is no perf.data: it does not start with PERFILE2",
				   t->in.name);
	r = size == sizeof(struct pev_pipe_header) ? read_pipe(t, err) : read_file(t, size, err);
	if (r == 0)
		guess_names(t);
	return r;
}
