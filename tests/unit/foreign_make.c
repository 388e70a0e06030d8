// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The layouts are those of perf's Documentation/perf.data-file-format.txt, each integer written
 * byte by byte in the order asked for; bit-fields begin at the lowest bit of their first byte on
 * little-endian machines, and at its highest on the others.
 */
#include "test.h"

#include "foreign_make.h"
#include "record_make.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <string.h>
#include <sys/mman.h>
#include <zstd.h>

static void put(struct pev_buf *buf, bool big, uint64_t v, unsigned int width)
{
	for (unsigned int i = 0; i < width; i++)
		pev_buf_u8(buf, (uint8_t)(v >> 8 * (big ? width - 1 - i : i)));
}

static void patch(struct pev_buf *buf, size_t at, bool big, uint64_t v, unsigned int width)
{
	struct pev_buf tmp = { 0 };

	put(&tmp, big, v, width);
	memcpy(buf->data + at, tmp.data, width);
	pev_buf_done(&tmp);
}

static void put_flags(struct pev_buf *buf, bool big, uint64_t flags)
{
	uint8_t bytes[8] = { 0 };

	for (unsigned int bit = 0; bit < 64; bit++) {
		unsigned int at = bit;

		/* precise_ip has two bits, the higher of which comes first on a big-endian machine.
		 */
		if (big &&
		    (bit == PEV_ATTR_PRECISE_IP_SHIFT || bit == PEV_ATTR_PRECISE_IP_SHIFT + 1))
			at = 2 * PEV_ATTR_PRECISE_IP_SHIFT + 1 - bit;
		if (flags >> bit & 1)
			bytes[at / 8] |= (uint8_t)(big ? 0x80 >> at % 8 : 1 << at % 8);
	}
	pev_buf_put(buf, bytes, sizeof(bytes));
}

/* 128 bytes of it. */
static void put_attr(struct pev_buf *buf, bool big, const struct pev_attr *a)
{
	const size_t start = buf->size;

	put(buf, big, a->type, 4);
	put(buf, big, PEV_ATTR_SIZE_VER7, 4);
	put(buf, big, a->config, 8);
	put(buf, big, a->sample_period, 8);
	put(buf, big, a->sample_type, 8);
	put(buf, big, a->read_format, 8);
	put_flags(buf, big, a->flags);
	put(buf, big, a->wakeup, 4);
	put(buf, big, a->bp_type, 4);
	put(buf, big, a->config1, 8);
	put(buf, big, a->config2, 8);
	put(buf, big, a->branch_sample_type, 8);
	put(buf, big, a->sample_regs_user, 8);
	put(buf, big, a->sample_stack_user, 4);
	put(buf, big, (uint32_t)a->clockid, 4);
	put(buf, big, a->sample_regs_intr, 8);
	put(buf, big, a->aux_watermark, 4);
	put(buf, big, a->sample_max_stack, 2);
	put(buf, big, 0, 2);
	put(buf, big, a->aux_sample_size, 4);
	put(buf, big, 0, 4);
	put(buf, big, a->sig_data, 8);
	assert_int_equal(buf->size - start, PEV_ATTR_SIZE_VER7);
}

void foreign_init(struct foreign *f, bool big)
{
	*f = (struct foreign){ .big = big };
	f->cctx = ZSTD_createCCtx();
	assert_non_null(f->cctx);
}

void foreign_done(struct foreign *f)
{
	for (size_t i = 0; i < f->nr_events; i++)
		free((void *)(uintptr_t)f->events[i].ids);
	pev_buf_done(&f->data);
	ZSTD_freeCCtx(f->cctx);
}

void foreign_event(struct foreign *f, const struct pev_attr *attr, const char *name)
{
	struct pev_trace_event *const e = &f->events[f->nr_events];
	uint64_t *const id = malloc(sizeof(*id));

	assert_in_range(f->nr_events, 0, FOREIGN_EVENTS - 1);
	assert_non_null(id);
	*id = ++f->nr_events;
	*e = (struct pev_trace_event){ .attr = *attr, .ids = id, .nr_ids = 1, .name = name };
}

