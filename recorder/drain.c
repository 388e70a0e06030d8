// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Happy path, per record: find its event by the identifier, decode it in place in the ring, count
 * it, copy it into the block. When the block is full its frame is compressed and appended to the
 * file; the space in the ring is given back before, so that the kernel goes on writing meanwhile.
 *
 * Three kinds of records are changed on their way. A SAMPLE with a stack dump: the kernel writes
 * the whole size asked for, used part first, then dyn_size (perf_output_sample_ustack()); what lies
 * beyond dyn_size never was stack and is left out. Oversized records (pev_rec_may_be_oversized()),
 * which lose what is too much: perf would look for their id in there. And an MMAP2 that claims a
 * build-id and has none, which loses that claim: perf would take its inode for one.
 */
#include "recorder/drain.h"

#include "base/checked.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

/* Space is given back to the kernel in steps of this share of the ring, not only at the end of a
 * long pass. */
#define RELEASE_SHARE 4

int pev_drain_init(struct pev_drain *d)
{
	d->ring_loss = calloc(d->counters->nr_rings + 1, sizeof(*d->ring_loss));
	d->event_loss = calloc(d->events->nr + 1, sizeof(*d->event_loss));
	if (!d->ring_loss || !d->event_loss) {
		pev_drain_done(d);
		return -ENOMEM;
	}
	return 0;
}

void pev_drain_done(struct pev_drain *d)
{
	free(d->ring_loss);
	free(d->event_loss);
	d->ring_loss = NULL;
	d->event_loss = NULL;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t)ts.tv_sec * PEV_NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static int write_block(struct pev_drain *d, bool all, struct pev_err *err)
{
	d->block_since_ns = 0;
	return pev_writer_block(d->writer, d->block, all, err);
}

int pev_drain_flush(struct pev_drain *d, uint64_t now, uint64_t max_age_ns, struct pev_err *err)
{
	if (pev_block_empty(d->block))
		return 0;
	if (max_age_ns && now < d->block_since_ns + max_age_ns)
		return 0;
	return write_block(d, true, err);
}

/*
 * Room for a record, after writing out a full block. That takes a while: before it the kernel gets
 * back what lies before the current record of @ring (NULL: the record is from no ring), which is
 * still to be copied.
 */
static int reserve(struct pev_drain *d, size_t size, struct pev_ring *ring, uint8_t **ret,
		   struct pev_err *err)
{
	uint8_t *p;
	int r;

	/* What a complete block left over may complete the next one at once. */
	while (!(p = pev_block_reserve(d->block, size))) {
		if (ring)
			pev_ring_release_before_last(ring);
		r = write_block(d, false, err);
		if (r < 0)
			return r;
	}
	if (!d->block_since_ns)
		d->block_since_ns = now_ns();
	*ret = p;
	return 0;
}

/* The size of the record once what lies beyond the used part of its stack dump is left out. */
static size_t trimmed_size(const struct pev_rec_hdr *hdr, const struct pev_stack_user *stack)
{
	const uint64_t kept = pev_align8(stack->dyn_size);

	if (!stack->data.size)
		return hdr->size;
	/* An empty dump has no dyn_size behind it either. */
	return hdr->size - (stack->data.size - kept) - (kept ? 0 : sizeof(uint64_t));
}

/* Writes the record to @out as trimmed_size() measured it. */
static void copy_trimmed(uint8_t *out, const uint8_t *record, struct pev_rec_hdr hdr,
			 const struct pev_stack_user *stack)
{
	const uint64_t kept = pev_align8(stack->dyn_size);
	const uint8_t *const dyn = record + stack->offset + sizeof(uint64_t) + stack->data.size;
	const uint8_t *const rest = dyn + sizeof(uint64_t);
	const size_t rest_size = (size_t)(record + hdr.size - rest);

	hdr.size = (uint16_t)trimmed_size(&hdr, stack);
	memcpy(out, &hdr, sizeof(hdr));
	memcpy(out + sizeof(hdr), record + sizeof(hdr), stack->offset - sizeof(hdr));
	out += stack->offset;
	memcpy(out, &kept, sizeof(kept));
	out += sizeof(kept);
	if (kept) {
		memcpy(out, stack->data.p, kept);
		out += kept;
		memcpy(out, dyn, sizeof(uint64_t));
		out += sizeof(uint64_t);
	}
	memcpy(out, rest, rest_size);
}

