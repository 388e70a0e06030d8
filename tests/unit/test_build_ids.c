// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "format/build_ids.h"

#include <string.h>
#include <sys/mman.h>

#define _cleanup_build_ids_ _cleanup_(pev_build_ids_done)

static struct pev_record mapping(const char *name, uint8_t id, uint8_t size)
{
	struct pev_record rec = {
		.hdr = { .type = PEV_REC_MMAP2, .misc = PEV_MISC_USER | PEV_MISC_MMAP_BUILD_ID },
		.mmap = { .prot = PROT_READ | PROT_EXEC, .build_id_size = size, .filename = name },
	};

	memset(rec.mmap.build_id, id, size);
	return rec;
}

static void see(struct pev_build_ids *t, const char *name, uint8_t id, uint8_t size)
{
	const struct pev_record rec = mapping(name, id, size);

	pev_build_ids_see(t, &rec);
}

/* Each file and build-id once, in the order in which they came. */
static void test_each_once(void **state)
{
	_cleanup_build_ids_ struct pev_build_ids t = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		see(&t, "/bin/a", 1, 20);
		see(&t, "/bin/b", 1, 20); /* a copy of it */
		see(&t, "/bin/a", 2, 20); /* a new version */
		see(&t, "/bin/a", 2, 16); /* ids may have other sizes */
	}
	assert_int_equal(t.nr, 4);
	assert_string_equal(t.v[0].name, "/bin/a");
	assert_string_equal(t.v[1].name, "/bin/b");
	assert_int_equal(t.v[2].id[0], 2);
	assert_int_equal(t.v[2].size, 20);
	assert_int_equal(t.v[3].size, 16);
	assert_int_equal(t.v[0].pid, -1);
	assert_int_equal(t.v[0].misc, PEV_MISC_USER | PEV_MISC_BUILD_ID_SIZE);
	assert_int_equal(t.dropped, 0);
}

/* The name of the kernel's mapping says which symbol it is relative to; perf wants it without. */
static void test_kernel(void **state)
{
	_cleanup_build_ids_ struct pev_build_ids t = { 0 };
	struct pev_record rec = mapping("[kernel.kallsyms]_text", 3, 20);

	(void)state;
	rec.hdr.misc = PEV_MISC_KERNEL | PEV_MISC_MMAP_BUILD_ID;
	pev_build_ids_see(&t, &rec);
	see(&t, "[kernel.kallsyms]_stext", 3, 20);
	assert_int_equal(t.nr, 1);
	assert_string_equal(t.v[0].name, "[kernel.kallsyms]");
	assert_int_equal(t.v[0].misc, PEV_MISC_KERNEL | PEV_MISC_BUILD_ID_SIZE);
}

static void test_ignored(void **state)
{
	_cleanup_build_ids_ struct pev_build_ids t = { 0 };
	struct pev_record rec;

	(void)state;
	rec = mapping("/bin/data", 1, 20);
	rec.mmap.prot = PROT_READ;
	pev_build_ids_see(&t, &rec);
	rec = mapping("/bin/inode", 1, 20);
	rec.hdr.misc = PEV_MISC_USER;
	pev_build_ids_see(&t, &rec);
	rec = mapping("/bin/none", 1, 0);
	pev_build_ids_see(&t, &rec);
	rec = mapping("/bin/mmap", 1, 20);
	rec.hdr.type = PEV_REC_MMAP;
	pev_build_ids_see(&t, &rec);
	rec.hdr.type = PEV_REC_SAMPLE;
	pev_build_ids_see(&t, &rec);
	assert_int_equal(t.nr, 0);
	assert_int_equal(t.dropped, 0);
}

static void test_many(void **state)
{
	_cleanup_build_ids_ struct pev_build_ids t = { 0 };
	char name[32];

	(void)state;
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 5000; i++) {
			(void)snprintf(name, sizeof(name), "/lib/%d", i);
			see(&t, name, (uint8_t)i, 20);
		}
	assert_int_equal(t.nr, 5000);
	for (int i = 0; i < 5000; i++) {
		(void)snprintf(name, sizeof(name), "/lib/%d", i);
		assert_string_equal(t.v[i].name, name);
	}
}

/* A host that maps more than anybody does costs entries, not memory. */
static void test_limit(void **state)
{
	_cleanup_build_ids_ struct pev_build_ids t = { 0 };

	(void)state;
	see(&t, "/bin/a", 1, 20);
	t.nr = PEV_BUILD_IDS_MAX;
	see(&t, "/bin/b", 1, 20);
	assert_int_equal(t.nr, PEV_BUILD_IDS_MAX);
	assert_int_equal(t.dropped, 1);
	t.nr = 1;
}

/* Without memory an entry is left out and counted. */
static void test_no_memory(void **state)
{
	(void)state;
	for (unsigned int nth = 1;; nth++) {
		_cleanup_build_ids_ struct pev_build_ids t = { 0 };
		bool failed;
		char name[32];

		alloc_fail_at(nth);
		for (int i = 0; i < 200; i++) {
			(void)snprintf(name, sizeof(name), "/lib/%d", i);
			see(&t, name, 1, 20);
		}
		failed = alloc_fail_end();
		assert_int_equal(t.dropped, failed);
		assert_int_equal(t.nr, 200 - failed);
		if (!failed)
			break;
		for (int i = 0; i < 200; i++) {
			(void)snprintf(name, sizeof(name), "/lib/%d", i);
			see(&t, name, 1, 20);
		}
		assert_int_equal(t.nr, 200);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_once), cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_ignored),   cmocka_unit_test(test_many),
		cmocka_unit_test(test_limit),     cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
