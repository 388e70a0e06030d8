// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Every row of the libraries of this machine, and of the fixtures for other ones, against what
 * libdw says. A library as large as libLLVM is looked at in part, unless PEVREC_TEST_ALL is set;
 * further files can be named on the command line.
 */
#include "tests/unit/test.h"

#include "base/checked.h"
#include "tests/unit/cfi_oracle.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGE_FILE (16 << 20)
#define LARGE_STEP 61 /* of the functions of a large file one in so many is looked at */

struct opened {
	int fd;
	Elf *elf;
	struct pev_cfi *cfi;
	size_t bytes;
};

static void open_file(struct opened *o, const char *path)
{
	struct pev_cfi_sections s;
	struct pev_err err = PEV_ERR_INIT;

	(void)elf_version(EV_CURRENT);
	o->fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(o->fd >= 0);
	o->bytes = (size_t)lseek(o->fd, 0, SEEK_END);
	o->elf = elf_begin(o->fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	assert_non_null(o->elf);
	assert_int_equal(pev_cfi_sections_of_elf(o->elf, NULL, &s, &err), 0);
	assert_int_equal(pev_cfi_new(&s, &o->cfi, &err), 0);
}

static void close_file(struct opened *o)
{
	pev_cfi_free(o->cfi);
	elf_end(o->elf);
	(void)close(o->fd);
}

static void compare_file(const char *path)
{
	struct cfi_oracle_counts eh = { 0 }, debug = { 0 };
	struct opened o;
	Dwarf_CFI *libdw;
	Dwarf *dwarf;
	size_t every;

	open_file(&o, path);
	every = o.bytes < LARGE_FILE || getenv("PEVREC_TEST_ALL") ? 1 : LARGE_STEP;
	libdw = dwarf_getcfi_elf(o.elf);
	if (libdw)
		cfi_oracle_compare(o.cfi, false, libdw, every, &eh);
	(void)dwarf_cfi_end(libdw);
	dwarf = dwarf_begin_elf(o.elf, DWARF_C_READ, NULL);
	libdw = dwarf ? dwarf_getcfi(dwarf) : NULL;
	if (libdw)
		cfi_oracle_compare(o.cfi, true, libdw, every, &debug);
	(void)dwarf_end(dwarf);
	print_message("%s: %zu functions, %zu rows, %zu expressions, %zu that only libdw refuses\n",
		      path, eh.functions + debug.functions, eh.rows + debug.rows,
		      eh.expressions + debug.expressions, eh.refused + debug.refused);
	assert_int_equal(eh.different + debug.different, 0);
	close_file(&o);
}

static void compare_files(void **state)
{
	static const char *const patterns[] = {
		"/proc/self/exe",
		FIXTURES,
		"/lib*/x86_64-linux-gnu/libc.so.6",
		"/lib*/aarch64-linux-gnu/libc.so.6",
		"/usr/lib*/libc.so.6",
		"/usr/lib/x86_64-linux-gnu/ld-linux*.so.*",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/usr/lib/x86_64-linux-gnu/libgcrypt.so.20",
		"/usr/lib/x86_64-linux-gnu/libLLVM-*.so.1",
		"/usr/lib32/libc.so.6",
		"/usr/aarch64-linux-gnu/lib/libc.so.6",
		"/usr/aarch64-linux-gnu/lib/ld-linux*.so.1",
	};
	char *const *const more = *state;

	for (size_t i = 0; i < PEV_ARRAY_SIZE(patterns); i++) {
		glob_t found;

		if (glob(patterns[i], 0, NULL, &found))
			continue;
		for (size_t j = 0; j < found.gl_pathc; j++)
			compare_file(found.gl_pathv[j]);
		globfree(&found);
	}
	for (size_t i = 0; more[i]; i++)
		compare_file(more[i]);
}

/* The sections of a file whose section headers are gone are found by its segments. */
static void without_section_headers(void **state)
{
	struct pev_cfi_sections whole, bare;
	struct opened o;
	size_t size;
	char *image;
	Elf *elf;

	(void)state;
	open_file(&o, "/proc/self/exe");
	whole = *pev_cfi_sections(o.cfi);
	image = elf_rawfile(o.elf, &size);
	image = memcpy(test_malloc(size), image, size);
	if (image[EI_CLASS] == ELFCLASS64) {
		((Elf64_Ehdr *)(void *)image)->e_shoff = 0;
		((Elf64_Ehdr *)(void *)image)->e_shnum = 0;
		((Elf64_Ehdr *)(void *)image)->e_shstrndx = 0;
	}
	elf = elf_memory(image, size);
	assert_non_null(elf);
	assert_int_equal(pev_cfi_sections_of_elf(elf, NULL, &bare, NULL), 0);
	assert_int_equal(bare.eh_frame.vaddr, whole.eh_frame.vaddr);
	assert_int_equal(bare.eh_frame_hdr.vaddr, whole.eh_frame_hdr.vaddr);
	/* Where a section ends, no segment says. */
	assert_true(bare.eh_frame.size >= whole.eh_frame.size);
	assert_memory_equal(bare.eh_frame.data, whole.eh_frame.data, whole.eh_frame.size);
	assert_memory_equal(bare.eh_frame_hdr.data, whole.eh_frame_hdr.data,
			    whole.eh_frame_hdr.size);
	elf_end(elf);
	test_free(image);
	close_file(&o);
}

static void other_machine(void **state)
{
	struct pev_cfi_sections s;
	struct pev_err err = PEV_ERR_INIT;
	Elf64_Ehdr eh = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				       EV_CURRENT },
			  .e_type = ET_DYN,
			  .e_machine = EM_S390,
			  .e_version = EV_CURRENT,
			  .e_ehsize = sizeof(eh) };
	Elf *elf;

	(void)state;
	(void)elf_version(EV_CURRENT);
	elf = elf_memory((char *)&eh, sizeof(eh));
	assert_int_equal(pev_cfi_sections_of_elf(elf, NULL, &s, &err), -EPROTONOSUPPORT);
	assert_err(&err, -EPROTONOSUPPORT,
		   "ELF machine 22 has no unwinder here; x86-64, i386 and aarch64 do");
	elf_end(elf);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(compare_files, argv + 1),
		cmocka_unit_test(without_section_headers),
		cmocka_unit_test(other_machine),
	};

	(void)argc;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
