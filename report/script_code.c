// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Code comes back thousands of times, and the lines it makes are always the same: they are made
 * once and kept, by module, address and recorded address. Memory follows the distinct code.
 */
#include "report/script_part.h"

#include "base/checked.h"
#include "base/hash.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define CODE_FIELDS                                                                               \
	(PEV_SCRIPT_IP | PEV_SCRIPT_SYM | PEV_SCRIPT_SYMOFF | PEV_SCRIPT_DSO | PEV_SCRIPT_DSOFF | \
	 PEV_SCRIPT_SRCLINE)

void script_texts_done(struct script_texts *t)
{
	pev_index_done(&t->index);
	pev_buf_done(&t->bytes);
	free(t->v);
}

/* The name as the perf that is asked for has it. */
static const char *name_of(const struct script *s, const struct pev_frame *f)
{
	if (!f->name)
		return "[unknown]";
	return s->demangler && !f->kernel && f->mangled ? pev_demangle(s->demangler, f->mangled)
							: f->name;
}

static void put_symbol(const struct script *s, const struct pev_frame *f, bool offset,
		       struct pev_buf *text)
{
	const char *const name = name_of(s, f);

	pev_buf_put(text, name, strlen(name));
	if (f->name && offset)
		pev_buf_printf(text, "+0x%" PRIx64, f->offset);
}

static void put_dso(const struct pev_code *code, const struct pev_frame *f, uint64_t fields,
		    struct pev_buf *text)
{
	pev_buf_printf(text, " (%s", f->dso);
	if (fields & PEV_SCRIPT_DSOFF && f->module)
		pev_buf_printf(text, "+0x%" PRIx64, code->address);
	pev_buf_printf(text, ")");
}

static void put_line(const struct script *s, const struct pev_code *code, const struct pev_frame *f,
		     struct pev_buf *text)
{
	struct pev_module_info info = { 0 };

	if (f->file && f->line) {
		pev_buf_printf(text, "\n  %s:%" PRIu32,
			       s->options->full_paths ? f->file : basename(f->file), f->line);
	} else if (f->module) {
		pev_module_info(f->module, &info);
		pev_buf_printf(text, "\n  %s[%" PRIx64 "]", info.short_name, code->address);
	}
}

/* The address that stands in front: what perf 6.1 has for code in files is where it is there. */
static uint64_t shown_address(const struct script *s, const struct pev_code *code,
			      const struct pev_frame *f)
{
	return s->options->style == PEV_SCRIPT_PERF_6_1 && f->module && !f->kernel ? code->address
										   : code->ip;
}

/* The lines of one code in a chain: what is inlined has lines of its own. */
static void put_frames(const struct script *s, const struct pev_code *code,
		       const struct pev_frame *frames, int nr, uint64_t fields,
		       struct pev_buf *text)
{
	for (int i = 0; i < nr; i++) {
		const struct pev_frame *const f = &frames[i];

		if (fields & PEV_SCRIPT_IP)
			pev_buf_printf(text, "\t%16" PRIx64, shown_address(s, code, f));
		if (fields & PEV_SCRIPT_SYM) {
			pev_buf_u8(text, ' ');
			put_symbol(s, f, fields & PEV_SCRIPT_SYMOFF, text);
		}
		if (fields & (PEV_SCRIPT_DSO | PEV_SCRIPT_DSOFF) && !f->inlined)
			put_dso(code, f, fields, text);
		if (fields & PEV_SCRIPT_SRCLINE)
			put_line(s, code, f, text);
		if (f->inlined)
			pev_buf_printf(text, " (inlined)");
		pev_buf_u8(text, '\n');
	}
}

/* What stands behind a sample on its line: only the function that is really there. */
static void put_place(const struct script *s, const struct pev_code *code,
		      const struct pev_frame *f, uint64_t fields, struct pev_buf *text)
{
	if (fields & PEV_SCRIPT_IP)
		pev_buf_printf(text, "%16" PRIx64, code->ip);
	if (fields & PEV_SCRIPT_SYM) {
		pev_buf_u8(text, ' ');
		put_symbol(s, f, fields & PEV_SCRIPT_SYMOFF, text);
	}
	if (fields & (PEV_SCRIPT_DSO | PEV_SCRIPT_DSOFF))
		put_dso(code, f, fields, text);
	if (fields & PEV_SCRIPT_SRCLINE)
		put_line(s, code, f, text);
}

