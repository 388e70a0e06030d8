// SPDX-License-Identifier: LGPL-2.1-or-later
/* Bytes through the window: from a file, from a pipe, in steps of all sizes. */
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "format/input.h"
#include "trace_make.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>

#define _cleanup_input_ _cleanup_(pev_input_close)
#define SIZE            ((size_t)3 << 20)

static uint8_t pattern(uint64_t i)
{
	return (uint8_t)(i ^ i >> 8 ^ i >> 16);
}

static void check_pattern(const uint8_t *p, uint64_t offset, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != pattern(offset + i))
			fail_msg("byte %zu", (size_t)offset + i);
}

static uint8_t *make_pattern(void)
{
	uint8_t *const bytes = malloc(SIZE);

	assert_non_null(bytes);
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = pattern(i);
	return bytes;
}

/* A process of its own that writes the pattern to a pipe; the read end. */
static int pattern_pipe(const uint8_t *bytes, pid_t *ret_pid)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	*ret_pid = fork();
	assert_true(*ret_pid >= 0);
	if (*ret_pid == 0) {
		(void)close(fds[0]);
		_exit(pev_write_all(fds[1], bytes, SIZE) == 0 ? 0 : 1);
	}
	(void)close(fds[1]);
	return fds[0];
}

/* Looks and passes in steps from 0 to @max bytes, to the end. */
static void walk(struct pev_input *in, uint64_t random, size_t max)
{
	uint64_t at = in->offset;

	for (;;) {
		const size_t look = test_random(&random) % (max + 1);
		const uint64_t pass = test_random(&random) % (max + 1);
		const uint8_t *p;
		size_t have;

		p = pev_input_peek(in, look, &have, NULL);
		assert_non_null(p);
		assert_int_equal(have, PEV_MIN(look, SIZE - at));
		check_pattern(p, at, have);
		/* Again, and less. */
		p = pev_input_peek(in, look / 2, &have, NULL);
		assert_int_equal(have, PEV_MIN(look / 2, SIZE - at));
		check_pattern(p, at, PEV_MIN(have, 16));
		assert_int_equal(pev_input_skip(in, pass), PEV_MIN(pass, SIZE - at));
		at += PEV_MIN(pass, SIZE - at);
		assert_int_equal(in->offset, at);
		if (at == SIZE)
			break;
	}
	assert_non_null(pev_input_peek(in, 1, &(size_t){ 0 }, NULL));
	assert_int_equal(pev_input_skip(in, 1), 0);
}

static const size_t steps[] = { 1000, 65536, 600000, 2 << 20 };

static void test_file_in_steps(void **state)
{
	_cleanup_free_ uint8_t *bytes = make_pattern();
	_cleanup_file_ struct test_file f = test_file(bytes, SIZE);

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(steps); i++) {
		_cleanup_input_ struct pev_input in;

		assert_int_equal(pev_input_open(f.path, &in, NULL), 0);
		assert_true(in.seekable);
		assert_int_equal(in.size, SIZE);
		assert_string_equal(in.name, f.path);
		walk(&in, i, steps[i]);
		pev_input_seek(&in, 0);
		walk(&in, i + 10, steps[i]);
	}
}

