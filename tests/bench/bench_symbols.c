// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names of addresses, with inlined functions and source lines: ours, beside libdwfl with
 * dwarf_getscopes(), and addr2line -f -i -C.
 *
 *	bench_symbols ELF [ADDRESSES]
 *
 * ELF has debug info of its own; ADDRESSES (10000) distinct ones are spread over its code. libdwfl
 * gets fewer of them, since it is slow; times are per address. "cold" starts with nothing open.
 */
#include "base/checked.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "unwind/demangle.h"
#include "unwind/image.h"
#include "unwind/inlines.h"
#include "unwind/symtab.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_FRAMES    64
#define DWFL_MAX      300
#define DEFAULT_COUNT 10000

struct addresses {
	uint64_t *at;
	size_t nr;
};

static double now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void row(const char *what, double seconds, size_t addresses, size_t frames)
{
	printf("%-36s %9.3f ms  %9.0f addresses/s  %6.2f frames each\n", what, seconds * 1e3,
	       (double)addresses / seconds, (double)frames / (double)addresses);
}

/* @nr addresses spread over the executable segments, in no order. */
static struct addresses choose(const struct pev_image *image, size_t nr)
{
	struct addresses a = { .at = calloc(nr, sizeof(*a.at)) };
	uint64_t bytes = 0;

	if (!a.at)
		return a;
	for (size_t i = 0; i < image->nr_loads; i++)
		bytes += image->loads[i].flags & PF_X ? image->loads[i].filesz : 0;
	for (size_t i = 0; i < nr; i++) {
		/* A prime step visits each place once before any twice. */
		uint64_t at = i * 2654435761ULL % bytes;

		for (size_t k = 0; k < image->nr_loads; k++) {
			const struct pev_load *const l = &image->loads[k];

			if (!(l->flags & PF_X))
				continue;
			if (at < l->filesz) {
				a.at[a.nr++] = l->vaddr + at;
				break;
			}
			at -= l->filesz;
		}
	}
	return a;
}

struct names {
	struct pev_image *image;
	struct pev_demangler *demangler;
	struct pev_symtab *symtab;
	struct pev_inlines *inlines;
};

static int names_open(struct names *n, const char *path, struct pev_err *err)
{
	int r;

	n->demangler = pev_demangler_new(PEV_DEMANGLE_FULL);
	r = pev_image_open(path, &n->image, err);
	if (r == 0)
		r = pev_symtab_new(n->image, NULL, NULL, n->demangler, &n->symtab, err);
	if (r == 0)
		r = pev_inlines_new(n->image, NULL, &n->inlines, err);
	return r;
}

static void names_done(struct names *n)
{
	(void)pev_inlines_free(n->inlines);
	(void)pev_symtab_free(n->symtab);
	(void)pev_demangler_free(n->demangler);
	(void)pev_image_free(n->image);
}

static size_t name_all(struct names *n, const struct addresses *a)
{
	size_t total = 0;

	for (size_t i = 0; i < a->nr; i++) {
		struct pev_inline_frame frames[MAX_FRAMES];
		struct pev_symbol symbol;
		const int nr = pev_inlines_find(n->inlines, a->at[i], frames, MAX_FRAMES);

		for (int k = 0; k < nr; k++)
			if (frames[k].function)
				frames[k].function = pev_demangle(n->demangler, frames[k].function);
		if (pev_symtab_find(n->symtab, a->at[i], &symbol))
			total += *pev_demangle(n->demangler, symbol.name) != 0 && nr == 0;
		total += (size_t)nr;
	}
	return total;
}

static void ours(const char *path, const struct addresses *a)
{
	struct pev_err err = PEV_ERR_INIT;
	struct names n = { 0 };
	struct pev_symbol symbol;
	size_t frames, found = 0;
	double start = now(), end;

	if (names_open(&n, path, &err) < 0) {
		printf("%s\n", err.msg);
		names_done(&n);
		return;
	}
	frames = name_all(&n, a);
	end = now();
	row("pevrec, cold", end - start, a->nr, frames);
	printf("    %" PRIu64 " units compiled into %" PRIu64 " KiB, %zu symbols in %zu KiB\n",
	       pev_inlines_counters(n.inlines)->units_compiled,
	       pev_inlines_counters(n.inlines)->bytes / 1024, pev_symtab_count(n.symtab),
	       pev_symtab_bytes(n.symtab) / 1024);
	start = now();
	frames = name_all(&n, a);
	row("pevrec, tables there", now() - start, a->nr, frames);
	start = now();
	for (size_t i = 0; i < a->nr; i++)
		found += pev_symtab_find(n.symtab, a->at[i], &symbol);
	row("pevrec, only the symbol", now() - start, a->nr, found);
	names_done(&n);
}

