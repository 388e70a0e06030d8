// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From the records of a trace as they are in its files to records in order. A record is looked at
 * just enough to know its event and its time, and waits in a struct pev_time_order until a round
 * says that nothing older can come; what has no time does not wait. Samples that nobody wants are
 * dropped before they wait, and blocks of nothing else before they are unpacked.
 */
#include "format/source.h"

#include "base/checked.h"
#include "format/dir.h"
#include "format/trace_part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PROGRESS_STEP ((uint64_t)1 << 20)

/* Bytes of the fields of @type among @fields, each of which takes 8. */
static int bytes_of(uint64_t type, uint64_t fields)
{
	return 8 * __builtin_popcountll(type & fields);
}

/* The order of the fields is that of perf_output_sample() and perf_event__output_id_sample(). */
static struct pev_layout layout_of(const struct pev_attr *attr)
{
	const uint64_t type = attr->sample_type;
	const uint64_t before_time = PEV_SAMPLE_IDENTIFIER | PEV_SAMPLE_IP | PEV_SAMPLE_TID;
	const uint64_t before_cpu = before_time | PEV_SAMPLE_TIME | PEV_SAMPLE_ADDR |
				    PEV_SAMPLE_ID | PEV_SAMPLE_STREAM_ID;
	const uint64_t after_time =
		PEV_SAMPLE_ID | PEV_SAMPLE_STREAM_ID | PEV_SAMPLE_CPU | PEV_SAMPLE_IDENTIFIER;
	const int header = sizeof(struct pev_rec_hdr);
	struct pev_layout l = { -1, -1, -1, type & PEV_SAMPLE_READ };

	if (type & PEV_SAMPLE_TIME) {
		l.time = header + bytes_of(type, before_time);
		if (attr->flags & PEV_ATTR_SAMPLE_ID_ALL)
			l.trailer_time = 8 + bytes_of(type, after_time);
	}
	if (type & PEV_SAMPLE_CPU)
		l.cpu = header + bytes_of(type, before_cpu);
	return l;
}

/* Of the events that came to be known since the last call. */
static int learn_layouts(struct pev_source *s, const struct pev_trace *t)
{
	struct pev_layout *p;

	if (s->nr_layouts == t->nr_events)
		return 0;
	p = realloc(s->layouts, t->nr_events * sizeof(*p));
	if (!p)
		return -ENOMEM;
	s->layouts = p;
	for (; s->nr_layouts < t->nr_events; s->nr_layouts++) {
		p[s->nr_layouts] = layout_of(&t->events[s->nr_layouts].attr);
		s->reads |= p[s->nr_layouts].reads;
	}
	return 0;
}

/* True when the choice leaves nothing of times from @first_ns to @last_ns of the trace. */
static bool out_of_time(const struct pev_source *s, uint64_t first_ns, uint64_t last_ns)
{
	const struct pev_choice *const c = s->choice;

	return last_ns + s->shift < c->since_ns || first_ns + s->shift >= c->until_ns;
}

/* Nothing but samples that nobody wants, and what rounds and losses there are among them. */
static bool skip_block(void *userdata, const struct pev_block_head *head)
{
	const struct pev_source *const s = userdata;
	const struct pev_choice *const c = s->choice;

	if (head->states || !head->samples || s->reads)
		return false;
	if (head->first_ns && out_of_time(s, head->first_ns, head->last_ns))
		return true;
	return c->cpus && !(head->cpus & c->cpus_mod_64) && !head->losses;
}

int pev_source_open(const char *path, const struct pev_choice *choice,
		    struct pev_progress *progress, struct pev_source *ret, struct pev_err *err)
{
	const struct pev_trace_options options = { .skip_block = skip_block, .userdata = ret };
	int r;

	*ret = (struct pev_source){ .choice = choice, .progress = progress };
	ret->path = strdup(strcmp(path, "-") != 0 ? path : "standard input");
	if (!ret->path)
		return pev_err_set(err, -ENOMEM, "no memory to read %s", path);
	r = pev_dir_open(path, &options, &ret->parts, &ret->nr_parts, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < ret->nr_parts; i++) {
		pev_trace_rest(ret->parts[i]);
		if (!pev_add_u64(progress->total, ret->parts[i]->in.size, &progress->total))
			progress->total = UINT64_MAX;
	}
	if (learn_layouts(ret, ret->parts[0]) < 0)
		return pev_err_set(err, -ENOMEM, "no memory to read %s", path);
	return 0;
}

