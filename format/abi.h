/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The perf_event ABI and the perf.data container as this project knows them, complete and
 * independent of the age of the installed uapi header. */
#pragma once

/*
 * Sources: include/uapi/linux/perf_event.h up to Linux 6.19, perf_event_open(2), and perf's own
 * Documentation/perf.data-file-format.txt. Names drop PERF_ for PEV_, otherwise they are the
 * kernel's. tests/unit/test_abi.c holds them to the installed uapi header, where that header knows
 * the name.
 */

#include <assert.h>
#include <stdint.h>

/* struct perf_event_header */
struct pev_rec_hdr {
	uint32_t type; /* enum pev_rec_type */
	uint16_t misc; /* PEV_MISC_* */
	uint16_t size; /* of the whole record, this header included */
};
static_assert(sizeof(struct pev_rec_hdr) == 8, "perf_event_header");

#define PEV_REC_MAX_SIZE 65535 /* header.size is a u16 */

enum pev_rec_type {
	/* From the kernel: these carry a sample_id trailer when attr.sample_id_all is set. */
	PEV_REC_MMAP = 1,
	PEV_REC_LOST = 2,
	PEV_REC_COMM = 3,
	PEV_REC_EXIT = 4,
	PEV_REC_THROTTLE = 5,
	PEV_REC_UNTHROTTLE = 6,
	PEV_REC_FORK = 7,
	PEV_REC_READ = 8,
	PEV_REC_SAMPLE = 9,
	PEV_REC_MMAP2 = 10,
	PEV_REC_AUX = 11,
	PEV_REC_ITRACE_START = 12,
	PEV_REC_LOST_SAMPLES = 13,
	PEV_REC_SWITCH = 14,
	PEV_REC_SWITCH_CPU_WIDE = 15,
	PEV_REC_NAMESPACES = 16,
	PEV_REC_KSYMBOL = 17,
	PEV_REC_BPF_EVENT = 18,
	PEV_REC_CGROUP = 19,
	PEV_REC_TEXT_POKE = 20,
	PEV_REC_AUX_OUTPUT_HW_ID = 21,
	PEV_REC_CALLCHAIN_DEFERRED = 22, /* Linux 6.19 */
	PEV_REC_KERNEL_MAX,

	/* From user space (tools/lib/perf/include/perf/event.h): no trailer. */
	PEV_REC_USER_START = 64,
	PEV_REC_HEADER_ATTR = 64,
	PEV_REC_HEADER_EVENT_TYPE = 65, /* deprecated; every perf skips it */
	PEV_REC_HEADER_TRACING_DATA = 66,
	PEV_REC_HEADER_BUILD_ID = 67,
	PEV_REC_FINISHED_ROUND = 68,
	PEV_REC_ID_INDEX = 69,
	PEV_REC_AUXTRACE_INFO = 70,
	PEV_REC_AUXTRACE = 71,
	PEV_REC_AUXTRACE_ERROR = 72,
	PEV_REC_THREAD_MAP = 73,
	PEV_REC_CPU_MAP = 74,
	PEV_REC_STAT_CONFIG = 75,
	PEV_REC_STAT = 76,
	PEV_REC_STAT_ROUND = 77,
	PEV_REC_EVENT_UPDATE = 78,
	PEV_REC_TIME_CONV = 79,
	PEV_REC_HEADER_FEATURE = 80,
	PEV_REC_COMPRESSED = 81,
	PEV_REC_FINISHED_INIT = 82,
	PEV_REC_COMPRESSED2 = 83, /* perf 6.16 */
	PEV_REC_USER_MAX,
};

#define PEV_MISC_CPUMODE_MASK           7
#define PEV_MISC_CPUMODE_UNKNOWN        0
#define PEV_MISC_KERNEL                 1
#define PEV_MISC_USER                   2
#define PEV_MISC_HYPERVISOR             3
#define PEV_MISC_GUEST_KERNEL           4
#define PEV_MISC_GUEST_USER             5
#define PEV_MISC_PROC_MAP_PARSE_TIMEOUT (1 << 12)
/* Bit 13 means another thing for each type of record. */
#define PEV_MISC_MMAP_DATA  (1 << 13)
#define PEV_MISC_COMM_EXEC  (1 << 13)
#define PEV_MISC_FORK_EXEC  (1 << 13)
#define PEV_MISC_SWITCH_OUT (1 << 13)
/* And so does bit 14. */
#define PEV_MISC_EXACT_IP           (1 << 14)
#define PEV_MISC_SWITCH_OUT_PREEMPT (1 << 14)
#define PEV_MISC_MMAP_BUILD_ID      (1 << 14)
#define PEV_MISC_BUILD_ID_SIZE      (1 << 15) /* HEADER_BUILD_ID: the size byte is filled */
#define PEV_MISC_LOST_SAMPLES_BPF   (1 << 15) /* LOST_SAMPLES: dropped by a BPF filter, not lost */

