// SPDX-License-Identifier: LGPL-2.1-or-later
/* The sentence for each way that an event or a ring is refused. */
#include "test.h"

#include "recorder/explain.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CAP_BIT(cap) (1ULL << (cap))
#define PERFMON      CAP_BIT(38)

/* How a machine and a process differ from the everyday: six CPUs, Linux 6.12, and no rights. */
struct odd {
	uint64_t capabilities;
	int64_t paranoid; /* 0 for the usual 2 */
	unsigned kernel;  /* 0 for 6.12 */
	bool no_core_pmu, foreign, offline, no_cpu, user_namespace;
};

static struct pev_facts facts(const struct odd *odd)
{
	return (struct pev_facts){
		.capabilities = odd->capabilities,
		.user_namespace = odd->user_namespace,
		.core_pmu = !odd->no_core_pmu,
		.foreign = odd->foreign,
		.offline = odd->offline,
		.no_cpu = odd->no_cpu,
		.paranoid = odd->paranoid ? odd->paranoid : 2,
		.max_sample_rate = 100000,
		.max_stack = 127,
		.mlock_kb = 516,
		.nofile = 1024,
		.memlock = 8 << 20,
		.kernel = odd->kernel ? odd->kernel : 6012,
		.cpus = 6,
		.page_bytes = 4096,
	};
}

struct refusal {
	const char *what;
	struct odd odd;
	struct pev_event event;
	pid_t pid;
	int code;
	const char *why; /* what follows the errno's words */
};

static char cycles[] = "cycles", cs[] = "cs", tp[] = "sched:sched_switch", mem[] = "mem:0x1000",
	    tsc[] = "msr/tsc/", msr[] = "msr", uprobe[] = "uprobe", probe[] = "uprobe/.../",
	    file[] = "/bin/gone";

#define HW(...)                                                     \
	{                                                           \
		.name = cycles, .attr = {.size = 128, __VA_ARGS__ } \
	}
#define SW(...)                                                                         \
	{                                                                               \
		.name = cs, .attr = {.size = 128, .type = 1, .config = 3, __VA_ARGS__ } \
	}

