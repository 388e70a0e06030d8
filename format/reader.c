// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Merges traces by time and decodes what comes out. Of each trace that has begun, one record is
 * looked at ahead; the trace with the earliest one is read on until another's turn comes. A trace
 * whose head tells when its samples begin (SAMPLE_TIME) is not begun before that, so that a long
 * row of segments costs the memory of one.
 */
#include "format/reader.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "format/damage.h"
#include "format/group_read.h"
#include "format/source.h"
#include "format/trace_part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* CPUs beyond are no CPUs; NR_CPUS of Linux is at most 8192. */
#define CPU_MAX (1U << 20)

struct stream {
	struct pev_source source;
	struct pev_waiting next; /* looked at ahead, while ->has_next; of size 0 for the end */
	bool has_next, done;
	uint64_t key;                  /* the time of ->next, or that before it when it has none */
	struct pev_group_read *groups; /* what its counters had counted so far */
	struct pev_ids cpus;           /* of its counters, from ID_INDEX */
};

struct pev_reader {
	struct stream *streams;
	size_t nr;
	struct pev_choice choice;
	struct pev_clock clock;
	bool keep_groups;
	bool begun;

	size_t current;
	uint64_t others; /* the earliest key of the streams other than the current one */

	/* A sample that is being handed out once for each counter that it read. */
	struct pev_reader_record group;
	uint64_t group_at, group_nr;

	struct pev_reader_stats stats;
	struct pev_losses losses;
	uint64_t late_before; /* time of the record handed out last */

	struct pev_progress progress;
};

PEV_DEFINE_CLEANUP(struct pev_reader *, pev_reader_free);

struct pev_reader *pev_reader_free(struct pev_reader *r)
{
	if (!r)
		return NULL;
	for (size_t i = 0; i < r->nr; i++) {
		pev_source_close(&r->streams[i].source);
		pev_group_read_free(r->streams[i].groups);
		pev_ids_done(&r->streams[i].cpus);
	}
	free(r->streams);
	free(r->choice.cpus);
	pev_losses_done(&r->losses);
	free(r);
	return NULL;
}

static int choose_cpus(struct pev_choice *c, const struct pev_reader_options *options,
		       struct pev_err *err)
{
	if (!options->cpus)
		return 0;
	for (size_t i = 0; i < options->nr_cpus; i++) {
		if (options->cpus[i] >= CPU_MAX)
			return pev_err_set(err, -EINVAL, "there is no CPU %" PRIu32,
					   options->cpus[i]);
		c->nr_cpus = PEV_MAX(c->nr_cpus, options->cpus[i] + 1);
	}
	c->cpus = calloc(c->nr_cpus / 64 + 1, sizeof(*c->cpus));
	if (!c->cpus)
		return pev_err_set(err, -ENOMEM, "no memory for a list of CPUs");
	for (size_t i = 0; i < options->nr_cpus; i++) {
		const uint32_t cpu = options->cpus[i];

		c->cpus[cpu / 64] |= 1ULL << (cpu % 64);
		c->cpus_mod_64 |= 1ULL << (cpu % 64);
	}
	return 0;
}

/* One clock for all traces, or the time of day. */
static int agree_on_clock(struct pev_reader *r, struct pev_err *err)
{
	const struct pev_trace_head first = pev_reader_head(r, 0);
	bool same = true;

	r->clock = pev_clock_of(&first);
	for (size_t i = 1; same && i < r->nr; i++) {
		const struct pev_trace_head head = pev_reader_head(r, i);

		same = pev_clock_same(&first, &head);
	}
	for (size_t i = 0; !same && i < r->nr; i++) {
		const struct pev_trace_head head = pev_reader_head(r, i);
		const struct pev_clock c = pev_clock_of(&head);

		if (!c.has_wall)
			return pev_err_set(
				err, -EINVAL,
				"the traces tell time by different clocks, and %s (%s) does not "
				"say what time of day that was: read it alone, or record with "
				"--clockid",
				pev_reader_path(r, i), pev_clock_name(c.id));
		r->streams[i].source.shift = c.wall_ns - c.at_ns;
	}
	if (!same)
		r->clock = (struct pev_clock){ .id = CLOCK_REALTIME, .has_wall = true };
	return 0;
}

int pev_reader_open(const char *const *paths, size_t nr, const struct pev_reader_options *options,
		    struct pev_reader **ret, struct pev_err *err)
{
	static const struct pev_reader_options none;
	_cleanup_(pev_reader_freep) struct pev_reader *r = calloc(1, sizeof(*r));
	struct pev_err own = PEV_ERR_INIT;
	int code;

	if (!err)
		err = &own;
	if (!options)
		options = &none;
	if (!nr)
		return pev_err_set(err, -EINVAL, "there is no trace to read");
	if (r)
		r->streams = calloc(nr, sizeof(*r->streams));
	if (!r || !r->streams)
		return pev_err_set(err, -ENOMEM, "no memory to read %s", paths[0]);
	r->choice.until_ns = UINT64_MAX;
	r->keep_groups = options->keep_groups;
	r->progress.tell = options->progress;
	r->progress.userdata = options->userdata;
	code = choose_cpus(&r->choice, options, err);
	for (; code == 0 && r->nr < nr; r->nr++)
		code = pev_source_open(paths[r->nr], &r->choice, &r->progress,
				       &r->streams[r->nr].source, err);
	if (code == 0)
		code = agree_on_clock(r, err);
	if (code < 0)
		return code;
	*ret = TAKE_PTR(r);
	return 0;
}

