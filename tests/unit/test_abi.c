// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Holds format/abi.h to the uapi header that is installed: what that header does not know yet is
 * left out by its version. A name that is wrong does not compile; only the bit-field of the attr,
 * whose bits no constant names, is looked at when it runs.
 */
#include "test.h"

#include "format/abi.h"

#include <linux/perf_event.h>
#include <linux/version.h>
#include <string.h>

#define SAME(pev, perf) static_assert((uint64_t)(pev) == (uint64_t)(perf), #pev)

#define SAME_RECORD(name) SAME(PEV_REC_##name, PERF_RECORD_##name)
SAME_RECORD(MMAP);
SAME_RECORD(LOST);
SAME_RECORD(COMM);
SAME_RECORD(EXIT);
SAME_RECORD(THROTTLE);
SAME_RECORD(UNTHROTTLE);
SAME_RECORD(FORK);
SAME_RECORD(READ);
SAME_RECORD(SAMPLE);
SAME_RECORD(MMAP2);
SAME_RECORD(AUX);
SAME_RECORD(ITRACE_START);
SAME_RECORD(LOST_SAMPLES);
SAME_RECORD(SWITCH);
SAME_RECORD(SWITCH_CPU_WIDE);
SAME_RECORD(NAMESPACES);
SAME_RECORD(KSYMBOL);
SAME_RECORD(BPF_EVENT);
SAME_RECORD(CGROUP);
SAME_RECORD(TEXT_POKE);
SAME_RECORD(AUX_OUTPUT_HW_ID);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
SAME_RECORD(CALLCHAIN_DEFERRED);
#endif

#define SAME_MISC(name) SAME(PEV_MISC_##name, PERF_RECORD_MISC_##name)
SAME_MISC(CPUMODE_MASK);
SAME_MISC(CPUMODE_UNKNOWN);
SAME_MISC(KERNEL);
SAME_MISC(USER);
SAME_MISC(HYPERVISOR);
SAME_MISC(GUEST_KERNEL);
SAME_MISC(GUEST_USER);
SAME_MISC(PROC_MAP_PARSE_TIMEOUT);
SAME_MISC(MMAP_DATA);
SAME_MISC(COMM_EXEC);
SAME_MISC(FORK_EXEC);
SAME_MISC(SWITCH_OUT);
SAME_MISC(EXACT_IP);
SAME_MISC(SWITCH_OUT_PREEMPT);
SAME_MISC(MMAP_BUILD_ID);

#define SAME_SAMPLE(name) SAME(PEV_SAMPLE_##name, PERF_SAMPLE_##name)
SAME_SAMPLE(IP);
SAME_SAMPLE(TID);
SAME_SAMPLE(TIME);
SAME_SAMPLE(ADDR);
SAME_SAMPLE(READ);
SAME_SAMPLE(CALLCHAIN);
SAME_SAMPLE(ID);
SAME_SAMPLE(CPU);
SAME_SAMPLE(PERIOD);
SAME_SAMPLE(STREAM_ID);
SAME_SAMPLE(RAW);
SAME_SAMPLE(BRANCH_STACK);
SAME_SAMPLE(REGS_USER);
SAME_SAMPLE(STACK_USER);
SAME_SAMPLE(WEIGHT);
SAME_SAMPLE(DATA_SRC);
SAME_SAMPLE(IDENTIFIER);
SAME_SAMPLE(TRANSACTION);
SAME_SAMPLE(REGS_INTR);
SAME_SAMPLE(PHYS_ADDR);
SAME_SAMPLE(AUX);
SAME_SAMPLE(CGROUP);
SAME_SAMPLE(DATA_PAGE_SIZE);
SAME_SAMPLE(CODE_PAGE_SIZE);
SAME_SAMPLE(WEIGHT_STRUCT);

#define SAME_FORMAT(name) SAME(PEV_FORMAT_##name, PERF_FORMAT_##name)
SAME_FORMAT(TOTAL_TIME_ENABLED);
SAME_FORMAT(TOTAL_TIME_RUNNING);
SAME_FORMAT(ID);
SAME_FORMAT(GROUP);
SAME_FORMAT(LOST);

#define SAME_BRANCH(name) SAME(PEV_BRANCH_##name, PERF_SAMPLE_BRANCH_##name)
SAME_BRANCH(USER);
SAME_BRANCH(KERNEL);
SAME_BRANCH(HV);
SAME_BRANCH(ANY);
SAME_BRANCH(ANY_CALL);
SAME_BRANCH(ANY_RETURN);
SAME_BRANCH(IND_CALL);
SAME_BRANCH(ABORT_TX);
SAME_BRANCH(IN_TX);
SAME_BRANCH(NO_TX);
SAME_BRANCH(COND);
SAME_BRANCH(CALL_STACK);
SAME_BRANCH(IND_JUMP);
SAME_BRANCH(CALL);
SAME_BRANCH(NO_FLAGS);
SAME_BRANCH(NO_CYCLES);
SAME_BRANCH(TYPE_SAVE);
SAME_BRANCH(HW_INDEX);
SAME_BRANCH(PRIV_SAVE);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
SAME_BRANCH(COUNTERS);
#endif

