// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Records come in the order of time and are written so, in blocks. The file is opened at the first
 * record of the kernel: then a pipe has told its events, too. Samples are copied byte for byte;
 * what is of the other byte order is encoded anew.
 */
#include "report/slice.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "report/events.h"
#include "report/feed.h"
#include "report/slice_head.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define LEVEL 3

/* Bytes of records after which readers are told that nothing older comes: perf keeps them all till
 * then. */
#define ROUND_BYTES (512U << 10)

struct slice {
	struct pev_reader *reader;
	struct pev_resolver *resolver;
	const struct pev_filter *filter;
	const char *path;
	int fd;
	struct pev_feed feed;
	struct pev_events events; /* for the names that the filter has */
	struct pev_slice_head head;
	struct pev_writer *writer;
	struct pev_block *block;
	struct pev_chain chain;
	struct pev_buf bytes; /* of a record that is encoded anew */
	uint64_t end_ns;      /* of the times asked for; UINT64_MAX: no end */
	uint64_t first_ns, last_ns;
	size_t round_bytes;
	bool has_begun; /* FINISHED_INIT is written */
	struct pev_slice_counters counters;
};

static void slice_done(struct slice *s)
{
	pev_feed_done(&s->feed);
	pev_events_done(&s->events);
	pev_slice_head_done(&s->head);
	(void)pev_writer_free(s->writer);
	(void)pev_block_free(s->block);
	pev_chain_done(&s->chain);
	pev_buf_done(&s->bytes);
}

static void set_compressed(struct slice *s, uint32_t ratio)
{
	struct pev_features *const f = &s->head.features;

	f->compressed.version = 0;
	f->compressed.type = PEV_COMP_ZSTD;
	f->compressed.level = LEVEL;
	f->compressed.ratio = ratio;
	f->compressed.mmap_len = PEV_BLOCK_RAW_MAX;
	pev_features_set(f, PEV_FEAT_COMPRESSED);
}

static int open_writer(struct slice *s, struct pev_err *err)
{
	struct pev_feat_section sections[PEV_FEAT_MAX] = { 0 };
	size_t nr = 0;
	int r = pev_slice_head_make(&s->head, s->reader, err);

	if (r < 0)
		return r;
	set_compressed(s, 1);
	if (pev_block_new(LEVEL, &s->block) < 0)
		return pev_err_set(err, -ENOMEM, "no memory to compress with");
	r = pev_feat_sections_encode(&s->head.features, sections, &nr, err);
	if (r < 0)
		return r;
	r = pev_writer_open(s->path, s->fd, s->head.list, s->head.nr_events, sections, nr,
			    &s->writer, err);
	pev_feat_sections_done(sections, nr);
	return r;
}

static int put(struct slice *s, const void *bytes, size_t size, uint64_t time_ns, uint32_t cpu,
	       struct pev_err *err)
{
	struct pev_rec_hdr hdr;
	uint8_t *room;

	while (!(room = pev_block_reserve(s->block, size))) {
		const int r = pev_writer_block(s->writer, s->block, false, err);

		if (r < 0)
			return r;
	}
	memcpy(&hdr, bytes, sizeof(hdr));
	memcpy(room, bytes, size);
	pev_block_commit(s->block, &hdr, time_ns, cpu);
	s->round_bytes += size;
	return 0;
}

static int put_mark(struct slice *s, uint32_t type, struct pev_err *err)
{
	const struct pev_rec_hdr mark = { .type = type, .size = sizeof(mark) };

	return put(s, &mark, sizeof(mark), 0, 0, err);
}

/* What comes before the first time is the snapshot of the machine. */
static int begin(struct slice *s, struct pev_err *err)
{
	s->has_begun = true;
	return put_mark(s, PEV_REC_FINISHED_INIT, err);
}

