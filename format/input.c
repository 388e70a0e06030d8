// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format/input.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* What is asked of the kernel at once. */
#define CHUNK ((size_t)512 << 10)

int pev_input_open(const char *path, struct pev_input *ret, struct pev_err *err)
{
	const bool is_stdin = !strcmp(path, "-");
	_cleanup_close_ int fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
					  : open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *name;

	if (is_stdin)
		path = "standard input";
	if (fd < 0 || fstat(fd, &st) < 0)
		return pev_err_set(err, -errno, "cannot open %s: %s", path, pev_errno_str(errno));
	if (S_ISDIR(st.st_mode))
		return pev_err_set(err, -EISDIR, "cannot read %s: it is a directory", path);
	name = strdup(path);
	if (!name)
		return pev_err_set(err, -ENOMEM, "no memory to read %s", path);
	*ret = (struct pev_input){
		.fd = TAKE_FD(fd),
		.name = name,
		.seekable = S_ISREG(st.st_mode),
		.size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : UINT64_MAX,
	};
	if (ret->seekable && is_stdin) {
		const off_t at = lseek(ret->fd, 0, SEEK_CUR);

		ret->offset = at > 0 ? (uint64_t)at : 0;
	}
	return 0;
}

void pev_input_close(struct pev_input *in)
{
	if (in->name)
		pev_closep(&in->fd);
	free(in->name);
	free(in->window);
	*in = (struct pev_input){ .fd = -1 };
}

static int make_room(struct pev_input *in, size_t n)
{
	uint8_t *p;
	size_t cap = in->cap ? in->cap : n;

	if (in->start) {
		memmove(in->window, in->window + in->start, in->have);
		in->start = 0;
	}
	if (n <= in->cap)
		return 0;
	if (n > PEV_INPUT_WINDOW_MAX)
		return -E2BIG;
	while (cap < n)
		cap *= 2;
	p = realloc(in->window, cap);
	if (!p)
		return -ENOMEM;
	in->window = p;
	in->cap = cap;
	return 0;
}

static ssize_t read_some(struct pev_input *in, uint8_t *p, size_t n)
{
	ssize_t k;

	if (in->seekable && in->offset + in->have > INT64_MAX)
		return 0; /* no file has so much, whatever its header says */
	if (in->seekable)
		return pev_pread_all(in->fd, p, n, (off_t)(in->offset + in->have));
	do
		k = read(in->fd, p, n);
	while (k < 0 && errno == EINTR);
	return k < 0 ? -errno : k;
}

const uint8_t *pev_input_peek(struct pev_input *in, size_t n, size_t *ret_have, struct pev_err *err)
{
	size_t chunk = CHUNK;
	int r;

	*ret_have = 0;
	if (in->seekable) {
		/* A file is what it was when it was opened; no window for what is not there. */
		n = PEV_MIN(n, in->size - PEV_MIN(in->size, in->offset));
		chunk = PEV_MIN(chunk, (size_t)PEV_MIN(in->size, (uint64_t)SIZE_MAX) + 1);
	}
	if (in->start + n > in->cap || !in->window) {
		r = make_room(in, PEV_MAX(n, chunk));
		if (r < 0) {
			(void)pev_err_set(
				err, r,
				"%s: %zu bytes at offset %llu are more than fit into memory",
				in->name, n, (unsigned long long)in->offset);
			return NULL;
		}
	}
	while (in->have < n && !in->eof) {
		const size_t room = in->cap - in->start - in->have;
		const ssize_t k = read_some(in, in->window + in->start + in->have, room);

		if (k < 0) {
			(void)pev_err_set(err, (int)k, "cannot read %s at offset %llu: %s",
					  in->name, (unsigned long long)(in->offset + in->have),
					  pev_errno_str((int)k));
			return NULL;
		}
		in->eof = k == 0;
		in->have += (size_t)k;
	}
	*ret_have = PEV_MIN(in->have, n);
	return in->window + in->start;
}

uint64_t pev_input_skip(struct pev_input *in, uint64_t n)
{
	uint64_t done = 0;

	while (done < n) {
		const uint64_t k = PEV_MIN((uint64_t)in->have, n - done);
		size_t have;

		in->start += k;
		in->have -= k;
		in->offset += k;
		done += k;
		if (done == n)
			break;
		if (in->seekable) {
			const uint64_t left = in->size > in->offset ? in->size - in->offset : 0;
			const uint64_t jump = PEV_MIN(left, n - done);

			pev_input_seek(in, in->offset + jump);
			return done + jump;
		}
		if (!pev_input_peek(in, 1, &have, NULL) || !have)
			break;
	}
	return done;
}

void pev_input_seek(struct pev_input *in, uint64_t offset)
{
	const uint64_t first = in->offset - in->start, last = in->offset + in->have;

	/* What was passed is still there until the next call that needs its room. */
	if (offset < first || offset > last) {
		in->have = in->start = 0;
	} else {
		in->start = (size_t)(offset - first);
		in->have = (size_t)(last - offset);
	}
	in->offset = offset;
	in->eof = false;
}

void pev_input_rest(struct pev_input *in)
{
	if (!in->seekable)
		return;
	free(in->window);
	in->window = NULL;
	in->cap = in->have = in->start = 0;
	in->eof = false;
}
