// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/unit/feature_make.h"

#include "tests/unit/test.h"

#include "base/cleanup.h"

#include <string.h>

void make_u16(struct maker *m, uint16_t v)
{
	pev_buf_u16(m->buf, m->swap ? __builtin_bswap16(v) : v);
}

void make_u32(struct maker *m, uint32_t v)
{
	pev_buf_u32(m->buf, m->swap ? __builtin_bswap32(v) : v);
}

void make_u64(struct maker *m, uint64_t v)
{
	pev_buf_u64(m->buf, m->swap ? __builtin_bswap64(v) : v);
}

void make_str(struct maker *m, const char *s)
{
	const size_t used = strlen(s) + 1, len = (used + 63) & ~(size_t)63;

	make_u32(m, (uint32_t)len);
	pev_buf_put(m->buf, s, used);
	pev_buf_zero(m->buf, len - used);
}

/* The flag word by way of its definition: field after field from the first bit of memory on, which
 * is the lowest of a byte here and the highest there; the value of a field likewise. */
static uint64_t other_flags(uint64_t flags)
{
	uint64_t big = 0;

	for (unsigned int bit = 0; bit < 64; bit++) {
		unsigned int to = bit;

		if (bit == PEV_ATTR_PRECISE_IP_SHIFT || bit == PEV_ATTR_PRECISE_IP_SHIFT + 1)
			to = 2 * PEV_ATTR_PRECISE_IP_SHIFT + 1 - bit;
		if (flags >> bit & 1)
			big |= 1ULL << (63 - to);
	}
	return big;
}

void make_attr_bytes(struct maker *m, const struct pev_attr *attr, size_t size)
{
	_cleanup_buf_ struct pev_buf whole = { 0 };
	struct maker w = { .buf = &whole, .swap = m->swap };

	make_u32(&w, attr->type);
	make_u32(&w, attr->size);
	make_u64(&w, attr->config);
	make_u64(&w, attr->sample_period);
	make_u64(&w, attr->sample_type);
	make_u64(&w, attr->read_format);
	make_u64(&w, m->swap ? other_flags(attr->flags) : attr->flags);
	make_u32(&w, attr->wakeup);
	make_u32(&w, attr->bp_type);
	make_u64(&w, attr->config1);
	make_u64(&w, attr->config2);
	make_u64(&w, attr->branch_sample_type);
	make_u64(&w, attr->sample_regs_user);
	make_u32(&w, attr->sample_stack_user);
	make_u32(&w, (uint32_t)attr->clockid);
	make_u64(&w, attr->sample_regs_intr);
	make_u32(&w, attr->aux_watermark);
	make_u16(&w, attr->sample_max_stack);
	make_u16(&w, attr->reserved_2);
	make_u32(&w, attr->aux_sample_size);
	make_u32(&w, m->swap ? (uint32_t)(other_flags(attr->aux_action) >> 32) : attr->aux_action);
	make_u64(&w, attr->sig_data);
	make_u64(&w, attr->config3);
	make_u64(&w, attr->config4);
	pev_buf_zero(&whole, 64); /* what a newer kernel may add */
	pev_buf_put(m->buf, whole.data, size);
}

static void make_blob(struct maker *m)
{
	pev_buf_put(m->buf, "\027\010\104tracing0.6", 13);
}

static void make_build_id(struct maker *m, uint16_t misc, bool has_pid, uint8_t id_size,
			  const char *name)
{
	const size_t len = (strlen(name) + 1 + 63) & ~(size_t)63;

	make_u32(m, 0);
	make_u16(m, misc);
	make_u16(m, (uint16_t)(len + (has_pid ? 36 : 32)));
	if (has_pid)
		make_u32(m, (uint32_t)-1);
	pev_buf_put(m->buf, "0123456789abcdefghij", 20);
	pev_buf_u8(m->buf, id_size);
	pev_buf_zero(m->buf, 3);
	pev_buf_put(m->buf, name, strlen(name) + 1);
	pev_buf_zero(m->buf, len - strlen(name) - 1);
}

static void make_build_ids(struct maker *m)
{
	make_build_id(m, PEV_MISC_KERNEL | PEV_MISC_BUILD_ID_SIZE, true, 20, "[kernel.kallsyms]");
	make_build_id(m, PEV_MISC_USER | PEV_MISC_BUILD_ID_SIZE, true, 16, "/usr/bin/md5");
	make_build_id(m, PEV_MISC_USER, true, 0, "[vdso]");
}

