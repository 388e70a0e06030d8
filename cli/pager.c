// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/pager.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t pager;

bool pager_has_color(void)
{
	const char *const no = getenv("NO_COLOR"), *const term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

static const char *command(void)
{
	const char *own = getenv("PEVREC_PAGER");

	if (!own)
		own = getenv("PAGER");
	return own ? own : "less";
}

static void run_pager(const char *name, int from)
{
	if (dup2(from, STDIN_FILENO) < 0)
		_exit(127);
	(void)close(from);
	/* F: end when it fits; R: let colours through; X: leave it on the screen. */
	(void)setenv("LESS", "FRX", 0);
	(void)execl("/bin/sh", "sh", "-c", name, (char *)NULL);
	_exit(127);
}

void pager_start(void)
{
	const char *const name = command();
	int fds[2];

	if (!isatty(STDOUT_FILENO) || !*name || !strcmp(name, "cat") || pipe(fds) < 0)
		return;
	(void)fflush(stdout);
	pager = fork();
	if (pager == 0) {
		(void)close(fds[1]);
		run_pager(name, fds[0]);
	}
	(void)close(fds[0]);
	if (pager > 0) {
		/* Whoever leaves the pager early has seen enough: our writes may fail then. */
		(void)signal(SIGPIPE, SIG_IGN);
		(void)signal(SIGINT, SIG_IGN);
		(void)dup2(fds[1], STDOUT_FILENO);
	} else {
		pager = 0;
	}
	(void)close(fds[1]);
}

void pager_end(void)
{
	(void)fflush(stdout);
	if (!pager)
		return;
	(void)close(STDOUT_FILENO);
	while (waitpid(pager, NULL, 0) < 0)
		;
	pager = 0;
}
