// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recorder/loss.h"

#include "base/checked.h"
#include "base/cleanup.h"

static int put_own(struct pev_drain *d, size_t event, const struct pev_record *r,
		   struct pev_err *err)
{
	_cleanup_buf_ struct pev_buf buf = { 0 };
	int e;

	e = pev_record_encode(&d->events->events[event].attr, r, &buf);
	if (e < 0)
		return pev_err_set(err, e, "cannot write what was lost: %s", pev_errno_str(e));
	return pev_drain_put(d, buf.data, buf.size, err);
}

/*
 * The kernel tells of loss with the next record that fits: what was lost after the last one of a
 * ring, nobody told. A LOST record for the rest makes the CPUs add up to what the counters say;
 * @total is that of the ring, @c one of its counters that lost some.
 */
static int tell_rest(struct pev_drain *d, const struct pev_counter *c, uint64_t total,
		     struct pev_err *err)
{
	struct pev_loss *const ring = &d->ring_loss[c->ring];
	const struct pev_record lost = {
		.hdr.type = PEV_REC_LOST,
		.id = { .id = c->id, .cpu = (uint32_t)c->cpu, .time = d->stats.last_sample_ns },
		.lost = { .id = c->id, .lost = total - PEV_MIN(total, ring->lost_records) },
	};

	if (!lost.lost.lost)
		return 0;
	ring->lost_records += lost.lost.lost;
	return put_own(d, c->event, &lost, err);
}

int pev_loss_write(struct pev_drain *d, uint64_t *event_lost, uint64_t *ret_lost,
		   struct pev_err *err)
{
	uint64_t lost_all = 0;

	for (size_t ring = 0; ring < d->counters->nr_rings; ring++) {
		const struct pev_counter *last = NULL;
		uint64_t total = 0;
		int r;

		for (size_t i = 0; i < d->counters->nr; i++) {
			const struct pev_counter *const c = &d->counters->counters[i];
			const struct pev_attr *const attr = &d->events->events[c->event].attr;
			struct pev_record lost = {
				.hdr.type = PEV_REC_LOST_SAMPLES,
				.id = { .id = c->id,
					.cpu = (uint32_t)c->cpu,
					.time = d->stats.last_sample_ns },
			};

			if (c->ring != ring)
				continue;
			lost.lost_samples.lost = pev_counter_lost(c, attr);
			if (!lost.lost_samples.lost)
				continue;
			event_lost[c->event] += lost.lost_samples.lost;
			total += lost.lost_samples.lost;
			last = c;
			r = put_own(d, c->event, &lost, err);
			if (r < 0)
				return r;
		}
		lost_all += total;
		r = last ? tell_rest(d, last, total, err) : 0;
		if (r < 0)
			return r;
	}
	if (!lost_all) /* a kernel without PERF_FORMAT_LOST, or nothing was lost at all */
		lost_all = d->stats.lost_records;
	*ret_lost = lost_all;
	return 0;
}