void pev_source_close(struct pev_source *s)
{
	pev_time_order_free(s->order);
	for (size_t i = 0; i < s->nr_parts; i++)
		pev_trace_free(s->parts[i]);
	free(s->parts);
	free(s->layouts);
	free((void *)(uintptr_t)s->path);
	*s = (struct pev_source){ 0 };
}

static bool has_sample_time(const struct pev_source *s)
{
	const struct pev_features *const f = &s->parts[0]->features;

	/* perf leaves both 0 where it did not look at the samples. */
	return pev_features_has(f, PEV_FEAT_SAMPLE_TIME) && f->sample_time.first_ns &&
	       f->sample_time.first_ns <= f->sample_time.last_ns;
}

uint64_t pev_source_first_ns(const struct pev_source *s)
{
	return has_sample_time(s) ? s->parts[0]->features.sample_time.first_ns : 0;
}

bool pev_source_wants(const struct pev_source *s, uint64_t time, bool has_cpu, uint32_t cpu)
{
	const struct pev_choice *const c = s->choice;

	if (time && out_of_time(s, time, time))
		return false;
	return !c->cpus || (has_cpu && cpu < c->nr_cpus && c->cpus[cpu / 64] >> (cpu % 64) & 1);
}

static void add_damage(struct pev_trace_damage *sum, const struct pev_trace_damage *d)
{
	sum->cut_bytes += d->cut_bytes;
	sum->missing_bytes += d->missing_bytes;
	sum->tail_bytes += d->tail_bytes;
	sum->blocks += d->blocks;
	sum->block_bytes += d->block_bytes;
	if (!sum->first_offset)
		sum->first_offset = d->first_offset;
}

struct pev_source_counts pev_source_counts(const struct pev_source *s)
{
	struct pev_source_counts sum = s->counts;

	for (size_t i = 0; i < s->nr_parts; i++) {
		sum.skipped_blocks += s->parts[i]->skipped_blocks;
		sum.skipped_samples += s->parts[i]->skipped_samples;
	}
	return sum;
}

struct pev_trace_damage pev_source_damage(const struct pev_source *s)
{
	struct pev_trace_damage sum = s->damage, d;

	if (s->part < s->nr_parts) {
		d = pev_trace_damage(s->parts[s->part]);
		add_damage(&sum, &d);
	}
	return sum;
}

static uint64_t u64_at(const struct pev_trace *t, const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return t->head.swap ? __builtin_bswap64(v) : v;
}

static uint32_t u32_at(const struct pev_trace *t, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return t->head.swap ? __builtin_bswap32(v) : v;
}

/* Its time; 0 when it has none, or one that perf writes where it knows none. */
static uint64_t time_of(const struct pev_source *s, const struct pev_trace *t,
			const struct pev_trace_record *rec, size_t event)
{
	const struct pev_layout *const l = &s->layouts[event];
	uint64_t time = 0;

	if (pev_rec_may_be_oversized(rec->hdr.type)) {
		struct pev_record decoded;

		if (l->trailer_time >= 0 &&
		    pev_record_decode(&t->events[event].attr, rec->bytes, rec->size, t->head.swap,
				      &decoded, NULL) == 0)
			time = decoded.id.time;
	} else if (rec->hdr.type == PEV_REC_SAMPLE) {
		if (l->time >= 0 && (size_t)l->time + 8 <= rec->size)
			time = u64_at(t, rec->bytes + l->time);
	} else if (l->trailer_time >= 0 &&
		   sizeof(rec->hdr) + (size_t)l->trailer_time <= rec->size) {
		time = u64_at(t, rec->bytes + rec->size - l->trailer_time);
	}
	return time == UINT64_MAX ? 0 : time;
}

static bool wanted_sample(const struct pev_source *s, const struct pev_trace *t,
			  const struct pev_trace_record *rec, size_t event, uint64_t time)
{
	const struct pev_layout *const l = &s->layouts[event];
	const bool has_cpu = l->cpu >= 0 && (size_t)l->cpu + 4 <= rec->size;

	/* Each counts on from the one before: the reader drops them when it knows by how much. */
	return l->reads ||
	       pev_source_wants(s, time, has_cpu, has_cpu ? u32_at(t, rec->bytes + l->cpu) : 0);
}