/* Counts what a record says besides its time. */
static void account(struct pev_drain *d, const struct pev_record *rec, const struct pev_id *id)
{
	switch (rec->hdr.type) {
	case PEV_REC_SAMPLE:
		d->stats.samples++;
		d->ring_loss[id->ring].samples++;
		d->event_loss[id->event].samples++;
		if (!d->stats.first_sample_ns || rec->id.time < d->stats.first_sample_ns)
			d->stats.first_sample_ns = rec->id.time;
		if (rec->id.time > d->stats.last_sample_ns)
			d->stats.last_sample_ns = rec->id.time;
		break;
	case PEV_REC_LOST:
		d->stats.lost_records += rec->lost.lost;
		d->ring_loss[id->ring].lost_records += rec->lost.lost;
		d->event_loss[id->event].lost_records += rec->lost.lost;
		break;
	case PEV_REC_LOST_SAMPLES:
		d->stats.lost_samples += rec->lost_samples.lost;
		break;
	case PEV_REC_THROTTLE:
		d->stats.throttles++;
		break;
	default:
		if (d->on_state && pev_rec_is_state(rec->hdr.type))
			d->on_state(d->userdata, rec);
		break;
	}
}

/*
 * The event that a record belongs to. Those that may be oversized do not end with their id: they
 * are the side-band's, which only the tracking event asks for, the last of the list; any of its ids
 * names it.
 */
static const struct pev_id *find_event(const struct pev_drain *d, const uint8_t *bytes,
				       const struct pev_rec_hdr *hdr, const struct pev_ring *ring,
				       struct pev_id *fallback)
{
	if (pev_rec_may_be_oversized(hdr->type)) {
		*fallback = (struct pev_id){ .event = (uint32_t)d->events->nr - 1,
					     .ring = (uint32_t)(ring - d->counters->rings) };
		return fallback;
	}
	return pev_ids_find(&d->counters->ids, pev_record_identifier(bytes, false));
}

static int take_record(struct pev_drain *d, const uint8_t *bytes, const struct pev_rec_hdr *hdr,
		       struct pev_ring *ring, struct pev_err *err)
{
	struct pev_record *const rec = &d->record;
	struct pev_rec_hdr written = *hdr;
	struct pev_id tracking;
	const struct pev_id *const id = find_event(d, bytes, hdr, ring, &tracking);
	size_t size = hdr->size;
	uint8_t *out;
	int r;

	d->stats.records++;
	if (!id) {
		/* Without its event nobody can read it, and perf refuses a file that holds such a
		 * record. */
		d->stats.unknown++;
		return 0;
	}
	r = pev_record_decode(&d->events->events[id->event].attr, bytes, size, false, rec, NULL);
	if (r < 0) {
		if (r == -EPROTONOSUPPORT)
			d->stats.unknown++;
		else
			d->stats.undecodable++;
		return 0;
	}
	account(d, rec, id);
	if (hdr->type == PEV_REC_SAMPLE)
		size = trimmed_size(hdr, &rec->sample.stack_user);
	else if (pev_rec_may_be_oversized(hdr->type))
		size -= rec->rest;
	r = reserve(d, size, ring, &out, err);
	if (r < 0)
		return r;
	written.misc = rec->hdr.misc;
	written.size = (uint16_t)size;
	if (hdr->type == PEV_REC_SAMPLE && size != hdr->size) {
		copy_trimmed(out, bytes, *hdr, &rec->sample.stack_user);
		d->stats.trimmed_bytes += hdr->size - size;
	} else {
		memcpy(out, bytes, size);
		memcpy(out, &written, sizeof(written));
	}
	pev_block_commit(d->block, &written, rec->id.time, rec->id.cpu);
	return 0;
}

int pev_drain_ring(struct pev_drain *d, size_t index, struct pev_err *err)
{
	struct pev_ring *const ring = &d->counters->rings[index];
	const uint64_t step = ring->size / RELEASE_SHARE;
	uint64_t released = ring->pos;
	struct pev_rec_hdr hdr;
	const uint8_t *bytes;
	int r = 0;

	if (!pev_ring_begin(ring))
		return 0;
	d->round_due = true;
	while (r == 0 && (bytes = pev_ring_next(ring, &hdr))) {
		r = take_record(d, bytes, &hdr, ring, err);
		if (ring->pos - released >= step) {
			pev_ring_release(ring);
			released = ring->pos;
		}
	}
	pev_ring_release(ring);
	return r;
}

int pev_drain_all(struct pev_drain *d, struct pev_err *err)
{
	const struct pev_rec_hdr round = { .type = PEV_REC_FINISHED_ROUND, .size = sizeof(round) };
	int r;

	for (size_t i = 0; i < d->counters->nr_rings; i++) {
		r = pev_drain_ring(d, i, err);
		if (r < 0)
			return r;
	}
	if (!d->round_due)
		return 0;
	d->round_due = false;
	return pev_drain_put(d, &round, sizeof(round), err);
}

int pev_drain_put(struct pev_drain *d, const void *records, size_t size, struct pev_err *err)
{
	const uint8_t *p = records;
	struct pev_rec_hdr hdr;
	uint8_t *out;
	int r;

	while (size > 0) {
		memcpy(&hdr, p, sizeof(hdr));
		r = reserve(d, hdr.size, NULL, &out, err);
		if (r < 0)
			return r;
		memcpy(out, p, hdr.size);
		pev_block_commit(d->block, &hdr, 0, 0);
		p += hdr.size;
		size -= hdr.size;
	}
	return 0;
}
