// SPDX-License-Identifier: LGPL-2.1-or-later
#include "resolver_world.h"

static void test_markers_tell_whose_addresses_come(void **state)
{
	static const struct {
		uint64_t ips[6];
		size_t nr;
		const char *expected; /* modes and addresses */
		bool corrupt;
	} cases[] = {
		{ { 0 }, 0, "", false },
		{ { 0x1 }, 1, "2:1 ", false },
		{ { PEV_CONTEXT_KERNEL, 0x1, 0x2, PEV_CONTEXT_USER, 0x3 },
		  5,
		  "1:1 1:2 2:3 ",
		  false },
		{ { PEV_CONTEXT_HV, 0x1 }, 2, "3:1 ", false },
		{ { PEV_CONTEXT_USER, 0x1, PEV_CONTEXT_GUEST, 0x2 }, 4, "", true },
		{ { PEV_CONTEXT_USER, 0x1, PEV_CONTEXT_USER_DEFERRED, 0xc00c1e },
		  4,
		  "2:1 ",
		  false },
	};
	struct world *const w = *state;

	world_start(w, (struct pev_resolver_options){ 0 });
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		char text[128] = "";

		world_chain(w, &world_fp_attr, cases[i].ips, cases[i].nr);
		for (size_t k = 0; k < w->chain.nr; k++)
			(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%u:%x ",
				       w->chain.codes[k].mode, (unsigned int)w->chain.codes[k].ip);
		assert_string_equal(text, cases[i].expected);
		assert_int_equal(w->chain.corrupt, cases[i].corrupt);
	}
	assert_true(w->chain.deferred);
	assert_int_equal(w->chain.cookie, 0xc00c1e);
}

static void test_the_deferred_part_comes_later(void **state)
{
	static const uint64_t kernel[] = { PEV_CONTEXT_KERNEL, 0x1, PEV_CONTEXT_USER_DEFERRED, 7 };
	static const uint64_t user[] = { PEV_CONTEXT_USER, 0x2, 0x3 };
	const struct pev_record rec = {
		.hdr = { .type = PEV_REC_CALLCHAIN_DEFERRED },
		.id = { .pid = PID, .tid = PID },
		.callchain_deferred = { .cookie = 7, .callchain = world_words(user, 3) },
	};
	struct world *const w = *state;

	world_start(w, (struct pev_resolver_options){ 0 });
	world_chain(w, &world_fp_attr, kernel, 4);
	assert_int_equal(pev_resolver_chain_deferred(w->r, 0, &rec, &w->chain, NULL), 0);
	assert_int_equal(w->chain.nr, 3);
	assert_int_equal(w->chain.codes[2].ip, 0x3);
	assert_int_equal(w->chain.codes[2].mode, PEV_MISC_USER);
	assert_false(w->chain.deferred);
}

static void test_chains_have_a_limit(void **state)
{
	uint64_t ips[20] = { PEV_CONTEXT_USER };
	struct world *const w = *state;

	for (size_t i = 1; i < 20; i++)
		ips[i] = i;
	world_start(w, (struct pev_resolver_options){ .max_stack = 5 });
	world_chain(w, &world_fp_attr, ips, 6);
	assert_int_equal(w->chain.nr, 5);
	assert_false(w->chain.truncated);
	world_chain(w, &world_fp_attr, ips, 20);
	assert_int_equal(w->chain.nr, 5);
	assert_true(w->chain.truncated);
	assert_int_equal(pev_resolver_counters(w->r)->truncated, 1);
}

static void test_without_a_chain_it_is_where_the_sample_was(void **state)
{
	static const uint64_t ips[] = { 0x1, 0x2 };
	const struct pev_attr attr = { .sample_type = PEV_SAMPLE_IP };
	struct world *const w = *state;

	world_start(w, (struct pev_resolver_options){ 0 });
	world_chain(w, &attr, ips, 2);
	assert_int_equal(w->chain.kind, PEV_CHAIN_NONE);
	assert_int_equal(w->chain.nr, 1);
	assert_int_equal(w->chain.codes[0].ip, 0x2);
	assert_int_equal(w->chain.self.ip, 0x2);
}