static const struct refusal refusals[] = {
	{ "whole CPUs",
	  { 0 },
	  HW(0),
	  -1,
	  EACCES,
	  "kernel.perf_event_paranoid is 2, which hides whole CPUs from a process without "
	  "CAP_PERFMON: be root, have that capability, or set the sysctl to 0" },
	{ "the kernel",
	  { 0 },
	  HW(0),
	  0,
	  EACCES,
	  "kernel.perf_event_paranoid is 2, which hides what the kernel does from a process "
	  "without CAP_PERFMON: be root, have that capability, or set the sysctl to 1, or ask for "
	  "user space alone (:u)" },
	{ "an old kernel",
	  { .kernel = 5004 },
	  HW(0),
	  7,
	  EACCES,
	  "kernel.perf_event_paranoid is 2, which hides what the kernel does from a process "
	  "without CAP_SYS_ADMIN: be root, have that capability, or set the sysctl to 1, or ask "
	  "for user space alone (:u)" },
	{ "tracepoints",
	  { .paranoid = 1 },
	  { .name = tp, .attr = { .type = 2, .sample_type = PEV_SAMPLE_RAW } },
	  7,
	  EACCES,
	  "kernel.perf_event_paranoid is 1, which hides the data of tracepoints from a process "
	  "without CAP_PERFMON: be root, have that capability, or set the sysctl to -1" },
	{ "Debian's level",
	  { .paranoid = 3 },
	  SW(.flags = PEV_ATTR_EXCLUDE_KERNEL),
	  0,
	  EACCES,
	  "kernel.perf_event_paranoid is 3, which hides anything from a process without "
	  "CAP_PERFMON: be root, have that capability, or set the sysctl to 2" },
	{ "another's process",
	  { .foreign = true },
	  SW(.flags = PEV_ATTR_EXCLUDE_KERNEL),
	  7,
	  EACCES,
	  "that process belongs to another user and this one lacks CAP_PERFMON: be root or that "
	  "user, or have the capability" },
	{ "no level known",
	  { .paranoid = PEV_FACT_UNKNOWN },
	  SW(0),
	  0,
	  EACCES,
	  "this process lacks CAP_PERFMON, and a security module or seccomp filter may ask for it: "
	  "be root, or have that capability" },
	{ "a container",
	  { .capabilities = PERFMON, .user_namespace = true },
	  SW(0),
	  -1,
	  EACCES,
	  "this process is in a user namespace, and capabilities it has there do not count: run "
	  "outside of the container, or without PrivateUsers=" },
	{ "a filter",
	  { .capabilities = PERFMON },
	  SW(0),
	  -1,
	  EPERM,
	  "the rights are there, so a seccomp filter, a security module or kernel lockdown forbids "
	  "it: allow perf_event_open(2) there, as with SystemCallFilter=perf_event_open" },
	{ "a probe",
	  { .paranoid = -1 },
	  { .name = probe, .pmu = uprobe, .attr = { .type = 8 } },
	  -1,
	  EACCES,
	  "probes need CAP_PERFMON: be root, or have that capability" },
	{ "namespaces",
	  { .paranoid = -1 },
	  SW(.flags = PEV_ATTR_NAMESPACES),
	  -1,
	  EACCES,
	  "records of namespaces need CAP_PERFMON: be root, or have that capability" },
	{ "the kernel's memory",
	  { .capabilities = PERFMON },
	  { .name = mem, .attr = { .type = 5 } },
	  -1,
	  EPERM,
	  "a breakpoint on a kernel address needs CAP_SYS_ADMIN: be root" },
	{ "no PMU",
	  { .no_core_pmu = true },
	  HW(0),
	  -1,
	  ENOENT,
	  "this machine shows no hardware counters (a virtual machine without a PMU?): use "
	  "cpu-clock, or give the machine a virtual PMU" },
	{ "no PMU, said otherwise",
	  { .no_core_pmu = true },
	  HW(0),
	  -1,
	  EOPNOTSUPP,
	  "this machine shows no hardware counters (a virtual machine without a PMU?): use "
	  "cpu-clock, or give the machine a virtual PMU" },
	{ "not this CPU's",
	  { 0 },
	  HW(.config = 9),
	  -1,
	  ENOENT,
	  "this CPU cannot count it: perf list hw cache shows what it can" },
	{ "not this kernel's",
	  { 0 },
	  SW(0),
	  -1,
	  ENOENT,
	  "this kernel does not have it: use another event, or a newer kernel" },
	{ "a tracepoint gone",
	  { 0 },
	  { .name = tp, .attr = { .type = 2 } },
	  -1,
	  ENOENT,
	  "the tracepoint is gone, with its module maybe: name it anew" },
	{ "a file gone",
	  { 0 },
	  { .name = probe, .pmu = uprobe, .path = file, .attr = { .type = 8 } },
	  -1,
	  ENOENT,
	  "there is no '/bin/gone' to probe: check its name, as this process sees it" },
	{ "no such type",
	  { 0 },
	  { .name = tsc, .attr = { .type = 99, .config = 16 } },
	  -1,
	  ENOENT,
	  "no PMU of this machine takes type 99, config 0x10: ls /sys/bus/event_source/devices "
	  "shows those there are" },
	{ "offline",
	  { .offline = true },
	  SW(0),
	  -1,
	  ENODEV,
	  "CPU 3 is offline: leave it out, or switch it on (echo 1 > "
	  "/sys/devices/system/cpu/cpu3/online)" },
	{ "another kind of CPU",
	  { 0 },
	  HW(0),
	  -1,
	  ENODEV,
	  "the event's PMU does not serve that CPU: leave the CPU out, or choose another event" },
	{ "gone", { 0 }, SW(0), 7, ESRCH, "that process is gone: name one that runs" },
	{ "files",
	  { 0 },
	  SW(0),
	  -1,
	  EMFILE,
	  "this process has as many files open as RLIMIT_NOFILE allows, which is 1024, and each "
	  "event takes one for each CPU and thread: raise the limit (ulimit -n, LimitNOFILE=), or "
	  "record fewer events" },
	{ "all files",
	  { 0 },
	  SW(0),
	  -1,
	  ENFILE,
	  "the machine has as many files open as fs.file-max allows: raise that sysctl, or record "
	  "fewer events" },
	{ "build-ids of an old kernel",
	  { .kernel = 5010 },
	  SW(.flags = PEV_ATTR_BUILD_ID),
	  -1,
	  EINVAL,
	  "attr.build_id needs Linux 5.12, and this is 5.10: do without, or take a newer kernel" },
	{ "lost counts of an old kernel",
	  { .kernel = 5010 },
	  SW(.read_format = PEV_FORMAT_LOST),
	  -1,
	  EINVAL,
	  "PERF_FORMAT_LOST needs Linux 6.0, and this is 5.10: do without, or take a newer "
	  "kernel" },
	{ "a large attr",
	  { .kernel = 5010 },
	  SW(.config3 = 1),
	  -1,
	  E2BIG,
	  "attr.config3 needs Linux 6.3, and this is 5.10: do without, or take a newer kernel" },
	{ "a larger attr",
	  { 0 },
	  SW(0),
	  -1,
	  E2BIG,
	  "this kernel knows a smaller struct perf_event_attr than the 128 bytes asked for: leave "
	  "the newest options out, or take a newer kernel" },
	{ "too often",
	  { 0 },
	  SW(.flags = PEV_ATTR_FREQ, .sample_period = 200000),
	  -1,
	  EINVAL,
	  "200000 samples a second are more than kernel.perf_event_max_sample_rate allows, which "
	  "is 100000: ask for fewer (-F), or raise the sysctl" },
	{ "no such CPU",
	  { .no_cpu = true },
	  SW(0),
	  -1,
	  EINVAL,
	  "this machine has no such CPU: /sys/devices/system/cpu/online names those it has" },
	{ "a breakpoint",
	  { 0 },
	  { .name = mem, .attr = { .type = 5 } },
	  -1,
	  EINVAL,
	  "this CPU's breakpoints cannot do that: give 1, 2, 4 or 8 bytes at a multiple of them, x "
	  "alone and without a length, and :u for an address of a program" },
	{ "a stack",
	  { 0 },
	  SW(.sample_type = PEV_SAMPLE_STACK_USER, .sample_stack_user = 65535),
	  -1,
	  EINVAL,
	  "stack dumps of 65535 bytes cannot be had: ask for a multiple of 8 up to 65528" },
	{ "a counter",
	  { 0 },
	  { .name = tsc, .pmu = msr, .attr = { .type = 9, .sample_period = 1000 } },
	  -1,
	  EINVAL,
	  "PMU msr likely counts without taking samples, or takes no modifiers such as :u: use "
	  "perf stat for its events, or leave the modifiers out" },
	{ "anything else",
	  { 0 },
	  SW(.sample_type = PEV_SAMPLE_AUX),
	  -1,
	  EINVAL,
	  "the kernel does not take these options together (type 1, config 0x3, flags 0x0, "
	  "sample_type 0x100000): leave modifiers and sampling options out one by one" },
	{ "branches",
	  { 0 },
	  HW(.sample_type = PEV_SAMPLE_BRANCH_STACK),
	  -1,
	  EOPNOTSUPP,
	  "it has no branch stack (LBR) on this CPU: use --call-graph fp or dwarf instead of lbr" },
	{ "precision",
	  { 0 },
	  HW(.flags = 3ULL << PEV_ATTR_PRECISE_IP_SHIFT),
	  -1,
	  EOPNOTSUPP,
	  "it cannot be sampled with precise_ip 3 on this CPU: take p away, or write P for the "
	  "best there is" },
	{ "vector registers",
	  { 0 },
	  HW(.sample_regs_intr = 1ULL << 32),
	  -1,
	  EOPNOTSUPP,
	  "this CPU gives no vector registers: leave them out of the mask" },
	{ "interrupts",
	  { 0 },
	  HW(0),
	  -1,
	  EOPNOTSUPP,
	  "its PMU raises no interrupts here, so it can be counted but not sampled: use "
	  "cpu-clock" },
	{ "busy",
	  { 0 },
	  HW(0),
	  -1,
	  EBUSY,
	  "the PMU is taken, by an event opened with :e or :D, by another profiler, or by the NMI "
	  "watchdog: end that, or set sysctl kernel.nmi_watchdog=0" },
	{ "five breakpoints",
	  { 0 },
	  { .name = mem, .attr = { .type = 5 } },
	  -1,
	  ENOSPC,
	  "all breakpoints of the CPU are taken, by a debugger maybe: ask for fewer" },
	{ "deep",
	  { 0 },
	  SW(.sample_max_stack = 500),
	  -1,
	  EOVERFLOW,
	  "callchains of 500 frames are longer than kernel.perf_event_max_stack allows, which is "
	  "127: ask for fewer (max-stack=), or raise the sysctl" },
	{ "no perf",
	  { 0 },
	  SW(0),
	  -1,
	  ENOSYS,
	  "this kernel has no perf events (CONFIG_PERF_EVENTS), or a container's seccomp filter "
	  "hides them: allow perf_event_open(2) there" },
	{ "memory",
	  { 0 },
	  SW(0),
	  -1,
	  ENOMEM,
	  "the kernel has no memory for it, or too long callchains are asked for: record fewer "
	  "events" },
	{ "never seen", { 0 }, SW(0), -1, EDOM, "the kernel gives no reason; dmesg may" },
};