static void test_pipe_in_steps(void **state)
{
	_cleanup_free_ uint8_t *bytes = make_pattern();

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(steps); i++) {
		_cleanup_input_ struct pev_input in;
		char path[32];
		int status;
		pid_t pid;
		int fd = pattern_pipe(bytes, &pid);

		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		assert_int_equal(pev_input_open(path, &in, NULL), 0);
		(void)close(fd);
		assert_false(in.seekable);
		assert_true(in.size == UINT64_MAX);
		walk(&in, i, steps[i]);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

/* Back and forth, within the window and out of it, and to where nothing is. */
static void test_seek(void **state)
{
	_cleanup_free_ uint8_t *bytes = make_pattern();
	_cleanup_file_ struct test_file f = test_file(bytes, SIZE);
	_cleanup_input_ struct pev_input in;
	uint64_t random = 1;

	(void)state;
	assert_int_equal(pev_input_open(f.path, &in, NULL), 0);
	for (int i = 0; i < 20000; i++) {
		const uint64_t near = in.offset + test_random(&random) % 2000 - 1000;
		const uint64_t far = test_random(&random) % (SIZE + 1000);
		const uint64_t to = i % 10 && near < SIZE ? near : far;
		const size_t look = test_random(&random) % (i % 50 ? 500 : 700000);
		const uint8_t *p;
		size_t have;

		pev_input_seek(&in, to);
		p = pev_input_peek(&in, look, &have, NULL);
		assert_non_null(p);
		assert_int_equal(have, to > SIZE ? 0 : PEV_MIN(look, SIZE - to));
		check_pattern(p, to, have);
		if (i % 3 == 0)
			(void)pev_input_skip(&in, test_random(&random) % 1000);
	}
	pev_input_seek(&in, UINT64_MAX);
	assert_non_null(pev_input_peek(&in, 100, &(size_t){ 1 }, NULL));
	assert_int_equal(pev_input_skip(&in, 100), 0);
}

/* A file that grows is what it was; one that shrinks ends where it ends. */
static void test_changes(void **state)
{
	_cleanup_free_ uint8_t *bytes = make_pattern();
	_cleanup_file_ struct test_file f = test_file(bytes, 1000);
	_cleanup_input_ struct pev_input in;
	size_t have;

	(void)state;
	assert_int_equal(pev_input_open(f.path, &in, NULL), 0);
	assert_int_equal(pev_write_all(f.fd, bytes, 1000), 0);
	assert_non_null(pev_input_peek(&in, 2000, &have, NULL));
	assert_int_equal(have, 1000);
	pev_input_close(&in);
	assert_int_equal(pev_input_open(f.path, &in, NULL), 0);
	assert_int_equal(ftruncate(f.fd, 100), 0);
	assert_non_null(pev_input_peek(&in, 2000, &have, NULL));
	assert_int_equal(have, 100);
}

/* Standard input: a pipe, or a file from where it stands. */
static void test_stdin(void **state)
{
	_cleanup_free_ uint8_t *bytes = make_pattern();
	_cleanup_file_ struct test_file f = test_file(bytes, SIZE);
	const int saved = dup(STDIN_FILENO);
	struct pev_input in;
	size_t have;

	(void)state;
	assert_int_equal(lseek(f.fd, 4711, SEEK_SET), 4711);
	assert_int_equal(dup2(f.fd, STDIN_FILENO), STDIN_FILENO);
	assert_int_equal(pev_input_open("-", &in, NULL), 0);
	assert_string_equal(in.name, "standard input");
	assert_int_equal(in.offset, 4711);
	check_pattern(pev_input_peek(&in, 100, &have, NULL), 4711, 100);
	pev_input_close(&in);
	assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* it stays open */
	assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
	(void)close(saved);
}

static void test_errors(void **state)
{
	_cleanup_folder_ struct test_folder folder;
	struct pev_err err = PEV_ERR_INIT;
	struct pev_input in;
	char want[128];
	size_t have;

	(void)state;
	test_folder_init(&folder);
	assert_int_equal(pev_input_open("/nonexistent", &in, &err), -ENOENT);
	assert_err(&err, -ENOENT, "cannot open /nonexistent: No such file or directory");
	assert_int_equal(pev_input_open(folder.path, &in, &err), -EISDIR);
	(void)snprintf(want, sizeof(want), "cannot read %s: it is a directory", folder.path);
	assert_err(&err, -EISDIR, want);

	/* A file that cannot be read: the memory of a process at 0. */
	assert_int_equal(pev_input_open("/proc/self/mem", &in, NULL), 0);
	in.size = 100;
	assert_null(pev_input_peek(&in, 10, &have, &err));
	assert_int_equal(have, 0);
	assert_err(&err, -EIO, "cannot read /proc/self/mem at offset 0: Input/output error");
	pev_input_close(&in);

	/* More than the window may ever hold. */
	in = (struct pev_input){
		.fd = -1, .name = strdup("huge"), .seekable = true, .size = UINT64_MAX
	};
	assert_null(pev_input_peek(&in, PEV_INPUT_WINDOW_MAX + 1, &have, &err));
	assert_err(&err, -E2BIG, "huge: 268435457 bytes at offset 0 are more than fit into memory");
	pev_input_close(&in);
	pev_input_close(&in);
}

static void test_no_memory(void **state)
{
	_cleanup_file_ struct test_file f = test_file("0123456789", 10);

	(void)state;
	for (unsigned int nth = 1;; nth++) {
		struct pev_err err = PEV_ERR_INIT;
		struct pev_input in = { .fd = -1 };
		size_t have = 0;
		bool failed;

		alloc_fail_at(nth);
		if (pev_input_open(f.path, &in, &err) == 0)
			(void)pev_input_peek(&in, 10, &have, &err);
		failed = alloc_fail_end();
		assert_int_equal(err.code, failed ? -ENOMEM : 0);
		assert_int_equal(have, failed ? 0 : 10);
		pev_input_close(&in);
		if (!failed)
			break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_in_steps), cmocka_unit_test(test_pipe_in_steps),
		cmocka_unit_test(test_seek),          cmocka_unit_test(test_changes),
		cmocka_unit_test(test_stdin),         cmocka_unit_test(test_errors),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
