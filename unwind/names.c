// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unwind/names.h"

#include "base/checked.h"
#include "unwind/demangle.h"
#include "unwind/inlines.h"
#include "unwind/ksyms.h"
#include "unwind/perf_map.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The frames of one address, kept for the next time. */
struct pev_names {
	unsigned int nr;
	struct pev_frame frames[];
};

/* What is being named. */
struct query {
	struct pev_modules *ms;
	struct pev_module *m;
	uint64_t vaddr;
	struct pev_symbol sym; /* with ->has_sym */
	bool has_sym;
	bool addr2line; /* perf asks that program, not libdw */
	struct pev_inline_frame inlines[PEV_INLINES_MAX];
	unsigned int nr_inlines;
};

static const char *intern(struct pev_modules *ms, const char *s)
{
	return pev_strings_put(&ms->strings, s, strlen(s));
}

static struct pev_names *new_names(unsigned int nr)
{
	struct pev_names *const n = calloc(1, sizeof(*n) + nr * sizeof(n->frames[0]));

	if (n)
		n->nr = nr;
	return n;
}

/* One frame with a name that is not mangled, or with none. */
static struct pev_names *plain(const struct pev_module *m, const char *name, size_t size,
			       uint64_t offset)
{
	struct pev_names *const n = new_names(1);
	struct pev_frame *const f = n ? n->frames : NULL;

	if (!f || !name)
		return n;
	f->name = f->mangled = pev_strings_put(&m->all->strings, name, size);
	f->offset = offset;
	if (!f->name) {
		free(n);
		return NULL;
	}
	return n;
}

static struct pev_names *name_jit(struct pev_module *m, uint64_t address)
{
	struct pev_perf_map_symbol s;
	const struct pev_jit_code *code;
	struct pev_names *n;
	const char *file;
	uint64_t offset;
	uint32_t line;

	code = pev_module_jit_code_at(m, address, &offset);
	if (code) {
		n = plain(m, code->name, strlen(code->name), offset);
		if (n && pev_jitdump_line(m->jitdump, code, code->start + offset, &file, &line)) {
			n->frames[0].file = intern(m->all, file);
			n->frames[0].line = line;
		}
		return n;
	}
	if (m->perf_map && pev_perf_map_find(m->perf_map, address, &s))
		return plain(m, s.name, s.name_size, address - s.start);
	return plain(m, NULL, 0, 0);
}

/* "[ext4]" and "ext4" are the same module. */
static bool is_module(const struct pev_module *m, const struct pev_ksym *s)
{
	if (m->key.kind == PEV_MODULE_KERNEL)
		return true;
	return s->module && strlen(m->dso) == s->module_size + 2 &&
	       strncmp(m->dso + 1, s->module, s->module_size) == 0;
}

static struct pev_names *name_ksym(const struct pev_module *m, const struct pev_module *kernel,
				   uint64_t address)
{
	struct pev_ksym s;

	if (!pev_ksyms_find(kernel->ksyms, address + kernel->delta, &s) || !is_module(m, &s))
		return plain(m, NULL, 0, 0);
	return plain(m, s.name, s.name_size, address + kernel->delta - s.start);
}

/* The name of a frame that DWARF or the symbol table knows. */
static bool set_name(struct pev_modules *ms, struct pev_frame *f, const char *mangled)
{
	if (!mangled)
		return true;
	f->mangled = intern(ms, mangled);
	f->name = f->mangled ? intern(ms, pev_demangle(ms->demangler, f->mangled)) : NULL;
	return f->name;
}

static bool set_line(struct pev_modules *ms, struct pev_frame *f, const struct pev_inline_frame *i)
{
	f->line = i->line;
	f->file = i->file ? intern(ms, i->file) : NULL;
	return !i->file || f->file;
}

static const char *demangled(const struct query *q, const char *name)
{
	return pev_demangle(q->ms->demangler, name);
}

static bool is_mangled(const struct query *q, const char *name)
{
	return strcmp(demangled(q, name), name) != 0;
}

/* The name of frame @i of @nr: the function that really is there, the last one, goes by its symbol.
 */
static const char *frame_name(const struct query *q, unsigned int i, unsigned int nr,
			      bool *ret_inlined)
{
	const char *const dwarf = i < q->nr_inlines ? q->inlines[i].function : NULL;

	*ret_inlined = i + 1 < nr;
	return q->has_sym && i + 1 == nr ? q->sym.name : dwarf;
}

/*
 * perf asks libdw what is inlined where. But it looks position-independent files up as if they
 * started at 64 KiB, finds nothing below that, and then asks addr2line(1). That gives clones their
 * name in DWARF, "sort" for "sort.part.0", which perf takes for an inlined function. The innermost
 * function, where it has no mangled name in C++, gets that of the symbol; and once it was the only
 * one at an address, addr2line keeps that for it.
 */
#define LIBDW_FIRST 0x10000

/* True when perf gives frame @i of @nr its name in DWARF, false for that of the symbol. */
static bool has_own_name(const struct query *q, unsigned int i, unsigned int nr)
{
	const char *const dwarf = q->inlines[i].function;
	const bool linkage = is_mangled(q, dwarf) || !is_mangled(q, q->sym.name);

	if (!q->addr2line)
		return i + 1 < nr;
	if (linkage || (i && i + 1 < nr))
		return true;
	return i && !pev_table_get(&q->m->renamed, q->sym.start, 0);
}

