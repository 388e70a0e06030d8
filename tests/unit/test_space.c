// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "alloc.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "unwind/space.h"

#include <errno.h>
#include <string.h>

/* Modules are told apart by their address only: one letter each. */
static char module_names[128];

static struct pev_module *module_of(char letter)
{
	return (struct pev_module *)&module_names[(unsigned char)letter];
}

static char letter_of(const struct pev_module *m)
{
	return (char)((const char *)m - module_names);
}

static void map(struct pev_space *s, char letter, uint64_t start, uint64_t end, uint64_t pgoff)
{
	const struct pev_mapping m = { start, end, pgoff, module_of(letter) };

	assert_int_equal(pev_space_map(s, &m), 0);
}

/* "A10-20+0 B20-30+5": a letter, [start, end), and the offset in the file. */
static void map_all(struct pev_space *s, const char *text)
{
	unsigned int start, end, pgoff;
	char letter;
	int n;

	for (; sscanf(text, " %c%u-%u+%u%n", &letter, &start, &end, &pgoff, &n) == 4; text += n)
		map(s, letter, start, end, pgoff);
}

static void assert_space(const struct pev_space *s, const char *expected)
{
	_cleanup_(pev_buf_done) struct pev_buf text = { 0 };

	for (size_t i = 0; i < pev_space_count(s); i++) {
		const struct pev_mapping *const m = pev_space_at(s, i);

		pev_buf_printf(&text, "%s%c%u-%u+%u", i ? " " : "", letter_of(m->module),
			       (unsigned int)m->start, (unsigned int)m->end,
			       (unsigned int)m->pgoff);
	}
	pev_buf_u8(&text, 0);
	assert_string_equal((const char *)text.data, expected);
}

static void test_overlaps(void **state)
{
	static const struct {
		const char *before, *after; /* and Z40-60+7 between them */
	} cases[] = {
		{ "", "Z40-60+7" },
		/* beside it */
		{ "A10-20+0", "A10-20+0 Z40-60+7" },
		{ "A20-40+0", "A20-40+0 Z40-60+7" },
		{ "A60-80+0", "Z40-60+7 A60-80+0" },
		{ "A70-80+0", "Z40-60+7 A70-80+0" },
		/* over its start */
		{ "A30-41+3", "A30-40+3 Z40-60+7" },
		{ "A30-59+3", "A30-40+3 Z40-60+7" },
		{ "A30-60+3", "A30-40+3 Z40-60+7" },
		/* over its end */
		{ "A59-70+3", "Z40-60+7 A60-70+4" },
		{ "A41-70+3", "Z40-60+7 A60-70+22" },
		{ "A40-70+3", "Z40-60+7 A60-70+23" },
		/* within it */
		{ "A40-60+3", "Z40-60+7" },
		{ "A40-50+3", "Z40-60+7" },
		{ "A50-60+3", "Z40-60+7" },
		{ "A45-55+3", "Z40-60+7" },
		/* around it */
		{ "A30-70+3", "A30-40+3 Z40-60+7 A60-70+33" },
		{ "A39-61+3", "A39-40+3 Z40-60+7 A60-61+24" },
		/* several */
		{ "A30-45+0 B45-50+0 C50-55+0 D55-70+1", "A30-40+0 Z40-60+7 D60-70+6" },
		{ "A0-10+0 B30-40+0 C40-60+0 D60-70+0 E80-90+0",
		  "A0-10+0 B30-40+0 Z40-60+7 D60-70+0 E80-90+0" },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		_cleanup_(pev_space_done) struct pev_space s = { 0 };

		map_all(&s, cases[i].before);
		map_all(&s, "Z40-60+7");
		assert_space(&s, cases[i].after);
	}
}

static void test_unmap(void **state)
{
	static const struct {
		const char *before, *after; /* without [40, 60) */
	} cases[] = {
		{ "", "" },
		{ "A40-60+0", "" },
		{ "A45-50+0", "" },
		{ "A30-70+3", "A30-40+3 A60-70+33" },
		{ "A30-45+0 B45-50+0 C50-70+0", "A30-40+0 C60-70+10" },
		{ "A30-40+0 B60-70+0", "A30-40+0 B60-70+0" },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		_cleanup_(pev_space_done) struct pev_space s = { 0 };

		map_all(&s, cases[i].before);
		assert_int_equal(pev_space_unmap(&s, 40, 60), 0);
		assert_space(&s, cases[i].after);
	}
}

