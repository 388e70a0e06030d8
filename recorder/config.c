// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The side-band comes from an event of its own: it is enabled before /proc is read, long before the
 * first sample, so that no process slips between the two; and it does not care which cgroup,
 * privilege level or period the asked-for events have.
 */
#include "recorder/config.h"

#include "base/checked.h"
#include "base/io.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Registers a DWARF unwinder starts from: PERF_REG_X86_* but DS, ES, FS, GS (the kernel refuses
 * those); all of PERF_REG_ARM64_*. */
#if defined(__x86_64__)
#define USER_REGS 0xff0fffULL
#elif defined(__aarch64__)
#define USER_REGS 0x1ffffffffULL
#else
#define USER_REGS 0ULL
#endif

uint64_t pev_max_sample_rate(uint64_t otherwise)
{
	int64_t rate;

	if (pev_read_path_i64("/proc/sys/kernel/perf_event_max_sample_rate", &rate) < 0 ||
	    rate <= 0)
		return otherwise;
	return (uint64_t)rate;
}

static int add_tracking(struct pev_evlist *list)
{
	struct pev_event *const e = pev_evlist_add(list);

	if (!e)
		return -ENOMEM;
	e->attr.type = PEV_TYPE_SOFTWARE;
	e->attr.config = PEV_SW_DUMMY;
	e->attr.sample_period = 1;
	e->tracking = true;
	e->name = strdup("dummy:HG");
	if (!e->name) {
		pev_evlist_truncate(list, list->nr - 1);
		return -ENOMEM;
	}
	return 0;
}

/* The period: what the event's own spelling says, else -F or -c, else the event's default, else
 * 4000 Hz. */
static void set_period(struct pev_event *e, const struct pev_record_opts *opts)
{
	struct pev_attr *const a = &e->attr;

	if (!e->has_period) {
		const bool asked = opts->freq || opts->freq_max || opts->period;

		if (opts->period) {
			a->sample_period = opts->period;
		} else if (asked || !a->sample_period) {
			a->flags |= PEV_ATTR_FREQ;
			a->sample_period = opts->freq ? opts->freq : PEV_DEFAULT_FREQ;
		}
	}
	if (a->flags & PEV_ATTR_FREQ)
		a->sample_type |= PEV_SAMPLE_PERIOD;
}

static enum pev_callgraph callgraph_of(const struct pev_event *e,
				       const struct pev_record_opts *opts)
{
	return e->has_callgraph ? e->callgraph : opts->callgraph;
}

static void set_callgraph(struct pev_event *e, const struct pev_record_opts *opts)
{
	const enum pev_callgraph callgraph = callgraph_of(e, opts);
	struct pev_attr *const a = &e->attr;

	if (callgraph == PEV_CALLGRAPH_NONE)
		return;
	a->sample_type |= PEV_SAMPLE_CALLCHAIN;
	if (callgraph == PEV_CALLGRAPH_DWARF) {
		a->sample_type |= PEV_SAMPLE_REGS_USER | PEV_SAMPLE_STACK_USER;
		a->sample_regs_user = USER_REGS;
		a->sample_stack_user = e->stack_bytes ? e->stack_bytes : opts->stack_bytes;
		a->flags |= PEV_ATTR_EXCLUDE_CALLCHAIN_USER;
	} else if (callgraph == PEV_CALLGRAPH_LBR) {
		a->sample_type |= PEV_SAMPLE_BRANCH_STACK;
		a->branch_sample_type |= PEV_BRANCH_USER | PEV_BRANCH_CALL_STACK |
					 PEV_BRANCH_NO_CYCLES | PEV_BRANCH_NO_FLAGS;
		a->flags |= PEV_ATTR_EXCLUDE_CALLCHAIN_USER;
	}
}

static void set_sampling(struct pev_event *e, const struct pev_record_opts *opts)
{
	struct pev_attr *const a = &e->attr;

	a->sample_type |= PEV_SAMPLE_IP;
	set_period(e, opts);
	set_callgraph(e, opts);
	if (a->type == PEV_TYPE_TRACEPOINT ||
	    (a->type == PEV_TYPE_SOFTWARE && a->config == PEV_SW_BPF_OUTPUT))
		a->sample_type |= PEV_SAMPLE_RAW;
	if (opts->sample_data)
		a->sample_type |= PEV_SAMPLE_ADDR | PEV_SAMPLE_DATA_SRC;
	if (opts->sample_phys_addr)
		a->sample_type |= PEV_SAMPLE_PHYS_ADDR;
	if (opts->all_cgroups)
		a->sample_type |= PEV_SAMPLE_CGROUP;
	if (opts->sample_period)
		a->sample_type |= PEV_SAMPLE_PERIOD;
	if (opts->sample_raw)
		a->sample_type |= PEV_SAMPLE_RAW;
	if (opts->data_page_size)
		a->sample_type |= PEV_SAMPLE_DATA_PAGE_SIZE;
	if (opts->code_page_size)
		a->sample_type |= PEV_SAMPLE_CODE_PAGE_SIZE;
	if (opts->inherit_stat)
		a->flags |= PEV_ATTR_INHERIT_STAT;
	if (opts->user_callchains)
		a->flags |= PEV_ATTR_EXCLUDE_CALLCHAIN_KERNEL;
	if (opts->kernel_callchains)
		a->flags |= PEV_ATTR_EXCLUDE_CALLCHAIN_USER;
	if (opts->all_user || opts->all_kernel)
		a->flags &= ~(PEV_ATTR_EXCLUDE_USER | PEV_ATTR_EXCLUDE_KERNEL);
	if (opts->all_user)
		a->flags |= PEV_ATTR_EXCLUDE_KERNEL;
	if (opts->all_kernel)
		a->flags |= PEV_ATTR_EXCLUDE_USER;
}

