// SPDX-License-Identifier: LGPL-2.1-or-later
/* Header features for people: the lines of `perf report --header-only`, quirks of spacing included,
 * because scripts read them. */
#include "base/checked.h"
#include "format/bpf_info.h"
#include "format/feature_part.h"

#include <inttypes.h>
#include <time.h>

/* perf cuts the list of memory blocks to its buffer. */
#define MAX_BLOCK_LIST 100

static void print_strings(const char *label, const struct pev_feat_strings *strings, FILE *out)
{
	for (uint32_t i = 0; i < strings->nr; i++)
		fprintf(out, "# %s : %s\n", label, strings->v[i]);
}

static void print_nrcpus(const struct pev_features *f, FILE *out)
{
	fprintf(out, "# nrcpus online : %" PRIu32 "\n", f->nrcpus.online);
	fprintf(out, "# nrcpus avail : %" PRIu32 "\n", f->nrcpus.avail);
}

static void print_total_mem(const struct pev_features *f, FILE *out)
{
	fprintf(out, "# total memory : %" PRIu64 " kB\n", f->total_mem_kb);
}

/* Each argument with its single quotes escaped and a space behind it, the last one too. */
static void print_cmdline(const struct pev_features *f, FILE *out)
{
	fputs("# cmdline : ", out);
	for (uint32_t i = 0; i < f->cmdline.nr; i++) {
		for (const char *s = f->cmdline.v[i]; *s; s++) {
			if (*s == '\'')
				fputc('\\', out);
			fputc(*s, out);
		}
		fputc(' ', out);
	}
	fputc('\n', out);
}

/* There are two commas after the name when ids follow it. */
static void print_event_desc(const struct pev_features *f, FILE *out)
{
	for (uint32_t i = 0; i < f->event_desc.nr; i++) {
		const struct pev_feat_event *const e = &f->event_desc.events[i];

		fprintf(out, "# event : name = %s, , ", e->name);
		for (uint32_t k = 0; k < e->nr_ids; k++)
			fprintf(out, "%s %" PRIu64, k ? "," : "id = {", e->ids[k]);
		if (e->nr_ids)
			fputs(" }, ", out);
		pev_attr_print(&e->attr, " = ", out);
		fputc('\n', out);
	}
}

static void print_cpu_topology(const struct pev_features *f, FILE *out)
{
	const struct pev_feat_cpu_topology *const t = &f->cpu_topology;

	print_strings("sibling sockets", &t->packages, out);
	print_strings("sibling dies   ", &t->dies, out);
	print_strings("sibling threads", &t->cores, out);
	if (!t->cpus)
		fputs("# Core ID and Socket ID information is not available\n", out);
	for (uint32_t i = 0; t->cpus && i < t->nr_cpus; i++) {
		fprintf(out, "# CPU %" PRIu32 ": Core ID %" PRId32 ", ", i, t->cpus[i].core_id);
		if (t->dies.nr)
			fprintf(out, "Die ID %" PRId32 ", ", t->cpus[i].die_id);
		fprintf(out, "Socket ID %" PRId32 "\n", t->cpus[i].socket_id);
	}
}

static void print_numa_topology(const struct pev_features *f, FILE *out)
{
	for (uint32_t i = 0; i < f->numa_nodes.nr; i++) {
		const struct pev_feat_numa_node *const node = &f->numa_nodes.v[i];

		fprintf(out,
			"# node%" PRIu32 " meminfo  : total = %" PRIu64 " kB, free = %" PRIu64
			" kB\n",
			node->node, node->total_kb, node->free_kb);
		/* No CPUs at all are, for perf, the CPU -1. */
		fprintf(out, "# node%" PRIu32 " cpu list : %s\n", node->node,
			node->cpus[0] ? node->cpus : "-1");
	}
}

static void print_branch_stack(const struct pev_features *f, FILE *out)
{
	(void)f;
	fputs("# contains samples with branch stack\n", out);
}

static void print_pmu_mappings(const struct pev_features *f, FILE *out)
{
	fputs("# pmu mappings: ", out);
	for (uint32_t i = 0; i < f->pmu_mappings.nr; i++)
		fprintf(out, "%s%s = %" PRIu32, i ? ", " : "", f->pmu_mappings.v[i].name,
			f->pmu_mappings.v[i].type);
	fputs(f->pmu_mappings.nr ? "\n" : "not available\n", out);
}

