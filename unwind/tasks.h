/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The processes and threads of a trace at one moment: their names, and what they have mapped. */
#pragma once

#include "unwind/space.h"
#include "unwind/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pev_strings;

/* A guest's processes have numbers of their own. */
enum pev_machine {
	PEV_HOST,
	PEV_GUEST,
	PEV_NR_MACHINES,
};

struct pev_process {
	enum pev_machine machine;
	uint32_t pid;
	unsigned int nr_tasks; /* that are known; the process goes with the last one */
	uint64_t mnt_ns;       /* inode of its mount namespace; 0: not told */
	struct pev_space space;
	/* Until an exec returns, what called it is still what the user's part of a chain tells. */
	struct pev_space before_exec;
};

/* What is mapped at @addr of the process, NULL when nothing is. */
const struct pev_mapping *pev_process_find(struct pev_process *p, uint64_t addr);

/* The process was seen to execute its own code: an exec has returned. */
static inline void pev_process_runs(struct pev_process *p)
{
	if (p->before_exec.nr_chunks)
		pev_space_done(&p->before_exec);
}

struct pev_task {
	uint32_t tid;
	const char *comm; /* NULL: not told */
	struct pev_process *process;
	bool ended;
	struct pev_task *older, *newer; /* of those that ended */
};

/*
 * Zero-initialise to start, set ->strings (borrowed), pev_tasks_done() to end. Tasks that ended
 * stay for a while, since samples of their last moments may come late; then the oldest are
 * forgotten.
 */
struct pev_tasks {
	struct pev_strings *strings;
	struct pev_table tasks;     /* by machine and tid */
	struct pev_table processes; /* by machine and pid */
	struct pev_task *oldest, *newest;
	size_t nr_ended;
	uint64_t nr_processes; /* that ever were */
	uint64_t nr_forgotten; /* of those */
};

void pev_tasks_done(struct pev_tasks *t);

/*
 * The task, which a record has just named: made when it is new, and made anew when its number
 * belonged to another process until now. NULL without memory.
 */
struct pev_task *pev_tasks_get(struct pev_tasks *t, enum pev_machine machine, uint32_t pid,
			       uint32_t tid);

/* The task or the process, when it is known. */
struct pev_task *pev_tasks_find(const struct pev_tasks *t, enum pev_machine machine, uint32_t tid);
struct pev_process *pev_tasks_find_process(const struct pev_tasks *t, enum pev_machine machine,
					   uint32_t pid);

/* What a FORK record tells. */
struct pev_fork {
	uint32_t pid, tid, ppid, ptid;
	bool told_later; /* of a snapshot (PEV_MISC_FORK_EXEC): its mappings are told as well */
};

/*
 * A new task, named like its parent. It has the memory of its process, or as a new process a copy
 * of its parent's. A task that had its number is gone. -ENOMEM.
 */
int pev_tasks_fork(struct pev_tasks *t, const struct pev_fork *fork);

/* Names the task; with @exec it is about to run a new program, of which nothing is
 * mapped yet. -ENOMEM. */
int pev_tasks_comm(struct pev_tasks *t, enum pev_machine machine, uint32_t pid, uint32_t tid,
		   const char *comm, bool exec);

/* The task ended; unknown ones do nothing. */
void pev_tasks_exit(struct pev_tasks *t, uint32_t tid);
