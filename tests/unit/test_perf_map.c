// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "unwind/perf_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char text[] = "1000 100 LazyCompile:*fib /srv/app.js:1:13\n"
			   "0x1100 0x80 py::main:/srv/app.py\n"
			   "1080 100 over_the_end_of_one_and_the_start_of_another\n"
			   "10a0 10 within\n"
			   "2000 40 Ljava/lang/String;::hashCode\n"
			   "2000 20 again_and_shorter\n"
			   "3000 0 nothing\n"
			   "not a line\n"
			   "7f0000000000 10 cut";

static struct pev_perf_map *parse(const char *bytes, size_t size)
{
	struct pev_err err = PEV_ERR_INIT;
	struct pev_perf_map *m = NULL;

	if (pev_perf_map_new(bytes, size, &m, &err) < 0)
		fail_msg("%s", err.msg);
	return m;
}

static void assert_name(const struct pev_perf_map *m, uint64_t addr, const char *name)
{
	struct pev_perf_map_symbol s;

	if (pev_perf_map_find(m, addr, &s) != (name != NULL))
		fail_msg("%#lx: wrong to be %s", addr, name ? "missing" : "there");
	if (!name)
		return;
	if (s.name_size != strlen(name) || memcmp(s.name, name, s.name_size) != 0)
		fail_msg("%#lx is %.*s and not %s", addr, (int)s.name_size, s.name, name);
	assert_true(addr >= s.start && addr < s.end);
}

static void later_lines_win(void **state)
{
	struct pev_perf_map *const m = parse(text, strlen(text));
	const struct pev_perf_map_counters *const n = pev_perf_map_counters(m);
	static const char over[] = "over_the_end_of_one_and_the_start_of_another";
	struct pev_perf_map_symbol s;

	(void)state;
	assert_name(m, 0xfff, NULL);
	assert_name(m, 0x1000, "LazyCompile:*fib /srv/app.js:1:13");
	assert_name(m, 0x107f, "LazyCompile:*fib /srv/app.js:1:13");
	assert_name(m, 0x1080, over);
	assert_name(m, 0x109f, over);
	assert_name(m, 0x10a0, "within");
	assert_name(m, 0x10af, "within");
	assert_name(m, 0x10b0, over);
	assert_name(m, 0x117f, over);
	assert_name(m, 0x1180, NULL);
	assert_name(m, 0x2000, "again_and_shorter");
	assert_name(m, 0x201f, "again_and_shorter");
	assert_name(m, 0x2020, "Ljava/lang/String;::hashCode");
	assert_name(m, 0x3000, NULL);
	assert_name(m, 0x7f000000000f, "cut");
	assert_name(m, UINT64_MAX, NULL);
	/* Start and end are those of the line, not of what is left of it. */
	assert_true(pev_perf_map_find(m, 0x2020, &s));
	assert_int_equal(s.start, 0x2000);
	assert_int_equal(s.end, 0x2040);
	assert_int_equal(n->lines, 9);
	assert_int_equal(n->kept, 7);
	assert_int_equal(n->empty, 1);
	assert_int_equal(n->bad, 1);
	pev_perf_map_free(m);
}

static void bad_lines_are_counted(void **state)
{
	static const struct {
		const char *line;
		unsigned kept, bad;
	} cases[] = {
		{ "", 0, 0 },
		{ "\n", 0, 1 },
		{ "1000", 0, 1 },
		{ "1000 10", 0, 1 },
		{ "1000 10 ", 0, 1 },
		{ "1000 10 x", 1, 0 },
		{ "1000  10\tx", 1, 0 },
		{ "1000 10 x\r\n", 1, 0 },
		{ " 1000 10 x", 0, 1 },
		{ "0x 10 x", 0, 1 },
		{ "1000 g x", 0, 1 },
		{ "10000000000000000 10 x", 0, 1 }, /* 17 digits */
		{ "ffffffffffffffff 1 x", 0, 1 },   /* ends beyond 2^64 - 1 */
		{ "fffffffffffffff0 f x", 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		struct pev_perf_map *const m = parse(cases[i].line, strlen(cases[i].line));
		const struct pev_perf_map_counters *const n = pev_perf_map_counters(m);

		if (n->kept != cases[i].kept || n->bad != cases[i].bad)
			fail_msg("\"%s\" was not read right", cases[i].line);
		pev_perf_map_free(m);
	}
}

/* Random overlapping lines against the obvious way to do it. */
static void like_painting_byte_by_byte(void **state)
{
	enum {
		BYTES = 512
	};
	uint64_t seed = 7;

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		int owner[BYTES];
		char lines[4096];
		size_t n = 0;
		struct pev_perf_map *m;

		memset(owner, 0xff, sizeof(owner));
		for (int i = 0; i < 60; i++) {
			unsigned start, size;

			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			start = (unsigned)(seed >> 40) % BYTES;
			size = (unsigned)(seed >> 20) % (1 + round % 90);
			size = PEV_MIN(size, (unsigned)BYTES - start);
			n += (size_t)snprintf(lines + n, sizeof(lines) - n, "%x %x n%d\n", start,
					      size, i);
			for (unsigned k = start; k < start + size; k++)
				owner[k] = i;
		}
		m = parse(lines, n);
		for (unsigned k = 0; k < BYTES; k++) {
			char name[16];

			(void)snprintf(name, sizeof(name), "n%d", owner[k]);
			assert_name(m, k, owner[k] < 0 ? NULL : name);
		}
		pev_perf_map_free(m);
	}
}

static void damaged_text(void **state)
{
	const size_t size = strlen(text);

	(void)state;
	for (size_t i = 0; i <= size + 8 * size; i++) {
		const size_t n = i <= size ? i : size;
		char *const copy = malloc(n + 1);
		struct pev_perf_map_symbol s;
		struct pev_perf_map *m;

		assert_non_null(copy);
		memcpy(copy, text, n);
		if (i > size)
			copy[(i - size - 1) / 8] ^= (char)(1 << (i - size - 1) % 8);
		m = parse(copy, n);
		for (uint64_t addr = 0x1000; addr < 0x3000; addr += 0x30)
			if (pev_perf_map_find(m, addr, &s))
				assert_true(s.name >= copy && s.name + s.name_size <= copy + n);
		pev_perf_map_free(m);
		free(copy);
	}
}

static void too_big_is_said(void **state)
{
	struct pev_err err = PEV_ERR_INIT;
	struct pev_perf_map *m = NULL;

	(void)state;
	assert_int_equal(pev_perf_map_new(text, UINT32_MAX, &m, &err), -E2BIG);
	assert_non_null(strstr(err.msg, "4 GiB"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(later_lines_win),
		cmocka_unit_test(bad_lines_are_counted),
		cmocka_unit_test(like_painting_byte_by_byte),
		cmocka_unit_test(damaged_text),
		cmocka_unit_test(too_big_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
