// SPDX-License-Identifier: LGPL-2.1-or-later
/* Which CPUs share a core, a die, a package, a NUMA node: Documentation/ABI/stable/
 * sysfs-devices-system-cpu and sysfs-devices-node in the kernel's tree. */
#include "base/checked.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "recorder/host_part.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#define CPU  "/sys/devices/system/cpu"
#define NODE "/sys/devices/system/node"

/* Adds @s to the char * in @list unless it is there. */
static int add_distinct(const struct pev_host *h, struct pev_buf *list, const char *s)
{
	const char *const *const v = (const void *)list->data;
	const char *copy;

	for (size_t i = 0; i < list->size / sizeof(*v); i++)
		if (strcmp(v[i], s) == 0)
			return 0;
	copy = pev_features_str(h->f, s, strlen(s));
	if (!copy)
		return -ENOMEM;
	pev_buf_put(list, &copy, sizeof(copy));
	return pev_buf_status(list);
}

/* Moves what @list gathered into the model. */
static int take_strings(const struct pev_host *h, const struct pev_buf *list,
			struct pev_feat_strings *ret)
{
	ret->v = pev_features_copy(h->f, list->data, list->size);
	ret->nr = (uint32_t)(list->size / sizeof(char *));
	return ret->v ? 0 : -ENOMEM;
}

/* Adds the list that @cpu has under one of two names: kernels before 5.3 know the second only. */
static int add_siblings(const struct pev_host *h, uint32_t cpu, const char *name,
			const char *old_name, struct pev_buf *list)
{
	_cleanup_free_ char *line = NULL;
	int r;

	r = pev_host_line(h, &line, CPU "/cpu%" PRIu32 "/topology/%s", cpu, name);
	if (r == -ENOENT && old_name)
		r = pev_host_line(h, &line, CPU "/cpu%" PRIu32 "/topology/%s", cpu, old_name);
	return r < 0 ? r : add_distinct(h, list, line);
}

struct siblings {
	struct pev_buf packages, dies, cores; /* char * */
};

static void siblings_done(struct siblings *s)
{
	pev_buf_done(&s->packages);
	pev_buf_done(&s->dies);
	pev_buf_done(&s->cores);
}

/* perf writes dies for x86 and s390 only, and does not read them elsewhere. */
static bool has_dies(const struct pev_host *h)
{
	return pev_features_has(h->f, PEV_FEAT_ARCH) &&
	       (strncmp(h->f->arch, "x86_64", 6) == 0 || strncmp(h->f->arch, "s390x", 5) == 0) &&
	       pev_host_exists(h, CPU "/cpu0/topology/die_cpus_list");
}

/* One list of three is enough, as it is for perf. */
static int add_cpu(const struct pev_host *h, uint32_t cpu, bool dies, struct siblings *s)
{
	const int package =
		add_siblings(h, cpu, "package_cpus_list", "core_siblings_list", &s->packages);
	const int die = dies ? add_siblings(h, cpu, "die_cpus_list", NULL, &s->dies) : -ENOENT;
	const int core = add_siblings(h, cpu, "core_cpus_list", "thread_siblings_list", &s->cores);

	if (package == -ENOMEM || die == -ENOMEM || core == -ENOMEM)
		return -ENOMEM;
	return package >= 0 || die >= 0 ? 0 : core;
}

static int32_t topology_id(const struct pev_host *h, uint32_t cpu, const char *name)
{
	int32_t id;

	return pev_host_int(h, &id, CPU "/cpu%" PRIu32 "/topology/%s", cpu, name) < 0 ? -1 : id;
}

