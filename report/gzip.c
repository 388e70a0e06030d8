// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/gzip.h"

#include "base/checked.h"
#include "base/cleanup.h"

#include <errno.h>
#include <limits.h>
#include <zlib.h>

#define GZIP_WINDOW_BITS (15 + 16) /* zlib.h: 16 more for a gzip header */

struct pev_gzip {
	FILE *out;
	z_stream stream;
	unsigned char room[64 << 10];
};

int pev_gzip_new(FILE *out, struct pev_gzip **ret, struct pev_err *err)
{
	struct pev_gzip *z = calloc(1, sizeof(*z));

	if (!z || deflateInit2(&z->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW_BITS,
			       MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(z);
		return pev_err_set(err, -ENOMEM, "no memory to compress with");
	}
	z->out = out;
	*ret = z;
	return 0;
}

struct pev_gzip *pev_gzip_free(struct pev_gzip *z)
{
	if (z)
		(void)deflateEnd(&z->stream);
	free(z);
	return NULL;
}

static int failed(struct pev_err *err)
{
	const int r = errno ? -errno : -EIO;

	return pev_err_set(err, r, "cannot write the profile: %s", pev_errno_str(r));
}

/* deflate() takes all there is, and writes what comes out. */
static int pump(struct pev_gzip *z, int flush, struct pev_err *err)
{
	do {
		size_t n;

		z->stream.next_out = z->room;
		z->stream.avail_out = sizeof(z->room);
		(void)deflate(&z->stream, flush);
		n = sizeof(z->room) - z->stream.avail_out;
		errno = 0;
		if (fwrite(z->room, 1, n, z->out) != n)
			return failed(err);
	} while (z->stream.avail_out == 0);
	return 0;
}

int pev_gzip_write(struct pev_gzip *z, const void *bytes, size_t n, struct pev_err *err)
{
	int r = 0;

	z->stream.next_in = (z_const Bytef *)(uintptr_t)bytes;
	while (r == 0 && n > 0) {
		const uInt part = (uInt)PEV_MIN(n, (size_t)UINT_MAX);

		z->stream.avail_in = part;
		r = pump(z, Z_NO_FLUSH, err);
		n -= part;
	}
	return r;
}

int pev_gzip_finish(struct pev_gzip *z, struct pev_err *err)
{
	int r;

	z->stream.avail_in = 0;
	r = pump(z, Z_FINISH, err);
	if (r < 0)
		return r;
	errno = 0;
	return fflush(z->out) == 0 ? 0 : failed(err);
}
