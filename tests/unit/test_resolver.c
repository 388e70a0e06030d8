// SPDX-License-Identifier: LGPL-2.1-or-later
#include "resolver_world.h"

#include "alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

static void test_names_of_the_kernel(void **state)
{
	struct world *const w = *state;

	world_start(w, (struct pev_resolver_options){ 0 });
	assert_string_equal(world_kernel_name(w, 0xffffffff81000010), "?+0 ([unknown])");
	world_see(w, world_kernel_map(0xffffffff81000000, 0x10000, 0xffffffff81000000,
				      "[kernel.kallsyms]_text"));
	world_see(w,
		  world_kernel_map(0xffffffffc0000000, 0x1000, 0, "/lib/modules/6/fs/ext4.ko.xz"));
	assert_string_equal(world_kernel_name(w, 0xffffffff81000010),
			    "first+16 ([kernel.kallsyms])");
	assert_string_equal(world_kernel_name(w, 0xffffffff81001fff),
			    "second+4095 ([kernel.kallsyms])");
	/* Behind what is mapped of it, where the code that starts it lies. */
	assert_string_equal(world_kernel_name(w, 0xffffffff82000001),
			    "start_up+1 ([kernel.kallsyms])");
	assert_string_equal(world_kernel_name(w, 0xffffffffc0000801), "other+1 ([ext4])");
	assert_string_equal(world_kernel_name(w, 0xfffffffff0000000), "?+0 ([unknown])");
	assert_string_equal(world_user_name(w, 0xffffffff81000010), "?+0 ([unknown])");
}

/* The same kernel, loaded 2 MiB higher when it was recorded. */
static void test_a_kernel_that_was_loaded_elsewhere(void **state)
{
	struct world *const w = *state;

	world_start(w, (struct pev_resolver_options){ 0 });
	world_see(w, world_kernel_map(0xffffffff81200000, 0x10000, 0xffffffff81200000,
				      "[kernel.kallsyms]_text"));
	world_see(w, world_kernel_map(0xffffffffc0000000, 0x1000, 0, "[ext4]"));
	assert_string_equal(world_kernel_name(w, 0xffffffff81201001),
			    "second+1 ([kernel.kallsyms])");
	assert_string_equal(world_kernel_name(w, 0xffffffffc0000801), "?+0 ([ext4])");
}

static void test_programs_come_and_go_in_the_kernel(void **state)
{
	struct pev_record rec = {
		.hdr = { .type = PEV_REC_KSYMBOL },
		.ksymbol = { .addr = 0xffffffffc0200000,
			     .len = 0x100,
			     .type = PEV_KSYMBOL_TYPE_BPF,
			     .name = "bpf_prog_1234_filter" },
	};
	struct world *const w = *state;

	world_start(w, (struct pev_resolver_options){ 0 });
	world_see(w, rec);
	assert_string_equal(world_kernel_name(w, 0xffffffffc02000ff),
			    "bpf_prog_1234_filter+255 (bpf_prog_1234_filter)");
	rec.ksymbol.flags = PEV_KSYMBOL_FLAGS_UNREGISTER;
	world_see(w, rec);
	assert_string_equal(world_kernel_name(w, 0xffffffffc02000ff), "?+0 ([unknown])");
}

static void test_memory_without_files(void **state)
{
	struct world *const w = *state;
	struct pev_record data = world_mmap2(0x3000, 0x100, 0, "//anon");
	struct pev_record huge = world_mmap2(0x4000, 0x100, 0, "/dev/hugepages/x");

	world_start(w, (struct pev_resolver_options){ 0 });
	world_write(w, "perf-10.map", "1010 8 generated code\n1018 8 more\n");
	data.mmap.prot = PROT_READ;
	huge.mmap.flags = MAP_HUGETLB;
	world_see(w, world_mmap2(0x1000, 0x100, 0, "//anon"));
	world_see(w, world_mmap2(0x2000, 0x100, 0, "[heap]"));
	world_see(w, data);
	world_see(w, huge);
	world_see(w, world_mmap2(0x5000, 0x100, 0, "/memfd:code (deleted)"));
	assert_string_equal(world_user_name(w, 0x1012), "generated code+2 (/tmp/perf-10.map)");
	assert_string_equal(world_user_name(w, 0x1020), "?+0 (/tmp/perf-10.map)");
	assert_string_equal(world_user_name(w, 0x2012), "?+0 ([heap])");
	assert_string_equal(world_user_name(w, 0x3012), "?+0 (//anon)");
	assert_string_equal(world_user_name(w, 0x4012), "?+0 (/tmp/perf-10.map)");
	assert_string_equal(world_user_name(w, 0x5012), "?+0 (/memfd:code (deleted))");
}