void foreign_record(struct foreign *f, size_t event, const struct pev_record *rec)
{
	const bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	const struct pev_attr *const attr = &f->events[event].attr;
	const size_t start = f->data.size;

	assert_int_equal(pev_record_encode(attr, rec, &f->data), 0);
	if (f->big != host_is_big)
		swap_record(attr, f->data.data + start, f->data.size - start);
}

void foreign_user(struct foreign *f, uint32_t type, const uint64_t *words, size_t nr)
{
	put(&f->data, f->big, type, 4);
	put(&f->data, f->big, 0, 2);
	put(&f->data, f->big, 8 + 8 * nr, 2);
	for (size_t i = 0; i < nr; i++)
		put(&f->data, f->big, words[i], 8);
}

void foreign_round(struct foreign *f)
{
	foreign_user(f, PEV_REC_FINISHED_ROUND, NULL, 0);
}

void foreign_sample(struct foreign *f, uint64_t time, uint32_t cpu, uint32_t tid)
{
	const struct pev_record rec = {
		.hdr = { .type = PEV_REC_SAMPLE, .misc = PEV_MISC_USER },
		.id = { .time = time, .cpu = cpu, .pid = 1, .tid = tid, .id = f->events[0].ids[0] },
		.sample = { .ip = 0x1000 + tid, .period = 1 },
	};

	foreign_record(f, 0, &rec);
}

void foreign_compress(struct foreign *f, uint32_t type, size_t leave)
{
	const size_t size = f->data.size - f->plain_from - leave;
	struct pev_buf packed = { 0 }, left = { 0 };
	ZSTD_inBuffer in = { f->data.data + f->plain_from, size, 0 };
	ZSTD_outBuffer out = { NULL, ZSTD_compressBound(size) + 64, 0 };
	size_t whole, head;

	out.dst = pev_buf_extend(&packed, out.size);
	assert_int_equal(ZSTD_compressStream2(f->cctx, &out, &in, ZSTD_e_flush), 0);
	pev_buf_put(&left, f->data.data + f->plain_from + size, leave);
	f->data.size = f->plain_from;
	head = type == PEV_REC_COMPRESSED ? 8 : 16;
	whole = head + out.pos;
	if (type != PEV_REC_COMPRESSED)
		whole = (whole + 7) & ~(size_t)7;
	assert_in_range(whole, 1, 65535);
	put(&f->data, f->big, type, 4);
	put(&f->data, f->big, 0, 2);
	put(&f->data, f->big, whole, 2);
	if (type != PEV_REC_COMPRESSED)
		put(&f->data, f->big, out.pos, 8);
	pev_buf_put(&f->data, packed.data, out.pos);
	pev_buf_zero(&f->data, whole - head - out.pos);
	f->plain_from = f->data.size;
	pev_buf_put(&f->data, left.data, left.size);
	pev_buf_done(&packed);
	pev_buf_done(&left);
}

/* The bytes of a feature; none when the trace does not have it. */
static void put_feature(const struct foreign *f, unsigned int feat, struct pev_buf *buf)
{
	const size_t start = buf->size;

	switch (feat) {
	case PEV_FEAT_HOSTNAME:
		if (!f->hostname)
			break;
		put(buf, f->big, 64, 4);
		pev_buf_put(buf, f->hostname, strlen(f->hostname));
		pev_buf_zero(buf, 64 - strlen(f->hostname));
		break;
	case PEV_FEAT_EVENT_DESC:
		put(buf, f->big, f->nr_events, 4);
		put(buf, f->big, PEV_ATTR_SIZE_VER7, 4);
		for (size_t i = 0; i < f->nr_events; i++) {
			put_attr(buf, f->big, &f->events[i].attr);
			put(buf, f->big, 1, 4);
			put(buf, f->big, 64, 4);
			pev_buf_put(buf, f->events[i].name, strlen(f->events[i].name));
			pev_buf_zero(buf, 64 - strlen(f->events[i].name));
			put(buf, f->big, f->events[i].ids[0], 8);
		}
		break;
	case PEV_FEAT_SAMPLE_TIME:
		if (f->first_ns) {
			put(buf, f->big, f->first_ns, 8);
			put(buf, f->big, f->last_ns, 8);
		}
		break;
	case PEV_FEAT_DIR_FORMAT:
		if (f->dir_version)
			put(buf, f->big, f->dir_version, 8);
		break;
	case PEV_FEAT_CLOCK_DATA:
		if (f->tod_ns) {
			put(buf, f->big, 1, 4);
			put(buf, f->big, (uint32_t)f->clockid, 4);
			put(buf, f->big, f->tod_ns, 8);
			put(buf, f->big, f->clockid_ns, 8);
		}
		break;
	default:
		break;
	}
	assert_true(buf->size >= start);
}

