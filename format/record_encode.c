// SPDX-License-Identifier: LGPL-2.1-or-later
/* Encoding one record: the mirror image of format/record.c. */
#include "format/sample.h"

#include <errno.h>
#include <inttypes.h>

static void encode_trailer(struct pev_buf *buf, uint64_t sample_type,
			   const struct pev_sample_id *id)
{
	if (sample_type & PEV_SAMPLE_TID) {
		pev_buf_u32(buf, id->pid);
		pev_buf_u32(buf, id->tid);
	}
	if (sample_type & PEV_SAMPLE_TIME)
		pev_buf_u64(buf, id->time);
	if (sample_type & PEV_SAMPLE_ID)
		pev_buf_u64(buf, id->id);
	if (sample_type & PEV_SAMPLE_STREAM_ID)
		pev_buf_u64(buf, id->stream_id);
	if (sample_type & PEV_SAMPLE_CPU) {
		pev_buf_u32(buf, id->cpu);
		pev_buf_u32(buf, id->cpu_res);
	}
	if (sample_type & PEV_SAMPLE_IDENTIFIER)
		pev_buf_u64(buf, id->id);
}

static void encode_mmap(struct pev_buf *buf, const struct pev_rec_hdr *hdr,
			const struct pev_mmap *m)
{
	pev_buf_u32(buf, m->pid);
	pev_buf_u32(buf, m->tid);
	pev_buf_u64(buf, m->start);
	pev_buf_u64(buf, m->len);
	pev_buf_u64(buf, m->pgoff);
	if (hdr->type == PEV_REC_MMAP2) {
		if (hdr->misc & PEV_MISC_MMAP_BUILD_ID) {
			pev_buf_u8(buf, m->build_id_size);
			pev_buf_zero(buf, 3);
			pev_buf_put(buf, m->build_id, PEV_BUILD_ID_MAX);
		} else {
			pev_buf_u32(buf, m->maj);
			pev_buf_u32(buf, m->min);
			pev_buf_u64(buf, m->ino);
			pev_buf_u64(buf, m->ino_generation);
		}
		pev_buf_u32(buf, m->prot);
		pev_buf_u32(buf, m->flags);
	}
	pev_buf_str8(buf, m->filename);
}

static void encode_words(struct pev_buf *buf, const struct pev_u64s *a)
{
	for (uint64_t i = 0; i < a->nr; i++)
		pev_buf_u64(buf, pev_u64s_at(a, i));
}

static void encode_text_poke(struct pev_buf *buf, const struct pev_record *rec)
{
	const size_t lens =
		2 * sizeof(uint16_t) + rec->text_poke.old_code.size + rec->text_poke.new_code.size;

	pev_buf_u64(buf, rec->text_poke.addr);
	pev_buf_u16(buf, (uint16_t)rec->text_poke.old_code.size);
	pev_buf_u16(buf, (uint16_t)rec->text_poke.new_code.size);
	pev_buf_put(buf, rec->text_poke.old_code.p, rec->text_poke.old_code.size);
	pev_buf_put(buf, rec->text_poke.new_code.p, rec->text_poke.new_code.size);
	pev_buf_zero(buf, -lens & 7);
}