/* Where function @name of the fixture inl5 has its code, as an offset in the file. */
static uint64_t offset_of(const char *path, const char *name, uint64_t *ret_size)
{
	char command[PATH_MAX + 64], line[512];
	_cleanup_(pev_image_freep) struct pev_image *image = open_image(path);
	unsigned long vaddr, size;
	uint64_t offset = 0;
	FILE *f;

	(void)snprintf(command, sizeof(command), "nm -S %s", path);
	f = popen(command, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%lx %lx", &vaddr, &size) == 2 &&
		    strcmp(strrchr(line, ' ') + 1, name) == 0) {
			assert_int_equal(pev_image_vaddr_to_offset(image, vaddr, &offset), 0);
			*ret_size = size;
		}
	}
	(void)pclose(f);
	assert_true(offset);
	return offset;
}

static void test_names_and_inlined_functions_of_a_file(void **state)
{
	struct world *const w = *state;
	char path[PATH_MAX], want[2 * PATH_MAX];
	unsigned int seen = 0;
	uint64_t size, at;

	(void)snprintf(path, sizeof(path), "%s", fixture("inl5"));
	at = offset_of(path, "_Z5outeri", &size);
	world_start(w, (struct pev_resolver_options){ 0 });
	world_see(w, world_mmap2(0x10000, 0x100000, 0, path));
	for (unsigned int i = 0; i < size; i++) {
		const char *const name = world_user_name(w, 0x10000 + at + i);

		(void)snprintf(
			want, sizeof(want),
			"leaf+%u (inlined); middle+%u (inlined); "
			"void deep::Caller::method<int>(int)+%u (inlined); outer(int)+%u (%s)",
			i, i, i, i, path);
		seen += strcmp(name, want) == 0;
		(void)snprintf(want, sizeof(want), "outer(int)+%u (%s)", i, path);
		assert_non_null(strstr(name, want));
	}
	assert_true(seen);
	/* The second time it is the same memory. */
	assert_int_equal(pev_resolver_counters(w->r)->named, size);
	(void)world_user_name(w, 0x10000 + at);
	assert_int_equal(pev_resolver_counters(w->r)->named, size);
}

static void test_without_inlined_functions(void **state)
{
	struct world *const w = *state;
	const struct pev_frame *f;
	struct pev_code code;
	char path[PATH_MAX];
	uint64_t size, at;
	bool leaf_line = false;

	(void)snprintf(path, sizeof(path), "%s", fixture("inl5"));
	at = offset_of(path, "_Z5outeri", &size);
	world_start(w, (struct pev_resolver_options){ .no_inline = true, .no_demangle = true });
	world_see(w, world_mmap2(0x10000, 0x100000, 0, path));
	for (uint64_t i = 0; i < size; i++) {
		assert_int_equal(
			pev_resolver_at(w->r, 0, PID, PEV_MISC_USER, 0x10000 + at + i, &code, NULL),
			0);
		assert_int_equal(pev_resolver_name(w->r, &code, &f, NULL), 1);
		assert_string_equal(f->name, "_Z5outeri");
		/* The line is still that of the instruction. */
		leaf_line |= f->file && strstr(f->file, "inlines.cc") && f->line < 20;
	}
	assert_true(leaf_line);
}

static struct pev_module_info info_of(struct world *w, const char *dso)
{
	struct pev_module_info info = { 0 };
	struct pev_module *m;

	for (size_t i = 0; (m = pev_resolver_module(w->r, i)); i++) {
		pev_module_info(m, &info);
		if (strcmp(info.dso, dso) == 0)
			return info;
	}
	fail_msg("no module %s", dso);
	return info;
}

static void assert_explained(struct world *w, const char *dso, const char *expected)
{
	_cleanup_buf_ struct pev_buf text = { 0 };
	struct pev_module_info info;
	struct pev_module *m;

	for (size_t i = 0; (m = pev_resolver_module(w->r, i)); i++) {
		pev_module_info(m, &info);
		if (strcmp(info.dso, dso) == 0)
			pev_module_explain(m, &text);
	}
	pev_buf_u8(&text, 0);
	assert_non_null(strstr((const char *)text.data, expected));
}

