// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recorder/output.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse_terminal(const char *name, struct pev_err *err)
{
	return pev_err_set(
		err, -EINVAL,
		"refusing to write a trace to a terminal (%s): redirect standard output, "
		"or name a file with -o",
		name);
}

static int open_stream(struct pev_output *o, bool fifo, struct pev_err *err)
{
	/* Does not wait for somebody to read a pipe: no signal could end that. */
	_cleanup_close_ int fd = open(o->path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 && errno == ENXIO && fifo)
		return pev_err_set(err, -ENXIO,
				   "cannot write to %s: nobody reads from it: start the reader "
				   "first",
				   o->path);
	if (fd < 0)
		return pev_err_set(err, -errno, "cannot write to %s: %s", o->path,
				   pev_errno_str(errno));
	if (isatty(fd))
		return refuse_terminal(o->path, err);
	if (fcntl(fd, F_SETFL, O_WRONLY) < 0)
		return pev_err_set(err, -errno, "cannot write to %s: %s", o->path,
				   pev_errno_str(errno));
	o->fd = TAKE_FD(fd);
	o->own_fd = true;
	return 0;
}

int pev_output_open(const char *path, struct pev_output *ret, struct pev_err *err)
{
	struct pev_output o = { .path = path, .name = path, .fd = -1 };
	struct stat st;
	int r = 0;

	if (!strcmp(path, "-")) {
		o.name = "standard output";
		o.fd = STDOUT_FILENO;
		if (isatty(o.fd))
			return refuse_terminal(o.name, err);
	} else if (!*path) {
		return pev_err_set(err, -EINVAL, "-o names no file");
	} else if (stat(path, &st) < 0 || S_ISREG(st.st_mode)) {
		/* What is wrong with it, creating it will tell. */
	} else if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)) {
		r = open_stream(&o, S_ISFIFO(st.st_mode), err);
	} else if (S_ISDIR(st.st_mode)) {
		return pev_err_set(err, -EISDIR,
				   "cannot write the trace to %s: it is a directory; name a file "
				   "in it",
				   path);
	} else {
		return pev_err_set(err, -EINVAL,
				   "cannot write the trace to %s: it is no file, pipe or "
				   "character device",
				   path);
	}
	if (r == 0)
		*ret = o;
	return r;
}

/* PATH.old; NULL without memory. */
static char *older_name(const struct pev_output *o)
{
	char *name;

	return asprintf(&name, "%s.old", o->path) < 0 ? NULL : name;
}

int pev_output_make_way(struct pev_output *o, struct pev_err *err)
{
	_cleanup_free_ char *old = NULL;
	struct stat st;

	if (o->fd >= 0)
		return 0;
	if (lstat(o->path, &st) == 0) {
		old = older_name(o);
		if (!old)
			return pev_err_set(err, -ENOMEM, "no memory");
		/* An empty file is no trace that would be worth the older one. */
		if (st.st_size ? rename(o->path, old) < 0 : unlink(o->path) < 0)
			return pev_err_set(err, -errno, "cannot keep the older trace %s as %s: %s",
					   o->path, old, pev_errno_str(errno));
		o->moved = st.st_size != 0;
	}
	o->made_way = true;
	return 0;
}

void pev_output_undo(struct pev_output *o)
{
	_cleanup_free_ char *old = NULL;

	if (!o->made_way)
		return;
	(void)unlink(o->path);
	if (o->moved) {
		old = older_name(o);
		if (old)
			(void)rename(old, o->path);
	}
	o->made_way = o->moved = false;
}

void pev_output_done(struct pev_output *o)
{
	if (o->own_fd)
		(void)close(o->fd);
	*o = PEV_OUTPUT_INIT;
}