static void test_branch_records_replace_the_users_part(void **state)
{
	static const uint64_t ips[] = { PEV_CONTEXT_KERNEL, 0x1, PEV_CONTEXT_USER, 0x2, 0x3 };
	/* from, to, flags; the last branch first */
	static const uint64_t branches[] = { 0x20, 0x10, 0, 0x30, 0x21, 0 };
	static const uint64_t expected[] = { 0x1, 0x10, 0x20, 0x30 };
	const struct pev_attr attr = {
		.sample_type = world_fp_attr.sample_type | PEV_SAMPLE_BRANCH_STACK,
		.branch_sample_type = PEV_BRANCH_USER | PEV_BRANCH_CALL_STACK,
	};
	struct pev_record rec = {
		.hdr = { .type = PEV_REC_SAMPLE, .misc = PEV_MISC_KERNEL },
		.id = { .pid = PID, .tid = PID },
		.sample = { .callchain = world_words(ips, 5),
			    .branch_stack = { .nr = 2, .entries = world_words(branches, 6) } },
	};
	struct world *const w = *state;

	world_start(w, (struct pev_resolver_options){ 0 });
	assert_int_equal(pev_resolver_chain(w->r, 0, &attr, &rec, &w->chain, NULL), 0);
	assert_int_equal(w->chain.kind, PEV_CHAIN_LBR);
	assert_int_equal(w->chain.nr, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(w->chain.codes[i].ip, expected[i]);
	/* The CPU recorded none: what the kernel found is there. */
	rec.sample.branch_stack = (struct pev_branch_stack){ 0 };
	assert_int_equal(pev_resolver_chain(w->r, 0, &attr, &rec, &w->chain, NULL), 0);
	assert_int_equal(w->chain.kind, PEV_CHAIN_CALLCHAIN);
	assert_int_equal(w->chain.nr, 3);
}

/* Code is known by its place in the file, wherever that is mapped. */
static void test_code_is_known_by_its_offset(void **state)
{
	static const uint64_t ips[] = { PEV_CONTEXT_USER, 0x1010, 0x5010, 0x9010 };
	struct world *const w = *state;
	const struct pev_code *codes;

	world_start(w, (struct pev_resolver_options){ 0 });
	world_see(w, world_mmap2(0x1000, 0x100, 0x3000, "/no/such/file"));
	world_see(w, world_mmap2(0x5000, 0x100, 0x3000, "/no/such/file"));
	world_chain(w, &world_fp_attr, ips, 4);
	codes = w->chain.codes;
	assert_ptr_equal(codes[0].module, codes[1].module);
	assert_int_equal(codes[0].address, 0x3010);
	assert_int_equal(codes[1].address, 0x3010);
	assert_int_equal(codes[1].ip, 0x5010);
	assert_null(codes[2].module);
	assert_int_equal(codes[2].address, 0x9010);
	assert_int_equal(pev_resolver_counters(w->r)->unmapped, 1);
}

static void test_callers_are_before_the_return_address(void **state)
{
	static const uint64_t ips[] = { PEV_CONTEXT_USER, 0x1010, 0x1020,
					PEV_CONTEXT_USER, 0x1030, 0x1040 };
	static const uint64_t expected[] = { 0x10, 0x1f, 0x30, 0x3f };
	struct world *const w = *state;

	world_start(w, (struct pev_resolver_options){ .exact_callers = true });
	world_see(w, world_mmap2(0x1000, 0x100, 0, "/no/such/file"));
	world_chain(w, &world_fp_attr, ips, 6);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(w->chain.codes[i].address, expected[i]);
		assert_int_equal(w->chain.codes[i].ip, ips[i + 1 + i / 2]);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WORLD_TEST(test_markers_tell_whose_addresses_come),
		WORLD_TEST(test_the_deferred_part_comes_later),
		WORLD_TEST(test_chains_have_a_limit),
		WORLD_TEST(test_without_a_chain_it_is_where_the_sample_was),
		WORLD_TEST(test_branch_records_replace_the_users_part),
		WORLD_TEST(test_code_is_known_by_its_offset),
		WORLD_TEST(test_callers_are_before_the_return_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
