// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "unwind/strings.h"
#include "unwind/table.h"
#include "unwind/tasks.h"

#include <errno.h>
#include <string.h>

static void test_table_is_like_a_list(void **state)
{
	static char values[2];
	char *model[64][4] = { 0 };
	struct pev_table t = { 0 };
	uint64_t random = 7;
	size_t nr = 0, walked = 0;

	(void)state;
	assert_null(pev_table_get(&t, 1, 2));
	pev_table_remove(&t, 1, 2);
	for (unsigned int i = 0; i < 20000; i++) {
		const uint64_t a = test_random(&random) % 64, b = test_random(&random) % 4;
		char *const value = &values[test_random(&random) % 2];

		if (test_random(&random) % 2) {
			assert_int_equal(pev_table_put(&t, a, b, value), 0);
			nr += !model[a][b];
			model[a][b] = value;
		} else {
			pev_table_remove(&t, a, b);
			nr -= !!model[a][b];
			model[a][b] = NULL;
		}
		assert_int_equal(t.nr, nr);
		assert_ptr_equal(pev_table_get(&t, a, b), model[a][b]);
	}
	for (uint64_t a = 0; a < 64; a++)
		for (uint64_t b = 0; b < 4; b++)
			assert_ptr_equal(pev_table_get(&t, a, b), model[a][b]);
	for (size_t i = 0; pev_table_next(&t, &i);)
		walked++;
	assert_int_equal(walked, nr);
	pev_table_done(&t);
}

static void test_table_without_memory(void **state)
{
	struct pev_table t = { 0 };
	char value;

	(void)state;
	alloc_fail_at(1);
	assert_int_equal(pev_table_put(&t, 1, 1, &value), -ENOMEM);
	assert_true(alloc_fail_end());
	assert_null(pev_table_get(&t, 1, 1));
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(pev_table_put(&t, i, 1, &value), 0);
	alloc_fail_at(1);
	assert_int_equal(pev_table_put(&t, 8, 1, &value), -ENOMEM);
	assert_true(alloc_fail_end());
	for (uint64_t i = 0; i < 9; i++)
		assert_ptr_equal(pev_table_get(&t, i, 1), i < 8 ? &value : NULL);
	pev_table_done(&t);
}

struct world {
	struct pev_strings strings;
	struct pev_tasks tasks;
};

static int setup(void **state)
{
	struct world *const w = calloc(1, sizeof(*w));

	assert_non_null(w);
	w->tasks.strings = &w->strings;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *const w = *state;

	pev_tasks_done(&w->tasks);
	pev_strings_done(&w->strings);
	free(w);
	return 0;
}

static void fork_task(struct world *w, uint32_t ppid, uint32_t ptid, uint32_t pid, uint32_t tid)
{
	const struct pev_fork fork = { .pid = pid, .tid = tid, .ppid = ppid, .ptid = ptid };

	assert_int_equal(pev_tasks_fork(&w->tasks, &fork), 0);
}

static void comm(struct world *w, uint32_t pid, uint32_t tid, const char *name, bool exec)
{
	assert_int_equal(pev_tasks_comm(&w->tasks, PEV_HOST, pid, tid, name, exec), 0);
}

static void map(struct world *w, uint32_t pid, uint64_t start)
{
	const struct pev_mapping m = { .start = start, .end = start + 10 };
	struct pev_task *const task = pev_tasks_get(&w->tasks, PEV_HOST, pid, pid);

	assert_non_null(task);
	assert_int_equal(pev_space_map(&task->process->space, &m), 0);
}

static bool is_mapped(struct world *w, uint32_t pid, uint64_t addr)
{
	struct pev_process *const p = pev_tasks_find_process(&w->tasks, PEV_HOST, pid);

	return p && pev_process_find(p, addr);
}

static const char *comm_of(struct world *w, uint32_t tid)
{
	const struct pev_task *const task = pev_tasks_find(&w->tasks, PEV_HOST, tid);

	return task && task->comm ? task->comm : "-";
}

static void test_forks_copy_and_threads_share(void **state)
{
	struct world *const w = *state;

	comm(w, 10, 10, "shell", false);
	map(w, 10, 100);
	fork_task(w, 10, 10, 11, 11);
	fork_task(w, 10, 10, 10, 12);
	assert_string_equal(comm_of(w, 11), "shell");
	assert_string_equal(comm_of(w, 12), "shell");
	comm(w, 10, 12, "worker", false);
	map(w, 10, 200);
	map(w, 11, 300);
	assert_true(is_mapped(w, 10, 105) && is_mapped(w, 11, 105));
	assert_true(is_mapped(w, 10, 205) && !is_mapped(w, 11, 205));
	assert_true(!is_mapped(w, 10, 305) && is_mapped(w, 11, 305));
	assert_string_equal(comm_of(w, 10), "shell");
	assert_string_equal(comm_of(w, 12), "worker");
	assert_int_equal(w->tasks.nr_processes, 2);
}