/* Names come from EVENT_DESC; without it there is nothing to call the events by. */
static void print_group_desc(const struct pev_features *f, FILE *out)
{
	const struct pev_feat_event_desc *const desc = &f->event_desc;

	for (uint32_t i = 0; i < f->groups.nr; i++) {
		const struct pev_feat_group *const g = &f->groups.v[i];

		if (g->nr_members < 2 || g->leader >= desc->nr ||
		    g->nr_members > desc->nr - g->leader)
			continue;
		fprintf(out, "# group: %s{", strcmp(g->name, PEV_GROUP_ANON) ? g->name : "");
		for (uint32_t k = 0; k < g->nr_members; k++)
			fprintf(out, "%s%s", k ? "," : "", desc->events[g->leader + k].name);
		fputs("}\n", out);
	}
}

static void print_auxtrace(const struct pev_features *f, FILE *out)
{
	(void)f;
	fputs("# contains AUX area data (e.g. instruction trace)\n", out);
}

static void print_stat(const struct pev_features *f, FILE *out)
{
	(void)f;
	fputs("# contains stat data\n", out);
}

static void print_cache(const struct pev_features *f, FILE *out)
{
	fputs("# CPU cache info:\n", out);
	for (uint32_t i = 0; i < f->caches.nr; i++) {
		const struct pev_feat_cache *const cache = &f->caches.v[i];

		fprintf(out, "#  L%" PRId32 " %-15s %8s [%s]\n", (int32_t)cache->level, cache->type,
			cache->size, cache->cpus);
	}
}

static void print_time(const char *label, uint64_t ns, FILE *out)
{
	fprintf(out, "# time of %s sample : %" PRIu64 ".%06" PRIu64 "\n", label,
		(uint64_t)(ns / PEV_NSEC_PER_SEC), (uint64_t)(ns % PEV_NSEC_PER_SEC / 1000));
}

static void print_sample_time(const struct pev_features *f, FILE *out)
{
	const uint64_t duration = f->sample_time.last_ns - f->sample_time.first_ns;

	print_time("first", f->sample_time.first_ns, out);
	print_time("last", f->sample_time.last_ns, out);
	fprintf(out, "# sample duration : %10.3f ms\n", (double)duration / PEV_NSEC_PER_MSEC);
}

static uint64_t next_bit(const struct pev_feat_mem_node *node, uint64_t from, bool value)
{
	while (from < node->nr_bits && (node->blocks[from / 64] >> from % 64 & 1) != value)
		from++;
	return from;
}

/* "  0 [24G]: 0-23,32-199": the memory of the node and the numbers of its blocks. */
static void print_mem_node(const struct pev_feat_mem_node *node, uint64_t block_size, FILE *out)
{
	char list[MAX_BLOCK_LIST] = "";
	uint64_t nr_blocks = 0, size;
	unsigned int unit = 0;
	size_t used = 0;

	for (uint64_t end, start = next_bit(node, 0, true); start < node->nr_bits;
	     start = next_bit(node, end, true)) {
		char range[64];

		end = next_bit(node, start, false);
		(void)snprintf(range, sizeof(range), "%s%" PRIu64, nr_blocks ? "," : "", start);
		if (end - start > 1)
			(void)snprintf(range + strlen(range), sizeof(range) - strlen(range),
				       "-%" PRIu64, end - 1);
		nr_blocks += end - start;
		(void)snprintf(list + used, sizeof(list) - used, "%s", range);
		used = strlen(list);
	}
	/* 2047 M are not yet 1 G. */
	for (size = nr_blocks * block_size; size / 1024 > 1 && unit < 3; unit++)
		size /= 1024;
	fprintf(out, "#  %3" PRIu64 " [%" PRIu64 "%c]: %s\n", node->node, size, "BKMG"[unit], list);
}

static void print_mem_topology(const struct pev_features *f, FILE *out)
{
	const struct pev_feat_mem_topology *const t = &f->mem_topology;

	fprintf(out, "# memory nodes (nr %" PRIu64 ", block size 0x%" PRIx64 "):\n", t->nr,
		t->block_size);
	for (uint64_t i = 0; i < t->nr; i++)
		print_mem_node(&t->nodes[i], t->block_size, out);
}

/* What perf calls a frequency is the resolution, times 1000. */
static void print_clockid(const struct pev_features *f, FILE *out)
{
	fprintf(out, "# clockid frequency: %" PRIu64 " MHz\n", f->clockid_res_ns * 1000);
}

static void print_dir_format(const struct pev_features *f, FILE *out)
{
	fprintf(out, "# directory data version : %" PRIu64 "\n", f->dir_version);
}

