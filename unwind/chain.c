// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From a sample to the chain of code it was in. The order is that of perf
 * (tools/perf/util/machine.c, thread__resolve_callchain()): what the kernel recorded, with the
 * user's part taken from the branch records where the CPU kept a call stack there, then what the
 * unwinder finds.
 */
#include "unwind/resolver.h"

#include "base/checked.h"
#include "unwind/resolver_part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NO_MEMORY "No memory for a call chain"

/* One chain in the making. */
struct work {
	struct pev_resolver *r;
	struct pev_world *w;
	struct pev_process *process; /* whose user addresses are met; NULL: not known */
	struct pev_process *guest;
	struct pev_chain *chain;
	uint64_t time; /* of the sample, for what a jitdump tells of */
	bool no_memory;
};

void pev_chain_done(struct pev_chain *chain)
{
	free(chain->codes);
	*chain = (struct pev_chain){ 0 };
}

/* The next code of the chain; NULL without memory. */
static struct pev_code *add_code(struct work *work)
{
	struct pev_chain *const c = work->chain;
	struct pev_code *codes;
	size_t cap;

	if (c->nr == c->cap) {
		cap = c->cap ? c->cap * 2 : 64;
		codes = reallocarray(c->codes, cap, sizeof(*codes));
		if (!codes) {
			work->no_memory = true;
			return NULL;
		}
		c->codes = codes;
		c->cap = cap;
	}
	return &c->codes[c->nr++];
}

/* Adds what is at @ip, going by the address @before bytes before it. */
static void add_ip(struct work *work, uint8_t mode, uint64_t ip, unsigned int before)
{
	struct pev_code *const code = add_code(work);
	const bool guest = mode == PEV_MISC_GUEST_USER || mode == PEV_MISC_GUEST_KERNEL;

	if (!code)
		return;
	if (pev_world_code(work->w, guest ? work->guest : work->process, mode, ip - before,
			   work->time, code) < 0)
		work->no_memory = true;
	code->ip = ip;
	work->r->counters.unmapped += !code->module;
}

/* The mode of the addresses behind a context marker; -EBADMSG for one that perf does not have. */
static int mode_of_marker(uint64_t marker)
{
	switch (marker) {
	case PEV_CONTEXT_HV:
		return PEV_MISC_HYPERVISOR;
	case PEV_CONTEXT_KERNEL:
		return PEV_MISC_KERNEL;
	case PEV_CONTEXT_USER:
	case PEV_CONTEXT_USER_DEFERRED:
		return PEV_MISC_USER;
	default:
		return -EBADMSG;
	}
}

/*
 * Adds addresses with markers between them, the first of which are the user's. False when there is
 * a marker that makes no sense: then nothing is known of any of it.
 */
static bool add_ips(struct work *work, const struct pev_u64s *ips, uint64_t nr)
{
	const unsigned int max = work->r->max_stack;
	struct pev_chain *const c = work->chain;
	uint8_t mode = PEV_MISC_USER;
	bool first = true;

	for (uint64_t i = 0; i < nr; i++) {
		const uint64_t ip = pev_u64s_at(ips, i);

		if (ip >= PEV_CONTEXT_MAX) {
			const int m = mode_of_marker(ip);

			if (m < 0) {
				c->nr = 0;
				c->corrupt = true;
				return false;
			}
			mode = (uint8_t)m;
			first = true;
			continue;
		}
		if (c->nr >= max) {
			c->truncated = true;
			return true;
		}
		add_ip(work, mode, ip, work->r->exact_callers && !first && ip);
		first = false;
	}
	return true;
}

/*
 * The CPU kept the user's calls as branches, innermost first: the last branch went into the
 * function that runs, and each came from the caller of the one before. False when the sample has no
 * use of that.
 */
