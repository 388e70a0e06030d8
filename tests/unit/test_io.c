// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

/* A file in memory that has a path. */
struct text_file {
	int fd;
	char path[64];
};

static struct text_file text_file(const void *text, size_t size)
{
	struct text_file f = { .fd = memfd_create("text", MFD_CLOEXEC) };

	assert_true(f.fd >= 0);
	assert_int_equal(pev_write_all(f.fd, text, size), 0);
	(void)snprintf(f.path, sizeof(f.path), "/proc/self/fd/%d", f.fd);
	return f;
}

static void text_file_done(struct text_file *f)
{
	(void)close(f->fd);
}
#define _cleanup_text_file_ _cleanup_(text_file_done)

static void test_write_and_read_back(void **state)
{
	_cleanup_text_file_ struct text_file f = text_file("0123456789", 10);
	const int fd = f.fd;
	char got[16];

	(void)state;
	assert_int_equal(pev_pwrite_all(fd, "ab", 2, 4), 0);
	assert_int_equal(pev_pread_all(fd, got, 10, 0), 10);
	assert_memory_equal(got, "0123ab6789", 10);
	assert_int_equal(pev_pread_all(fd, got, sizeof(got), 7), 3);
	assert_memory_equal(got, "789", 3);
	assert_int_equal(pev_pread_all(fd, got, 1, 10), 0);
	assert_int_equal(pev_pread_all(fd, got, 0, 0), 0);
	assert_int_equal(pev_write_all(fd, NULL, 0), 0);
	assert_int_equal(pev_pwrite_all(fd, "z", 1, 20), 0);
	assert_int_equal(pev_pread_all(fd, got, sizeof(got), 9), 12);
	assert_memory_equal(got, "9\0\0\0\0\0\0\0\0\0\0z", 12);
}

static void test_errors_of_the_file(void **state)
{
	_cleanup_close_ int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct pev_buf buf = { 0 };
	char byte = 'x';

	(void)state;
	assert_true(full >= 0);
	assert_int_equal(pev_write_all(full, &byte, 1), -ENOSPC);
	assert_int_equal(pev_pwrite_all(full, &byte, 1, 0), -ENOSPC);
	assert_int_equal(pev_write_all(-1, &byte, 1), -EBADF);
	assert_int_equal(pev_pwrite_all(-1, &byte, 1, 0), -EBADF);
	assert_int_equal(pev_pread_all(-1, &byte, 1, 0), -EBADF);
	assert_int_equal(pev_read_fd(-1, 10, &buf), -EBADF);
	assert_int_equal(pev_read_path("/nonexistent", 10, &buf), -ENOENT);
	assert_int_equal(pev_read_path("/", 10, &buf), -EISDIR);
	assert_int_equal(buf.size, 0);
	pev_buf_done(&buf);
}