static const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr))
		name = dwarf_formstring(&attr);
	return name ? name : dwarf_diename(die);
}

/* What a caller of libdwfl does for one address. */
static size_t dwfl_frames(Dwfl_Module *module, uint64_t bias, uint64_t at,
			  struct pev_demangler *demangler)
{
	Dwarf_Addr dwarf_bias;
	Dwarf_Die *const cu = dwfl_module_addrdie(module, at + bias, &dwarf_bias);
	Dwfl_Line *const line = dwfl_module_getsrc(module, at + bias);
	Dwarf_Die *scopes = NULL, *inner = NULL;
	size_t frames = 0;
	int number, n;

	if (line)
		(void)dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL);
	n = cu ? dwarf_getscopes(cu, at + bias - dwarf_bias, &scopes) : 0;
	if (n > 0) {
		/* The innermost scope, and from there what it is inlined into. */
		const int all = dwarf_getscopes_die(&scopes[0], &inner);

		for (int i = 0; i < all; i++) {
			const int tag = dwarf_tag(&inner[i]);
			const char *name;

			if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
				continue;
			name = die_name(&inner[i]);
			if (name)
				(void)pev_demangle(demangler, name);
			frames++;
		}
	}
	free(scopes);
	free(inner);
	return frames;
}

static void libdwfl(const char *path, const struct addresses *a)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	struct pev_demangler *const demangler = pev_demangler_new(PEV_DEMANGLE_FULL);
	const size_t nr = PEV_MIN(a->nr, (size_t)DWFL_MAX);
	const double start = now();
	Dwfl *const dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *module = NULL;
	Dwarf_Addr bias = 0;
	size_t frames = 0;

	if (dwfl) {
		dwfl_report_begin(dwfl);
		module = dwfl_report_offline(dwfl, path, path, -1);
		(void)dwfl_report_end(dwfl, NULL, NULL);
	}
	if (module && dwfl_module_getelf(module, &bias)) {
		for (size_t i = 0; i < nr; i++)
			frames += dwfl_frames(module, bias, a->at[i], demangler);
		row("libdwfl + dwarf_getscopes, cold", now() - start, nr, frames);
	}
	dwfl_end(dwfl);
	(void)pev_demangler_free(demangler);
}

static void addr2line(const char *path, const struct addresses *a)
{
	char in[] = "/tmp/pevrec-bench-XXXXXX";
	_cleanup_free_ char *command = NULL;
	size_t lines = 0;
	char text[4096];
	double start;
	FILE *f;
	const int fd = mkstemp(in);

	f = fd < 0 ? NULL : fdopen(fd, "we");
	if (!f)
		return;
	for (size_t i = 0; i < a->nr; i++)
		(void)fprintf(f, "%#" PRIx64 "\n", a->at[i]);
	(void)fclose(f);
	if (asprintf(&command, "addr2line -f -i -C -e '%s' <%s 2>/dev/null", path, in) < 0)
		command = NULL;
	start = now();
	f = command ? popen(command, "re") : NULL;
	while (f && fgets(text, sizeof(text), f))
		lines += strchr(text, '\n') != NULL;
	if (f && pclose(f) == 0)
		row("addr2line -f -i -C, cold", now() - start, a->nr, lines / 2);
	else
		printf("addr2line does not run\n");
	(void)unlink(in);
}

int main(int argc, char **argv)
{
	_cleanup_(pev_image_freep) struct pev_image *image = NULL;
	struct pev_err err = PEV_ERR_INIT;
	struct addresses a;
	size_t nr;

	if (argc < 2) {
		(void)fprintf(stderr, "Usage: bench_symbols ELF [ADDRESSES]\n");
		return EXIT_FAILURE;
	}
	nr = argc > 2 ? strtoul(argv[2], NULL, 0) : DEFAULT_COUNT;
	if (pev_image_open(argv[1], &image, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.msg);
		return EXIT_FAILURE;
	}
	a = choose(image, nr ? nr : 1);
	if (!a.nr) {
		(void)fprintf(stderr, "%s has no code\n", argv[1]);
		return EXIT_FAILURE;
	}
	ours(argv[1], &a);
	addr2line(argv[1], &a);
	libdwfl(argv[1], &a);
	free(a.at);
	return EXIT_SUCCESS;
}
