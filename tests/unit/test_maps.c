// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "base/cleanup.h"
#include "recorder/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define RX (PROT_READ | PROT_EXEC)

struct line_case {
	const char *text;
	int r;
	struct pev_mapping m;
};

static const struct line_case cases[] = {
	{ "7f1271c44000-7f1271d9a000 r-xp 00026000 fe:00 333131                     "
	  "/usr/lib/libc.so.6\n",
	  1,
	  { 0x7f1271c44000, 0x7f1271d9a000, 0x26000, 0xfe, 0, 333131, RX, MAP_PRIVATE,
	    "/usr/lib/libc.so.6", 0 } },
	{ "1000-2000 ---s ffffffffffffffff ffffffff:ffffffff 18446744073709551615 /x\n",
	  1,
	  { 0x1000, 0x2000, UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT64_MAX, 0, MAP_SHARED, "/x",
	    0 } },
	{ "1000-2000 rwxp 00000000 00:00 0 \n",
	  1,
	  { 0x1000, 0x2000, 0, 0, 0, 0, RX | PROT_WRITE, MAP_PRIVATE, "//anon", 0 } },
	{ "1000-2000 rw-p 00000000 00:00 0\n",
	  1,
	  { 0x1000, 0x2000, 0, 0, 0, 0, PROT_READ | PROT_WRITE, MAP_PRIVATE, "//anon", 0 } },
	{ "1000-2000 rwxp 00000000 00:00 0   [anon:v8]\n",
	  1,
	  { 0x1000, 0x2000, 0, 0, 0, 0, RX | PROT_WRITE, MAP_PRIVATE, "//anon", 0 } },
	{ "1000-2000 rwxs 00000000 00:01 9   [anon_shmem:jit]\n",
	  1,
	  { 0x1000, 0x2000, 0, 0, 1, 9, RX | PROT_WRITE, MAP_SHARED, "/dev/zero (deleted)", 0 } },
	{ "1000-2000 r-xp 00000000 00:00 0   [vdso]\n",
	  1,
	  { 0x1000, 0x2000, 0, 0, 0, 0, RX, MAP_PRIVATE, "[vdso]", 0 } },
	{ "1000-2000 r-xp 00000000 08:01 5   /tmp/a b  c (deleted)\n",
	  1,
	  { 0x1000, 0x2000, 0, 8, 1, 5, RX, MAP_PRIVATE, "/tmp/a b  c (deleted)", 0 } },
	{ "1000-2000 r-xp 00000000 08:01 5   /tmp/a\\012b\\01c\\012\n",
	  1,
	  { 0x1000, 0x2000, 0, 8, 1, 5, RX, MAP_PRIVATE, "/tmp/a\nb\\01c\n", 0 } },
	{ "200000-400000 r-xp 00000000 00:0f 5  /anon_hugepage (deleted)\n",
	  1,
	  { 0x200000, 0x400000, 0, 0, 0xf, 5, RX, MAP_PRIVATE | MAP_HUGETLB,
	    "/anon_hugepage (deleted)", 0 } },
	{ "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0    [vsyscall]\n", 0, { 0 } },
	{ "", 0, { 0 } },
	{ "1000-2000 r-xp 00000000 08:01 5 /x", -ENODATA, { 0 } },
	{ "\n", -EBADMSG, { 0 } },
	{ "garbage\n", -EBADMSG, { 0 } },
	{ "-2000 r-xp 00000000 08:01 5 /x\n", -EBADMSG, { 0 } },
	{ "1000- r-xp 00000000 08:01 5 /x\n", -EBADMSG, { 0 } },
	{ "2000-1000 r-xp 00000000 08:01 5 /x\n", -EBADMSG, { 0 } },
	{ "1000-1000 r-xp 00000000 08:01 5 /x\n", -EBADMSG, { 0 } },
	{ "1000-20000000000000000 r-xp 00000000 08:01 5 /x\n", -EBADMSG, { 0 } },
	{ "1000-200G r-xp 00000000 08:01 5 /x\n", -EBADMSG, { 0 } },
	{ "1000-2000 r-x\n", -EBADMSG, { 0 } },
	{ "1000-2000 r-x- 00000000 08:01 5 /x\n", -EBADMSG, { 0 } },
	{ "1000-2000 xrwp 00000000 08:01 5 /x\n", -EBADMSG, { 0 } },
	{ "1000-2000 r-xp  08:01 5 /x\n", -EBADMSG, { 0 } },
	{ "1000-2000 r-xp 0 08-01 5 /x\n", -EBADMSG, { 0 } },
	{ "1000-2000 r-xp 0 100000000:01 5 /x\n", -EBADMSG, { 0 } },
	{ "1000-2000 r-xp 0 08:01 /x\n", -EBADMSG, { 0 } },
	{ "1000-2000 r-xp 0 08:01 18446744073709551616 /x\n", -EBADMSG, { 0 } },
};

