// SPDX-License-Identifier: LGPL-2.1-or-later
#include "symbol_fixtures.h"
#include "unwind/demangle.h"
#include "unwind/symtab.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

static struct pev_symtab *symbols_of(struct pev_image *main, struct pev_image *debug,
				     struct pev_image *mini, struct pev_demangler *demangler)
{
	struct pev_err err = PEV_ERR_INIT;
	struct pev_symtab *t = NULL;

	if (pev_symtab_new(main, debug, mini, demangler, &t, &err) < 0)
		fail_msg("%s", err.msg);
	return t;
}

/* The address of @name, whichever of several symbols it is. */
static uint64_t address_of(const struct pev_symtab *t, const char *name)
{
	for (size_t i = 0; i < pev_symtab_count(t); i++) {
		struct pev_symbol s;

		pev_symtab_at(t, i, &s);
		if (strcmp(s.name, name) == 0)
			return s.start;
	}
	fail_msg("There is no %s", name);
	return 0;
}

/* aliases.S names each function for the name that should win. */
static void the_best_of_several_names(void **state)
{
	static const char *const best[] = { "best_sized",  "best_typed", "best_strong",
					    "best_global", "best_bare",  "best_longest_of_all",
					    "best_plain_c" };
	struct pev_image *const image = open_fixture("aliases.so");
	struct pev_demangler *const d = pev_demangler_new(PEV_DEMANGLE_FULL);
	struct pev_symtab *const t = symbols_of(image, NULL, NULL, d);

	(void)state;
	/* Twice: what was found out about aliases is kept. */
	for (size_t i = 0; i < 2 * PEV_ARRAY_SIZE(best); i++) {
		const char *const name = best[i % PEV_ARRAY_SIZE(best)];
		const uint64_t start = address_of(t, name);
		struct pev_symbol s;

		for (uint64_t at = 0; at < 4; at++) {
			assert_true(pev_symtab_find(t, start + at, &s));
			assert_string_equal(s.name, name);
			assert_int_equal(s.start, start);
			assert_int_equal(s.size, 4);
		}
	}
	pev_symtab_free(t);
	pev_demangler_free(d);
	pev_image_free(image);
}

static void sizes_and_gaps(void **state)
{
	struct pev_image *const image = open_fixture("aliases.so");
	struct pev_symtab *const t = symbols_of(image, NULL, NULL, NULL);
	const uint64_t no_size = address_of(t, "no_size"), after = address_of(t, "after_no_size");
	const uint64_t around = address_of(t, "around");
	const struct {
		uint64_t addr;
		const char *name;
	} cases[] = {
		{ 0, NULL },
		{ no_size, "no_size" },
		{ after - 1, "no_size" }, /* up to the next symbol */
		{ after + 3, "after_no_size" },
		{ after + 4, NULL },
		{ around, "around" },
		{ around + 4, "within" },
		{ around + 7, "within" },
		{ around + 8, "around" }, /* behind what is within */
		{ around + 15, "around" },
		{ around + 16, NULL },
		{ UINT64_MAX, NULL },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		struct pev_symbol s;

		if (pev_symtab_find(t, cases[i].addr, &s) != (cases[i].name != NULL))
			fail_msg("%#lx", cases[i].addr);
		if (cases[i].name)
			assert_string_equal(s.name, cases[i].name);
	}
	for (size_t i = 0; i < pev_symtab_count(t); i++) {
		struct pev_symbol s;

		pev_symtab_at(t, i, &s);
		assert_string_not_equal(s.name, "absolute");
	}
	pev_symtab_free(t);
	pev_image_free(image);
}

static void assert_has_symbol(const struct pev_symtab *t, const char *name, bool plt)
{
	for (size_t i = 0; i < pev_symtab_count(t); i++) {
		struct pev_symbol s;

		pev_symtab_at(t, i, &s);
		if (strcmp(s.name, name) == 0) {
			assert_int_equal(s.plt, plt);
			return;
		}
	}
	fail_msg("There is no %s", name);
}