static int put_record(struct slice *s, const struct pev_reader_record *rec, struct pev_err *err)
{
	const uint8_t *bytes = rec->bytes;
	size_t size = rec->size;
	int r = 0;

	if (rec->swap) {
		pev_buf_reset(&s->bytes);
		r = pev_record_encode(&rec->event->attr, &rec->rec, &s->bytes);
		if (r < 0)
			return pev_err_set(err, r, "cannot write a record of %s anew: %s",
					   pev_reader_path(s->reader, rec->trace),
					   pev_errno_str(r));
		bytes = s->bytes.data;
		size = s->bytes.size;
	}
	if (!s->has_begun && rec->time_ns)
		r = begin(s, err);
	if (r == 0)
		r = put(s, bytes, size, rec->time_ns, rec->rec.id.cpu, err);
	if (r == 0 && s->round_bytes >= ROUND_BYTES) {
		r = put_mark(s, PEV_REC_FINISHED_ROUND, err);
		s->round_bytes = 0;
	}
	return r;
}

/* Whether where the sample was is what is asked for. -errno or 0 and 1. */
static int is_code_wanted(struct slice *s, const struct pev_reader_record *rec, struct pev_err *err)
{
	const struct pev_frame *frames;
	struct pev_module_info info = { 0 };
	int r;

	if (!s->filter->dsos.nr && !s->filter->symbols.nr)
		return 1;
	r = pev_resolver_chain(s->resolver, rec->trace, &rec->event->attr, &rec->rec, &s->chain,
			       err);
	if (r < 0)
		return r;
	r = pev_resolver_name(s->resolver, &s->chain.self, &frames, err);
	if (r < 0)
		return r;
	if (s->chain.self.module)
		pev_module_info(s->chain.self.module, &info);
	return pev_filter_has_dso(&s->filter->dsos, frames[r - 1].dso, info.short_name) &&
	       pev_filter_has_name(&s->filter->symbols, frames[r - 1].name);
}

static int is_wanted(struct slice *s, const struct pev_reader_record *rec, struct pev_err *err)
{
	const struct pev_filter *const f = s->filter;
	const struct pev_sample_id *const id = &rec->rec.id;
	uint32_t event;

	if (!pev_filter_has_time(f, rec->time_ns) || !pev_filter_has_number(&f->pids, id->pid) ||
	    !pev_filter_has_number(&f->tids, id->tid) ||
	    (f->cpus.nr && !(id->has & PEV_SAMPLE_CPU && pev_filter_has_number(&f->cpus, id->cpu))))
		return 0;
	if (f->comms.nr &&
	    !pev_filter_has_name(&f->comms,
				 pev_resolver_comm(s->resolver, rec->trace, id->pid, id->tid)))
		return 0;
	if (f->cgroups.nr &&
	    !pev_filter_has_cgroup(&f->cgroups, pev_resolver_cgroup(s->resolver, rec->trace,
								    rec->rec.sample.cgroup)))
		return 0;
	if (f->events.nr) {
		if (pev_events_of(&s->events, s->reader, rec, &event) < 0)
			return pev_err_set(err, -ENOMEM, "no memory for the events");
		if (!pev_filter_has_name(&f->events, s->events.events[event].name))
			return 0;
	}
	return is_code_wanted(s, rec, err);
}

static int take_sample(struct slice *s, const struct pev_reader_record *rec, struct pev_err *err)
{
	const int r = is_wanted(s, rec, err);

	if (r <= 0) {
		s->counters.left_samples++;
		return r;
	}
	s->counters.samples++;
	if (rec->time_ns) {
		s->first_ns = s->first_ns ? PEV_MIN(s->first_ns, rec->time_ns) : rec->time_ns;
		s->last_ns = PEV_MAX(s->last_ns, rec->time_ns);
	}
	return put_record(s, rec, err);
}

/* Times of several traces may have been brought to one clock for reading; the records have not. */
static int check_clock(struct slice *s, const struct pev_reader_record *rec, struct pev_err *err)
{
	if (!rec->time_ns || !(rec->rec.id.has & PEV_SAMPLE_TIME) ||
	    rec->time_ns == rec->rec.id.time)
		return 0;
	return pev_err_set(err, -EINVAL,
			   "the traces are of different clocks, and a perf.data has one: export "
			   "%s by itself",
			   pev_reader_path(s->reader, rec->trace));
}

static int take_kernel_record(struct slice *s, const struct pev_reader_record *rec,
			      struct pev_err *err)
{
	int r = s->writer ? 0 : open_writer(s, err);

