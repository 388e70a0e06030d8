// SPDX-License-Identifier: LGPL-2.1-or-later
/* From addresses to rows: lookups, memory, threads, and damaged sections. */
#include "tests/unit/test.h"

#include "base/checked.h"
#include "tests/unit/alloc.h"
#include "tests/unit/cfi_build.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#define START 0x4000 /* of a function */

#define NR_FUNCTIONS 5

/* Functions of 0x10 bytes with holes between them, one without code and one that is broken. */
static void build_functions(struct cfi_build *b, bool hdr)
{
	static const uint64_t starts[NR_FUNCTIONS] = { 0x1000, 0x2000, 0x2000, 0x3000, 0x4000 };
	size_t offsets[NR_FUNCTIONS];

	b->arch = pev_arch_of_elf(EM_X86_64);
	build_cie(b, &(struct build_cie){ 0 }, NO_BYTES);
	for (size_t i = 0; i < NR_FUNCTIONS; i++) {
		const uint8_t program[] = { DW_CFA_def_cfa_offset, (uint8_t)(8 + 8 * i),
					    i == 3 ? 0x3f : DW_CFA_nop };

		offsets[i] = build_fde(b, starts[i], i == 1 ? 0 : 0x10, program, sizeof(program));
	}
	if (hdr)
		build_hdr(b, starts, offsets, NR_FUNCTIONS);
}

static void lookups(void **state)
{
	static const struct {
		uint64_t at;
		int r;
		int32_t cfa_offset;
	} cases[] = {
		{ 0, -ENOENT, 0 },       { 0xfff, -ENOENT, 0 },      { 0x1000, 0, 8 },
		{ 0x100f, 0, 8 },        { 0x1010, -ENOENT, 0 },     { 0x1fff, -ENOENT, 0 },
		{ 0x2000, 0, 24 },       { 0x200f, 0, 24 },          { 0x2010, -ENOENT, 0 },
		{ 0x3000, -EBADMSG, 0 }, { 0x3010, -ENOENT, 0 },     { 0x4000, 0, 40 },
		{ 0x4010, -ENOENT, 0 },  { UINT64_MAX, -ENOENT, 0 },
	};

	(void)state;
	for (int hdr = 0; hdr < 2; hdr++) {
		struct cfi_build b = { 0 };
		const struct pev_cfi_row *row;
		struct pev_cfi_stats stats;
		struct pev_cfi *cfi;

		build_functions(&b, hdr);
		cfi = build_new(&b);
		/* The second round is answered from what the first one found. */
		for (size_t i = 0; i < 2 * PEV_ARRAY_SIZE(cases); i++) {
			const size_t n = i % PEV_ARRAY_SIZE(cases);

			assert_int_equal(pev_cfi_find(cfi, cases[n].at, &row), cases[n].r);
			if (!cases[n].r)
				assert_int_equal(row->cfa.off, cases[n].cfa_offset);
		}
		pev_cfi_stats(cfi, &stats);
		/* In the table the function without code is met; it leads to the next. */
		assert_int_equal(stats.functions, 4 + hdr);
		assert_int_equal(stats.rows, 4 + hdr);
		assert_int_equal(stats.bad_functions, 0);
		pev_cfi_free(cfi);
		pev_buf_done(&b.bytes);
		pev_buf_done(&b.hdr);
	}
}

/* lld keeps one entry of those that share an address, and it may be that of the empty function. */
static void empty_function_hides_another(void **state)
{
	const uint64_t start = 0x2000;
	const struct pev_cfi_row *row;
	struct cfi_build b = { .arch = pev_arch_of_elf(EM_X86_64) };
	struct pev_cfi *cfi;
	size_t empty;

	(void)state;
	build_cie(&b, &(struct build_cie){ 0 }, NO_BYTES);
	empty = build_fde(&b, start, 0, NO_BYTES);
	build_fde(&b, start, 0, NO_BYTES);
	build_fde(&b, start, 0x10, BYTES(DW_CFA_def_cfa_offset, 32));
	build_hdr(&b, &start, &empty, 1);
	cfi = build_new(&b);
	assert_int_equal(pev_cfi_find(cfi, start + 4, &row), 0);
	assert_int_equal(row->cfa.off, 32);
	pev_cfi_free(cfi);
	pev_buf_done(&b.bytes);
	pev_buf_done(&b.hdr);
}