static int make_text(struct script *s, struct script_text *t)
{
	struct pev_buf *const text = &s->texts.bytes;
	const struct pev_frame *frames;
	const int nr = pev_resolver_name(s->resolver, &t->code, &frames, s->err);

	if (nr < 0)
		return nr;
	t->at = text->size;
	if (t->chain)
		put_frames(s, &t->code, frames, nr, t->how, text);
	else
		put_place(s, &t->code, &frames[nr - 1], t->how, text);
	t->size = text->size - t->at;
	return pev_buf_status(text);
}

static int print_text(struct script *s, const struct pev_code *code, uint64_t how, bool chain)
{
	struct script_texts *const all = &s->texts;
	const uint64_t hash = pev_hash_u64((code->address ^ (uintptr_t)code->module) +
					   (code->ip ^ how << 1 ^ chain) * 0x9e3779b97f4a7c15ULL);
	struct pev_probe at = pev_index_probe(&all->index, hash);
	struct script_text made = { .code = *code, .how = how, .chain = chain };
	int r;

	while (pev_index_next(&all->index, &at)) {
		const struct script_text *const t = &all->v[at.found];

		if (t->code.address == code->address && t->code.module == code->module &&
		    t->code.ip == code->ip && t->how == how && t->chain == chain) {
			pev_out_put(&s->out, (const char *)all->bytes.data + t->at, t->size);
			return 0;
		}
	}
	r = make_text(s, &made);
	if (r == 0)
		r = PEV_ARRAY_ROOM(all->v, all->nr, all->cap);
	if (r == 0)
		r = pev_index_add(&all->index, hash, all->nr);
	if (r < 0)
		return r;
	all->v[all->nr++] = made;
	pev_out_put(&s->out, (const char *)all->bytes.data + made.at, made.size);
	return 0;
}

int script_print_chain(struct script *s, uint64_t fields)
{
	int r = 0;

	for (size_t i = 0; i < s->chain.nr && r == 0; i++)
		r = print_text(s, &s->chain.codes[i], fields & CODE_FIELDS, true);
	return r;
}

int script_print_code(struct script *s, const struct pev_code *code, uint64_t fields)
{
	return print_text(s, code, fields & CODE_FIELDS, false);
}

int script_print_address(struct script *s, const struct pev_code *code, uint64_t fields)
{
	return print_text(s, code, fields & (PEV_SCRIPT_SYM | PEV_SCRIPT_SYMOFF | PEV_SCRIPT_DSO),
			  false);
}

int script_print_symbol(struct script *s, const struct pev_code *code, bool offset)
{
	const struct pev_frame *frames;
	const int nr = pev_resolver_name(s->resolver, code, &frames, s->err);

	if (nr > 0)
		put_symbol(s, &frames[nr - 1], offset, &s->out.buf);
	return nr < 0 ? nr : 0;
}

int script_print_dso(struct script *s, const struct pev_code *code)
{
	const struct pev_frame *frames;
	const int nr = pev_resolver_name(s->resolver, code, &frames, s->err);

	if (nr > 0)
		pev_out_str(&s->out, frames[nr - 1].dso);
	return nr < 0 ? nr : 0;
}

int script_resolve(struct script *s, const struct pev_reader_record *rec, uint64_t address,
		   struct pev_code *ret)
{
	const uint8_t mode = rec->rec.hdr.misc & PEV_MISC_CPUMODE_MASK;
	/* The kernel reaches into the memory of processes, and branches lead to both sides. */
	const uint8_t other = address >> 63 ? PEV_MISC_KERNEL : PEV_MISC_USER;
	int r = pev_resolver_at(s->resolver, rec->trace, rec->rec.id.pid, mode, address, ret,
				s->err);

	if (r == 0 && !ret->module && (mode == PEV_MISC_KERNEL || mode == PEV_MISC_USER) &&
	    mode != other)
		r = pev_resolver_at(s->resolver, rec->trace, rec->rec.id.pid, other, address, ret,
				    s->err);
	return r;
}
