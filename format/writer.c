// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * While it is open a trace is a pipe-mode perf.data, readable by every perf up to its last whole
 * record:
 *
 *     0    u64 magic, u64 16          pipe header
 *     16   EVENT_TYPE record          of 88 bytes: room for the regular header. Every perf passes
 *                                     over records of this type
 *     104  ATTR, EVENT_UPDATE         what the regular file has in tables
 *     A    EVENT_TYPE record          holds the ids and the attr table in their regular form
 *          TRACING_DATA
 *     F    FEATURE                    the header features known at the start
 *     D    data: COMPRESSED and plain records
 *     E    the end
 *
 * It is sealed in three steps, each of them synced before the next, each one write:
 *
 *  1. The header becomes a regular one: attrs -> A; data -> F to E; no features, because their
 *     table has to be where the data ends. perf takes them from the records from F on, as it does
 *     in pipe mode. From here on nobody reads beyond E.
 *  2. What a regular file has behind its data is appended: feature table, features, ids, attrs.
 *  3. The header gets its final form: attrs -> behind the features; data -> D to E; feature bits.
 *
 * Whenever the writer is killed, perf reads all whole records of what it left. Only when A would
 * not fit into a record (some hundred events, or many thousand counters of one) the first step is
 * left out, and between the second and the third a reader of pipes meets bytes at E that are no
 * record: the size of the first "record" there is the high part of a file offset, 0. format/trace.c
 * knows both states.
 */
#include "format/writer.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

struct pev_writer {
	char *path;
	int fd;
	bool own_fd;
	bool broken;                           /* a write failed */
	struct pev_file_section attrs;         /* the attr table at A; size 0: none */
	uint64_t features_offset, data_offset; /* F, D */
	struct pev_trace_event *events;        /* deep copies */
	size_t nr_events;
	struct pev_writer_stats stats;
};

PEV_DEFINE_CLEANUP(struct pev_writer *, pev_writer_free);

static void free_events(struct pev_trace_event *events, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free((void *)(uintptr_t)events[i].ids);
		free((void *)(uintptr_t)events[i].name);
		free((void *)(uintptr_t)events[i].unit);
	}
	free(events);
}

static int copy_events(struct pev_writer *w, const struct pev_trace_event *events, size_t nr)
{
	w->events = calloc(nr, sizeof(*w->events));
	if (!w->events)
		return -ENOMEM;
	w->nr_events = nr;
	for (size_t i = 0; i < nr; i++) {
		struct pev_trace_event *const e = &w->events[i];
		uint64_t *const ids = calloc(events[i].nr_ids + 1, sizeof(*ids));

		e->attr = events[i].attr;
		e->nr_ids = events[i].nr_ids;
		e->ids = ids;
		e->scale = events[i].scale;
		e->name = events[i].name ? strdup(events[i].name) : NULL;
		e->unit = events[i].unit ? strdup(events[i].unit) : NULL;
		if (!ids || (events[i].name && !e->name) || (events[i].unit && !e->unit))
			return -ENOMEM;
		if (e->nr_ids)
			memcpy(ids, events[i].ids, e->nr_ids * sizeof(*ids));
	}
	return 0;
}

struct pev_writer *pev_writer_free(struct pev_writer *w)
{
	if (!w)
		return NULL;
	if (w->own_fd && w->fd >= 0)
		(void)close(w->fd);
	free_events(w->events, w->nr_events);
	free(w->path);
	free(w);
	return NULL;
}

struct pev_writer_stats pev_writer_stats(const struct pev_writer *w)
{
	return w->stats;
}

/* Opens a record of @type in @buf; the size is filled in by end_record(). Returns where it starts.
 */
static size_t start_record(struct pev_buf *buf, uint32_t type)
{
	const struct pev_rec_hdr hdr = { .type = type };
	const size_t start = buf->size;

	pev_buf_put(buf, &hdr, sizeof(hdr));
	return start;
}

