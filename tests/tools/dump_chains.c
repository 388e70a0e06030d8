// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Prints the call chains of a trace as perf script -F comm,pid,tid,time,ip,sym,dso does, for tests
 * that compare the two. What was missing goes to standard error, and is no failure.
 *
 *	-I		without inlined functions
 *	-o		with the offset in the symbol: perf's field symoff
 *	-l		with the source line: perf's field srcline
 *	-s DIR		--symfs
 *	-k FILE		--kallsyms
 *	-q		chains only: names are not asked for, nothing is printed
 *	-v		tells all that was counted
 */
#include "base/cursor.h"
#include "format/reader.h"
#include "unwind/resolver.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dump {
	struct pev_reader *reader;
	struct pev_resolver *resolver;
	struct pev_chain chain;
	bool offsets, lines, quiet, verbose;
};

static void print_code(const struct dump *d, const struct pev_code *code,
		       const struct pev_frame *frames, int nr, const char *before)
{
	for (int i = 0; i < nr; i++) {
		const struct pev_frame *const f = &frames[i];

		(void)printf("%s%16" PRIx64 " %s", before, code->ip,
			     f->name ? f->name : "[unknown]");
		if (d->offsets && f->name)
			(void)printf("+0x%" PRIx64, f->offset);
		if (f->inlined)
			(void)printf(" (inlined)");
		else
			(void)printf(" (%s)", f->dso);
		if (d->lines && f->file)
			(void)printf("\n  %s:%" PRIu32, f->file, f->line);
		(void)putchar('\n');
	}
}

static int print_sample(struct dump *d, const struct pev_reader_record *rec, struct pev_err *err)
{
	const struct pev_sample_id *const id = &rec->rec.id;
	const struct pev_chain *const c = &d->chain;
	const bool chain = c->kind != PEV_CHAIN_NONE;
	const struct pev_frame *frames;

	(void)printf(chain ? "%s" : "%16s",
		     pev_resolver_comm(d->resolver, rec->trace, id->pid, id->tid));
	(void)printf(" %7d/%-7d", (int)id->pid, (int)id->tid);
	(void)printf(" %5" PRIu64 ".%06" PRIu64 ": %s", id->time / 1000000000,
		     id->time % 1000000000 / 1000, chain ? "\n" : " ");
	for (size_t i = 0; i < c->nr; i++) {
		const int n = pev_resolver_name(d->resolver, &c->codes[i], &frames, err);

		if (n < 0)
			return n;
		if (chain)
			print_code(d, &c->codes[i], frames, n, "\t");
		else
			print_code(d, &c->codes[i], frames + n - 1, 1, "");
	}
	if (chain)
		(void)putchar('\n');
	return 0;
}

/* struct perf_record_header_build_id: a process, 24 bytes of which 20 are the build-id, then its
 * size, and the name. */
static int see_build_id(struct dump *d, const struct pev_reader_record *rec, struct pev_err *err)
{
	struct pev_cursor c = pev_cursor(rec->bytes, rec->size);
	struct pev_feat_build_id id = { .misc = rec->rec.hdr.misc };
	const uint8_t *bytes;

	c.swap = rec->swap;
	(void)pev_cursor_bytes(&c, sizeof(rec->rec.hdr));
	id.pid = (int32_t)pev_cursor_u32(&c);
	bytes = pev_cursor_bytes(&c, 24);
	id.name = pev_cursor_str(&c, pev_cursor_left(&c));
	if (c.failed)
		return 0;
	memcpy(id.id, bytes, sizeof(id.id));
	id.size = id.misc & PEV_MISC_BUILD_ID_SIZE && bytes[20] <= 20 ? bytes[20] : 20;
	return pev_resolver_build_id(d->resolver, rec->trace, &id, err);
}