static void print_compressed(const struct pev_features *f, FILE *out)
{
	fprintf(out, "# compressed : %s, level = %" PRId32 ", ratio = %" PRId32 "\n",
		f->compressed.type == PEV_COMP_ZSTD ? "Zstd" : "Unknown",
		(int32_t)f->compressed.level, (int32_t)f->compressed.ratio);
}

static void print_caps(const struct pev_feat_pmu_caps *caps, const char *pmu, FILE *out)
{
	fprintf(out, "# %s pmu capabilities: ", pmu);
	for (uint32_t i = 0; i < caps->nr; i++)
		fprintf(out, "%s%s=%s", i ? ", " : "", caps->caps[i].name, caps->caps[i].value);
	fputs(caps->nr ? "\n" : "not available\n", out);
}

static void print_cpu_pmu_caps(const struct pev_features *f, FILE *out)
{
	print_caps(&f->cpu_pmu_caps, "cpu", out);
}

static void print_pmu_caps(const struct pev_features *f, FILE *out)
{
	for (uint32_t i = 0; i < f->pmu_caps.nr; i++)
		print_caps(&f->pmu_caps.v[i], f->pmu_caps.v[i].pmu, out);
}

static const char *clock_name(uint32_t clockid)
{
	switch (clockid) {
	case CLOCK_MONOTONIC:
		return "monotonic";
	case CLOCK_MONOTONIC_RAW:
		return "monotonic_raw";
	case CLOCK_REALTIME:
		return "realtime";
	case CLOCK_BOOTTIME:
		return "boottime";
	case CLOCK_TAI:
		return "tai";
	default:
		return "(not found)";
	}
}

static void print_clock_data(const struct pev_features *f, FILE *out)
{
	const uint64_t tod = f->clock_data.tod_ns, clock = f->clock_data.clockid_ns;
	const time_t tod_s = (time_t)(tod / PEV_NSEC_PER_SEC);
	const uint64_t tod_us = tod % PEV_NSEC_PER_SEC / 1000;
	const char *const name = clock_name(f->clock_data.clockid);
	char when[64];
	struct tm tm;

	fprintf(out, "# clockid: %s (%" PRIu32 ")\n", name, f->clock_data.clockid);
	if (!localtime_r(&tod_s, &tm) || !strftime(when, sizeof(when), "%F %T", &tm))
		fputs("# reference time: <error>", out);
	else
		fprintf(out, "# reference time: %s.%06" PRIu64, when, tod_us);
	fprintf(out, " = %" PRIu64 ".%06" PRIu64 " (TOD) = %" PRIu64 ".%09" PRIu64 " (%s)\n",
		(uint64_t)tod_s, tod_us, (uint64_t)(clock / PEV_NSEC_PER_SEC),
		(uint64_t)(clock % PEV_NSEC_PER_SEC), name);
}

static void print_hybrid_topology(const struct pev_features *f, FILE *out)
{
	fputs("# hybrid cpu system:\n", out);
	for (uint32_t i = 0; i < f->hybrid.nr; i++)
		fprintf(out, "# %s cpu list : %s\n", f->hybrid.v[i].pmu, f->hybrid.v[i].cpus);
}

static void print_cpu_domains(const struct pev_features *f, FILE *out)
{
	fprintf(out, "# schedstat version	: %" PRIu32 "\n", f->cpu_domains.schedstat_version);
	fprintf(out, "# Maximum sched domains	: %" PRIu32 "\n", f->cpu_domains.max_domains);
	for (uint32_t i = 0; i < f->cpu_domains.nr; i++) {
		const struct pev_feat_cpu_domains *const cpu = &f->cpu_domains.v[i];

		fprintf(out, "# cpu		: %" PRIu32 "\n", cpu->cpu);
		fprintf(out, "# nr_domains	: %" PRIu32 "\n", cpu->nr);
		for (uint32_t k = 0; k < cpu->nr; k++) {
			const struct pev_feat_domain *const d = &cpu->domains[k];

			fprintf(out, "# Domain		: %" PRIu32 "\n", d->level);
			if (d->name)
				fprintf(out, "# Domain name      : %s\n", d->name);
			fprintf(out, "# Domain cpu map   : %s\n", d->mask);
			fprintf(out, "# Domain cpu list  : %s\n", d->cpus);
		}
	}
}

static void print_e_machine(const struct pev_features *f, FILE *out)
{
	fprintf(out, "# e_machine : %" PRIu32 "\n", f->e_machine.machine);
	fprintf(out, "#   e_flags : %" PRIu32 "\n", f->e_machine.flags);
}