/* Closes the record; one that is too large for its size field is taken back. */
static void end_record(struct pev_buf *buf, size_t start)
{
	const size_t size = buf->size - start;
	uint16_t size16;

	if (pev_buf_status(buf) < 0)
		return;
	if (size > PEV_REC_MAX_SIZE) {
		buf->size = start;
		return;
	}
	size16 = (uint16_t)size;
	memcpy(buf->data + start + offsetof(struct pev_rec_hdr, size), &size16, sizeof(size16));
}

/* The attr as files carry it, no longer than a perf that knows VER7 takes (perf 6.1 refuses more),
 * unless the longer fields are used. */
static uint32_t attr_file_size(const struct pev_attr *attr)
{
	if (attr->config4)
		return PEV_ATTR_SIZE_VER9;
	return attr->config3 ? PEV_ATTR_SIZE_VER8 : PEV_ATTR_SIZE_VER7;
}

static void put_attr(struct pev_buf *buf, const struct pev_attr *attr, uint32_t size)
{
	struct pev_attr a = *attr;

	a.size = size;
	pev_buf_put(buf, &a, size);
}

/* Ids that fit one ATTR record; what does not fit follows in further ATTR records only in the
 * sealed form. */
static void put_attr_record(struct pev_buf *buf, const struct pev_trace_event *e)
{
	const uint32_t attr_size = attr_file_size(&e->attr);
	const size_t max_ids = (PEV_BLOCK_MAX - sizeof(struct pev_rec_hdr) - attr_size) / 8;
	const size_t start = start_record(buf, PEV_REC_HEADER_ATTR);

	put_attr(buf, &e->attr, attr_size);
	pev_buf_put(buf, e->ids, PEV_MIN(e->nr_ids, max_ids) * 8);
	end_record(buf, start);
}

/* EVENT_UPDATE: u64 which, u64 id, then the name, unit or scale. */
static void put_update(struct pev_buf *buf, const struct pev_trace_event *e, uint64_t which,
		       const void *bytes, size_t size)
{
	const size_t start = start_record(buf, PEV_REC_EVENT_UPDATE);

	pev_buf_u64(buf, which);
	pev_buf_u64(buf, e->nr_ids ? e->ids[0] : 0);
	pev_buf_put(buf, bytes, size);
	pev_buf_zero(buf, -(buf->size - start) & 7);
	end_record(buf, start);
}

static void put_updates(struct pev_buf *buf, const struct pev_trace_event *e)
{
	if (e->name)
		put_update(buf, e, PEV_EVENT_UPDATE_NAME, e->name, strlen(e->name) + 1);
	if (e->unit)
		put_update(buf, e, PEV_EVENT_UPDATE_UNIT, e->unit, strlen(e->unit) + 1);
	if (e->scale != 0.0 && e->scale != 1.0)
		put_update(buf, e, PEV_EVENT_UPDATE_SCALE, &e->scale, sizeof(e->scale));
}

/* TRACING_DATA: u32 size, and the data follows the record, outside of its header.size. */
static void put_tracing_data(struct pev_buf *buf, const struct pev_buf *data)
{
	const size_t start = start_record(buf, PEV_REC_HEADER_TRACING_DATA);
	const size_t padded = pev_align8(data->size);

	pev_buf_u32(buf, (uint32_t)padded);
	end_record(buf, start);
	pev_buf_put(buf, data->data, data->size);
	pev_buf_zero(buf, padded - data->size);
}

/*
 * Header features as records: u64 feature, then the section's bytes. BUILD_ID, TRACING_DATA and
 * AUXTRACE have records of their own; one that is over 64 KiB has to wait for the seal. There is no
 * end marker: perf 6.1 refuses the one of newer versions.
 */