static bool add_lbr(struct work *work, const struct pev_sample *s)
{
	const struct pev_branch_stack *const b = &s->branch_stack;
	uint64_t user = 0;

	while (user < s->callchain.nr && pev_u64s_at(&s->callchain, user) != PEV_CONTEXT_USER)
		user++;
	if (user == s->callchain.nr || !b->nr || !b->entries.nr)
		return false;
	work->chain->kind = PEV_CHAIN_LBR;
	if (!add_ips(work, &s->callchain, user))
		return true;
	add_ip(work, PEV_MISC_USER, pev_u64s_at(&b->entries, 1), 0);
	for (uint64_t i = 0; i < b->nr && work->chain->nr < work->r->max_stack; i++)
		add_ip(work, PEV_MISC_USER, pev_u64s_at(&b->entries, 3 * i), 0);
	return true;
}

static bool find_map(void *arg, uint64_t pc, struct pev_unwind_map *ret)
{
	struct work *const work = arg;
	const struct pev_mapping *const m =
		work->process ? pev_process_find(work->process, pc) : NULL;

	if (!m)
		return false;
	*ret = (struct pev_unwind_map){ .start = m->start, .end = m->end };
	if (!pev_module_is_file(m->module))
		return true;
	if (pev_module_cfi(m->module, &ret->cfi) < 0) {
		work->no_memory = true;
		return false;
	}
	ret->bias = pc - pev_module_vaddr(m->module, pc - m->start + m->pgoff);
	return true;
}

/* Memory that is not in the dumped stack: what the process had mapped of a file. */
static bool read_memory(void *arg, uint64_t addr, void *buf, size_t size)
{
	struct work *const work = arg;
	const struct pev_mapping *const m =
		work->process ? pev_process_find(work->process, addr) : NULL;
	const struct pev_image *image;
	uint64_t offset;

	if (!m || !pev_module_is_file(m->module) || pev_module_open(m->module) < 0)
		return false;
	image = m->module->located.main;
	offset = addr - m->start + m->pgoff;
	if (!image || m->end - addr < size || offset > image->size || image->size - offset < size)
		return false;
	memcpy(buf, image->bytes + offset, size);
	return true;
}

/* perf drops a frame and those behind it where something is mapped that is no ELF file, or one that
 * is not there; and all of them when nothing is mapped at the first. */
static bool is_lost_on_perf(const struct work *work, uint64_t ip, bool first)
{
	const struct pev_mapping *const m =
		work->process ? pev_process_find(work->process, ip) : NULL;

	if (!m)
		return first;
	return !pev_module_is_file(m->module) || pev_module_open(m->module) < 0 ||
	       (!m->module->located.main && !m->module->located.debug);
}

static void add_unwound(struct work *work, const struct pev_sample *s)
{
	struct pev_resolver *const r = work->r;
	struct pev_chain *const c = work->chain;
	const struct pev_unwind_input in = {
		.arch = pev_arch_of_sample(work->w->machine, s->regs_user.abi),
		.regs = &s->regs_user,
		.stack = { .p = s->stack_user.data.p, .size = s->stack_user.dyn_size },
		.find_map = find_map,
		.read_memory = read_memory,
		.arg = work,
	};
	size_t nr;

	c->kind = PEV_CHAIN_DWARF;
	r->counters.unwound++;
	if (!in.arch) {
		c->end = PEV_UNWIND_NO_REGS;
		return;
	}
	nr = pev_unwind(&in, r->ips, r->max_stack, &c->end);
	for (size_t i = 0; i < nr; i++) {
		if (r->modules.as_perf && is_lost_on_perf(work, r->ips[i], i == 0))
			break;
		add_ip(work, PEV_MISC_USER, r->ips[i], 0);
	}
}

/* With a callchain that was put off, its last two words are a marker and the cookie. */
static uint64_t take_deferred(const struct pev_u64s *ips, struct pev_chain *chain)
{
	if (ips->nr < 2 || pev_u64s_at(ips, ips->nr - 2) != PEV_CONTEXT_USER_DEFERRED)
		return ips->nr;
	chain->deferred = true;
	chain->cookie = pev_u64s_at(ips, ips->nr - 1);
	return ips->nr - 2;
}