#define SAME_TYPE(name) SAME(PEV_TYPE_##name, PERF_TYPE_##name)
SAME_TYPE(HARDWARE);
SAME_TYPE(SOFTWARE);
SAME_TYPE(TRACEPOINT);
SAME_TYPE(HW_CACHE);
SAME_TYPE(RAW);
SAME_TYPE(BREAKPOINT);

#define SAME_SW(name) SAME(PEV_SW_##name, PERF_COUNT_SW_##name)
SAME_SW(CPU_CLOCK);
SAME_SW(TASK_CLOCK);
SAME_SW(PAGE_FAULTS);
SAME_SW(CONTEXT_SWITCHES);
SAME_SW(CPU_MIGRATIONS);
SAME_SW(PAGE_FAULTS_MIN);
SAME_SW(PAGE_FAULTS_MAJ);
SAME_SW(ALIGNMENT_FAULTS);
SAME_SW(EMULATION_FAULTS);
SAME_SW(DUMMY);
SAME_SW(BPF_OUTPUT);
SAME_SW(CGROUP_SWITCHES);

#define SAME_CONTEXT(name) SAME(PEV_CONTEXT_##name, PERF_CONTEXT_##name)
SAME_CONTEXT(HV);
SAME_CONTEXT(KERNEL);
SAME_CONTEXT(USER);
SAME_CONTEXT(GUEST);
SAME_CONTEXT(GUEST_KERNEL);
SAME_CONTEXT(GUEST_USER);
SAME_CONTEXT(MAX);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
SAME_CONTEXT(USER_DEFERRED);
#endif

SAME(PEV_REGS_ABI_NONE, PERF_SAMPLE_REGS_ABI_NONE);
SAME(PEV_REGS_ABI_32, PERF_SAMPLE_REGS_ABI_32);
SAME(PEV_REGS_ABI_64, PERF_SAMPLE_REGS_ABI_64);
SAME(PEV_KSYMBOL_TYPE_UNKNOWN, PERF_RECORD_KSYMBOL_TYPE_UNKNOWN);
SAME(PEV_KSYMBOL_TYPE_BPF, PERF_RECORD_KSYMBOL_TYPE_BPF);
SAME(PEV_KSYMBOL_TYPE_OOL, PERF_RECORD_KSYMBOL_TYPE_OOL);
SAME(PEV_KSYMBOL_FLAGS_UNREGISTER, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);
SAME(PEV_BPF_EVENT_PROG_LOAD, PERF_BPF_EVENT_PROG_LOAD);
SAME(PEV_BPF_EVENT_PROG_UNLOAD, PERF_BPF_EVENT_PROG_UNLOAD);

SAME(PEV_ATTR_SIZE_VER0, PERF_ATTR_SIZE_VER0);
SAME(PEV_ATTR_SIZE_VER1, PERF_ATTR_SIZE_VER1);
SAME(PEV_ATTR_SIZE_VER2, PERF_ATTR_SIZE_VER2);
SAME(PEV_ATTR_SIZE_VER3, PERF_ATTR_SIZE_VER3);
SAME(PEV_ATTR_SIZE_VER4, PERF_ATTR_SIZE_VER4);
SAME(PEV_ATTR_SIZE_VER5, PERF_ATTR_SIZE_VER5);
SAME(PEV_ATTR_SIZE_VER6, PERF_ATTR_SIZE_VER6);
SAME(PEV_ATTR_SIZE_VER7, PERF_ATTR_SIZE_VER7);
#ifdef PERF_ATTR_SIZE_VER8
SAME(PEV_ATTR_SIZE_VER8, PERF_ATTR_SIZE_VER8);
#endif
#ifdef PERF_ATTR_SIZE_VER9
SAME(PEV_ATTR_SIZE_VER9, PERF_ATTR_SIZE_VER9);
#endif

#define SAME_PLACE(struct_pev, field_pev, struct_perf, field_perf)                              \
	SAME(offsetof(struct struct_pev, field_pev), offsetof(struct struct_perf, field_perf)); \
	SAME(sizeof(((struct struct_pev *)0)->field_pev),                                       \
	     sizeof(((struct struct_perf *)0)->field_perf))
#define SAME_ATTR(field) SAME_PLACE(pev_attr, field, perf_event_attr, field)
SAME_ATTR(type);
SAME_ATTR(size);
SAME_ATTR(config);
SAME_ATTR(sample_period);
SAME_ATTR(sample_type);
SAME_ATTR(read_format);
SAME_PLACE(pev_attr, wakeup, perf_event_attr, wakeup_events);
SAME_ATTR(bp_type);
SAME_ATTR(config1);
SAME_ATTR(config2);
SAME_ATTR(branch_sample_type);
SAME_ATTR(sample_regs_user);
SAME_ATTR(sample_stack_user);
SAME_ATTR(clockid);
SAME_ATTR(sample_regs_intr);
SAME_ATTR(aux_watermark);
SAME_ATTR(sample_max_stack);
SAME_ATTR(aux_sample_size);
SAME_ATTR(sig_data);
SAME(offsetof(struct pev_attr, flags), offsetof(struct perf_event_attr, read_format) + 8);
SAME_PLACE(pev_rec_hdr, type, perf_event_header, type);
SAME_PLACE(pev_rec_hdr, misc, perf_event_header, misc);
SAME_PLACE(pev_rec_hdr, size, perf_event_header, size);