static void test_open(void **state)
{
	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(refusals); i++) {
		const struct refusal *const r = &refusals[i];
		const struct pev_facts f = facts(&r->odd);
		struct pev_err err = PEV_ERR_INIT;
		char pid[32] = "", msg[1024];

		if (r->pid > 0)
			(void)snprintf(pid, sizeof(pid), " for process %d", (int)r->pid);
		else if (r->pid == 0)
			(void)snprintf(pid, sizeof(pid), " for this process");
		(void)snprintf(msg, sizeof(msg), "cannot open event '%s' on CPU 3%s: %s: %s",
			       r->event.name, pid, strerrordesc_np(r->code), r->why);
		assert_int_equal(pev_open_explain_from(&f, &r->event, 3, r->pid, r->code, &err),
				 -r->code);
		if (err.code != -r->code || strcmp(err.msg, msg))
			fail_msg("%s: %d\n%s\nand not\n%s", r->what, err.code, err.msg, msg);
	}
}

static void test_where(void **state)
{
	static const struct {
		int cpu;
		pid_t pid;
		const char *where;
	} wheres[] = {
		{ -1, -1, "" },
		{ 0, -1, " on CPU 0" },
		{ -1, 0, " for this process" },
		{ -1, 7, " for process 7" },
		{ 1, 7, " on CPU 1 for process 7" },
	};
	const struct pev_facts f = facts(&(struct odd){ 0 });
	const struct pev_event e = SW(0);

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(wheres); i++)
		for (int sign = -1; sign <= 1; sign += 2) {
			struct pev_err err = PEV_ERR_INIT;
			char msg[128];

			(void)snprintf(msg, sizeof(msg),
				       "cannot open event 'cs'%s: Numerical argument out of "
				       "domain: the kernel gives no reason; dmesg may",
				       wheres[i].where);
			assert_int_equal(pev_open_explain_from(&f, &e, wheres[i].cpu, wheres[i].pid,
							       sign * EDOM, &err),
					 -EDOM);
			assert_err(&err, -EDOM, msg);
		}
}

