// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One function for each errno of perf_event_open(2), which goes through what can cause it, the
 * likeliest first. The kernel's own checks are in kernel/events/core.c (perf_event_open(),
 * perf_copy_attr(), perf_mmap()); the levels of perf_event_paranoid are in its
 * Documentation/admin-guide/sysctl/kernel.rst.
 */
#include "recorder/explain.h"

#include "base/checked.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38 /* Linux 5.8 */
#endif

#define WHY_BYTES 640

struct question {
	const struct pev_facts *facts;
	const struct pev_event *event;
	int cpu;
	pid_t pid;
};

static bool has_capability(const struct pev_facts *f, int capability)
{
	return f->capabilities & (1ULL << capability);
}

/* CAP_SYS_ADMIN has always stood for what CAP_PERFMON was made for. */
static bool may_all(const struct pev_facts *f)
{
	return has_capability(f, CAP_PERFMON) || has_capability(f, CAP_SYS_ADMIN);
}

static const char *right(const struct pev_facts *f)
{
	return f->kernel && f->kernel < 5008 ? "CAP_SYS_ADMIN" : "CAP_PERFMON";
}

static bool is_probe(const struct pev_event *e)
{
	return e->pmu && (!strcmp(e->pmu, "uprobe") || !strcmp(e->pmu, "kprobe"));
}

static bool is_hardware(const struct pev_event *e)
{
	return e->attr.type == PEV_TYPE_HARDWARE || e->attr.type == PEV_TYPE_HW_CACHE ||
	       e->attr.type == PEV_TYPE_RAW;
}

/*
 * What a process without rights is refused by the sysctl.
 */
static const struct refusal {
	int64_t allowed_up_to; /* perf_event_paranoid */
	const char *what;
} refusals[] = {
	{ -1, "the data of tracepoints" },
	{ 0, "whole CPUs" },
	{ 1, "what the kernel does" },
	{ 2, "anything" }, /* Debian's and Android's kernels know 3 */
};

static const struct refusal *refusal_of(const struct question *q)
{
	const struct pev_attr *const a = &q->event->attr;

	if (a->type == PEV_TYPE_TRACEPOINT && (a->sample_type & PEV_SAMPLE_RAW))
		return &refusals[0];
	if (q->pid == -1)
		return &refusals[1];
	if (!(a->flags & PEV_ATTR_EXCLUDE_KERNEL) || (a->sample_type & PEV_SAMPLE_PHYS_ADDR))
		return &refusals[2];
	return &refusals[3];
}

static void why_no_right(const struct question *q, char *why)
{
	const struct pev_facts *const f = q->facts;
	const struct refusal *const refusal = refusal_of(q);

	if (f->paranoid != PEV_FACT_UNKNOWN && f->paranoid > refusal->allowed_up_to)
		(void)snprintf(why, WHY_BYTES,
			       "kernel.perf_event_paranoid is %lld, which hides %s from a process "
			       "without %s: be root, have that capability, or set the sysctl to "
			       "%lld%s",
			       (long long)f->paranoid, refusal->what, right(f),
			       (long long)refusal->allowed_up_to,
			       refusal == &refusals[2] ? ", or ask for user space alone (:u)" : "");
	else if (f->foreign)
		(void)snprintf(why, WHY_BYTES,
			       "that process belongs to another user and this one lacks %s: be "
			       "root or that user, or have the capability",
			       right(f));
	else
		(void)snprintf(why, WHY_BYTES,
			       "this process lacks %s, and a security module or seccomp filter may "
			       "ask for it: be root, or have that capability",
			       right(f));
}

static void why_refused(const struct question *q, int code, char *why)
{
	const struct pev_facts *const f = q->facts;
	const struct pev_attr *const a = &q->event->attr;

	if (f->user_namespace)
		(void)snprintf(why, WHY_BYTES,
			       "this process is in a user namespace, and capabilities it has there "
			       "do not count: run outside of the container, or without "
			       "PrivateUsers=");
	else if (code == -EPERM && a->type == PEV_TYPE_BREAKPOINT &&
		 !has_capability(f, CAP_SYS_ADMIN))
		(void)snprintf(why, WHY_BYTES,
			       "a breakpoint on a kernel address needs CAP_SYS_ADMIN: be root");
	else if (may_all(f))
		(void)snprintf(
			why, WHY_BYTES,
			"the rights are there, so a seccomp filter, a security module or "
			"kernel lockdown forbids it: allow perf_event_open(2) there, as with "
			"SystemCallFilter=perf_event_open");
	else if (is_probe(q->event) || (a->flags & PEV_ATTR_NAMESPACES))
		(void)snprintf(why, WHY_BYTES, "%s need %s: be root, or have that capability",
			       is_probe(q->event) ? "probes" : "records of namespaces", right(f));
	else
		why_no_right(q, why);
}

