// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/summary.h"

#include "base/checked.h"
#include "base/cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void pev_summary_done(struct pev_summary *s)
{
	free(s->losses);
	*s = (struct pev_summary){ 0 };
}

static int by_cpu(const void *a, const void *b)
{
	const struct pev_cpu_loss *const x = a, *const y = b;

	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

/* Losses of all traces and events, by CPU. */
static int gather(struct pev_summary *s, const struct pev_reader_stats *stats)
{
	size_t nr = 0;

	s->losses = calloc(stats->nr_losses + 1, sizeof(*s->losses));
	if (!s->losses)
		return -ENOMEM;
	for (size_t i = 0; i < stats->nr_losses; i++) {
		const struct pev_loss *const l = &stats->losses[i];
		/* LOST tells of records, LOST_SAMPLES of samples; mostly they are the same ones. */
		const uint64_t lost = l->lost_samples ? l->lost_samples : l->lost;

		s->lost += lost;
		s->filtered += l->filtered;
		s->throttles += l->throttles;
		if (lost || l->throttles)
			s->losses[nr++] = (struct pev_cpu_loss){ l->cpu, lost, l->throttles };
	}
	qsort(s->losses, nr, sizeof(*s->losses), by_cpu);
	for (size_t i = 0; i < nr; i++) {
		struct pev_cpu_loss *const last =
			s->nr_losses ? &s->losses[s->nr_losses - 1] : NULL;

		if (last && last->cpu == s->losses[i].cpu) {
			last->lost += s->losses[i].lost;
			last->throttles += s->losses[i].throttles;
		} else {
			s->losses[s->nr_losses++] = s->losses[i];
		}
	}
	return 0;
}

int pev_summary_make(struct pev_summary *s, const struct pev_reader *reader,
		     const struct pev_profile_data *d)
{
	const struct pev_reader_stats stats = pev_reader_stats(reader);

	*s = (struct pev_summary){
		.first_ns = d->first_ns,
		.last_ns = d->last_ns,
		.clock = pev_reader_clock(reader),
	};
	for (uint32_t i = 0; i < d->nr_events; i++)
		s->samples += d->events[i].samples;
	return gather(s, &stats);
}

/* "2026-11-20 03:05:07 to 03:10:00 +0100": local time. */
static void print_wall(const struct pev_summary *s, FILE *out)
{
	const time_t first = (time_t)(pev_clock_to_wall(&s->clock, s->first_ns) / PEV_NSEC_PER_SEC);
	const time_t last = (time_t)(pev_clock_to_wall(&s->clock, s->last_ns) / PEV_NSEC_PER_SEC);
	char from[64] = "", to[64] = "";
	struct tm tm;

	if (localtime_r(&first, &tm))
		(void)strftime(from, sizeof(from), "%Y-%m-%d %H:%M:%S", &tm);
	if (localtime_r(&last, &tm))
		(void)strftime(to, sizeof(to), "%H:%M:%S %z", &tm);
	(void)fprintf(out, ", %s to %s", from, to);
}

static void print_samples(const struct pev_summary *s, const struct pev_reader *reader, FILE *out)
{
	const uint64_t ns = s->last_ns - s->first_ns;
	const size_t nr = pev_reader_nr_traces(reader);

	(void)fprintf(out, "# %s", pev_reader_path(reader, 0));
	if (nr > 1)
		(void)fprintf(out, " and %zu more", nr - 1);
	(void)fprintf(out, ": %" PRIu64 " sample%s", s->samples, s->samples == 1 ? "" : "s");
	if (s->last_ns)
		(void)fprintf(out, " in %.3f s", (double)ns / (double)PEV_NSEC_PER_SEC);
	if (s->last_ns && s->clock.has_wall)
		print_wall(s, out);
	(void)fputc('\n', out);
}

static void print_events(const struct pev_profile_data *d, FILE *out)
{
	if (d->nr_events < 2)
		return;
	(void)fputs("# Events:", out);
	for (uint32_t i = 0; i < d->nr_events; i++)
		(void)fprintf(out, "%s %s (%" PRIu64 " samples)", i ? "," : "", d->events[i].name,
			      d->events[i].samples);
	(void)fputc('\n', out);
}

static void print_cpu(uint32_t cpu, FILE *out)
{
	if (cpu == PEV_CPU_UNKNOWN)
		(void)fputs("an unknown CPU", out);
	else
		(void)fprintf(out, "CPU %" PRIu32, cpu);
}

static void print_losses(const struct pev_summary *s, FILE *out)
{
	const double of = (double)(s->lost + s->samples);
	bool first = true;

	if (s->lost)
		(void)fprintf(out, "# LOST: %" PRIu64 " samples (%.1f %%):", s->lost,
			      100.0 * (double)s->lost / of);
	for (size_t i = 0; s->lost && i < s->nr_losses; i++)
		if (s->losses[i].lost) {
			(void)fprintf(out, "%s %" PRIu64 " on ", first ? "" : ",",
				      s->losses[i].lost);
			print_cpu(s->losses[i].cpu, out);
			first = false;
		}
	if (s->lost)
		(void)fputc('\n', out);
	if (s->filtered)
		(void)fprintf(out, "# Dropped by a BPF filter, on purpose: %" PRIu64 " samples\n",
			      s->filtered);
	first = true;
	if (s->throttles)
		(void)fprintf(out, "# THROTTLED: the kernel stopped sampling %" PRIu64 " times:",
			      s->throttles);
	for (size_t i = 0; s->throttles && i < s->nr_losses; i++)
		if (s->losses[i].throttles) {
			(void)fprintf(out, "%s %" PRIu64 " on ", first ? "" : ",",
				      s->losses[i].throttles);
			print_cpu(s->losses[i].cpu, out);
			first = false;
		}
	if (s->throttles)
		(void)fputc('\n', out);
}

void pev_summary_print(const struct pev_summary *s, const struct pev_reader *reader,
		       const struct pev_profile_data *d, FILE *out)
{
	print_samples(s, reader, out);
	print_events(d, out);
	print_losses(s, out);
	for (size_t i = 0; i < pev_reader_nr_traces(reader); i++) {
		struct pev_err damage = PEV_ERR_INIT;

		if (pev_reader_damage_words(reader, i, &damage))
			(void)fprintf(out, "# DAMAGED: %s\n", damage.msg);
	}
}
