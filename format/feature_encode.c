// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing the sections of the header features. One function per layout; each layout is drawn above
 * its function, where "str" is
 *
 *	u32 len       of what follows
 *	char s[len]   NUL-terminated, then zeros up to a multiple of PEV_NAME_ALIGN
 *
 * and "T x[n]" is n times T. Integers are in host byte order and nothing is aligned. The section
 *has no header of its own: the feature table at the end of the file says where it is, or, in pipe
 *mode, the HEADER_FEATURE record that it is the body of.
 */
#include "base/checked.h"
#include "format/feature_part.h"

#include <errno.h>
#include <string.h>

/* NULL is written as an empty string. */
static void put_str(struct pev_buf *buf, const char *s)
{
	const size_t used = s ? strlen(s) + 1 : 1;
	const size_t len = (used + PEV_NAME_ALIGN - 1) / PEV_NAME_ALIGN * PEV_NAME_ALIGN;

	pev_buf_u32(buf, (uint32_t)len);
	pev_buf_put(buf, s ? s : "", used);
	pev_buf_zero(buf, len - used);
}

/* u32 nr; str v[nr] */
static void put_strings(struct pev_buf *buf, const struct pev_feat_strings *strings)
{
	pev_buf_u32(buf, strings->nr);
	for (uint32_t i = 0; i < strings->nr; i++)
		put_str(buf, strings->v[i]);
}

/* The bytes of the section of TRACING_DATA are those of tools/perf/util/trace-event-info.c. */
static int encode_tracing_data(const struct pev_features *f, struct pev_buf *buf)
{
	pev_buf_put(buf, f->tracing_data.p, f->tracing_data.size);
	return 0;
}

/*
 * BUILD_ID, to its end:
 *	struct perf_event_header { type 0, misc, size of this entry }
 *	s32 pid; u8 id[20]; u8 id_size; u8 zero[3]; char name[], padded to PEV_NAME_ALIGN
 * (perf 6.12 and later pad the name to 8; the size of the entry tells readers either way)
 */
static int encode_build_ids(const struct pev_features *f, struct pev_buf *buf)
{
	for (uint32_t i = 0; i < f->build_ids.nr; i++) {
		const struct pev_feat_build_id *const b = &f->build_ids.v[i];
		const size_t used = strlen(b->name) + 1;
		const size_t len = (used + PEV_NAME_ALIGN - 1) / PEV_NAME_ALIGN * PEV_NAME_ALIGN;
		const struct pev_rec_hdr hdr = {
			.misc = b->misc,
			.size = (uint16_t)(sizeof(hdr) + 28 + len),
		};

		if (len > PEV_REC_MAX_SIZE - sizeof(hdr) - 28)
			return -E2BIG;
		pev_buf_put(buf, &hdr, sizeof(hdr));
		pev_buf_u32(buf, (uint32_t)b->pid);
		pev_buf_put(buf, b->id, PEV_BUILD_ID_MAX);
		pev_buf_u8(buf, b->misc & PEV_MISC_BUILD_ID_SIZE ? b->size : 0);
		pev_buf_zero(buf, 3);
		pev_buf_put(buf, b->name, used);
		pev_buf_zero(buf, len - used);
	}
	return 0;
}

/* u32 avail, online */
static int encode_nrcpus(const struct pev_features *f, struct pev_buf *buf)
{
	pev_buf_u32(buf, f->nrcpus.avail);
	pev_buf_u32(buf, f->nrcpus.online);
	return 0;
}

/* u64 total_kb */
static int encode_total_mem(const struct pev_features *f, struct pev_buf *buf)
{
	pev_buf_u64(buf, f->total_mem_kb);
	return 0;
}

/* u32 nr; str arg[nr] */
static int encode_cmdline(const struct pev_features *f, struct pev_buf *buf)
{
	put_strings(buf, &f->cmdline);
	return 0;
}

/* u32 nr, attr_size; { attr_size bytes of attr; u32 nr_ids; str name; u64 ids[nr_ids] }[nr] */
static int encode_event_desc(const struct pev_features *f, struct pev_buf *buf)
{
	const struct pev_feat_event_desc *const desc = &f->event_desc;
	uint32_t attr_size = desc->attr_size;

	for (uint32_t i = 0; i < desc->nr && !desc->attr_size; i++)
		attr_size = PEV_MAX(attr_size, desc->events[i].attr.size);
	if (!attr_size)
		attr_size = PEV_ATTR_SIZE_VER0;
	pev_buf_u32(buf, desc->nr);
	pev_buf_u32(buf, attr_size);
	for (uint32_t i = 0; i < desc->nr; i++) {
		const struct pev_feat_event *const e = &desc->events[i];

		pev_attr_encode(buf, &e->attr, attr_size);
		pev_buf_u32(buf, e->nr_ids);
		put_str(buf, e->name);
		pev_buf_put(buf, e->ids, e->nr_ids * sizeof(*e->ids));
	}
	return 0;
}