static void assert_same(const struct pev_mapping *a, const struct pev_mapping *b)
{
	assert_int_equal(a->start, b->start);
	assert_int_equal(a->end, b->end);
	assert_int_equal(a->pgoff, b->pgoff);
	assert_int_equal(a->maj, b->maj);
	assert_int_equal(a->min, b->min);
	assert_int_equal(a->ino, b->ino);
	assert_int_equal(a->prot, b->prot);
	assert_int_equal(a->flags, b->flags);
	assert_string_equal(a->name, b->name);
	assert_int_equal(a->name_len, strlen(a->name));
}

static void test_lines(void **state)
{
	char name[PEV_MAPPING_NAME_MAX];

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		const struct line_case *const c = &cases[i];
		struct pev_cursor text = pev_cursor(c->text, strlen(c->text));
		struct pev_mapping m;

		print_message("case %zu\n", i);
		assert_int_equal(pev_maps_parse(&text, name, &m), c->r);
		if (c->r == 1)
			assert_same(&m, &c->m);
		/* Whatever it was, reading on is fine. */
		assert_int_equal(pev_maps_parse(&text, name, &m), 0);
	}
}

static void test_bad_line_between(void **state)
{
	static const char text[] =
		"1000-2000 r-xp 0 08:01 5 /a\nrubbish\n3000-4000 r-xp 0 08:01 5 /b\n";
	struct pev_cursor c = pev_cursor(text, sizeof(text) - 1);
	char name[PEV_MAPPING_NAME_MAX];
	struct pev_mapping m;

	(void)state;
	assert_int_equal(pev_maps_parse(&c, name, &m), 1);
	assert_string_equal(m.name, "/a");
	assert_int_equal(pev_maps_parse(&c, name, &m), -EBADMSG);
	assert_int_equal(pev_maps_parse(&c, name, &m), 1);
	assert_string_equal(m.name, "/b");
	assert_int_equal(pev_maps_parse(&c, name, &m), 0);
}

/* The longest name that fits is whole, a longer one is "//toolong", escaped or not. */
static void test_long_names(void **state)
{
	static const struct {
		const char *pad;
		size_t count;
		bool fits;
	} lengths[] = {
		{ "a", PEV_MAPPING_NAME_MAX - 2, true },
		{ "a", PEV_MAPPING_NAME_MAX - 1, false },
		{ "\\012", PEV_MAPPING_NAME_MAX - 2, true },
		{ "\\012", PEV_MAPPING_NAME_MAX - 1, false },
	};
	char name[PEV_MAPPING_NAME_MAX];

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(lengths); i++) {
		_cleanup_buf_ struct pev_buf line = { 0 };
		struct pev_mapping m;
		struct pev_cursor c;

		pev_buf_printf(&line, "1000-2000 r-xp 0 08:01 5 /");
		for (size_t n = 0; n < lengths[i].count; n++)
			pev_buf_printf(&line, "%s", lengths[i].pad);
		pev_buf_u8(&line, '\n');
		c = pev_cursor(line.data, line.size);
		assert_int_equal(pev_maps_parse(&c, name, &m), 1);
		if (lengths[i].fits)
			assert_int_equal(m.name_len, PEV_MAPPING_NAME_MAX - 1);
		else
			assert_string_equal(m.name, "//toolong");
	}
}

