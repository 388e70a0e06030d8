// SPDX-License-Identifier: LGPL-2.1-or-later
#include "symbol_fixtures.h"
#include "unwind/demangle.h"
#include "unwind/inlines.h"
#include "unwind/symtab.h"

#include <errno.h>
#include <stdlib.h>

static struct pev_inlines *inlines_of(struct pev_image *image, struct pev_image *alt)
{
	struct pev_err err = PEV_ERR_INIT;
	struct pev_inlines *inl = NULL;

	if (pev_inlines_new(image, alt, &inl, &err) < 0)
		fail_msg("%s", err.msg);
	return inl;
}

/* Where function @name is in @image, which has a .symtab. */
static void find_function(struct pev_image *image, const char *name, uint64_t *ret_start,
			  uint64_t *ret_size)
{
	struct pev_symtab *t = NULL;

	*ret_size = 0;
	assert_int_equal(pev_symtab_new(image, NULL, NULL, NULL, &t, NULL), 0);
	for (size_t i = 0; i < pev_symtab_count(t); i++) {
		struct pev_symbol s;

		pev_symtab_at(t, i, &s);
		if (strcmp(s.name, name) == 0) {
			*ret_start = s.start;
			*ret_size = s.size;
		}
	}
	pev_symtab_free(t);
	assert_true(*ret_size > 0);
}

/* The number of the line of inlines.cc that is marked with @marker. */
static unsigned marked_line(const char *marker)
{
	char line[512];
	unsigned number = 0;
	FILE *const f = fopen(FIXTURES_SOURCE "/inlines.cc", "re");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		number++;
		if (strstr(line, marker))
			break;
	}
	(void)fclose(f);
	return number;
}

static const struct {
	const char *function, *marker;
} chain[] = {
	{ "deep::leaf(int)", "line:leaf" },
	{ "deep::middle(int)", "line:middle" },
	{ "void deep::Caller::method<int>(int)", "line:method" },
	{ "outer(int)", "line:outer" },
};

static bool is_chain(const struct pev_inline_frame *frames, struct pev_demangler *d)
{
	for (size_t i = 0; i < PEV_ARRAY_SIZE(chain); i++) {
		const char *const name =
			frames[i].function ? pev_demangle(d, frames[i].function) : "";
		const char *const slash = frames[i].file ? strrchr(frames[i].file, '/') : NULL;

		/* A static function has no linkage name, and clang writes none in a skeleton's
		 * split unit either: its plain name will do. */
		if (strcmp(name, chain[i].function) != 0 &&
		    !(frames[i].function && strstr(chain[i].function, frames[i].function)))
			return false;
		if (!frames[i].file ||
		    strcmp(slash ? slash + 1 : frames[i].file, "inlines.cc") != 0)
			return false;
		if (frames[i].line != marked_line(chain[i].marker))
			return false;
		if (frames[i].inlined != (i + 1 < PEV_ARRAY_SIZE(chain)))
			return false;
	}
	return true;
}

/* Somewhere in outer() is the store of leaf(), three inlined calls deep. */
static void assert_chain(struct pev_image *image, struct pev_image *alt, struct pev_image *symbols)
{
	struct pev_inlines *const inl = inlines_of(image, alt);
	struct pev_demangler *const d = pev_demangler_new(PEV_DEMANGLE_FULL);
	uint64_t start, size;
	unsigned hits = 0;

	find_function(symbols, "_Z5outeri", &start, &size);
	for (uint64_t at = start; at < start + size; at++) {
		struct pev_inline_frame frames[8];
		const int n = pev_inlines_find(inl, at, frames, PEV_ARRAY_SIZE(frames));

		assert_true(n >= 1);
		hits += n == (int)PEV_ARRAY_SIZE(chain) && is_chain(frames, d);
	}
	assert_true(hits > 0);
	assert_int_equal(pev_inlines_counters(inl)->units_compiled, 1);
	assert_int_equal(pev_inlines_counters(inl)->units_damaged, 0);
	assert_int_equal(pev_inlines_counters(inl)->units_no_split, 0);
	pev_demangler_free(d);
	pev_inlines_free(inl);
}

static void whole_programs(void **state)
{
	static const char *const names[] = { "inl5", "inl4", "inl5-clang" };

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(names); i++) {
		struct pev_image *const image = open_fixture(names[i]);

		assert_chain(image, NULL, image);
		pev_image_free(image);
	}
}

static void separate_debug_file(void **state)
{
	struct pev_image *const debug = open_fixture("link/.debug/inl5.debug");

	(void)state;
	assert_chain(debug, NULL, debug);
	pev_image_free(debug);
}

static void shared_by_dwz(void **state)
{
	struct pev_image *const one = open_fixture("dwz/one"), *const alt =
								       open_fixture("dwz/common");

	(void)state;
	assert_chain(one, alt, one);
	pev_image_free(one);
	pev_image_free(alt);
}