static void put_section(struct pev_buf *buf, const struct pev_feat_section *s)
{
	size_t start;

	if (s->feat == PEV_FEAT_TRACING_DATA || s->feat == PEV_FEAT_BUILD_ID ||
	    s->feat == PEV_FEAT_AUXTRACE)
		return;
	start = start_record(buf, PEV_REC_HEADER_FEATURE);
	pev_buf_u64(buf, s->feat);
	pev_buf_put(buf, s->data.data, s->data.size);
	/* Behind the 12 bytes of TRACING_DATA this is what brings the data back to a multiple of 8:
	 * of all records these two may be of any size. */
	pev_buf_zero(buf, -buf->size & 7);
	end_record(buf, start);
}

/* All entries of the attr table have an attr of one size. */
static uint32_t entry_attr_size(const struct pev_trace_event *events, size_t nr)
{
	uint32_t size = PEV_ATTR_SIZE_VER7;

	for (size_t i = 0; i < nr; i++)
		size = PEV_MAX(size, attr_file_size(&events[i].attr));
	return size;
}

/* The ids, and behind them the attr table, whose entries point to them; @buf is going to be at @at
 * of the file. Returns where the table is. */
static struct pev_file_section put_attrs(const struct pev_trace_event *events, size_t nr_events,
					 uint64_t at, struct pev_buf *buf)
{
	const uint32_t attr_size = entry_attr_size(events, nr_events);
	uint64_t ids_at = at + buf->size;
	struct pev_file_section attrs;

	for (size_t i = 0; i < nr_events; i++)
		pev_buf_put(buf, events[i].ids, events[i].nr_ids * 8);
	attrs.offset = at + buf->size;
	attrs.size = nr_events * (attr_size + sizeof(struct pev_file_section));
	for (size_t i = 0; i < nr_events; i++) {
		const struct pev_file_section ids = { .offset = ids_at,
						      .size = events[i].nr_ids * 8 };

		put_attr(buf, &events[i].attr, attr_size);
		pev_buf_put(buf, &ids, sizeof(ids));
		ids_at += ids.size;
	}
	return attrs;
}

/*
 * The same in a record; none when it is too large for that. It is for a regular file that has no
 * features yet, and TRACING_DATA is one: without that perf refuses a file that has tracepoints. So
 * they pass for events of another kind there, which have all of their samples and their names, but
 * not their fields.
 */
static int put_attrs_record(struct pev_writer *w, struct pev_buf *buf)
{
	const size_t start = start_record(buf, PEV_REC_HEADER_EVENT_TYPE);
	struct pev_trace_event *const events = calloc(w->nr_events + 1, sizeof(*events));

	if (!events)
		return -ENOMEM;
	for (size_t i = 0; i < w->nr_events; i++) {
		events[i] = w->events[i];
		if (events[i].attr.type != PEV_TYPE_TRACEPOINT)
			continue;
		events[i].attr.type = PEV_TYPE_SOFTWARE;
		events[i].attr.config = PEV_SW_CPU_CLOCK;
	}
	w->attrs = put_attrs(events, w->nr_events, 0, buf);
	free(events);
	end_record(buf, start);
	if (buf->size == start)
		w->attrs.size = 0;
	return 0;
}

static int write_head(struct pev_writer *w, const struct pev_feat_section *sections,
		      size_t nr_sections, struct pev_err *err)
{
	_cleanup_buf_ struct pev_buf buf = { 0 };
	const struct pev_pipe_header head = { .magic = PEV_MAGIC, .size = sizeof(head) };
	size_t start;
	int r = 0;

	pev_buf_put(&buf, &head, sizeof(head));
	start = start_record(&buf, PEV_REC_HEADER_EVENT_TYPE);
	pev_buf_zero(&buf, sizeof(struct pev_file_header) - buf.size);
	end_record(&buf, start);
	for (size_t i = 0; i < w->nr_events; i++)
		put_attr_record(&buf, &w->events[i]);
	for (size_t i = 0; i < w->nr_events; i++)
		put_updates(&buf, &w->events[i]);
	if (w->own_fd) /* only a file is ever sealed */
		r = put_attrs_record(w, &buf);
	for (size_t i = 0; i < nr_sections; i++)
		if (sections[i].feat == PEV_FEAT_TRACING_DATA)
			put_tracing_data(&buf, &sections[i].data);
	w->features_offset = buf.size;
	for (size_t i = 0; i < nr_sections; i++)
		put_section(&buf, &sections[i]);
	if (r < 0 || pev_buf_status(&buf) < 0)
		return pev_err_set(err, -ENOMEM, "%s: no memory for its header", w->path);
	w->data_offset = buf.size;
	return pev_writer_put(w, buf.data, buf.size, err);
}

