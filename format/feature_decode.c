// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading the sections of the header features: the mirror image of format/feature_encode.c, which
 * draws the layouts.
 *
 * Happy path: one function per layout reads through one cursor into variables of its own and into
 * memory that the model already owns, and moves them into the model's fields as its last act.
 * Failure: a read past the end stays in the cursor, anything else in ->r with its sentence in
 * ->err; both make every loop end and are looked at once more at the very end, where the memory is
 * given back. Counts are held against the bytes that are left before anything is allocated for
 * them.
 */
#include "base/checked.h"
#include "format/feature_part.h"
#include "format/feature_reader.h"

#include <errno.h>

static void decode_tracing_data(struct pev_feat_reader *rd)
{
	const size_t size = pev_cursor_left(&rd->c);
	const uint8_t *const p = pev_rd_bytes(rd, size);

	if (pev_rd_ok(rd))
		rd->f->tracing_data = (struct pev_feat_blob){ .p = p, .size = size };
}

/* One entry of BUILD_ID, which says its own size; without @has_pid it is of the old layout. */
static void decode_build_id(struct pev_feat_reader *rd, bool has_pid, struct pev_feat_build_id *ret)
{
	const size_t fixed = sizeof(struct pev_rec_hdr) + (has_pid ? 28 : 24);
	const size_t left = pev_cursor_left(&rd->c);
	const uint8_t *id;
	uint16_t size;

	(void)pev_cursor_u32(&rd->c); /* the type, 0 in fact */
	ret->misc = pev_cursor_u16(&rd->c);
	size = pev_cursor_u16(&rd->c);
	if (!pev_rd_ok(rd))
		return;
	if (size <= fixed) {
		pev_rd_corrupt(rd, "an entry in it is too small for a build-id and a name");
		return;
	}
	if (size > left) {
		rd->c.failed = true;
		return;
	}
	if (has_pid)
		ret->pid = (int32_t)pev_cursor_u32(&rd->c);
	else /* what perf makes of it: guests have the kernel 0, the host has -1 */
		ret->pid = (ret->misc & PEV_MISC_CPUMODE_MASK) >= PEV_MISC_GUEST_KERNEL ? 0 : -1;
	id = pev_cursor_bytes(&rd->c, PEV_BUILD_ID_MAX);
	if (id)
		memcpy(ret->id, id, PEV_BUILD_ID_MAX);
	ret->size = pev_cursor_u8(&rd->c);
	(void)pev_cursor_bytes(&rd->c, 3);
	if (!(ret->misc & PEV_MISC_BUILD_ID_SIZE))
		ret->size = PEV_BUILD_ID_MAX;
	else if (ret->size > PEV_BUILD_ID_MAX)
		pev_rd_corrupt(rd, "a build-id in it claims more than 20 bytes");
	ret->name = pev_rd_copy_str(rd, pev_cursor_bytes(&rd->c, size - fixed), size - fixed);
}

/*
 * perf before 2.6.35 had no pid. Read with a pid that is not there, the name of the kernel, which
 * is in every table, has lost its first four letters; perf tells the two apart in the same way.
 */
static bool build_ids_have_pid(struct pev_cursor c)
{
	static const char cut[] = "nel.kallsyms]";
	const size_t name = sizeof(struct pev_rec_hdr) + 28;
	const uint8_t *p;

	while (pev_cursor_left(&c) >= name + sizeof(cut) - 1) {
		struct pev_cursor hdr = c;
		uint16_t size;

		if (memcmp(c.p + name, cut, sizeof(cut) - 1) == 0)
			return false;
		(void)pev_cursor_u32(&hdr);
		(void)pev_cursor_u16(&hdr);
		size = pev_cursor_u16(&hdr);
		p = pev_cursor_bytes(&c, size);
		if (!p || size < sizeof(struct pev_rec_hdr))
			break;
	}
	return true;
}