static void why_eacces(const struct question *q, char *why)
{
	why_refused(q, -EACCES, why);
}

static void why_eperm(const struct question *q, char *why)
{
	why_refused(q, -EPERM, why);
}

static void why_enoent(const struct question *q, char *why)
{
	const struct pev_event *const e = q->event;

	if (is_hardware(e) && !q->facts->core_pmu)
		(void)snprintf(why, WHY_BYTES,
			       "this machine shows no hardware counters (a virtual machine without "
			       "a PMU?): use cpu-clock, or give the machine a virtual PMU");
	else if (is_hardware(e))
		(void)snprintf(why, WHY_BYTES,
			       "this CPU cannot count it: perf list hw cache shows what it can");
	else if (e->attr.type == PEV_TYPE_SOFTWARE)
		(void)snprintf(
			why, WHY_BYTES,
			"this kernel does not have it: use another event, or a newer kernel");
	else if (e->attr.type == PEV_TYPE_TRACEPOINT)
		(void)snprintf(why, WHY_BYTES,
			       "the tracepoint is gone, with its module maybe: name it anew");
	else if (is_probe(e))
		(void)snprintf(why, WHY_BYTES,
			       "there is no '%s' to probe: check its name, as this process sees it",
			       e->path ? e->path : "(nothing)");
	else
		(void)snprintf(why, WHY_BYTES,
			       "no PMU of this machine takes type %u, config 0x%llx: ls "
			       "/sys/bus/event_source/devices shows those there are",
			       e->attr.type, (unsigned long long)e->attr.config);
}

static void why_enodev(const struct question *q, char *why)
{
	if (q->facts->offline)
		(void)snprintf(why, WHY_BYTES,
			       "CPU %d is offline: leave it out, or switch it on (echo 1 > "
			       "/sys/devices/system/cpu/cpu%d/online)",
			       q->cpu, q->cpu);
	else
		(void)snprintf(why, WHY_BYTES,
			       "the event's PMU does not serve that CPU: leave the CPU out, or "
			       "choose another event");
}

static void why_esrch(const struct question *q, char *why)
{
	(void)q;
	(void)snprintf(why, WHY_BYTES, "that process is gone: name one that runs");
}

static void why_emfile(const struct question *q, char *why)
{
	(void)snprintf(why, WHY_BYTES,
		       "this process has as many files open as RLIMIT_NOFILE allows, which is "
		       "%llu, and each event takes one for each CPU and thread: raise the limit "
		       "(ulimit -n, LimitNOFILE=), or record fewer events",
		       (unsigned long long)q->facts->nofile);
}

static void why_enfile(const struct question *q, char *why)
{
	(void)q;
	(void)snprintf(why, WHY_BYTES,
		       "the machine has as many files open as fs.file-max allows: raise that "
		       "sysctl, or record fewer events");
}