static void add_chain(struct work *work, const struct pev_attr *attr, const struct pev_sample *s)
{
	struct pev_chain *const c = work->chain;
	const uint64_t stack = PEV_SAMPLE_REGS_USER | PEV_SAMPLE_STACK_USER;

	c->kind = PEV_CHAIN_CALLCHAIN;
	if (!(attr->branch_sample_type & PEV_BRANCH_CALL_STACK) || !add_lbr(work, s))
		(void)add_ips(work, &s->callchain, take_deferred(&s->callchain, c));
	if ((attr->sample_type & stack) == stack && s->regs_user.values.nr &&
	    s->stack_user.data.size)
		add_unwound(work, s);
}

static void count(struct pev_resolver *r, const struct pev_chain *c)
{
	r->counters.samples++;
	r->counters.frames += c->nr;
	r->counters.truncated += c->truncated;
	r->counters.corrupt += c->corrupt;
	if (c->kind == PEV_CHAIN_DWARF)
		r->counters.ends[c->end]++;
}

/* The time of the sample as a jitdump has it, or its end, when the clocks are not the same. */
static uint64_t jit_time(const struct pev_attr *attr, const struct pev_record *sample)
{
	const bool monotonic =
		attr->flags & PEV_ATTR_USE_CLOCKID && attr->clockid == CLOCK_MONOTONIC;

	return monotonic && sample->id.time ? sample->id.time : PEV_JITDUMP_LATEST;
}

int pev_resolver_chain(struct pev_resolver *r, uint32_t trace, const struct pev_attr *attr,
		       const struct pev_record *sample, struct pev_chain *chain,
		       struct pev_err *err)
{
	const uint8_t mode = sample->hdr.misc & PEV_MISC_CPUMODE_MASK;
	struct work work = { .r = r, .chain = chain };

	*chain = (struct pev_chain){ .codes = chain->codes, .cap = chain->cap };
	work.w = pev_resolver_world(r, trace);
	if (!work.w)
		return pev_err_set(err, -ENOMEM, NO_MEMORY);
	work.process = pev_world_process(work.w, PEV_MISC_USER, sample->id.pid);
	work.guest = pev_world_process(work.w, PEV_MISC_GUEST_USER, sample->id.pid);
	if (mode == PEV_MISC_USER && work.process)
		pev_process_runs(work.process);
	work.time = jit_time(attr, sample);
	if (pev_world_code(work.w, mode == PEV_MISC_GUEST_USER ? work.guest : work.process, mode,
			   sample->sample.ip, work.time, &chain->self) < 0)
		work.no_memory = true;
	if (attr->sample_type & PEV_SAMPLE_CALLCHAIN)
		add_chain(&work, attr, &sample->sample);
	else
		add_ip(&work, mode, sample->sample.ip, 0);
	if (work.no_memory)
		return pev_err_set(err, -ENOMEM, NO_MEMORY);
	count(r, chain);
	return 0;
}

int pev_resolver_chain_deferred(struct pev_resolver *r, uint32_t trace,
				const struct pev_record *rec, struct pev_chain *chain,
				struct pev_err *err)
{
	struct work work = { .r = r, .chain = chain, .time = PEV_JITDUMP_LATEST };
	const size_t before = chain->nr;

	work.w = pev_resolver_world(r, trace);
	if (!work.w)
		return pev_err_set(err, -ENOMEM, NO_MEMORY);
	work.process = pev_world_process(work.w, PEV_MISC_USER, rec->id.pid);
	(void)add_ips(&work, &rec->callchain_deferred.callchain,
		      rec->callchain_deferred.callchain.nr);
	if (work.no_memory)
		return pev_err_set(err, -ENOMEM, NO_MEMORY);
	chain->deferred = false;
	r->counters.frames += chain->nr - before;
	return 0;
}
