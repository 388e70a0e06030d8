/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The header features of perf.data: what a trace says about the machine, the events and itself. */
#pragma once

/*
 * The layouts are those of perf's Documentation/perf.data-file-format.txt, and of
 * tools/perf/util/header.c up to perf 7.2 where that page is silent or wrong (it has the two
 * numbers of NRCPUS in the other order). Each layout is drawn in format/feature_encode.c.
 */

#include "base/buf.h"
#include "base/err.h"
#include "format/abi.h"
#include "format/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct pev_feat_strings {
	const char *const *v;
	uint32_t nr;
};

/* EVENT_DESC */
struct pev_feat_event {
	struct pev_attr attr;
	const char *name;
	const uint64_t *ids; /* the kernel's ids of all its counters */
	uint32_t nr_ids;
};

struct pev_feat_event_desc {
	const struct pev_feat_event *events;
	uint32_t nr;
	uint32_t attr_size; /* bytes of each attr in the file; 0: of the largest ->attr.size */
};

/* CPU_TOPOLOGY. A list is one of sysfs: "0-3,8". */
struct pev_feat_cpu {
	int32_t core_id, socket_id, die_id; /* -1: not known, the CPU is offline */
};

struct pev_feat_cpu_topology {
	struct pev_feat_strings packages, dies, cores; /* each distinct list once */
	const struct pev_feat_cpu *cpus; /* by CPU number; NULL in traces of perf before 4.4 */
	uint32_t nr_cpus;                /* with ->cpus, equal to nrcpus.avail */
	bool has_dies; /* ->dies and die_id are there: x86 and s390, since perf 5.3 */
};

/* NUMA_TOPOLOGY */
struct pev_feat_numa_node {
	uint32_t node;
	uint64_t total_kb, free_kb;
	const char *cpus; /* a list, empty for a node that has memory only */
};

/* PMU_MAPPINGS */
struct pev_feat_pmu {
	uint32_t type; /* attr.type */
	const char *name;
};

/* GROUP_DESC: only groups of two and more */
struct pev_feat_group {
	const char *name;    /* PEV_GROUP_ANON when it has none */
	uint32_t leader;     /* index in event_desc */
	uint32_t nr_members; /* the leader included; they follow it */
};
#define PEV_GROUP_ANON "{anon_group}"

/* AUXTRACE: where the AUX area records are in the file */
struct pev_feat_auxtrace {
	uint64_t offset, size;
};

/* CACHE. type, size and cpus as in sysfs: "Data", "32K", "0-1". */
struct pev_feat_cache {
	uint32_t level, line_size, sets, ways;
	const char *type, *size, *cpus;
};

/* MEM_TOPOLOGY */
struct pev_feat_mem_node {
	uint64_t node;
	const uint64_t *blocks; /* bit N: memory block N of ->block_size bytes is this node's */
	uint64_t nr_bits;
};

struct pev_feat_mem_topology {
	uint64_t block_size;
	const struct pev_feat_mem_node *nodes;
	uint64_t nr;
};

/* CPU_PMU_CAPS, PMU_CAPS */
struct pev_feat_cap {
	const char *name, *value;
};

struct pev_feat_pmu_caps {
	const char *pmu; /* NULL in cpu_pmu_caps, which has no name in the file: perf says "cpu" */
	const struct pev_feat_cap *caps;
	uint32_t nr;
};

/* HYBRID_TOPOLOGY */
struct pev_feat_hybrid {
	const char *pmu;
	const char *cpus;
};

/* CPU_DOMAIN_INFO: the scheduler's domains, from /proc/schedstat */
struct pev_feat_domain {
	uint32_t level;
	const char *name; /* since schedstat version 17, else NULL */
	const char *mask, *cpus;
};

struct pev_feat_cpu_domains {
	uint32_t cpu;
	uint32_t nr;
	const struct pev_feat_domain *domains;
};

/* BUILD_ID */
struct pev_feat_build_id {
	uint16_t misc; /* PEV_MISC_{KERNEL,USER,...}; with PEV_MISC_BUILD_ID_SIZE the file tells the
			  size, else it is 20 */
	uint8_t size;
	uint8_t id[PEV_BUILD_ID_MAX];
	int32_t pid;      /* -1, or a guest's */
	const char *name; /* path, or [kernel.kallsyms], [vdso] */
};

/* BPF_PROG_INFO and BPF_BTF: entries as the file has them, not taken apart */
struct pev_feat_bpf {
	uint32_t nr;
	const uint8_t *entries;
	size_t size;
};

struct pev_feat_blob {
	const uint8_t *p;
	size_t size;
};

/*
 * All features of a trace. Zero-initialise to start, pev_features_done() to end.
 *
 * Every pointer is only read; strings of features that are there are not NULL. What
 * pev_feature_decode() and pev_host_gather() put here belongs to the model and lives until
 * pev_features_done(); what others put here may as well be borrowed. So may all of it: a copy of
 * the struct with ->owned set to NULL is a model that borrows everything from the first, for one
 * segment of many from the same host.
 */
struct pev_features {
	uint64_t has; /* bit per PEV_FEAT_*; use pev_features_has() and _set() */