/*
 * u32 nr; str packages[nr]; u32 nr; str cores[nr]; { s32 core_id, socket_id }[nrcpus.avail]
 * and where there are dies: u32 nr; str dies[nr]; s32 die_id[nrcpus.avail]
 */
static int encode_cpu_topology(const struct pev_features *f, struct pev_buf *buf)
{
	const struct pev_feat_cpu_topology *const t = &f->cpu_topology;

	/* The reader takes as many CPUs as NRCPUS says. */
	if (t->cpus && (!pev_features_has(f, PEV_FEAT_NRCPUS) || t->nr_cpus != f->nrcpus.avail))
		return -EINVAL;
	if (t->has_dies && !t->cpus)
		return -EINVAL;
	put_strings(buf, &t->packages);
	put_strings(buf, &t->cores);
	for (uint32_t i = 0; t->cpus && i < t->nr_cpus; i++) {
		pev_buf_u32(buf, (uint32_t)t->cpus[i].core_id);
		pev_buf_u32(buf, (uint32_t)t->cpus[i].socket_id);
	}
	if (!t->has_dies)
		return 0;
	put_strings(buf, &t->dies);
	for (uint32_t i = 0; i < t->nr_cpus; i++)
		pev_buf_u32(buf, (uint32_t)t->cpus[i].die_id);
	return 0;
}

/* u32 nr; { u32 node; u64 total_kb, free_kb; str cpus }[nr] */
static int encode_numa_topology(const struct pev_features *f, struct pev_buf *buf)
{
	pev_buf_u32(buf, f->numa_nodes.nr);
	for (uint32_t i = 0; i < f->numa_nodes.nr; i++) {
		const struct pev_feat_numa_node *const node = &f->numa_nodes.v[i];

		pev_buf_u32(buf, node->node);
		pev_buf_u64(buf, node->total_kb);
		pev_buf_u64(buf, node->free_kb);
		put_str(buf, node->cpus);
	}
	return 0;
}

/* u32 nr; { u32 type; str name }[nr] */
static int encode_pmu_mappings(const struct pev_features *f, struct pev_buf *buf)
{
	pev_buf_u32(buf, f->pmu_mappings.nr);
	for (uint32_t i = 0; i < f->pmu_mappings.nr; i++) {
		pev_buf_u32(buf, f->pmu_mappings.v[i].type);
		put_str(buf, f->pmu_mappings.v[i].name);
	}
	return 0;
}

/* u32 nr; { str name; u32 leader, nr_members }[nr] */
static int encode_group_desc(const struct pev_features *f, struct pev_buf *buf)
{
	pev_buf_u32(buf, f->groups.nr);
	for (uint32_t i = 0; i < f->groups.nr; i++) {
		put_str(buf, f->groups.v[i].name ? f->groups.v[i].name : PEV_GROUP_ANON);
		pev_buf_u32(buf, f->groups.v[i].leader);
		pev_buf_u32(buf, f->groups.v[i].nr_members);
	}
	return 0;
}

/* u64 nr; { u64 offset, size }[nr] */
static int encode_auxtrace(const struct pev_features *f, struct pev_buf *buf)
{
	pev_buf_u64(buf, f->auxtrace.nr);
	for (uint64_t i = 0; i < f->auxtrace.nr; i++) {
		pev_buf_u64(buf, f->auxtrace.v[i].offset);
		pev_buf_u64(buf, f->auxtrace.v[i].size);
	}
	return 0;
}

/* Empty: that they are there is all they say. */
static int encode_nothing(const struct pev_features *f, struct pev_buf *buf)
{
	(void)f;
	(void)buf;
	return 0;
}

/* u32 version = 1, nr; { u32 level, line_size, sets, ways; str type, size, cpus }[nr] */
static int encode_cache(const struct pev_features *f, struct pev_buf *buf)
{
	pev_buf_u32(buf, 1);
	pev_buf_u32(buf, f->caches.nr);
	for (uint32_t i = 0; i < f->caches.nr; i++) {
		const struct pev_feat_cache *const cache = &f->caches.v[i];

		pev_buf_u32(buf, cache->level);
		pev_buf_u32(buf, cache->line_size);
		pev_buf_u32(buf, cache->sets);
		pev_buf_u32(buf, cache->ways);
		put_str(buf, cache->type);
		put_str(buf, cache->size);
		put_str(buf, cache->cpus);
	}
	return 0;
}

/*
 * u64 version = 1, block_size, nr;
 * { u64 node, nr_bits; u64 nr_bits, words[(nr_bits + 63) / 64] }[nr], nr_bits twice
 */
