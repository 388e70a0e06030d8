// SPDX-License-Identifier: LGPL-2.1-or-later
/* The linker sends the calls here (--wrap); by the names that they have with 64-bit offsets. */
#include "fault.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>

static struct {
	bool armed;
	enum fault_call call;
	unsigned int nth, some;
	int error;
} fault;
static unsigned int calls[FAULT_CALLS];

ssize_t __real_write(int fd, const void *p, size_t n);
ssize_t __real_pwrite64(int fd, const void *p, size_t n, off_t at);
int __real_ftruncate64(int fd, off_t size);
int __real_rename(const char *from, const char *to);
ssize_t __wrap_write(int fd, const void *p, size_t n);
ssize_t __wrap_pwrite64(int fd, const void *p, size_t n, off_t at);
int __wrap_fsync(int fd);
int __wrap_ftruncate64(int fd, off_t size);
int __wrap_rename(const char *from, const char *to);

void fault_at(enum fault_call call, unsigned int nth, int error, unsigned int some)
{
	fault_end(NULL);
	fault.armed = true;
	fault.call = call;
	fault.nth = nth;
	fault.error = error;
	fault.some = some;
}

void fault_end(unsigned int ret_calls[FAULT_CALLS])
{
	if (ret_calls)
		memcpy(ret_calls, calls, sizeof(calls));
	memset(calls, 0, sizeof(calls));
	fault.armed = false;
}

/* Bytes that may still be written before the fault; -1: no fault in this call. */
static ssize_t fails(enum fault_call call, size_t n)
{
	calls[call]++;
	if (!fault.armed || fault.call != call || calls[call] != fault.nth)
		return -1;
	if (fault.some && fault.some <= n) {
		/* A short write; the next one fails. */
		const unsigned int some = fault.some;

		fault.some = 0;
		fault.nth++;
		return (ssize_t)some;
	}
	errno = fault.error;
	return 0;
}

ssize_t __wrap_write(int fd, const void *p, size_t n)
{
	const ssize_t some = fails(FAULT_WRITE, n);

	return some == 0 ? -1 : __real_write(fd, p, some < 0 ? n : (size_t)some);
}

ssize_t __wrap_pwrite64(int fd, const void *p, size_t n, off_t at)
{
	const ssize_t some = fails(FAULT_PWRITE, n);

	return some == 0 ? -1 : __real_pwrite64(fd, p, some < 0 ? n : (size_t)some, at);
}

/* No test outlives a power loss: nothing is really synced. */
int __wrap_fsync(int fd)
{
	(void)fd;
	return fails(FAULT_FSYNC, 0) == 0 ? -1 : 0;
}

int __wrap_ftruncate64(int fd, off_t size)
{
	return fails(FAULT_FTRUNCATE, 0) == 0 ? -1 : __real_ftruncate64(fd, size);
}

int __wrap_rename(const char *from, const char *to)
{
	return fails(FAULT_RENAME, 0) == 0 ? -1 : __real_rename(from, to);
}