void pev_reader_set_time(struct pev_reader *r, uint64_t since_ns, uint64_t until_ns)
{
	r->choice.since_ns = since_ns;
	r->choice.until_ns = until_ns;
}

/* Looks at the next record of the stream. */
static int look_ahead(struct stream *s, struct pev_err *err)
{
	const int code = pev_source_next(&s->source, &s->next, err);

	if (code < 0)
		return code;
	if (code == 0)
		s->next = (struct pev_waiting){ .tag = PEV_NO_EVENT };
	if (s->next.time)
		s->key = s->next.time + s->source.shift;
	s->has_next = true;
	return 0;
}

/* The stream whose turn it is, and when it ends. */
static struct stream *earliest(struct pev_reader *r)
{
	struct stream *best = NULL;

	r->others = UINT64_MAX;
	for (size_t i = 0; i < r->nr; i++) {
		struct stream *const s = &r->streams[i];

		if (s->done)
			continue;
		if (best && s->key >= best->key) {
			r->others = PEV_MIN(r->others, s->key);
			continue;
		}
		if (best)
			r->others = PEV_MIN(r->others, best->key);
		best = s;
		r->current = i;
	}
	return best;
}

/* Before the first record: which traces are of the time that is asked for, and when they begin. */
static void begin(struct pev_reader *r)
{
	r->begun = true;
	for (size_t i = 0; i < r->nr; i++) {
		struct stream *const s = &r->streams[i];

		r->stats.skipped_traces += pev_source_skip(&s->source);
		s->key = pev_source_first_ns(&s->source);
		if (s->key)
			s->key += s->source.shift;
	}
	(void)earliest(r);
}

/* The stream with the earliest record, which is ->next of it; *ret NULL at the end of all. */
static int choose(struct pev_reader *r, struct stream **ret, struct pev_err *err)
{
	struct stream *s = &r->streams[r->current];

	for (;;) {
		if (!s->done && !s->has_next) {
			const int code = look_ahead(s, err);

			if (code < 0)
				return code;
		}
		if (!s->done && s->has_next && s->key <= r->others)
			break;
		s = earliest(r);
		if (!s)
			break;
	}
	*ret = s;
	return 0;
}

static void count(struct pev_reader *r, const struct pev_reader_record *rec)
{
	struct pev_reader_stats *const s = &r->stats;
	const uint32_t type = rec->rec.hdr.type;

	if (type == PEV_READER_TRACE_END)
		return;
	s->records++;
	s->by_type[type]++;
	if (!rec->time_ns)
		return;
	s->late += rec->time_ns < r->late_before;
	r->late_before = rec->time_ns;
	if (type != PEV_REC_SAMPLE)
		return;
	if (!s->first_ns || rec->time_ns < s->first_ns)
		s->first_ns = rec->time_ns;
	s->last_ns = PEV_MAX(s->last_ns, rec->time_ns);
}

/* A record of a kernel type. 1; 0 when it is left out. */
static int decode(struct pev_reader *r, struct stream *s, struct pev_reader_record *ret,
		  struct pev_err *err)
{
	const struct pev_attr *const attr = &ret->event->attr;
	int code;

	code = pev_record_decode(attr, ret->bytes, ret->size, ret->swap, &ret->rec, NULL);
	if (code == -EPROTONOSUPPORT) {
		s->source.counts.unknown++;
		return 0;
	}
	if (code < 0) {
		s->source.counts.undecodable++;
		return 0;
	}
	if (ret->rec.hdr.type == PEV_REC_SAMPLE) {
		if (!(attr->sample_type & PEV_SAMPLE_PERIOD))
			ret->rec.sample.period = attr->sample_period;
		return 1;
	}
	code = pev_losses_see(&r->losses, ret->trace, ret->event_index,
			      pev_losses_cpu(&ret->rec, &s->cpus), &ret->rec);
	return code < 0 ? pev_err_set(err, code, "no memory to count losses") : 1;
}

/* Fills *ret from ->next of the stream. 1; 0 when it is left out. */
static int take(struct pev_reader *r, struct stream *s, struct pev_reader_record *ret,
		struct pev_err *err)
{
	const struct pev_trace *const t = s->source.parts[0];
	const struct pev_waiting *const w = &s->next;