/* .eh_frame is asked first; what it does not have or has broken may be in .debug_frame. */
static void two_sections(void **state)
{
	struct cfi_build eh = { .arch = pev_arch_of_elf(EM_X86_64) };
	struct cfi_build debug = { .arch = eh.arch, .debug = true };
	const struct pev_cfi_row *row;
	struct pev_cfi_sections s;
	struct pev_cfi *cfi;

	(void)state;
	build_cie(&eh, &(struct build_cie){ 0 }, NO_BYTES);
	build_fde(&eh, 0x1000, 0x10, NO_BYTES);
	build_fde(&eh, 0x2000, 0x10, BYTES(0x3f));
	build_cie(&debug, &(struct build_cie){ 0 }, BYTES(DW_CFA_def_cfa_offset, 64));
	for (uint64_t at = 0x1000; at < 0x4000; at += 0x1000)
		build_fde(&debug, at, 0x10, NO_BYTES);
	s = build_sections(&eh);
	s.debug_frame = build_sections(&debug).debug_frame;
	assert_int_equal(pev_cfi_new(&s, &cfi, NULL), 0);
	assert_int_equal(pev_cfi_find(cfi, 0x1000, &row), 0);
	assert_int_equal(row->cfa.off, 8);
	assert_int_equal(pev_cfi_find(cfi, 0x2000, &row), 0);
	assert_int_equal(row->cfa.off, 64);
	assert_int_equal(pev_cfi_find(cfi, 0x3000, &row), 0);
	assert_int_equal(row->cfa.off, 64);
	assert_int_equal(pev_cfi_find(cfi, 0x4000, &row), -ENOENT);
	pev_cfi_free(cfi);
	pev_buf_done(&eh.bytes);
	pev_buf_done(&debug.bytes);
}

static void no_sections(void **state)
{
	const struct pev_cfi_sections none = { .arch = pev_arch_of_elf(EM_X86_64), .ptr_size = 8 };
	const struct pev_cfi_row *row;
	struct pev_cfi *cfi;

	(void)state;
	assert_int_equal(pev_cfi_new(&none, &cfi, NULL), 0);
	assert_int_equal(pev_cfi_find(cfi, 0x1000, &row), -ENOENT);
	pev_cfi_free(cfi);
	pev_cfi_free(NULL);
}

static void too_large(void **state)
{
	static const uint8_t byte;
	struct pev_cfi_sections s = { .arch = pev_arch_of_elf(EM_X86_64), .ptr_size = 8 };
	struct pev_err err = PEV_ERR_INIT;
	struct pev_cfi *cfi;

	(void)state;
	s.debug_frame = (struct pev_cfi_section){ .data = &byte, .size = 1ULL << 32 };
	assert_int_equal(pev_cfi_new(&s, &cfi, &err), -E2BIG);
	assert_err(&err, -E2BIG,
		   ".debug_frame has 4294967296 bytes; sections of 4 GiB and more are not read");
}

/* More rows than any function has: the entry is given up, and remembered as such. */
static void too_many_rows(void **state)
{
	struct cfi_build b = { .arch = pev_arch_of_elf(EM_X86_64) };
	const struct pev_cfi_row *row;
	struct pev_buf program = { 0 };
	struct pev_cfi_stats stats;
	struct pev_cfi *cfi;

	(void)state;
	for (unsigned i = 0; i < 70000; i++) {
		pev_buf_u8(&program, DW_CFA_advance_loc | 1);
		pev_buf_u8(&program, DW_CFA_def_cfa_offset);
		pev_buf_u8(&program, i % 2 ? 8 : 16);
	}
	build_cie(&b, &(struct build_cie){ 0 }, NO_BYTES);
	build_fde(&b, START, 0x100000, program.data, program.size);
	cfi = build_new(&b);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pev_cfi_find(cfi, START, &row), -EBADMSG);
	pev_cfi_stats(cfi, &stats);
	assert_int_equal(stats.bad_functions, 1);
	pev_cfi_free(cfi);
	pev_buf_done(&program);
	pev_buf_done(&b.bytes);
}

/* A table that leads a thousand functions to the one and same entry must not fill the memory. */
static void entries_over_each_other(void **state)
{
	struct cfi_build b = { .arch = pev_arch_of_elf(EM_X86_64) };
	const struct pev_cfi_row *row;
	struct pev_buf program = { 0 };
	uint64_t starts[1000];
	size_t offsets[1000];
	struct pev_cfi_stats stats;
	struct pev_cfi *cfi;

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		pev_buf_u8(&program, DW_CFA_advance_loc | 1);
		pev_buf_u8(&program, DW_CFA_def_cfa_offset);
		pev_buf_u8(&program, i % 2 ? 8 : 16);
	}
	build_cie(&b, &(struct build_cie){ 0 }, NO_BYTES);
	offsets[0] = build_fde(&b, START, 0x1000, program.data, program.size);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(starts); i++) {
		starts[i] = START + i;
		offsets[i] = offsets[0];
	}
	build_hdr(&b, starts, offsets, PEV_ARRAY_SIZE(starts));
	cfi = build_new(&b);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(starts); i++)
		(void)pev_cfi_find(cfi, starts[i], &row);
	pev_cfi_stats(cfi, &stats);
	assert_true(stats.functions > 1);
	assert_true(stats.bad_functions > 900);
	assert_true(stats.bytes < 100 * b.bytes.size);
	pev_cfi_free(cfi);
	pev_buf_done(&program);
	pev_buf_done(&b.bytes);
	pev_buf_done(&b.hdr);
}