static void decode_build_ids(struct pev_feat_reader *rd)
{
	const bool has_pid = build_ids_have_pid(rd->c);
	/* An upper bound, as no entry is smaller than this: the count is nowhere written. */
	const size_t max = pev_cursor_left(&rd->c) / (sizeof(struct pev_rec_hdr) + 24) + 1;
	struct pev_feat_build_id *const v = pev_features_alloc(rd->f, max, sizeof(*v));
	uint32_t nr = 0;

	if (!v) {
		rd->r = pev_err_set(rd->err, -ENOMEM, "no memory for its entries");
		return;
	}
	while (pev_rd_ok(rd) && pev_cursor_left(&rd->c) > 0)
		decode_build_id(rd, has_pid, &v[nr++]);
	if (!pev_rd_ok(rd))
		return;
	rd->f->build_ids.v = v;
	rd->f->build_ids.nr = nr;
}

static void decode_nrcpus(struct pev_feat_reader *rd)
{
	const uint32_t avail = pev_cursor_u32(&rd->c);
	const uint32_t online = pev_cursor_u32(&rd->c);

	if (!pev_rd_ok(rd))
		return;
	rd->f->nrcpus.avail = avail;
	rd->f->nrcpus.online = online;
}

static void decode_total_mem(struct pev_feat_reader *rd)
{
	const uint64_t kb = pev_cursor_u64(&rd->c);

	if (pev_rd_ok(rd))
		rd->f->total_mem_kb = kb;
}

static void decode_cmdline(struct pev_feat_reader *rd)
{
	const struct pev_feat_strings cmdline = pev_rd_strings(rd);

	if (pev_rd_ok(rd))
		rd->f->cmdline = cmdline;
}

static void decode_event_desc(struct pev_feat_reader *rd)
{
	const uint32_t nr = pev_cursor_u32(&rd->c), attr_size = pev_cursor_u32(&rd->c);
	struct pev_feat_event *const v =
		pev_rd_room(rd, nr, attr_size + sizeof(uint32_t) + PEV_RD_MIN_STR, sizeof(*v));

	for (uint32_t i = 0; v && i < nr && pev_rd_ok(rd); i++) {
		const int r = pev_attr_decode(&rd->c, attr_size, &v[i].attr, rd->err);

		if (r < 0)
			rd->r = r;
		v[i].nr_ids = pev_cursor_u32(&rd->c);
		v[i].name = pev_rd_str(rd);
		v[i].ids = pev_rd_u64s(rd, v[i].nr_ids);
	}
	if (pev_rd_ok(rd))
		rd->f->event_desc = (struct pev_feat_event_desc){ .events = v,
								  .nr = nr,
								  .attr_size = attr_size };
}

/* What perf of some age did not write is not there, and the section ends before it. */
static void decode_cpu_topology(struct pev_feat_reader *rd)
{
	struct pev_feat_cpu_topology t = { 0 };
	struct pev_feat_cpu *cpus;

	t.packages = pev_rd_strings(rd);
	t.cores = pev_rd_strings(rd);
	if (pev_rd_ok(rd) && pev_cursor_left(&rd->c) > 0) {
		if (!pev_features_has(rd->f, PEV_FEAT_NRCPUS)) {
			pev_rd_corrupt(
				rd, "it lists CPUs, but NRCPUS, which says how many, is not there");
			return;
		}
		t.nr_cpus = rd->f->nrcpus.avail;
		t.cpus = cpus = pev_rd_room(rd, t.nr_cpus, 2 * sizeof(uint32_t), sizeof(*cpus));
		for (uint32_t i = 0; cpus && i < t.nr_cpus; i++) {
			cpus[i].core_id = (int32_t)pev_cursor_u32(&rd->c);
			cpus[i].socket_id = (int32_t)pev_cursor_u32(&rd->c);
		}
		t.has_dies = pev_cursor_left(&rd->c) > 0;
		if (t.has_dies)
			t.dies = pev_rd_strings(rd);
		for (uint32_t i = 0; t.has_dies && i < t.nr_cpus && pev_rd_ok(rd); i++)
			cpus[i].die_id = (int32_t)pev_cursor_u32(&rd->c);
	}
	if (pev_rd_ok(rd))
		rd->f->cpu_topology = t;
}

