// SPDX-License-Identifier: LGPL-2.1-or-later
/* Caches, and which memory belongs to which NUMA node: Documentation/ABI/testing/
 * sysfs-devices-system-cpu and sysfs-devices-memory in the kernel's tree. */
#include "base/checked.h"
#include "base/cleanup.h"
#include "recorder/host_part.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#define CACHE "/sys/devices/system/cpu/cpu%" PRIu32 "/cache/index%" PRIu32
#define NODE  "/sys/devices/system/node"

/* perf looks at no more: index0 to index3, which are L1 data, L1 instructions, L2 and L3. */
#define MAX_CACHES_PER_CPU 4

/* Two million blocks of 128 MiB are 256 TiB, more than a node has. */
#define MAX_MEMORY_BLOCK (1U << 21)

struct cache {
	uint32_t index;
	struct pev_feat_cache c;
};

/* True when @list, of struct cache, has the cache that another CPU showed already. */
static bool is_known(const struct pev_buf *list, uint32_t index, const char *cpus)
{
	const struct cache *const v = (const void *)list->data;

	for (size_t i = 0; i < list->size / sizeof(*v); i++)
		if (v[i].index == index && strcmp(v[i].c.cpus, cpus) == 0)
			return true;
	return false;
}

static int read_number(const struct pev_host *h, uint32_t cpu, uint32_t index, const char *name,
		       uint32_t *ret)
{
	int32_t v;
	const int r = pev_host_int(h, &v, CACHE "/%s", cpu, index, name);

	if (r >= 0)
		*ret = (uint32_t)v;
	return r;
}

static int read_word(const struct pev_host *h, uint32_t cpu, uint32_t index, const char *name,
		     const char **ret)
{
	_cleanup_free_ char *line = NULL;
	const int r = pev_host_line(h, &line, CACHE "/%s", cpu, index, name);

	if (r < 0)
		return r;
	*ret = pev_features_str(h->f, line, strlen(line));
	return *ret ? 0 : -ENOMEM;
}

static int add_cache(const struct pev_host *h, uint32_t cpu, uint32_t index, struct pev_buf *list)
{
	_cleanup_free_ char *cpus = NULL;
	struct cache cache = { .index = index };
	int r;

	/* Read first: on a machine of many CPUs most of them show caches seen before. */
	r = pev_host_line(h, &cpus, CACHE "/shared_cpu_list", cpu, index);
	if (r < 0 || is_known(list, index, cpus))
		return r;
	cache.c.cpus = pev_features_str(h->f, cpus, strlen(cpus));
	if (!cache.c.cpus)
		return -ENOMEM;
	r = read_number(h, cpu, index, "level", &cache.c.level);
	if (r >= 0)
		r = read_number(h, cpu, index, "coherency_line_size", &cache.c.line_size);
	if (r >= 0)
		r = read_number(h, cpu, index, "number_of_sets", &cache.c.sets);
	if (r >= 0)
		r = read_number(h, cpu, index, "ways_of_associativity", &cache.c.ways);
	if (r >= 0)
		r = read_word(h, cpu, index, "type", &cache.c.type);
	if (r >= 0)
		r = read_word(h, cpu, index, "size", &cache.c.size);
	if (r < 0)
		return r;
	pev_buf_put(list, &cache, sizeof(cache));
	return pev_buf_status(list);
}

/* L1 of all CPUs first, then L2 and so on; within a level as they were found. */
static int take_caches(const struct pev_host *h, const struct pev_buf *list)
{
	const struct cache *const found = (const void *)list->data;
	const size_t nr = list->size / sizeof(*found);
	struct pev_feat_cache *const v = pev_features_alloc(h->f, nr, sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		size_t at = i;

		for (; at > 0 && v[at - 1].level > found[i].c.level; at--)
			v[at] = v[at - 1];
		v[at] = found[i].c;
	}
	h->f->caches.v = v;
	h->f->caches.nr = (uint32_t)nr;
	pev_features_set(h->f, PEV_FEAT_CACHE);
	return 0;
}

