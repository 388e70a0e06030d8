// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * For tests/integration/names.py: what the unwind room calls addresses, one per line of input, as
 * perf script prints it with -F sym,symoff.
 *
 *	name_addresses full|short MODULE	file offsets of its ELF file
 *	name_addresses kernel KALLSYMS		addresses of the kernel
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"
#include "unwind/demangle.h"
#include "unwind/ksyms.h"
#include "unwind/locate.h"
#include "unwind/symtab.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool next_address(uint64_t *ret)
{
	char line[64];

	if (!fgets(line, sizeof(line), stdin))
		return false;
	*ret = strtoull(line, NULL, 16);
	return true;
}

static int name_kernel(const char *path, struct pev_err *err)
{
	_cleanup_(pev_ksyms_freep) struct pev_ksyms *k = NULL;
	_cleanup_buf_ struct pev_buf text = { 0 };
	uint64_t at;
	int r;

	r = pev_read_path(path, 1 << 30, &text);
	if (r < 0)
		return pev_err_set(err, r, "Cannot read %s: %s", path, pev_errno_str(r));
	r = pev_ksyms_new(text.data, text.size, &k, err);
	if (r < 0)
		return r;
	while (next_address(&at)) {
		struct pev_ksym s;

		if (pev_ksyms_find(k, at, &s))
			printf("%.*s+0x%" PRIx64 "\n", (int)s.name_size, s.name, at - s.start);
		else
			printf("[unknown]\n");
	}
	return 0;
}

static int name_module(const char *path, enum pev_demangle_style style, struct pev_err *err)
{
	_cleanup_(pev_demangler_freep) struct pev_demangler *d = pev_demangler_new(style);
	_cleanup_(pev_located_done) struct pev_located l = { 0 };
	_cleanup_(pev_symtab_freep) struct pev_symtab *t = NULL;
	const struct pev_locate_options options = { .perf_cache = "" };
	struct pev_locate_counters counters = { 0 };
	uint64_t offset;
	int r;

	r = pev_locate(&options, path, NULL, &l, &counters, err);
	if (r < 0)
		return r;
	if (!l.main)
		return pev_err_set(err, -1, "%s is not there", path);
	r = pev_symtab_new(l.main, l.debug, l.mini, d, &t, err);
	if (r < 0)
		return r;
	while (next_address(&offset)) {
		struct pev_symbol s;
		uint64_t at;

		if (pev_image_offset_to_vaddr(l.main, offset, &at) == 0 &&
		    pev_symtab_find(t, at, &s))
			printf("%s+0x%" PRIx64 "\n", pev_demangle(d, s.name), at - s.start);
		else
			printf("[unknown]\n");
	}
	/* The table borrows the demangler and the images. */
	t = pev_symtab_free(t);
	return 0;
}

int main(int argc, char **argv)
{
	struct pev_err err = PEV_ERR_INIT;
	int r;

	if (argc != 3)
		return EXIT_FAILURE;
	if (strcmp(argv[1], "kernel") == 0)
		r = name_kernel(argv[2], &err);
	else
		r = name_module(argv[2],
				strcmp(argv[1], "short") == 0 ? PEV_DEMANGLE_SHORT
							      : PEV_DEMANGLE_FULL,
				&err);
	if (r < 0)
		(void)fprintf(stderr, "%s\n", err.msg);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