/* False for a type no ABI has. */
static bool encode_body(struct pev_buf *buf, const struct pev_attr *attr,
			const struct pev_record *rec)
{
	switch (rec->hdr.type) {
	case PEV_REC_MMAP:
	case PEV_REC_MMAP2:
		encode_mmap(buf, &rec->hdr, &rec->mmap);
		break;
	case PEV_REC_LOST:
		pev_buf_u64(buf, rec->lost.id);
		pev_buf_u64(buf, rec->lost.lost);
		break;
	case PEV_REC_COMM:
		pev_buf_u32(buf, rec->comm.pid);
		pev_buf_u32(buf, rec->comm.tid);
		pev_buf_str8(buf, rec->comm.comm);
		break;
	case PEV_REC_FORK:
	case PEV_REC_EXIT:
		pev_buf_u32(buf, rec->task.pid);
		pev_buf_u32(buf, rec->task.ppid);
		pev_buf_u32(buf, rec->task.tid);
		pev_buf_u32(buf, rec->task.ptid);
		pev_buf_u64(buf, rec->task.time);
		break;
	case PEV_REC_THROTTLE:
	case PEV_REC_UNTHROTTLE:
		pev_buf_u64(buf, rec->throttle.time);
		pev_buf_u64(buf, rec->throttle.id);
		pev_buf_u64(buf, rec->throttle.stream_id);
		break;
	case PEV_REC_READ:
		pev_buf_u32(buf, rec->read.pid);
		pev_buf_u32(buf, rec->read.tid);
		pev_read_values_encode(buf, attr->read_format, &rec->read.values);
		break;
	case PEV_REC_SAMPLE:
		pev_sample_encode(buf, attr, rec);
		break;
	case PEV_REC_AUX:
		pev_buf_u64(buf, rec->aux.offset);
		pev_buf_u64(buf, rec->aux.size);
		pev_buf_u64(buf, rec->aux.flags);
		break;
	case PEV_REC_ITRACE_START:
		pev_buf_u32(buf, rec->itrace_start.pid);
		pev_buf_u32(buf, rec->itrace_start.tid);
		break;
	case PEV_REC_LOST_SAMPLES:
		pev_buf_u64(buf, rec->lost_samples.lost);
		break;
	case PEV_REC_SWITCH:
		break;
	case PEV_REC_SWITCH_CPU_WIDE:
		pev_buf_u32(buf, rec->switch_cpu_wide.pid);
		pev_buf_u32(buf, rec->switch_cpu_wide.tid);
		break;
	case PEV_REC_NAMESPACES:
		pev_buf_u32(buf, rec->namespaces.pid);
		pev_buf_u32(buf, rec->namespaces.tid);
		pev_buf_u64(buf, rec->namespaces.nr);
		encode_words(buf, &rec->namespaces.links);
		break;
	case PEV_REC_KSYMBOL:
		pev_buf_u64(buf, rec->ksymbol.addr);
		pev_buf_u32(buf, rec->ksymbol.len);
		pev_buf_u16(buf, rec->ksymbol.type);
		pev_buf_u16(buf, rec->ksymbol.flags);
		pev_buf_str8(buf, rec->ksymbol.name);
		break;
	case PEV_REC_BPF_EVENT:
		pev_buf_u16(buf, rec->bpf_event.type);
		pev_buf_u16(buf, rec->bpf_event.flags);
		pev_buf_u32(buf, rec->bpf_event.prog_id);
		pev_buf_put(buf, rec->bpf_event.tag, PEV_BPF_TAG_SIZE);
		break;
	case PEV_REC_CGROUP:
		pev_buf_u64(buf, rec->cgroup.id);
		pev_buf_str8(buf, rec->cgroup.path);
		break;
	case PEV_REC_TEXT_POKE:
		encode_text_poke(buf, rec);
		break;
	case PEV_REC_AUX_OUTPUT_HW_ID:
		pev_buf_u64(buf, rec->aux_output_hw_id.hw_id);
		break;
	case PEV_REC_CALLCHAIN_DEFERRED:
		pev_buf_u64(buf, rec->callchain_deferred.cookie);
		pev_buf_u64(buf, rec->callchain_deferred.callchain.nr);
		encode_words(buf, &rec->callchain_deferred.callchain);
		break;
	default:
		return false;
	}
	return true;
}

/* Takes back what was put of a record that cannot be. */
static int undo(struct pev_buf *buf, size_t start, int code)
{
	buf->size = start;
	return code;
}

int pev_record_encode(const struct pev_attr *attr, const struct pev_record *rec,
		      struct pev_buf *buf)
{
	const size_t start = buf->size;
	struct pev_rec_hdr hdr = rec->hdr;

	pev_buf_put(buf, &hdr, sizeof(hdr));
	if (!encode_body(buf, attr, rec))
		return undo(buf, start, -EPROTONOSUPPORT);
	if (hdr.type != PEV_REC_SAMPLE && attr->flags & PEV_ATTR_SAMPLE_ID_ALL)
		encode_trailer(buf, attr->sample_type, &rec->id);
	if (pev_buf_status(buf) < 0)
		return undo(buf, start, -ENOMEM);
	if (buf->size - start > PEV_REC_MAX_SIZE)
		return undo(buf, start, -E2BIG);
	hdr.size = (uint16_t)(buf->size - start);
	memcpy(buf->data + start, &hdr, sizeof(hdr));
	return 0;
}
