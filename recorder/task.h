/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What /proc tells of one process or thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PEV_COMM_MAX 16 /* TASK_COMM_LEN, NUL included */

struct pev_task {
	char comm[PEV_COMM_MAX]; /* raw bytes; cut where /proc says more (workqueue workers) */
	char state;              /* 'R', 'S', 'Z', ...: proc(5) */
	pid_t ppid;
	uint32_t nr_threads;
	bool kernel_thread;
};

/*
 * Reads the text of /proc/PID/stat (proc(5)): the comm may hold any byte, ')' and newline included,
 * and ends at the last ')'. 0; -ENODATA when the text is cut; -EBADMSG when it is something else.
 */
int pev_task_parse_stat(const char *text, size_t size, struct pev_task *ret);

/* Reads /proc/@pid/stat below @procfd. Also -ENOENT or -ESRCH when the task is gone. */
int pev_task_read(int procfd, pid_t pid, struct pev_task *ret);

/* The name of a thread of the process @pid, which is cheaper to get than its stat. */
int pev_task_read_comm(int procfd, pid_t pid, pid_t tid, char ret[PEV_COMM_MAX]);

/* The process that the thread @tid belongs to, from its status file. */
int pev_task_read_tgid(int procfd, pid_t tid, pid_t *ret);
