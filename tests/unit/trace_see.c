// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "trace_see.h"

#include "base/cleanup.h"
#include "trace_make.h"

#include <errno.h>

PEV_DEFINE_CLEANUP(struct pev_trace *, pev_trace_free);

const struct pev_trace_options see_checked = { .check = true };

void see(struct pev_trace *t, struct seen *ret)
{
	*ret = (struct seen){ .err = PEV_ERR_INIT };
	for (;;) {
		const struct pev_trace_event *const events = pev_trace_head(t).events;
		struct pev_trace_record rec;
		size_t at;

		ret->r = pev_trace_next(t, &rec, &ret->err);
		if (ret->r == -EBADMSG || ret->r == -ENODATA) {
			assert_in_range(++ret->bad, 1, MAX_SEEN);
			continue;
		}
		if (ret->r <= 0)
			break;
		assert_in_range(ret->nr, 0, MAX_SEEN - 1);
		at = ret->nr++;
		ret->types[at] = rec.hdr.type;
		ret->sizes[at] = rec.size;
		ret->events[at] = rec.event ? (int)(rec.event - events) : -1;
		if (rec.hdr.type == PEV_REC_SAMPLE && rec.event) {
			struct pev_record decoded;

			assert_int_equal(pev_record_decode(&rec.event->attr, rec.bytes, rec.size,
							   pev_trace_head(t).swap, &decoded, NULL),
					 0);
			ret->ips[at] = decoded.sample.ip;
		}
	}
	ret->damage = pev_trace_damage(t);
}

void see_bytes(const struct pev_buf *buf, struct seen *ret)
{
	_cleanup_file_ struct test_file f = test_file(buf->data, buf->size);
	_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
	struct pev_err err = PEV_ERR_INIT;

	if (pev_trace_open(f.path, &see_checked, &t, &err) < 0)
		fail_msg("%s", err.msg);
	see(t, ret);
}

void check_ips(const struct seen *seen, unsigned int first, unsigned int last)
{
	assert_int_equal(seen->r, 0);
	assert_int_equal(seen->nr, last - first + 1);
	for (unsigned int i = first; i <= last; i++)
		assert_int_equal(seen->ips[i - first], i);
}
