// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "base/cleanup.h"
#include "recorder/dents.h"
#include "recorder/task.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>

#define REST " 1 2 3 0 -1 4194560 5 6 7 8 9 10 11 12 20 0 3 0 100 200 300\n"

struct stat_case {
	const char *text;
	int r;
	struct pev_task task;
};

static const struct stat_case cases[] = {
	{ "77 (bash) S" REST, 0, { "bash", 'S', 1, 3, false } },
	{ "77 (a) b) Z" REST, 0, { "a) b", 'Z', 1, 3, false } },
	{ "77 (((() R" REST, 0, { "(((", 'R', 1, 3, false } },
	{ "77 () R" REST, 0, { "", 'R', 1, 3, false } },
	{ "77 (new\nline) R" REST, 0, { "new\nline", 'R', 1, 3, false } },
	{ "77 (kworker/u8:0-events_unbound) I 2 0 0 0 -1 69238880 0 0 0 0 0 0 0 0 20 0 1 0 1 0\n",
	  0,
	  { "kworker/u8:0-ev", 'I', 2, 1, true } },
	{ "", -ENODATA, { .state = 0 } },
	{ "77", -ENODATA, { .state = 0 } },
	{ "77 (bash", -ENODATA, { .state = 0 } },
	{ "77 (bash) S", -ENODATA, { .state = 0 } },
	{ "77 (bash) S 1 2", -ENODATA, { .state = 0 } },
	{ "77 bash S" REST, -EBADMSG, { .state = 0 } },
	{ "77 )bash( S" REST, -EBADMSG, { .state = 0 } },
	{ "77 (bash)S " REST, -EBADMSG, { .state = 0 } },
	{ "77 (bash) S x 2 3\n", -EBADMSG, { .state = 0 } },
	{ "77 (bash) S 1  3\n", -EBADMSG, { .state = 0 } },
	{ "77 (bash) S -1 2 3 0 -1 0 5 6 7 8 9 10 11 12 20 0 3 0 1 2\n", -EBADMSG, { .state = 0 } },
	{ "77 (bash) S 4294967296 2 3 0 -1 0 5 6 7 8 9 10 11 12 20 0 3 0 1 2\n",
	  -EBADMSG,
	  { .state = 0 } },
	{ "77 (bash) S 99999999999999999999 2 3 0 -1 0 5 6 7 8 9 10 11 12 20 0 3 0 1 2\n",
	  -EBADMSG,
	  { .state = 0 } },
	{ "77 (bash) S 1 2 3 0 -1 0 5 6 7 8 9 10 11 12 20 0 -3 0 1 2\n", -EBADMSG, { .state = 0 } },
	{ "77 (bash) S 1 2 3\n", -ENODATA, { .state = 0 } },
};

static void test_parse(void **state)
{
	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		const struct stat_case *const c = &cases[i];
		struct pev_task task = { .state = '?' };

		print_message("case %zu\n", i);
		assert_int_equal(pev_task_parse_stat(c->text, strlen(c->text), &task), c->r);
		if (c->r < 0) {
			assert_int_equal(task.state, '?');
			continue;
		}
		assert_string_equal(task.comm, c->task.comm);
		assert_int_equal(task.state, c->task.state);
		assert_int_equal(task.ppid, c->task.ppid);
		assert_int_equal(task.nr_threads, c->task.nr_threads);
		assert_int_equal(task.kernel_thread, c->task.kernel_thread);
	}
}

/* Every prefix and every flipped bit is refused or read, in memory of exactly its size. */
static void test_damaged(void **state)
{
	const char *const text = cases[1].text;
	const size_t size = strlen(text);
	struct pev_task task;

	(void)state;
	for (size_t n = 0; n <= size; n++) {
		_cleanup_free_ char *copy = malloc(n + !n);

		assert_non_null(copy);
		memcpy(copy, text, n);
		(void)pev_task_parse_stat(copy, n, &task);
	}
	for (size_t bit = 0; bit < size * 8; bit++) {
		_cleanup_free_ char *copy = malloc(size);

		assert_non_null(copy);
		memcpy(copy, text, size);
		copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
		(void)pev_task_parse_stat(copy, size, &task);
	}
}

static void test_self(void **state)
{
	_cleanup_close_ int procfd = open("/proc", O_RDONLY | O_DIRECTORY);
	_cleanup_free_ struct pev_dents *dents = malloc(sizeof(*dents));
	char comm[PEV_COMM_MAX];
	struct pev_task task;
	bool seen = false;
	pid_t pid, tgid;

	(void)state;
	assert_true(procfd >= 0);
	assert_non_null(dents);
	assert_int_equal(prctl(PR_SET_NAME, "od) (d\nname"), 0);
	assert_int_equal(pev_task_read(procfd, getpid(), &task), 0);
	assert_string_equal(task.comm, "od) (d\nname");
	assert_int_equal(task.state, 'R');
	assert_int_equal(task.ppid, getppid());
	assert_int_equal(task.nr_threads, 1);
	assert_false(task.kernel_thread);
	assert_int_equal(pev_task_read_comm(procfd, getpid(), getpid(), comm), 0);
	assert_string_equal(comm, "od) (d\nname");
	assert_int_equal(pev_task_read_tgid(procfd, getpid(), &tgid), 0);
	assert_int_equal(tgid, getpid());

	pev_dents_start(dents, procfd);
	while (pev_dents_next_pid(dents, &pid) > 0)
		seen = seen || pid == getpid();
	assert_true(seen);
}

static void test_gone(void **state)
{
	_cleanup_close_ int procfd = open("/proc", O_RDONLY | O_DIRECTORY);
	struct pev_task task;
	char comm[PEV_COMM_MAX];
	pid_t tgid;

	(void)state;
	/* Above the largest possible pid (2^22). */
	assert_int_equal(pev_task_read(procfd, 1 << 23, &task), -ENOENT);
	assert_int_equal(pev_task_read_comm(procfd, getpid(), 1 << 23, comm), -ENOENT);
	assert_int_equal(pev_task_read_tgid(procfd, 1 << 23, &tgid), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
