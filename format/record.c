// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Decoding one record. Happy path: check the header, take the trailer off the end, read the body by
 * type through a cursor that ends where the trailer starts. Failure: anything that reads past its
 * end leaves the cursor failed, which is checked once. The layouts are those of the comments in
 * include/uapi/linux/perf_event.h, enum perf_event_type.
 */
#include "format/record.h"

#include "base/checked.h"
#include "format/sample.h"

#include <errno.h>
#include <inttypes.h>

static const char *const type_names[] = {
	[PEV_REC_MMAP] = "MMAP",
	[PEV_REC_LOST] = "LOST",
	[PEV_REC_COMM] = "COMM",
	[PEV_REC_EXIT] = "EXIT",
	[PEV_REC_THROTTLE] = "THROTTLE",
	[PEV_REC_UNTHROTTLE] = "UNTHROTTLE",
	[PEV_REC_FORK] = "FORK",
	[PEV_REC_READ] = "READ",
	[PEV_REC_SAMPLE] = "SAMPLE",
	[PEV_REC_MMAP2] = "MMAP2",
	[PEV_REC_AUX] = "AUX",
	[PEV_REC_ITRACE_START] = "ITRACE_START",
	[PEV_REC_LOST_SAMPLES] = "LOST_SAMPLES",
	[PEV_REC_SWITCH] = "SWITCH",
	[PEV_REC_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
	[PEV_REC_NAMESPACES] = "NAMESPACES",
	[PEV_REC_KSYMBOL] = "KSYMBOL",
	[PEV_REC_BPF_EVENT] = "BPF_EVENT",
	[PEV_REC_CGROUP] = "CGROUP",
	[PEV_REC_TEXT_POKE] = "TEXT_POKE",
	[PEV_REC_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
	[PEV_REC_CALLCHAIN_DEFERRED] = "CALLCHAIN_DEFERRED",
	[PEV_REC_HEADER_ATTR] = "ATTR",
	[PEV_REC_HEADER_EVENT_TYPE] = "EVENT_TYPE",
	[PEV_REC_HEADER_TRACING_DATA] = "TRACING_DATA",
	[PEV_REC_HEADER_BUILD_ID] = "BUILD_ID",
	[PEV_REC_FINISHED_ROUND] = "FINISHED_ROUND",
	[PEV_REC_ID_INDEX] = "ID_INDEX",
	[PEV_REC_AUXTRACE_INFO] = "AUXTRACE_INFO",
	[PEV_REC_AUXTRACE] = "AUXTRACE",
	[PEV_REC_AUXTRACE_ERROR] = "AUXTRACE_ERROR",
	[PEV_REC_THREAD_MAP] = "THREAD_MAP",
	[PEV_REC_CPU_MAP] = "CPU_MAP",
	[PEV_REC_STAT_CONFIG] = "STAT_CONFIG",
	[PEV_REC_STAT] = "STAT",
	[PEV_REC_STAT_ROUND] = "STAT_ROUND",
	[PEV_REC_EVENT_UPDATE] = "EVENT_UPDATE",
	[PEV_REC_TIME_CONV] = "TIME_CONV",
	[PEV_REC_HEADER_FEATURE] = "FEATURE",
	[PEV_REC_COMPRESSED] = "COMPRESSED",
	[PEV_REC_FINISHED_INIT] = "FINISHED_INIT",
	[PEV_REC_COMPRESSED2] = "COMPRESSED2",
};

const char *pev_rec_type_name(uint32_t type)
{
	return type < sizeof(type_names) / sizeof(type_names[0]) ? type_names[type] : NULL;
}

size_t pev_sample_id_size(const struct pev_attr *attr)
{
	if (!(attr->flags & PEV_ATTR_SAMPLE_ID_ALL))
		return 0;
	return 8 * (size_t)__builtin_popcountll(attr->sample_type & PEV_SAMPLE_ID_BITS);
}

static void decode_trailer(struct pev_cursor *c, uint64_t sample_type, struct pev_sample_id *id)
{
	id->has = sample_type & PEV_SAMPLE_ID_BITS;
	if (sample_type & PEV_SAMPLE_TID) {
		id->pid = pev_cursor_u32(c);
		id->tid = pev_cursor_u32(c);
	}
	if (sample_type & PEV_SAMPLE_TIME)
		id->time = pev_cursor_u64(c);
	if (sample_type & PEV_SAMPLE_ID)
		id->id = pev_cursor_u64(c);
	if (sample_type & PEV_SAMPLE_STREAM_ID)
		id->stream_id = pev_cursor_u64(c);
	if (sample_type & PEV_SAMPLE_CPU) {
		id->cpu = pev_cursor_u32(c);
		id->cpu_res = pev_cursor_u32(c);
	}
	if (sample_type & PEV_SAMPLE_IDENTIFIER)
		id->id = pev_cursor_u64(c);
}

static struct pev_bytes bytes_of(struct pev_cursor *c, uint64_t size)
{
	const uint8_t *const p = pev_cursor_bytes(c, size);

	return (struct pev_bytes){ .p = p, .size = p ? size : 0 };
}

/*
 * Does a build-id identify the file of the MMAP2 whose identity comes next, or its inode? The bit
 * in misc tells, but Linux may lie: it writes a mapping to all events that asked for it with one
 * header and does not clear the bit again behind an event that wants build-ids
 * (perf_event_mmap_output(), seen in 6.18), so that wherever a second profiler runs the bit stands
 * before an inode. The bit of an event that did not ask for build-ids is believed only where
 * someone else has put one: of 16 or 20 bytes, which in an inode's place would be a major device
 * number that no file system is on.
 */
static bool has_build_id(const struct pev_cursor *c, const struct pev_attr *attr,
			 const struct pev_rec_hdr *hdr)
{
	struct pev_cursor ahead = *c;
	const uint8_t *size;

	if (!(hdr->misc & PEV_MISC_MMAP_BUILD_ID))
		return false;
	if (attr->flags & PEV_ATTR_BUILD_ID)
		return true;
	size = pev_cursor_bytes(&ahead, 4);
	return size && (size[0] == 16 || size[0] == 20) && !size[1] && !size[2] && !size[3];
}

/*
 * MMAP2 was first without prot and flags: in kernels of RHEL 7 up to 3.10.0-123, which took it over
 * before Linux 3.16 gave it its final form (f972eb63b100). Then the path is where they would be,
 * whose first letters are no PROT_* that there ever was: READ, WRITE, EXEC, SEM and what
 * architectures have beside them, GROWSDOWN, GROWSUP. perf inject --jit puts the mode of a file
 * there, which has 16 bits.
 */
static bool lacks_prot(const struct pev_cursor *c)
{
	struct pev_cursor ahead = *c;
	const uint32_t word = pev_cursor_u32(&ahead);

	return word & ~0x0300003fU && word > UINT16_MAX;
}

static void decode_mmap(struct pev_cursor *c, const struct pev_attr *attr, struct pev_rec_hdr *hdr,
			struct pev_mmap *m)
{
	m->pid = pev_cursor_u32(c);
	m->tid = pev_cursor_u32(c);
	m->start = pev_cursor_u64(c);
	m->len = pev_cursor_u64(c);
	m->pgoff = pev_cursor_u64(c);
	if (hdr->type == PEV_REC_MMAP2) {
		if (has_build_id(c, attr, hdr)) {
			const uint8_t *p;

			m->build_id_size = pev_cursor_u8(c);
			(void)pev_cursor_bytes(c, 3);
			p = pev_cursor_bytes(c, PEV_BUILD_ID_MAX);
			if (m->build_id_size > PEV_BUILD_ID_MAX)
				c->failed = true;
			else if (p)
				memcpy(m->build_id, p, m->build_id_size);
		} else {
			hdr->misc &= (uint16_t)~PEV_MISC_MMAP_BUILD_ID;
			m->maj = pev_cursor_u32(c);
			m->min = pev_cursor_u32(c);
			m->ino = pev_cursor_u64(c);
			m->ino_generation = pev_cursor_u64(c);
		}
		if (!lacks_prot(c)) {
			m->prot = pev_cursor_u32(c);
			m->flags = pev_cursor_u32(c);
		}
	}
	m->filename = pev_cursor_str(c, pev_cursor_left(c));
}

static void decode_namespaces(struct pev_cursor *c, struct pev_record *rec)
{
	rec->namespaces.pid = pev_cursor_u32(c);
	rec->namespaces.tid = pev_cursor_u32(c);
	rec->namespaces.nr = pev_cursor_u64(c);
	if (rec->namespaces.nr > UINT16_MAX) { /* a record is no longer than that */
		c->failed = true;
		return;
	}
	rec->namespaces.links = pev_cursor_u64s(c, 2 * rec->namespaces.nr);
}

/* A string that takes as many multiples of 8 bytes as it needs, whatever follows. */
static const char *padded_string(struct pev_cursor *c)
{
	const size_t left = pev_cursor_left(c);
	const size_t n = pev_align8(strnlen((const char *)c->p, left) + 1);

	return pev_cursor_str(c, PEV_MIN(n, left));
}

static void decode_text_poke(struct pev_cursor *c, struct pev_record *rec)
{
	uint16_t old_len, new_len;

	rec->text_poke.addr = pev_cursor_u64(c);
	old_len = pev_cursor_u16(c);
	new_len = pev_cursor_u16(c);
	rec->text_poke.old_code = bytes_of(c, old_len);
	rec->text_poke.new_code = bytes_of(c, new_len);
	/* Padding to a multiple of 8 follows: 8 + 2 + 2 came before the code. */
	(void)pev_cursor_bytes(c, -(4U + old_len + new_len) & 7);
}

/* -EPROTONOSUPPORT for an unknown type; short bodies are left for the caller to see in the cursor.
 */
static int decode_body(struct pev_cursor *c, const struct pev_attr *attr, struct pev_record *rec)
{
	switch (rec->hdr.type) {
	case PEV_REC_MMAP:
	case PEV_REC_MMAP2:
		decode_mmap(c, attr, &rec->hdr, &rec->mmap);
		break;
	case PEV_REC_LOST:
		rec->lost.id = pev_cursor_u64(c);
		rec->lost.lost = pev_cursor_u64(c);
		break;
	case PEV_REC_COMM:
		rec->comm.pid = pev_cursor_u32(c);
		rec->comm.tid = pev_cursor_u32(c);
		rec->comm.comm = pev_cursor_str(c, pev_cursor_left(c));
		break;
	case PEV_REC_FORK:
	case PEV_REC_EXIT:
		rec->task.pid = pev_cursor_u32(c);
		rec->task.ppid = pev_cursor_u32(c);
		rec->task.tid = pev_cursor_u32(c);
		rec->task.ptid = pev_cursor_u32(c);
		rec->task.time = pev_cursor_u64(c);
		break;
	case PEV_REC_THROTTLE:
	case PEV_REC_UNTHROTTLE:
		rec->throttle.time = pev_cursor_u64(c);
		rec->throttle.id = pev_cursor_u64(c);
		rec->throttle.stream_id = pev_cursor_u64(c);
		break;
	case PEV_REC_READ:
		rec->read.pid = pev_cursor_u32(c);
		rec->read.tid = pev_cursor_u32(c);
		pev_read_values_decode(c, attr->read_format, &rec->read.values);
		break;
	case PEV_REC_AUX:
		rec->aux.offset = pev_cursor_u64(c);
		rec->aux.size = pev_cursor_u64(c);
		rec->aux.flags = pev_cursor_u64(c);
		break;
	case PEV_REC_ITRACE_START:
		rec->itrace_start.pid = pev_cursor_u32(c);
		rec->itrace_start.tid = pev_cursor_u32(c);
		break;
	case PEV_REC_LOST_SAMPLES:
		rec->lost_samples.lost = pev_cursor_u64(c);
		break;
	case PEV_REC_SWITCH:
		break;
	case PEV_REC_SWITCH_CPU_WIDE:
		rec->switch_cpu_wide.pid = pev_cursor_u32(c);
		rec->switch_cpu_wide.tid = pev_cursor_u32(c);
		break;
	case PEV_REC_NAMESPACES:
		decode_namespaces(c, rec);
		break;
	case PEV_REC_KSYMBOL:
		rec->ksymbol.addr = pev_cursor_u64(c);
		rec->ksymbol.len = pev_cursor_u32(c);
		rec->ksymbol.type = pev_cursor_u16(c);
		rec->ksymbol.flags = pev_cursor_u16(c);
		rec->ksymbol.name = padded_string(c);
		break;
	case PEV_REC_BPF_EVENT: {
		const uint8_t *tag;

		rec->bpf_event.type = pev_cursor_u16(c);
		rec->bpf_event.flags = pev_cursor_u16(c);
		rec->bpf_event.prog_id = pev_cursor_u32(c);
		tag = pev_cursor_bytes(c, PEV_BPF_TAG_SIZE);
		if (tag)
			memcpy(rec->bpf_event.tag, tag, PEV_BPF_TAG_SIZE);
		break;
	}
	case PEV_REC_CGROUP:
		rec->cgroup.id = pev_cursor_u64(c);
		rec->cgroup.path = pev_cursor_str(c, pev_cursor_left(c));
		break;
	case PEV_REC_TEXT_POKE:
		decode_text_poke(c, rec);
		break;
	case PEV_REC_AUX_OUTPUT_HW_ID:
		rec->aux_output_hw_id.hw_id = pev_cursor_u64(c);
		break;
	case PEV_REC_CALLCHAIN_DEFERRED: {
		uint64_t nr;

		rec->callchain_deferred.cookie = pev_cursor_u64(c);
		nr = pev_cursor_u64(c);
		rec->callchain_deferred.callchain = pev_cursor_u64s(c, nr);
		break;
	}
	default:
		return -EPROTONOSUPPORT;
	}
	return 0;
}

/* Names the record in an error; the type's number when it has no name. */
static int bad(struct pev_err *err, int code, const struct pev_rec_hdr *hdr, const char *what)
{
	const char *const name = pev_rec_type_name(hdr->type);

	if (name)
		return pev_err_set(err, code, "record %s of %u bytes: %s", name, hdr->size, what);
	return pev_err_set(err, code, "record of type %" PRIu32 ", %u bytes: %s", hdr->type,
			   hdr->size, what);
}

int pev_record_decode(const struct pev_attr *attr, const void *bytes, size_t size, bool swap,
		      struct pev_record *ret, struct pev_err *err)
{
	struct pev_cursor c = pev_cursor(bytes, size), trailer;
	const size_t id_size = pev_sample_id_size(attr);
	int r;

	c.swap = swap;
	ret->hdr.type = pev_cursor_u32(&c);
	ret->hdr.misc = pev_cursor_u16(&c);
	ret->hdr.size = pev_cursor_u16(&c);
	if (c.failed)
		return pev_err_set(err, -ENODATA, "record cut within its header");
	if (ret->hdr.size < sizeof(ret->hdr))
		return bad(err, -EBADMSG, &ret->hdr, "smaller than its own header");
	if (ret->hdr.size > size)
		return bad(err, -ENODATA, &ret->hdr, "cut short");
	c.end = (const uint8_t *)bytes + ret->hdr.size;

	if (ret->hdr.type == PEV_REC_SAMPLE) {
		pev_sample_decode(&c, attr, bytes, ret);
	} else {
		const bool oversized = pev_rec_may_be_oversized(ret->hdr.type);

		/* The union holds nothing larger than a sample, but the small ones need not pay for
		 * clearing it. */
		memset(&ret->id, 0, sizeof(ret->id));
		memset(&ret->mmap, 0, sizeof(ret->mmap));
		trailer = c;
		if (!oversized && id_size && id_size <= pev_cursor_left(&c)) {
			trailer.p = c.end = c.end - id_size;
			decode_trailer(&trailer, attr->sample_type, &ret->id);
		}
		r = decode_body(&c, attr, ret);
		if (r < 0)
			return bad(err, r, &ret->hdr, "no record of the kernel that we know");
		if (oversized && id_size && id_size <= pev_cursor_left(&c))
			decode_trailer(&c, attr->sample_type, &ret->id);
	}
	if (c.failed)
		return bad(err, -EBADMSG, &ret->hdr, "its fields do not fit its size");
	ret->rest = pev_cursor_left(&c);
	return 0;
}
