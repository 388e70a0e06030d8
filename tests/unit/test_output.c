// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "base/io.h"
#include "recorder/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each test has a folder of its own, which is the current one. */
static int enter_folder(void **state)
{
	char *const path = strdup("/tmp/pevrec-test-XXXXXX");

	*state = path;
	return !path || !mkdtemp(path) || chdir(path) < 0 ? -1 : 0;
}

static int leave_folder(void **state)
{
	static const char *const names[] = { "t", "t.old", "fifo", "link", "target" };

	for (size_t i = 0; i < PEV_ARRAY_SIZE(names); i++)
		(void)unlink(names[i]);
	(void)rmdir("folder");
	if (chdir("/") < 0 || rmdir(*state) < 0)
		return -1;
	free(*state);
	return 0;
}

static void put(const char *name, const char *text)
{
	const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pev_write_all(fd, text, strlen(text)), 0);
	(void)close(fd);
}

/* What @name holds; NULL when there is no such file. */
static void assert_holds(const char *name, const char *text)
{
	struct pev_buf buf = { 0 };
	const int r = pev_read_path(name, 1000, &buf);

	if (text) {
		assert_int_equal(r, 0);
		assert_string_equal((const char *)buf.data, text);
	} else {
		assert_int_equal(r, -ENOENT);
	}
	pev_buf_done(&buf);
}

static struct pev_output open_regular(const char *path)
{
	struct pev_output o = PEV_OUTPUT_INIT;

	assert_int_equal(pev_output_open(path, &o, NULL), 0);
	assert_string_equal(o.name, path);
	assert_int_equal(o.fd, -1);
	return o;
}

/* What was there before; what is there once way was made, and after a recording that came to
 * nothing. */
static void test_make_way_and_undo(void **state)
{
	static const struct {
		const char *t, *older;
		const char *made_older;
		const char *undone, *undone_older;
	} cases[] = {
		{ NULL, NULL, NULL, NULL, NULL }, { "a", NULL, "a", "a", NULL },
		{ "a", "b", "a", "a", NULL },     { NULL, "b", "b", NULL, "b" },
		{ "", "b", "b", NULL, "b" }, /* empty: not worth the older one */
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		struct pev_output o;

		if (cases[i].t)
			put("t", cases[i].t);
		if (cases[i].older)
			put("t.old", cases[i].older);
		o = open_regular("t");
		/* Only a look, so far. */
		assert_holds("t", cases[i].t);
		assert_holds("t.old", cases[i].older);
		pev_output_undo(&o);
		assert_holds("t", cases[i].t);

		assert_int_equal(pev_output_make_way(&o, NULL), 0);
		assert_holds("t", NULL);
		assert_holds("t.old", cases[i].made_older);
		put("t", "new");
		pev_output_undo(&o);
		assert_holds("t", cases[i].undone);
		assert_holds("t.old", cases[i].undone_older);
		pev_output_done(&o);
		(void)unlink("t");
		(void)unlink("t.old");
	}
}

/* The link makes way, not what it leads to. */
static void test_link(void **state)
{
	struct pev_output o;

	(void)state;
	put("target", "x");
	assert_int_equal(symlink("target", "t"), 0);
	o = open_regular("t");
	assert_int_equal(pev_output_make_way(&o, NULL), 0);
	assert_holds("t", NULL);
	assert_holds("t.old", "x");
	assert_holds("target", "x");
	pev_output_done(&o);
}

static void test_cannot_make_way(void **state)
{
	struct pev_err err = PEV_ERR_INIT;
	struct pev_output o;

	(void)state;
	put("t", "a");
	assert_int_equal(mkdir("folder", 0700), 0);
	assert_int_equal(rename("folder", "t.old"), 0);
	o = open_regular("t");
	assert_int_equal(pev_output_make_way(&o, &err), -EISDIR);
	assert_err(&err, -EISDIR, "cannot keep the older trace t as t.old: Is a directory");
	pev_output_undo(&o);
	assert_holds("t", "a");
	assert_int_equal(rmdir("t.old"), 0);
}

static void test_refused(void **state)
{
	static const struct {
		const char *path;
		int code;
		const char *msg;
	} cases[] = {
		{ "", -EINVAL, "-o names no file" },
		{ ".", -EISDIR,
		  "cannot write the trace to .: it is a directory; name a file in it" },
		{ "fifo", -ENXIO,
		  "cannot write to fifo: nobody reads from it: start the reader first" },
	};

	(void)state;
	assert_int_equal(mkfifo("fifo", 0600), 0);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		struct pev_output o = PEV_OUTPUT_INIT;
		struct pev_err err = PEV_ERR_INIT;

		assert_int_equal(pev_output_open(cases[i].path, &o, &err), cases[i].code);
		assert_err(&err, cases[i].code, cases[i].msg);
		assert_int_equal(o.fd, -1);
	}
}

static void test_terminal(void **state)
{
	const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
	struct pev_err err = PEV_ERR_INIT;
	struct pev_output o = PEV_OUTPUT_INIT;
	char name[64], expected[256];

	(void)state;
	if (terminal < 0 || grantpt(terminal) < 0 || unlockpt(terminal) < 0)
		skip();
	assert_int_equal(ptsname_r(terminal, name, sizeof(name)), 0);
	assert_int_equal(pev_output_open(name, &o, &err), -EINVAL);
	(void)snprintf(expected, sizeof(expected),
		       "refusing to write a trace to a terminal (%s): redirect standard output, or "
		       "name a file with -o",
		       name);
	assert_err(&err, -EINVAL, expected);
	(void)close(terminal);
}

/* Streams are opened, not moved away; writes to them wait for the reader. */
static void test_streams(void **state)
{
	struct pev_output o = PEV_OUTPUT_INIT;
	struct stat st;
	int reader;

	(void)state;
	assert_int_equal(pev_output_open("/dev/null", &o, NULL), 0);
	assert_true(o.fd >= 0);
	assert_int_equal(pev_output_make_way(&o, NULL), 0);
	pev_output_undo(&o);
	pev_output_done(&o);
	assert_int_equal(o.fd, -1);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));

	assert_int_equal(mkfifo("fifo", 0600), 0);
	reader = open("fifo", O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	assert_int_equal(pev_output_open("fifo", &o, NULL), 0);
	assert_int_equal(fcntl(o.fd, F_GETFL) & O_NONBLOCK, 0);
	pev_output_done(&o);
	(void)close(reader);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)
	const struct CMUnitTest tests[] = {
		IN_FOLDER(test_make_way_and_undo), IN_FOLDER(test_link),
		IN_FOLDER(test_cannot_make_way),   IN_FOLDER(test_refused),
		IN_FOLDER(test_terminal),          IN_FOLDER(test_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
