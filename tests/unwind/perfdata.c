// SPDX-License-Identifier: LGPL-2.1-or-later
#include "perfdata.h"

#include "base/checked.h"
#include "base/io.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAX_FILE_BYTES (2ULL << 30)
#define MAX_ATTRS      16
#define MAX_PIDS       65536

struct reader {
	struct perfdata *data;
	struct pev_file_header header;
	struct pev_attr attrs[MAX_ATTRS];
	struct pev_file_section ids[MAX_ATTRS];
	size_t nr_attrs;
	size_t cap;
	struct pev_buf changes;        /* struct pev_record */
	uint32_t samples_of[MAX_PIDS]; /* by pid, modulo */
};

static const uint8_t *bytes_at(const struct reader *r, uint64_t offset, uint64_t size)
{
	const struct pev_buf *const file = &r->data->file;

	if (offset > file->size || size > file->size - offset)
		errx(1, "perf.data ends early");
	return file->data + offset;
}

static void read_attrs(struct reader *r)
{
	const struct pev_file_section attrs = r->header.attrs;
	const uint64_t entry = r->header.attr_size;
	const uint64_t attr_bytes = entry - sizeof(struct pev_file_section);

	for (uint64_t at = 0; at < attrs.size && r->nr_attrs < MAX_ATTRS; at += entry) {
		const uint8_t *const p = bytes_at(r, attrs.offset + at, entry);
		struct pev_attr *const attr = &r->attrs[r->nr_attrs];

		memcpy(attr, p, PEV_MIN(attr_bytes, sizeof(*attr)));
		memcpy(&r->ids[r->nr_attrs++], p + attr_bytes, sizeof(r->ids[0]));
	}
	if (!r->nr_attrs)
		errx(1, "perf.data without events");
}

static const struct pev_attr *attr_of(const struct reader *r, const uint8_t *record)
{
	uint64_t id;

	if (r->nr_attrs == 1 || !(r->attrs[0].sample_type & PEV_SAMPLE_IDENTIFIER))
		return &r->attrs[0];
	id = pev_record_identifier(record, false);
	for (size_t i = 0; i < r->nr_attrs; i++)
		for (uint64_t at = 0; at < r->ids[i].size; at += sizeof(id))
			if (!memcmp(bytes_at(r, r->ids[i].offset + at, sizeof(id)), &id,
				    sizeof(id)))
				return &r->attrs[i];
	return &r->attrs[0];
}

static void keep_sample(struct reader *r, const struct pev_attr *attr, const struct pev_record *rec)
{
	struct perfdata *const d = r->data;

	if (!rec->sample.regs_user.abi || !rec->sample.stack_user.dyn_size)
		return;
	if (d->nr == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 1024;
		d->samples = reallocarray(d->samples, r->cap, sizeof(*d->samples));
		if (!d->samples)
			err(1, "out of memory");
	}
	d->samples[d->nr++] =
		(struct perfdata_sample){ .pid = rec->id.pid, .attr = attr, .sample = rec->sample };
	if (++r->samples_of[rec->id.pid % MAX_PIDS] > r->samples_of[d->pid % MAX_PIDS])
		d->pid = rec->id.pid;
}

/*
 * Kernels up to 6.18 at least leave the flag of a build-id set when they write the same mapping for
 * several events, also to events that did not ask for build-ids and are given the inode.
 */
static void mend_mmap2(const struct pev_attr *attr, uint8_t *record)
{
	struct pev_rec_hdr hdr;

	memcpy(&hdr, record, sizeof(hdr));
	if (hdr.type != PEV_REC_MMAP2 || (attr->flags & PEV_ATTR_BUILD_ID))
		return;
	hdr.misc &= (uint16_t)~PEV_MISC_MMAP_BUILD_ID;
	memcpy(record, &hdr, sizeof(hdr));
}

