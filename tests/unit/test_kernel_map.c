// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "collect.h"
#include "recorder/kernel_map.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define NOTE "\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"

/* A made-up machine: its files lie below a folder of the test's own. */
static char root[PATH_MAX], notes[PATH_MAX + 32], modules[PATH_MAX + 32], sys_module[PATH_MAX + 32],
	lib_modules[PATH_MAX + 32];

static const struct pev_kernel_paths paths = {
	.notes = notes,
	.modules = modules,
	.sys_module = sys_module,
	.lib_modules = lib_modules,
};

static void put_file(const char *path, const void *bytes, size_t size)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pev_write_all(fd, bytes, size), 0);
}

static void make_dirs(const char *relative)
{
	char path[PATH_MAX * 2];

	(void)snprintf(path, sizeof(path), "%s/%s", root, relative);
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		(void)mkdir(path, 0700);
		*p = '/';
	}
	(void)mkdir(path, 0700);
}

static int setup(void **state)
{
	char path[PATH_MAX * 2];

	(void)state;
	(void)snprintf(root, sizeof(root), "test-kernel-map-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	(void)snprintf(notes, sizeof(notes), "%s/notes", root);
	(void)snprintf(modules, sizeof(modules), "%s/modules", root);
	(void)snprintf(sys_module, sizeof(sys_module), "%s/sys", root);
	(void)snprintf(lib_modules, sizeof(lib_modules), "%s/lib", root);
	make_dirs("sys/fuse/notes");
	make_dirs("lib");
	put_file(notes, NOTE "kernelkernelkernel..", 36);
	(void)snprintf(path, sizeof(path), "%s/fuse/notes/.note.gnu.build-id", sys_module);
	put_file(path, NOTE "fusefusefusefusefuse", 36);
	(void)snprintf(path, sizeof(path), "%s/modules.dep", lib_modules);
	put_file(path,
		 "kernel/fs/fuse/fuse.ko.zst:\n"
		 "kernel/sound/snd-hda-intel.ko: kernel/sound/snd.ko\n"
		 "/elsewhere/updates/absolute.ko.xz: kernel/fs/fuse/fuse.ko.zst\n"
		 "no-module-at-all:\nno colon\n",
		 strlen("kernel/fs/fuse/fuse.ko.zst:\n"
			"kernel/sound/snd-hda-intel.ko: kernel/sound/snd.ko\n"
			"/elsewhere/updates/absolute.ko.xz: kernel/fs/fuse/fuse.ko.zst\n"
			"no-module-at-all:\nno colon\n"));
	return 0;
}

static int teardown(void **state)
{
	char command[PATH_MAX + 16];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

static void set_modules(const char *text)
{
	put_file(modules, text, strlen(text));
}

static int run(const struct pev_kallsyms *k, bool build_ids, struct collect *c,
	       struct pev_kernel_map_stats *ret)
{
	struct pev_emit e = { .attr = &collect_attr, .sink = &c->sink };
	int r = pev_kernel_map(&e, k, build_ids, &paths, ret, NULL);

	if (r >= 0)
		r = pev_emit_flush(&e);
	pev_emit_done(&e);
	return r;
}

static void expect(struct collect *c, uint32_t type, const char *name, uint64_t start, uint64_t len,
		   uint64_t pgoff, const char *id)
{
	struct pev_record rec;
	const char *tail;

	assert_true(collect_next(c, &rec));
	assert_int_equal(rec.hdr.type, type);
	assert_int_equal(rec.hdr.misc & PEV_MISC_CPUMODE_MASK, PEV_MISC_KERNEL);
	assert_int_equal(rec.mmap.pid, UINT32_MAX);
	assert_int_equal(rec.mmap.tid, 0);
	tail = rec.mmap.filename;
	if (strncmp(tail, lib_modules, strlen(lib_modules)) == 0)
		tail += strlen(lib_modules);
	assert_string_equal(tail, name);
	assert_int_equal(rec.mmap.start, start);
	assert_int_equal(rec.mmap.len, len);
	assert_int_equal(rec.mmap.pgoff, pgoff);
	if (id) {
		assert_true(rec.hdr.misc & PEV_MISC_MMAP_BUILD_ID);
		assert_int_equal(rec.mmap.build_id_size, 20);
		assert_memory_equal(rec.mmap.build_id, id, 20);
	} else {
		assert_false(rec.hdr.misc & PEV_MISC_MMAP_BUILD_ID);
	}
}

static void test_kernel_and_modules(void **state)
{
	const struct pev_kallsyms k = { .text = 0x1000, .stext = 0x1100, .etext = 0x9000 };
	struct pev_kernel_map_stats stats;
	struct pev_record rec;
	struct collect c;

	(void)state;
	set_modules("snd_hda_intel 40960 1 - Live 0xffffffffc0300000\n"
		    "fuse 131072 3 a,b, Live 0xffffffffc0100000 (OE)\n"
		    "absolute 4096 0 - Live 0xffffffffc0200000\n"
		    "unknown 8192 0 - Live 0xffffffffc0400000\n"
		    "leaving 8192 0 - Unloading 0x0000000000000000\n"
		    "broken line\n");
	collect_init(&c);
	assert_int_equal(run(&k, true, &c, &stats), 0);
	expect(&c, PEV_REC_MMAP2, "[kernel.kallsyms]_text", 0x1000, 0x8000, 0x1000,
	       "kernelkernelkernel..");
	expect(&c, PEV_REC_MMAP2, "/kernel/fs/fuse/fuse.ko.zst", 0xffffffffc0100000, 131072, 0,
	       "fusefusefusefusefuse");
	expect(&c, PEV_REC_MMAP, "/elsewhere/updates/absolute.ko.xz", 0xffffffffc0200000, 4096, 0,
	       NULL);
	expect(&c, PEV_REC_MMAP, "/kernel/sound/snd-hda-intel.ko", 0xffffffffc0300000, 40960, 0,
	       NULL);
	expect(&c, PEV_REC_MMAP, "[unknown]", 0xffffffffc0400000, 8192, 0, NULL);
	assert_false(collect_next(&c, &rec));
	assert_int_equal(stats.kernels, 1);
	assert_int_equal(stats.modules, 4);
	assert_int_equal(stats.build_ids, 2);
	assert_false(stats.hidden);
	collect_done(&c);
}

static void test_without_build_ids(void **state)
{
	const struct pev_kallsyms k = {
		.text = 0x1000, .stext = 0x1000, .etext = 0x9000, .edata = 0xa000
	};
	struct pev_kernel_map_stats stats;
	struct pev_record rec;
	struct collect c;

	(void)state;
	set_modules("fuse 131072 3 a,b, Live 0xffffffffc0100000\n");
	collect_init(&c);
	assert_int_equal(run(&k, false, &c, &stats), 0);
	expect(&c, PEV_REC_MMAP, "[kernel.kallsyms]_text", 0x1000, 0x9000, 0x1000, NULL);
	expect(&c, PEV_REC_MMAP, "/kernel/fs/fuse/fuse.ko.zst", 0xffffffffc0100000, 131072, 0,
	       NULL);
	assert_false(collect_next(&c, &rec));
	assert_int_equal(stats.build_ids, 0);
	collect_done(&c);
}

/* No _text, no _etext: named for _stext, and up to the first module. */
static void test_odd_kernels(void **state)
{
	const struct pev_kallsyms k = { .stext = 0x1000 };
	struct pev_kernel_map_stats stats;
	struct collect c;

	(void)state;
	set_modules("b 1 0 - Live 0x9000\na 1 0 - Live 0x800\n");
	collect_init(&c);
	assert_int_equal(run(&k, false, &c, &stats), 0);
	expect(&c, PEV_REC_MMAP, "[kernel.kallsyms]_stext", 0x1000, 0x8000, 0x1000, NULL);
	collect_done(&c);

	set_modules("");
	collect_init(&c);
	assert_int_equal(run(&k, false, &c, &stats), 0);
	expect(&c, PEV_REC_MMAP, "[kernel.kallsyms]_stext", 0x1000, UINT64_MAX - 0x1000, 0x1000,
	       NULL);
	collect_done(&c);
}

static void test_hidden(void **state)
{
	const struct pev_kallsyms k = { .hidden = true };
	struct pev_kernel_map_stats stats;
	struct pev_record rec;
	struct collect c;

	(void)state;
	set_modules("fuse 131072 3 - Live 0x0000000000000000\n");
	collect_init(&c);
	assert_int_equal(run(&k, true, &c, &stats), 0);
	assert_false(collect_next(&c, &rec));
	assert_true(stats.hidden);
	assert_int_equal(stats.kernels, 0);
	assert_int_equal(stats.modules, 0);
	collect_done(&c);
}

static void test_errors(void **state)
{
	const struct pev_kallsyms k = { .text = 0x1000, .etext = 0x9000 };
	struct pev_kernel_map_stats stats;
	struct pev_err err = PEV_ERR_INIT;
	struct collect c;
	struct pev_emit e;
	static char line[200];
	bool failed = true;

	(void)state;
	set_modules("fuse 131072 3 - Live 0xffffffffc0100000\n");
	for (unsigned int n = 1; failed; n++) {
		int r;

		collect_init(&c);
		e = (struct pev_emit){ .attr = &collect_attr, .sink = &c.sink };
		alloc_fail_at(n);
		r = pev_kernel_map(&e, &k, true, &paths, &stats, &err);
		failed = alloc_fail_end();
		/* Without memory for its note a module has no build-id; that is all. */
		assert_true(r == 0 || (failed && r == -ENOMEM));
		if (r < 0)
			assert_err(&err, -ENOMEM,
				   "cannot tell the kernel's mappings to the trace: Cannot "
				   "allocate memory");
		pev_emit_done(&e);
		collect_done(&c);
	}
	/* A module name as long as none can be. */
	memset(line, 'a', sizeof(line));
	memcpy(line + 150, " 1 0 - Live 0x1000\n", 20);
	set_modules(line);
	collect_init(&c);
	assert_int_equal(run(&k, true, &c, &stats), 0);
	assert_int_equal(stats.modules, 0);
	collect_done(&c);
}

/* The machine that the test runs on, whatever it shows. */
static void test_running_kernel(void **state)
{
	_cleanup_(pev_kallsyms_done) struct pev_kallsyms k = { 0 };
	struct pev_kernel_map_stats stats;
	struct collect c;
	struct pev_emit e;
	struct pev_record rec;

	(void)state;
	if (pev_kallsyms_read("/proc/kallsyms", true, &k, NULL) < 0)
		skip();
	collect_init(&c);
	e = (struct pev_emit){ .attr = &collect_attr, .sink = &c.sink };
	assert_int_equal(pev_kernel_map(&e, &k, true, NULL, &stats, NULL), 0);
	assert_int_equal(pev_emit_flush(&e), 0);
	assert_int_equal(stats.kernels, !k.hidden);
	if (!k.hidden) {
		assert_true(collect_next(&c, &rec));
		assert_int_equal(rec.mmap.start, rec.mmap.pgoff);
		assert_string_equal(rec.mmap.filename, "[kernel.kallsyms]_text");
	}
	pev_emit_done(&e);
	collect_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_and_modules),
		cmocka_unit_test(test_without_build_ids),
		cmocka_unit_test(test_odd_kernels),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_running_kernel),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