static void decode_numa_topology(struct pev_feat_reader *rd)
{
	const uint32_t nr = pev_cursor_u32(&rd->c);
	struct pev_feat_numa_node *const v = pev_rd_room(
		rd, nr, 3 * sizeof(uint64_t) - sizeof(uint32_t) + PEV_RD_MIN_STR, sizeof(*v));

	for (uint32_t i = 0; v && i < nr && pev_rd_ok(rd); i++) {
		v[i].node = pev_cursor_u32(&rd->c);
		v[i].total_kb = pev_cursor_u64(&rd->c);
		v[i].free_kb = pev_cursor_u64(&rd->c);
		v[i].cpus = pev_rd_str(rd);
	}
	if (!pev_rd_ok(rd))
		return;
	rd->f->numa_nodes.v = v;
	rd->f->numa_nodes.nr = nr;
}

static void decode_pmu_mappings(struct pev_feat_reader *rd)
{
	const uint32_t nr = pev_cursor_u32(&rd->c);
	struct pev_feat_pmu *const v =
		pev_rd_room(rd, nr, sizeof(uint32_t) + PEV_RD_MIN_STR, sizeof(*v));

	for (uint32_t i = 0; v && i < nr && pev_rd_ok(rd); i++) {
		v[i].type = pev_cursor_u32(&rd->c);
		v[i].name = pev_rd_str(rd);
	}
	if (!pev_rd_ok(rd))
		return;
	rd->f->pmu_mappings.v = v;
	rd->f->pmu_mappings.nr = nr;
}

static void decode_group_desc(struct pev_feat_reader *rd)
{
	const uint32_t nr = pev_cursor_u32(&rd->c);
	struct pev_feat_group *const v =
		pev_rd_room(rd, nr, PEV_RD_MIN_STR + 2 * sizeof(uint32_t), sizeof(*v));

	for (uint32_t i = 0; v && i < nr && pev_rd_ok(rd); i++) {
		v[i].name = pev_rd_str(rd);
		v[i].leader = pev_cursor_u32(&rd->c);
		v[i].nr_members = pev_cursor_u32(&rd->c);
	}
	if (!pev_rd_ok(rd))
		return;
	rd->f->groups.v = v;
	rd->f->groups.nr = nr;
}

static void decode_auxtrace(struct pev_feat_reader *rd)
{
	const uint64_t nr = pev_cursor_u64(&rd->c);
	struct pev_feat_auxtrace *const v = pev_rd_room(rd, nr, 2 * sizeof(uint64_t), sizeof(*v));

	for (uint64_t i = 0; v && i < nr; i++) {
		v[i].offset = pev_cursor_u64(&rd->c);
		v[i].size = pev_cursor_u64(&rd->c);
	}
	if (!pev_rd_ok(rd))
		return;
	rd->f->auxtrace.v = v;
	rd->f->auxtrace.nr = nr;
}

static void decode_nothing(struct pev_feat_reader *rd)
{
	(void)rd;
}

static void decode_cache(struct pev_feat_reader *rd)
{
	const uint32_t version = pev_cursor_u32(&rd->c), nr = pev_cursor_u32(&rd->c);
	struct pev_feat_cache *v;

	pev_rd_version(rd, version, 1);
	v = pev_rd_room(rd, nr, 4 * sizeof(uint32_t) + 3 * PEV_RD_MIN_STR, sizeof(*v));
	for (uint32_t i = 0; v && i < nr && pev_rd_ok(rd); i++) {
		v[i].level = pev_cursor_u32(&rd->c);
		v[i].line_size = pev_cursor_u32(&rd->c);
		v[i].sets = pev_cursor_u32(&rd->c);
		v[i].ways = pev_cursor_u32(&rd->c);
		v[i].type = pev_rd_str(rd);
		v[i].size = pev_rd_str(rd);
		v[i].cpus = pev_rd_str(rd);
	}
	if (!pev_rd_ok(rd))
		return;
	rd->f->caches.v = v;
	rd->f->caches.nr = nr;
}