/* Narrows the filter of a tracepoint to what others do. */
static int exclude_self(struct pev_event *e)
{
	char *filter;
	const int pid = (int)getpid();
	const int n = e->filter ? asprintf(&filter, "common_pid != %d && (%s)", pid, e->filter)
				: asprintf(&filter, "common_pid != %d", pid);

	if (n < 0)
		return -ENOMEM;
	free(e->filter);
	e->filter = filter;
	return 0;
}

static bool any_stack_dump(const struct pev_evlist *list)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->events[i].attr.sample_type & PEV_SAMPLE_STACK_USER)
			return true;
	return false;
}

static void set_tracking(struct pev_attr *a, const struct pev_evlist *list,
			 const struct pev_record_opts *opts,
			 const struct pev_kernel_features *kernel)
{
	const uint64_t wanted = PEV_ATTR_MMAP2 | PEV_ATTR_COMM_EXEC | PEV_ATTR_KSYMBOL |
				PEV_ATTR_BPF_EVENT | PEV_ATTR_CGROUP | PEV_ATTR_TEXT_POKE |
				PEV_ATTR_BUILD_ID;

	a->flags |= PEV_ATTR_MMAP | PEV_ATTR_COMM | PEV_ATTR_TASK | (wanted & kernel->attr_flags);
	if (opts->no_build_ids)
		a->flags &= ~PEV_ATTR_BUILD_ID;
	/* Linkers put .eh_frame into a mapping that is not executable, and a perf that unwinds with
	 * libunwind finds it by its mapping only. */
	if (opts->sample_data || any_stack_dump(list))
		a->flags |= PEV_ATTR_MMAP_DATA;
	if (opts->namespaces)
		a->flags |= PEV_ATTR_NAMESPACES;
	if (opts->switch_events)
		a->flags |= PEV_ATTR_CONTEXT_SWITCH;
}

/* What every event has: who, when and where in the same place, loss, one wake-up at half a ring. */
static void set_common(struct pev_event *e, const struct pev_evlist *list,
		       const struct pev_record_opts *opts, const struct pev_kernel_features *kernel)
{
	struct pev_attr *const a = &e->attr;
	const bool leads = &list->events[e->leader] == e;

	a->sample_type |= PEV_SAMPLE_IDENTIFIER | PEV_SAMPLE_TID | PEV_SAMPLE_TIME | PEV_SAMPLE_CPU;
	a->read_format |= PEV_FORMAT_ID | (PEV_FORMAT_LOST & kernel->read_format);
	a->flags |= PEV_ATTR_SAMPLE_ID_ALL | PEV_ATTR_WATERMARK;
	a->wakeup = (uint32_t)PEV_MIN(opts->ring_bytes / 2, (size_t)INT32_MAX);
	if (e->want_inherit == PEV_CHOICE_SESSION ? opts->inherit
						  : e->want_inherit == PEV_CHOICE_YES)
		a->flags |= PEV_ATTR_INHERIT;
	if (kernel->attr_flags & PEV_ATTR_USE_CLOCKID && opts->has_clockid) {
		a->flags |= PEV_ATTR_USE_CLOCKID;
		a->clockid = opts->clockid;
	}
	if (pev_records_command(opts)) {
		/* The side-band of the command starts with its exec; samples too, unless they are
		 * to come later. */
		if (leads)
			a->flags |= PEV_ATTR_DISABLED;
		if (leads && (e->tracking || !opts->delay_ms))
			a->flags |= PEV_ATTR_ENABLE_ON_EXEC;
	} else if (leads && !e->tracking) {
		a->flags |= PEV_ATTR_DISABLED;
	}
}

static bool in_group(const struct pev_evlist *list, size_t index)
{
	const struct pev_event *const e = &list->events[index];

	return e->leader != index ||
	       (index + 1 < list->nr && list->events[index + 1].leader == index);
}

