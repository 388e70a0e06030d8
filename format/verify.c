// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format/verify.h"

#include "base/checked.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

void pev_verify_done(struct pev_verify *v)
{
	free(v->bad_blocks);
	pev_build_ids_done(&v->build_ids);
	*v = (struct pev_verify){ 0 };
}

static void note(struct pev_verify *v, const struct pev_err *what)
{
	if (!v->first.code)
		v->first = *what;
}

static int add_bad_block(struct pev_verify *v, uint64_t offset)
{
	uint64_t *p;

	if (v->nr_bad_blocks && v->bad_blocks[v->nr_bad_blocks - 1] == offset)
		return 0;
	p = realloc(v->bad_blocks, (v->nr_bad_blocks + 1) * sizeof(*p));
	if (!p)
		return -ENOMEM;
	v->bad_blocks = p;
	p[v->nr_bad_blocks++] = offset;
	return 0;
}

static void count_sample(struct pev_verify_stats *s, uint64_t time)
{
	s->samples++;
	if (!time)
		return;
	if (!s->first_ns || time < s->first_ns)
		s->first_ns = time;
	if (time > s->last_ns)
		s->last_ns = time;
}

static void check_record(struct pev_verify *v, const struct pev_trace_head *head,
			 const struct pev_trace_record *rec)
{
	struct pev_err what = PEV_ERR_INIT;
	struct pev_record decoded;
	int r;

	v->stats.records++;
	v->stats.raw_bytes += rec->size;
	if (rec->hdr.type >= PEV_REC_USER_START) {
		v->stats.unknown += !pev_rec_type_name(rec->hdr.type);
		return;
	}
	if (!rec->event) {
		v->stats.no_event++;
		(void)pev_err_set(
			&what, -EBADMSG,
			"at offset %" PRIu64 ": record %s belongs to no event of this trace",
			rec->offset,
			pev_rec_type_name(rec->hdr.type) ? pev_rec_type_name(rec->hdr.type)
							 : "of an unknown type");
		note(v, &what);
		return;
	}
	r = pev_record_decode(&rec->event->attr, rec->bytes, rec->size, head->swap, &decoded,
			      &what);
	if (r == -EPROTONOSUPPORT) {
		v->stats.unknown++;
		return;
	}
	if (r < 0) {
		v->stats.undecodable++;
		(void)pev_err_wrap(&what, "at offset %" PRIu64, rec->offset);
		note(v, &what);
		return;
	}
	if (decoded.hdr.type == PEV_REC_SAMPLE)
		count_sample(&v->stats, decoded.id.time);
	else if (decoded.hdr.type == PEV_REC_LOST)
		v->stats.lost += decoded.lost.lost;
	else if (decoded.hdr.type == PEV_REC_LOST_SAMPLES)
		v->stats.lost_samples += decoded.lost_samples.lost;
	else if (decoded.hdr.type == PEV_REC_MMAP2)
		pev_build_ids_see(&v->build_ids, &decoded);
}

/* The sentence for an end that was not the end. */
static void note_cut(struct pev_verify *v, const struct pev_trace_head *head)
{
	const struct pev_trace_damage *const d = &v->damage;
	struct pev_err what = PEV_ERR_INIT;

	if (d->tail_bytes)
		(void)pev_err_set(
			&what, -EBADMSG,
			"at offset %" PRIu64 ": the last %" PRIu64
			" bytes are no records: a seal was interrupted there, or they are rubbish",
			d->first_offset, d->tail_bytes);
	else if (d->cut_bytes)
		(void)pev_err_set(&what, -ENODATA,
				  "at offset %" PRIu64 ": cut short: %" PRIu64
				  " bytes of a record are left",
				  d->first_offset, d->cut_bytes);
	if (d->missing_bytes)
		(void)pev_err_set(&what, -ENODATA,
				  "at offset %" PRIu64 ": cut short: %" PRIu64
				  " bytes of data are missing, and all that came after them",
				  head->file_size, d->missing_bytes);
	else if (head->cut_tables && !what.code)
		(void)pev_err_set(&what, -ENODATA,
				  "at offset %" PRIu64
				  ": cut short: the tables behind the data are missing",
				  head->file_size);
	if (what.code)
		note(v, &what);
}

static enum pev_verdict judge(const struct pev_verify *v, const struct pev_trace_head *head)
{
	if (v->nr_bad_blocks || v->stats.undecodable || v->stats.no_event)
		return PEV_DAMAGED;
	if (v->damage.cut_bytes || v->damage.missing_bytes || v->damage.tail_bytes ||
	    head->cut_tables)
		return PEV_CUT;
	/* perf record leaves a regular header with no size when it is killed. */
	return head->pipe || head->sealing || !head->data_size ? PEV_UNFINISHED : PEV_WHOLE;
}

int pev_verify_run(struct pev_trace *t, void (*progress)(void *userdata, uint64_t offset),
		   void *userdata, struct pev_verify *ret, struct pev_err *err)
{
	const uint64_t step = 1 << 20;
	struct pev_verify v = { 0 };
	struct pev_trace_head head;
	uint64_t shown = 0, block = UINT64_MAX;
	int r;

	for (;;) {
		struct pev_trace_record rec;
		struct pev_err what = PEV_ERR_INIT;

		r = pev_trace_next(t, &rec, &what);
		if (r == 0)
			break;
		if (r == -EBADMSG || r == -ENODATA) {
			note(&v, &what);
			if (add_bad_block(&v, pev_trace_at(t)) == 0)
				continue;
			r = pev_err_set(&what, -ENOMEM, "no memory");
		}
		if (r < 0) {
			if (err)
				*err = what;
			pev_verify_done(&v);
			return r;
		}
		head = pev_trace_head(t);
		if (rec.compressed && rec.offset != block) {
			v.stats.blocks++;
			v.stats.our_blocks += rec.our_block;
			block = rec.offset;
		}
		check_record(&v, &head, &rec);
		if (progress && rec.offset - shown >= step) {
			progress(userdata, rec.offset);
			shown = rec.offset;
		}
	}
	head = pev_trace_head(t);
	v.damage = pev_trace_damage(t);
	note_cut(&v, &head);
	v.verdict = judge(&v, &head);
	*ret = v;
	return 0;
}