/* attr.sample_type */
#define PEV_SAMPLE_IP             (1ULL << 0)
#define PEV_SAMPLE_TID            (1ULL << 1)
#define PEV_SAMPLE_TIME           (1ULL << 2)
#define PEV_SAMPLE_ADDR           (1ULL << 3)
#define PEV_SAMPLE_READ           (1ULL << 4)
#define PEV_SAMPLE_CALLCHAIN      (1ULL << 5)
#define PEV_SAMPLE_ID             (1ULL << 6)
#define PEV_SAMPLE_CPU            (1ULL << 7)
#define PEV_SAMPLE_PERIOD         (1ULL << 8)
#define PEV_SAMPLE_STREAM_ID      (1ULL << 9)
#define PEV_SAMPLE_RAW            (1ULL << 10)
#define PEV_SAMPLE_BRANCH_STACK   (1ULL << 11)
#define PEV_SAMPLE_REGS_USER      (1ULL << 12)
#define PEV_SAMPLE_STACK_USER     (1ULL << 13)
#define PEV_SAMPLE_WEIGHT         (1ULL << 14)
#define PEV_SAMPLE_DATA_SRC       (1ULL << 15)
#define PEV_SAMPLE_IDENTIFIER     (1ULL << 16)
#define PEV_SAMPLE_TRANSACTION    (1ULL << 17)
#define PEV_SAMPLE_REGS_INTR      (1ULL << 18)
#define PEV_SAMPLE_PHYS_ADDR      (1ULL << 19)
#define PEV_SAMPLE_AUX            (1ULL << 20)
#define PEV_SAMPLE_CGROUP         (1ULL << 21)
#define PEV_SAMPLE_DATA_PAGE_SIZE (1ULL << 22)
#define PEV_SAMPLE_CODE_PAGE_SIZE (1ULL << 23)
#define PEV_SAMPLE_WEIGHT_STRUCT  (1ULL << 24)
#define PEV_SAMPLE_ALL            ((1ULL << 25) - 1)

/* Those that the sample_id trailer has too, in this order but for IDENTIFIER, which comes last. */
#define PEV_SAMPLE_ID_BITS                                                         \
	(PEV_SAMPLE_TID | PEV_SAMPLE_TIME | PEV_SAMPLE_ID | PEV_SAMPLE_STREAM_ID | \
	 PEV_SAMPLE_CPU | PEV_SAMPLE_IDENTIFIER)

/* attr.read_format */
#define PEV_FORMAT_TOTAL_TIME_ENABLED (1ULL << 0)
#define PEV_FORMAT_TOTAL_TIME_RUNNING (1ULL << 1)
#define PEV_FORMAT_ID                 (1ULL << 2)
#define PEV_FORMAT_GROUP              (1ULL << 3)
#define PEV_FORMAT_LOST               (1ULL << 4)
#define PEV_FORMAT_ALL                ((1ULL << 5) - 1)