/* Walks the records; @take gets each that could be decoded. */
static void walk(struct reader *r, void (*take)(struct reader *r, const struct pev_attr *attr,
						const struct pev_record *rec))
{
	const struct pev_file_section data = r->header.data;
	struct pev_rec_hdr hdr;

	for (uint64_t at = 0; at + sizeof(hdr) <= data.size; at += hdr.size) {
		const uint8_t *const p = bytes_at(r, data.offset + at, sizeof(hdr));
		const struct pev_attr *attr;
		struct pev_record rec;
		struct pev_err e = PEV_ERR_INIT;

		memcpy(&hdr, p, sizeof(hdr));
		if (hdr.size < sizeof(hdr))
			errx(1, "perf.data is damaged");
		if (hdr.type >= PEV_REC_USER_START)
			continue;
		(void)bytes_at(r, data.offset + at, hdr.size);
		attr = attr_of(r, p);
		mend_mmap2(attr, r->data->file.data + data.offset + at);
		if (pev_record_decode(attr, p, hdr.size, false, &rec, &e) < 0)
			errx(1, "%s", e.msg);
		take(r, attr, &rec);
	}
}

static void take_sample(struct reader *r, const struct pev_attr *attr, const struct pev_record *rec)
{
	if (rec->hdr.type == PEV_REC_SAMPLE)
		keep_sample(r, attr, rec);
}

/* Keeps what changes the mappings of the process. */
static void take_map(struct reader *r, const struct pev_attr *attr, const struct pev_record *rec)
{
	const uint32_t type = rec->hdr.type, pid = r->data->pid;

	(void)attr;
	if (((type == PEV_REC_MMAP || type == PEV_REC_MMAP2) && rec->mmap.pid == pid &&
	     (rec->hdr.misc & PEV_MISC_CPUMODE_MASK) == PEV_MISC_USER) ||
	    (type == PEV_REC_COMM && rec->comm.pid == pid && (rec->hdr.misc & PEV_MISC_COMM_EXEC)))
		pev_buf_put(&r->changes, rec, sizeof(*rec));
}

static int compare_time(const void *va, const void *vb)
{
	const struct pev_record *const a = va, *const b = vb;

	return a->id.time < b->id.time ? -1 : a->id.time > b->id.time;
}

/* Replays the changes in the order of time: the file has them CPU by CPU. */
static void make_space(struct reader *r)
{
	struct pev_record *const rec = (struct pev_record *)(void *)r->changes.data;
	const size_t nr = r->changes.size / sizeof(*rec);
	struct space *const space = &r->data->space;

	if (pev_buf_status(&r->changes))
		errx(1, "out of memory");
	if (nr)
		qsort(rec, nr, sizeof(*rec), compare_time);
	for (size_t i = 0; i < nr; i++) {
		const struct pev_mmap *const m = &rec[i].mmap;
		const bool is_code = rec[i].hdr.type == PEV_REC_MMAP || (m->prot & PROT_EXEC);

		if (rec[i].hdr.type == PEV_REC_COMM)
			space->nr = 0;
		else
			space_add(space,
				  &(struct space_map){ .start = m->start,
						       .end = m->start + m->len,
						       .is_code = is_code },
				  m->pgoff, m->filename, 0);
	}
}

void perfdata_read(struct perfdata *data, const char *path)
{
	struct reader *r = calloc(1, sizeof(*r));
	int e;

	if (!r)
		err(1, "out of memory");
	r->data = data;
	e = pev_read_path(path, MAX_FILE_BYTES, &data->file);
	if (e < 0)
		errx(1, "%s: %s", path, pev_errno_str(e));
	memcpy(&r->header, bytes_at(r, 0, sizeof(r->header)), sizeof(r->header));
	if (r->header.magic != PEV_MAGIC)
		errx(1, "%s is no perf.data file", path);
	read_attrs(r);
	walk(r, take_sample);
	walk(r, take_map);
	make_space(r);
	pev_buf_done(&r->changes);
	free(r);
}

void perfdata_done(struct perfdata *data)
{
	space_done(&data->space);
	free(data->samples);
	pev_buf_done(&data->file);
}