int pev_writer_open(const char *path, int fd, const struct pev_trace_event *events,
		    size_t nr_events, const struct pev_feat_section *sections, size_t nr_sections,
		    struct pev_writer **ret, struct pev_err *err)
{
	_cleanup_(pev_writer_freep) struct pev_writer *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return pev_err_set(err, -ENOMEM, "%s: no memory to open it", path);
	w->fd = fd;
	w->path = strdup(path);
	r = w->path ? copy_events(w, events, nr_events) : -ENOMEM;
	if (r < 0)
		return pev_err_set(err, r, "%s: no memory to open it", path);
	if (fd < 0) {
		/* A trace holds other people's memory: nobody else may read it until its owner says
		 * so. */
		w->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (w->fd < 0)
			return pev_err_set(err, -errno, "cannot create %s: %s", path,
					   pev_errno_str(errno));
		w->own_fd = true;
		/* Tells whoever would seal it that somebody is still writing; a file system
		 * without locks does without. */
		(void)flock(w->fd, LOCK_EX | LOCK_NB);
	}
	r = write_head(w, sections, nr_sections, err);
	if (r < 0) {
		if (w->own_fd)
			(void)unlink(path);
		return r;
	}
	*ret = TAKE_PTR(w);
	return 0;
}

/* After a write that failed half-way: the file ends with a whole record again. Nothing can be done
 * for a pipe. */
static int give_up(struct pev_writer *w, int r, struct pev_err *err)
{
	w->broken = true;
	if (w->own_fd && (ftruncate(w->fd, (off_t)w->stats.bytes) < 0 ||
			  lseek(w->fd, (off_t)w->stats.bytes, SEEK_SET) < 0))
		return pev_err_set(err, r,
				   "cannot write %s: %s; nor cut it at its last whole record: %s",
				   w->path, pev_errno_str(r), pev_errno_str(errno));
	return pev_err_set(err, r, "cannot write %s: %s; it ends after %llu bytes", w->path,
			   pev_errno_str(r), (unsigned long long)w->stats.bytes);
}

int pev_writer_put(struct pev_writer *w, const void *records, size_t size, struct pev_err *err)
{
	int r;

	if (w->broken)
		return pev_err_set(err, -EIO, "%s: an earlier write failed", w->path);
	r = pev_write_all(w->fd, records, size);
	if (r < 0)
		return give_up(w, r, err);
	w->stats.bytes += size;
	return 0;
}

int pev_writer_block(struct pev_writer *w, struct pev_block *b, bool all, struct pev_err *err)
{
	const void *bytes;
	size_t size;
	int r;

	while ((r = pev_block_take(b, all, &bytes, &size)) > 0) {
		struct pev_block_head head;

		r = pev_writer_put(w, bytes, size, err);
		if (r < 0)
			return r;
		w->stats.blocks++;
		w->stats.raw_bytes +=
			pev_block_head_read(bytes, size, false, &head) > 0 ? head.raw_size : size;
	}
	return r < 0 ? pev_err_set(err, r, "%s: zstd failed to compress a block", w->path) : 0;
}