/* A file is taken for what the trace says, by record or by header, and for nothing else. */
static void test_a_file_of_another_build(void **state)
{
	struct world *const w = *state;
	char path[PATH_MAX], gone[PATH_MAX + 16];
	const struct pev_feat_build_id in_header = {
		.misc = PEV_MISC_USER, .size = 20, .id = { 1 }, .name = path
	};
	struct pev_record rec;
	uint64_t size, at;

	(void)snprintf(path, sizeof(path), "%s", fixture("inl5"));
	(void)snprintf(gone, sizeof(gone), "%s (deleted)", path);
	at = offset_of(path, "_Z5outeri", &size);
	world_start(w, (struct pev_resolver_options){ 0 });
	rec = world_mmap2(0x10000, 0x10000, at & ~0xfffULL, path);
	rec.hdr.misc |= PEV_MISC_MMAP_BUILD_ID;
	rec.mmap.build_id_size = 20;
	rec.mmap.build_id[0] = 2;
	world_see(w, rec);
	world_see(w, world_mmap2(0x20000, 0x10000, at & ~0xfffULL, gone));
	assert_null(strstr(world_user_name(w, 0x10000 + (at & 0xfff)), "outer"));
	assert_null(strstr(world_user_name(w, 0x20000 + (at & 0xfff)), "outer"));
	assert_true(info_of(w, path).stale && info_of(w, path).not_found);
	assert_true(info_of(w, gone).not_found && !info_of(w, gone).stale);
	assert_int_equal(info_of(w, path).unnamed, 1);
	assert_explained(w, path, "another build-id");
	assert_explained(w, gone, "the trace has no build-id to find it by");
	w->r = pev_resolver_free(w->r);

	world_start(w, (struct pev_resolver_options){ 0 });
	assert_int_equal(pev_resolver_build_id(w->r, 0, &in_header, NULL), 0);
	world_see(w, world_mmap2(0x10000, 0x10000, at & ~0xfffULL, path));
	assert_null(strstr(world_user_name(w, 0x10000 + (at & 0xfff)), "outer"));
	assert_true(info_of(w, path).stale);
}

static void test_comms(void **state)
{
	struct world *const w = *state;
	struct pev_record rec = {
		.hdr = { .type = PEV_REC_COMM },
		.comm = { .pid = PID, .tid = PID, .comm = "one" },
	};

	world_start(w, (struct pev_resolver_options){ .as_perf = true });
	assert_string_equal(pev_resolver_comm(w->r, 0, PID, PID), ":10");
	assert_string_equal(pev_resolver_comm(w->r, 0, 0, 0), "swapper");
	assert_string_equal(pev_resolver_comm(w->r, 0, UINT32_MAX, UINT32_MAX), ":-1");
	world_see(w, rec);
	assert_string_equal(pev_resolver_comm(w->r, 0, PID, PID), "one");
	assert_string_equal(pev_resolver_comm(w->r, 0, UINT32_MAX, PID), "one");
	assert_string_equal(pev_resolver_comm(w->r, 0, 99, PID), ":10");
	/* Another trace has tasks of its own. */
	assert_string_equal(pev_resolver_comm(w->r, 1, PID, PID), ":10");
	rec = (struct pev_record){ .hdr = { .type = PEV_REC_FORK },
				   .task = { .pid = 11, .tid = 11, .ppid = PID, .ptid = PID } };
	world_see(w, rec);
	assert_string_equal(pev_resolver_comm(w->r, 0, 11, 11), "one");
	rec = (struct pev_record){ .hdr = { .type = PEV_REC_EXIT },
				   .task = { .pid = 11, .tid = 11 } };
	world_see(w, rec);
	assert_string_equal(pev_resolver_comm(w->r, 0, 11, 11), ":11");
	pev_resolver_trace_end(w->r, 0);
	assert_string_equal(pev_resolver_comm(w->r, 0, PID, PID), ":10");
}

static void test_cgroups(void **state)
{
	struct world *const w = *state;
	const struct pev_record rec = {
		.hdr = { .type = PEV_REC_CGROUP },
		.cgroup = { .id = 42, .path = "/system.slice" },
	};

	world_start(w, (struct pev_resolver_options){ 0 });
	assert_null(pev_resolver_cgroup(w->r, 0, 42));
	world_see(w, rec);
	assert_string_equal(pev_resolver_cgroup(w->r, 0, 42), "/system.slice");
	assert_null(pev_resolver_cgroup(w->r, 0, 43));
	assert_null(pev_resolver_cgroup(w->r, 1, 42));
}

static void test_guests_are_apart(void **state)
{
	struct world *const w = *state;
	struct pev_record rec = world_mmap2(0x1000, 0x100, 0, "/guest/file");

	world_start(w, (struct pev_resolver_options){ 0 });
	rec.hdr.misc = PEV_MISC_GUEST_USER;
	world_see(w, rec);
	rec = world_kernel_map(0xffffffff81000000, 0x1000, 0, "[guest.kernel.kallsyms]_stext");
	rec.hdr.misc = PEV_MISC_GUEST_KERNEL;
	world_see(w, rec);
	assert_string_equal(world_user_name(w, 0x1010), "?+0 ([unknown])");
	assert_string_equal(world_name(w, PID, PEV_MISC_GUEST_USER, 0x1010), "?+0 (/guest/file)");
	assert_string_equal(world_kernel_name(w, 0xffffffff81000010), "?+0 ([unknown])");
	assert_string_equal(world_name(w, 0, PEV_MISC_GUEST_KERNEL, 0xffffffff81000010),
			    "?+0 ([guest.kernel.kallsyms])");
}