	if (r == 0)
		r = check_clock(s, rec, err);
	if (r == 0 && !pev_slice_head_knows(&s->head, rec->trace, rec->event_index))
		r = pev_err_set(err, -EINVAL,
				"%s tells of the event %s after its first records: make it a "
				"regular file before, with 'pevrec verify' or 'perf inject'",
				pev_reader_path(s->reader, rec->trace), rec->event->name);
	if (r < 0)
		return r;
	if (rec->rec.hdr.type == PEV_REC_SAMPLE)
		return take_sample(s, rec, err);
	if (rec->time_ns >= s->end_ns)
		return 0;
	if (pev_rec_is_state(rec->rec.hdr.type))
		s->counters.states++;
	else if (rec->time_ns && !pev_filter_has_time(s->filter, rec->time_ns))
		return 0;
	return put_record(s, rec, err);
}

/* Of perf's own records the few that say something about samples. */
static int take_user_record(struct slice *s, const struct pev_reader_record *rec,
			    struct pev_err *err)
{
	switch (rec->rec.hdr.type) {
	case PEV_REC_THREAD_MAP:
	case PEV_REC_CPU_MAP:
	case PEV_REC_TIME_CONV:
		if (rec->trace > 0 || rec->swap)
			return 0;
		if (!s->writer) {
			const int r = open_writer(s, err);

			if (r < 0)
				return r;
		}
		return put(s, rec->bytes, rec->size, 0, 0, err);
	case PEV_REC_AUXTRACE:
		s->counters.left_aux++;
		return 0;
	default:
		return 0;
	}
}

static int finish(struct slice *s, struct pev_err *err)
{
	struct pev_feat_section sections[PEV_FEAT_MAX] = { 0 };
	struct pev_writer_stats written;
	size_t nr = 0;
	int r = s->has_begun ? 0 : begin(s, err);

	if (r == 0)
		r = put_mark(s, PEV_REC_FINISHED_ROUND, err);
	if (r == 0)
		r = pev_writer_block(s->writer, s->block, true, err);
	if (r < 0 || s->fd >= 0)
		return r;
	written = pev_writer_stats(s->writer);
	set_compressed(s, (uint32_t)PEV_MAX((written.raw_bytes + written.bytes / 2) /
						    PEV_MAX(written.bytes, 1U),
					    1U));
	s->head.features.sample_time.first_ns = s->first_ns;
	s->head.features.sample_time.last_ns = s->last_ns;
	pev_features_set(&s->head.features, PEV_FEAT_SAMPLE_TIME);
	r = pev_feat_sections_encode(&s->head.features, sections, &nr, err);
	if (r < 0)
		return r;
	r = pev_writer_seal(s->writer, sections, nr, NULL, err);
	pev_feat_sections_done(sections, nr);
	return r;
}

static uint64_t end_of(const struct pev_filter *f)
{
	uint64_t end = f->nr_times ? 0 : UINT64_MAX;

	for (size_t i = 0; i < f->nr_times; i++)
		end = PEV_MAX(end, f->times[i].until_ns);
	return end;
}

int pev_slice_write(struct pev_reader *reader, struct pev_resolver *resolver,
		    const struct pev_filter *filter, const char *path, int fd,
		    struct pev_slice_counters *ret, struct pev_err *err)
{
	_cleanup_(slice_done) struct slice s = { .reader = reader,
						 .resolver = resolver,
						 .filter = filter,
						 .path = path,
						 .fd = fd,
						 .end_ns = end_of(filter) };
	struct pev_reader_record rec;
	int r = pev_feed_init(&s.feed, reader, resolver, 0, err);

	pev_events_next_reader(&s.events);
	while (r >= 0 && (r = pev_feed_next(&s.feed, &rec, err)) > 0) {
		if (rec.rec.hdr.type == PEV_READER_TRACE_END)
			continue;
		r = rec.rec.hdr.type < PEV_REC_USER_START ? take_kernel_record(&s, &rec, err)
							  : take_user_record(&s, &rec, err);
	}
	if (r == 0 && !s.writer)
		r = pev_err_set(err, -ENODATA, "there are no records to take a part of");
	if (r == 0)
		r = finish(&s, err);
	if (r == 0)
		*ret = s.counters;
	return r;
}