static void test_find(void **state)
{
	static const struct {
		uint64_t addr;
		char letter; /* 0: nothing is there */
	} cases[] = {
		{ 0, 0 },    { 9, 0 },    { 10, 'A' }, { 19, 'A' },       { 20, 'B' },
		{ 29, 'B' }, { 30, 0 },   { 39, 0 },   { 40, 'C' },       { 49, 'C' },
		{ 50, 0 },   { 15, 'A' }, { 45, 'C' }, { UINT64_MAX, 0 },
	};
	_cleanup_(pev_space_done) struct pev_space s = { 0 };

	(void)state;
	assert_null(pev_space_find(&s, 10));
	map_all(&s, "A10-20+0 B20-30+0 C40-50+0");
	/* Twice, since the last hit is remembered. */
	for (size_t i = 0; i < 2 * PEV_ARRAY_SIZE(cases); i++) {
		const struct pev_mapping *const m = pev_space_find(&s, cases[i / 2].addr);

		assert_int_equal(m ? letter_of(m->module) : 0, cases[i / 2].letter);
	}
	assert_non_null(pev_space_find(&s, 15));
	assert_int_equal(pev_space_unmap(&s, 10, 20), 0);
	assert_null(pev_space_find(&s, 15));
}

static void test_limits(void **state)
{
	const struct pev_mapping empty = { 10, 10, 0, module_of('A') };
	const struct pev_mapping wrapped = { 10, 5, 0, module_of('A') };
	_cleanup_(pev_space_done) struct pev_space s = { 0 };

	(void)state;
	assert_int_equal(pev_space_map(&s, &empty), -EINVAL);
	assert_int_equal(pev_space_map(&s, &wrapped), -EINVAL);
	assert_int_equal(pev_space_unmap(&s, 5, 5), -EINVAL);
	map(&s, 'A', 0, UINT64_MAX, 0);
	assert_int_equal(pev_space_map(&s, &wrapped), -EINVAL);
	map(&s, 'B', UINT64_MAX - 10, UINT64_MAX, 3);
	assert_int_equal(pev_space_count(&s), 2);
	assert_int_equal(letter_of(pev_space_find(&s, UINT64_MAX - 1)->module), 'B');
	assert_null(pev_space_find(&s, UINT64_MAX));
}

static void test_copies_go_their_own_ways(void **state)
{
	_cleanup_(pev_space_done) struct pev_space parent = { 0 };
	_cleanup_(pev_space_done) struct pev_space child = { 0 };

	(void)state;
	map_all(&parent, "A10-20+0 B20-30+0");
	map_all(&child, "X0-100+0");
	assert_int_equal(pev_space_copy(&child, &parent), 0);
	assert_space(&child, "A10-20+0 B20-30+0");
	map_all(&child, "C15-25+0");
	map_all(&parent, "D30-40+0");
	assert_space(&child, "A10-15+0 C15-25+0 B25-30+5");
	assert_space(&parent, "A10-20+0 B20-30+0 D30-40+0");
	assert_int_equal(pev_space_copy(&child, &child), 0);
	assert_space(&child, "A10-15+0 C15-25+0 B25-30+5");
	pev_space_done(&parent);
	assert_int_equal(letter_of(pev_space_find(&child, 27)->module), 'B');
}

/* The naive model: what is mapped at every address. */
#define MODEL_SIZE 4096

struct model {
	char letter[MODEL_SIZE];
	uint32_t pgoff[MODEL_SIZE];
};

static void assert_model(struct pev_space *s, const struct model *model)
{
	uint64_t end = 0;

	for (size_t i = 0; i < pev_space_count(s); i++) {
		const struct pev_mapping *const m = pev_space_at(s, i);

		assert_true(m->start >= end && m->end > m->start);
		end = m->end;
	}
	for (uint64_t a = 0; a < MODEL_SIZE; a++) {
		const struct pev_mapping *const m = pev_space_find(s, a);

		assert_int_equal(m ? letter_of(m->module) : 0, model->letter[a]);
		if (m)
			assert_int_equal(m->pgoff + (a - m->start), model->pgoff[a]);
	}
}

