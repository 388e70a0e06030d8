/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command that is recorded: started, but held until the counters are open. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct pev_workload {
	pid_t pid;    /* 0: none */
	int go_fd;    /* write end: a byte lets it exec */
	int errno_fd; /* read end: an int when exec failed, end of file when it went well */
	int pid_fd;   /* pidfd_open(2) of it, -1: none; closed by pev_workload_done() */
	bool reaped;
	int status; /* of waitpid(2), once reaped */
};

#define PEV_WORKLOAD_INIT ((struct pev_workload){ .go_fd = -1, .errno_fd = -1, .pid_fd = -1 })

/* -ENOENT or -EACCES with a sentence when @name, looked for as execvp(3) does, cannot be run: to
 * say so before anything else is done. What passes may still be refused by the exec. */
int pev_workload_check(const char *name, struct pev_err *err);

/* The exit status by which a shell says that a command could not be run, for the error @r: 127 when
 * there is none, 126 when it is none. */
int pev_workload_refusal(int r);

/* Forks @argv, which waits before its exec. */
int pev_workload_prepare(char *const *argv, struct pev_workload *ret, struct pev_err *err);

/* Lets it run. -ENOENT, -EACCES and so on when the exec fails, with a sentence. */
int pev_workload_start(struct pev_workload *w, const char *name, struct pev_err *err);

/* True when it has ended; never blocks. */
bool pev_workload_ended(struct pev_workload *w);

/* Ends it with @sig (if it still runs) and reaps it. */
void pev_workload_stop(struct pev_workload *w, int sig);

/* What a shell would say: the exit status, or 128 + the signal. */
int pev_workload_exit_code(const struct pev_workload *w);

/* Kills what never got to run, asks what still runs to end, closes the fds. */
void pev_workload_done(struct pev_workload *w);