/* Since when the kernel knows parts of the attr, the newest first; from the kernel's history. */
static const struct feature {
	size_t offset; /* of the word in struct pev_attr */
	uint64_t bits;
	unsigned since;
	const char *name;
} features[] = {
#define WORD(field) offsetof(struct pev_attr, field)
	{ WORD(flags), PEV_ATTR_DEFER_CALLCHAIN | PEV_ATTR_DEFER_OUTPUT, 6019,
	  "deferred callchains" },
	{ WORD(config3), UINT64_MAX, 6003, "attr.config3" },
	{ WORD(read_format), PEV_FORMAT_LOST, 6000, "PERF_FORMAT_LOST" },
	{ WORD(flags), PEV_ATTR_SIGTRAP, 5013, "attr.sigtrap" },
	{ WORD(flags), PEV_ATTR_REMOVE_ON_EXEC, 5013, "attr.remove_on_exec" },
	{ WORD(flags), PEV_ATTR_INHERIT_THREAD, 5013, "attr.inherit_thread" },
	{ WORD(flags), PEV_ATTR_BUILD_ID, 5012, "attr.build_id" },
	{ WORD(sample_type), PEV_SAMPLE_WEIGHT_STRUCT, 5012, "PERF_SAMPLE_WEIGHT_STRUCT" },
	{ WORD(sample_type), PEV_SAMPLE_CODE_PAGE_SIZE, 5011, "PERF_SAMPLE_CODE_PAGE_SIZE" },
	{ WORD(sample_type), PEV_SAMPLE_DATA_PAGE_SIZE, 5011, "PERF_SAMPLE_DATA_PAGE_SIZE" },
	{ WORD(flags), PEV_ATTR_TEXT_POKE, 5009, "attr.text_poke" },
	{ WORD(flags), PEV_ATTR_CGROUP, 5007, "attr.cgroup" },
	{ WORD(sample_type), PEV_SAMPLE_CGROUP, 5007, "PERF_SAMPLE_CGROUP" },
	{ WORD(sample_type), PEV_SAMPLE_AUX, 5005, "PERF_SAMPLE_AUX" },
	{ WORD(flags), PEV_ATTR_AUX_OUTPUT, 5004, "attr.aux_output" },
	{ WORD(flags), PEV_ATTR_BPF_EVENT, 5001, "attr.bpf_event" },
	{ WORD(flags), PEV_ATTR_KSYMBOL, 5001, "attr.ksymbol" },
	{ WORD(sample_type), PEV_SAMPLE_PHYS_ADDR, 4014, "PERF_SAMPLE_PHYS_ADDR" },
	{ WORD(flags), PEV_ATTR_NAMESPACES, 4012, "attr.namespaces" },
	{ WORD(flags), PEV_ATTR_WRITE_BACKWARD, 4007, "attr.write_backward" },
	{ WORD(flags), PEV_ATTR_CONTEXT_SWITCH, 4003, "attr.context_switch" },
	{ WORD(flags), PEV_ATTR_USE_CLOCKID, 4001, "attr.use_clockid" },
};

/* What the attr asks for that came after this kernel, NULL when it is none of the known. */
static const struct feature *too_new(const struct question *q)
{
	const unsigned kernel = q->facts->kernel;

	for (size_t i = 0; i < PEV_ARRAY_SIZE(features); i++) {
		const char *const attr = (const char *)&q->event->attr;
		uint64_t word;

		memcpy(&word, attr + features[i].offset, sizeof(word));
		if (kernel && kernel < features[i].since && (word & features[i].bits))
			return &features[i];
	}
	return NULL;
}

static bool say_too_new(const struct question *q, char *why)
{
	const struct feature *const f = too_new(q);

	if (!f)
		return false;
	(void)snprintf(
		why, WHY_BYTES,
		"%s needs Linux %u.%u, and this is %u.%u: do without, or take a newer kernel",
		f->name, f->since / 1000, f->since % 1000, q->facts->kernel / 1000,
		q->facts->kernel % 1000);
	return true;
}

static void why_e2big(const struct question *q, char *why)
{
	if (!say_too_new(q, why))
		(void)snprintf(why, WHY_BYTES,
			       "this kernel knows a smaller struct perf_event_attr than the %u "
			       "bytes asked for: leave the newest options out, or take a newer "
			       "kernel",
			       q->event->attr.size);
}

static void why_einval(const struct question *q, char *why)
{
	const struct pev_event *const e = q->event;
	const struct pev_attr *const a = &e->attr;
	const int64_t max_rate = q->facts->max_sample_rate;

	if (say_too_new(q, why))
		return;
	if (q->facts->no_cpu)
		(void)snprintf(why, WHY_BYTES,
			       "this machine has no such CPU: /sys/devices/system/cpu/online names "
			       "those it has");
	else if ((a->flags & PEV_ATTR_FREQ) && max_rate >= 0 &&
		 a->sample_period > (uint64_t)max_rate)
		(void)snprintf(why, WHY_BYTES,
			       "%llu samples a second are more than "
			       "kernel.perf_event_max_sample_rate allows, which is %lld: ask for "
			       "fewer (-F), or raise the sysctl",
			       (unsigned long long)a->sample_period, (long long)max_rate);
	else if (a->type == PEV_TYPE_BREAKPOINT)
		(void)snprintf(
			why, WHY_BYTES,
			"this CPU's breakpoints cannot do that: give 1, 2, 4 or 8 bytes at a "
			"multiple of them, x alone and without a length, and :u for an "
			"address of a program");
	else if ((a->sample_type & PEV_SAMPLE_STACK_USER) &&
		 (a->sample_stack_user % 8 || a->sample_stack_user > 65528))
		(void)snprintf(why, WHY_BYTES,
			       "stack dumps of %u bytes cannot be had: ask for a multiple of 8 up "
			       "to 65528",
			       a->sample_stack_user);
	else if (e->pmu && !is_hardware(e) && !is_probe(e) && a->sample_period)
		(void)snprintf(why, WHY_BYTES,
			       "PMU %s likely counts without taking samples, or takes no modifiers "
			       "such as :u: use perf stat for its events, or leave the modifiers "
			       "out",
			       e->pmu);
	else
		(void)snprintf(why, WHY_BYTES,
			       "the kernel does not take these options together (type %u, config "
			       "0x%llx, flags 0x%llx, sample_type 0x%llx): leave modifiers and "
			       "sampling options out one by one",
			       a->type, (unsigned long long)a->config, (unsigned long long)a->flags,
			       (unsigned long long)a->sample_type);
}

