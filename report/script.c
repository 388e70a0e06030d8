// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One record after the other: the resolver hears of it, then it is printed. The fields are fitted
 * to a trace when its first record comes, because a pipe tells its events not before.
 */
#include "report/script.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "report/feed.h"
#include "report/script_part.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void script_done(struct script *s)
{
	for (size_t i = 0; i < s->nr_traces; i++)
		pev_tracepoints_free(s->traces[i].tracepoints);
	free(s->traces);
	script_texts_done(&s->texts);
	pev_out_done(&s->out);
	pev_chain_done(&s->chain);
	s->demangler = pev_demangler_free(s->demangler);
}

static int script_init(struct script *s)
{
	s->nr_traces = pev_reader_nr_traces(s->reader);
	s->traces = calloc(s->nr_traces, sizeof(*s->traces));
	if (s->options->style == PEV_SCRIPT_PERF_6_1 && !s->options->no_demangle) {
		s->demangler = pev_demangler_new(PEV_DEMANGLE_SHORT);
		if (!s->demangler)
			return -ENOMEM;
	}
	return s->traces ? 0 : -ENOMEM;
}

/* Whether chains are to be expected: in a file the events tell; of a pipe they are not known yet.
 */
static bool may_have_chains(const struct pev_reader *reader)
{
	for (uint32_t t = 0; t < pev_reader_nr_traces(reader); t++) {
		const struct pev_trace_head head = pev_reader_head(reader, t);

		if (head.pipe)
			return true;
		for (size_t i = 0; i < head.nr_events; i++)
			if (script_has_chain(&head.events[i].attr))
				return true;
	}
	return false;
}

/* Fits the fields to what the trace has. */
static int ready_trace(struct script *s, uint32_t trace)
{
	const struct pev_trace_head head = pev_reader_head(s->reader, trace);
	struct script_trace *const t = &s->traces[trace];
	struct pev_script_type *const raw = &t->fields.types[PEV_TYPE_RAW];
	struct pev_clock clock;
	int r;

	t->ready = true;
	t->fields = s->options->fields;
	if (s->options->style != PEV_SCRIPT_PERF_6_1 && !raw->replaced)
		raw->fields |= PEV_SCRIPT_RETIRE_LAT & ~raw->not_asked;
	t->arch = pev_features_has(head.features, PEV_FEAT_ARCH) ? head.features->arch : "x86_64";
	r = pev_script_fields_check(&t->fields, &head, s->chains, s->err);
	if (r < 0)
		return pev_err_wrap(s->err, "%s", pev_reader_path(s->reader, trace));
	for (size_t i = 0; i < head.nr_events; i++)
		if (head.events[i].name)
			t->name_width = PEV_MAX(t->name_width, strlen(head.events[i].name));
	clock = pev_reader_clock(s->reader);
	t->has_wall = clock.has_wall;
	t->wall_offset = clock.wall_ns - clock.at_ns;
	for (unsigned int i = 0; i < PEV_SCRIPT_NR_TYPES && !clock.has_wall && !head.pipe; i++)
		if (t->fields.types[i].asked & PEV_SCRIPT_TOD)
			return pev_err_set(
				s->err, -EINVAL,
				"%s does not tell the time of day (perf record does with "
				"-k), so that there is no field 'tod'",
				pev_reader_path(s->reader, trace));
	return 0;
}

/* Whether a sample is of the threads, files and functions that were asked for. Its chain is made.
 */
static int is_wanted(struct script *s, const struct pev_reader_record *rec)
{
	const struct pev_filter *const f = &s->filter;
	const struct pev_sample_id *const id = &rec->rec.id;
	const struct pev_frame *frames, *real;
	struct pev_module_info info = { 0 };
	int nr;

	if (!pev_filter_has_number(&f->pids, id->pid) || !pev_filter_has_number(&f->tids, id->tid))
		return false;
	if (f->comms.nr &&
	    !pev_filter_has_name(&f->comms,
				 pev_resolver_comm(s->resolver, rec->trace, id->pid, id->tid)))
		return false;
	if (f->cgroups.nr &&
	    !pev_filter_has_cgroup(&f->cgroups, pev_resolver_cgroup(s->resolver, rec->trace,
								    rec->rec.sample.cgroup)))
		return false;
	if (!f->dsos.nr && !f->symbols.nr)
		return true;
	nr = pev_resolver_name(s->resolver, &s->chain.self, &frames, s->err);
	if (nr < 0)
		return nr;
	real = &frames[nr - 1];
	if (real->module)
		pev_module_info(real->module, &info);
	return pev_filter_has_dso(&f->dsos, real->dso, info.short_name) &&
	       pev_filter_has_name(&f->symbols, real->name);
}

/* Whether a sample is in the time, on the CPUs and of the events that were asked for. */
static bool is_in(const struct script *s, const struct pev_reader_record *rec)
{
	const struct pev_filter *const f = &s->filter;
	const struct pev_sample_id *const id = &rec->rec.id;

	/* As perf: what tells no time, or no CPU, is not left out for it. */
	return (!rec->time_ns || pev_filter_has_time(f, rec->time_ns)) &&
	       (!(id->has & PEV_SAMPLE_CPU) || pev_filter_has_number(&f->cpus, id->cpu)) &&
	       pev_filter_has_name(&f->events, rec->event->name);
}

static int print_sample(struct script *s, const struct pev_reader_record *rec)
{
	int r;

	if (!is_in(s, rec))
		return 0;
	r = pev_resolver_chain(s->resolver, rec->trace, &rec->event->attr, &rec->rec, &s->chain,
			       s->err);
	if (r < 0)
		return r;
	r = is_wanted(s, rec);
	return r > 0 ? script_print_sample(s, rec, &s->traces[rec->trace]) : r;
}

static int print_all(struct script *s)
{
	_cleanup_(pev_feed_done) struct pev_feed feed = { 0 };
	struct pev_reader_record rec;
	int r;

	r = pev_feed_init(&feed, s->reader, s->resolver, 0, s->err);
	while (r == 0 && (r = pev_feed_next(&feed, &rec, s->err)) > 0) {
		r = 0;
		if (!rec.event)
			continue;
		if (!s->traces[rec.trace].ready)
			r = ready_trace(s, rec.trace);
		if (r < 0)
			break;
		if (rec.rec.hdr.type == PEV_REC_SAMPLE)
			r = print_sample(s, &rec);
		else
			script_print_record(s, &rec, &s->traces[rec.trace]);
		if (r == 0)
			r = pev_out_turn(&s->out);
	}
	return r;
}

int pev_script_run(const struct pev_script_options *options, struct pev_reader *reader,
		   struct pev_resolver *resolver, int fd, struct pev_err *err)
{
	_cleanup_(script_done) struct script s = {
		.options = options,
		.reader = reader,
		.resolver = resolver,
		.out = { .fd = fd },
		.chains = !options->hide_chains && may_have_chains(reader),
		.err = err,
	};
	int r, written;

	if (options->filter)
		s.filter = *options->filter;
	r = script_init(&s);
	if (r < 0)
		return pev_err_set(err, r, "no memory to print samples");
	r = print_all(&s);
	written = pev_out_flush(&s.out);
	if (s.out.error)
		return pev_err_set(err, written, "cannot write: %s", pev_errno_str(written));
	return r;
}
