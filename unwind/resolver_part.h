/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of the resolver, shared by the files that make it up; others use unwind/resolver.h. */
#pragma once

#include "unwind/module.h"
#include "unwind/resolver.h"
#include "unwind/tasks.h"

/* What is known of one trace at this moment. */
struct pev_world {
	struct pev_tasks tasks;
	struct pev_space kernel[PEV_NR_MACHINES];
	struct pev_module *kernel_module[PEV_NR_MACHINES]; /* NULL: not told */
	struct pev_table cgroups;                          /* paths, interned, by id and 0 */
	struct pev_table build_ids; /* struct pev_build_id, owned, by interned name and 0 */
	unsigned int machine;       /* EM_* of the host */
	bool same_host;             /* by its name and release, this machine recorded it */
	const char *release;        /* of the kernel, or NULL */
	const char *kallsyms;       /* that came with the trace, or NULL */
	const char *kernel_name;    /* of the kernel in the build-ids of the header, or NULL */
};

struct pev_resolver {
	struct pev_modules modules;
	struct pev_table worlds; /* struct pev_world, owned, by number of the trace and 0 */
	unsigned int max_stack;
	bool exact_callers;
	bool forget_ended; /* an ended task has no name */
	uint64_t *ips;     /* ->max_stack of them, for the unwinder */
	struct pev_resolver_counters counters;
};

/* The world of @trace, made when it is new; NULL without memory. */
struct pev_world *pev_resolver_world(struct pev_resolver *r, uint32_t trace);

/* What is at @address of the process, which may be NULL, at @time (of CLOCK_MONOTONIC;
 * PEV_JITDUMP_LATEST when it is not known). -ENOMEM. */
int pev_world_code(struct pev_world *w, struct pev_process *p, uint8_t mode, uint64_t address,
		   uint64_t time, struct pev_code *ret);

/* The process whose memory code in @mode is in; NULL when it is not known. */
struct pev_process *pev_world_process(const struct pev_world *w, uint8_t mode, uint32_t pid);

/* Takes in an MMAP or MMAP2 record. 0 or -ENOMEM. */
int pev_resolver_map(struct pev_resolver *r, struct pev_world *w, const struct pev_record *rec);