/* The kernel takes what fits below the limit, and refuses the rest: not success, and no loop. */
static void test_short_write(void **state)
{
	FILE *const f = tmpfile();
	struct rlimit limit, old;
	char got[8];

	(void)state;
	assert_non_null(f);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 5;
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(pev_write_all(fileno(f), "01234567", 8), -EFBIG);
	assert_int_equal(pev_pwrite_all(fileno(f), "abcdefgh", 8, 2), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(pev_pread_all(fileno(f), got, sizeof(got), 0), 5);
	assert_memory_equal(got, "01abc", 5);
	(void)fclose(f);
}

static void on_alarm(int signo)
{
	(void)signo;
}

static uint8_t pattern(size_t i)
{
	return (uint8_t)(i * 7 + i / 256);
}

/* In a process of its own: writes @size bytes of the pattern to @fd, interrupted all the time. */
static void write_interrupted(int fd, size_t size)
{
	const struct itimerval often = { { 0, 200 }, { 0, 200 } };
	const struct sigaction action = { .sa_handler = on_alarm }; /* no SA_RESTART: EINTR */
	_cleanup_free_ uint8_t *bytes = malloc(size);

	for (size_t i = 0; i < size; i++)
		bytes[i] = pattern(i);
	if (sigaction(SIGALRM, &action, NULL) < 0 || setitimer(ITIMER_REAL, &often, NULL) < 0)
		_exit(1);
	_exit(pev_write_all(fd, bytes, size) == 0 ? 0 : 2);
}

static void test_pipe_and_interrupts(void **state)
{
	enum {
		SIZE = 3 << 20
	};
	const struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { 0 };
	const struct sigaction action = { .sa_handler = on_alarm };
	_cleanup_buf_ struct pev_buf buf = { 0 };
	int fds[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		write_interrupted(fds[1], SIZE);
	(void)close(fds[1]);
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	assert_int_equal(pev_read_fd(fds[0], SIZE, &buf), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(buf.size, SIZE);
	for (size_t i = 0; i < SIZE; i++)
		assert_int_equal(buf.data[i], pattern(i));
	(void)close(fds[0]);
}

static void test_read_appends(void **state)
{
	_cleanup_text_file_ struct text_file f = text_file("tail", 4);
	_cleanup_buf_ struct pev_buf buf = { 0 };

	(void)state;
	pev_buf_put(&buf, "head-", 5);
	assert_int_equal(pev_read_path(f.path, 4, &buf), 0);
	assert_int_equal(buf.size, 9);
	assert_string_equal((const char *)buf.data, "head-tail");
}

static void test_read_limit(void **state)
{
	uint8_t bytes[10000] = { 0 };
	_cleanup_text_file_ struct text_file f = text_file(bytes, sizeof(bytes));
	static const struct {
		size_t max;
		int r;
	} cases[] = {
		{ 0, -E2BIG },    { 1, -E2BIG }, { 4096, -E2BIG },
		{ 9999, -E2BIG }, { 10000, 0 },  { SIZE_MAX, 0 },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		_cleanup_buf_ struct pev_buf buf = { 0 };

		pev_buf_put(&buf, "before", 6);
		assert_int_equal(pev_read_path(f.path, cases[i].max, &buf), cases[i].r);
		assert_int_equal(buf.size, cases[i].r < 0 ? 6 : 10006);
	}
}

/* They say that they have no bytes, and give them a page at a time. */
static void test_read_proc(void **state)
{
	_cleanup_buf_ struct pev_buf buf = { 0 };

	(void)state;
	assert_int_equal(pev_read_path("/proc/self/smaps", 16 << 20, &buf), 0);
	assert_true(buf.size > 4096);
	assert_non_null(strstr((const char *)buf.data, "[stack]"));
	assert_int_equal(strlen((const char *)buf.data), buf.size);
}

static void test_read_i64(void **state)
{
	static const struct {
		const char *text;
		int r;
		int64_t value;
	} cases[] = {
		{ "42\n", 0, 42 },
		{ "-1\n", 0, -1 },
		{ "0", 0, 0 },
		{ "0x1f\n", 0, 31 },
		{ "9223372036854775807\n", 0, INT64_MAX },
		{ "9223372036854775808\n", -EBADMSG, 0 },
		{ "", -EBADMSG, 0 },
		{ "\n", -EBADMSG, 0 },
		{ "max\n", -EBADMSG, 0 },
		{ "42 43\n", -EBADMSG, 0 },
		{ "42abc\n", -EBADMSG, 0 },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		_cleanup_text_file_ struct text_file f =
			text_file(cases[i].text, strlen(cases[i].text));
		int64_t value = 4711;

		assert_int_equal(pev_read_path_i64(f.path, &value), cases[i].r);
		assert_true(value == (cases[i].r < 0 ? 4711 : cases[i].value));
	}
	assert_int_equal(pev_read_path_i64("/nonexistent", &(int64_t){ 0 }), -ENOENT);
}

static void test_read_line(void **state)
{
	static const struct {
		const char *text, *line;
	} cases[] = {
		{ "", "" },
		{ "\n", "" },
		{ "one", "one" },
		{ "one\n", "one" },
		{ "one\ntwo\n", "one" },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		_cleanup_text_file_ struct text_file f =
			text_file(cases[i].text, strlen(cases[i].text));
		_cleanup_free_ char *line = NULL;

		assert_int_equal(pev_read_path_line(f.path, &line), 0);
		assert_string_equal(line, cases[i].line);
	}
}

static void test_no_memory(void **state)
{
	uint8_t bytes[4096] = { 0 }; /* leaves no room for the NUL in the first block */
	_cleanup_text_file_ struct text_file f = text_file(bytes, sizeof(bytes));
	char *line = NULL;

	(void)state;
	for (unsigned int nth = 1;; nth++) {
		int r;

		alloc_fail_at(nth);
		r = pev_read_path_line(f.path, &line);
		if (!alloc_fail_end()) {
			assert_int_equal(r, 0);
			assert_true(nth > 2);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_null(line);
	}
	free(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_and_read_back),
		cmocka_unit_test(test_errors_of_the_file),
		cmocka_unit_test(test_short_write),
		cmocka_unit_test(test_pipe_and_interrupts),
		cmocka_unit_test(test_read_appends),
		cmocka_unit_test(test_read_limit),
		cmocka_unit_test(test_read_proc),
		cmocka_unit_test(test_read_i64),
		cmocka_unit_test(test_read_line),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