static void parse_all(const char *text, size_t size)
{
	_cleanup_free_ char *copy = malloc(size + !size);
	char name[PEV_MAPPING_NAME_MAX];
	struct pev_mapping m;
	struct pev_cursor c;
	int r;

	assert_non_null(copy);
	memcpy(copy, text, size);
	c = pev_cursor(copy, size);
	while ((r = pev_maps_parse(&c, name, &m)) != 0) {
		if (r > 0) {
			assert_true(m.start < m.end);
			assert_int_equal(strlen(m.name), m.name_len);
		} else {
			assert_true(r == -EBADMSG || r == -ENODATA);
		}
	}
}

static void test_damaged(void **state)
{
	static const char text[] =
		"7f1271c44000-7f1271d9a000 r-xp 00026000 fe:00 333131     /usr/a\\012b\n"
		"7ffc1630a000-7ffc1632b000 rw-p 00000000 00:00 0          [stack]\n";
	const size_t size = sizeof(text) - 1;

	(void)state;
	for (size_t n = 0; n <= size; n++)
		parse_all(text, n);
	for (size_t bit = 0; bit < size * 8; bit++) {
		char copy[sizeof(text)];

		memcpy(copy, text, sizeof(text));
		copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
		parse_all(copy, size);
	}
}

/*
 * A live process: this one.
 */

#define MOST 512

struct listing {
	struct pev_mapping list[MOST];
	size_t nr;
};

static void list_self(enum pev_maps_way way, bool exec_only, struct listing *ret)
{
	_cleanup_close_ int procfd = open("/proc", O_RDONLY | O_DIRECTORY);
	_cleanup_free_ struct pev_maps *maps = malloc(sizeof(*maps));
	int r;

	assert_non_null(maps);
	ret->nr = 0;
	pev_maps_init(maps);
	maps->way = way;
	assert_int_equal(pev_maps_open(maps, procfd, getpid(), exec_only), 0);
	assert_int_equal(maps->way, way);
	while ((r = pev_maps_next(maps, &ret->list[ret->nr])) > 0) {
		struct pev_mapping *const m = &ret->list[ret->nr++];

		m->name = strdup(m->name);
		assert_non_null(m->name);
		assert_true(ret->nr < MOST);
	}
	assert_int_equal(r, 0);
	pev_maps_done(maps);
}

static void listing_done(struct listing *l)
{
	for (size_t i = 0; i < l->nr; i++)
		free((void *)(uintptr_t)l->list[i].name);
}

static const struct pev_mapping *find(const struct listing *l, const void *addr)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->list[i].start == (uintptr_t)addr)
			return &l->list[i];
	return NULL;
}

static bool has_query(void)
{
	_cleanup_close_ int procfd = open("/proc", O_RDONLY | O_DIRECTORY);
	_cleanup_free_ struct pev_maps *maps = malloc(sizeof(*maps));
	bool has;

	assert_non_null(maps);
	pev_maps_init(maps);
	assert_int_equal(pev_maps_open(maps, procfd, getpid(), true), 0);
	has = maps->way == PEV_MAPS_QUERY;
	pev_maps_done(maps);
	return has;
}

/* A file of our own with a newline in its name, mapped executable, then deleted. */
static void *map_deleted(char path[PATH_MAX])
{
	_cleanup_close_ int in = open("/proc/self/exe", O_RDONLY), out = -1;
	char dir[] = "test-maps-XXXXXX", bytes[8192];
	void *p;

	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, PATH_MAX, "%s/new\nline", dir);
	out = open(path, O_RDWR | O_CREAT | O_EXCL, 0700);
	assert_true(out >= 0);
	assert_int_equal(read(in, bytes, sizeof(bytes)), sizeof(bytes));
	assert_int_equal(write(out, bytes, sizeof(bytes)), sizeof(bytes));
	p = mmap(NULL, sizeof(bytes), RX, MAP_PRIVATE, out, 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
	return p;
}

