// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format/event_name.h"

#include "base/buf.h"
#include "base/checked.h"
#include "base/cleanup.h"
#include "base/cursor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* attr.config of PEV_TYPE_HARDWARE and _HW_CACHE: above it the type of the PMU, on machines with
 * several kinds of CPUs (perf_event_open(2), PERF_PMU_TYPE_SHIFT). */
#define PMU_TYPE_SHIFT 32

/* enum perf_hw_id */
static const char *const hardware[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software[] = {
	[PEV_SW_CPU_CLOCK] = "cpu-clock",
	[PEV_SW_TASK_CLOCK] = "task-clock",
	[PEV_SW_PAGE_FAULTS] = "page-faults",
	[PEV_SW_CONTEXT_SWITCHES] = "context-switches",
	[PEV_SW_CPU_MIGRATIONS] = "cpu-migrations",
	[PEV_SW_PAGE_FAULTS_MIN] = "minor-faults",
	[PEV_SW_PAGE_FAULTS_MAJ] = "major-faults",
	[PEV_SW_ALIGNMENT_FAULTS] = "alignment-faults",
	[PEV_SW_EMULATION_FAULTS] = "emulation-faults",
	[PEV_SW_DUMMY] = "dummy",
	[PEV_SW_BPF_OUTPUT] = "bpf-output",
	[PEV_SW_CGROUP_SWITCHES] = "cgroup-switches",
};

static const char *const caches[] = {
	"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node",
};

/* By operation and result; enum perf_hw_cache_op_id, perf_hw_cache_op_result_id. */
static const char *const accesses[][2] = {
	{ "loads", "load-misses" },
	{ "stores", "store-misses" },
	{ "prefetches", "prefetch-misses" },
};

static const char *pmu_name(const struct pev_features *f, uint64_t type)
{
	for (uint32_t i = 0; i < f->pmu_mappings.nr; i++)
		if (f->pmu_mappings.v[i].type == type)
			return f->pmu_mappings.v[i].name;
	return NULL;
}

static void put_cache(struct pev_buf *buf, uint64_t config)
{
	const uint64_t cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (cache < PEV_ARRAY_SIZE(caches) && op < PEV_ARRAY_SIZE(accesses) && result < 2)
		pev_buf_printf(buf, "%s-%s", caches[cache], accesses[op][result]);
	else
		pev_buf_printf(buf, "unknown cache 0x%" PRIx64, config);
}

static void put_breakpoint(struct pev_buf *buf, const struct pev_attr *attr)
{
	/* HW_BREAKPOINT_R, _W, _X of linux/hw_breakpoint.h */
	pev_buf_printf(buf, "mem:0x%" PRIx64 ":%s%s%s", attr->config1, attr->bp_type & 1 ? "r" : "",
		       attr->bp_type & 2 ? "w" : "", attr->bp_type & 4 ? "x" : "");
}

/* Which of user, kernel and so on are counted, where not all are. */
static void put_modifiers(struct pev_buf *buf, const struct pev_attr *attr)
{
	const uint64_t levels =
		PEV_ATTR_EXCLUDE_USER | PEV_ATTR_EXCLUDE_KERNEL | PEV_ATTR_EXCLUDE_HV;
	const uint64_t hosts = PEV_ATTR_EXCLUDE_HOST | PEV_ATTR_EXCLUDE_GUEST;
	const uint64_t precise =
		(attr->flags & PEV_ATTR_PRECISE_IP_MASK) >> PEV_ATTR_PRECISE_IP_SHIFT;
	const bool some_levels = attr->flags & levels;
	char m[16] = "";
	size_t n = 0;

	if (some_levels) {
		if (!(attr->flags & PEV_ATTR_EXCLUDE_KERNEL))
			m[n++] = 'k';
		if (!(attr->flags & PEV_ATTR_EXCLUDE_USER))
			m[n++] = 'u';
		if (!(attr->flags & PEV_ATTR_EXCLUDE_HV))
			m[n++] = 'h';
	}
	for (uint64_t i = 0; i < precise; i++)
		m[n++] = 'p';
	/* To leave guests out is the default of some versions of perf, and to have them in that of
	 * others: it is told where something else is told as well. */
	if (attr->flags & hosts &&
	    (some_levels || precise || attr->flags & PEV_ATTR_EXCLUDE_HOST)) {
		if (!(attr->flags & PEV_ATTR_EXCLUDE_HOST))
			m[n++] = 'H';
		if (!(attr->flags & PEV_ATTR_EXCLUDE_GUEST))
			m[n++] = 'G';
	}
	if (n)
		pev_buf_printf(buf, ":%s", m);
}

static void put_general(struct pev_buf *buf, const struct pev_attr *attr,
			const struct pev_features *f)
{
	const uint64_t config = attr->config & UINT32_MAX;
	const char *const pmu =
		attr->config >> PMU_TYPE_SHIFT ? pmu_name(f, attr->config >> PMU_TYPE_SHIFT) : NULL;

	if (pmu)
		pev_buf_printf(buf, "%s/", pmu);
	if (attr->type == PEV_TYPE_HW_CACHE)
		put_cache(buf, config);
	else if (config < PEV_ARRAY_SIZE(hardware))
		pev_buf_printf(buf, "%s", hardware[config]);
	else
		pev_buf_printf(buf, "unknown-hardware");
	if (pmu)
		pev_buf_printf(buf, "/");
}

static void put_tracepoint(struct pev_buf *buf, const struct pev_attr *attr,
			   const struct pev_features *f)
{
	_cleanup_free_ char *name = pev_tracing_data_name(&f->tracing_data, attr->config);

	if (name)
		pev_buf_printf(buf, "%s", name);
	else
		pev_buf_printf(buf, "unknown tracepoint id=0x%" PRIx64, attr->config);
}

char *pev_event_guess_name(const struct pev_attr *attr, const struct pev_features *f)
{
	struct pev_buf buf = { 0 };
	const char *pmu;

	switch (attr->type) {
	case PEV_TYPE_HARDWARE:
	case PEV_TYPE_HW_CACHE:
		put_general(&buf, attr, f);
		break;
	case PEV_TYPE_SOFTWARE:
		if (attr->config < PEV_ARRAY_SIZE(software))
			pev_buf_printf(&buf, "%s", software[attr->config]);
		else
			pev_buf_printf(&buf, "unknown-software");
		break;
	case PEV_TYPE_TRACEPOINT:
		put_tracepoint(&buf, attr, f);
		break;
	case PEV_TYPE_RAW:
		pev_buf_printf(&buf, "raw 0x%" PRIx64, attr->config);
		break;
	case PEV_TYPE_BREAKPOINT:
		put_breakpoint(&buf, attr);
		break;
	default:
		pmu = pmu_name(f, attr->type);
		if (pmu)
			pev_buf_printf(&buf, "%s/config=0x%" PRIx64 "/", pmu, attr->config);
		else
			pev_buf_printf(&buf, "unknown event PMU=%" PRIu32 " config=0x%" PRIx64,
				       attr->type, attr->config);
		break;
	}
	if (attr->type <= PEV_TYPE_BREAKPOINT && attr->type != PEV_TYPE_TRACEPOINT)
		put_modifiers(&buf, attr);
	pev_buf_u8(&buf, 0);
	if (pev_buf_status(&buf) < 0)
		pev_buf_done(&buf);
	return (char *)buf.data;
}

/* Passes a string; NULL when it does not end. */
static const char *next_str(struct pev_cursor *c)
{
	const size_t left = pev_cursor_left(c);

	return pev_cursor_str(c, PEV_MIN(strnlen((const char *)c->p, left) + 1, left));
}

/* Passes u64 size, then that many bytes. */
static struct pev_cursor next_file(struct pev_cursor *c)
{
	const uint64_t size = pev_cursor_u64(c);
	const uint8_t *const p = pev_cursor_bytes(c, size);

	return pev_cursor(p, p ? size : 0);
}

/* What follows @key at the start of a line, to the end of that line; NULL when there is none. */
static const char *line_of(const struct pev_cursor *file, const char *key, size_t *ret_size)
{
	const size_t key_size = strlen(key);
	const char *p = (const char *)file->p, *const end = (const char *)file->end;

	while (p && p < end) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));

		newline = newline ? newline : end;
		if ((size_t)(newline - p) > key_size && !memcmp(p, key, key_size)) {
			*ret_size = (size_t)(newline - p) - key_size;
			return p + key_size;
		}
		p = newline + 1;
	}
	return NULL;
}

