// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "unwind/ksyms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char text[] = "0000000000000000 A fixed_percpu_data\n"
			   "0000000000021000 D cpu_info\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000100 t do_one\n"
			   "ffffffff81000180 W weak_one\n"
			   "ffffffff81000200 r some_table\n"
			   "ffffffff81000240 D some_data\n"
			   "ffffffff81000280 T last_of_kernel\n"
			   "ffffffffc0202000 t e1000_probe\t[e1000]\n"
			   "ffffffffc0201000 t e1000_init\t[e1000]\n"
			   "ffffffffc0203010 t fuse_open\t[fuse]\n"
			   "ffffffffc0301234 t bpf_prog_0123456789abcdef_name\t[bpf]\n"
			   "ffffffffc0400000 t $x\t[arm]\n";

static struct pev_ksyms *parse(const char *bytes, size_t size)
{
	struct pev_err err = PEV_ERR_INIT;
	struct pev_ksyms *k = NULL;

	if (pev_ksyms_new(bytes, size, &k, &err) < 0)
		fail_msg("%s", err.msg);
	return k;
}

static void lookups(void **state)
{
	static const struct {
		uint64_t addr;
		const char *name, *module;
		uint64_t start, end;
	} cases[] = {
		{ 0x21000, NULL, NULL, 0, 0 }, /* a per-CPU offset is no address */
		{ 0xffffffff80ffffff, NULL, NULL, 0, 0 },
		/* Of several at one address the last. */
		{ 0xffffffff81000000, "_text", NULL, 0xffffffff81000000, 0xffffffff81000100 },
		{ 0xffffffff810000ff, "_text", NULL, 0xffffffff81000000, 0xffffffff81000100 },
		{ 0xffffffff81000100, "do_one", NULL, 0xffffffff81000100, 0xffffffff81000180 },
		/* Read-only data is not kept: what is before it reaches over it. */
		{ 0xffffffff81000201, "weak_one", NULL, 0xffffffff81000180, 0xffffffff81000240 },
		{ 0xffffffff81000250, "some_data", NULL, 0xffffffff81000240, 0xffffffff81000280 },
		/* The last of the kernel and of each module ends with the next page. */
		{ 0xffffffff81001fff, "last_of_kernel", NULL, 0xffffffff81000280,
		  0xffffffff81002000 },
		{ 0xffffffff81002000, NULL, NULL, 0, 0 },
		{ 0xffffffffc0201fff, "e1000_init", "e1000", 0xffffffffc0201000,
		  0xffffffffc0202000 },
		{ 0xffffffffc0202fff, "e1000_probe", "e1000", 0xffffffffc0202000,
		  0xffffffffc0203000 },
		{ 0xffffffffc0203000, NULL, NULL, 0, 0 },
		{ 0xffffffffc0203010, "fuse_open", "fuse", 0xffffffffc0203010, 0xffffffffc0205000 },
		{ 0xffffffffc0302fff, "bpf_prog_0123456789abcdef_name", "bpf", 0xffffffffc0301234,
		  0xffffffffc0303000 },
		{ 0xffffffffc0400000, NULL, NULL, 0, 0 },
		{ UINT64_MAX, NULL, NULL, 0, 0 },
	};
	struct pev_ksyms *const k = parse(text, strlen(text));
	const struct pev_ksyms_counters *const n = pev_ksyms_counters(k);
	uint64_t addr;

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		struct pev_ksym s;

		assert_int_equal(pev_ksyms_find(k, cases[i].addr, &s), cases[i].name != NULL);
		if (!cases[i].name)
			continue;
		assert_int_equal(s.name_size, strlen(cases[i].name));
		assert_memory_equal(s.name, cases[i].name, s.name_size);
		assert_int_equal(s.start, cases[i].start);
		assert_int_equal(s.end, cases[i].end);
		if (cases[i].module) {
			assert_int_equal(s.module_size, strlen(cases[i].module));
			assert_memory_equal(s.module, cases[i].module, s.module_size);
		} else {
			assert_null(s.module);
		}
	}
	assert_int_equal(n->lines, 14);
	assert_int_equal(n->kept, 10);
	assert_int_equal(n->zero, 1);
	assert_int_equal(n->other_types, 3);
	assert_int_equal(n->bad, 0);
	assert_int_equal(pev_ksyms_address(k, "_stext", &addr), 0);
	assert_int_equal(addr, 0xffffffff81000000);
	assert_int_equal(pev_ksyms_address(k, "fuse_open", &addr), -ENOENT);
	pev_ksyms_free(k);
}