/* attr.branch_sample_type */
#define PEV_BRANCH_USER       (1ULL << 0)
#define PEV_BRANCH_KERNEL     (1ULL << 1)
#define PEV_BRANCH_HV         (1ULL << 2)
#define PEV_BRANCH_ANY        (1ULL << 3)
#define PEV_BRANCH_ANY_CALL   (1ULL << 4)
#define PEV_BRANCH_ANY_RETURN (1ULL << 5)
#define PEV_BRANCH_IND_CALL   (1ULL << 6)
#define PEV_BRANCH_ABORT_TX   (1ULL << 7)
#define PEV_BRANCH_IN_TX      (1ULL << 8)
#define PEV_BRANCH_NO_TX      (1ULL << 9)
#define PEV_BRANCH_COND       (1ULL << 10)
#define PEV_BRANCH_CALL_STACK (1ULL << 11)
#define PEV_BRANCH_IND_JUMP   (1ULL << 12)
#define PEV_BRANCH_CALL       (1ULL << 13)
#define PEV_BRANCH_NO_FLAGS   (1ULL << 14)
#define PEV_BRANCH_NO_CYCLES  (1ULL << 15)
#define PEV_BRANCH_TYPE_SAVE  (1ULL << 16)
#define PEV_BRANCH_HW_INDEX   (1ULL << 17) /* a u64 hw_idx between nr and the entries */
#define PEV_BRANCH_PRIV_SAVE  (1ULL << 18)
#define PEV_BRANCH_COUNTERS \
	(1ULL << 19) /* a u64 of counters per entry, after the entries (Linux 6.8) */

/* attr.type */
enum pev_type {
	PEV_TYPE_HARDWARE = 0,
	PEV_TYPE_SOFTWARE = 1,
	PEV_TYPE_TRACEPOINT = 2,
	PEV_TYPE_HW_CACHE = 3,
	PEV_TYPE_RAW = 4,
	PEV_TYPE_BREAKPOINT = 5,
};

enum pev_sw {
	PEV_SW_CPU_CLOCK = 0,
	PEV_SW_TASK_CLOCK = 1,
	PEV_SW_PAGE_FAULTS = 2,
	PEV_SW_CONTEXT_SWITCHES = 3,
	PEV_SW_CPU_MIGRATIONS = 4,
	PEV_SW_PAGE_FAULTS_MIN = 5,
	PEV_SW_PAGE_FAULTS_MAJ = 6,
	PEV_SW_ALIGNMENT_FAULTS = 7,
	PEV_SW_EMULATION_FAULTS = 8,
	PEV_SW_DUMMY = 9,
	PEV_SW_BPF_OUTPUT = 10,
	PEV_SW_CGROUP_SWITCHES = 11,
};

/* The flag word of the attr, by bit; precise_ip is two bits wide. */
#define PEV_ATTR_DISABLED                 (1ULL << 0)
#define PEV_ATTR_INHERIT                  (1ULL << 1)
#define PEV_ATTR_PINNED                   (1ULL << 2)
#define PEV_ATTR_EXCLUSIVE                (1ULL << 3)
#define PEV_ATTR_EXCLUDE_USER             (1ULL << 4)
#define PEV_ATTR_EXCLUDE_KERNEL           (1ULL << 5)
#define PEV_ATTR_EXCLUDE_HV               (1ULL << 6)
#define PEV_ATTR_EXCLUDE_IDLE             (1ULL << 7)
#define PEV_ATTR_MMAP                     (1ULL << 8)
#define PEV_ATTR_COMM                     (1ULL << 9)
#define PEV_ATTR_FREQ                     (1ULL << 10)
#define PEV_ATTR_INHERIT_STAT             (1ULL << 11)
#define PEV_ATTR_ENABLE_ON_EXEC           (1ULL << 12)
#define PEV_ATTR_TASK                     (1ULL << 13)
#define PEV_ATTR_WATERMARK                (1ULL << 14)
#define PEV_ATTR_PRECISE_IP_SHIFT         15
#define PEV_ATTR_PRECISE_IP_MASK          (3ULL << PEV_ATTR_PRECISE_IP_SHIFT)
#define PEV_ATTR_MMAP_DATA                (1ULL << 17)
#define PEV_ATTR_SAMPLE_ID_ALL            (1ULL << 18)
#define PEV_ATTR_EXCLUDE_HOST             (1ULL << 19)
#define PEV_ATTR_EXCLUDE_GUEST            (1ULL << 20)
#define PEV_ATTR_EXCLUDE_CALLCHAIN_KERNEL (1ULL << 21)
#define PEV_ATTR_EXCLUDE_CALLCHAIN_USER   (1ULL << 22)
#define PEV_ATTR_MMAP2                    (1ULL << 23)
#define PEV_ATTR_COMM_EXEC                (1ULL << 24)
#define PEV_ATTR_USE_CLOCKID              (1ULL << 25)
#define PEV_ATTR_CONTEXT_SWITCH           (1ULL << 26)
#define PEV_ATTR_WRITE_BACKWARD           (1ULL << 27)
#define PEV_ATTR_NAMESPACES               (1ULL << 28)
#define PEV_ATTR_KSYMBOL                  (1ULL << 29)
#define PEV_ATTR_BPF_EVENT                (1ULL << 30)
#define PEV_ATTR_AUX_OUTPUT               (1ULL << 31)
#define PEV_ATTR_CGROUP                   (1ULL << 32)
#define PEV_ATTR_TEXT_POKE                (1ULL << 33)
#define PEV_ATTR_BUILD_ID                 (1ULL << 34)
#define PEV_ATTR_INHERIT_THREAD           (1ULL << 35)
#define PEV_ATTR_REMOVE_ON_EXEC           (1ULL << 36)
#define PEV_ATTR_SIGTRAP                  (1ULL << 37)
#define PEV_ATTR_DEFER_CALLCHAIN          (1ULL << 38) /* Linux 6.19 */
#define PEV_ATTR_DEFER_OUTPUT             (1ULL << 39) /* Linux 6.19 */