/* Compares PEV_ATTR_<flag> with where the compiler puts the bit-field, all its bits set. */
#define assert_flag(field, pev)                                                          \
	do {                                                                             \
		struct perf_event_attr attr_ = { .field = 1 };                           \
		uint64_t word_;                                                          \
                                                                                         \
		memcpy(&word_, (uint8_t *)&attr_ + offsetof(struct pev_attr, flags), 8); \
		assert_true(word_ == (pev));                                             \
	} while (0)

static void test_attr_flags(void **state)
{
	(void)state;
	assert_flag(disabled, PEV_ATTR_DISABLED);
	assert_flag(inherit, PEV_ATTR_INHERIT);
	assert_flag(pinned, PEV_ATTR_PINNED);
	assert_flag(exclusive, PEV_ATTR_EXCLUSIVE);
	assert_flag(exclude_user, PEV_ATTR_EXCLUDE_USER);
	assert_flag(exclude_kernel, PEV_ATTR_EXCLUDE_KERNEL);
	assert_flag(exclude_hv, PEV_ATTR_EXCLUDE_HV);
	assert_flag(exclude_idle, PEV_ATTR_EXCLUDE_IDLE);
	assert_flag(mmap, PEV_ATTR_MMAP);
	assert_flag(comm, PEV_ATTR_COMM);
	assert_flag(freq, PEV_ATTR_FREQ);
	assert_flag(inherit_stat, PEV_ATTR_INHERIT_STAT);
	assert_flag(enable_on_exec, PEV_ATTR_ENABLE_ON_EXEC);
	assert_flag(task, PEV_ATTR_TASK);
	assert_flag(watermark, PEV_ATTR_WATERMARK);
	assert_flag(precise_ip, 1ULL << PEV_ATTR_PRECISE_IP_SHIFT);
	assert_flag(mmap_data, PEV_ATTR_MMAP_DATA);
	assert_flag(sample_id_all, PEV_ATTR_SAMPLE_ID_ALL);
	assert_flag(exclude_host, PEV_ATTR_EXCLUDE_HOST);
	assert_flag(exclude_guest, PEV_ATTR_EXCLUDE_GUEST);
	assert_flag(exclude_callchain_kernel, PEV_ATTR_EXCLUDE_CALLCHAIN_KERNEL);
	assert_flag(exclude_callchain_user, PEV_ATTR_EXCLUDE_CALLCHAIN_USER);
	assert_flag(mmap2, PEV_ATTR_MMAP2);
	assert_flag(comm_exec, PEV_ATTR_COMM_EXEC);
	assert_flag(use_clockid, PEV_ATTR_USE_CLOCKID);
	assert_flag(context_switch, PEV_ATTR_CONTEXT_SWITCH);
	assert_flag(write_backward, PEV_ATTR_WRITE_BACKWARD);
	assert_flag(namespaces, PEV_ATTR_NAMESPACES);
	assert_flag(ksymbol, PEV_ATTR_KSYMBOL);
	assert_flag(bpf_event, PEV_ATTR_BPF_EVENT);
	assert_flag(aux_output, PEV_ATTR_AUX_OUTPUT);
	assert_flag(cgroup, PEV_ATTR_CGROUP);
	assert_flag(text_poke, PEV_ATTR_TEXT_POKE);
	assert_flag(build_id, PEV_ATTR_BUILD_ID);
	assert_flag(inherit_thread, PEV_ATTR_INHERIT_THREAD);
	assert_flag(remove_on_exec, PEV_ATTR_REMOVE_ON_EXEC);
	assert_flag(sigtrap, PEV_ATTR_SIGTRAP);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0)
	assert_flag(defer_callchain, PEV_ATTR_DEFER_CALLCHAIN);
	assert_flag(defer_output, PEV_ATTR_DEFER_OUTPUT);
#endif
}

static void test_masks(void **state)
{
	const struct perf_event_attr most_precise = { .precise_ip = 3 };
	uint64_t word;

	(void)state;
	memcpy(&word, (const uint8_t *)&most_precise + offsetof(struct pev_attr, flags), 8);
	assert_true(word == PEV_ATTR_PRECISE_IP_MASK);
	assert_true(PEV_SAMPLE_ALL >= PERF_SAMPLE_MAX - 1);
	assert_true(PEV_FORMAT_ALL >= PERF_FORMAT_MAX - 1);
	assert_true((int)PEV_REC_KERNEL_MAX >= (int)PERF_RECORD_MAX);
	assert_true(!memcmp(&(uint64_t){ PEV_MAGIC }, "PERFILE2", 8));
	assert_true(!memcmp(&(uint64_t){ PEV_MAGIC_V1 }, "PERFFILE", 8));
	assert_true(PEV_MAGIC_SWAPPED == __builtin_bswap64(PEV_MAGIC));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attr_flags),
		cmocka_unit_test(test_masks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