static int encode_mem_topology(const struct pev_features *f, struct pev_buf *buf)
{
	const struct pev_feat_mem_topology *const t = &f->mem_topology;

	pev_buf_u64(buf, 1);
	pev_buf_u64(buf, t->block_size);
	pev_buf_u64(buf, t->nr);
	for (uint64_t i = 0; i < t->nr; i++) {
		const struct pev_feat_mem_node *const node = &t->nodes[i];

		pev_buf_u64(buf, node->node);
		pev_buf_u64(buf, node->nr_bits);
		pev_buf_u64(buf, node->nr_bits);
		pev_buf_put(buf, node->blocks, (node->nr_bits + 63) / 64 * sizeof(uint64_t));
	}
	return 0;
}

/* u64 first_ns, last_ns */
static int encode_sample_time(const struct pev_features *f, struct pev_buf *buf)
{
	pev_buf_u64(buf, f->sample_time.first_ns);
	pev_buf_u64(buf, f->sample_time.last_ns);
	return 0;
}

/* u64 res_ns */
static int encode_clockid(const struct pev_features *f, struct pev_buf *buf)
{
	pev_buf_u64(buf, f->clockid_res_ns);
	return 0;
}

/* u64 version */
static int encode_dir_format(const struct pev_features *f, struct pev_buf *buf)
{
	pev_buf_u64(buf, f->dir_version);
	return 0;
}

/* u32 nr; the entries as they came */
static void put_bpf(struct pev_buf *buf, const struct pev_feat_bpf *bpf)
{
	pev_buf_u32(buf, bpf->nr);
	pev_buf_put(buf, bpf->entries, bpf->size);
}

static int encode_bpf_prog_info(const struct pev_features *f, struct pev_buf *buf)
{
	put_bpf(buf, &f->bpf_prog_info);
	return 0;
}

static int encode_bpf_btf(const struct pev_features *f, struct pev_buf *buf)
{
	put_bpf(buf, &f->bpf_btf);
	return 0;
}

/* u32 nr; { str name, value }[nr] */
static void put_caps(struct pev_buf *buf, const struct pev_feat_pmu_caps *caps)
{
	pev_buf_u32(buf, caps->nr);
	for (uint32_t i = 0; i < caps->nr; i++) {
		put_str(buf, caps->caps[i].name);
		put_str(buf, caps->caps[i].value);
	}
}

static int encode_cpu_pmu_caps(const struct pev_features *f, struct pev_buf *buf)
{
	put_caps(buf, &f->cpu_pmu_caps);
	return 0;
}

/* u32 nr; { caps as above; str pmu }[nr] */
static int encode_pmu_caps(const struct pev_features *f, struct pev_buf *buf)
{
	pev_buf_u32(buf, f->pmu_caps.nr);
	for (uint32_t i = 0; i < f->pmu_caps.nr; i++) {
		put_caps(buf, &f->pmu_caps.v[i]);
		put_str(buf, f->pmu_caps.v[i].pmu);
	}
	return 0;
}

/* u32 nr; { str pmu, cpus }[nr] */
static int encode_hybrid_topology(const struct pev_features *f, struct pev_buf *buf)
{
	pev_buf_u32(buf, f->hybrid.nr);
	for (uint32_t i = 0; i < f->hybrid.nr; i++) {
		put_str(buf, f->hybrid.v[i].pmu);
		put_str(buf, f->hybrid.v[i].cpus);
	}
	return 0;
}

/*
 * u32 schedstat_version, max_domains; then to the end, for each CPU online:
 * { u32 cpu, nr; { u32 level; str name if schedstat_version >= 17; str mask, cpus }[nr] }
 */
static int encode_cpu_domains(const struct pev_features *f, struct pev_buf *buf)
{
	pev_buf_u32(buf, f->cpu_domains.schedstat_version);
	pev_buf_u32(buf, f->cpu_domains.max_domains);
	for (uint32_t i = 0; i < f->cpu_domains.nr; i++) {
		const struct pev_feat_cpu_domains *const cpu = &f->cpu_domains.v[i];

		pev_buf_u32(buf, cpu->cpu);
		pev_buf_u32(buf, cpu->nr);
		for (uint32_t k = 0; k < cpu->nr; k++) {
			pev_buf_u32(buf, cpu->domains[k].level);
			if (f->cpu_domains.schedstat_version >= 17)
				put_str(buf, cpu->domains[k].name);
			put_str(buf, cpu->domains[k].mask);
			put_str(buf, cpu->domains[k].cpus);
		}
	}
	return 0;
}

/* u32 version, type, level, ratio, mmap_len */
static int encode_compressed(const struct pev_features *f, struct pev_buf *buf)
{
	pev_buf_u32(buf, f->compressed.version);
	pev_buf_u32(buf, f->compressed.type);
	pev_buf_u32(buf, f->compressed.level);
	pev_buf_u32(buf, f->compressed.ratio);
	pev_buf_u32(buf, f->compressed.mmap_len);
	return 0;
}

