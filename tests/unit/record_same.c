// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "record_make.h"

#define same(field) assert_true((a->field) == (b->field))

static void same_u64s(const struct pev_u64s *a, const struct pev_u64s *b)
{
	same(nr);
	for (uint64_t i = 0; i < a->nr; i++)
		assert_true(pev_u64s_at(a, i) == pev_u64s_at(b, i));
}

static void same_bytes(const struct pev_bytes *a, const struct pev_bytes *b)
{
	same(size);
	if (a->size)
		assert_memory_equal(a->p, b->p, a->size);
}

static void same_id(const struct pev_sample_id *a, const struct pev_sample_id *b)
{
	same(has);
	same(pid);
	same(tid);
	same(time);
	same(id);
	same(stream_id);
	same(cpu);
	same(cpu_res);
}

static void same_read(const struct pev_read_values *a, const struct pev_read_values *b)
{
	same(group);
	same(has_id);
	same(has_lost);
	same(nr);
	same(time_enabled);
	same(time_running);
	same_u64s(&a->words, &b->words);
	for (uint64_t i = 0; i < a->nr; i++) {
		const struct pev_read_value x = pev_read_values_at(a, i),
					    y = pev_read_values_at(b, i);

		assert_true(x.value == y.value);
		assert_true(x.id == y.id);
		assert_true(x.lost == y.lost);
	}
}

static void same_regs(const struct pev_regs *a, const struct pev_regs *b)
{
	same(abi);
	same(mask);
	same_u64s(&a->values, &b->values);
}

static void same_sample(const struct pev_sample *a, const struct pev_sample *b)
{
	same(ip);
	same(addr);
	same(period);
	same_read(&a->read, &b->read);
	same_u64s(&a->callchain, &b->callchain);
	same_bytes(&a->raw, &b->raw);
	same(branch_stack.nr);
	same(branch_stack.hw_idx);
	same_u64s(&a->branch_stack.entries, &b->branch_stack.entries);
	same_u64s(&a->branch_stack.counters, &b->branch_stack.counters);
	same_regs(&a->regs_user, &b->regs_user);
	same_bytes(&a->stack_user.data, &b->stack_user.data);
	same(stack_user.dyn_size);
	same(weight);
	same(data_src);
	same(transaction);
	same_regs(&a->regs_intr, &b->regs_intr);
	same(phys_addr);
	same(cgroup);
	same(data_page_size);
	same(code_page_size);
	same_bytes(&a->aux, &b->aux);
}

static void same_mmap(const struct pev_mmap *a, const struct pev_mmap *b)
{
	same(pid);
	same(tid);
	same(start);
	same(len);
	same(pgoff);
	same(maj);
	same(min);
	same(ino);
	same(ino_generation);
	same(prot);
	same(flags);
	same(build_id_size);
	assert_memory_equal(a->build_id, b->build_id, sizeof(a->build_id));
	assert_string_equal(a->filename, b->filename);
}

static void same_plain(const struct pev_record *a, const struct pev_record *b)
{
	switch (a->hdr.type) {
	case PEV_REC_LOST:
		same(lost.id);
		same(lost.lost);
		break;
	case PEV_REC_FORK:
	case PEV_REC_EXIT:
		same(task.pid);
		same(task.ppid);
		same(task.tid);
		same(task.ptid);
		same(task.time);
		break;
	case PEV_REC_THROTTLE:
	case PEV_REC_UNTHROTTLE:
		same(throttle.time);
		same(throttle.id);
		same(throttle.stream_id);
		break;
	case PEV_REC_AUX:
		same(aux.offset);
		same(aux.size);
		same(aux.flags);
		break;
	case PEV_REC_ITRACE_START:
		same(itrace_start.pid);
		same(itrace_start.tid);
		break;
	case PEV_REC_LOST_SAMPLES:
		same(lost_samples.lost);
		break;
	case PEV_REC_SWITCH:
		break;
	case PEV_REC_SWITCH_CPU_WIDE:
		same(switch_cpu_wide.pid);
		same(switch_cpu_wide.tid);
		break;
	case PEV_REC_BPF_EVENT:
		same(bpf_event.type);
		same(bpf_event.flags);
		same(bpf_event.prog_id);
		assert_memory_equal(a->bpf_event.tag, b->bpf_event.tag, PEV_BPF_TAG_SIZE);
		break;
	case PEV_REC_AUX_OUTPUT_HW_ID:
		same(aux_output_hw_id.hw_id);
		break;
	default:
		fail_msg("record of type %u is not compared", a->hdr.type);
	}
}

void assert_same_record(const struct pev_record *a, const struct pev_record *b)
{
	same(hdr.type);
	same(hdr.misc);
	same_id(&a->id, &b->id);
	switch (a->hdr.type) {
	case PEV_REC_MMAP:
	case PEV_REC_MMAP2:
		same_mmap(&a->mmap, &b->mmap);
		break;
	case PEV_REC_COMM:
		same(comm.pid);
		same(comm.tid);
		assert_string_equal(a->comm.comm, b->comm.comm);
		break;
	case PEV_REC_READ:
		same(read.pid);
		same(read.tid);
		same_read(&a->read.values, &b->read.values);
		break;
	case PEV_REC_SAMPLE:
		same_sample(&a->sample, &b->sample);
		break;
	case PEV_REC_NAMESPACES:
		same(namespaces.pid);
		same(namespaces.tid);
		same(namespaces.nr);
		same_u64s(&a->namespaces.links, &b->namespaces.links);
		break;
	case PEV_REC_KSYMBOL:
		same(ksymbol.addr);
		same(ksymbol.len);
		same(ksymbol.type);
		same(ksymbol.flags);
		assert_string_equal(a->ksymbol.name, b->ksymbol.name);
		break;
	case PEV_REC_CGROUP:
		same(cgroup.id);
		assert_string_equal(a->cgroup.path, b->cgroup.path);
		break;
	case PEV_REC_TEXT_POKE:
		same(text_poke.addr);
		same_bytes(&a->text_poke.old_code, &b->text_poke.old_code);
		same_bytes(&a->text_poke.new_code, &b->text_poke.new_code);
		break;
	case PEV_REC_CALLCHAIN_DEFERRED:
		same(callchain_deferred.cookie);
		same_u64s(&a->callchain_deferred.callchain, &b->callchain_deferred.callchain);
		break;
	default:
		same_plain(a, b);
	}
}