static void make_old_build_ids(struct maker *m)
{
	make_build_id(m, PEV_MISC_KERNEL, false, 0, "[kernel.kallsyms]");
	make_build_id(m, PEV_MISC_USER, false, 0, "/bin/true");
}

static void make_no_build_ids(struct maker *m)
{
	(void)m;
}

static void make_hostname(struct maker *m)
{
	make_str(m, "host.example");
}

/* 63 and a NUL fill one block of 64, 64 need another. */
static void make_full_str(struct maker *m)
{
	make_str(m, "123456789.123456789.123456789.123456789.123456789.123456789.123");
}

static void make_long_str(struct maker *m)
{
	make_str(m, "123456789.123456789.123456789.123456789.123456789.123456789.1234");
}

static void make_empty_str(struct maker *m)
{
	make_str(m, "");
}

static void make_nrcpus(struct maker *m)
{
	make_u32(m, 3);
	make_u32(m, 2);
}

static void make_total_mem(struct maker *m)
{
	make_u64(m, 24684092);
}

static void make_cmdline(struct maker *m)
{
	make_u32(m, 3);
	make_str(m, "/usr/bin/perf");
	make_str(m, "it's 'so'");
	make_str(m, "");
}

static const struct pev_attr attr_new = {
	.type = PEV_TYPE_TRACEPOINT,
	.size = PEV_ATTR_SIZE_VER9,
	.config = 0x174,
	.sample_period = 1,
	.sample_type = PEV_SAMPLE_IP | PEV_SAMPLE_RAW | PEV_SAMPLE_TRANSACTION,
	.read_format = PEV_FORMAT_ID | PEV_FORMAT_LOST,
	.flags = PEV_ATTR_INHERIT | 2ULL << PEV_ATTR_PRECISE_IP_SHIFT | PEV_ATTR_DEFER_OUTPUT,
	.clockid = -3,
	.aux_action = PEV_AUX_PAUSE,
	.sig_data = 7,
	.config3 = 3,
	.config4 = 4,
};

static const struct pev_attr attr_old = {
	.type = PEV_TYPE_SOFTWARE,
	.size = PEV_ATTR_SIZE_VER0,
	.config = PEV_SW_DUMMY,
	.sample_period = 4000,
	.sample_type = PEV_SAMPLE_IP | PEV_SAMPLE_TID,
	.flags = PEV_ATTR_DISABLED | PEV_ATTR_FREQ,
	.wakeup = 1,
};

static void make_event_desc_of(struct maker *m, uint32_t attr_size, const struct pev_attr *attr)
{
	make_u32(m, 3);
	make_u32(m, attr_size);
	make_attr_bytes(m, attr, attr_size);
	make_u32(m, 2);
	make_str(m, "sched:sched_switch");
	make_u64(m, 17);
	make_u64(m, UINT64_MAX);
	make_attr_bytes(m, attr, attr_size);
	make_u32(m, 0);
	make_str(m, "dummy:HG");
	make_attr_bytes(m, attr, attr_size);
	make_u32(m, 1);
	make_str(m, "cpu-clock");
	make_u64(m, 18);
}

static void make_event_desc(struct maker *m)
{
	make_event_desc_of(m, PEV_ATTR_SIZE_VER9, &attr_new);
}

static void make_event_desc_old(struct maker *m)
{
	make_event_desc_of(m, PEV_ATTR_SIZE_VER0, &attr_old);
}

static void make_event_desc_newer(struct maker *m)
{
	make_event_desc_of(m, PEV_ATTR_SIZE_VER9 + 16, &attr_old);
}

static void make_strings(struct maker *m, const char *a, const char *b)
{
	make_u32(m, 2);
	make_str(m, a);
	make_str(m, b);
}

static void make_topology_oldest(struct maker *m)
{
	make_strings(m, "0-1", "2");
	make_strings(m, "0", "1-2");
}

static void make_topology(struct maker *m)
{
	make_topology_oldest(m);
	for (uint32_t cpu = 0; cpu < 3; cpu++) {
		make_u32(m, 256 * cpu);
		make_u32(m, cpu == 2 ? (uint32_t)-1 : 132);
	}
}

static void make_topology_dies(struct maker *m)
{
	make_topology(m);
	make_strings(m, "0-1", "2");
	for (uint32_t cpu = 0; cpu < 3; cpu++)
		make_u32(m, cpu / 2);
}