static void decode_sample_time(struct pev_feat_reader *rd)
{
	const uint64_t first = pev_cursor_u64(&rd->c), last = pev_cursor_u64(&rd->c);

	if (!pev_rd_ok(rd))
		return;
	rd->f->sample_time.first_ns = first;
	rd->f->sample_time.last_ns = last;
}

static void decode_mem_topology(struct pev_feat_reader *rd)
{
	const uint64_t version = pev_cursor_u64(&rd->c);
	struct pev_feat_mem_topology t;
	struct pev_feat_mem_node *v;

	pev_rd_version(rd, version, 1);
	t.block_size = pev_cursor_u64(&rd->c);
	t.nr = pev_cursor_u64(&rd->c);
	t.nodes = v = pev_rd_room(rd, t.nr, 3 * sizeof(uint64_t), sizeof(*v));
	for (uint64_t i = 0; v && i < t.nr && pev_rd_ok(rd); i++) {
		v[i].node = pev_cursor_u64(&rd->c);
		(void)pev_cursor_u64(&rd->c); /* the number of bits, which comes again */
		v[i].nr_bits = pev_cursor_u64(&rd->c);
		v[i].blocks = pev_rd_u64s(rd, v[i].nr_bits / 64 + (v[i].nr_bits % 64 != 0));
	}
	if (pev_rd_ok(rd))
		rd->f->mem_topology = t;
}

static void decode_clockid(struct pev_feat_reader *rd)
{
	const uint64_t res_ns = pev_cursor_u64(&rd->c);

	if (pev_rd_ok(rd))
		rd->f->clockid_res_ns = res_ns;
}

static void decode_dir_format(struct pev_feat_reader *rd)
{
	const uint64_t version = pev_cursor_u64(&rd->c);

	if (pev_rd_ok(rd))
		rd->f->dir_version = version;
}

/* The entries are the kernel's structs and offsets into what follows them: perf does not read them
 * from the other byte order either. */
static void decode_bpf(struct pev_feat_reader *rd, struct pev_feat_bpf *ret)
{
	const uint32_t nr = pev_cursor_u32(&rd->c);
	const size_t size = pev_cursor_left(&rd->c);
	const uint8_t *entries;

	if (rd->c.swap) {
		rd->r = pev_err_set(rd->err, -EPROTONOSUPPORT,
				    "BPF programs of a machine of the other byte order cannot be "
				    "read here");
		return;
	}
	entries = pev_rd_bytes(rd, size);
	if (pev_rd_ok(rd))
		*ret = (struct pev_feat_bpf){ .nr = nr, .entries = entries, .size = size };
}

static void decode_bpf_prog_info(struct pev_feat_reader *rd)
{
	decode_bpf(rd, &rd->f->bpf_prog_info);
}

static void decode_bpf_btf(struct pev_feat_reader *rd)
{
	decode_bpf(rd, &rd->f->bpf_btf);
}

static void decode_compressed(struct pev_feat_reader *rd)
{
	uint32_t v[5];

	for (size_t i = 0; i < PEV_ARRAY_SIZE(v); i++)
		v[i] = pev_cursor_u32(&rd->c);
	if (!pev_rd_ok(rd))
		return;
	rd->f->compressed.version = v[0];
	rd->f->compressed.type = v[1];
	rd->f->compressed.level = v[2];
	rd->f->compressed.ratio = v[3];
	rd->f->compressed.mmap_len = v[4];
}

static struct pev_feat_pmu_caps take_caps(struct pev_feat_reader *rd)
{
	const uint32_t nr = pev_cursor_u32(&rd->c);
	struct pev_feat_cap *const v = pev_rd_room(rd, nr, 2 * PEV_RD_MIN_STR, sizeof(*v));

	for (uint32_t i = 0; v && i < nr && pev_rd_ok(rd); i++) {
		v[i].name = pev_rd_str(rd);
		v[i].value = pev_rd_str(rd);
	}
	return (struct pev_feat_pmu_caps){ .caps = v, .nr = v ? nr : 0 };
}