static void why_eopnotsupp(const struct question *q, char *why)
{
	const struct pev_attr *const a = &q->event->attr;

	if (is_hardware(q->event) && !q->facts->core_pmu)
		why_enoent(q, why);
	else if (a->sample_type & PEV_SAMPLE_BRANCH_STACK)
		(void)snprintf(why, WHY_BYTES,
			       "it has no branch stack (LBR) on this CPU: use --call-graph fp or "
			       "dwarf instead of lbr");
	else if (a->flags & PEV_ATTR_PRECISE_IP_MASK)
		(void)snprintf(why, WHY_BYTES,
			       "it cannot be sampled with precise_ip %u on this CPU: take p away, "
			       "or write P for the best there is",
			       (unsigned)((a->flags & PEV_ATTR_PRECISE_IP_MASK) >>
					  PEV_ATTR_PRECISE_IP_SHIFT));
	else if (a->flags & PEV_ATTR_AUX_OUTPUT)
		(void)snprintf(why, WHY_BYTES, "it cannot write to an AUX area: do without");
	else if (a->sample_regs_user >> 32 || a->sample_regs_intr >> 32)
		(void)snprintf(why, WHY_BYTES,
			       "this CPU gives no vector registers: leave them out of the mask");
	else
		(void)snprintf(why, WHY_BYTES,
			       "its PMU raises no interrupts here, so it can be counted but not "
			       "sampled: use cpu-clock");
}

static void why_ebusy(const struct question *q, char *why)
{
	if (q->event->attr.type == PEV_TYPE_BREAKPOINT)
		(void)snprintf(why, WHY_BYTES,
			       "the CPU's breakpoints are all taken, by a debugger "
			       "maybe: ask for fewer");
	else
		(void)snprintf(why, WHY_BYTES,
			       "the PMU is taken, by an event opened with :e or :D, by another "
			       "profiler, or by the NMI watchdog: end that, or set sysctl "
			       "kernel.nmi_watchdog=0");
}

static void why_enospc(const struct question *q, char *why)
{
	if (q->event->attr.type == PEV_TYPE_BREAKPOINT)
		(void)snprintf(why, WHY_BYTES,
			       "all breakpoints of the CPU are taken, by a "
			       "debugger maybe: ask for fewer");
	else
		(void)snprintf(why, WHY_BYTES,
			       "the PMU has no counter left for it: record fewer events at a time");
}

static void why_eoverflow(const struct question *q, char *why)
{
	(void)snprintf(why, WHY_BYTES,
		       "callchains of %u frames are longer than kernel.perf_event_max_stack "
		       "allows, which is %lld: ask for fewer (max-stack=), or raise the sysctl",
		       q->event->attr.sample_max_stack, (long long)PEV_MAX(q->facts->max_stack, 0));
}

static void why_enosys(const struct question *q, char *why)
{
	(void)q;
	(void)snprintf(why, WHY_BYTES,
		       "this kernel has no perf events (CONFIG_PERF_EVENTS), or a container's "
		       "seccomp filter hides them: allow perf_event_open(2) there");
}

static void why_enomem(const struct question *q, char *why)
{
	(void)q;
	(void)snprintf(why, WHY_BYTES,
		       "the kernel has no memory for it, or too long callchains are asked for: "
		       "record fewer events");
}