static void test_mmap(void **state)
{
	static const struct {
		struct odd odd;
		size_t size;
		int code;
		const char *msg;
	} maps[] = {
		{ { 0 },
		  1025 * 4096,
		  EPERM,
		  "cannot map a ring of 4100 KiB: Operation not permitted: the rings of one user "
		  "may lock 516 KiB for each of the 6 CPUs (kernel.perf_event_mlock_kb) and 8192 "
		  "KiB for each process (RLIMIT_MEMLOCK): ask for smaller rings (-m), raise the "
		  "limits, or be root or have CAP_IPC_LOCK" },
		{ { .capabilities = CAP_BIT(CAP_IPC_LOCK) },
		  1025 * 4096,
		  EPERM,
		  "cannot map a ring of 4100 KiB: Operation not permitted: the kernel gives no "
		  "reason; dmesg may" },
		{ { 0 },
		  4 * 4096,
		  EINVAL,
		  "cannot map a ring of 16 KiB: Invalid argument: a ring is one page of 4096 bytes "
		  "and then 2^n pages: ask for a power of two (-m)" },
		{ { 0 },
		  4096 + 2048,
		  EINVAL,
		  "cannot map a ring of 6 KiB: Invalid argument: a ring is one page of 4096 bytes "
		  "and then 2^n pages: ask for a power of two (-m)" },
		{ { 0 },
		  0,
		  EINVAL,
		  "cannot map a ring of 0 KiB: Invalid argument: a ring is one page of 4096 bytes "
		  "and then 2^n pages: ask for a power of two (-m)" },
		{ { 0 },
		  5 * 4096,
		  EINVAL,
		  "cannot map a ring of 20 KiB: Invalid argument: the event has a ring of another "
		  "size, or is inherited by children on every CPU: map it once, for one CPU" },
		{ { 0 },
		  5 * 4096,
		  ENOMEM,
		  "cannot map a ring of 20 KiB: Cannot allocate memory: the kernel has no memory "
		  "for it: ask for smaller rings (-m)" },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(maps); i++) {
		const struct pev_facts f = facts(&maps[i].odd);
		struct pev_err err = PEV_ERR_INIT;

		assert_int_equal(pev_mmap_explain_from(&f, maps[i].size, maps[i].code, &err),
				 -maps[i].code);
		assert_err(&err, -maps[i].code, maps[i].msg);
	}
}