static void plt_stubs(void **state)
{
	struct pev_image *const image = open_fixture("plt");
	struct pev_symtab *const t = symbols_of(image, NULL, NULL, NULL);
	struct pev_symbol s;
	uint64_t at;

	(void)state;
	assert_has_symbol(t, "puts@plt", true);
	assert_has_symbol(t, "strlen@plt", true);
	/* Named after the resolver of an IFUNC, whose relocation names no symbol. */
	assert_has_symbol(t, "chosen@plt", true);
	assert_has_symbol(t, ".plt", true);
	at = address_of(t, "puts@plt");
	assert_true(pev_symtab_find(t, at + 15, &s));
	assert_string_equal(s.name, "puts@plt");
	assert_int_equal(s.size, 16);
	/* The resolver itself is an IFUNC. */
	assert_true(pev_symtab_find(t, address_of(t, "chosen"), &s));
	assert_int_equal(s.type, STT_GNU_IFUNC);
	assert_false(s.plt);
	pev_symtab_free(t);
	pev_image_free(image);
}

static void plt_of_aarch64(void **state)
{
	struct pev_image *const image = open_fixture("tiny-aarch64.so");
	struct pev_symtab *const t = symbols_of(image, NULL, NULL, NULL);
	struct pev_symbol s;

	(void)state;
	assert_has_symbol(t, "elsewhere@plt", true);
	assert_true(pev_symtab_find(t, address_of(t, "elsewhere@plt"), &s));
	assert_int_equal(s.size, 16);
	for (size_t i = 0; i < pev_symtab_count(t); i++) {
		pev_symtab_at(t, i, &s);
		assert_true(s.name[0] != '$'); /* mapping symbols */
	}
	assert_has_symbol(t, "tiny_entry", false);
	pev_symtab_free(t);
	pev_image_free(image);
}

static void other_classes(void **state)
{
	struct pev_image *image = open_fixture("tiny-i386.so");
	struct pev_symtab *t = symbols_of(image, NULL, NULL, NULL);
	struct pev_symbol s;

	(void)state;
	assert_has_symbol(t, "tiny_entry", false);
	pev_symtab_free(t);
	pev_image_free(image);

	/* In a relocatable file an address is an offset in the file. */
	image = open_fixture("tiny.o");
	t = symbols_of(image, NULL, NULL, NULL);
	assert_true(pev_symtab_find(t, address_of(t, "tiny_calls"), &s));
	assert_string_equal(s.name, "tiny_calls");
	assert_true(s.start >= 64);
	pev_symtab_free(t);
	pev_image_free(image);
}

/* The same names for the whole program, from its debug file, from its mini-debuginfo. */
static void where_symbols_come_from(void **state)
{
	struct pev_image *const whole = open_fixture("inl5");
	struct pev_image *const stripped = open_fixture("link/inl5");
	struct pev_image *const debug = open_fixture("link/.debug/inl5.debug");
	struct pev_image *const packed = open_fixture("mini/inl5");
	struct pev_image *mini = NULL;
	struct pev_symtab *a, *b, *c, *none;
	size_t in_mini = 0;

	(void)state;
	assert_int_equal(pev_image_open_mini(packed, &mini, NULL), 0);
	a = symbols_of(whole, NULL, NULL, NULL);
	b = symbols_of(stripped, debug, NULL, NULL);
	c = symbols_of(packed, NULL, mini, NULL);
	none = symbols_of(stripped, NULL, NULL, NULL);
	assert_true(pev_symtab_count(a) > 20);
	assert_true(whole->loads[1].flags & PF_X);
	for (uint64_t at = whole->loads[1].vaddr;
	     at < whole->loads[1].vaddr + whole->loads[1].memsz; at += 3) {
		struct pev_symbol x = { 0 }, y = { 0 }, z = { 0 };
		const bool found = pev_symtab_find(a, at, &x);

		assert_int_equal(pev_symtab_find(b, at, &y), found);
		if (found) {
			assert_string_equal(x.name, y.name);
			assert_int_equal(x.start, y.start);
			assert_int_equal(x.size, y.size);
		}
		/* Functions only, so that one without a size reaches further. */
		if (found && pev_symtab_find(c, at, &z) && z.start == x.start) {
			assert_string_equal(x.name, z.name);
			in_mini++;
		}
	}
	assert_true(in_mini > 100);
	assert_true(pev_symtab_count(none) < pev_symtab_count(b));
	pev_symtab_free(a);
	pev_symtab_free(b);
	pev_symtab_free(c);
	pev_symtab_free(none);
	none = symbols_of(NULL, NULL, NULL, NULL);
	assert_int_equal(pev_symtab_count(none), 0);
	pev_symtab_free(none);
	pev_image_free(mini);
	pev_image_free(whole);
	pev_image_free(stripped);
	pev_image_free(debug);
	pev_image_free(packed);
}