/* Want of memory is said, not remembered: the same question is answered later. */
static void allocations(void **state)
{
	(void)state;
	for (int hdr = 0; hdr < 2; hdr++) {
		struct cfi_build b = { 0 };
		unsigned failures = 0;

		build_functions(&b, hdr);
		for (unsigned n = 1;; n++) {
			const struct pev_cfi_sections s = build_sections(&b);
			struct pev_cfi *cfi = NULL;
			const struct pev_cfi_row *row;
			int r;

			alloc_fail_at(n);
			r = pev_cfi_new(&s, &cfi, NULL);
			if (!r)
				r = pev_cfi_find(cfi, 0x1000, &row);
			if (!alloc_fail_end()) {
				assert_int_equal(r, 0);
				pev_cfi_free(cfi);
				break;
			}
			failures++;
			assert_int_equal(r, -ENOMEM);
			if (cfi) {
				assert_int_equal(pev_cfi_find(cfi, 0x1000, &row), 0);
				assert_int_equal(row->cfa.off, 8);
			}
			pev_cfi_free(cfi);
		}
		assert_true(failures >= 4);
		pev_buf_done(&b.bytes);
		pev_buf_done(&b.hdr);
	}
}

static void *find_all(void *arg)
{
	struct pev_cfi *const cfi = arg;
	const struct pev_cfi_row *row;
	uintptr_t sum = 0;

	for (uint64_t at = 0x1000; at < 0x5000; at += 4)
		if (!pev_cfi_find(cfi, at, &row))
			sum += (uintptr_t)row;
	return (void *)sum;
}

/* Whoever compiles a function first, all threads are given the very same rows. */
static void threads(void **state)
{
	struct cfi_build b = { 0 };

	(void)state;
	build_functions(&b, false);
	for (int round = 0; round < 50; round++) {
		struct pev_cfi *const cfi = build_new(&b);
		pthread_t ids[4];
		void *sums[4];

		for (size_t i = 0; i < PEV_ARRAY_SIZE(ids); i++)
			assert_int_equal(pthread_create(&ids[i], NULL, find_all, cfi), 0);
		for (size_t i = 0; i < PEV_ARRAY_SIZE(ids); i++)
			assert_int_equal(pthread_join(ids[i], &sums[i]), 0);
		for (size_t i = 1; i < PEV_ARRAY_SIZE(ids); i++)
			assert_ptr_equal(sums[i], sums[0]);
		pev_cfi_free(cfi);
	}
	pev_buf_done(&b.bytes);
}

static void ask_everywhere(const struct pev_cfi_sections *s)
{
	const struct pev_cfi_row *row;
	struct pev_cfi *cfi;

	assert_int_equal(pev_cfi_new(s, &cfi, NULL), 0);
	for (uint64_t at = 0xff8; at < 0x4020; at += 8)
		(void)pev_cfi_find(cfi, at, &row);
	pev_cfi_free(cfi);
}

/* Every prefix and every flipped bit of both sections; the sanitizers are the judges. */
static void hostile(void **state)
{
	(void)state;
	for (int hdr = 0; hdr < 2; hdr++) {
		struct cfi_build b = { 0 };
		struct pev_cfi_sections s;

		build_functions(&b, hdr);
		s = build_sections(&b);
		for (size_t n = 0; n < b.bytes.size; n++) {
			/* In memory of its exact size, so that a read beyond it is seen. */
			uint8_t *const exact = test_malloc(n + 1);

			memcpy(exact, b.bytes.data, n);
			s.eh_frame.data = exact + (n ? 0 : 1);
			s.eh_frame.size = n;
			ask_everywhere(&s);
			test_free(exact);
		}
		s = build_sections(&b);
		for (size_t bit = 0; bit < 8 * b.bytes.size; bit++) {
			b.bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			ask_everywhere(&s);
			b.bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		for (size_t bit = 0; bit < 8 * b.hdr.size; bit++) {
			b.hdr.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			ask_everywhere(&s);
			b.hdr.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		pev_buf_done(&b.bytes);
		pev_buf_done(&b.hdr);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lookups),
		cmocka_unit_test(empty_function_hides_another),
		cmocka_unit_test(two_sections),
		cmocka_unit_test(no_sections),
		cmocka_unit_test(too_large),
		cmocka_unit_test(too_many_rows),
		cmocka_unit_test(entries_over_each_other),
		cmocka_unit_test(allocations),
		cmocka_unit_test(threads),
		cmocka_unit_test(hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
