// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "record_make.h"

#include <string.h>

void make_attr(uint64_t *random, uint64_t sample_type, struct pev_attr *ret)
{
	*ret = (struct pev_attr){
		.size = sizeof(*ret),
		.sample_type = sample_type,
		.read_format = test_random(random) & PEV_FORMAT_ALL,
		.flags = (test_random(random) & PEV_ATTR_SAMPLE_ID_ALL) | PEV_ATTR_BUILD_ID,
		.branch_sample_type = test_random(random) &
				      (PEV_BRANCH_ANY | PEV_BRANCH_HW_INDEX | PEV_BRANCH_COUNTERS),
		/* Few registers, many, all, none. */
		.sample_regs_user = test_random(random) >> test_random(random) % 65 % 64,
		.sample_regs_intr = test_random(random) & test_random(random),
	};
	if (test_random(random) % 8 == 0)
		ret->sample_regs_user = 0;
	if (test_random(random) % 8 == 0)
		ret->sample_regs_intr = UINT64_MAX;
}

/* Random bytes out of the arena; they start at an odd address, since the ABI promises no better. */
static uint8_t *make_bytes(uint64_t *random, struct made_record *made, size_t size)
{
	uint8_t *const p = made->arena + made->used + !(made->used & 1);

	assert_true(p + size <= made->arena + sizeof(made->arena));
	for (size_t i = 0; i < size; i++)
		p[i] = (uint8_t)test_random(random);
	made->used = (size_t)(p + size - made->arena);
	return p;
}

static struct pev_bytes make_blob(uint64_t *random, struct made_record *made, size_t size)
{
	return (struct pev_bytes){ .p = make_bytes(random, made, size), .size = size };
}

static struct pev_u64s make_u64s(uint64_t *random, struct made_record *made, uint64_t nr)
{
	return (struct pev_u64s){ .p = make_bytes(random, made, 8 * nr), .nr = nr };
}

static const char *make_str(uint64_t *random, struct made_record *made)
{
	const size_t length = test_random(random) % 40;
	uint8_t *const p = make_bytes(random, made, length + 1);

	for (size_t i = 0; i < length; i++)
		p[i] = (uint8_t)('!' + p[i] % ('~' - '!'));
	p[length] = 0;
	return (const char *)p;
}

static void make_id(uint64_t *random, uint64_t sample_type, struct pev_sample_id *id)
{
	id->has = sample_type & PEV_SAMPLE_ID_BITS;
	if (id->has & PEV_SAMPLE_TID) {
		id->pid = (uint32_t)test_random(random);
		id->tid = (uint32_t)test_random(random);
	}
	if (id->has & PEV_SAMPLE_TIME)
		id->time = test_random(random);
	if (id->has & (PEV_SAMPLE_ID | PEV_SAMPLE_IDENTIFIER))
		id->id = test_random(random);
	if (id->has & PEV_SAMPLE_STREAM_ID)
		id->stream_id = test_random(random);
	if (id->has & PEV_SAMPLE_CPU) {
		id->cpu = (uint32_t)test_random(random);
		id->cpu_res = (uint32_t)test_random(random);
	}
}

static void make_read(uint64_t *random, uint64_t format, struct made_record *made,
		      struct pev_read_values *v)
{
	v->group = format & PEV_FORMAT_GROUP;
	v->has_id = format & PEV_FORMAT_ID;
	v->has_lost = format & PEV_FORMAT_LOST;
	if (format & PEV_FORMAT_TOTAL_TIME_ENABLED)
		v->time_enabled = test_random(random);
	if (format & PEV_FORMAT_TOTAL_TIME_RUNNING)
		v->time_running = test_random(random);
	if (v->group) {
		v->nr = test_random(random) % 5;
		v->words = make_u64s(random, made, v->nr * (1U + v->has_id + v->has_lost));
		return;
	}
	v->nr = 1;
	v->one.value = test_random(random);
	if (v->has_id)
		v->one.id = test_random(random);
	if (v->has_lost)
		v->one.lost = test_random(random);
}

static void make_regs(uint64_t *random, uint64_t mask, struct made_record *made,
		      struct pev_regs *regs)
{
	regs->mask = mask;
	regs->abi = test_random(random) % 3;
	if (regs->abi != PEV_REGS_ABI_NONE)
		regs->values = make_u64s(random, made, (uint64_t)__builtin_popcountll(mask));
}

