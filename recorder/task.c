// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recorder/task.h"

#include "base/checked.h"
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h; field 9 of stat */

/* Fields that follow the comm, counted from the state as 0. */
enum {
	FIELD_STATE = 0,
	FIELD_PPID = 1,
	FIELD_FLAGS = 6,
	FIELD_NR_THREADS = 17,
};

static void set_comm(char ret[PEV_COMM_MAX], const char *name, size_t size)
{
	const size_t n = PEV_MIN(size, (size_t)PEV_COMM_MAX - 1);

	memset(ret, 0, PEV_COMM_MAX);
	memcpy(ret, name, n);
}

/* A decimal number at *p, with the blank or newline that ends it. */
static int parse_field(const char **p, const char *end, int64_t *ret)
{
	const bool negative = *p < end && **p == '-';
	int64_t v = 0;
	bool any = false;

	for (*p += negative; *p < end && **p >= '0' && **p <= '9'; (*p)++) {
		if (v > (INT64_MAX - 9) / 10)
			return -EBADMSG;
		v = v * 10 + (**p - '0');
		any = true;
	}
	if (*p == end)
		return -ENODATA;
	if (!any || (**p != ' ' && **p != '\n'))
		return -EBADMSG;
	(*p)++;
	*ret = negative ? -v : v;
	return 0;
}

int pev_task_parse_stat(const char *text, size_t size, struct pev_task *ret)
{
	const char *const end = text + size;
	const char *const open = memchr(text, '(', size);
	const char *const close = memrchr(text, ')', size);
	struct pev_task task = { .state = 0 };
	const char *p;

	if (!open || !close || close < open || end - close < 4)
		return size && end[-1] == '\n' ? -EBADMSG : -ENODATA;
	set_comm(task.comm, open + 1, (size_t)(close - open - 1));
	task.state = close[2];
	if (close[1] != ' ' || close[3] != ' ')
		return -EBADMSG;
	p = close + 4;
	for (int field = FIELD_PPID; field <= FIELD_NR_THREADS; field++) {
		int64_t v;
		const int r = parse_field(&p, end, &v);

		if (r < 0)
			return r;
		if (field == FIELD_PPID) {
			if (v < 0 || v > INT_MAX)
				return -EBADMSG;
			task.ppid = (pid_t)v;
		} else if (field == FIELD_FLAGS) {
			task.kernel_thread = v & PF_KTHREAD;
		} else if (field == FIELD_NR_THREADS) {
			if (v < 0 || v > UINT32_MAX)
				return -EBADMSG;
			task.nr_threads = (uint32_t)v;
		}
	}
	*ret = task;
	return 0;
}

/* Up to @size bytes of a file of /proc; of such small ones the first read gives all. */
static ssize_t read_small(int procfd, const char *path, char *ret, size_t size)
{
	_cleanup_close_ int fd = openat(procfd, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	do
		n = read(fd, ret, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int pev_task_read(int procfd, pid_t pid, struct pev_task *ret)
{
	char path[32], text[1024];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%d/stat", pid);
	n = read_small(procfd, path, text, sizeof(text));
	if (n < 0)
		return (int)n;
	return pev_task_parse_stat(text, (size_t)n, ret);
}

int pev_task_read_comm(int procfd, pid_t pid, pid_t tid, char ret[PEV_COMM_MAX])
{
	char path[64], text[128];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%d/task/%d/comm", pid, tid);
	n = read_small(procfd, path, text, sizeof(text));
	if (n < 0)
		return (int)n;
	if (n > 0 && text[n - 1] == '\n')
		n--;
	set_comm(ret, text, (size_t)n);
	return 0;
}

int pev_task_read_tgid(int procfd, pid_t tid, pid_t *ret)
{
	static const char key[] = "\nTgid:\t";
	char path[32], text[1024];
	const char *p;
	int64_t tgid;
	ssize_t n;
	int r;

	(void)snprintf(path, sizeof(path), "%d/status", tid);
	n = read_small(procfd, path, text, sizeof(text));
	if (n < 0)
		return (int)n;
	/* Newlines within the name are escaped in this file: the key cannot be faked. */
	p = memmem(text, (size_t)n, key, sizeof(key) - 1);
	if (!p)
		return -EBADMSG;
	p += sizeof(key) - 1;
	r = parse_field(&p, text + n, &tgid);
	if (r < 0)
		return r;
	if (tgid <= 0 || tgid > INT_MAX)
		return -EBADMSG;
	*ret = (pid_t)tgid;
	return 0;
}