static void test_mappings_that_make_no_sense(void **state)
{
	struct world *const w = *state;

	world_start(w, (struct pev_resolver_options){ 0 });
	world_see(w, world_mmap2(0x1000, 0, 0, "/empty"));
	world_see(w, world_mmap2(UINT64_MAX - 10, 100, 0, "/wraps"));
	world_see(w, world_mmap2(0, UINT64_MAX, UINT64_MAX, ""));
	world_see(w, world_kernel_map(0, 0, 0, "[kernel.kallsyms]_text"));
	assert_string_equal(world_user_name(w, 0x1000), "?+0 ()");
	assert_string_equal(world_kernel_name(w, 0xffffffff81000000),
			    "first+0 ([kernel.kallsyms])");
}

/* Everything once, as far as memory goes. */
static int play(struct world *w, const char *path)
{
	static const uint64_t ips[] = { PEV_CONTEXT_KERNEL, 0xffffffff81000010, PEV_CONTEXT_USER };
	const struct pev_record records[] = {
		world_kernel_map(0xffffffff81000000, 0x10000, 0xffffffff81000000,
				 "[kernel.kallsyms]_text"),
		world_mmap2(0x10000, 0x100000, 0, path),
		{ .hdr = { .type = PEV_REC_COMM },
		  .comm = { .pid = PID, .tid = PID, .comm = "x" } },
		{ .hdr = { .type = PEV_REC_FORK },
		  .task = { .pid = 11, .tid = 11, .ppid = PID, .ptid = PID } },
		{ .hdr = { .type = PEV_REC_CGROUP }, .cgroup = { .id = 1, .path = "/" } },
		{ .hdr = { .type = PEV_REC_KSYMBOL },
		  .ksymbol = { .addr = 0xffffffffc0200000, .len = 16, .name = "bpf_prog_1" } },
		world_mmap2(0x1000, 0x100, 0, "//anon"),
	};
	const struct pev_record sample = {
		.hdr = { .type = PEV_REC_SAMPLE, .misc = PEV_MISC_USER },
		.id = { .pid = PID, .tid = PID },
		.sample = { .ip = 0x10100, .callchain = world_words(ips, 3) },
	};
	const struct pev_resolver_options options = { .jit_dir = w->dir };
	const struct pev_frame *f;
	struct pev_code code;
	int r;

	r = pev_resolver_new(&options, &w->r, NULL);
	for (size_t i = 0; r >= 0 && i < PEV_ARRAY_SIZE(records); i++)
		r = pev_resolver_see(w->r, 0, &records[i], NULL);
	if (r >= 0)
		r = pev_resolver_chain(w->r, 0, &world_fp_attr, &sample, &w->chain, NULL);
	for (size_t i = 0; r >= 0 && i < w->chain.nr; i++)
		r = pev_resolver_name(w->r, &w->chain.codes[i], &f, NULL);
	if (r >= 0)
		r = pev_resolver_name(w->r, &w->chain.self, &f, NULL);
	if (r >= 0)
		r = pev_resolver_at(w->r, 0, PID, PEV_MISC_USER, 0x1000, &code, NULL);
	return r < 0 ? r : pev_resolver_name(w->r, &code, &f, NULL);
}

static void test_no_memory(void **state)
{
	struct world *const w = *state;
	char path[PATH_MAX];
	bool failed = true;

	(void)snprintf(path, sizeof(path), "%s", fixture("tiny.so"));
	for (unsigned int n = 1; failed && n < 5000; n++) {
		int r;

		alloc_fail_at(n);
		r = play(w, path);
		failed = alloc_fail_end();
		/* What does without some memory, as a name that stays mangled, may succeed. */
		assert_true(r == -ENOMEM || r >= 1);
		pev_chain_done(&w->chain);
		w->r = pev_resolver_free(w->r);
	}
	assert_false(failed);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WORLD_TEST(test_names_of_the_kernel),
		WORLD_TEST(test_a_kernel_that_was_loaded_elsewhere),
		WORLD_TEST(test_programs_come_and_go_in_the_kernel),
		WORLD_TEST(test_memory_without_files),
		WORLD_TEST(test_names_and_inlined_functions_of_a_file),
		WORLD_TEST(test_without_inlined_functions),
		WORLD_TEST(test_a_file_of_another_build),
		WORLD_TEST(test_comms),
		WORLD_TEST(test_cgroups),
		WORLD_TEST(test_guests_are_apart),
		WORLD_TEST(test_mappings_that_make_no_sense),
		WORLD_TEST(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