/* What nm lists and we keep is found at its address, under a name that nm gives it there. */
static void like_nm(const char *path, const char *options, size_t at_least)
{
	struct pev_image *const image = open_image(path);
	struct pev_symtab *const t = symbols_of(image, NULL, NULL, NULL);
	char command[PATH_MAX + 64], line[8192], here[8192] = "";
	uint64_t last = 0;
	size_t seen = 0, named = 0;
	FILE *f;

	(void)snprintf(command, sizeof(command), "nm -n --defined-only %s %s 2>/dev/null", options,
		       path);
	f = popen(command, "re");
	assert_non_null(f);
	for (;;) {
		char type = 0, name[4096] = "";
		unsigned long addr = 0;
		const bool more = fgets(line, sizeof(line), f);

		if (more && sscanf(line, "%lx %c %4095s", &addr, &type, name) != 3)
			continue;
		if (!more || addr != last) {
			struct pev_symbol s;

			/* All names of the address before this one are in @here. */
			if (*here && pev_symtab_find(t, last, &s) && s.start == last) {
				char key[4096];

				(void)snprintf(key, sizeof(key), "|%s|", s.name);
				seen++;
				named += strstr(here, key) != NULL;
			}
			(void)snprintf(here, sizeof(here), "|");
			last = addr;
		}
		if (!more)
			break;
		/* nm appends the version of a dynamic symbol. */
		if (*options && strchr(name, '@'))
			*strchr(name, '@') = 0;
		if (strlen(here) + strlen(name) + 2 < sizeof(here)) {
			strcat(here, name);
			strcat(here, "|");
		}
	}
	(void)pclose(f);
	print_message("%s: %zu of %zu addresses named as nm does\n", path, named, seen);
	assert_true(seen >= at_least);
	assert_int_equal(named, seen);
	pev_symtab_free(t);
	pev_image_free(image);
}

static void like_nm_says(void **state)
{
	(void)state;
	if (system("nm --version >/dev/null 2>&1") != 0) {
		print_message("nm is not installed\n");
		skip();
	}
	like_nm(fixture("inl5"), "", 10);
	like_nm(fixture("plt"), "", 10);
}

static void like_nm_says_of_libc(void **state)
{
	static const char libc[] = "/lib/x86_64-linux-gnu/libc.so.6";

	(void)state;
	if (access(libc, R_OK) < 0 || system("nm --version >/dev/null 2>&1") != 0) {
		print_message("nm or %s is missing\n", libc);
		skip();
	}
	like_nm(libc, "-D", 1000);
}

static void damaged_files(void **state)
{
	size_t size;
	uint8_t *const bytes = read_fixture("tiny.so", &size);
	struct pev_demangler *const d = pev_demangler_new(PEV_DEMANGLE_FULL);

	(void)state;
	for (size_t i = 0; i <= size + 8 * size; i++) {
		const size_t n = i <= size ? i : size;
		uint8_t *const copy = copy_of(bytes, n);
		struct pev_image *image = NULL;
		struct pev_symtab *t = NULL;
		struct pev_symbol s;

		if (i > size)
			copy[(i - size - 1) / 8] ^= (uint8_t)(1 << (i - size - 1) % 8);
		if (pev_image_open_bytes(copy, n, "damaged", &image, NULL) < 0)
			continue;
		t = symbols_of(image, NULL, NULL, d);
		for (size_t k = 0; k < pev_symtab_count(t); k++) {
			pev_symtab_at(t, k, &s);
			if (pev_symtab_find(t, s.start, &s))
				assert_true(strlen(s.name) < size + 64);
		}
		pev_symtab_free(t);
		pev_image_free(image);
	}
	pev_demangler_free(d);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_best_of_several_names),
		cmocka_unit_test(sizes_and_gaps),
		cmocka_unit_test(plt_stubs),
		cmocka_unit_test(plt_of_aarch64),
		cmocka_unit_test(other_classes),
		cmocka_unit_test(where_symbols_come_from),
		cmocka_unit_test(like_nm_says),
		cmocka_unit_test(like_nm_says_of_libc),
		cmocka_unit_test(damaged_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
