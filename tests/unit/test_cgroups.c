// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "collect.h"
#include "recorder/cgroups.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define V2     "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n"
#define V1_CPU "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
#define V1_PERF \
	"33 31 0:30 / /sys/fs/cgroup/perf rw,relatime - cgroup cgroup rw,net_prio,perf_event\n"
#define OTHER "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw,perf_event\n"

struct mount_case {
	const char *text;
	int r;
	const char *path, *root;
};

static const struct mount_case cases[] = {
	{ OTHER V1_CPU V2, 0, "/sys/fs/cgroup/unified", "/" },
	{ V2 V1_PERF, 0, "/sys/fs/cgroup/perf", "/" },
	{ V1_PERF V2, 0, "/sys/fs/cgroup/perf", "/" },
	{ "1 2 0:3 /docker/a\\040b /mnt/x\\134y rw - cgroup2 none rw", 0, "/mnt/x\\y",
	  "/docker/a b" },
	/* Of several mounts of one hierarchy the first does. */
	{ V2 "42 31 0:38 /below /elsewhere rw - cgroup2 cgroup2 rw\n", 0, "/sys/fs/cgroup/unified",
	  "/" },
	{ "", -ENOENT, NULL, NULL },
	{ OTHER V1_CPU, -ENOENT, NULL, NULL },
	{ "1 2 0:3 / /x rw - cgroup cgroup rw,perf_events\n", -ENOENT, NULL, NULL },
	{ "1 2 0:3 / /x rw cgroup2 cgroup2 rw\n", -ENOENT, NULL, NULL },
	{ "1 2 0:3 /  rw - cgroup2 cgroup2 rw\n", -ENOENT, NULL, NULL },
	{ "1 2 0:3 / x rw - cgroup2 cgroup2 rw\n", -ENOENT, NULL, NULL },
	{ "-\n - \n\n", -ENOENT, NULL, NULL },
};

static void test_mounts(void **state)
{
	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		struct pev_cursor c = pev_cursor(cases[i].text, strlen(cases[i].text));
		struct pev_cgroup_mount mount;

		print_message("case %zu\n", i);
		assert_int_equal(pev_cgroup_find_mount(&c, &mount), cases[i].r);
		if (cases[i].r < 0)
			continue;
		assert_string_equal(mount.path, cases[i].path);
		assert_string_equal(mount.root, cases[i].root);
	}
}

static void find_in(const char *text, size_t size)
{
	_cleanup_free_ char *copy = malloc(size + !size);
	struct pev_cgroup_mount mount;
	struct pev_cursor c;

	assert_non_null(copy);
	memcpy(copy, text, size);
	c = pev_cursor(copy, size);
	if (pev_cgroup_find_mount(&c, &mount) == 0) {
		assert_int_equal(mount.path[0], '/');
		assert_int_equal(mount.root[0], '/');
	}
}

static void test_damaged(void **state)
{
	static const char text[] = V1_CPU V2;

	(void)state;
	for (size_t n = 0; n < sizeof(text); n++)
		find_in(text, n);
	for (size_t bit = 0; bit < (sizeof(text) - 1) * 8; bit++) {
		char copy[sizeof(text)];

		memcpy(copy, text, sizeof(text));
		copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
		find_in(copy, sizeof(text) - 1);
	}
}

/* A tree of plain directories is walked like one of cgroups. */
static const char *const tree[] = { "a", "a/deep", "a/deep/er", "b", "c" };

static int make_tree(struct pev_cgroup_mount *mount, const char *root)
{
	char path[PATH_MAX * 2];

	(void)snprintf(mount->path, sizeof(mount->path), "test-cgroups-XXXXXX");
	(void)snprintf(mount->root, sizeof(mount->root), "%s", root);
	if (!mkdtemp(mount->path))
		return -1;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(tree); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", mount->path, tree[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	(void)snprintf(path, sizeof(path), "%s/a/file", mount->path);
	assert_int_equal(mknod(path, S_IFREG | 0600, 0), 0);
	return 0;
}

static void remove_tree(const struct pev_cgroup_mount *mount)
{
	char path[PATH_MAX * 2];

	(void)snprintf(path, sizeof(path), "%s/a/file", mount->path);
	(void)unlink(path);
	for (size_t i = PEV_ARRAY_SIZE(tree); i-- > 0;) {
		(void)snprintf(path, sizeof(path), "%s/%s", mount->path, tree[i]);
		(void)rmdir(path);
	}
	(void)rmdir(mount->path);
}