/* The name in a format file of tracefs ("name: sched_switch", "ID: 314"), when it has that id. */
static char *name_in_format(const struct pev_cursor *file, const char *system, uint64_t id)
{
	size_t id_size = 0, name_size = 0;
	const char *const id_text = line_of(file, "ID: ", &id_size);
	const char *const name = line_of(file, "name: ", &name_size);
	char number[24] = "";
	char *full;

	if (!id_text || !name || id_size >= sizeof(number))
		return NULL;
	memcpy(number, id_text, id_size);
	if (strtoull(number, NULL, 10) != id)
		return NULL;
	return asprintf(&full, "%s:%.*s", system, (int)PEV_MIN(name_size, 256U), name) < 0 ? NULL
											   : full;
}

/*
 * perf's util/trace-event-info.c writes, in its own byte order, which it tells:
 *
 *	magic of 10 bytes, version NUL, u8 is big-endian, u8 size of long, u32 size of a page
 *	"header_page" NUL, u64 size and that much; "header_event" NUL, the same
 *	u32 number of ftrace's own events, each u64 size and a format file
 *	u32 number of systems, each a name NUL, u32 number of events, each like that
 */
char *pev_tracing_data_name(const struct pev_feat_blob *tracing_data, uint64_t id)
{
	static const uint8_t magic[] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	const bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct pev_cursor c = pev_cursor(tracing_data->p, tracing_data->size), file;
	const uint8_t *const start = pev_cursor_bytes(&c, sizeof(magic));
	char *name = NULL;
	uint32_t nr;

	if (!start || memcmp(start, magic, sizeof(magic)) != 0)
		return NULL;
	(void)next_str(&c);
	c.swap = (pev_cursor_u8(&c) != 0) != host_is_big;
	(void)pev_cursor_bytes(&c, 1 + 4);
	for (int i = 0; i < 2; i++) {
		(void)next_str(&c);
		(void)next_file(&c);
	}
	nr = pev_cursor_u32(&c);
	for (uint32_t i = 0; i < nr && !c.failed && !name; i++) {
		file = next_file(&c);
		name = name_in_format(&file, "ftrace", id);
	}
	nr = pev_cursor_u32(&c);
	for (uint32_t i = 0; i < nr && !c.failed && !name; i++) {
		const char *const system = next_str(&c);
		const uint32_t events = pev_cursor_u32(&c);

		for (uint32_t k = 0; k < events && !c.failed && !name; k++) {
			file = next_file(&c);
			name = name_in_format(&file, system, id);
		}
	}
	return name;
}