static void test_self(void **state)
{
	char path[PATH_MAX];
	void *const deleted = map_deleted(path);
	void *const anon = mmap(NULL, 4096, RX, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *const shared = mmap(NULL, 4096, RX, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct listing text;
	const struct pev_mapping *m;

	(void)state;
	if (deleted == MAP_FAILED)
		skip(); /* a file system mounted noexec */
	list_self(PEV_MAPS_TEXT, true, &text);
	m = find(&text, deleted);
	assert_non_null(m);
	assert_non_null(strstr(m->name, path));
	assert_string_equal(m->name + strlen(m->name) - strlen("new\nline (deleted)"),
			    "new\nline (deleted)");
	assert_int_equal(m->end - m->start, 8192);
	m = find(&text, anon);
	assert_non_null(m);
	assert_string_equal(m->name, "//anon");
	m = find(&text, shared);
	assert_non_null(m);
	assert_string_equal(m->name, "/dev/zero (deleted)");
	assert_int_equal(m->flags, MAP_SHARED);
	listing_done(&text);
	(void)munmap(deleted, 8192);
	(void)munmap(anon, 4096);
	(void)munmap(shared, 4096);
}

static void test_both_ways_agree(void **state)
{
	char path[PATH_MAX];
	void *const deleted = map_deleted(path);

	(void)state;
	if (deleted == MAP_FAILED || !has_query())
		skip();
	for (int exec_only = 0; exec_only < 2; exec_only++) {
		_cleanup_(listing_done) struct listing text = { .nr = 0 }, query = { .nr = 0 };
		size_t same = 0;

		list_self(PEV_MAPS_TEXT, exec_only, &text);
		list_self(PEV_MAPS_QUERY, exec_only, &query);
		/* The heap may have grown in between; nothing else may differ. */
		for (size_t i = 0; i < text.nr; i++) {
			const struct pev_mapping *const m = &text.list[i];
			const struct pev_mapping *const other =
				find(&query, (const void *)(uintptr_t)m->start);

			if (!m->ino)
				continue;
			assert_non_null(other);
			assert_same(m, other);
			same++;
		}
		assert_true(same >= 3);
	}
	(void)munmap(deleted, 8192);
}

/* The kernel and the file itself tell the same build-id, also of a deleted file. */
static void test_build_ids(void **state)
{
	_cleanup_close_ int procfd = open("/proc", O_RDONLY | O_DIRECTORY);
	_cleanup_free_ struct pev_maps *maps = malloc(sizeof(*maps));
	char path[PATH_MAX];
	void *const deleted = map_deleted(path);
	struct pev_mapping m;
	size_t seen = 0;

	(void)state;
	assert_non_null(maps);
	if (deleted == MAP_FAILED || !has_query())
		skip();
	pev_maps_init(maps);
	assert_int_equal(pev_maps_open(maps, procfd, getpid(), true), 0);
	while (pev_maps_next(maps, &m) > 0) {
		struct pev_buildid query = { .size = 99 }, file = { .size = 99 };

		if (!m.ino || m.name[0] != '/')
			continue;
		assert_int_equal(pev_maps_build_id(maps, &m, &query), 0);
		maps->way = PEV_MAPS_TEXT;
		if (pev_maps_build_id(maps, &m, &file) == 0) {
			assert_int_equal(file.size, query.size);
			assert_memory_equal(file.bytes, query.bytes, file.size);
			seen++;
		}
		maps->way = PEV_MAPS_QUERY;
	}
	assert_true(seen > 0);

	/* Unmapped since: nobody knows what was there. */
	m.start = (uintptr_t)deleted;
	(void)munmap(deleted, 8192);
	assert_int_equal(pev_maps_build_id(maps, &m, &(struct pev_buildid){ .size = 0 }), -ESRCH);
	pev_maps_done(maps);
}

static void test_gone(void **state)
{
	_cleanup_close_ int procfd = open("/proc", O_RDONLY | O_DIRECTORY);
	_cleanup_free_ struct pev_maps *maps = malloc(sizeof(*maps));

	(void)state;
	assert_non_null(maps);
	pev_maps_init(maps);
	assert_int_equal(pev_maps_open(maps, procfd, 1 << 23, true), -ENOENT);
	pev_maps_done(maps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),      cmocka_unit_test(test_bad_line_between),
		cmocka_unit_test(test_long_names), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_self),       cmocka_unit_test(test_both_ways_agree),
		cmocka_unit_test(test_build_ids),  cmocka_unit_test(test_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
