// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/feed.h"

#include "base/cursor.h"

#include <errno.h>
#include <stdlib.h>

static int tell_head(struct pev_feed *f, uint32_t trace, struct pev_err *err)
{
	const struct pev_trace_head head = pev_reader_head(f->reader, trace);

	f->stale[trace] = false;
	return pev_resolver_trace(f->resolver, f->first_trace + trace,
				  pev_reader_path(f->reader, trace), head.features, err);
}

int pev_feed_init(struct pev_feed *f, struct pev_reader *reader, struct pev_resolver *resolver,
		  uint32_t first_trace, struct pev_err *err)
{
	const size_t nr = pev_reader_nr_traces(reader);

	*f = (struct pev_feed){
		.reader = reader,
		.resolver = resolver,
		.first_trace = first_trace,
		.nr_traces = nr,
		.stale = calloc(nr, sizeof(*f->stale)),
	};
	if (!f->stale)
		return pev_err_set(err, -ENOMEM, "no memory to follow %zu traces", nr);
	for (uint32_t i = 0; i < nr; i++) {
		const int r = tell_head(f, i, err);

		if (r < 0)
			return r;
	}
	return 0;
}

void pev_feed_done(struct pev_feed *f)
{
	free(f->stale);
	*f = (struct pev_feed){ 0 };
}

/*
 * HEADER_BUILD_ID: header, then
 *
 *	  0  s32  pid of the guest, or -1
 *	  4  u8[20], u8 size (with PEV_MISC_BUILD_ID_SIZE), u8[3]
 *	 28  the name, padded
 */
static int tell_build_id(struct pev_feed *f, const struct pev_reader_record *rec,
			 struct pev_err *err)
{
	struct pev_cursor c = pev_cursor(rec->bytes, rec->size);
	struct pev_feat_build_id id = { .misc = rec->rec.hdr.misc, .size = PEV_BUILD_ID_MAX };
	const uint8_t *bytes;

	c.swap = rec->swap;
	(void)pev_cursor_bytes(&c, sizeof(struct pev_rec_hdr));
	id.pid = (int32_t)pev_cursor_u32(&c);
	bytes = pev_cursor_bytes(&c, sizeof(id.id) + 4);
	id.name = pev_cursor_str(&c, pev_cursor_left(&c));
	/* A record that is too short for what it says is not worth a word: the file it tells of
	 * will be looked for by its path. */
	if (c.failed || !id.name)
		return 0;
	memcpy(id.id, bytes, sizeof(id.id));
	if (id.misc & PEV_MISC_BUILD_ID_SIZE && bytes[sizeof(id.id)] <= sizeof(id.id))
		id.size = bytes[sizeof(id.id)];
	return pev_resolver_build_id(f->resolver, f->first_trace + rec->trace, &id, err);
}

static int tell(struct pev_feed *f, const struct pev_reader_record *rec, struct pev_err *err)
{
	const uint32_t type = rec->rec.hdr.type;

	switch (type) {
	case PEV_READER_TRACE_END:
		pev_resolver_trace_end(f->resolver, f->first_trace + rec->trace);
		return 0;
	case PEV_REC_SAMPLE:
		break;
	case PEV_REC_HEADER_BUILD_ID:
		return tell_build_id(f, rec, err);
	default:
		if (type >= PEV_REC_USER_START) {
			f->stale[rec->trace] |= type == PEV_REC_HEADER_FEATURE;
			return 0;
		}
	}
	if (f->stale[rec->trace]) {
		const int r = tell_head(f, rec->trace, err);

		if (r < 0)
			return r;
	}
	if (type == PEV_REC_SAMPLE)
		return 0;
	if (type == PEV_REC_EXIT) {
		f->exit = rec->rec;
		f->exit_trace = f->first_trace + rec->trace;
		return 0;
	}
	return pev_resolver_see(f->resolver, f->first_trace + rec->trace, &rec->rec, err);
}

int pev_feed_next(struct pev_feed *f, struct pev_reader_record *ret, struct pev_err *err)
{
	int n, r = 0;

	if (f->exit.hdr.type == PEV_REC_EXIT)
		r = pev_resolver_see(f->resolver, f->exit_trace, &f->exit, err);
	f->exit.hdr.type = 0;
	n = r == 0 ? pev_reader_next(f->reader, ret, err) : r;
	r = n > 0 ? tell(f, ret, err) : 0;
	return r < 0 ? r : n;
}