static void make_branch_stack(uint64_t *random, uint64_t branch_sample_type,
			      struct made_record *made, struct pev_branch_stack *b)
{
	b->nr = test_random(random) % 5;
	if (branch_sample_type & PEV_BRANCH_HW_INDEX)
		b->hw_idx = test_random(random);
	b->entries = make_u64s(random, made, 3 * b->nr);
	if (branch_sample_type & PEV_BRANCH_COUNTERS)
		b->counters = make_u64s(random, made, b->nr);
}

static void make_stack_user(uint64_t *random, struct made_record *made, struct pev_stack_user *s)
{
	s->data = make_blob(random, made, 8 * (test_random(random) % 20));
	s->dyn_size = s->data.size ? test_random(random) % (s->data.size + 1) : 0;
}

static void make_sample(uint64_t *random, const struct pev_attr *attr, struct made_record *made)
{
	struct pev_sample *const s = &made->rec.sample;
	const uint64_t type = attr->sample_type;
	const struct {
		uint64_t bits;
		uint64_t *field;
	} words[] = {
		{ PEV_SAMPLE_IP, &s->ip },
		{ PEV_SAMPLE_ADDR, &s->addr },
		{ PEV_SAMPLE_PERIOD, &s->period },
		{ PEV_SAMPLE_WEIGHT | PEV_SAMPLE_WEIGHT_STRUCT, &s->weight },
		{ PEV_SAMPLE_DATA_SRC, &s->data_src },
		{ PEV_SAMPLE_TRANSACTION, &s->transaction },
		{ PEV_SAMPLE_PHYS_ADDR, &s->phys_addr },
		{ PEV_SAMPLE_CGROUP, &s->cgroup },
		{ PEV_SAMPLE_DATA_PAGE_SIZE, &s->data_page_size },
		{ PEV_SAMPLE_CODE_PAGE_SIZE, &s->code_page_size },
	};

	for (size_t i = 0; i < PEV_ARRAY_SIZE(words); i++)
		if (type & words[i].bits)
			*words[i].field = test_random(random);
	if (type & PEV_SAMPLE_READ)
		make_read(random, attr->read_format, made, &s->read);
	if (type & PEV_SAMPLE_CALLCHAIN)
		s->callchain = make_u64s(random, made, test_random(random) % 20);
	if (type & PEV_SAMPLE_RAW)
		s->raw = make_blob(random, made, 4 + 8 * (test_random(random) % 10));
	if (type & PEV_SAMPLE_BRANCH_STACK)
		make_branch_stack(random, attr->branch_sample_type, made, &s->branch_stack);
	if (type & PEV_SAMPLE_REGS_USER)
		make_regs(random, attr->sample_regs_user, made, &s->regs_user);
	if (type & PEV_SAMPLE_STACK_USER)
		make_stack_user(random, made, &s->stack_user);
	if (type & PEV_SAMPLE_REGS_INTR)
		make_regs(random, attr->sample_regs_intr, made, &s->regs_intr);
	if (type & PEV_SAMPLE_AUX)
		s->aux = make_blob(random, made, 8 * (test_random(random) % 10));
}

static void make_mmap(uint64_t *random, struct made_record *made)
{
	struct pev_mmap *const m = &made->rec.mmap;

	m->pid = (uint32_t)test_random(random);
	m->tid = (uint32_t)test_random(random);
	m->start = test_random(random);
	m->len = test_random(random);
	m->pgoff = test_random(random);
	m->filename = make_str(random, made);
	if (made->rec.hdr.type != PEV_REC_MMAP2)
		return;
	m->prot = (uint32_t)test_random(random) & 0x0300003fU; /* PROT_* */
	m->flags = (uint32_t)test_random(random);
	if (made->rec.hdr.misc & PEV_MISC_MMAP_BUILD_ID) {
		m->build_id_size = (uint8_t)(test_random(random) % (PEV_BUILD_ID_MAX + 1));
		memcpy(m->build_id, make_bytes(random, made, m->build_id_size), m->build_id_size);
		return;
	}
	m->maj = (uint32_t)test_random(random);
	m->min = (uint32_t)test_random(random);
	m->ino = test_random(random);
	m->ino_generation = test_random(random);
}

