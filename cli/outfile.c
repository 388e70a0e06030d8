// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/outfile.h"

#include "base/checked.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_SIZE (256 * 1024)

/* For the signal handler: set before the handler is, and cleared before it is freed. */
static char *volatile doomed;

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

static void take_away(int sig)
{
	char *const path = doomed;

	if (path)
		(void)unlink(path);
	/* SA_RESETHAND: this time it ends the program, with the status that tells of the signal. */
	(void)raise(sig);
}

static void guard(char *temporary)
{
	struct sigaction act = { .sa_handler = take_away, .sa_flags = (int)SA_RESETHAND };

	doomed = temporary;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(signals); i++) {
		struct sigaction old;

		/* nohup(1) and background jobs of old shells ignore them on purpose. */
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			(void)sigaction(signals[i], &act, NULL);
	}
}

static bool is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* mkstemp() makes files for the owner only; others are made as the umask says. */
static void apply_umask(int fd)
{
	const mode_t mask = umask(0);

	(void)umask(mask);
	(void)fchmod(fd, 0666 & ~mask);
}

/* mkstemp(), and no signal comes between the file and who takes it away. */
static int make_temporary(char *path)
{
	sigset_t ours, before;
	int fd;

	(void)sigemptyset(&ours);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(signals); i++)
		(void)sigaddset(&ours, signals[i]);
	(void)sigprocmask(SIG_BLOCK, &ours, &before);
	fd = mkstemp(path);
	if (fd < 0)
		fd = -errno;
	else
		guard(path);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	return fd;
}

static int open_temporary(struct outfile *o, struct pev_err *err)
{
	int fd;

	if (asprintf(&o->temporary, "%s.XXXXXX", o->path) < 0) {
		o->temporary = NULL;
		return pev_err_set(err, -ENOMEM, "no memory for the name of %s", o->path);
	}
	fd = make_temporary(o->temporary);
	if (fd < 0) {
		free(o->temporary);
		o->temporary = NULL;
		return pev_err_set(err, fd, "cannot create %s: %s", o->path, pev_errno_str(fd));
	}
	apply_umask(fd);
	o->f = fdopen(fd, "w");
	if (!o->f) {
		(void)close(fd);
		outfile_done(o);
		return pev_err_set(err, -ENOMEM, "no memory to write %s", o->path);
	}
	return 0;
}

int outfile_open(struct outfile *o, const char *path, struct pev_err *err)
{
	int r = 0;

	*o = (struct outfile){ .path = path };
	if (!path || !strcmp(path, "-")) {
		o->path = "standard output";
		o->f = stdout;
	} else if (is_special(path)) {
		o->f = fopen(path, "we");
		if (!o->f)
			r = pev_err_set(err, -errno, "cannot open %s: %s", path,
					pev_errno_str(errno));
	} else {
		r = open_temporary(o, err);
	}
	if (r == 0)
		(void)setvbuf(o->f, NULL, _IOFBF, BUFFER_SIZE);
	return r;
}

int outfile_finish(struct outfile *o, struct pev_err *err)
{
	int r = 0;

	errno = 0;
	if (fflush(o->f) != 0 || ferror(o->f))
		r = errno ? -errno : -EIO;
	if (r == 0 && o->temporary && rename(o->temporary, o->path) < 0)
		r = -errno;
	if (r == 0 && o->temporary) {
		doomed = NULL;
		free(o->temporary);
		o->temporary = NULL;
	}
	if (r < 0)
		(void)pev_err_set(err, r, "cannot write %s: %s", o->path, pev_errno_str(r));
	outfile_done(o);
	return r;
}

void outfile_done(struct outfile *o)
{
	if (o->f && o->f != stdout)
		(void)fclose(o->f);
	o->f = NULL;
	if (o->temporary) {
		(void)unlink(o->temporary);
		doomed = NULL;
		free(o->temporary);
		o->temporary = NULL;
	}
}