static void split_units(void **state)
{
	static const char *const names[] = { "split5", "split4", "split5-clang", "split4-clang" };
	char name[64];

	(void)state;
	for (size_t i = 0; i < 2 * PEV_ARRAY_SIZE(names); i++) {
		struct pev_image *image;

		(void)snprintf(name, sizeof(name), "%s%s/inlines", names[i / 2],
			       i % 2 ? "-package" : "");
		image = open_fixture(name);
		assert_chain(image, NULL, image);
		pev_image_free(image);
	}
}

/* The same answer for each address, however the split unit is kept. */
static void packages_like_dwo_files(void **state)
{
	static const char *const names[] = { "split5", "split4", "split5-clang", "split4-clang" };
	char name[64];

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(names); i++) {
		struct pev_image *a, *b;
		struct pev_inlines *x, *y;
		uint64_t start, size;

		(void)snprintf(name, sizeof(name), "%s/inlines", names[i]);
		a = open_fixture(name);
		(void)snprintf(name, sizeof(name), "%s-package/inlines", names[i]);
		b = open_fixture(name);
		x = inlines_of(a, NULL);
		y = inlines_of(b, NULL);
		find_function(a, "_Z10containersi", &start, &size);
		for (uint64_t at = start; at < start + size; at++) {
			struct pev_inline_frame f[32], g[32];
			const int n = pev_inlines_find(x, at, f, 32);

			assert_true(n >= 1);
			assert_int_equal(pev_inlines_find(y, at, g, 32), n);
			for (int k = 0; k < n; k++) {
				assert_int_equal(f[k].line, g[k].line);
				assert_int_equal(f[k].inlined, g[k].inlined);
				assert_string_equal(f[k].file ? f[k].file : "",
						    g[k].file ? g[k].file : "");
				assert_string_equal(f[k].function ? f[k].function : "",
						    g[k].function ? g[k].function : "");
			}
		}
		pev_inlines_free(x);
		pev_inlines_free(y);
		pev_image_free(a);
		pev_image_free(b);
	}
}