static const struct {
	int code;
	void (*why)(const struct question *q, char *why);
} reasons[] = {
	{ -EACCES, why_eacces }, { -EPERM, why_eperm },           { -ENOENT, why_enoent },
	{ -ENODEV, why_enodev }, { -ENXIO, why_enodev },          { -ESRCH, why_esrch },
	{ -EMFILE, why_emfile }, { -ENFILE, why_enfile },         { -E2BIG, why_e2big },
	{ -EINVAL, why_einval }, { -EOPNOTSUPP, why_eopnotsupp }, { -EBUSY, why_ebusy },
	{ -ENOSPC, why_enospc }, { -EOVERFLOW, why_eoverflow },   { -ENOSYS, why_enosys },
	{ -ENOMEM, why_enomem },
};

/* " on CPU 3 for process 12", as far as they were asked for. */
static void say_where(int cpu, pid_t pid, char *where, size_t size)
{
	char on[32] = "", of[32] = "";

	if (cpu >= 0)
		(void)snprintf(on, sizeof(on), " on CPU %d", cpu);
	if (pid == 0)
		(void)snprintf(of, sizeof(of), " for this process");
	else if (pid > 0)
		(void)snprintf(of, sizeof(of), " for process %d", (int)pid);
	(void)snprintf(where, size, "%s%s", on, of);
}

int pev_open_explain_from(const struct pev_facts *facts, const struct pev_event *event, int cpu,
			  pid_t pid, int errno_code, struct pev_err *err)
{
	const struct question q = { .facts = facts, .event = event, .cpu = cpu, .pid = pid };
	const int code = errno_code < 0 ? errno_code : -errno_code;
	char where[72], why[WHY_BYTES];

	say_where(cpu, pid, where, sizeof(where));
	(void)snprintf(why, sizeof(why), "the kernel gives no reason; dmesg may");
	for (size_t i = 0; i < PEV_ARRAY_SIZE(reasons); i++)
		if (reasons[i].code == code)
			reasons[i].why(&q, why);
	return pev_err_set(err, code, "cannot open event '%s'%s: %s: %s", event->name, where,
			   pev_errno_str(code), why);
}

int pev_open_explain(const struct pev_event *event, int cpu, pid_t pid, int errno_code,
		     struct pev_err *err)
{
	struct pev_facts facts;

	pev_facts_read(cpu, pid, &facts);
	return pev_open_explain_from(&facts, event, cpu, pid, errno_code, err);
}

/* All rings of a user share kernel.perf_event_mlock_kb for each CPU; what is above that counts
 * against RLIMIT_MEMLOCK. */
static void why_mlock(const struct pev_facts *f, char *why)
{
	const int64_t kb = PEV_MAX(f->mlock_kb, 0);

	(void)snprintf(why, WHY_BYTES,
		       "the rings of one user may lock %lld KiB for each of the %u CPUs "
		       "(kernel.perf_event_mlock_kb) and %llu KiB for each process "
		       "(RLIMIT_MEMLOCK): ask for smaller rings (-m), raise the limits, or be root "
		       "or have CAP_IPC_LOCK",
		       (long long)kb, f->cpus, (unsigned long long)(f->memlock / 1024));
}

int pev_mmap_explain_from(const struct pev_facts *facts, size_t size_bytes, int errno_code,
			  struct pev_err *err)
{
	const int code = errno_code < 0 ? errno_code : -errno_code;
	const size_t page = facts->page_bytes;
	char why[WHY_BYTES];

	if (code == -EPERM && !has_capability(facts, CAP_IPC_LOCK))
		why_mlock(facts, why);
	else if (code == -EINVAL && (size_bytes % page || !pev_is_pow2(size_bytes / page - 1)))
		(void)snprintf(
			why, sizeof(why),
			"a ring is one page of %zu bytes and then 2^n pages: ask for a power "
			"of two (-m)",
			page);
	else if (code == -EINVAL)
		(void)snprintf(why, sizeof(why),
			       "the event has a ring of another size, or is inherited by children "
			       "on every CPU: map it once, for one CPU");
	else if (code == -ENOMEM)
		(void)snprintf(why, sizeof(why),
			       "the kernel has no memory for it: ask for smaller rings (-m)");
	else
		(void)snprintf(why, sizeof(why), "the kernel gives no reason; dmesg may");
	return pev_err_set(err, code, "cannot map a ring of %zu KiB: %s: %s", size_bytes / 1024,
			   pev_errno_str(code), why);
}

int pev_mmap_explain(size_t size_bytes, int errno_code, struct pev_err *err)
{
	struct pev_facts facts;

	pev_facts_read(-1, -1, &facts);
	return pev_mmap_explain_from(&facts, size_bytes, errno_code, err);
}