	s->has_next = false;
	s->done = !w->size;
	ret->trace = (uint32_t)(s - r->streams);
	ret->event = NULL;
	ret->event_index = w->tag;
	ret->time_ns = w->time ? w->time + s->source.shift : 0;
	ret->bytes = w->bytes;
	ret->size = w->size;
	ret->swap = t->head.swap;
	ret->offset = w->offset;
	if (s->done) {
		s->groups = pev_group_read_free(s->groups);
		pev_ids_done(&s->cpus);
		ret->rec.hdr = (struct pev_rec_hdr){ .type = PEV_READER_TRACE_END };
		return 1;
	}
	if (w->tag != PEV_NO_EVENT) {
		ret->event = &t->events[w->tag];
		return decode(r, s, ret, err);
	}
	pev_trace_hdr(t, w->bytes, &ret->rec.hdr);
	if (ret->rec.hdr.type == PEV_REC_ID_INDEX &&
	    pev_losses_learn(&s->cpus, w->bytes, w->size, ret->swap) < 0)
		return pev_err_set(err, -ENOMEM, "no memory for the ids of %s", s->source.path);
	return 1;
}

/* The next counter of the group that went on. 1; 0 when there is none left. */
static int next_of_group(struct pev_reader *r, struct pev_reader_record *ret, struct pev_err *err)
{
	const struct pev_record *const rec = &r->group.rec;
	const struct pev_attr *const attr = &r->group.event->attr;
	const bool by_thread = attr->flags & PEV_ATTR_INHERIT && rec->id.has & PEV_SAMPLE_TID;
	struct stream *const s = &r->streams[r->group.trace];
	const struct pev_trace *const t = s->source.parts[0];

	while (r->group_at < r->group_nr) {
		struct pev_read_value v = pev_read_values_at(&rec->sample.read, r->group_at++);
		uint32_t event = r->group.event_index;
		uint64_t period;
		int code;

		if (rec->sample.read.has_id) {
			const struct pev_id *const id = pev_ids_find(&t->ids, v.id);

			if (!id) {
				s->source.counts.no_event++;
				continue;
			}
			event = id->event;
		} else {
			v.id = rec->id.id;
		}
		code = pev_group_read_step(&s->groups, v.id, by_thread ? rec->id.tid : 0, v.value,
					   &period);
		if (code < 0)
			return pev_err_set(err, code, "no memory for the counters of a group");
		if (!period)
			continue;
		if (!pev_source_wants(&s->source, rec->id.time, rec->id.has & PEV_SAMPLE_CPU,
				      rec->id.cpu)) {
			s->source.counts.skipped_samples++;
			continue;
		}
		*ret = r->group;
		ret->event = &t->events[event];
		ret->event_index = event;
		ret->rec.id.id = v.id;
		ret->rec.sample.period = period;
		return 1;
	}
	return 0;
}

int pev_reader_next(struct pev_reader *r, struct pev_reader_record *ret, struct pev_err *err)
{
	struct pev_err own = PEV_ERR_INIT;
	struct stream *s;
	int code;

	if (!err)
		err = &own;
	if (!r->begun)
		begin(r);
	for (;;) {
		code = r->group_at < r->group_nr ? next_of_group(r, ret, err) : 0;
		if (code != 0)
			break;
		code = choose(r, &s, err);
		if (code < 0)
			return code;
		if (!s)
			return 0;
		code = take(r, s, ret, err);
		if (code < 0)
			return code;
		if (code == 0)
			continue;
		if (ret->rec.hdr.type != PEV_REC_SAMPLE || r->keep_groups ||
		    !(ret->event->attr.sample_type & PEV_SAMPLE_READ))
			break;
		r->group = *ret;
		r->group_at = 0;
		r->group_nr = ret->rec.sample.read.nr;
	}
	if (code > 0)
		count(r, ret);
	return code;
}

size_t pev_reader_nr_traces(const struct pev_reader *r)
{
	return r->nr;
}

const char *pev_reader_path(const struct pev_reader *r, size_t trace)
{
	return r->streams[trace].source.path;
}

struct pev_trace_head pev_reader_head(const struct pev_reader *r, size_t trace)
{
	return pev_trace_head(r->streams[trace].source.parts[0]);
}

struct pev_clock pev_reader_clock(const struct pev_reader *r)
{
	return r->clock;
}

struct pev_reader_stats pev_reader_stats(const struct pev_reader *r)
{
	struct pev_reader_stats sum = r->stats;

	for (size_t i = 0; i < r->nr; i++) {
		const struct pev_source *const s = &r->streams[i].source;
		const struct pev_source_counts c = pev_source_counts(s);

		sum.unknown += c.unknown;
		sum.undecodable += c.undecodable;
		sum.no_event += c.no_event;
		sum.skipped_samples += c.skipped_samples;
		sum.skipped_blocks += c.skipped_blocks;
		sum.max_waiting += s->order ? pev_time_order_max_bytes(s->order) : s->max_waiting;
	}
	sum.losses = r->losses.v;
	sum.nr_losses = r->losses.nr;
	return sum;
}

struct pev_trace_damage pev_reader_damage(const struct pev_reader *r, size_t trace)
{
	return pev_source_damage(&r->streams[trace].source);
}

bool pev_reader_damage_words(const struct pev_reader *r, size_t trace, struct pev_err *ret)
{
	const struct pev_source *const s = &r->streams[trace].source;
	const struct pev_source_counts c = pev_source_counts(s);
	const struct pev_trace_damage d = pev_source_damage(s);

	return pev_damage_words(s->path, &d, c.undecodable, c.no_event, ret);
}
