// SPDX-License-Identifier: LGPL-2.1-or-later
/* What names addresses, with each allocation failing in turn: -ENOMEM or less, never a crash. */
#include "alloc.h"
#include "symbol_fixtures.h"
#include "unwind/demangle.h"
#include "unwind/inlines.h"
#include "unwind/jitdump.h"
#include "unwind/ksyms.h"
#include "unwind/locate.h"
#include "unwind/perf_map.h"
#include "unwind/symtab.h"

#include <errno.h>
#include <stdlib.h>

/* Bytes of fixtures and paths of theirs, read before anything fails. */
static struct pev_buf elf_bytes;
static char elf_path[PATH_MAX], split_path[PATH_MAX], mini_path[PATH_MAX];

static int do_ksyms(struct pev_err *err)
{
	static const char text[] = "ffffffff81000000 T _text\nffffffffc0001000 t a\t[m]\n"
				   "ffffffffc0002000 t b\t[n]\n";
	struct pev_ksyms *k = NULL;
	const int r = pev_ksyms_new(text, strlen(text), &k, err);

	pev_ksyms_free(k);
	return r;
}

static int do_perf_map(struct pev_err *err)
{
	static const char text[] = "1000 100 a\n1010 10 b\n";
	struct pev_perf_map *m = NULL;
	const int r = pev_perf_map_new(text, strlen(text), &m, err);

	pev_perf_map_free(m);
	return r;
}

/* A header, and one LOAD of four bytes at 0x1000 with a line. */
static int do_jitdump(struct pev_err *err)
{
	static const struct {
		uint32_t header[10];
		uint32_t debug[8];
		uint32_t line[6];
		uint32_t load[14];
		char name[4], code[4];
	} dump = {
		.header = { 0x4A695444, 1, 40, 62 },
		.debug = { 2, 56, 0, 0, 0x1000, 0, 1, 0 },
		.line = { 0x1000, 0, 7, 0, 0x632e61 /* "a.c" */, 0 },
		.load = { 0, 64, 0, 0, 1, 1, 0, 0, 0x1000, 0, 4, 0, 1, 0 },
		.name = "abc",
	};
	struct pev_jitdump *j = NULL;
	const int r = pev_jitdump_new(&dump, sizeof(dump), &j, err);

	if (r == 0) {
		assert_int_equal(pev_jitdump_counters(j)->loads, 1);
		assert_int_equal(pev_jitdump_counters(j)->bad_lines, 0);
	}
	pev_jitdump_free(j);
	return r;
}

static int do_symtab(struct pev_err *err)
{
	_cleanup_(pev_demangler_freep) struct pev_demangler *d = NULL;
	_cleanup_(pev_image_freep) struct pev_image *image = NULL;
	_cleanup_(pev_symtab_freep) struct pev_symtab *t = NULL;
	struct pev_symbol s;
	uint8_t *copy;
	int r;

	d = pev_demangler_new(PEV_DEMANGLE_FULL);
	copy = malloc(elf_bytes.size);
	if (!d || !copy) {
		free(copy);
		return pev_err_set(err, -ENOMEM, "test");
	}
	memcpy(copy, elf_bytes.data, elf_bytes.size);
	r = pev_image_open_bytes(copy, elf_bytes.size, "aliases.so", &image, err);
	if (r == 0)
		r = pev_symtab_new(image, NULL, NULL, d, &t, err);
	/* Looking up may demangle, which may find no memory: then the name stays as it is. */
	for (size_t i = 0; r == 0 && i < pev_symtab_count(t); i++) {
		pev_symtab_at(t, i, &s);
		assert_true(pev_symtab_find(t, s.start, &s));
		assert_non_null(pev_demangle(d, s.name));
	}
	return r;
}

static int find_all(const char *path, struct pev_err *err)
{
	_cleanup_(pev_image_freep) struct pev_image *image = NULL;
	_cleanup_(pev_inlines_freep) struct pev_inlines *inl = NULL;
	int r = pev_image_open(path, &image, err);

	if (r == 0)
		r = pev_inlines_new(image, NULL, &inl, err);
	for (size_t i = 0; r >= 0 && i < image->nr_loads; i++)
		for (uint64_t at = 0; r >= 0 && at < image->loads[i].memsz; at += 61) {
			struct pev_inline_frame frames[16];

			r = pev_inlines_find(inl, image->loads[i].vaddr + at, frames, 16);
			if (r < 0)
				(void)pev_err_set(err, r, "inlines");
		}
	return r < 0 ? r : 0;
}

static int do_inlines(struct pev_err *err)
{
	return find_all(elf_path, err);
}

static int do_split(struct pev_err *err)
{
	return find_all(split_path, err);
}

static int do_locate(struct pev_err *err)
{
	const struct pev_locate_options options = { .system_dir = "/nowhere",
						    .perf_cache = "/nowhere" };
	struct pev_locate_counters counters = { 0 };
	struct pev_located located = { 0 };
	const int r = pev_locate(&options, mini_path, NULL, &located, &counters, err);

	if (r == 0)
		assert_non_null(located.main);
	pev_located_done(&located);
	return r;
}

static void each_allocation(void **state)
{
	static const struct {
		const char *name;
		int (*run)(struct pev_err *err);
	} cases[] = {
		{ "ksyms", do_ksyms },   { "perf_map", do_perf_map }, { "jitdump", do_jitdump },
		{ "symtab", do_symtab }, { "inlines", do_inlines },   { "split", do_split },
		{ "locate", do_locate },
	};

	(void)state;
	(void)snprintf(elf_path, sizeof(elf_path), "%s", fixture("inl5"));
	(void)snprintf(split_path, sizeof(split_path), "%s", fixture("split5-package/inlines"));
	(void)snprintf(mini_path, sizeof(mini_path), "%s", fixture("mini/inl5"));
	assert_int_equal(pev_read_path(fixture("aliases.so"), 1 << 20, &elf_bytes), 0);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		unsigned failures = 0;

		for (unsigned n = 1;; n++) {
			struct pev_err err = PEV_ERR_INIT;
			bool failed;
			int r;

			alloc_fail_at(n);
			r = cases[i].run(&err);
			failed = alloc_fail_end();
			if (!failed) {
				if (r != 0)
					fail_msg("%s: %s", cases[i].name, err.msg);
				break;
			}
			if (r != 0 && (r != -ENOMEM || !*err.msg))
				fail_msg("%s, allocation %u: %d, %s", cases[i].name, n, r, err.msg);
			failures += r != 0;
		}
		print_message("%s: %u allocations that had to succeed\n", cases[i].name, failures);
		assert_true(failures > 0);
	}
	pev_buf_done(&elf_bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_allocation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