static int take_record(struct dump *d, const struct pev_reader_record *rec, struct pev_err *err)
{
	int r;

	if (rec->rec.hdr.type == PEV_READER_TRACE_END) {
		pev_resolver_trace_end(d->resolver, rec->trace);
		return 0;
	}
	if (rec->rec.hdr.type == PEV_REC_HEADER_BUILD_ID)
		return see_build_id(d, rec, err);
	if (rec->rec.hdr.type == PEV_REC_HEADER_FEATURE)
		return pev_resolver_trace(d->resolver, rec->trace,
					  pev_reader_path(d->reader, rec->trace),
					  pev_reader_head(d->reader, rec->trace).features, err);
	if (rec->rec.hdr.type >= PEV_REC_USER_START)
		return 0;
	if (rec->rec.hdr.type != PEV_REC_SAMPLE)
		return pev_resolver_see(d->resolver, rec->trace, &rec->rec, err);
	r = pev_resolver_chain(d->resolver, rec->trace, &rec->event->attr, &rec->rec, &d->chain,
			       err);
	if (r < 0 || d->quiet)
		return r;
	return print_sample(d, rec, err);
}

static void tell_counters(const struct dump *d)
{
	const struct pev_resolver_counters *const c = pev_resolver_counters(d->resolver);

	(void)fprintf(stderr,
		      "records=%" PRIu64 " samples=%" PRIu64 " frames=%" PRIu64 " unmapped=%" PRIu64
		      " unwound=%" PRIu64 " truncated=%" PRIu64 " corrupt=%" PRIu64
		      " named=%" PRIu64 " unnamed=%" PRIu64 " spaces=%" PRIu64 " mappings=%" PRIu64
		      " forgotten=%" PRIu64 "\n",
		      c->records, c->samples, c->frames, c->unmapped, c->unwound, c->truncated,
		      c->corrupt, c->named, c->unnamed, c->spaces, c->mappings, c->forgotten);
	for (unsigned int i = 0; i < PEV_UNWIND_NR_ENDS; i++)
		if (c->ends[i])
			(void)fprintf(stderr, "%8" PRIu64 " chains ended: %s\n", c->ends[i],
				      pev_unwind_end_str(i));
}

static void tell_modules(const struct dump *d)
{
	struct pev_module_info info;
	struct pev_module *m;

	for (size_t i = 0; (m = pev_resolver_module(d->resolver, i)); i++) {
		struct pev_buf text = { 0 };

		pev_module_info(m, &info);
		if (!info.used)
			continue;
		pev_module_explain(m, &text);
		(void)fprintf(stderr, "%.*s [%" PRIu64 " named, %" PRIu64 " not%s%s%s%s]\n",
			      (int)text.size, (const char *)text.data, info.named, info.unnamed,
			      info.not_found ? ", not found" : "", info.stale ? ", stale" : "",
			      info.stripped ? ", stripped" : "", info.no_cfi ? ", no CFI" : "");
		pev_buf_done(&text);
	}
}

static int run(struct dump *d, const char **paths, size_t nr, struct pev_err *err)
{
	struct pev_reader_record rec;
	int r;

	r = pev_reader_open(paths, nr, NULL, &d->reader, err);
	for (uint32_t i = 0; r >= 0 && i < nr; i++)
		r = pev_resolver_trace(d->resolver, i, paths[i],
				       pev_reader_head(d->reader, i).features, err);
	while (r >= 0 && (r = pev_reader_next(d->reader, &rec, err)) > 0)
		r = take_record(d, &rec, err);
	return r;
}

int main(int argc, char **argv)
{
	struct pev_resolver_options options = { .as_perf = true };
	struct pev_err err = PEV_ERR_INIT;
	struct dump d = { 0 };
	int c, r;

	while ((c = getopt(argc, argv, "Iols:k:qv")) != -1) {
		options.no_inline |= c == 'I';
		d.offsets |= c == 'o';
		d.lines |= c == 'l';
		d.quiet |= c == 'q';
		d.verbose |= c == 'v';
		if (c == 's')
			options.symfs = optarg;
		if (c == 'k')
			options.kallsyms = optarg;
		if (c == '?')
			return 2;
	}
	if (optind >= argc) {
		(void)fprintf(stderr, "usage: dump_chains [-Iolqv] [-s DIR] [-k FILE] TRACE...\n");
		return 2;
	}
	r = pev_resolver_new(&options, &d.resolver, &err);
	if (r == 0)
		r = run(&d, (const char **)(void *)argv + optind, (size_t)(argc - optind), &err);
	if (r < 0)
		(void)fprintf(stderr, "%s\n", err.msg);
	else if (d.verbose) {
		tell_counters(&d);
		tell_modules(&d);
	}
	pev_chain_done(&d.chain);
	(void)pev_resolver_free(d.resolver);
	(void)pev_reader_free(d.reader);
	return r < 0;
}
