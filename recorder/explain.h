/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why perf_event_open(2) or the mmap(2) of a ring failed, in one sentence that says what to do. */
#pragma once

#include "recorder/event.h"

#include <sys/types.h>

/* For a number that could not be found out. */
#define PEV_FACT_UNKNOWN INT64_MIN

/* What decides whether the kernel refuses. */
struct pev_facts {
	uint64_t capabilities;   /* effective, 1 << CAP_* of linux/capability.h */
	bool user_namespace;     /* in one of its own: capabilities do not count for perf */
	bool core_pmu;           /* the CPU has counters that the kernel knows */
	bool foreign;            /* the process asked for runs under another user */
	bool offline;            /* the CPU asked for is there but off */
	bool no_cpu;             /* the CPU asked for does not exist */
	int64_t paranoid;        /* kernel.perf_event_paranoid */
	int64_t max_sample_rate; /* kernel.perf_event_max_sample_rate, Hz */
	int64_t max_stack;       /* kernel.perf_event_max_stack, frames */
	int64_t mlock_kb;        /* kernel.perf_event_mlock_kb, per CPU and user */
	uint64_t nofile;         /* RLIMIT_NOFILE, soft */
	uint64_t memlock;        /* RLIMIT_MEMLOCK, soft, bytes; UINT64_MAX: no limit */
	unsigned kernel;         /* 6012 for Linux 6.12; 0 when unknown */
	unsigned cpus;           /* online */
	size_t page_bytes;
};

/* Asks /proc, /sys and the kernel. @cpu and @pid are those of perf_event_open(2). */
void pev_facts_read(int cpu, pid_t pid, struct pev_facts *ret);

/*
 * Sets @err to the sentence for a perf_event_open(2) of @event on @cpu (-1: any) for @pid (-1: all,
 * 0: this process) that failed with @errno_code (of either sign). ->attr is to be as it was when
 * the kernel refused it. Returns the code, negative.
 */
int pev_open_explain(const struct pev_event *event, int cpu, pid_t pid, int errno_code,
		     struct pev_err *err);

/* The same from given facts. */
int pev_open_explain_from(const struct pev_facts *facts, const struct pev_event *event, int cpu,
			  pid_t pid, int errno_code, struct pev_err *err);

/* The same for the mmap(2) of a ring of @size_bytes, the control page included. */
int pev_mmap_explain(size_t size_bytes, int errno_code, struct pev_err *err);
int pev_mmap_explain_from(const struct pev_facts *facts, size_t size_bytes, int errno_code,
			  struct pev_err *err);