static void decode_cpu_pmu_caps(struct pev_feat_reader *rd)
{
	const struct pev_feat_pmu_caps caps = take_caps(rd);

	if (pev_rd_ok(rd))
		rd->f->cpu_pmu_caps = caps;
}

static void decode_pmu_caps(struct pev_feat_reader *rd)
{
	const uint32_t nr = pev_cursor_u32(&rd->c);
	struct pev_feat_pmu_caps *const v =
		pev_rd_room(rd, nr, sizeof(uint32_t) + PEV_RD_MIN_STR, sizeof(*v));

	for (uint32_t i = 0; v && i < nr && pev_rd_ok(rd); i++) {
		v[i] = take_caps(rd);
		v[i].pmu = pev_rd_str(rd);
	}
	if (!pev_rd_ok(rd))
		return;
	rd->f->pmu_caps.v = v;
	rd->f->pmu_caps.nr = nr;
}

static void decode_clock_data(struct pev_feat_reader *rd)
{
	const uint32_t version = pev_cursor_u32(&rd->c), clockid = pev_cursor_u32(&rd->c);
	const uint64_t tod_ns = pev_cursor_u64(&rd->c), clockid_ns = pev_cursor_u64(&rd->c);

	pev_rd_version(rd, version, 1);
	if (!pev_rd_ok(rd))
		return;
	rd->f->clock_data.clockid = clockid;
	rd->f->clock_data.tod_ns = tod_ns;
	rd->f->clock_data.clockid_ns = clockid_ns;
}

static void decode_hybrid_topology(struct pev_feat_reader *rd)
{
	const uint32_t nr = pev_cursor_u32(&rd->c);
	struct pev_feat_hybrid *const v = pev_rd_room(rd, nr, 2 * PEV_RD_MIN_STR, sizeof(*v));

	for (uint32_t i = 0; v && i < nr && pev_rd_ok(rd); i++) {
		v[i].pmu = pev_rd_str(rd);
		v[i].cpus = pev_rd_str(rd);
	}
	if (!pev_rd_ok(rd))
		return;
	rd->f->hybrid.v = v;
	rd->f->hybrid.nr = nr;
}

static void decode_domains(struct pev_feat_reader *rd, bool named, struct pev_feat_cpu_domains *ret)
{
	struct pev_feat_domain *v;

	ret->cpu = pev_cursor_u32(&rd->c);
	ret->nr = pev_cursor_u32(&rd->c);
	ret->domains = v = pev_rd_room(
		rd, ret->nr, sizeof(uint32_t) + (named ? 3 : 2) * PEV_RD_MIN_STR, sizeof(*v));
	for (uint32_t i = 0; v && i < ret->nr && pev_rd_ok(rd); i++) {
		v[i].level = pev_cursor_u32(&rd->c);
		if (named)
			v[i].name = pev_rd_str(rd);
		v[i].mask = pev_rd_str(rd);
		v[i].cpus = pev_rd_str(rd);
	}
}

static void decode_cpu_domains(struct pev_feat_reader *rd)
{
	const uint32_t version = pev_cursor_u32(&rd->c), max = pev_cursor_u32(&rd->c);
	const size_t min = 2 * sizeof(uint32_t);
	struct pev_feat_cpu_domains *const v =
		pev_rd_room(rd, pev_cursor_left(&rd->c) / min, min, sizeof(*v));
	uint32_t nr = 0;

	while (v && pev_rd_ok(rd) && pev_cursor_left(&rd->c) >= min)
		decode_domains(rd, version >= 17, &v[nr++]);
	if (!pev_rd_ok(rd))
		return;
	rd->f->cpu_domains.schedstat_version = version;
	rd->f->cpu_domains.max_domains = max;
	rd->f->cpu_domains.v = v;
	rd->f->cpu_domains.nr = nr;
}

static void decode_e_machine(struct pev_feat_reader *rd)
{
	const uint32_t machine = pev_cursor_u32(&rd->c), flags = pev_cursor_u32(&rd->c);

	if (!pev_rd_ok(rd))
		return;
	rd->f->e_machine.machine = machine;
	rd->f->e_machine.flags = flags;
}

