// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format/damage.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <errno.h>
#include <inttypes.h>

static const char *s(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void begin_part(struct pev_buf *buf)
{
	if (buf->size)
		pev_buf_put(buf, ", ", 2);
}

bool pev_damage_words(const char *path, const struct pev_trace_damage *d, uint64_t undecodable,
		      uint64_t no_event, struct pev_err *ret)
{
	const bool corrupt = d->blocks || d->tail_bytes || undecodable || no_event;
	_cleanup_buf_ struct pev_buf buf = { 0 };

	if (d->blocks) {
		begin_part(&buf);
		pev_buf_printf(&buf, "%" PRIu64 " block%s of %" PRIu64 " bytes %s damaged",
			       d->blocks, s(d->blocks), d->block_bytes,
			       d->blocks == 1 ? "is" : "are");
	}
	if (undecodable) {
		begin_part(&buf);
		pev_buf_printf(&buf, "%" PRIu64 " record%s contradict%s", undecodable,
			       s(undecodable), undecodable == 1 ? "s itself" : " themselves");
	}
	if (no_event) {
		begin_part(&buf);
		pev_buf_printf(&buf, "%" PRIu64 " record%s belong%s to none of its events",
			       no_event, s(no_event), no_event == 1 ? "s" : "");
	}
	if (d->cut_bytes) {
		begin_part(&buf);
		pev_buf_printf(&buf, "it ends %" PRIu64 " byte%s into a record", d->cut_bytes,
			       s(d->cut_bytes));
	}
	if (d->missing_bytes) {
		begin_part(&buf);
		pev_buf_printf(&buf, "%" PRIu64 " byte%s that its header promises %s missing",
			       d->missing_bytes, s(d->missing_bytes),
			       d->missing_bytes == 1 ? "is" : "are");
	}
	if (d->tail_bytes) {
		begin_part(&buf);
		pev_buf_printf(&buf, "the last %" PRIu64 " byte%s %s no record", d->tail_bytes,
			       s(d->tail_bytes), d->tail_bytes == 1 ? "is" : "are");
	}
	if (!buf.size)
		return false;
	if (d->first_offset)
		pev_buf_printf(&buf, " (the first damage is at offset %" PRIu64 ")",
			       d->first_offset);
	pev_buf_u8(&buf, 0);
	(void)pev_err_set(ret, corrupt ? -EBADMSG : -ENODATA, "%s: %s; the rest of it was read",
			  path, pev_buf_status(&buf) < 0 ? "damaged" : (const char *)buf.data);
	return true;
}