/* What is found out about this machine must at least be possible. */
static void test_facts(void **state)
{
	struct pev_facts f;

	(void)state;
	pev_facts_read(-1, -1, &f);
	assert_false(f.foreign || f.offline || f.no_cpu);
	assert_true(f.cpus >= 1);
	assert_true(f.kernel >= 3000 && f.kernel < 100000);
	assert_int_equal(f.page_bytes, getpagesize());
	assert_true(f.nofile > 0);
	pev_facts_read(1000000, getpid(), &f);
	assert_true(f.no_cpu);
	assert_false(f.foreign);
	if (geteuid() == 0 && !f.user_namespace)
		assert_true(f.capabilities);
}

/* A refusal of this kernel, asked for and explained. */
static void test_real_refusals(void **state)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = PERF_ATTR_SIZE_VER5,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct pev_event event = {
		.name = cs,
		.attr = { .type = 1,
			  .config = 9,
			  .size = PEV_ATTR_SIZE_VER5,
			  .flags = PEV_ATTR_EXCLUDE_KERNEL | PEV_ATTR_EXCLUDE_HV },
	};
	struct pev_err err = PEV_ERR_INIT;
	long fd;

	(void)state;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (fd < 0 && (errno == ENOSYS || errno == EACCES || errno == EPERM)) {
		print_message("skipped: this machine lets no event be opened: %s\n",
			      strerrordesc_np(errno));
		skip();
	}
	if (fd >= 0)
		(void)close((int)fd);
	/* A process number that no Linux can have. */
	fd = syscall(SYS_perf_event_open, &attr, 0x7ffffffe, -1, -1, 0);
	assert_int_equal(fd, -1);
	assert_int_equal(pev_open_explain(&event, -1, 0x7ffffffe, errno, &err), -ESRCH);
	assert_err(&err, -ESRCH,
		   "cannot open event 'cs' for process 2147483646: No such process: that process "
		   "is gone: name one that runs");
	fd = syscall(SYS_perf_event_open, &attr, 0, 1000000, -1, 0);
	assert_int_equal(fd, -1);
	assert_int_equal(pev_open_explain(&event, 1000000, 0, errno, &err), -EINVAL);
	assert_err(&err, -EINVAL,
		   "cannot open event 'cs' on CPU 1000000 for this process: Invalid argument: this "
		   "machine has no such CPU: /sys/devices/system/cpu/online names those it has");
	assert_int_equal(pev_mmap_explain(3 * (size_t)getpagesize(), ENOMEM, &err), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open),          cmocka_unit_test(test_where),
		cmocka_unit_test(test_mmap),          cmocka_unit_test(test_facts),
		cmocka_unit_test(test_real_refusals),
	};

	return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