static void test_a_fork_of_a_snapshot_has_no_memory_yet(void **state)
{
	struct world *const w = *state;
	const struct pev_fork fork = {
		.pid = 2, .tid = 2, .ppid = 1, .ptid = 1, .told_later = true
	};

	comm(w, 1, 1, "init", false);
	map(w, 1, 100);
	assert_int_equal(pev_tasks_fork(&w->tasks, &fork), 0);
	assert_false(is_mapped(w, 2, 105));
	assert_string_equal(comm_of(w, 2), "init");
}

static void test_exec_ends_when_the_new_program_runs(void **state)
{
	struct world *const w = *state;

	map(w, 10, 100);
	comm(w, 10, 10, "new", true);
	map(w, 10, 200);
	/* In the last part of execve(2) the chain still leads into the old program. */
	assert_true(is_mapped(w, 10, 105) && is_mapped(w, 10, 205));
	pev_process_runs(pev_tasks_find_process(&w->tasks, PEV_HOST, 10));
	assert_true(!is_mapped(w, 10, 105) && is_mapped(w, 10, 205));
	/* prctl(PR_SET_NAME) is no exec. */
	comm(w, 10, 10, "other", false);
	assert_true(is_mapped(w, 10, 205));
}

static void test_numbers_are_used_again(void **state)
{
	struct world *const w = *state;

	comm(w, 10, 10, "first", false);
	map(w, 10, 100);
	pev_tasks_exit(&w->tasks, 10);
	assert_true(is_mapped(w, 10, 105));
	assert_string_equal(comm_of(w, 10), "first");
	pev_tasks_exit(&w->tasks, 10);
	pev_tasks_exit(&w->tasks, 4711);
	comm(w, 1, 1, "init", false);
	fork_task(w, 1, 1, 10, 10);
	assert_false(is_mapped(w, 10, 105));
	assert_string_equal(comm_of(w, 10), "init");
	/* The end of a thread was lost, and its number is now one of another process. */
	fork_task(w, 10, 10, 10, 20);
	comm(w, 20, 20, "second", false);
	assert_int_equal(pev_tasks_find(&w->tasks, PEV_HOST, 20)->process->pid, 20);
	/* A task is never its own parent. */
	fork_task(w, 20, 20, 20, 20);
	assert_string_equal(comm_of(w, 20), "second");
}

static void test_guests_are_apart(void **state)
{
	struct world *const w = *state;

	comm(w, 10, 10, "host", false);
	assert_int_equal(pev_tasks_comm(&w->tasks, PEV_GUEST, 10, 10, "guest", false), 0);
	assert_string_equal(comm_of(w, 10), "host");
	assert_string_equal(pev_tasks_find(&w->tasks, PEV_GUEST, 10)->comm, "guest");
}

static void test_the_oldest_that_ended_are_forgotten(void **state)
{
	struct world *const w = *state;
	const uint32_t nr = 10000;

	comm(w, 1, 1, "init", false);
	for (uint32_t i = 2; i < nr; i++) {
		fork_task(w, 1, 1, i, i);
		map(w, i, 100);
		if (i != 5)
			pev_tasks_exit(&w->tasks, i);
	}
	/* One that is back is no longer of those that ended. */
	comm(w, nr - 3, nr - 3, "back", false);
	assert_true(w->tasks.nr_forgotten > 4000);
	assert_int_equal(w->tasks.tasks.nr, w->tasks.processes.nr);
	assert_int_equal(w->tasks.tasks.nr + w->tasks.nr_forgotten, nr - 1);
	assert_false(is_mapped(w, 2, 105));
	assert_true(is_mapped(w, 5, 105));
	assert_true(is_mapped(w, nr - 1, 105));
	assert_string_equal(comm_of(w, nr - 3), "back");
}

static int play(struct world *w)
{
	const struct pev_fork fork = { .pid = 2, .tid = 2, .ppid = 1, .ptid = 1 };
	const struct pev_mapping m = { .start = 100, .end = 110 };
	struct pev_task *task;
	int r;

	r = pev_tasks_comm(&w->tasks, PEV_HOST, 1, 1, "init", false);
	if (r < 0)
		return r;
	task = pev_tasks_get(&w->tasks, PEV_HOST, 1, 1);
	if (!task)
		return -ENOMEM;
	r = pev_space_map(&task->process->space, &m);
	return r < 0 ? r : pev_tasks_fork(&w->tasks, &fork);
}

static void test_no_memory(void **state)
{
	bool failed = true;

	(void)state;
	for (unsigned int n = 1; failed; n++) {
		void *own;
		int r;

		(void)setup(&own);
		alloc_fail_at(n);
		r = play(own);
		failed = alloc_fail_end();
		assert_int_equal(r, failed ? -ENOMEM : 0);
		(void)teardown(&own);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_is_like_a_list),
		cmocka_unit_test(test_table_without_memory),
		cmocka_unit_test_setup_teardown(test_forks_copy_and_threads_share, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_fork_of_a_snapshot_has_no_memory_yet, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_exec_ends_when_the_new_program_runs, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_numbers_are_used_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_guests_are_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_oldest_that_ended_are_forgotten, setup,
						teardown),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