static void bad_lines_are_counted(void **state)
{
	static const struct {
		const char *line;
		unsigned kept, bad, zero;
	} cases[] = {
		{ "", 0, 0, 0 },
		{ "\n", 0, 1, 0 },
		{ "ffffffff81000000", 0, 1, 0 },
		{ "ffffffff81000000 ", 0, 1, 0 },
		{ "ffffffff81000000 T", 0, 1, 0 },
		{ "ffffffff81000000 T ", 0, 1, 0 },
		{ "ffffffff81000000 T x", 1, 0, 0 },
		{ "ffffffff81000000 T x\n", 1, 0, 0 },
		{ "ffffffff81000000  T x", 0, 1, 0 },
		{ " ffffffff81000000 T x", 0, 1, 0 },
		{ "fffffffff81000000 T x", 0, 1, 0 }, /* 17 digits */
		{ "gfffffff81000000 T x", 0, 1, 0 },
		{ "ffffffff81000000 T x\t", 0, 1, 0 },
		{ "ffffffff81000000 T x\t[]", 0, 1, 0 },
		{ "ffffffff81000000 T x\t[m", 0, 1, 0 },
		{ "ffffffff81000000 T x\t[m]", 1, 0, 0 },
		{ "ffffffff81000000 T \t[m]", 0, 1, 0 },
		{ "c0001000 T x", 1, 0, 0 }, /* a 32-bit kernel */
		{ "0000000000000000 T x", 0, 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		struct pev_ksyms *const k = parse(cases[i].line, strlen(cases[i].line));
		const struct pev_ksyms_counters *const n = pev_ksyms_counters(k);

		if (n->kept != cases[i].kept || n->bad != cases[i].bad || n->zero != cases[i].zero)
			fail_msg("\"%s\" was not read right", cases[i].line);
		pev_ksyms_free(k);
	}
}

/* Every prefix and every flipped bit: whatever is found lies within the bytes that were given. */
static void damaged_text(void **state)
{
	const size_t size = strlen(text);

	(void)state;
	for (size_t i = 0; i <= size + 8 * size; i++) {
		const size_t n = i <= size ? i : size;
		char *const copy = malloc(n + 1);
		struct pev_ksyms *k;
		struct pev_ksym s;

		assert_non_null(copy);
		memcpy(copy, text, n);
		if (i > size)
			copy[(i - size - 1) / 8] ^= (char)(1 << (i - size - 1) % 8);
		k = parse(copy, n);
		for (uint64_t addr = 0xffffffff81000000; addr < 0xffffffff81000300; addr += 0x40)
			if (pev_ksyms_find(k, addr, &s))
				assert_true(s.name >= copy && s.name + s.name_size <= copy + n);
		pev_ksyms_free(k);
		free(copy);
	}
}

static void too_big_is_said(void **state)
{
	struct pev_err err = PEV_ERR_INIT;
	struct pev_ksyms *k = NULL;

	(void)state;
	assert_int_equal(pev_ksyms_new(text, UINT32_MAX, &k, &err), -E2BIG);
	assert_non_null(strstr(err.msg, "4 GiB"));
	assert_null(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lookups),
		cmocka_unit_test(bad_lines_are_counted),
		cmocka_unit_test(damaged_text),
		cmocka_unit_test(too_big_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