/* u32 version = 1, clockid; u64 tod_ns, clockid_ns */
static int encode_clock_data(const struct pev_features *f, struct pev_buf *buf)
{
	pev_buf_u32(buf, 1);
	pev_buf_u32(buf, f->clock_data.clockid);
	pev_buf_u64(buf, f->clock_data.tod_ns);
	pev_buf_u64(buf, f->clock_data.clockid_ns);
	return 0;
}

/* u32 machine, flags */
static int encode_e_machine(const struct pev_features *f, struct pev_buf *buf)
{
	pev_buf_u32(buf, f->e_machine.machine);
	pev_buf_u32(buf, f->e_machine.flags);
	return 0;
}

/* u32 bytes */
static int encode_cln_size(const struct pev_features *f, struct pev_buf *buf)
{
	pev_buf_u32(buf, f->cacheline_size);
	return 0;
}

/* Those of one string are not here. */
static int (*const encoders[PEV_FEAT_MAX])(const struct pev_features *, struct pev_buf *) = {
	[PEV_FEAT_TRACING_DATA] = encode_tracing_data,
	[PEV_FEAT_BUILD_ID] = encode_build_ids,
	[PEV_FEAT_NRCPUS] = encode_nrcpus,
	[PEV_FEAT_TOTAL_MEM] = encode_total_mem,
	[PEV_FEAT_CMDLINE] = encode_cmdline,
	[PEV_FEAT_EVENT_DESC] = encode_event_desc,
	[PEV_FEAT_CPU_TOPOLOGY] = encode_cpu_topology,
	[PEV_FEAT_NUMA_TOPOLOGY] = encode_numa_topology,
	[PEV_FEAT_BRANCH_STACK] = encode_nothing,
	[PEV_FEAT_PMU_MAPPINGS] = encode_pmu_mappings,
	[PEV_FEAT_GROUP_DESC] = encode_group_desc,
	[PEV_FEAT_AUXTRACE] = encode_auxtrace,
	[PEV_FEAT_STAT] = encode_nothing,
	[PEV_FEAT_CACHE] = encode_cache,
	[PEV_FEAT_SAMPLE_TIME] = encode_sample_time,
	[PEV_FEAT_MEM_TOPOLOGY] = encode_mem_topology,
	[PEV_FEAT_CLOCKID] = encode_clockid,
	[PEV_FEAT_DIR_FORMAT] = encode_dir_format,
	[PEV_FEAT_BPF_PROG_INFO] = encode_bpf_prog_info,
	[PEV_FEAT_BPF_BTF] = encode_bpf_btf,
	[PEV_FEAT_COMPRESSED] = encode_compressed,
	[PEV_FEAT_CPU_PMU_CAPS] = encode_cpu_pmu_caps,
	[PEV_FEAT_CLOCK_DATA] = encode_clock_data,
	[PEV_FEAT_HYBRID_TOPOLOGY] = encode_hybrid_topology,
	[PEV_FEAT_PMU_CAPS] = encode_pmu_caps,
	[PEV_FEAT_CPU_DOMAIN_INFO] = encode_cpu_domains,
	[PEV_FEAT_E_MACHINE] = encode_e_machine,
	[PEV_FEAT_CLN_SIZE] = encode_cln_size,
};

int pev_feature_encode(const struct pev_features *f, enum pev_feat feat, struct pev_buf *buf)
{
	const size_t str = pev_feat_str_offset(feat), start = buf->size;
	int r = 0;

	if (!pev_features_has(f, feat) || !pev_feat_name(feat))
		return -ENOENT;
	if (str)
		put_str(buf, pev_feat_str_get(f, str));
	else
		r = encoders[feat](f, buf);
	if (r >= 0)
		r = pev_buf_status(buf);
	if (r < 0)
		buf->size = start;
	return r;
}

void pev_feat_sections_done(struct pev_feat_section *sections, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		pev_buf_done(&sections[i].data);
}

int pev_feat_sections_encode(const struct pev_features *f, struct pev_feat_section *ret,
			     size_t *ret_nr, struct pev_err *err)
{
	size_t nr = 0;

	for (unsigned int feat = 1; feat < PEV_FEAT_MAX; feat++) {
		int r;

		if (!pev_features_has(f, feat))
			continue;
		ret[nr] = (struct pev_feat_section){ .feat = feat };
		r = pev_feature_encode(f, feat, &ret[nr++].data);
		if (r < 0) {
			pev_feat_sections_done(ret, nr);
			return pev_err_set(err, r, "cannot write the header feature %s: %s",
					   pev_feat_name(feat), pev_errno_str(r));
		}
	}
	*ret_nr = nr;
	return 0;
}