/* The same with the mistakes of perf 7.2, to which a function by the name of the symbol is the
 * symbol, also when it was inlined into itself. */
static const char *frame_name_as_perf(const struct query *q, unsigned int i, unsigned int nr,
				      bool *ret_inlined)
{
	const char *const dwarf = i < q->nr_inlines ? q->inlines[i].function : NULL;
	const char *const symbol = q->sym.name;

	*ret_inlined = dwarf && !q->ms->no_inline && has_own_name(q, i, nr) &&
		       strcmp(demangled(q, dwarf), demangled(q, symbol)) != 0;
	return *ret_inlined ? dwarf : symbol;
}

static bool fill_frame(const struct query *q, struct pev_names *n, unsigned int i)
{
	const struct pev_inline_frame *const d = i < q->nr_inlines ? &q->inlines[i] : NULL;
	struct pev_frame *const f = &n->frames[i];
	const char *name;

	f->offset = q->has_sym ? q->vaddr - q->sym.start : 0;
	name = q->ms->as_perf ? frame_name_as_perf(q, i, n->nr, &f->inlined)
			      : frame_name(q, i, n->nr, &f->inlined);
	return set_name(q->ms, f, name) && (!d || set_line(q->ms, f, d));
}

static struct pev_names *name_elf(struct pev_module *m, uint64_t address)
{
	struct query q; /* large: not to be cleared for each address */
	struct pev_inlines *inlines;
	struct pev_symtab *symtab;
	struct pev_names *n;
	int r;

	if (pev_module_symtab(m, &symtab) < 0 || pev_module_inlines(m, &inlines) < 0)
		return NULL;
	q.ms = m->all;
	q.m = m;
	q.vaddr = pev_module_vaddr(m, address);
	q.nr_inlines = 0;
	q.addr2line = q.vaddr < LIBDW_FIRST && m->located.main && m->located.main->type == ET_DYN;
	q.has_sym = symtab && pev_symtab_find(symtab, q.vaddr, &q.sym);
	if (inlines) {
		r = pev_inlines_find(inlines, q.vaddr, q.inlines, PEV_INLINES_MAX);
		if (r < 0)
			return NULL;
		q.nr_inlines = (unsigned int)r;
	}
	if (q.ms->no_inline && q.nr_inlines > 1) {
		/* The line of the address is that of the innermost frame. */
		q.inlines[0].function = q.inlines[q.nr_inlines - 1].function;
		q.nr_inlines = 1;
	}
	/* perf asks DWARF only where there is a symbol. */
	if (q.ms->as_perf && !q.has_sym)
		return plain(m, NULL, 0, 0);
	n = new_names(PEV_MAX(q.nr_inlines, 1U));
	for (unsigned int i = 0; n && i < n->nr; i++) {
		if (!fill_frame(&q, n, i)) {
			free(n);
			return NULL;
		}
	}
	if (q.ms->as_perf && q.addr2line && q.nr_inlines == 1 &&
	    pev_table_put(&m->renamed, q.sym.start, 0, m) < 0) {
		free(n);
		return NULL;
	}
	return n;
}

static struct pev_names *name_module(struct pev_module *m, uint64_t address)
{
	if (pev_module_open(m) < 0 || (m->kernel && pev_module_open(m->kernel) < 0))
		return NULL;
	switch (m->key.kind) {
	case PEV_MODULE_FILE:
	case PEV_MODULE_VDSO:
		return name_elf(m, address);
	case PEV_MODULE_JIT:
		return name_jit(m, address);
	case PEV_MODULE_KERNEL:
		return m->ksyms ? name_ksym(m, m, address) : name_elf(m, address);
	case PEV_MODULE_KMOD:
		/* Modules are loaded elsewhere in each boot. */
		if (m->kernel && m->kernel->ksyms && m->kernel->delta == 0)
			return name_ksym(m, m->kernel, address);
		return name_elf(m, address);
	case PEV_MODULE_KSYM:
		return plain(m, m->dso, strlen(m->dso), address - m->key.start);
	case PEV_MODULE_NAMELESS:
		break;
	}
	return plain(m, NULL, 0, 0);
}

int pev_names_get(struct pev_modules *ms, struct pev_module *m, uint64_t address,
		  const struct pev_frame **ret_frames)
{
	static const struct pev_frame unmapped = { .dso = "[unknown]" };
	struct pev_names *n;
	bool named;

	if (!m) {
		*ret_frames = &unmapped;
		return 1;
	}
	n = pev_table_get(&ms->names, (uintptr_t)m, address);
	if (!n) {
		n = name_module(m, address);
		if (!n || pev_table_put(&ms->names, (uintptr_t)m, address, n) < 0) {
			free(n);
			return -ENOMEM;
		}
		for (unsigned int i = 0; i < n->nr; i++) {
			n->frames[i].dso = m->dso;
			n->frames[i].kernel = pev_module_is_kernel(m);
			n->frames[i].module = m;
		}
		named = n->frames[n->nr - 1].name;
		m->info.named += named;
		m->info.unnamed += !named;
	}
	*ret_frames = n->frames;
	return (int)n->nr;
}