/* Without its .dwo a unit still has lines, and it is counted. */
static void a_missing_split_unit(void **state)
{
	char dir[] = "/tmp/pevrec-inlines-XXXXXX", path[64], command[PATH_MAX + 128];
	struct pev_inline_frame frame;
	struct pev_inlines *inl;
	struct pev_image *image;
	uint64_t start, size;

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/inlines", dir);
	(void)snprintf(command, sizeof(command), "cp %s %s", fixture("split5/inlines"), path);
	assert_int_equal(system(command), 0);
	image = open_image(path);
	inl = inlines_of(image, NULL);
	find_function(image, "_Z5outeri", &start, &size);
	assert_int_equal(pev_inlines_find(inl, start, &frame, 1), 1);
	assert_null(frame.function);
	assert_true(frame.line > 0);
	assert_int_equal(pev_inlines_counters(inl)->units_no_split, 1);
	pev_inlines_free(inl);
	pev_image_free(image);

	/* A FIFO in its place is not waited for. */
	(void)snprintf(command, sizeof(command), "mkfifo %s/inlines.dwo", dir);
	assert_int_equal(system(command), 0);
	image = open_image(path);
	inl = inlines_of(image, NULL);
	assert_int_equal(pev_inlines_find(inl, start, &frame, 1), 1);
	assert_int_equal(pev_inlines_counters(inl)->units_no_split, 1);
	pev_inlines_free(inl);
	pev_image_free(image);
	(void)snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

static void frames_that_do_not_fit(void **state)
{
	struct pev_image *const image = open_fixture("inl5");
	struct pev_inlines *const inl = inlines_of(image, NULL);
	struct pev_inline_frame all[8], some[8];
	uint64_t start, size;

	(void)state;
	find_function(image, "_Z5outeri", &start, &size);
	for (uint64_t at = start; at < start + size; at++) {
		const int n = pev_inlines_find(inl, at, all, 8);

		for (size_t max = 1; max <= 4; max++) {
			const int m = pev_inlines_find(inl, at, some, max);

			assert_int_equal(m, PEV_MIN((size_t)n, max));
			for (int i = 0; i < m; i++)
				assert_ptr_equal(some[i].function, all[i].function);
		}
	}
	assert_int_equal(pev_inlines_find(inl, 1, all, 8), 0);
	assert_int_equal(pev_inlines_find(inl, UINT64_MAX, all, 8), 0);
	pev_inlines_free(inl);
	pev_image_free(image);
}

static void errors_are_said(void **state)
{
	static const struct {
		const char *name;
		int code;
		const char *words;
	} cases[] = {
		{ "tiny.so", -ENODATA, "has no DWARF" },
		{ "tiny.o", -EOPNOTSUPP, "relocatable" },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		struct pev_image *const image = open_fixture(cases[i].name);
		struct pev_err err = PEV_ERR_INIT;
		struct pev_inlines *inl = NULL;

		assert_int_equal(pev_inlines_new(image, NULL, &inl, &err), cases[i].code);
		assert_non_null(strstr(err.msg, cases[i].words));
		assert_non_null(strstr(err.msg, cases[i].name));
		pev_image_free(image);
	}
}

/* What addr2line says of an address: "FILE:LINE" per frame, without directories. */
struct answer {
	char lines[32][256];
	int nr;
};

static void base_line(const char *text, char ret[256])
{
	const char *const slash = strrchr(text, '/'), *const base = slash ? slash + 1 : text;

	/* " (discriminator 3)" and the newline go. */
	(void)snprintf(ret, 256, "%.*s", (int)PEV_MIN(strcspn(base, " \n"), (size_t)255), base);
	if (strlen(ret) > 2 && strcmp(ret + strlen(ret) - 2, ":?") == 0)
		ret[strlen(ret) - 1] = '0';
}

static bool same_lines(const struct answer *theirs, const struct pev_inline_frame *frames, int n)
{
	if (theirs->nr != n)
		return false;
	for (int i = 0; i < n; i++) {
		const char *const file = frames[i].file ? frames[i].file : "??";
		const char *const slash = strrchr(file, '/');
		char ours[300];

		(void)snprintf(ours, sizeof(ours), "%s:%u", slash ? slash + 1 : file,
			       frames[i].line);
		if (strcmp(ours, theirs->lines[i]) != 0)
			return false;
	}
	return true;
}

/* Every third address of containers(), asked of addr2line -i as well. */
static void like_addr2line(const char *name)
{
	struct pev_image *const image = open_fixture(name);
	struct pev_inlines *const inl = inlines_of(image, NULL);
	char command[PATH_MAX + 64], in[] = "/tmp/pevrec-a2l-XXXXXX", line[8192];
	uint64_t start, size, at;
	unsigned same = 0, all = 0;
	struct answer answer = { 0 };
	bool has_name = false;
	FILE *f;
	int fd;

	find_function(image, "_Z10containersi", &start, &size);
	fd = mkstemp(in);
	assert_true(fd >= 0);
	f = fdopen(fd, "we");
	assert_non_null(f);
	for (at = start; at < start + size; at += 3)
		(void)fprintf(f, "%#lx\n", at);
	(void)fprintf(f, "0x0\n"); /* so that each answer is followed by another one */
	(void)fclose(f);
	(void)snprintf(command, sizeof(command), "addr2line -a -f -i -e %s <%s", image->path, in);
	f = popen(command, "re");
	assert_non_null(f);
	at = start;
	for (bool first = true; fgets(line, sizeof(line), f); first = false) {
		struct pev_inline_frame frames[32];

		if (strncmp(line, "0x", 2) != 0) {
			/* A function, then where it is. */
			if (has_name && answer.nr < 32)
				base_line(line, answer.lines[answer.nr++]);
			has_name = !has_name;
			continue;
		}
		if (first)
			continue;
		same += same_lines(&answer, frames, pev_inlines_find(inl, at, frames, 32));
		all++;
		at += 3;
		answer.nr = 0;
	}
	(void)pclose(f);
	(void)unlink(in);
	print_message("%s: %u of %u addresses have the lines of addr2line -i\n", name, same, all);
	assert_true(all > 100);
	assert_true(same >= all - all / 100);
	pev_inlines_free(inl);
	pev_image_free(image);
}

static void like_addr2line_says(void **state)
{
	(void)state;
	if (system("addr2line --version >/dev/null 2>&1") != 0) {
		print_message("addr2line is not installed\n");
		skip();
	}
	like_addr2line("inl5");
	like_addr2line("inl4");
}

static void damaged_files(void **state)
{
	size_t size;
	uint8_t *const bytes = read_fixture("tiny-dwarf.so", &size);

	(void)state;
	for (size_t i = 0; i <= size + 8 * size; i++) {
		const size_t n = i <= size ? i : size;
		uint8_t *const copy = copy_of(bytes, n);
		struct pev_image *image = NULL;
		struct pev_inlines *inl = NULL;

		if (i > size)
			copy[(i - size - 1) / 8] ^= (uint8_t)(1 << (i - size - 1) % 8);
		if (pev_image_open_bytes(copy, n, "damaged", &image, NULL) == 0 &&
		    pev_inlines_new(image, NULL, &inl, NULL) == 0) {
			struct pev_inline_frame frames[4];

			for (uint64_t at = 0x100; at < 0x400; at += 3) {
				const int found = pev_inlines_find(inl, at, frames, 4);

				for (int k = 0; k < found; k++)
					assert_true(!frames[k].function ||
						    strlen(frames[k].function) < n);
			}
		}
		pev_inlines_free(inl);
		pev_image_free(image);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_programs),          cmocka_unit_test(separate_debug_file),
		cmocka_unit_test(shared_by_dwz),           cmocka_unit_test(split_units),
		cmocka_unit_test(packages_like_dwo_files), cmocka_unit_test(a_missing_split_unit),
		cmocka_unit_test(frames_that_do_not_fit),  cmocka_unit_test(errors_are_said),
		cmocka_unit_test(like_addr2line_says),     cmocka_unit_test(damaged_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