static void make_numa(struct maker *m)
{
	make_u32(m, 2);
	for (uint32_t node = 0; node < 2; node++) {
		make_u32(m, node);
		make_u64(m, 1000 + node);
		make_u64(m, 500 + node);
		make_str(m, node ? "" : "0-2");
	}
}

static void make_nothing(struct maker *m)
{
	(void)m;
}

static void make_pmus(struct maker *m)
{
	make_u32(m, 2);
	make_u32(m, 1);
	make_str(m, "software");
	make_u32(m, 4294901760);
	make_str(m, "hwmon_nvme");
}

static void make_zero(struct maker *m)
{
	make_u32(m, 0);
}

static void make_groups(struct maker *m)
{
	make_u32(m, 1);
	make_str(m, "mine");
	make_u32(m, 0);
	make_u32(m, 2);
}

static void make_group_anon(struct maker *m)
{
	make_u32(m, 1);
	make_str(m, PEV_GROUP_ANON);
	make_u32(m, 1);
	make_u32(m, 2);
}

static void make_auxtrace(struct maker *m)
{
	make_u64(m, 2);
	for (uint64_t i = 0; i < 4; i++)
		make_u64(m, 1000 * i);
}

static void make_cache(struct maker *m)
{
	static const char *const types[] = { "Data", "Instruction", "Unified" };

	make_u32(m, 1);
	make_u32(m, 3);
	for (uint32_t i = 0; i < 3; i++) {
		make_u32(m, 1 + i / 2);
		make_u32(m, 64);
		make_u32(m, 1 << i);
		make_u32(m, 8);
		make_str(m, types[i]);
		make_str(m, i == 2 ? "32768K" : "48K");
		make_str(m, "0,12");
	}
}

static void make_sample_time(struct maker *m)
{
	make_u64(m, 1043273115432);
	make_u64(m, 1043474663999);
}

static void make_memory(struct maker *m)
{
	make_u64(m, 1);
	make_u64(m, 0x8000000);
	make_u64(m, 2);
	make_u64(m, 0);
	make_u64(m, 70);
	make_u64(m, 70);
	make_u64(m, 0x80000001fffffff7);
	make_u64(m, 0x21);
	make_u64(m, 5);
	make_u64(m, 1);
	make_u64(m, 1);
	make_u64(m, 1);
}

/* Nearly every second block: a list that perf cuts at 99 characters. */
static void make_memory_holes(struct maker *m)
{
	make_u64(m, 1);
	make_u64(m, 0x1000);
	make_u64(m, 1);
	make_u64(m, 0);
	make_u64(m, 128);
	make_u64(m, 128);
	make_u64(m, 0x5555555555555554);
	make_u64(m, 0x5555555555555555);
}

static void make_clockid(struct maker *m)
{
	make_u64(m, 4);
}

static void make_dir_format(struct maker *m)
{
	make_u64(m, 1);
}

static void make_compressed(struct maker *m)
{
	make_u32(m, 0);
	make_u32(m, PEV_COMP_ZSTD);
	make_u32(m, 1);
	make_u32(m, 13);
	make_u32(m, 528384);
}

static void make_caps(struct maker *m)
{
	make_u32(m, 2);
	make_str(m, "branches");
	make_str(m, "32");
	make_str(m, "pmu_name");
	make_str(m, "skylake");
}

static void make_pmu_caps(struct maker *m)
{
	make_u32(m, 2);
	make_caps(m);
	make_str(m, "cpu_core");
	make_u32(m, 0);
	make_str(m, "ibs_op");
}

static void make_clock_data(struct maker *m)
{
	make_u32(m, 1);
	make_u32(m, 7);
	make_u64(m, 1795149419545359000);
	make_u64(m, 1044353389708);
}

static void make_hybrid(struct maker *m)
{
	make_u32(m, 2);
	make_str(m, "cpu_core");
	make_str(m, "0-1");
	make_str(m, "cpu_atom");
	make_str(m, "2");
}

static void make_domains(struct maker *m, uint32_t version)
{
	make_u32(m, version);
	make_u32(m, 2);
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		make_u32(m, cpu);
		make_u32(m, 1 - cpu);
		if (cpu)
			break;
		make_u32(m, 0);
		if (version >= 17)
			make_str(m, "MC");
		make_str(m, "00000000,00000003");
		make_str(m, "0-1");
	}
}