int pev_host_cpu_topology(const struct pev_host *h)
{
	_cleanup_(siblings_done) struct siblings s = { 0 };
	_cleanup_free_ char *online = NULL;
	const bool dies = has_dies(h);
	struct pev_feat_cpu_topology t = { .nr_cpus = h->f->nrcpus.avail };
	struct pev_feat_cpu *cpus;
	uint32_t first, last;
	int r;

	if (!pev_features_has(h->f, PEV_FEAT_NRCPUS))
		return -ENODATA;
	r = pev_host_line(h, &online, CPU "/online");
	for (const char *list = online; r >= 0 && pev_host_range(&list, &first, &last);)
		for (uint32_t cpu = first; r >= 0 && cpu <= last && cpu < t.nr_cpus; cpu++)
			r = add_cpu(h, cpu, dies, &s);
	if (r >= 0)
		r = take_strings(h, &s.packages, &t.packages);
	if (r >= 0)
		r = take_strings(h, &s.dies, &t.dies);
	if (r >= 0)
		r = take_strings(h, &s.cores, &t.cores);
	if (r < 0)
		return r;
	t.cpus = cpus = pev_features_alloc(h->f, t.nr_cpus, sizeof(*cpus));
	if (!cpus)
		return -ENOMEM;
	t.has_dies = t.dies.nr > 0;
	for (uint32_t cpu = 0; cpu < t.nr_cpus; cpu++) {
		cpus[cpu].core_id = topology_id(h, cpu, "core_id");
		cpus[cpu].socket_id = topology_id(h, cpu, "physical_package_id");
		cpus[cpu].die_id = topology_id(h, cpu, "die_id");
	}
	h->f->cpu_topology = t;
	pev_features_set(h->f, PEV_FEAT_CPU_TOPOLOGY);
	return 0;
}

/* The kB behind @key in "Node 0 MemTotal:    5859540 kB". */
static uint64_t meminfo_kb(const char *meminfo, const char *key)
{
	const char *const p = strstr(meminfo, key);

	return p ? strtoull(p + strlen(key), NULL, 10) : 0;
}

static int read_numa_node(const struct pev_host *h, uint32_t nr, struct pev_feat_numa_node *ret)
{
	_cleanup_buf_ struct pev_buf meminfo = { 0 };
	_cleanup_free_ char *cpus = NULL;
	char path[PATH_MAX];
	int r;

	if ((size_t)snprintf(path, sizeof(path), "%s" NODE "/node%" PRIu32 "/meminfo", h->root,
			     nr) >= sizeof(path))
		return -ENAMETOOLONG;
	r = pev_read_path(path, 1 << 16, &meminfo);
	if (r >= 0)
		r = pev_host_line(h, &cpus, NODE "/node%" PRIu32 "/cpulist", nr);
	if (r < 0)
		return r;
	*ret = (struct pev_feat_numa_node){
		.node = nr,
		.total_kb = meminfo_kb((const char *)meminfo.data, " MemTotal:"),
		.free_kb = meminfo_kb((const char *)meminfo.data, " MemFree:"),
		.cpus = pev_features_str(h->f, cpus, strlen(cpus)),
	};
	return ret->cpus ? 0 : -ENOMEM;
}

int pev_host_numa_topology(const struct pev_host *h)
{
	_cleanup_buf_ struct pev_buf nodes = { 0 }; /* struct pev_feat_numa_node */
	_cleanup_free_ char *online = NULL;
	struct pev_feat_numa_node node;
	uint32_t first, last;
	int r;

	r = pev_host_line(h, &online, NODE "/online");
	for (const char *list = online; r >= 0 && pev_host_range(&list, &first, &last);) {
		for (uint32_t nr = first; r >= 0 && nr <= last; nr++) {
			r = read_numa_node(h, nr, &node);
			if (r >= 0)
				pev_buf_put(&nodes, &node, sizeof(node));
		}
	}
	if (r >= 0)
		r = pev_buf_status(&nodes);
	if (r < 0)
		return r;
	h->f->numa_nodes.v = pev_features_copy(h->f, nodes.data, nodes.size);
	if (!h->f->numa_nodes.v)
		return -ENOMEM;
	h->f->numa_nodes.nr = (uint32_t)(nodes.size / sizeof(node));
	pev_features_set(h->f, PEV_FEAT_NUMA_TOPOLOGY);
	return 0;
}
