// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unwind/tasks.h"

#include "unwind/strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Ended tasks that are remembered. The kernel tells the end of a task when it still has to release
 * its memory and its files, which are some ms of samples on each CPU. */
#define ENDED_MAX 4096

static void process_free(struct pev_process *p)
{
	pev_space_done(&p->space);
	pev_space_done(&p->before_exec);
	free(p);
}

void pev_tasks_done(struct pev_tasks *t)
{
	struct pev_process *p;
	struct pev_task *task;

	for (size_t i = 0; (task = pev_table_next(&t->tasks, &i));)
		free(task);
	for (size_t i = 0; (p = pev_table_next(&t->processes, &i));)
		process_free(p);
	pev_table_done(&t->tasks);
	pev_table_done(&t->processes);
	*t = (struct pev_tasks){ 0 };
}

const struct pev_mapping *pev_process_find(struct pev_process *p, uint64_t addr)
{
	const struct pev_mapping *const m = pev_space_find(&p->space, addr);

	return m || !p->before_exec.nr_chunks ? m : pev_space_find(&p->before_exec, addr);
}

struct pev_task *pev_tasks_find(const struct pev_tasks *t, enum pev_machine machine, uint32_t tid)
{
	return pev_table_get(&t->tasks, tid, machine);
}

struct pev_process *pev_tasks_find_process(const struct pev_tasks *t, enum pev_machine machine,
					   uint32_t pid)
{
	return pev_table_get(&t->processes, pid, machine);
}

static struct pev_process *get_process(struct pev_tasks *t, enum pev_machine machine, uint32_t pid)
{
	struct pev_process *p = pev_tasks_find_process(t, machine, pid);

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->machine = machine;
	p->pid = pid;
	if (pev_table_put(&t->processes, pid, machine, p) < 0) {
		free(p);
		return NULL;
	}
	t->nr_processes++;
	return p;
}

static void leave_process(struct pev_tasks *t, struct pev_process *p)
{
	if (--p->nr_tasks)
		return;
	pev_table_remove(&t->processes, p->pid, p->machine);
	process_free(p);
}

static void mark_ended(struct pev_tasks *t, struct pev_task *task)
{
	task->ended = true;
	task->older = t->newest;
	if (t->newest)
		t->newest->newer = task;
	else
		t->oldest = task;
	t->newest = task;
	t->nr_ended++;
}

static void unmark_ended(struct pev_tasks *t, struct pev_task *task)
{
	if (!task->ended)
		return;
	if (task->older)
		task->older->newer = task->newer;
	else
		t->oldest = task->newer;
	if (task->newer)
		task->newer->older = task->older;
	else
		t->newest = task->older;
	task->older = task->newer = NULL;
	task->ended = false;
	t->nr_ended--;
}

static void forget(struct pev_tasks *t, struct pev_task *task)
{
	unmark_ended(t, task);
	pev_table_remove(&t->tasks, task->tid, task->process->machine);
	leave_process(t, task->process);
	free(task);
}

static struct pev_task *new_task(struct pev_tasks *t, enum pev_machine machine, uint32_t pid,
				 uint32_t tid)
{
	struct pev_process *const p = get_process(t, machine, pid);
	struct pev_task *task;

	if (!p)
		return NULL;
	p->nr_tasks++;
	task = calloc(1, sizeof(*task));
	if (!task || pev_table_put(&t->tasks, tid, machine, task) < 0) {
		free(task);
		leave_process(t, p);
		return NULL;
	}
	task->tid = tid;
	task->process = p;
	return task;
}

struct pev_task *pev_tasks_get(struct pev_tasks *t, enum pev_machine machine, uint32_t pid,
			       uint32_t tid)
{
	struct pev_task *const task = pev_tasks_find(t, machine, tid);

	if (task && task->process->pid == pid) {
		unmark_ended(t, task); /* what it does now tells that it is a new one */
		return task;
	}
	if (task)
		forget(t, task);
	return new_task(t, machine, pid, tid);
}

int pev_tasks_fork(struct pev_tasks *t, const struct pev_fork *fork)
{
	struct pev_task *old, *parent, *child;

	parent = pev_tasks_get(t, PEV_HOST, fork->ppid, fork->ptid);
	if (!parent)
		return -ENOMEM;
	old = pev_tasks_find(t, PEV_HOST, fork->tid);
	if (old == parent)
		return 0;
	if (old)
		forget(t, old);
	child = new_task(t, PEV_HOST, fork->pid, fork->tid);
	if (!child)
		return -ENOMEM;
	child->comm = parent->comm;
	if (fork->pid == fork->ppid || fork->told_later)
		return 0;
	child->process->mnt_ns = parent->process->mnt_ns;
	return pev_space_copy(&child->process->space, &parent->process->space);
}

int pev_tasks_comm(struct pev_tasks *t, enum pev_machine machine, uint32_t pid, uint32_t tid,
		   const char *comm, bool exec)
{
	struct pev_task *const task = pev_tasks_get(t, machine, pid, tid);
	const char *const copy = pev_strings_put(t->strings, comm, strlen(comm));

	if (!task || !copy)
		return -ENOMEM;
	task->comm = copy;
	if (exec) {
		pev_space_done(&task->process->before_exec);
		task->process->before_exec = task->process->space;
		task->process->space = (struct pev_space){ 0 };
	}
	return 0;
}

void pev_tasks_exit(struct pev_tasks *t, uint32_t tid)
{
	struct pev_task *const task = pev_tasks_find(t, PEV_HOST, tid);

	if (!task || task->ended)
		return;
	mark_ended(t, task);
	if (t->nr_ended <= ENDED_MAX)
		return;
	t->nr_forgotten += t->oldest->process->nr_tasks == 1;
	forget(t, t->oldest);
}