static void make_domains_15(struct maker *m)
{
	make_domains(m, 15);
}

static void make_domains_17(struct maker *m)
{
	make_domains(m, 17);
}

static void make_e_machine(struct maker *m)
{
	make_u32(m, 62);
	make_u32(m, 0);
}

static void make_cln_size(struct maker *m)
{
	make_u32(m, 64);
}

#define ATTR_NEW                                                                     \
	"type = 2, size = 144, config = 0x174, { sample_period, sample_freq } = 1, " \
	"sample_type = IP|RAW, read_format = ID|LOST, inherit = 1, precise_ip = 2, " \
	"defer_output = 1, clockid = -3, sig_data = 7, aux_pause = 1\n"
#define ATTR_OLD                                                                     \
	"type = 1, size = 64, config = 0x9, { sample_period, sample_freq } = 4000, " \
	"sample_type = IP|TID, disabled = 1, freq = 1, "                             \
	"{ wakeup_events, wakeup_watermark } = 1\n"
#define EVENTS(attr)                                                                      \
	"# event : name = sched:sched_switch, , id = { 17, 18446744073709551615 }, " attr \
	"# event : name = dummy:HG, , " attr "# event : name = cpu-clock, , id = { 18 }, " attr
#define TOPOLOGY_LISTS   "# sibling sockets : 0-1\n# sibling sockets : 2\n"
#define TOPOLOGY_THREADS "# sibling threads : 0\n# sibling threads : 1-2\n"

