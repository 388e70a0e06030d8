// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recorder/event_names.h"

#include "base/checked.h"
#include "format/abi.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The names are those of perf-list(1); the numbers are enum perf_hw_id and enum perf_sw_ids. */
static const struct {
	const char *name;
	uint32_t type;
	uint32_t config;
} plain[] = {
	{ "cycles", PEV_TYPE_HARDWARE, 0 },
	{ "cpu-cycles", PEV_TYPE_HARDWARE, 0 },
	{ "instructions", PEV_TYPE_HARDWARE, 1 },
	{ "cache-references", PEV_TYPE_HARDWARE, 2 },
	{ "cache-misses", PEV_TYPE_HARDWARE, 3 },
	{ "branches", PEV_TYPE_HARDWARE, 4 },
	{ "branch-instructions", PEV_TYPE_HARDWARE, 4 },
	{ "branch-misses", PEV_TYPE_HARDWARE, 5 },
	{ "bus-cycles", PEV_TYPE_HARDWARE, 6 },
	{ "stalled-cycles-frontend", PEV_TYPE_HARDWARE, 7 },
	{ "idle-cycles-frontend", PEV_TYPE_HARDWARE, 7 },
	{ "stalled-cycles-backend", PEV_TYPE_HARDWARE, 8 },
	{ "idle-cycles-backend", PEV_TYPE_HARDWARE, 8 },
	{ "ref-cycles", PEV_TYPE_HARDWARE, 9 },
	{ "cpu-clock", PEV_TYPE_SOFTWARE, PEV_SW_CPU_CLOCK },
	{ "task-clock", PEV_TYPE_SOFTWARE, PEV_SW_TASK_CLOCK },
	{ "page-faults", PEV_TYPE_SOFTWARE, PEV_SW_PAGE_FAULTS },
	{ "faults", PEV_TYPE_SOFTWARE, PEV_SW_PAGE_FAULTS },
	{ "context-switches", PEV_TYPE_SOFTWARE, PEV_SW_CONTEXT_SWITCHES },
	{ "cs", PEV_TYPE_SOFTWARE, PEV_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PEV_TYPE_SOFTWARE, PEV_SW_CPU_MIGRATIONS },
	{ "migrations", PEV_TYPE_SOFTWARE, PEV_SW_CPU_MIGRATIONS },
	{ "minor-faults", PEV_TYPE_SOFTWARE, PEV_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PEV_TYPE_SOFTWARE, PEV_SW_PAGE_FAULTS_MAJ },
	{ "alignment-faults", PEV_TYPE_SOFTWARE, PEV_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", PEV_TYPE_SOFTWARE, PEV_SW_EMULATION_FAULTS },
	{ "dummy", PEV_TYPE_SOFTWARE, PEV_SW_DUMMY },
	{ "bpf-output", PEV_TYPE_SOFTWARE, PEV_SW_BPF_OUTPUT },
	{ "cgroup-switches", PEV_TYPE_SOFTWARE, PEV_SW_CGROUP_SWITCHES },
};

/*
 * A cache event is CACHE[-PART[-PART]]: one part says what is done (a load unless said), the other
 * how it ends (any access unless said). The config is cache | operation << 8 | result << 16
 * (perf_event_open(2)).
 */
enum {
	OP_READ,
	OP_WRITE,
	OP_PREFETCH,
	OP_MAX,
};

enum {
	RESULT_ACCESS,
	RESULT_MISS,
	RESULT_MAX,
};

#define ALIASES 4
#define CAN(op) (1u << OP_##op)

static const struct {
	const char *alias[ALIASES]; /* the usual one first */
	unsigned can;               /* operations that the cache knows */
} caches[] = {
	{ { "L1-dcache", "l1-d", "l1d", "L1-data" }, CAN(READ) | CAN(WRITE) | CAN(PREFETCH) },
	{ { "L1-icache", "l1-i", "l1i", "L1-instruction" }, CAN(READ) | CAN(PREFETCH) },
	{ { "LLC", "L2" }, CAN(READ) | CAN(WRITE) | CAN(PREFETCH) },
	{ { "dTLB", "d-tlb", "Data-TLB" }, CAN(READ) | CAN(WRITE) | CAN(PREFETCH) },
	{ { "iTLB", "i-tlb", "Instruction-TLB" }, CAN(READ) },
	{ { "branch", "bpu", "btb", "bpc" }, CAN(READ) },
	{ { "node" }, CAN(READ) | CAN(WRITE) | CAN(PREFETCH) },
};

static const struct {
	const char *alias; /* the usual one of each first */
	bool is_result;
	uint8_t code;
} parts[] = {
	{ "load", false, OP_READ },
	{ "loads", false, OP_READ },
	{ "read", false, OP_READ },
	{ "store", false, OP_WRITE },
	{ "stores", false, OP_WRITE },
	{ "write", false, OP_WRITE },
	{ "prefetch", false, OP_PREFETCH },
	{ "prefetches", false, OP_PREFETCH },
	{ "speculative-read", false, OP_PREFETCH },
	{ "speculative-load", false, OP_PREFETCH },
	{ "refs", true, RESULT_ACCESS },
	{ "Reference", true, RESULT_ACCESS },
	{ "ops", true, RESULT_ACCESS },
	{ "access", true, RESULT_ACCESS },
	{ "misses", true, RESULT_MISS },
	{ "miss", true, RESULT_MISS },
};

/* When @s begins with @alias, and that ends there or at a dash: what follows, else NULL. */
static const char *behind(const char *s, const char *alias)
{
	const size_t n = strlen(alias);

	if (strncasecmp(s, alias, n) || (s[n] && s[n] != '-'))
		return NULL;
	return s + n;
}

/* Which cache @name begins with, and *ret_rest behind it; -ENOENT when none. */
static int find_cache(const char *name, const char **ret_rest)
{
	for (size_t i = 0; i < PEV_ARRAY_SIZE(caches); i++)
		for (size_t j = 0; j < ALIASES && caches[i].alias[j]; j++) {
			const char *const rest = behind(name, caches[i].alias[j]);

			if (rest) {
				*ret_rest = rest;
				return (int)i;
			}
		}
	return -ENOENT;
}

static int find_part(const char *s, const char **ret_rest)
{
	for (size_t i = 0; i < PEV_ARRAY_SIZE(parts); i++) {
		const char *const rest = behind(s, parts[i].alias);

		if (rest) {
			*ret_rest = rest;
			return (int)i;
		}
	}
	return -ENOENT;
}

static int find_cache_event(const char *name, struct pev_named_event *ret)
{
	bool given[2] = { false, false };
	uint64_t code[2] = { OP_READ, RESULT_ACCESS };
	const char *rest;
	int cache, part;

	cache = find_cache(name, &rest);
	if (cache < 0)
		return cache;
	while (*rest == '-') {
		part = find_part(rest + 1, &rest);
		if (part < 0 || given[parts[part].is_result])
			return -ENOENT;
		given[parts[part].is_result] = true;
		code[parts[part].is_result] = parts[part].code;
	}
	if (!(caches[cache].can & (1u << code[0])))
		return -EINVAL;
	*ret = (struct pev_named_event){
		.type = PEV_TYPE_HW_CACHE,
		.config = (uint64_t)cache | code[0] << 8 | code[1] << 16,
	};
	return 0;
}

int pev_named_event_find(const char *name, struct pev_named_event *ret)
{
	for (size_t i = 0; i < PEV_ARRAY_SIZE(plain); i++)
		if (!strcasecmp(name, plain[i].name)) {
			*ret = (struct pev_named_event){
				.type = plain[i].type,
				.config = plain[i].config,
			};
			return 0;
		}
	return find_cache_event(name, ret);
}

void pev_named_event_offer(struct pev_near *near)
{
	static const char *const usual[OP_MAX][RESULT_MAX] = {
		[OP_READ] = { "loads", "load-misses" },
		[OP_WRITE] = { "stores", "store-misses" },
		[OP_PREFETCH] = { "prefetches", "prefetch-misses" },
	};

	for (size_t i = 0; i < PEV_ARRAY_SIZE(plain); i++)
		pev_near_offer(near, plain[i].name);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(caches); i++)
		for (int op = 0; op < OP_MAX; op++)
			for (int result = 0; result < RESULT_MAX; result++) {
				char name[PEV_NEAR_LEN];

				if (!(caches[i].can & (1u << op)))
					continue;
				(void)snprintf(name, sizeof(name), "%s-%s", caches[i].alias[0],
					       usual[op][result]);
				pev_near_offer(near, name);
			}
}