/* :S: the leader's samples hold the counts of the whole group, whose members then take none of
 * their own unless their spelling says how often. A group that is read is not inherited (before
 * Linux 6.12 the kernel refuses that). */
static void set_sample_read(struct pev_evlist *list, size_t index)
{
	struct pev_event *const e = &list->events[index];
	const struct pev_event *const leader = &list->events[e->leader];
	struct pev_attr *const a = &e->attr;

	if (e->sample_read) {
		a->sample_type |= PEV_SAMPLE_READ;
		a->flags &= ~PEV_ATTR_INHERIT;
		if (in_group(list, index))
			a->read_format |= PEV_FORMAT_GROUP;
	}
	if (e != leader && leader->sample_read) {
		a->sample_type |= leader->attr.sample_type;
		a->flags &= ~PEV_ATTR_INHERIT;
		if (!e->has_period) {
			a->sample_period = 0;
			a->flags &= ~PEV_ATTR_FREQ;
		}
	}
}

static int check_asked(const struct pev_record_opts *opts, const struct pev_kernel_features *kernel,
		       struct pev_err *err)
{
	const struct {
		bool asked, known;
		const char *option, *since;
	} checks[] = {
		{ opts->switch_events, kernel->attr_flags & PEV_ATTR_CONTEXT_SWITCH,
		  "--switch-events", "4.3" },
		{ opts->namespaces, kernel->attr_flags & PEV_ATTR_NAMESPACES, "--namespaces",
		  "4.12" },
		{ opts->all_cgroups, kernel->sample_type & PEV_SAMPLE_CGROUP, "--all-cgroups",
		  "5.7" },
		{ opts->sample_phys_addr, kernel->sample_type & PEV_SAMPLE_PHYS_ADDR, "--phys-data",
		  "4.14" },
		{ opts->data_page_size, kernel->sample_type & PEV_SAMPLE_DATA_PAGE_SIZE,
		  "--data-page-size", "5.11" },
		{ opts->code_page_size, kernel->sample_type & PEV_SAMPLE_CODE_PAGE_SIZE,
		  "--code-page-size", "5.11" },
		{ opts->has_clockid, kernel->attr_flags & PEV_ATTR_USE_CLOCKID, "--clockid",
		  "4.1" },
		{ opts->callgraph == PEV_CALLGRAPH_DWARF, USER_REGS != 0, "--call-graph dwarf",
		  "3.7 on x86-64 and arm64" },
	};

	for (size_t i = 0; i < PEV_ARRAY_SIZE(checks); i++)
		if (checks[i].asked && !checks[i].known)
			return pev_err_set(
				err, -EOPNOTSUPP,
				"this kernel does not support %s: it needs Linux %s; leave it out",
				checks[i].option, checks[i].since);
	return 0;
}

int pev_config_apply(struct pev_evlist *list, const struct pev_record_opts *opts,
		     const struct pev_kernel_features *kernel, struct pev_err *err)
{
	int r;

	r = check_asked(opts, kernel, err);
	if (r < 0)
		return r;
	r = add_tracking(list);
	if (r < 0)
		return pev_err_set(err, r, "no memory for the event list");
	for (size_t i = 0; i < list->nr; i++) {
		struct pev_event *const e = &list->events[i];

		if (e->tracking)
			set_tracking(&e->attr, list, opts, kernel);
		else
			set_sampling(e, opts);
		set_common(e, list, opts, kernel);
		set_sample_read(list, i);
		if (opts->exclude_self && e->attr.type == PEV_TYPE_TRACEPOINT &&
		    exclude_self(e) < 0)
			return pev_err_set(err, -ENOMEM, "no memory for a filter");
	}
	return 0;
}

int pev_config_user_only(struct pev_evlist *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		struct pev_event *const e = &list->events[i];
		char *name;

		if (e->attr.flags & PEV_ATTR_EXCLUDE_KERNEL)
			continue;
		e->attr.flags |= PEV_ATTR_EXCLUDE_KERNEL | PEV_ATTR_EXCLUDE_HV;
		if (e->attr.type == PEV_TYPE_TRACEPOINT || e->attr.type == PEV_TYPE_BREAKPOINT)
			continue; /* their colons are no modifiers */
		if (asprintf(&name, "%.*s%s", (int)strcspn(e->name, ":"), e->name, ":u") < 0)
			return -ENOMEM;
		free(e->name);
		e->name = name;
	}
	return 0;
}

int pev_config_cpu_clock(struct pev_event *event)
{
	char *const name = strdup("cpu-clock");

	if (!name)
		return -ENOMEM;
	free(event->name);
	event->name = name;
	event->attr.type = PEV_TYPE_SOFTWARE;
	event->attr.config = PEV_SW_CPU_CLOCK;
	event->attr.flags &= ~PEV_ATTR_PRECISE_IP_MASK;
	event->precise_max = false;
	event->may_fall_back = false;
	return 0;
}