/* The bits of attr.aux_action. */
#define PEV_AUX_START_PAUSED (1U << 0)
#define PEV_AUX_PAUSE        (1U << 1)
#define PEV_AUX_RESUME       (1U << 2)

#define PEV_ATTR_SIZE_VER0 64
#define PEV_ATTR_SIZE_VER1 72
#define PEV_ATTR_SIZE_VER2 80
#define PEV_ATTR_SIZE_VER3 96
#define PEV_ATTR_SIZE_VER4 104
#define PEV_ATTR_SIZE_VER5 112
#define PEV_ATTR_SIZE_VER6 120
#define PEV_ATTR_SIZE_VER7 128
#define PEV_ATTR_SIZE_VER8 136
#define PEV_ATTR_SIZE_VER9 144

/* struct perf_event_attr, VER9. The bit-field of the kernel's header is one word here: PEV_ATTR_*.
 */
struct pev_attr {
	uint32_t type;
	uint32_t size; /* of what is meaningful: PEV_ATTR_SIZE_VER* */
	uint64_t config;
	uint64_t sample_period; /* or sample_freq, with PEV_ATTR_FREQ */
	uint64_t sample_type;   /* PEV_SAMPLE_* */
	uint64_t read_format;   /* PEV_FORMAT_* */
	uint64_t flags;         /* PEV_ATTR_* */
	uint32_t wakeup;        /* events, or bytes with PEV_ATTR_WATERMARK */
	uint32_t bp_type;
	uint64_t config1;            /* or bp_addr, uprobe_path */
	uint64_t config2;            /* or bp_len, probe_offset */
	uint64_t branch_sample_type; /* PEV_BRANCH_* */
	uint64_t sample_regs_user;
	uint32_t sample_stack_user; /* bytes, a multiple of 8 */
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint32_t aux_watermark;
	uint16_t sample_max_stack;
	uint16_t reserved_2;
	uint32_t aux_sample_size;
	uint32_t aux_action;
	uint64_t sig_data;
	uint64_t config3;
	uint64_t config4;
};
static_assert(sizeof(struct pev_attr) == PEV_ATTR_SIZE_VER9, "perf_event_attr");

/* PERF_SAMPLE_CALLCHAIN: addresses from here up are context markers, not addresses. */
#define PEV_CONTEXT_HV            ((uint64_t)-32)
#define PEV_CONTEXT_KERNEL        ((uint64_t)-128)
#define PEV_CONTEXT_USER          ((uint64_t)-512)
#define PEV_CONTEXT_USER_DEFERRED ((uint64_t)-640)
#define PEV_CONTEXT_GUEST         ((uint64_t)-2048)
#define PEV_CONTEXT_GUEST_KERNEL  ((uint64_t)-2176)
#define PEV_CONTEXT_GUEST_USER    ((uint64_t)-2560)
#define PEV_CONTEXT_MAX           ((uint64_t)-4095)

/* PERF_SAMPLE_REGS_*: the abi word */
#define PEV_REGS_ABI_NONE 0
#define PEV_REGS_ABI_32   1
#define PEV_REGS_ABI_64   2

/* PERF_RECORD_KSYMBOL */
#define PEV_KSYMBOL_TYPE_UNKNOWN     0
#define PEV_KSYMBOL_TYPE_BPF         1
#define PEV_KSYMBOL_TYPE_OOL         2
#define PEV_KSYMBOL_FLAGS_UNREGISTER 1

