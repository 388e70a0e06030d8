// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/unresolved.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "report/index.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void pev_unresolved_done(struct pev_unresolved_list *l)
{
	free(l->v);
	*l = (struct pev_unresolved_list){ 0 };
}

static bool is_kernel(const struct pev_code *code)
{
	return code->mode == PEV_MISC_KERNEL || code->mode == PEV_MISC_GUEST_KERNEL ||
	       code->mode == PEV_MISC_HYPERVISOR;
}

/* A list in the making. */
struct finding {
	struct pev_unresolved *v;
	uint32_t nr, cap;
	struct pev_index index;
};

static void finding_done(struct finding *f)
{
	free(f->v);
	pev_index_done(&f->index);
}

static int count(struct finding *f, const struct pev_profile_code *code, uint64_t samples)
{
	struct pev_module *const module = code->code.module;
	const bool kernel = is_kernel(&code->code);
	const uint64_t hash = pev_hash_u64((uintptr_t)module + kernel);
	struct pev_probe at = pev_index_probe(&f->index, hash);
	int r;

	while (pev_index_next(&f->index, &at))
		if (f->v[at.found].module == module && f->v[at.found].kernel == kernel) {
			f->v[at.found].samples += samples;
			return 0;
		}
	r = PEV_ARRAY_ROOM(f->v, f->nr, f->cap);
	if (r == 0)
		r = pev_index_add(&f->index, hash, f->nr);
	if (r < 0)
		return r;
	f->v[f->nr++] = (struct pev_unresolved){ .module = module,
						 .dso = code->frames[code->nr_frames - 1].dso,
						 .kernel = kernel,
						 .samples = samples };
	return 0;
}

static int by_samples(const void *a, const void *b)
{
	const struct pev_unresolved *const x = a, *const y = b;

	return (x->samples < y->samples) - (x->samples > y->samples);
}

int pev_unresolved_find(struct pev_unresolved_list *l, const struct pev_profile_data *d)
{
	_cleanup_(finding_done) struct finding f = { 0 };

	*l = (struct pev_unresolved_list){ 0 };
	for (uint32_t i = 0; i < d->nr_cells; i++) {
		const struct pev_profile_cell *const cell = &d->cells[i];
		const struct pev_profile_code *const code = &d->codes[d->stacks[cell->stack].self];
		int r = 0;

		*(is_kernel(&code->code) ? &l->kernel : &l->user) += cell->samples;
		if (!code->frames[code->nr_frames - 1].name)
			r = count(&f, code, cell->samples);
		if (r < 0)
			return r;
	}
	if (f.nr)
		qsort(f.v, f.nr, sizeof(*f.v), by_samples);
	l->v = TAKE_PTR(f.v);
	l->nr = f.nr;
	return 0;
}

void pev_unresolved_explain(const struct pev_unresolved_list *l, size_t i, struct pev_buf *text)
{
	const struct pev_unresolved *const u = &l->v[i];
	const uint64_t of = u->kernel ? l->kernel : l->user;
	const double percent = 100.0 * (double)u->samples / (double)(of ? of : 1);

	pev_buf_printf(text, percent < 1 ? "%.2f" : "%.0f", percent);
	pev_buf_printf(text, " %% of %s samples have no symbols: ", u->kernel ? "kernel" : "user");
	if (u->module) {
		const size_t start = text->size;
		const char *more;

		/* Which file, and what was wrong with it. Each place that was looked at besides is
		 * too much for a line. */
		pev_module_explain(u->module, text);
		more = pev_buf_status(text) < 0
			       ? NULL
			       : memchr(text->data + start, ';', text->size - start);
		if (more)
			text->size = (size_t)((const uint8_t *)more - text->data);
	} else {
		pev_buf_printf(text, "nothing was mapped at their addresses");
	}
}
