// SPDX-License-Identifier: LGPL-2.1-or-later
/* As perf_event__fprintf() of perf's util/event.c has them. */
#include "report/script_part.h"

#include "base/checked.h"

#include <inttypes.h>
#include <sys/mman.h>

static void print_mmap(struct script *s, const struct pev_record *rec)
{
	const struct pev_mmap *const m = &rec->mmap;

	pev_out_printf(&s->out, " %d/%d: [%#" PRIx64 "(%#" PRIx64 ") @ %#" PRIx64, (int)m->pid,
		       (int)m->tid, m->start, m->len, m->pgoff);
	if (rec->hdr.type == PEV_REC_MMAP) {
		pev_out_printf(&s->out, "]: %c %s\n",
			       rec->hdr.misc & PEV_MISC_MMAP_DATA ? 'r' : 'x', m->filename);
		return;
	}
	pev_out_char(&s->out, ' ');
	if (rec->hdr.misc & PEV_MISC_MMAP_BUILD_ID) {
		pev_out_char(&s->out, '<');
		for (unsigned int i = 0; i < m->build_id_size; i++)
			pev_out_printf(&s->out, "%02x", m->build_id[i]);
		pev_out_char(&s->out, '>');
	} else {
		pev_out_printf(&s->out, "%02x:%02x %" PRIu64 " %" PRIu64, m->maj, m->min, m->ino,
			       m->ino_generation);
	}
	pev_out_printf(&s->out, "]: %c%c%c%c %s\n", m->prot & PROT_READ ? 'r' : '-',
		       m->prot & PROT_WRITE ? 'w' : '-', m->prot & PROT_EXEC ? 'x' : '-',
		       m->flags & MAP_SHARED ? 's' : 'p', m->filename);
}

