// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recorder/workload.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* In the child: wait for the byte, exec, tell why not. Only async-signal-safe calls. */
static _Noreturn void child(char *const *argv, int go_fd, int errno_fd)
{
	sigset_t none;
	char byte;
	int e;

	/* Should the recorder die before the start, nobody would ever wake or reap us. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(go_fd, &byte, 1) != 1)
		_exit(127);
	(void)prctl(PR_SET_PDEATHSIG, 0);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)signal(SIGXFSZ, SIG_DFL);
	(void)execvp(argv[0], argv);
	e = errno;
	(void)!write(errno_fd, &e, sizeof(e));
	_exit(pev_workload_refusal(-e));
}

int pev_workload_refusal(int r)
{
	return r == -ENOENT ? 127 : 126;
}

/* 0 when @path is a program that this process may run. */
static int check_program(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno == EACCES ? -EACCES : -ENOENT;
	if (!S_ISREG(st.st_mode) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
		return -EACCES;
	return 0;
}

/* Looks for @name on the PATH as execvp(3) does. */
static int check_on_path(const char *name)
{
	const char *const path = getenv("PATH");
	_cleanup_free_ char *copy = strdup(path ? path : "/bin:/usr/bin");
	char *rest = copy;
	int r = -ENOENT;

	for (char *folder; copy && (folder = strsep(&rest, ":"));) {
		_cleanup_free_ char *file = NULL;
		int found;

		if (asprintf(&file, "%s%s%s", folder, *folder ? "/" : "", name) < 0)
			return -ENOMEM;
		found = check_program(file);
		if (found == 0)
			return 0;
		if (found == -EACCES)
			r = found;
	}
	return copy ? r : -ENOMEM;
}

/* @found: the file is there, so that a missing one is what it names in its first line. */
static int cannot_run(const char *name, bool found, int r, struct pev_err *err)
{
	const char *const why = r == -ENOENT && found ? ": its interpreter is missing"
				: r == -ENOENT        ? "; is it installed and on the PATH?"
				: r == -EACCES        ? ": it is no program that this user may run"
						      : "";

	return pev_err_set(err, r, "cannot run %s: %s%s", name, pev_errno_str(r), why);
}

static int find_program(const char *name)
{
	if (!*name)
		return -ENOENT;
	return strchr(name, '/') ? check_program(name) : check_on_path(name);
}

int pev_workload_check(const char *name, struct pev_err *err)
{
	const int r = find_program(name);

	return r < 0 ? cannot_run(name, false, r, err) : 0;
}

int pev_workload_prepare(char *const *argv, struct pev_workload *ret, struct pev_err *err)
{
	int go[2], status[2];
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) < 0)
		return pev_err_set(err, -errno, "cannot make a pipe: %s", pev_errno_str(errno));
	if (pipe2(status, O_CLOEXEC) < 0) {
		const int r = -errno;

		(void)close(go[0]);
		(void)close(go[1]);
		return pev_err_set(err, r, "cannot make a pipe: %s", pev_errno_str(r));
	}
	pid = fork();
	if (pid == 0) {
		(void)close(go[1]);
		(void)close(status[0]);
		child(argv, go[0], status[1]);
	}
	(void)close(go[0]);
	(void)close(status[1]);
	if (pid < 0) {
		const int r = -errno;

		(void)close(go[1]);
		(void)close(status[0]);
		return pev_err_set(err, r, "cannot start %s: %s", argv[0], pev_errno_str(r));
	}
	*ret = (struct pev_workload){
		.pid = pid, .go_fd = go[1], .errno_fd = status[0], .pid_fd = -1
	};
	return 0;
}

int pev_workload_start(struct pev_workload *w, const char *name, struct pev_err *err)
{
	const char byte = 1;
	ssize_t n;
	int e = 0;

	if (write(w->go_fd, &byte, 1) != 1)
		return pev_err_set(err, -errno, "cannot start %s: %s", name, pev_errno_str(errno));
	(void)close(TAKE_FD(w->go_fd));
	do
		n = read(w->errno_fd, &e, sizeof(e));
	while (n < 0 && errno == EINTR);
	(void)close(TAKE_FD(w->errno_fd));
	if (n != sizeof(e))
		return 0;
	while (waitpid(w->pid, &w->status, 0) < 0 && errno == EINTR)
		;
	w->reaped = true;
	return cannot_run(name, find_program(name) == 0, -e, err);
}

bool pev_workload_ended(struct pev_workload *w)
{
	if (w->pid && !w->reaped && waitpid(w->pid, &w->status, WNOHANG) == w->pid)
		w->reaped = true;
	return !w->pid || w->reaped;
}

void pev_workload_stop(struct pev_workload *w, int sig)
{
	if (pev_workload_ended(w))
		return;
	(void)kill(w->pid, sig);
	while (waitpid(w->pid, &w->status, 0) < 0 && errno == EINTR)
		;
	w->reaped = true;
}

int pev_workload_exit_code(const struct pev_workload *w)
{
	if (!w->reaped)
		return 0;
	return WIFSIGNALED(w->status) ? 128 + WTERMSIG(w->status) : WEXITSTATUS(w->status);
}

void pev_workload_done(struct pev_workload *w)
{
	if (w->go_fd >= 0)
		pev_workload_stop(w, SIGKILL);
	else if (!pev_workload_ended(w))
		(void)kill(w->pid, SIGTERM);
	pev_closep(&w->go_fd);
	pev_closep(&w->errno_fd);
	pev_closep(&w->pid_fd);
	*w = PEV_WORKLOAD_INIT;
}
