// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Prints the samples of traces, a line each, for tests that compare them with what perf says:
 *
 *	event <tab> pid <tab> tid <tab> time in ns <tab> cpu <tab> ip <tab> period <tab> callchain
 *
 * "-" stands for what a sample does not have. Callchains are without context markers. What is
 * wrong with a trace goes to standard error, and is no failure. With -s nothing but numbers: of
 * records, bytes that waited, and so on.
 */
#include "base/cleanup.h"
#include "format/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

PEV_DEFINE_CLEANUP(struct pev_reader *, pev_reader_free);

static void print_field(bool has, uint64_t v)
{
	if (has)
		(void)printf("\t%" PRIu64, v);
	else
		(void)printf("\t-");
}

/* Where a frame pointer led astray, anything may be among the frames. What looks like a context and
 * is none makes perf drop the whole chain. */
static bool is_astray(const struct pev_u64s *chain)
{
	for (uint64_t i = 0; i < chain->nr; i++) {
		const uint64_t ip = pev_u64s_at(chain, i);

		if (ip >= PEV_CONTEXT_MAX && ip != PEV_CONTEXT_HV && ip != PEV_CONTEXT_KERNEL &&
		    ip != PEV_CONTEXT_USER && ip != PEV_CONTEXT_USER_DEFERRED)
			return true;
	}
	return false;
}

static void print_chain(const struct pev_u64s *chain)
{
	bool first = true;

	(void)putchar('\t');
	if (is_astray(chain))
		return;
	for (uint64_t i = 0; i < chain->nr; i++) {
		const uint64_t ip = pev_u64s_at(chain, i);

		if (ip >= PEV_CONTEXT_MAX)
			continue;
		(void)printf("%s%" PRIx64, first ? "" : " ", ip);
		first = false;
	}
}

static void print_sample(const struct pev_reader_record *r)
{
	const uint64_t type = r->event->attr.sample_type;
	const struct pev_sample_id *const id = &r->rec.id;
	const struct pev_sample *const s = &r->rec.sample;

	(void)printf("%s", r->event->name ? r->event->name : "-");
	print_field(type & PEV_SAMPLE_TID, id->pid);
	print_field(type & PEV_SAMPLE_TID, id->tid);
	print_field(type & PEV_SAMPLE_TIME, id->time);
	print_field(type & PEV_SAMPLE_CPU, id->cpu);
	if (type & PEV_SAMPLE_IP)
		(void)printf("\t%" PRIx64, s->ip);
	else
		(void)printf("\t-");
	print_field(true, s->period);
	if (type & PEV_SAMPLE_CALLCHAIN)
		print_chain(&s->callchain);
	else
		(void)printf("\t-");
	(void)putchar('\n');
}

static void print_stats(const struct pev_reader *r)
{
	const struct pev_reader_stats s = pev_reader_stats(r);

	(void)printf("records=%" PRIu64 " samples=%" PRIu64 " unknown=%" PRIu64
		     " undecodable=%" PRIu64 " no_event=%" PRIu64 " late=%" PRIu64
		     " skipped_samples=%" PRIu64 " skipped_blocks=%" PRIu64 " waiting=%" PRIu64
		     "\n",
		     s.records, s.by_type[PEV_REC_SAMPLE], s.unknown, s.undecodable, s.no_event,
		     s.late, s.skipped_samples, s.skipped_blocks, s.max_waiting);
	for (size_t i = 0; i < s.nr_losses; i++) {
		const struct pev_loss *const l = &s.losses[i];

		(void)printf("trace=%" PRIu32 " event=%" PRIu32 " cpu=%" PRId32 " lost=%" PRIu64
			     " lost_samples=%" PRIu64 " filtered=%" PRIu64 " throttles=%" PRIu64
			     "\n",
			     l->trace, l->event, (int32_t)l->cpu, l->lost, l->lost_samples,
			     l->filtered, l->throttles);
	}
}

int main(int argc, char **argv)
{
	_cleanup_(pev_reader_freep) struct pev_reader *r = NULL;
	const bool stats = argc > 1 && !strcmp(argv[1], "-s");
	struct pev_err err = PEV_ERR_INIT;
	struct pev_reader_record rec;
	const char **paths;
	int n;

	argc -= stats;
	argv += stats;
	if (argc < 2) {
		(void)fprintf(stderr, "usage: dump_samples [-s] TRACE...\n");
		return 2;
	}
	paths = (const char **)(void *)argv + 1;
	n = pev_reader_open(paths, (size_t)argc - 1, NULL, &r, &err);
	while (n >= 0 && (n = pev_reader_next(r, &rec, &err)) > 0)
		if (rec.rec.hdr.type == PEV_REC_SAMPLE && !stats)
			print_sample(&rec);
	if (n < 0) {
		(void)fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	if (stats)
		print_stats(r);
	for (size_t i = 0; i < pev_reader_nr_traces(r); i++)
		if (pev_reader_damage_words(r, i, &err))
			(void)fprintf(stderr, "%s\n", err.msg);
	return 0;
}
