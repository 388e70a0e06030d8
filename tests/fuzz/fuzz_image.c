// SPDX-License-Identifier: LGPL-2.1-or-later
/* An ELF file: its tables, symbols, demangled names, mini-debuginfo, inlines and lines. */
#include "tests/fuzz/fuzz.h"
#include "unwind/demangle.h"
#include "unwind/image.h"
#include "unwind/inlines.h"
#include "unwind/symtab.h"

#include <stdlib.h>
#include <string.h>

static volatile size_t sink;

static void read_symbols(struct pev_image *image, struct pev_image *mini)
{
	struct pev_demangler *const d = pev_demangler_new(PEV_DEMANGLE_FULL);
	struct pev_symtab *t = NULL;

	if (d && pev_symtab_new(image, NULL, mini, d, &t, NULL) == 0) {
		for (size_t i = 0; i < pev_symtab_count(t) && i < 1000; i++) {
			struct pev_symbol s;

			pev_symtab_at(t, i, &s);
			if (pev_symtab_find(t, s.start, &s))
				sink += strlen(pev_demangle(d, s.name));
		}
	}
	pev_symtab_free(t);
	pev_demangler_free(d);
}

static void read_inlines(struct pev_image *image)
{
	struct pev_inlines *inl = NULL;

	if (pev_inlines_new(image, NULL, &inl, NULL) < 0)
		return;
	for (size_t i = 0; i < image->nr_loads && i < 4; i++) {
		const uint64_t step = 1 + image->loads[i].memsz / 64;

		for (uint64_t k = 0; k < 64; k++) {
			struct pev_inline_frame frames[16];
			const int n =
				pev_inlines_find(inl, image->loads[i].vaddr + k * step, frames, 16);

			for (int f = 0; f < n; f++) {
				sink += frames[f].function ? strlen(frames[f].function) : 0;
				sink += frames[f].file ? strlen(frames[f].file) : 0;
			}
		}
	}
	pev_inlines_free(inl);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pev_image *image = NULL, *mini = NULL;
	struct pev_build_id id;
	const char *name;
	uint32_t crc;
	uint8_t *const copy = malloc(size + 1);

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (pev_image_open_bytes(copy, size, "fuzz", &image, NULL) < 0)
		return 0;
	(void)pev_image_debuglink(image, &name, &crc);
	(void)pev_image_debugaltlink(image, &name, &id);
	(void)pev_image_open_mini(image, &mini, NULL);
	read_symbols(image, mini);
	read_inlines(image);
	pev_image_free(mini);
	pev_image_free(image);
	return 0;
}