static void random_change(struct pev_space *s, struct model *model, uint64_t *random)
{
	/* Many small mappings and few large ones, so that there are several chunks. */
	const uint64_t size = test_random(random) % 50 ? 8 : MODEL_SIZE / 2;
	const uint64_t start = test_random(random) % MODEL_SIZE;
	const uint64_t end = start + 1 + test_random(random) % size;
	const uint64_t pgoff = test_random(random) % 100000;
	const char letter = test_random(random) % 8 ? (char)('A' + test_random(random) % 26) : '\0';

	if (letter)
		map(s, letter, start, end, pgoff);
	else
		assert_int_equal(pev_space_unmap(s, start, end), 0);
	for (uint64_t a = start; a < end && a < MODEL_SIZE; a++) {
		model->letter[a] = letter;
		model->pgoff[a] = (uint32_t)(pgoff + (a - start));
	}
}

static void test_random_sequences(void **state)
{
	static struct model models[3];
	struct pev_space spaces[3] = { 0 };
	uint64_t random = 1;

	(void)state;
	for (unsigned int step = 0; step < 30000; step++) {
		const size_t which = test_random(&random) % 3;

		if (test_random(&random) % 500 == 0) {
			const size_t from = test_random(&random) % 3;

			assert_int_equal(pev_space_copy(&spaces[which], &spaces[from]), 0);
			models[which] = models[from];
		}
		random_change(&spaces[which], &models[which], &random);
		if (step % 100 == 0)
			for (size_t i = 0; i < 3; i++)
				assert_model(&spaces[i], &models[i]);
	}
	for (size_t i = 0; i < 3; i++)
		pev_space_done(&spaces[i]);
}

/* Many mappings in ascending, descending and mixed order fill and split chunks. */
static void test_many(void **state)
{
	(void)state;
	for (unsigned int order = 0; order < 3; order++) {
		_cleanup_(pev_space_done) struct pev_space s = { 0 };
		const uint64_t nr = 10007;

		for (uint64_t i = 0; i < nr; i++) {
			const uint64_t at = order == 0 ? i : order == 1 ? nr - 1 - i : i * 31 % nr;

			map(&s, 'A', at * 10, at * 10 + 7, at);
		}
		assert_int_equal(pev_space_count(&s), nr);
		for (uint64_t i = 0; i < nr; i++) {
			assert_int_equal(pev_space_find(&s, i * 10 + 6)->pgoff, i);
			assert_null(pev_space_find(&s, i * 10 + 7));
		}
		assert_int_equal(pev_space_unmap(&s, 5, nr * 10), 0);
		assert_space(&s, "A0-5+0");
	}
}

static void test_no_memory(void **state)
{
	bool failed = true;

	(void)state;
	for (unsigned int n = 1; failed; n++) {
		_cleanup_(pev_space_done) struct pev_space s = { 0 }, other = { 0 };
		const struct pev_mapping m = { 1005, 1006, 0, module_of('Z') };
		size_t count;
		int r;

		for (uint64_t i = 0; i < 300; i++)
			map(&s, 'A', i * 10, i * 10 + 10, 0);
		assert_int_equal(pev_space_copy(&other, &s), 0);
		count = pev_space_count(&s);
		alloc_fail_at(n);
		r = pev_space_map(&s, &m);
		if (r == 0)
			r = pev_space_unmap(&s, 100, 2500);
		if (r == 0)
			r = pev_space_copy(&other, &s);
		failed = alloc_fail_end();
		assert_int_equal(r, failed ? -ENOMEM : 0);
		if (n == 1)
			assert_int_equal(pev_space_count(&s), count);
		assert_int_equal(pev_space_find(&s, 2995)->start, 2990);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_unmap),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_copies_go_their_own_ways),
		cmocka_unit_test(test_random_sequences),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
