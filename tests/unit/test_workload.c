// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "recorder/workload.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char sh[] = "sh", dash_c[] = "-c";

static void run(const char *script, struct pev_workload *w)
{
	char *argv[] = { sh, dash_c, strdup(script), NULL };

	assert_int_equal(pev_workload_prepare(argv, w, NULL), 0);
	assert_false(pev_workload_ended(w));
	assert_int_equal(pev_workload_start(w, argv[0], NULL), 0);
	free(argv[2]);
}

/* Without polling: until the process is a zombie. */
static void wait_for_end(const struct pev_workload *w)
{
	siginfo_t info;

	while (waitid(P_PID, (id_t)w->pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
}

static void test_exit_codes(void **state)
{
	static const struct {
		const char *script;
		int code;
	} cases[] = { { "exit 0", 0 }, { "exit 3", 3 }, { "kill -9 $$", 128 + SIGKILL } };

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		struct pev_workload w = PEV_WORKLOAD_INIT;

		run(cases[i].script, &w);
		wait_for_end(&w);
		assert_true(pev_workload_ended(&w));
		assert_int_equal(pev_workload_exit_code(&w), cases[i].code);
		pev_workload_done(&w);
	}
}

static void test_missing_command(void **state)
{
	struct pev_err err = PEV_ERR_INIT;

	(void)state;
	assert_int_equal(pev_workload_check("pevrec-no-such-command", &err), -ENOENT);
	assert_non_null(
		strstr(err.msg, "cannot run pevrec-no-such-command: No such file or directory"));
	assert_int_equal(pev_workload_refusal(-ENOENT), 127);
	assert_int_equal(pev_workload_check("/etc/passwd", &err), -EACCES);
	assert_non_null(strstr(err.msg, "cannot run /etc/passwd: Permission denied"));
	assert_int_equal(pev_workload_refusal(-EACCES), 126);
	assert_int_equal(pev_workload_check(sh, &err), 0);
}

/* What looks like a command and is none: only the exec tells. */
static void test_missing_interpreter(void **state)
{
	static char path[] = "/tmp/pevrec-test-workload.XXXXXX";
	const char script[] = "#!/no/such/interpreter\n";
	const int fd = mkstemp(path);
	char *argv[] = { path, NULL };
	struct pev_workload w = PEV_WORKLOAD_INIT;
	struct pev_err err = PEV_ERR_INIT;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, script, sizeof(script) - 1), sizeof(script) - 1);
	assert_int_equal(fchmod(fd, 0700), 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(pev_workload_check(path, &err), 0);
	assert_int_equal(pev_workload_prepare(argv, &w, NULL), 0);
	assert_int_equal(pev_workload_start(&w, path, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "its interpreter is missing"));
	assert_int_equal(pev_workload_exit_code(&w), 127);
	pev_workload_done(&w);
	(void)unlink(path);
}

static void test_check(void **state)
{
	static const struct {
		const char *path, *name;
		int r;
		const char *msg;
	} cases[] = {
		{ "/usr/bin:/bin", "sh", 0, NULL },
		{ NULL, "sh", 0, NULL },
		{ "/no/such", "/bin/sh", 0, NULL },
		{ "/no/such:/bin", "sh", 0, NULL },
		{ "/no/such", "sh", -ENOENT,
		  "cannot run sh: No such file or directory; is it installed and on the PATH?" },
		{ "/etc:/no/such", "passwd", -EACCES,
		  "cannot run passwd: Permission denied: it is no program that this user may run" },
		{ "/etc:/bin", "sh", 0, NULL },
		{ "/bin", "/etc", -EACCES,
		  "cannot run /etc: Permission denied: it is no program that this user may run" },
		{ "/bin", "./no-such", -ENOENT,
		  "cannot run ./no-such: No such file or directory; is it installed and on the "
		  "PATH?" },
		{ "/bin", "", -ENOENT,
		  "cannot run : No such file or directory; is it installed and on the PATH?" },
	};
	char *const before = strdup(getenv("PATH"));

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		struct pev_err err = PEV_ERR_INIT;

		if (cases[i].path)
			(void)setenv("PATH", cases[i].path, 1);
		else
			(void)unsetenv("PATH");
		assert_int_equal(pev_workload_check(cases[i].name, &err), cases[i].r);
		if (cases[i].r)
			assert_err(&err, cases[i].r, cases[i].msg);
	}
	(void)setenv("PATH", before, 1);
	free(before);
	assert_int_equal(pev_workload_refusal(-ENOENT), 127);
	assert_int_equal(pev_workload_refusal(-EACCES), 126);
	assert_int_equal(pev_workload_refusal(-ENOEXEC), 126);
}

/* One that was prepared and never started must not stay behind. */
static void test_never_started(void **state)
{
	char script[] = "exit 0";
	char *argv[] = { sh, dash_c, script, NULL };
	struct pev_workload w = PEV_WORKLOAD_INIT;
	pid_t pid;

	(void)state;
	assert_int_equal(pev_workload_prepare(argv, &w, NULL), 0);
	pid = w.pid;
	pev_workload_done(&w);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

static void test_stop(void **state)
{
	struct pev_workload w = PEV_WORKLOAD_INIT;

	(void)state;
	run("exec sleep 1000", &w);
	pev_workload_stop(&w, SIGTERM);
	assert_true(pev_workload_ended(&w));
	assert_int_equal(pev_workload_exit_code(&w), 128 + SIGTERM);
	pev_workload_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_codes),    cmocka_unit_test(test_missing_command),
		cmocka_unit_test(test_check),         cmocka_unit_test(test_missing_interpreter),
		cmocka_unit_test(test_never_started), cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