/* A regular header whose data goes from @data_offset to where the file ends now. */
static struct pev_file_header regular_header(const struct pev_writer *w, uint64_t data_offset,
					     struct pev_file_section attrs)
{
	return (struct pev_file_header){
		.magic = PEV_MAGIC,
		.size = sizeof(struct pev_file_header),
		.attr_size =
			entry_attr_size(w->events, w->nr_events) + sizeof(struct pev_file_section),
		.attrs = attrs,
		.data = { .offset = data_offset, .size = w->stats.bytes - data_offset },
	};
}

/* What comes behind the data, and the header that goes with it. */
static void build_tail(const struct pev_writer *w, const struct pev_feat_section *sections,
		       size_t nr_sections, struct pev_buf *ret_tail,
		       struct pev_file_header *ret_header)
{
	const uint64_t end = w->stats.bytes;
	uint64_t at = end + nr_sections * sizeof(struct pev_file_section);

	for (size_t i = 0; i < nr_sections; i++) {
		const struct pev_file_section s = { .offset = at, .size = sections[i].data.size };

		pev_buf_put(ret_tail, &s, sizeof(s));
		at += pev_align8(s.size);
	}
	for (size_t i = 0; i < nr_sections; i++) {
		pev_buf_put(ret_tail, sections[i].data.data, sections[i].data.size);
		pev_buf_zero(ret_tail, -sections[i].data.size & 7);
	}
	*ret_header = regular_header(w, w->data_offset,
				     put_attrs(w->events, w->nr_events, end, ret_tail));
	for (size_t i = 0; i < nr_sections; i++)
		ret_header->features[sections[i].feat / 64] |= 1ULL << (sections[i].feat % 64);
}

/* Overwrites the header. When the write fails the file is as it was. */
static int write_header(struct pev_writer *w, const struct pev_file_header *header,
			struct pev_err *err)
{
	int r;

	r = pev_pwrite_all(w->fd, header, sizeof(*header), 0);
	if (r < 0)
		return give_up(w, r, err);
	if (fsync(w->fd) < 0)
		return pev_err_set(err, -errno, "cannot sync %s: %s", w->path,
				   pev_errno_str(errno));
	return 0;
}

/* A regular file with no data counts as one that was never finished: no perf reads it. */
static int put_something(struct pev_writer *w, struct pev_err *err)
{
	const struct pev_rec_hdr round = { .type = PEV_REC_FINISHED_ROUND, .size = sizeof(round) };

	if (w->stats.bytes > w->data_offset)
		return 0;
	return pev_writer_put(w, &round, sizeof(round), err);
}

int pev_writer_seal(struct pev_writer *w, const struct pev_feat_section *sections,
		    size_t nr_sections, const char *final_path, struct pev_err *err)
{
	_cleanup_buf_ struct pev_buf tail = { 0 };
	struct pev_file_header first, last;
	int r;

	if (!w->own_fd)
		return pev_err_set(err, -ESPIPE, "%s: a stream cannot be sealed", w->path);
	r = put_something(w, err);
	if (r < 0)
		return r;
	first = regular_header(w, w->features_offset, w->attrs);
	build_tail(w, sections, nr_sections, &tail, &last);
	if (pev_buf_status(&tail) < 0)
		return pev_err_set(err, -ENOMEM, "%s: no memory to seal it", w->path);
	if (fsync(w->fd) < 0)
		return pev_err_set(err, -errno, "cannot sync %s: %s", w->path,
				   pev_errno_str(errno));
	r = w->attrs.size ? write_header(w, &first, err) : 0;
	if (r < 0)
		return r;
	r = pev_write_all(w->fd, tail.data, tail.size);
	if (r == 0 && fsync(w->fd) < 0)
		r = -errno;
	if (r < 0)
		return give_up(w, r, err);
	r = write_header(w, &last, err);
	if (r < 0)
		return r;
	w->stats.bytes += tail.size;
	if (final_path && rename(w->path, final_path) < 0)
		return pev_err_set(err, -errno, "cannot rename %s to %s: %s", w->path, final_path,
				   pev_errno_str(errno));
	return 0;
}
