// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/io.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

int pev_write_all(int fd, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	while (n > 0) {
		const ssize_t k = write(fd, p, n);

		if (k < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		p += k;
		n -= (size_t)k;
	}
	return 0;
}

int pev_pwrite_all(int fd, const void *bytes, size_t n, off_t offset)
{
	const uint8_t *p = bytes;

	while (n > 0) {
		const ssize_t k = pwrite(fd, p, n, offset);

		if (k < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		p += k;
		offset += k;
		n -= (size_t)k;
	}
	return 0;
}

ssize_t pev_pread_all(int fd, void *bytes, size_t n, off_t offset)
{
	uint8_t *p = bytes;
	size_t done = 0;

	while (done < n) {
		const ssize_t k = pread(fd, p + done, n - done, offset + (off_t)done);

		if (k < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (k == 0)
			break;
		done += (size_t)k;
	}
	return (ssize_t)done;
}

static int read_fd(int fd, size_t max, struct pev_buf *buf)
{
	const size_t start = buf->size;

	for (;;) {
		/* One page is what most /proc files give per read(); double with what came so far.
		 */
		const size_t chunk = buf->size - start < 4096 ? 4096 : buf->size - start;
		uint8_t *const p = pev_buf_extend(buf, chunk);
		ssize_t k;

		if (!p)
			return -ENOMEM;
		do
			k = read(fd, p, chunk);
		while (k < 0 && errno == EINTR);
		buf->size -= chunk - (size_t)(k > 0 ? k : 0);
		if (k < 0)
			return -errno;
		if (k == 0)
			return 0;
		if (buf->size - start > max)
			return -E2BIG;
	}
}

int pev_read_fd(int fd, size_t max, struct pev_buf *buf)
{
	const size_t start = buf->size;
	const int r = read_fd(fd, max, buf);

	if (r < 0)
		buf->size = start;
	return r;
}

int pev_read_path(const char *path, size_t max, struct pev_buf *buf)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	const size_t start = buf->size;
	int r;

	if (fd < 0)
		return -errno;
	r = pev_read_fd(fd, max, buf);
	if (r < 0)
		return r;
	pev_buf_u8(buf, 0);
	if (pev_buf_status(buf) < 0) {
		buf->size = start;
		return -ENOMEM;
	}
	buf->size--;
	return 0;
}

int pev_read_path_i64(const char *path, int64_t *ret)
{
	_cleanup_free_ char *line = NULL;
	char *end;
	long long v;
	int r;

	r = pev_read_path_line(path, &line);
	if (r < 0)
		return r;
	errno = 0;
	v = strtoll(line, &end, 0);
	if (errno || end == line || *end)
		return -EBADMSG;
	*ret = v;
	return 0;
}

int pev_read_path_line(const char *path, char **ret)
{
	_cleanup_buf_ struct pev_buf buf = { 0 };
	char *line;
	int r;

	r = pev_read_path(path, 1 << 20, &buf);
	if (r < 0)
		return r;
	line = strndup((const char *)buf.data, strcspn((const char *)buf.data, "\n"));
	if (!line)
		return -ENOMEM;
	*ret = line;
	return 0;
}