static void print_namespaces(struct script *s, const struct pev_record *rec)
{
	static const char *const names[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	const uint64_t nr = rec->namespaces.nr;

	pev_out_printf(&s->out, " %d/%d - nr_namespaces: %u\n\t\t[", (int)rec->namespaces.pid,
		       (int)rec->namespaces.tid, (unsigned int)nr);
	for (uint64_t i = 0; i < nr; i++) {
		if (i && i % 4 == 0)
			pev_out_str(&s->out, "\n\t\t ");
		pev_out_printf(&s->out, "%u/%s: %" PRIu64 "/%#" PRIx64 "%s", (unsigned int)i,
			       i < PEV_ARRAY_SIZE(names) ? names[i] : "UNKNOWN",
			       pev_u64s_at(&rec->namespaces.links, i * 2),
			       pev_u64s_at(&rec->namespaces.links, i * 2 + 1),
			       i + 1 < nr ? ", " : "]\n");
	}
}

static void print_switch(struct script *s, const struct pev_record *rec)
{
	const bool out = rec->hdr.misc & PEV_MISC_SWITCH_OUT;
	const char *const way = !out                                          ? "IN         "
				: rec->hdr.misc & PEV_MISC_SWITCH_OUT_PREEMPT ? "OUT preempt"
									      : "OUT        ";

	if (rec->hdr.type == PEV_REC_SWITCH)
		pev_out_printf(&s->out, " %s\n", way);
	else
		pev_out_printf(&s->out, " %s  %s pid/tid: %5d/%-5d\n", way, out ? "next" : "prev",
			       (int)rec->switch_cpu_wide.pid, (int)rec->switch_cpu_wide.tid);
}

static void print_bytes(struct script *s, const char *what, const struct pev_bytes *bytes)
{
	for (uint64_t i = 0; i < bytes->size; i++) {
		if (i % 16 == 0)
			pev_out_printf(&s->out, "            %s bytes:", what);
		pev_out_printf(&s->out, " %02x", bytes->p[i]);
		if (i % 16 == 15 || i + 1 == bytes->size)
			pev_out_char(&s->out, '\n');
	}
}

static void print_text_poke(struct script *s, const struct pev_reader_record *rec)
{
	const struct pev_record *const r = &rec->rec;
	struct pev_code code;

	pev_out_printf(&s->out, " %" PRIx64 " ", r->text_poke.addr);
	if (pev_resolver_at(s->resolver, rec->trace, UINT32_MAX, PEV_MISC_KERNEL, r->text_poke.addr,
			    &code, s->err) == 0)
		(void)script_print_symbol(s, &code, true);
	pev_out_printf(&s->out, " old len %u new len %u\n",
		       (unsigned int)r->text_poke.old_code.size,
		       (unsigned int)r->text_poke.new_code.size);
	print_bytes(s, "Old", &r->text_poke.old_code);
	print_bytes(s, "New", &r->text_poke.new_code);
}

static void print_body(struct script *s, const struct pev_reader_record *rec)
{
	const struct pev_record *const r = &rec->rec;

	switch (r->hdr.type) {
	case PEV_REC_COMM:
		pev_out_printf(&s->out, "%s: %s:%d/%d\n",
			       r->hdr.misc & PEV_MISC_COMM_EXEC ? " exec" : "", r->comm.comm,
			       (int)r->comm.pid, (int)r->comm.tid);
		break;
	case PEV_REC_FORK:
	case PEV_REC_EXIT:
		pev_out_printf(&s->out, "(%d:%d):(%d:%d)\n", (int)r->task.pid, (int)r->task.tid,
			       (int)r->task.ppid, (int)r->task.ptid);
		break;
	case PEV_REC_MMAP:
	case PEV_REC_MMAP2:
		print_mmap(s, r);
		break;
	case PEV_REC_NAMESPACES:
		print_namespaces(s, r);
		break;
	case PEV_REC_CGROUP:
		pev_out_printf(&s->out, " cgroup: %" PRIu64 " %s\n", r->cgroup.id, r->cgroup.path);
		break;
	case PEV_REC_SWITCH:
	case PEV_REC_SWITCH_CPU_WIDE:
		print_switch(s, r);
		break;
	case PEV_REC_LOST:
		pev_out_printf(&s->out, " lost %" PRIu64 "\n", r->lost.lost);
		break;
	case PEV_REC_KSYMBOL:
		pev_out_printf(&s->out, " addr %" PRIx64 " len %u type %u flags 0x%x name %s\n",
			       r->ksymbol.addr, r->ksymbol.len, r->ksymbol.type, r->ksymbol.flags,
			       r->ksymbol.name);
		break;
	case PEV_REC_BPF_EVENT:
		pev_out_printf(&s->out, " type %u, flags %u, id %u\n", r->bpf_event.type,
			       r->bpf_event.flags, r->bpf_event.prog_id);
		break;
	case PEV_REC_TEXT_POKE:
		print_text_poke(s, rec);
		break;
	default:
		pev_out_char(&s->out, '\n');
	}
}

/* Whose record it is: as it says itself, where it says so. */
static void task_of(const struct pev_record *rec, uint32_t *ret_pid, uint32_t *ret_tid)
{
	*ret_pid = rec->id.pid;
	*ret_tid = rec->id.tid;
	switch (rec->hdr.type) {
	case PEV_REC_COMM:
		*ret_pid = rec->comm.pid;
		*ret_tid = rec->comm.tid;
		break;
	case PEV_REC_FORK:
	case PEV_REC_EXIT:
		*ret_pid = rec->task.pid;
		*ret_tid = rec->task.tid;
		break;
	case PEV_REC_MMAP:
	case PEV_REC_MMAP2:
		*ret_pid = rec->mmap.pid;
		*ret_tid = rec->mmap.tid;
		break;
	case PEV_REC_NAMESPACES:
		*ret_pid = rec->namespaces.pid;
		*ret_tid = rec->namespaces.tid;
		break;
	default:
		break;
	}
}

static bool is_shown(const struct pev_script_options *o, uint32_t type)
{
	switch (type) {
	case PEV_REC_COMM:
	case PEV_REC_FORK:
	case PEV_REC_EXIT:
		return o->show_tasks;
	case PEV_REC_MMAP:
	case PEV_REC_MMAP2:
		return o->show_mmaps;
	case PEV_REC_SWITCH:
	case PEV_REC_SWITCH_CPU_WIDE:
		return o->show_switches;
	case PEV_REC_NAMESPACES:
		return o->show_namespaces;
	case PEV_REC_CGROUP:
		return o->show_cgroups;
	case PEV_REC_LOST:
		return o->show_lost;
	case PEV_REC_KSYMBOL:
		return o->show_bpf || o->show_text_pokes;
	case PEV_REC_BPF_EVENT:
		return o->show_bpf;
	case PEV_REC_TEXT_POKE:
		return o->show_text_pokes;
	default:
		return false;
	}
}

void script_print_record(struct script *s, const struct pev_reader_record *rec,
			 struct script_trace *trace)
{
	const struct pev_attr *const attr = &rec->event->attr;
	struct pev_sample_id id = rec->rec.id;
	uint32_t pid, tid;

	if (!is_shown(s->options, rec->rec.hdr.type) ||
	    (s->filter.cpus.nr && id.has & PEV_SAMPLE_CPU &&
	     !pev_filter_has_number(&s->filter.cpus, id.cpu)))
		return;
	task_of(&rec->rec, &pid, &tid);
	if (!(attr->flags & PEV_ATTR_SAMPLE_ID_ALL)) {
		/* Without a trailer, what the record says of itself is what there is. */
		id.cpu = 0;
		id.has |= PEV_SAMPLE_CPU;
		id.time = rec->rec.hdr.type == PEV_REC_FORK || rec->rec.hdr.type == PEV_REC_EXIT
				  ? rec->rec.task.time
				  : 0;
		id.pid = pid;
		id.tid = tid;
	}
	if (s->nr_traces > 1)
		id.time = rec->time_ns;
	script_print_head(s, rec, trace, &id,
			  tid == UINT32_MAX ? ":-1"
					    : pev_resolver_comm(s->resolver, rec->trace, pid, tid),
			  attr, pev_script_type_of(&trace->fields, attr)->fields);
	pev_out_str(&s->out, "PERF_RECORD_");
	pev_out_str(&s->out, pev_rec_type_name(rec->rec.hdr.type));
	print_body(s, rec);
}