/* One record of the file: 1 and *ret when it does not wait; 0 when it does, or is not wanted. */
static int look_at(struct pev_source *s, struct pev_trace *t, const struct pev_trace_record *rec,
		   struct pev_waiting *ret)
{
	struct pev_waiting w = {
		.bytes = rec->bytes,
		.size = (uint32_t)rec->size,
		.tag = PEV_NO_EVENT,
		.offset = rec->offset,
	};

	if (rec->hdr.type == PEV_REC_FINISHED_ROUND && s->nr_parts == 1)
		pev_time_order_round(s->order);
	if (rec->hdr.type < PEV_REC_USER_START) {
		if (!t->nr_events || !rec->hdr.type || rec->hdr.type >= PEV_REC_KERNEL_MAX) {
			s->counts.unknown++;
			return 0;
		}
		/* The ids of all events are in the same place, or nobody could have found it: so
		 * records other than samples can be read all the same. */
		if (!rec->event) {
			s->counts.no_event++;
			if (rec->hdr.type == PEV_REC_SAMPLE)
				return 0;
		}
		w.tag = rec->event ? (uint32_t)(rec->event - t->events) : 0;
		w.time = time_of(s, t, rec, w.tag);
		if (rec->hdr.type == PEV_REC_SAMPLE && !wanted_sample(s, t, rec, w.tag, w.time)) {
			s->counts.skipped_samples++;
			return 0;
		}
	} else if (!pev_rec_type_name(rec->hdr.type)) {
		s->counts.unknown++;
		return 0;
	}
	if (w.time)
		return pev_time_order_put(s->order, &w);
	*ret = w;
	return 1;
}

static void tell_progress(struct pev_source *s, uint64_t at)
{
	struct pev_progress *const p = s->progress;

	p->bytes += at - s->told;
	s->told = at;
	if (p->tell)
		p->tell(p->userdata, p->bytes, p->total == UINT64_MAX ? 0 : p->total);
}

bool pev_source_skip(struct pev_source *s)
{
	const struct pev_features *const f = &s->parts[0]->features;

	if (!has_sample_time(s) || s->reads ||
	    !out_of_time(s, f->sample_time.first_ns, f->sample_time.last_ns))
		return false;
	s->ended = true;
	for (; s->part < s->nr_parts; s->part++) {
		tell_progress(s, s->parts[s->part]->in.size);
		s->told = 0;
	}
	return true;
}

/* The end of a part: what comes next. */
static void end_part(struct pev_source *s)
{
	struct pev_trace *const t = s->parts[s->part];
	const struct pev_trace_damage d = pev_trace_damage(t);

	add_damage(&s->damage, &d);
	pev_trace_rest(t);
	/* What lies behind the data is read as well, or need not be. */
	tell_progress(s, t->in.size == UINT64_MAX ? pev_trace_at(t) : t->in.size);
	s->told = 0;
	if (++s->part == s->nr_parts)
		pev_time_order_end(s->order);
}

int pev_source_next(struct pev_source *s, struct pev_waiting *ret, struct pev_err *err)
{
	int r;

	if (!s->order && !s->ended) {
		r = pev_time_order_new(&s->order);
		if (r < 0)
			return pev_err_set(err, r, "no memory to read %s", s->path);
	}
	while (!s->ended) {
		struct pev_trace_record rec;
		struct pev_trace *t;

		if (pev_time_order_take(s->order, ret))
			return 1;
		if (s->part == s->nr_parts) {
			s->ended = true;
			s->max_waiting = pev_time_order_max_bytes(s->order);
			s->order = pev_time_order_free(s->order);
			break;
		}
		t = s->parts[s->part];
		r = pev_trace_next(t, &rec, err);
		if (r == -EBADMSG || r == -ENODATA)
			continue;
		if (r < 0)
			return r;
		if (r == 0) {
			end_part(s);
			continue;
		}
		if (pev_trace_at(t) - s->told >= PROGRESS_STEP)
			tell_progress(s, pev_trace_at(t));
		r = learn_layouts(s, t);
		if (r == 0)
			r = look_at(s, t, &rec, ret);
		if (r < 0)
			return pev_err_set(err, r, "no memory to read %s", s->path);
		if (r > 0)
			return 1;
	}
	return 0;
}