static void decode_cln_size(struct pev_feat_reader *rd)
{
	const uint32_t bytes = pev_cursor_u32(&rd->c);

	if (pev_rd_ok(rd))
		rd->f->cacheline_size = bytes;
}

/* Those of one string are not here. */
static void (*const decoders[PEV_FEAT_MAX])(struct pev_feat_reader *) = {
	[PEV_FEAT_TRACING_DATA] = decode_tracing_data,
	[PEV_FEAT_BUILD_ID] = decode_build_ids,
	[PEV_FEAT_NRCPUS] = decode_nrcpus,
	[PEV_FEAT_TOTAL_MEM] = decode_total_mem,
	[PEV_FEAT_CMDLINE] = decode_cmdline,
	[PEV_FEAT_EVENT_DESC] = decode_event_desc,
	[PEV_FEAT_CPU_TOPOLOGY] = decode_cpu_topology,
	[PEV_FEAT_NUMA_TOPOLOGY] = decode_numa_topology,
	[PEV_FEAT_BRANCH_STACK] = decode_nothing,
	[PEV_FEAT_PMU_MAPPINGS] = decode_pmu_mappings,
	[PEV_FEAT_GROUP_DESC] = decode_group_desc,
	[PEV_FEAT_AUXTRACE] = decode_auxtrace,
	[PEV_FEAT_STAT] = decode_nothing,
	[PEV_FEAT_CACHE] = decode_cache,
	[PEV_FEAT_SAMPLE_TIME] = decode_sample_time,
	[PEV_FEAT_MEM_TOPOLOGY] = decode_mem_topology,
	[PEV_FEAT_CLOCKID] = decode_clockid,
	[PEV_FEAT_DIR_FORMAT] = decode_dir_format,
	[PEV_FEAT_BPF_PROG_INFO] = decode_bpf_prog_info,
	[PEV_FEAT_BPF_BTF] = decode_bpf_btf,
	[PEV_FEAT_COMPRESSED] = decode_compressed,
	[PEV_FEAT_CPU_PMU_CAPS] = decode_cpu_pmu_caps,
	[PEV_FEAT_CLOCK_DATA] = decode_clock_data,
	[PEV_FEAT_HYBRID_TOPOLOGY] = decode_hybrid_topology,
	[PEV_FEAT_PMU_CAPS] = decode_pmu_caps,
	[PEV_FEAT_CPU_DOMAIN_INFO] = decode_cpu_domains,
	[PEV_FEAT_E_MACHINE] = decode_e_machine,
	[PEV_FEAT_CLN_SIZE] = decode_cln_size,
};

static int decode_section(struct pev_feat_reader *rd, enum pev_feat feat, size_t size)
{
	const size_t str = pev_feat_str_offset(feat);
	const char *s;

	if (str) {
		s = pev_rd_str(rd);
		if (pev_rd_ok(rd))
			pev_feat_str_set(rd->f, str, s);
	} else {
		decoders[feat](rd);
	}
	if (rd->r < 0)
		return pev_err_wrap(rd->err, "feature %s", pev_feat_name(feat));
	if (rd->c.failed)
		return pev_err_set(rd->err, -ENODATA,
				   "feature %s: its section of %zu bytes ends too early",
				   pev_feat_name(feat), size);
	return 0;
}

int pev_feature_decode(struct pev_features *f, enum pev_feat feat, const void *bytes, size_t size,
		       bool swap, struct pev_err *err)
{
	struct pev_err local = PEV_ERR_INIT;
	struct pev_feat_reader rd = { .c = pev_cursor(bytes, size),
				      .f = f,
				      .err = err ? err : &local };
	struct pev_features_block *const mark = f->owned;
	int r;

	if (!pev_feat_name(feat))
		return pev_err_set(err, -EPROTONOSUPPORT, "feature %d is not known here", feat);
	rd.c.swap = swap;
	r = decode_section(&rd, feat, size);
	if (r < 0) {
		pev_features_rewind(f, mark);
		return r;
	}
	pev_features_set(f, feat);
	return 0;
}
