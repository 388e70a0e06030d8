// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recorder/emit.h"

/* A sink call costs a lock and maybe a write; this many bytes make it cheap per record. */
#define FLUSH_BYTES (64 * 1024)

int pev_emit_flush(struct pev_emit *e)
{
	int r;

	if (!e->buf.size)
		return 0;
	r = e->sink->put(e->sink->userdata, e->buf.data, e->buf.size);
	pev_buf_reset(&e->buf);
	return r < 0 ? r : 0;
}

int pev_emit(struct pev_emit *e, uint32_t pid, uint32_t tid, struct pev_record *rec)
{
	int r;

	rec->id = (struct pev_sample_id){
		.pid = pid,
		.tid = tid,
		.time = e->time,
		.id = e->id,
	};
	r = pev_record_encode(e->attr, rec, &e->buf);
	if (r < 0)
		return r;
	e->records++;
	return e->buf.size >= FLUSH_BYTES ? pev_emit_flush(e) : 0;
}

void pev_emit_done(struct pev_emit *e)
{
	pev_buf_done(&e->buf);
}
