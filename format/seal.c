// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The new file is written the way a recording writes one, pipe mode first and sealed at the end, by
 * the same writer: so it, too, is valid at every byte. The records are copied as they are,
 * compressed ones without unpacking them.
 */
#include "format/seal.h"

#include "base/checked.h"
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

PEV_DEFINE_CLEANUP(struct pev_writer *, pev_writer_free);
PEV_DEFINE_CLEANUP(struct pev_trace *, pev_trace_free);

static int compare_offsets(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

static bool is_bad_block(const struct pev_verify *v, uint64_t offset)
{
	return v->nr_bad_blocks &&
	       bsearch(&offset, v->bad_blocks, v->nr_bad_blocks, sizeof(offset), compare_offsets);
}

/* Records that a regular file has tables for instead. */
static bool is_head_record(uint32_t type)
{
	return type == PEV_REC_HEADER_ATTR || type == PEV_REC_HEADER_EVENT_TYPE ||
	       type == PEV_REC_HEADER_TRACING_DATA || type == PEV_REC_HEADER_FEATURE ||
	       type == PEV_REC_EVENT_UPDATE;
}

static int copy_records(struct pev_trace *t, const struct pev_verify *v, struct pev_writer *w,
			struct pev_seal_result *res, struct pev_err *err)
{
	for (;;) {
		struct pev_trace_record rec;
		int r;

		r = pev_trace_next(t, &rec, err);
		if (r == -EBADMSG || r == -ENODATA) {
			res->dropped_blocks++;
			continue;
		}
		if (r <= 0) {
			res->dropped_bytes += pev_trace_damage(t).block_bytes;
			return r;
		}
		if (is_head_record(rec.hdr.type))
			continue;
		if (is_bad_block(v, rec.offset)) {
			res->dropped_blocks++;
			res->dropped_bytes += rec.size;
			continue;
		}
		r = pev_writer_put(w, rec.bytes, rec.size, err);
		if (r == 0 && rec.payload)
			r = pev_trace_copy_payload(t, &rec, w, err);
		if (r < 0)
			return r;
		res->records++;
	}
}

/* What the trace said of itself, with what only its end could know found by looking at all of it.
 */
static int encode_features(const struct pev_trace_head *head, const struct pev_verify *v,
			   struct pev_feat_section *sections, size_t *ret_nr, struct pev_err *err)
{
	struct pev_features f = *head->features;

	f.owned = NULL; /* borrows everything */
	/* An index of offsets in the file as it was. perf finds what it points to without it. */
	f.has &= ~(1ULL << PEV_FEAT_AUXTRACE);
	if (v->stats.samples) {
		f.sample_time.first_ns = v->stats.first_ns;
		f.sample_time.last_ns = v->stats.last_ns;
		pev_features_set(&f, PEV_FEAT_SAMPLE_TIME);
	}
	if (v->build_ids.nr && !pev_features_has(&f, PEV_FEAT_BUILD_ID)) {
		f.build_ids.v = v->build_ids.v;
		f.build_ids.nr = (uint32_t)v->build_ids.nr;
		pev_features_set(&f, PEV_FEAT_BUILD_ID);
	}
	if (!f.has) {
		/* Cut before the first of them. One there must be: a regular file without any is
		 * what an interrupted seal leaves. */
		f.version = "pevrec " PEVREC_VERSION;
		pev_features_set(&f, PEV_FEAT_VERSION);
	}
	return pev_feat_sections_encode(&f, sections, ret_nr, err);
}

static int write_sealed(struct pev_trace *t, const struct pev_verify *v, const char *beside,
			const char *path, const struct stat *st, struct pev_seal_result *res,
			struct pev_err *err)
{
	_cleanup_(pev_writer_freep) struct pev_writer *w = NULL;
	struct pev_feat_section sections[PEV_FEAT_MAX] = { 0 };
	const struct pev_trace_head head = pev_trace_head(t);
	size_t nr = 0;
	int r;

	r = encode_features(&head, v, sections, &nr, err);
	if (r < 0)
		return r;
	r = pev_writer_open(beside, -1, head.events, head.nr_events, sections, nr, &w, err);
	if (r == 0 &&
	    (chown(beside, st->st_uid, st->st_gid) < 0 || chmod(beside, st->st_mode & 07777) < 0))
		r = pev_err_set(err, -errno, "cannot give %s the owner and mode of %s: %s", beside,
				path, pev_errno_str(errno));
	if (r == 0)
		r = copy_records(t, v, w, res, err);
	if (r == 0)
		r = pev_writer_seal(w, sections, nr, path, err);
	pev_feat_sections_done(sections, nr);
	return r;
}

/* Nobody may be writing to what is about to be replaced: what came later would be lost. The lock
 * lives as long as *ret_fd. */
static int lock_trace(const char *path, int *ret_fd, struct pev_err *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return pev_err_set(err, -errno, "cannot open %s: %s", path, pev_errno_str(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return pev_err_set(err, -EBUSY,
				   "%s is still being recorded: stop that, and it seals the trace",
				   path);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int pev_seal(const char *path, const struct pev_verify *v, struct pev_seal_result *ret,
	     struct pev_err *err)
{
	const struct pev_trace_options options = { .raw = true, .check = true };
	_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
	_cleanup_free_ char *real = realpath(path, NULL), *beside = NULL;
	_cleanup_close_ int lock_fd = -1;
	struct pev_seal_result res = { 0 };
	struct pev_trace_head head;
	struct stat st;
	int r;

	/* The file itself is replaced, not a link to it. */
	if (!real || stat(real, &st) < 0 || asprintf(&beside, "%s.sealing", real) < 0)
		return pev_err_set(err, -errno, "cannot seal %s: %s", path, pev_errno_str(errno));
	r = lock_trace(real, &lock_fd, err);
	if (r == 0)
		r = pev_trace_open(real, &options, &t, err);
	if (r < 0)
		return r;
	head = pev_trace_head(t);
	if (head.swap)
		return pev_err_set(
			err, -EPROTONOSUPPORT,
			"%s was written on a machine of the other byte order: seal it there", path);
	if (!head.nr_events)
		return pev_err_set(err, -ENODATA,
				   "%s is cut before its first event: there is nothing to keep",
				   path);
	(void)unlink(beside); /* of a seal that was killed */
	r = write_sealed(t, v, beside, real, &st, &res, err);
	if (r < 0) {
		(void)unlink(beside);
		return r;
	}
	*ret = res;
	return 0;
}
