// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The whole reader: the input is a perf.data, read as a file and, where it is in pipe mode, as a
 * pipe; unpacked, raw, and by verify. What is undamaged must be the same through a pipe.
 */
#include "base/cleanup.h"
#include "base/io.h"
#include "format/verify.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

PEV_DEFINE_CLEANUP(struct pev_trace *, pev_trace_free);

/* A pipe holds so much without anybody who reads. */
#define PIPE_BYTES 65536

static void check(bool ok)
{
	if (!ok)
		abort();
}

static volatile uint8_t last_byte;

/* Records read; -1 when it could not be read to its end. */
static int64_t read_all(const char *path, struct pev_trace_options how)
{
	_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
	struct pev_trace_record rec;
	struct pev_err err = PEV_ERR_INIT;
	int64_t records = 0;
	int r;

	r = pev_trace_open(path, &how, &t, &err);
	check((r < 0) == (err.code != 0) && (r < 0) == (err.msg[0] != 0));
	while (r >= 0 && (r = pev_trace_next(t, &rec, &err)) != 0) {
		check(r == 1 || (err.code == r && err.msg[0]));
		if (r == -EBADMSG || r == -ENODATA)
			r = 0;
		if (r == 1) {
			last_byte = rec.bytes[rec.size - 1]; /* all of it can be read */
			records++;
		}
	}
	return r < 0 ? -1 : records;
}

/* True when it is in pipe mode, without damage. */
static bool verify(const char *path)
{
	const struct pev_trace_options how = { .check = true };
	_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
	_cleanup_(pev_verify_done) struct pev_verify v = { 0 };
	struct pev_err err = PEV_ERR_INIT;

	if (pev_trace_open(path, &how, &t, &err) < 0)
		return false;
	if (pev_verify_run(t, NULL, NULL, &v, &err) < 0) {
		check(err.code && err.msg[0]);
		return false;
	}
	check((v.verdict <= PEV_UNFINISHED) == (v.first.code == 0));
	return v.verdict <= PEV_UNFINISHED && pev_trace_head(t).pipe;
}

static int64_t read_pipe(const uint8_t *data, size_t size)
{
	int64_t records;
	char path[32];
	int fds[2];

	check(pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0);
	check(pev_write_all(fds[1], data, size) == 0);
	(void)close(fds[1]);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	records = read_all(path, (struct pev_trace_options){ 0 });
	(void)close(fds[0]);
	return records;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_close_ int fd = memfd_create("fuzz", MFD_CLOEXEC);
	int64_t records;
	char path[32];

	check(fd >= 0 && pev_write_all(fd, data, size) == 0);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	records = read_all(path, (struct pev_trace_options){ 0 });
	(void)read_all(path, (struct pev_trace_options){ .raw = true, .check = true });
	if (verify(path) && size <= PIPE_BYTES)
		check(read_pipe(data, size) == records);
	return 0;
}