/* The types with nothing in their bodies but integers. */
static void make_plain(uint64_t *random, struct pev_record *rec)
{
	const uint64_t a = test_random(random), b = test_random(random), c = test_random(random);

	switch (rec->hdr.type) {
	case PEV_REC_LOST:
		rec->lost.id = a;
		rec->lost.lost = b;
		break;
	case PEV_REC_FORK:
	case PEV_REC_EXIT:
		rec->task.pid = (uint32_t)a;
		rec->task.ppid = (uint32_t)(a >> 32);
		rec->task.tid = (uint32_t)b;
		rec->task.ptid = (uint32_t)(b >> 32);
		rec->task.time = c;
		break;
	case PEV_REC_THROTTLE:
	case PEV_REC_UNTHROTTLE:
		rec->throttle.time = a;
		rec->throttle.id = b;
		rec->throttle.stream_id = c;
		break;
	case PEV_REC_AUX:
		rec->aux.offset = a;
		rec->aux.size = b;
		rec->aux.flags = c;
		break;
	case PEV_REC_ITRACE_START:
		rec->itrace_start.pid = (uint32_t)a;
		rec->itrace_start.tid = (uint32_t)b;
		break;
	case PEV_REC_LOST_SAMPLES:
		rec->lost_samples.lost = a;
		break;
	case PEV_REC_SWITCH_CPU_WIDE:
		rec->switch_cpu_wide.pid = (uint32_t)a;
		rec->switch_cpu_wide.tid = (uint32_t)b;
		break;
	case PEV_REC_BPF_EVENT:
		rec->bpf_event.type = (uint16_t)a;
		rec->bpf_event.flags = (uint16_t)(a >> 16);
		rec->bpf_event.prog_id = (uint32_t)(a >> 32);
		memcpy(rec->bpf_event.tag, &b, PEV_BPF_TAG_SIZE);
		break;
	case PEV_REC_AUX_OUTPUT_HW_ID:
		rec->aux_output_hw_id.hw_id = a;
		break;
	default: /* PEV_REC_SWITCH has no body */
		break;
	}
}

void make_record(uint64_t *random, const struct pev_attr *attr, uint32_t type,
		 struct made_record *ret)
{
	struct pev_record *const rec = &ret->rec;

	memset(rec, 0, sizeof(*rec));
	ret->used = 0;
	rec->hdr.type = type;
	rec->hdr.misc = (uint16_t)test_random(random);
	if (type == PEV_REC_SAMPLE || attr->flags & PEV_ATTR_SAMPLE_ID_ALL)
		make_id(random, attr->sample_type, &rec->id);
	switch (type) {
	case PEV_REC_MMAP:
	case PEV_REC_MMAP2:
		make_mmap(random, ret);
		break;
	case PEV_REC_COMM:
		rec->comm.pid = (uint32_t)test_random(random);
		rec->comm.tid = (uint32_t)test_random(random);
		rec->comm.comm = make_str(random, ret);
		break;
	case PEV_REC_READ:
		rec->read.pid = (uint32_t)test_random(random);
		rec->read.tid = (uint32_t)test_random(random);
		make_read(random, attr->read_format, ret, &rec->read.values);
		break;
	case PEV_REC_SAMPLE:
		make_sample(random, attr, ret);
		break;
	case PEV_REC_NAMESPACES:
		rec->namespaces.pid = (uint32_t)test_random(random);
		rec->namespaces.tid = (uint32_t)test_random(random);
		rec->namespaces.nr = test_random(random) % 8;
		rec->namespaces.links = make_u64s(random, ret, 2 * rec->namespaces.nr);
		break;
	case PEV_REC_KSYMBOL:
		rec->ksymbol.addr = test_random(random);
		rec->ksymbol.len = (uint32_t)test_random(random);
		rec->ksymbol.type = (uint16_t)test_random(random);
		rec->ksymbol.flags = (uint16_t)test_random(random);
		rec->ksymbol.name = make_str(random, ret);
		break;
	case PEV_REC_CGROUP:
		rec->cgroup.id = test_random(random);
		rec->cgroup.path = make_str(random, ret);
		break;
	case PEV_REC_TEXT_POKE:
		rec->text_poke.addr = test_random(random);
		rec->text_poke.old_code = make_blob(random, ret, test_random(random) % 20);
		rec->text_poke.new_code = make_blob(random, ret, test_random(random) % 20);
		break;
	case PEV_REC_CALLCHAIN_DEFERRED:
		rec->callchain_deferred.cookie = test_random(random);
		rec->callchain_deferred.callchain =
			make_u64s(random, ret, test_random(random) % 20);
		break;
	default:
		make_plain(random, rec);
	}
}
