// SPDX-License-Identifier: LGPL-2.1-or-later
/* The PMUs of the machine: /sys/bus/event_source/devices, see Documentation/ABI/testing/
 * sysfs-bus-event_source-devices in the kernel's tree. */
#include "base/cleanup.h"
#include "recorder/host_part.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#define DEVICES "/sys/bus/event_source/devices"

struct pmu {
	uint32_t type;
	const char *name;
	const char *hybrid_cpus; /* of cpu_core and cpu_atom, else NULL */
};

/*
 * PMUs of one kind of core of a hybrid machine are called cpu_*. They are there even when no core
 * of that kind is: then they have no CPUs, and are no PMUs.
 */
static int read_hybrid(const struct pev_host *h, struct pmu *pmu)
{
	_cleanup_free_ char *cpus = NULL;
	int r;

	if (strncmp(pmu->name, "cpu_", 4) != 0)
		return 0;
	r = pev_host_line(h, &cpus, DEVICES "/%s/cpus", pmu->name);
	if (r < 0)
		return r;
	if (!isdigit((unsigned char)cpus[0]))
		return -ENOENT;
	pmu->hybrid_cpus = pev_features_str(h->f, cpus, strlen(cpus));
	return pmu->hybrid_cpus ? 0 : -ENOMEM;
}

static int read_pmu(const struct pev_host *h, const char *name, struct pmu *ret)
{
	struct pmu pmu = { 0 };
	int32_t type;
	int r;

	r = pev_host_int(h, &type, DEVICES "/%s/type", name);
	if (r < 0)
		return r;
	pmu.type = (uint32_t)type;
	pmu.name = pev_features_str(h->f, name, strlen(name));
	if (!pmu.name)
		return -ENOMEM;
	r = read_hybrid(h, &pmu);
	if (r >= 0)
		*ret = pmu;
	return r;
}

static int open_dir(const struct pev_host *h, const char *dir, const char *sub, DIR **ret)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s%s%s", h->root, dir, sub) >= sizeof(path))
		return -ENAMETOOLONG;
	*ret = opendir(path);
	return *ret ? 0 : -errno;
}

/* Appends all of them to @list (struct pmu), in the order of the directory, as perf 6.1 does. */
static int list_pmus(const struct pev_host *h, struct pev_buf *list)
{
	_cleanup_closedir_ DIR *dir = NULL;
	const struct dirent *entry;
	int r;

	r = open_dir(h, DEVICES, "", &dir);
	if (r < 0)
		return r;
	while ((entry = readdir(dir))) {
		struct pmu pmu;

		if (entry->d_name[0] == '.')
			continue;
		r = read_pmu(h, entry->d_name, &pmu);
		if (r == -ENOMEM)
			return r;
		if (r >= 0)
			pev_buf_put(list, &pmu, sizeof(pmu));
	}
	return pev_buf_status(list);
}

/* The files in caps/ and their contents. No caps are not an error. */
static int read_caps(const struct pev_host *h, const char *pmu, struct pev_feat_pmu_caps *ret)
{
	_cleanup_buf_ struct pev_buf list = { 0 }; /* struct pev_feat_cap */
	_cleanup_closedir_ DIR *dir = NULL;
	char sub[NAME_MAX + sizeof("//caps")];
	const struct dirent *entry;

	*ret = (struct pev_feat_pmu_caps){ .pmu = pmu };
	(void)snprintf(sub, sizeof(sub), "/%s/caps", pmu);
	if (open_dir(h, DEVICES, sub, &dir) < 0)
		return 0;
	while ((entry = readdir(dir))) {
		_cleanup_free_ char *value = NULL;
		struct pev_feat_cap cap;

		if (entry->d_name[0] == '.' ||
		    pev_host_line(h, &value, DEVICES "/%s/caps/%s", pmu, entry->d_name) < 0)
			continue;
		cap.name = pev_features_str(h->f, entry->d_name, strlen(entry->d_name));
		cap.value = pev_features_str(h->f, value, strlen(value));
		if (!cap.name || !cap.value)
			return -ENOMEM;
		pev_buf_put(&list, &cap, sizeof(cap));
	}
	ret->caps = pev_features_copy(h->f, list.data, list.size);
	ret->nr = (uint32_t)(list.size / sizeof(struct pev_feat_cap));
	return ret->caps ? pev_buf_status(&list) : -ENOMEM;
}

static int set_mappings(const struct pev_host *h, const struct pmu *pmus, uint32_t nr)
{
	struct pev_feat_pmu *const v = pev_features_alloc(h->f, nr, sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		v[i] = (struct pev_feat_pmu){ .type = pmus[i].type, .name = pmus[i].name };
	h->f->pmu_mappings.v = v;
	h->f->pmu_mappings.nr = nr;
	pev_features_set(h->f, PEV_FEAT_PMU_MAPPINGS);
	return 0;
}

static int set_hybrid(const struct pev_host *h, const struct pmu *pmus, uint32_t nr)
{
	struct pev_feat_hybrid *const v = pev_features_alloc(h->f, nr, sizeof(*v));
	uint32_t nr_hybrid = 0;

	if (!v)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		if (pmus[i].hybrid_cpus)
			v[nr_hybrid++] = (struct pev_feat_hybrid){ .pmu = pmus[i].name,
								   .cpus = pmus[i].hybrid_cpus };
	if (!nr_hybrid)
		return 0;
	h->f->hybrid.v = v;
	h->f->hybrid.nr = nr_hybrid;
	pev_features_set(h->f, PEV_FEAT_HYBRID_TOPOLOGY);
	return 0;
}

/* CPU_PMU_CAPS is about the PMU "cpu", PMU_CAPS about every other that has caps: those of hybrid
 * machines first, for the sake of older readers. */
static int set_caps(const struct pev_host *h, const struct pmu *pmus, uint32_t nr)
{
	struct pev_feat_pmu_caps *const v = pev_features_alloc(h->f, nr, sizeof(*v));
	struct pev_feat_pmu_caps caps;
	uint32_t nr_caps = 0;
	int r;

	if (!v)
		return -ENOMEM;
	for (int hybrid = 1; hybrid >= 0; hybrid--) {
		for (uint32_t i = 0; i < nr; i++) {
			if (!!pmus[i].hybrid_cpus != hybrid)
				continue;
			r = read_caps(h, pmus[i].name, &caps);
			if (r < 0)
				return r;
			if (strcmp(pmus[i].name, "cpu") == 0) {
				h->f->cpu_pmu_caps = caps;
				pev_features_set(h->f, PEV_FEAT_CPU_PMU_CAPS);
			} else if (caps.nr) {
				v[nr_caps++] = caps;
			}
		}
	}
	h->f->pmu_caps.v = v;
	h->f->pmu_caps.nr = nr_caps;
	pev_features_set(h->f, PEV_FEAT_PMU_CAPS);
	return 0;
}

int pev_host_pmus(const struct pev_host *h)
{
	_cleanup_buf_ struct pev_buf list = { 0 }; /* struct pmu */
	const struct pmu *pmus;
	uint32_t nr;
	int r;

	r = list_pmus(h, &list);
	if (r < 0)
		return r;
	pmus = (const void *)list.data;
	nr = (uint32_t)(list.size / sizeof(*pmus));
	r = set_mappings(h, pmus, nr);
	if (r >= 0)
		r = set_hybrid(h, pmus, nr);
	if (r >= 0)
		r = set_caps(h, pmus, nr);
	return r;
}