/* Header, ids, attrs, data, the table of features, features. */
void foreign_file(const struct foreign *f, struct pev_buf *ret)
{
	const size_t ids_at = 104, attrs_at = ids_at + 8 * f->nr_events;
	const size_t entry = PEV_ATTR_SIZE_VER7 + 16, data_at = attrs_at + entry * f->nr_events;
	struct pev_buf features[PEV_FEAT_MAX] = { 0 };
	uint64_t has = 0, at;

	for (unsigned int i = 0; i < PEV_FEAT_MAX; i++) {
		put_feature(f, i, &features[i]);
		has |= (uint64_t)(features[i].size != 0) << i;
	}
	put(ret, f->big, PEV_MAGIC, 8);
	put(ret, f->big, 104, 8);
	put(ret, f->big, entry, 8);
	put(ret, f->big, attrs_at, 8);
	put(ret, f->big, entry * f->nr_events, 8);
	put(ret, f->big, data_at, 8);
	put(ret, f->big, f->data.size, 8);
	pev_buf_zero(ret, 16);
	put(ret, f->big, has, 8);
	pev_buf_zero(ret, 24);
	for (size_t i = 0; i < f->nr_events; i++)
		put(ret, f->big, f->events[i].ids[0], 8);
	for (size_t i = 0; i < f->nr_events; i++) {
		put_attr(ret, f->big, &f->events[i].attr);
		put(ret, f->big, ids_at + 8 * i, 8);
		put(ret, f->big, 8, 8);
	}
	pev_buf_put(ret, f->data.data, f->data.size);
	at = ret->size + 16 * (size_t)__builtin_popcountll(has);
	for (unsigned int i = 0; i < PEV_FEAT_MAX; i++) {
		if (!features[i].size)
			continue;
		put(ret, f->big, at, 8);
		put(ret, f->big, features[i].size, 8);
		at += features[i].size;
	}
	for (unsigned int i = 0; i < PEV_FEAT_MAX; i++) {
		pev_buf_put(ret, features[i].data, features[i].size);
		pev_buf_done(&features[i]);
	}
}

/* Header, an ATTR record for each event, FEATURE records, data. */
void foreign_pipe(const struct foreign *f, struct pev_buf *ret)
{
	put(ret, f->big, PEV_MAGIC, 8);
	put(ret, f->big, 16, 8);
	for (size_t i = 0; i < f->nr_events; i++) {
		put(ret, f->big, PEV_REC_HEADER_ATTR, 4);
		put(ret, f->big, 0, 2);
		put(ret, f->big, 8 + PEV_ATTR_SIZE_VER7 + 8, 2);
		put_attr(ret, f->big, &f->events[i].attr);
		put(ret, f->big, f->events[i].ids[0], 8);
	}
	for (unsigned int i = 0; i < PEV_FEAT_MAX; i++) {
		const size_t start = ret->size;

		put(ret, f->big, PEV_REC_HEADER_FEATURE, 4);
		put(ret, f->big, 0, 4);
		put(ret, f->big, i, 8);
		put_feature(f, i, ret);
		if (ret->size == start + 16)
			ret->size = start;
		else
			patch(ret, start + 6, f->big, ret->size - start, 2);
	}
	pev_buf_put(ret, f->data.data, f->data.size);
}

struct foreign_path foreign_path(const struct pev_buf *bytes)
{
	struct foreign_path p = { .fd = memfd_create("foreign", MFD_CLOEXEC) };

	assert_true(p.fd >= 0);
	assert_int_equal(pev_buf_status(bytes), 0);
	assert_int_equal(pev_write_all(p.fd, bytes->data, bytes->size), 0);
	(void)snprintf(p.path, sizeof(p.path), "/proc/self/fd/%d", p.fd);
	return p;
}

void foreign_path_done(struct foreign_path *p)
{
	(void)close(p->fd);
}