static void check_walk(const char *root, const char *prefix)
{
	struct pev_cgroup_mount mount;
	bool seen[PEV_ARRAY_SIZE(tree)] = { false };
	uint64_t count = 0, nr = 0;
	struct pev_record rec;
	struct pev_emit e;
	struct collect c;

	assert_int_equal(make_tree(&mount, root), 0);
	collect_init(&c);
	e = (struct pev_emit){ .attr = &collect_attr, .sink = &c.sink };
	assert_int_equal(pev_cgroups_below(&e, &mount, &count, NULL), 0);
	assert_int_equal(pev_emit_flush(&e), 0);
	assert_int_equal(count, 1 + PEV_ARRAY_SIZE(tree));
	for (; collect_next(&c, &rec); nr++) {
		const char *path = rec.cgroup.path;

		assert_int_equal(rec.hdr.type, PEV_REC_CGROUP);
		assert_true(rec.cgroup.id > 0);
		if (nr == 0) {
			assert_string_equal(path, prefix[0] ? prefix : "/");
			continue;
		}
		assert_memory_equal(path, prefix, strlen(prefix));
		path += strlen(prefix);
		for (size_t i = 0; i < PEV_ARRAY_SIZE(tree); i++) {
			if (strcmp(path + 1, tree[i]) != 0)
				continue;
			assert_false(seen[i]);
			/* Parents come first. */
			assert_true(i != 1 || seen[0]);
			assert_true(i != 2 || seen[1]);
			seen[i] = true;
		}
	}
	assert_int_equal(nr, count);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(tree); i++)
		assert_true(seen[i]);
	pev_emit_done(&e);
	collect_done(&c);
	remove_tree(&mount);
}

static void test_walk(void **state)
{
	(void)state;
	check_walk("/", "");
	check_walk("/docker/abc", "/docker/abc");
	check_walk("/../..", "");
}

static void test_errors(void **state)
{
	struct pev_cgroup_mount mount = { .path = "/nonexistent/cgroup", .root = "/" };
	struct pev_err err = PEV_ERR_INIT;
	uint64_t count = 77;
	struct pev_emit e;
	struct collect c;
	bool failed = true;

	(void)state;
	collect_init(&c);
	e = (struct pev_emit){ .attr = &collect_attr, .sink = &c.sink };
	assert_int_equal(pev_cgroups_below(&e, &mount, &count, &err), -ENOENT);
	assert_err(&err, -ENOENT,
		   "cannot open the cgroup mount /nonexistent/cgroup: No such file or directory");
	assert_int_equal(make_tree(&mount, "/"), 0);
	for (unsigned int n = 1; failed; n++) {
		int r;

		pev_emit_done(&e);
		e = (struct pev_emit){ .attr = &collect_attr, .sink = &c.sink };
		alloc_fail_at(n);
		r = pev_cgroups_below(&e, &mount, &count, &err);
		failed = alloc_fail_end();
		assert_int_equal(r, failed ? -ENOMEM : 0);
		assert_int_equal(count, failed ? 77 : 1 + PEV_ARRAY_SIZE(tree));
	}
	pev_emit_done(&e);
	collect_done(&c);
	remove_tree(&mount);
}

/* On a real cgroup v2 mount ids are the inode numbers of the directories. */
static void test_running_system(void **state)
{
	_cleanup_buf_ struct pev_buf text = { 0 };
	struct pev_cgroup_mount mount;
	struct pev_record rec;
	struct pev_cursor cursor;
	struct pev_emit e;
	struct collect c;
	uint64_t count = 0, nr = 0;

	(void)state;
	assert_int_equal(pev_read_path("/proc/self/mountinfo", 1 << 24, &text), 0);
	cursor = pev_cursor(text.data, text.size);
	if (pev_cgroup_find_mount(&cursor, &mount) < 0 || strcmp(mount.root, "/") != 0)
		skip(); /* no cgroups here */
	collect_init(&c);
	e = (struct pev_emit){ .attr = &collect_attr, .sink = &c.sink };
	assert_int_equal(pev_cgroups(&e, &count, NULL), 0);
	assert_int_equal(pev_emit_flush(&e), 0);
	for (; collect_next(&c, &rec); nr++) {
		char path[2 * PATH_MAX];
		struct stat st;

		if (nr == 0)
			assert_string_equal(rec.cgroup.path, "/");
		(void)snprintf(path, sizeof(path), "%s/%s", mount.path, rec.cgroup.path);
		if (stat(path, &st) == 0) /* they come and go */
			assert_int_equal(rec.cgroup.id, st.st_ino);
	}
	assert_int_equal(nr, count);
	pev_emit_done(&e);
	collect_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mounts),         cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_walk),           cmocka_unit_test(test_errors),
		cmocka_unit_test(test_running_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