	struct pev_feat_blob tracing_data;
	struct {
		const struct pev_feat_build_id *v;
		uint32_t nr;
	} build_ids;
	const char *hostname, *osrelease, *version, *arch;
	struct {
		uint32_t avail; /* highest CPU number there can be, plus 1 */
		uint32_t online;
	} nrcpus;
	const char *cpudesc, *cpuid;
	uint64_t total_mem_kb;
	struct pev_feat_strings cmdline;
	struct pev_feat_event_desc event_desc;
	struct pev_feat_cpu_topology cpu_topology;
	struct {
		const struct pev_feat_numa_node *v;
		uint32_t nr;
	} numa_nodes;
	struct {
		const struct pev_feat_pmu *v;
		uint32_t nr;
	} pmu_mappings;
	struct {
		const struct pev_feat_group *v;
		uint32_t nr;
	} groups;
	struct {
		const struct pev_feat_auxtrace *v;
		uint64_t nr;
	} auxtrace;
	struct {
		const struct pev_feat_cache *v;
		uint32_t nr;
	} caches;
	struct {
		uint64_t first_ns, last_ns;
	} sample_time;
	struct pev_feat_mem_topology mem_topology;
	uint64_t clockid_res_ns;
	uint64_t dir_version;
	struct pev_feat_bpf bpf_prog_info, bpf_btf;
	struct {
		uint32_t version; /* 0, or others refuse the trace */
		uint32_t type;    /* PEV_COMP_ZSTD */
		uint32_t level;
		uint32_t ratio;    /* raw bytes / compressed bytes, rounded */
		uint32_t mmap_len; /* the most bytes that one COMPRESSED record unpacks to; never 0
				    */
	} compressed;
	struct pev_feat_pmu_caps cpu_pmu_caps;
	struct {
		uint32_t clockid;
		uint64_t tod_ns, clockid_ns; /* one moment, by CLOCK_REALTIME and by the clockid */
	} clock_data;
	struct {
		const struct pev_feat_hybrid *v;
		uint32_t nr;
	} hybrid;
	struct {
		const struct pev_feat_pmu_caps *v;
		uint32_t nr;
	} pmu_caps;
	struct {
		uint32_t schedstat_version;
		uint32_t max_domains;
		const struct pev_feat_cpu_domains *v;
		uint32_t nr;
	} cpu_domains;
	struct {
		uint32_t machine, flags; /* of the ELF header: EM_* */
	} e_machine;
	uint32_t cacheline_size;

	struct pev_features_block *owned; /* private */
};

void pev_features_done(struct pev_features *f);
#define _cleanup_features_ _cleanup_(pev_features_done)

static inline bool pev_features_has(const struct pev_features *f, enum pev_feat feat)
{
	return (unsigned int)feat < 64 && f->has >> feat & 1;
}

/* Says that the fields of @feat are filled. */
static inline void pev_features_set(struct pev_features *f, enum pev_feat feat)
{
	f->has |= 1ULL << feat;
}

/* "HOSTNAME" and so on, as perf calls it; NULL for one that this version does not know. */
const char *pev_feat_name(enum pev_feat feat);

/*
 * Memory that lives as long as the model: @nr times @size bytes, zeroed, never NULL but for lack of
 * memory; a copy of @n bytes; the first @n bytes of a string and a NUL.
 */
void *pev_features_alloc(struct pev_features *f, size_t nr, size_t size);
void *pev_features_copy(struct pev_features *f, const void *bytes, size_t n);
char *pev_features_str(struct pev_features *f, const char *s, size_t n);

/*
 * Appends the section of @feat, byte for byte what perf writes, in host byte order and without
 * padding after it. 0; -ENOENT when the model does not have it; -EINVAL when the model contradicts
 * itself (no NRCPUS for CPU_TOPOLOGY); -E2BIG; -ENOMEM. Nothing is appended on failure.
 */
int pev_feature_encode(const struct pev_features *f, enum pev_feat feat, struct pev_buf *buf);

/* The bytes of one header feature. */
struct pev_feat_section {
	enum pev_feat feat;
	struct pev_buf data;
};

/*
 * Encodes every feature that is set, ascending, into @ret, which has room for PEV_FEAT_MAX and is
 * to be released with pev_feat_sections_done(). As pev_feature_encode() otherwise, with a sentence;
 * nothing is to be released on failure.
 */
int pev_feat_sections_encode(const struct pev_features *f, struct pev_feat_section *ret,
			     size_t *ret_nr, struct pev_err *err);
void pev_feat_sections_done(struct pev_feat_section *sections, size_t nr);

/*
 * Reads the section of @feat into its fields, and sets its bit. Copies what it keeps. Feed features
 * in ascending order: CPU_TOPOLOGY needs what NRCPUS said. Bytes after what is known are ignored.
 *
 * 0; -ENODATA when the section ends too early; -EBADMSG when it contradicts itself;
 * -EPROTONOSUPPORT for a feature, or a version of one, that is not known here, and for BPF features
 * from the other byte order; -ENOMEM. The model is as before on failure.
 */
int pev_feature_decode(struct pev_features *f, enum pev_feat feat, const void *bytes, size_t size,
		       bool swap, struct pev_err *err);

struct pev_features_print {
	bool full; /* all of the long ones too: perf's -I */
	bool pipe; /* a pipe-mode trace: perf does not list what is missing */
	/* Features to know, PEV_FEAT_RESERVED among them: 32 for what perf 6.1 and 6.12 print, 0
	 * for all of ours, which are those of 7.2. */
	unsigned int nr_known;
};

/*
 * Prints the features as `perf report --header-only` does, from "# hostname" on, by ascending
 * number, then those that are missing.
 */
void pev_features_print(const struct pev_features *f, const struct pev_features_print *how,
			FILE *out);