/* PERF_RECORD_BPF_EVENT */
#define PEV_BPF_EVENT_PROG_LOAD   1
#define PEV_BPF_EVENT_PROG_UNLOAD 2
#define PEV_BPF_TAG_SIZE          8

#define PEV_BUILD_ID_MAX 20

/*
 * The perf.data container.
 */
#define PEV_MAGIC         0x32454c4946524550ULL /* "PERFILE2", little-endian */
#define PEV_MAGIC_SWAPPED 0x50455246494c4532ULL
#define PEV_MAGIC_V1      0x454c494646524550ULL /* "PERFFILE" */

struct pev_file_section {
	uint64_t offset;
	uint64_t size;
};
static_assert(sizeof(struct pev_file_section) == 16, "perf_file_section");

/* struct perf_pipe_file_header */
struct pev_pipe_header {
	uint64_t magic;
	uint64_t size; /* 16 */
};
static_assert(sizeof(struct pev_pipe_header) == 16, "perf_pipe_file_header");

/* struct perf_file_header */
struct pev_file_header {
	uint64_t magic;
	uint64_t size;      /* 104 */
	uint64_t attr_size; /* attr.size + 16: each entry of attrs is the attr, then the section of
			       its ids */
	struct pev_file_section attrs;
	struct pev_file_section data;
	struct pev_file_section event_types; /* unused since 2013 */
	uint64_t features[4];                /* bitmap, PEV_FEAT_* */
};
static_assert(sizeof(struct pev_file_header) == 104, "perf_file_header");

enum pev_feat {
	PEV_FEAT_RESERVED = 0,
	PEV_FEAT_TRACING_DATA = 1,
	PEV_FEAT_BUILD_ID = 2,
	PEV_FEAT_HOSTNAME = 3,
	PEV_FEAT_OSRELEASE = 4,
	PEV_FEAT_VERSION = 5,
	PEV_FEAT_ARCH = 6,
	PEV_FEAT_NRCPUS = 7,
	PEV_FEAT_CPUDESC = 8,
	PEV_FEAT_CPUID = 9,
	PEV_FEAT_TOTAL_MEM = 10,
	PEV_FEAT_CMDLINE = 11,
	PEV_FEAT_EVENT_DESC = 12,
	PEV_FEAT_CPU_TOPOLOGY = 13,
	PEV_FEAT_NUMA_TOPOLOGY = 14,
	PEV_FEAT_BRANCH_STACK = 15,
	PEV_FEAT_PMU_MAPPINGS = 16,
	PEV_FEAT_GROUP_DESC = 17,
	PEV_FEAT_AUXTRACE = 18,
	PEV_FEAT_STAT = 19,
	PEV_FEAT_CACHE = 20,
	PEV_FEAT_SAMPLE_TIME = 21,
	PEV_FEAT_MEM_TOPOLOGY = 22,
	PEV_FEAT_CLOCKID = 23,
	PEV_FEAT_DIR_FORMAT = 24,
	PEV_FEAT_BPF_PROG_INFO = 25,
	PEV_FEAT_BPF_BTF = 26,
	PEV_FEAT_COMPRESSED = 27,
	PEV_FEAT_CPU_PMU_CAPS = 28,
	PEV_FEAT_CLOCK_DATA = 29,
	PEV_FEAT_HYBRID_TOPOLOGY = 30,
	PEV_FEAT_PMU_CAPS = 31,
	PEV_FEAT_CPU_DOMAIN_INFO = 32,
	PEV_FEAT_E_MACHINE = 33, /* perf 7.2 */
	PEV_FEAT_CLN_SIZE = 34,  /* perf 7.2 */
	PEV_FEAT_MAX,
};

/* PERF_RECORD_EVENT_UPDATE */
#define PEV_EVENT_UPDATE_UNIT  0
#define PEV_EVENT_UPDATE_SCALE 1
#define PEV_EVENT_UPDATE_NAME  2
#define PEV_EVENT_UPDATE_CPUS  3

/* Strings in features and build-id entries are padded to this, NUL included. */
#define PEV_NAME_ALIGN 64

/* perf_header_compressed.type */
#define PEV_COMP_ZSTD 1
