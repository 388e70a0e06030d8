// SPDX-License-Identifier: LGPL-2.1-or-later
/* The spellings are perf's (evsel__name() of tools/perf/util/evsel.c), so that scripts find what
 * they know. */
#include "report/event_name.h"

#include "base/buf.h"
#include "base/checked.h"

#include <inttypes.h>
#include <string.h>

static const char *word(const char *const *words, size_t nr, uint64_t i)
{
	return i < nr ? words[i] : NULL;
}

static void put_cache(struct pev_buf *b, uint64_t config)
{
	static const struct {
		const char *name;
		unsigned int ops; /* bit for each that there is */
	} caches[] = {
		{ "L1-dcache", 7 }, { "L1-icache", 5 }, { "LLC", 7 },  { "dTLB", 7 },
		{ "iTLB", 1 },      { "branch", 1 },    { "node", 7 },
	};
	static const char *const ops[] = { "load", "store", "prefetch" };
	static const char *const plurals[] = { "loads", "stores", "prefetches" };
	const uint64_t type = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (type >= PEV_ARRAY_SIZE(caches))
		pev_buf_printf(b, "unknown-ext-hardware-cache-type");
	else if (op >= PEV_ARRAY_SIZE(ops))
		pev_buf_printf(b, "unknown-ext-hardware-cache-op");
	else if (result > 1)
		pev_buf_printf(b, "unknown-ext-hardware-cache-result");
	else if (!(caches[type].ops >> op & 1))
		pev_buf_printf(b, "invalid-cache");
	else if (result)
		pev_buf_printf(b, "%s-%s-misses", caches[type].name, ops[op]);
	else
		pev_buf_printf(b, "%s-%s", caches[type].name, plurals[op]);
}

/* What was left out of counting, as the letters behind the colon of the event's specification. */
static void put_modifiers(struct pev_buf *b, uint64_t flags)
{
	const unsigned int precise = flags >> PEV_ATTR_PRECISE_IP_SHIFT &
				     (PEV_ATTR_PRECISE_IP_MASK >> PEV_ATTR_PRECISE_IP_SHIFT);
	const bool modes =
		flags & (PEV_ATTR_EXCLUDE_KERNEL | PEV_ATTR_EXCLUDE_USER | PEV_ATTR_EXCLUDE_HV);
	const bool no_host = flags & PEV_ATTR_EXCLUDE_HOST,
		   no_guest = flags & PEV_ATTR_EXCLUDE_GUEST;
	char letters[16] = "";
	size_t n = 0;

	if (modes) {
		if (!(flags & PEV_ATTR_EXCLUDE_KERNEL))
			letters[n++] = 'k';
		if (!(flags & PEV_ATTR_EXCLUDE_USER))
			letters[n++] = 'u';
		if (!(flags & PEV_ATTR_EXCLUDE_HV))
			letters[n++] = 'h';
	}
	for (unsigned int i = 0; i < precise; i++)
		letters[n++] = 'p';
	if (no_host || no_guest == (modes || precise)) {
		if (!no_host)
			letters[n++] = 'H';
		if (!no_guest)
			letters[n++] = 'G';
	}
	if (n)
		pev_buf_printf(b, ":%s", letters);
}

static void put_name(struct pev_buf *b, const struct pev_attr *attr)
{
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
	const char *name = NULL;

	switch (attr->type) {
	case PEV_TYPE_HARDWARE:
		name = word(hardware, PEV_ARRAY_SIZE(hardware), attr->config);
		pev_buf_printf(b, "%s", name ? name : "unknown-hardware");
		break;
	case PEV_TYPE_SOFTWARE:
		name = word(software, PEV_ARRAY_SIZE(software), attr->config);
		pev_buf_printf(b, "%s", name ? name : "unknown-software");
		break;
	case PEV_TYPE_HW_CACHE:
		put_cache(b, attr->config);
		break;
	case PEV_TYPE_RAW:
		pev_buf_printf(b, "raw 0x%" PRIx64, attr->config);
		break;
	case PEV_TYPE_BREAKPOINT:
		pev_buf_printf(b, "mem:0x%" PRIx64 ":%s%s%s", attr->config1,
			       attr->bp_type & 1 ? "r" : "", attr->bp_type & 2 ? "w" : "",
			       attr->bp_type & 4 ? "x" : "");
		break;
	case PEV_TYPE_TRACEPOINT:
		pev_buf_printf(b, "unknown tracepoint");
		return;
	default:
		pev_buf_printf(b, "unknown attr type: %u", attr->type);
		return;
	}
	put_modifiers(b, attr->flags);
}

char *pev_event_name(const struct pev_trace_event *event, const struct pev_features *features)
{
	struct pev_buf b = { 0 };

	(void)features;
	if (event->name)
		return strdup(event->name);
	put_name(&b, &event->attr);
	pev_buf_u8(&b, 0);
	if (pev_buf_status(&b) < 0) {
		pev_buf_done(&b);
		return NULL;
	}
	return (char *)b.data;
}