const struct feature_case feature_cases[] = {
	{ .name = "tracing data",
	  .feat = PEV_FEAT_TRACING_DATA,
	  .make = make_blob,
	  .printed = "",
	  .open_ended = true },
	{ .name = "build ids", .feat = PEV_FEAT_BUILD_ID, .make = make_build_ids, .printed = "" },
	{ .name = "build ids without pid",
	  .feat = PEV_FEAT_BUILD_ID,
	  .make = make_old_build_ids,
	  .lossy = true },
	{ .name = "no build ids", .feat = PEV_FEAT_BUILD_ID, .make = make_no_build_ids },
	{ .name = "hostname",
	  .feat = PEV_FEAT_HOSTNAME,
	  .make = make_hostname,
	  .printed = "# hostname : host.example\n" },
	{ .name = "string of 63",
	  .feat = PEV_FEAT_OSRELEASE,
	  .make = make_full_str,
	  .printed = "# os release : 123456789.123456789.123456789.123456789.123456789."
		     "123456789.123\n" },
	{ .name = "string of 64",
	  .feat = PEV_FEAT_VERSION,
	  .make = make_long_str,
	  .printed = "# perf version : 123456789.123456789.123456789.123456789.123456789."
		     "123456789.1234\n" },
	{ .name = "empty string",
	  .feat = PEV_FEAT_ARCH,
	  .make = make_empty_str,
	  .printed = "# arch : \n" },
	{ .name = "nrcpus",
	  .feat = PEV_FEAT_NRCPUS,
	  .make = make_nrcpus,
	  .printed = "# nrcpus online : 2\n# nrcpus avail : 3\n" },
	{ .name = "cpudesc",
	  .feat = PEV_FEAT_CPUDESC,
	  .make = make_hostname,
	  .printed = "# cpudesc : host.example\n" },
	{ .name = "cpuid",
	  .feat = PEV_FEAT_CPUID,
	  .make = make_hostname,
	  .printed = "# cpuid : host.example\n" },
	{ .name = "total mem",
	  .feat = PEV_FEAT_TOTAL_MEM,
	  .make = make_total_mem,
	  .printed = "# total memory : 24684092 kB\n" },
	{ .name = "cmdline",
	  .feat = PEV_FEAT_CMDLINE,
	  .make = make_cmdline,
	  .printed = "# cmdline : /usr/bin/perf it\\'s \\'so\\'  \n" },
	{ .name = "event desc",
	  .feat = PEV_FEAT_EVENT_DESC,
	  .make = make_event_desc,
	  .printed = EVENTS(ATTR_NEW) },
	{ .name = "event desc, oldest attr",
	  .feat = PEV_FEAT_EVENT_DESC,
	  .make = make_event_desc_old,
	  .printed = EVENTS(ATTR_OLD) },
	{ .name = "event desc, attr newer than ours",
	  .feat = PEV_FEAT_EVENT_DESC,
	  .make = make_event_desc_newer,
	  .printed = EVENTS(ATTR_OLD) },
	{ .name = "topology, lists only",
	  .feat = PEV_FEAT_CPU_TOPOLOGY,
	  .make = make_topology_oldest,
	  .printed = TOPOLOGY_LISTS TOPOLOGY_THREADS
	  "# Core ID and Socket ID information is not available\n" },
	{ .name = "topology without dies",
	  .feat = PEV_FEAT_CPU_TOPOLOGY,
	  .make = make_topology,
	  .printed = TOPOLOGY_LISTS TOPOLOGY_THREADS "# CPU 0: Core ID 0, Socket ID 132\n"
						     "# CPU 1: Core ID 256, Socket ID 132\n"
						     "# CPU 2: Core ID 512, Socket ID -1\n" },
	{ .name = "topology with dies",
	  .feat = PEV_FEAT_CPU_TOPOLOGY,
	  .make = make_topology_dies,
	  .printed =
		  TOPOLOGY_LISTS "# sibling dies    : 0-1\n# sibling dies    : 2\n" TOPOLOGY_THREADS
				 "# CPU 0: Core ID 0, Die ID 0, Socket ID 132\n"
				 "# CPU 1: Core ID 256, Die ID 0, Socket ID 132\n"
				 "# CPU 2: Core ID 512, Die ID 1, Socket ID -1\n" },
	{ .name = "numa",
	  .feat = PEV_FEAT_NUMA_TOPOLOGY,
	  .make = make_numa,
	  .printed = "# node0 meminfo  : total = 1000 kB, free = 500 kB\n"
		     "# node0 cpu list : 0-2\n"
		     "# node1 meminfo  : total = 1001 kB, free = 501 kB\n"
		     "# node1 cpu list : -1\n" },
	{ .name = "branch stack",
	  .feat = PEV_FEAT_BRANCH_STACK,
	  .make = make_nothing,
	  .printed = "# contains samples with branch stack\n" },
	{ .name = "pmu mappings",
	  .feat = PEV_FEAT_PMU_MAPPINGS,
	  .make = make_pmus,
	  .printed = "# pmu mappings: software = 1, hwmon_nvme = 4294901760\n" },
	{ .name = "no pmu mappings",
	  .feat = PEV_FEAT_PMU_MAPPINGS,
	  .make = make_zero,
	  .printed = "# pmu mappings: not available\n" },
	{ .name = "group desc",
	  .feat = PEV_FEAT_GROUP_DESC,
	  .make = make_groups,
	  .printed = "# group: mine{sched:sched_switch,dummy:HG}\n" },
	{ .name = "group desc without name",
	  .feat = PEV_FEAT_GROUP_DESC,
	  .make = make_group_anon,
	  .printed = "# group: {dummy:HG,cpu-clock}\n" },
	{ .name = "auxtrace",
	  .feat = PEV_FEAT_AUXTRACE,
	  .make = make_auxtrace,
	  .printed = "# contains AUX area data (e.g. instruction trace)\n" },
	{ .name = "stat",
	  .feat = PEV_FEAT_STAT,
	  .make = make_nothing,
	  .printed = "# contains stat data\n" },
	{ .name = "cache",
	  .feat = PEV_FEAT_CACHE,
	  .make = make_cache,
	  .printed = "# CPU cache info:\n"
		     "#  L1 Data                 48K [0,12]\n"
		     "#  L1 Instruction          48K [0,12]\n"
		     "#  L2 Unified           32768K [0,12]\n" },
	{ .name = "sample time",
	  .feat = PEV_FEAT_SAMPLE_TIME,
	  .make = make_sample_time,
	  .printed = "# time of first sample : 1043.273115\n"
		     "# time of last sample : 1043.474663\n"
		     "# sample duration :    201.549 ms\n" },
	{ .name = "mem topology",
	  .feat = PEV_FEAT_MEM_TOPOLOGY,
	  .make = make_memory,
	  .printed = "# memory nodes (nr 2, block size 0x8000000):\n"
		     "#    0 [4G]: 0-2,4-32,63-64,69\n"
		     "#    5 [128M]: 0\n" },
	{ .name = "mem topology with holes",
	  .feat = PEV_FEAT_MEM_TOPOLOGY,
	  .make = make_memory_holes,
	  .printed = "# memory nodes (nr 1, block size 0x1000):\n"
		     "#    0 [252K]: 2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,"
		     "40,42,44,46,48,50,52,54,56,58,60,62,64,66,68,7\n" },
	{ .name = "clockid",
	  .feat = PEV_FEAT_CLOCKID,
	  .make = make_clockid,
	  .printed = "# clockid frequency: 4000 MHz\n" },
	{ .name = "dir format",
	  .feat = PEV_FEAT_DIR_FORMAT,
	  .make = make_dir_format,
	  .printed = "# directory data version : 1\n" },
	{ .name = "no bpf programs",
	  .feat = PEV_FEAT_BPF_PROG_INFO,
	  .make = make_zero,
	  .printed = "",
	  .native_only = true },
	{ .name = "no btf",
	  .feat = PEV_FEAT_BPF_BTF,
	  .make = make_zero,
	  .printed = "",
	  .native_only = true },
	{ .name = "compressed",
	  .feat = PEV_FEAT_COMPRESSED,
	  .make = make_compressed,
	  .printed = "# compressed : Zstd, level = 1, ratio = 13\n" },
	{ .name = "cpu pmu caps",
	  .feat = PEV_FEAT_CPU_PMU_CAPS,
	  .make = make_caps,
	  .printed = "# cpu pmu capabilities: branches=32, pmu_name=skylake\n" },
	{ .name = "no cpu pmu caps",
	  .feat = PEV_FEAT_CPU_PMU_CAPS,
	  .make = make_zero,
	  .printed = "# cpu pmu capabilities: not available\n" },
	{ .name = "clock data",
	  .feat = PEV_FEAT_CLOCK_DATA,
	  .make = make_clock_data,
	  .printed = "# clockid: boottime (7)\n"
		     "# reference time: 2026-11-20 04:36:59.545359 = 1795149419.545359 (TOD) = "
		     "1044.353389708 (boottime)\n" },
	{ .name = "hybrid topology",
	  .feat = PEV_FEAT_HYBRID_TOPOLOGY,
	  .make = make_hybrid,
	  .printed = "# hybrid cpu system:\n"
		     "# cpu_core cpu list : 0-1\n"
		     "# cpu_atom cpu list : 2\n" },
	{ .name = "pmu caps",
	  .feat = PEV_FEAT_PMU_CAPS,
	  .make = make_pmu_caps,
	  .printed = "# cpu_core pmu capabilities: branches=32, pmu_name=skylake\n"
		     "# ibs_op pmu capabilities: not available\n" },
	{ .name = "cpu domains, schedstat 15",
	  .feat = PEV_FEAT_CPU_DOMAIN_INFO,
	  .make = make_domains_15 },
	{ .name = "cpu domains, schedstat 17",
	  .feat = PEV_FEAT_CPU_DOMAIN_INFO,
	  .make = make_domains_17,
	  .printed = "# schedstat version\t: 17\n"
		     "# Maximum sched domains\t: 2\n"
		     "# cpu\t\t: 0\n"
		     "# nr_domains\t: 1\n"
		     "# Domain\t\t: 0\n"
		     "# Domain name      : MC\n"
		     "# Domain cpu map   : 00000000,00000003\n"
		     "# Domain cpu list  : 0-1\n"
		     "# cpu\t\t: 1\n"
		     "# nr_domains\t: 0\n" },
	{ .name = "e_machine",
	  .feat = PEV_FEAT_E_MACHINE,
	  .make = make_e_machine,
	  .printed = "# e_machine : 62\n#   e_flags : 0\n" },
	{ .name = "cacheline size",
	  .feat = PEV_FEAT_CLN_SIZE,
	  .make = make_cln_size,
	  .printed = "# cacheline size: 64\n" },
};
const size_t nr_feature_cases = PEV_ARRAY_SIZE(feature_cases);

void make_ground(struct pev_features *f)
{
	static const struct {
		enum pev_feat feat;
		void (*make)(struct maker *m);
	} ground[] = {
		{ PEV_FEAT_NRCPUS, make_nrcpus },
		{ PEV_FEAT_EVENT_DESC, make_event_desc_old },
	};

	for (size_t i = 0; i < PEV_ARRAY_SIZE(ground); i++) {
		_cleanup_buf_ struct pev_buf buf = { 0 };
		struct maker m = { .buf = &buf };

		ground[i].make(&m);
		assert_int_equal(
			pev_feature_decode(f, ground[i].feat, buf.data, buf.size, false, NULL), 0);
	}
}