/* A CPU that is offline shows no caches; one that shows half of them spoils it all, as for perf. */
int pev_host_caches(const struct pev_host *h)
{
	_cleanup_buf_ struct pev_buf list = { 0 }; /* struct cache */
	uint32_t nr_cpus;
	int r;

	r = pev_host_list_end(h, "/sys/devices/system/cpu/possible", &nr_cpus);
	for (uint32_t cpu = 0; r >= 0 && cpu < nr_cpus; cpu++) {
		for (uint32_t i = 0; r >= 0 && i < MAX_CACHES_PER_CPU; i++) {
			if (!pev_host_exists(h, CACHE, cpu, i))
				break;
			r = add_cache(h, cpu, i, &list);
		}
	}
	return r < 0 ? r : take_caches(h, &list);
}

/* Appends the N of each entry "<prefix>N" of a directory to @numbers (uint32_t). */
static int list_numbers(const char *path, const char *prefix, struct pev_buf *numbers)
{
	_cleanup_closedir_ DIR *dir = opendir(path);
	const size_t skip = strlen(prefix);
	const struct dirent *entry;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		const char *const digits = entry->d_name + skip;
		uint32_t number;
		char *end;

		if (strncmp(entry->d_name, prefix, skip) != 0 || *digits < '0' || *digits > '9')
			continue;
		number = (uint32_t)PEV_MIN(strtoul(digits, &end, 10), MAX_MEMORY_BLOCK);
		if (*end == '\0' && number < MAX_MEMORY_BLOCK)
			pev_buf_put(numbers, &number, sizeof(number));
	}
	return pev_buf_status(numbers);
}

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The bitmap reaches to the last block that the node has. */
static int read_mem_node(const struct pev_host *h, uint32_t nr, struct pev_feat_mem_node *ret)
{
	_cleanup_buf_ struct pev_buf numbers = { 0 };
	char path[PATH_MAX];
	const uint32_t *blocks;
	uint32_t last = 0;
	uint64_t *bits;
	size_t nr_blocks;
	int r;

	if ((size_t)snprintf(path, sizeof(path), "%s" NODE "/node%" PRIu32, h->root, nr) >=
	    sizeof(path))
		return -ENAMETOOLONG;
	r = list_numbers(path, "memory", &numbers);
	if (r < 0)
		return r;
	blocks = (const void *)numbers.data;
	nr_blocks = numbers.size / sizeof(*blocks);
	for (size_t i = 0; i < nr_blocks; i++)
		last = PEV_MAX(last, blocks[i]);
	bits = pev_features_alloc(h->f, last / 64 + 1, sizeof(*bits));
	if (!bits)
		return -ENOMEM;
	for (size_t i = 0; i < nr_blocks; i++)
		bits[blocks[i] / 64] |= 1ULL << blocks[i] % 64;
	*ret = (struct pev_feat_mem_node){ .node = nr, .blocks = bits, .nr_bits = last + 1ULL };
	return 0;
}

int pev_host_mem_topology(const struct pev_host *h)
{
	_cleanup_buf_ struct pev_buf numbers = { 0 };
	_cleanup_free_ char *block_size = NULL;
	struct pev_feat_mem_topology t = { 0 };
	struct pev_feat_mem_node *nodes;
	char path[PATH_MAX];
	int r;

	r = pev_host_line(h, &block_size, "/sys/devices/system/memory/block_size_bytes");
	if (r < 0)
		return r;
	if ((size_t)snprintf(path, sizeof(path), "%s" NODE, h->root) >= sizeof(path))
		return -ENAMETOOLONG;
	r = list_numbers(path, "node", &numbers);
	if (r < 0)
		return r;
	if (numbers.size)
		qsort(numbers.data, numbers.size / sizeof(uint32_t), sizeof(uint32_t),
		      compare_numbers);
	t.block_size = strtoull(block_size, NULL, 16);
	t.nr = numbers.size / sizeof(uint32_t);
	t.nodes = nodes = pev_features_alloc(h->f, t.nr, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	for (uint64_t i = 0; i < t.nr && r >= 0; i++)
		r = read_mem_node(h, ((const uint32_t *)(const void *)numbers.data)[i], &nodes[i]);
	if (r < 0)
		return r;
	h->f->mem_topology = t;
	pev_features_set(h->f, PEV_FEAT_MEM_TOPOLOGY);
	return 0;
}