static void print_cln_size(const struct pev_features *f, FILE *out)
{
	fprintf(out, "# cacheline size: %" PRIu32 "\n", f->cacheline_size);
}

/* A feature is a labelled string, or has a function, or is not shown at all. */
static const struct feature_printer {
	const char *label;
	void (*print)(const struct pev_features *f, FILE *out);
	bool full_only; /* long: named only, unless all was asked for */
} printers[PEV_FEAT_MAX] = {
	[PEV_FEAT_HOSTNAME] = { .label = "hostname" },
	[PEV_FEAT_OSRELEASE] = { .label = "os release" },
	[PEV_FEAT_VERSION] = { .label = "perf version" },
	[PEV_FEAT_ARCH] = { .label = "arch" },
	[PEV_FEAT_NRCPUS] = { .print = print_nrcpus },
	[PEV_FEAT_CPUDESC] = { .label = "cpudesc" },
	[PEV_FEAT_CPUID] = { .label = "cpuid" },
	[PEV_FEAT_TOTAL_MEM] = { .print = print_total_mem },
	[PEV_FEAT_CMDLINE] = { .print = print_cmdline },
	[PEV_FEAT_EVENT_DESC] = { .print = print_event_desc },
	[PEV_FEAT_CPU_TOPOLOGY] = { .print = print_cpu_topology, .full_only = true },
	[PEV_FEAT_NUMA_TOPOLOGY] = { .print = print_numa_topology, .full_only = true },
	[PEV_FEAT_BRANCH_STACK] = { .print = print_branch_stack },
	[PEV_FEAT_PMU_MAPPINGS] = { .print = print_pmu_mappings },
	[PEV_FEAT_GROUP_DESC] = { .print = print_group_desc },
	[PEV_FEAT_AUXTRACE] = { .print = print_auxtrace },
	[PEV_FEAT_STAT] = { .print = print_stat },
	[PEV_FEAT_CACHE] = { .print = print_cache, .full_only = true },
	[PEV_FEAT_SAMPLE_TIME] = { .print = print_sample_time },
	[PEV_FEAT_MEM_TOPOLOGY] = { .print = print_mem_topology, .full_only = true },
	[PEV_FEAT_CLOCKID] = { .print = print_clockid },
	[PEV_FEAT_DIR_FORMAT] = { .print = print_dir_format },
	[PEV_FEAT_BPF_PROG_INFO] = { .print = pev_bpf_prog_info_print },
	[PEV_FEAT_BPF_BTF] = { .print = pev_bpf_btf_print },
	[PEV_FEAT_COMPRESSED] = { .print = print_compressed },
	[PEV_FEAT_CPU_PMU_CAPS] = { .print = print_cpu_pmu_caps },
	[PEV_FEAT_CLOCK_DATA] = { .print = print_clock_data },
	[PEV_FEAT_HYBRID_TOPOLOGY] = { .print = print_hybrid_topology, .full_only = true },
	[PEV_FEAT_PMU_CAPS] = { .print = print_pmu_caps },
	[PEV_FEAT_CPU_DOMAIN_INFO] = { .print = print_cpu_domains, .full_only = true },
	[PEV_FEAT_E_MACHINE] = { .print = print_e_machine },
	[PEV_FEAT_CLN_SIZE] = { .print = print_cln_size },
};

static void print_feature(const struct pev_features *f, enum pev_feat feat, bool full, FILE *out)
{
	const struct feature_printer *const p = &printers[feat];

	if (p->full_only && !full)
		fprintf(out, "# %s info available, use -I to display\n", pev_feat_name(feat));
	else if (p->label)
		fprintf(out, "# %s : %s\n", p->label,
			pev_feat_str_get(f, pev_feat_str_offset(feat)));
	else if (p->print)
		p->print(f, out);
}

void pev_features_print(const struct pev_features *f, const struct pev_features_print *how,
			FILE *out)
{
	const unsigned int end =
		how->nr_known ? PEV_MIN(how->nr_known, PEV_FEAT_MAX) : PEV_FEAT_MAX;

	for (unsigned int i = 1; i < end; i++)
		if (pev_features_has(f, i))
			print_feature(f, i, how->full, out);
	if (how->pipe)
		return;
	fputs("# missing features: ", out);
	for (unsigned int i = 1; i < end; i++)
		if (!pev_features_has(f, i))
			fprintf(out, "%s ", pev_feat_name(i));
	fputc('\n', out);
}
