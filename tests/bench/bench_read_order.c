// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How fast records come out of the reader: of the traces given, or of one of a million samples that
 * it writes itself: 4 CPUs that are drained in turn, 20 frames each, rounds.
 */
#include "base/checked.h"
#include "base/cleanup.h"
#include "format/reader.h"
#include "format/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define SAMPLES  1000000
#define CPUS     4
#define PER_TURN 200 /* samples of one CPU that are drained at once */

PEV_DEFINE_CLEANUP(struct pev_reader *, pev_reader_free);
PEV_DEFINE_CLEANUP(struct pev_writer *, pev_writer_free);
PEV_DEFINE_CLEANUP(struct pev_block *, pev_block_free);

static double now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void must(int r, const struct pev_err *err)
{
	if (r >= 0)
		return;
	(void)fprintf(stderr, "%s\n", err->msg);
	exit(1);
}

static void put(struct pev_writer *w, struct pev_block *b, const struct pev_buf *buf,
		const struct pev_record *rec)
{
	struct pev_err err = PEV_ERR_INIT;
	struct pev_rec_hdr hdr;
	uint8_t *p;

	memcpy(&hdr, buf->data, sizeof(hdr));
	while (!(p = pev_block_reserve(b, buf->size)))
		must(pev_writer_block(w, b, false, &err), &err);
	memcpy(p, buf->data, buf->size);
	pev_block_commit(b, &hdr, rec->id.time, rec->id.cpu);
}

static void write_trace(const char *path)
{
	static const uint64_t ids[] = { 1 };
	static uint64_t chain[20];
	const struct pev_trace_event event = {
		.attr = {
			.type = PEV_TYPE_SOFTWARE,
			.size = PEV_ATTR_SIZE_VER7,
			.sample_type = PEV_SAMPLE_IDENTIFIER | PEV_SAMPLE_IP | PEV_SAMPLE_TID |
				       PEV_SAMPLE_TIME | PEV_SAMPLE_CPU | PEV_SAMPLE_PERIOD |
				       PEV_SAMPLE_CALLCHAIN,
			.flags = PEV_ATTR_SAMPLE_ID_ALL,
		},
		.ids = ids,
		.nr_ids = 1,
		.name = "cpu-clock",
	};
	const struct pev_rec_hdr round = { .type = PEV_REC_FINISHED_ROUND, .size = sizeof(round) };
	_cleanup_(pev_writer_freep) struct pev_writer *w = NULL;
	_cleanup_(pev_block_freep) struct pev_block *b = NULL;
	_cleanup_buf_ struct pev_buf buf = { 0 }, finished = { 0 };
	struct pev_err err = PEV_ERR_INIT;
	struct pev_record rec = { .hdr.type = PEV_REC_SAMPLE,
				  .id = { .id = 1, .pid = 1, .tid = 1 } };

	(void)unlink(path);
	must(pev_writer_open(path, -1, &event, 1, NULL, 0, &w, &err), &err);
	must(pev_block_new(1, &b), &err);
	pev_buf_put(&finished, &round, sizeof(round));
	rec.sample.callchain =
		(struct pev_u64s){ (const uint8_t *)chain, PEV_ARRAY_SIZE(chain), false };
	for (uint64_t n = 0; n < SAMPLES; n++) {
		const uint64_t turn = n / PER_TURN / CPUS;

		rec.id.cpu = n / PER_TURN % CPUS;
		rec.id.time = 1000000 + (turn * PER_TURN + n % PER_TURN) * 1000 + rec.id.cpu;
		for (size_t i = 0; i < PEV_ARRAY_SIZE(chain); i++)
			chain[i] = 0x400000 + (n * 7919 + i * 104729) % 65536;
		rec.sample.ip = chain[0];
		pev_buf_reset(&buf);
		must(pev_record_encode(&event.attr, &rec, &buf), &err);
		put(w, b, &buf, &rec);
		if ((n + 1) % ((uint64_t)PER_TURN * CPUS) == 0)
			put(w, b, &finished, &(struct pev_record){ 0 });
	}
	must(pev_writer_block(w, b, true, &err), &err);
	must(pev_writer_seal(w, NULL, 0, NULL, &err), &err);
}

static void read_trace(const char *path)
{
	_cleanup_(pev_reader_freep) struct pev_reader *r = NULL;
	struct pev_err err = PEV_ERR_INIT;
	struct pev_reader_record rec;
	struct pev_reader_stats stats;
	struct rusage usage;
	uint64_t sum = 0;
	double start = now(), s;
	int n;

	must(pev_reader_open(&path, 1, NULL, &r, &err), &err);
	while ((n = pev_reader_next(r, &rec, &err)) > 0)
		sum += rec.time_ns;
	must(n, &err);
	s = now() - start;
	stats = pev_reader_stats(r);
	(void)getrusage(RUSAGE_SELF, &usage);
	printf("%s: %" PRIu64 " records in %.3f s: %.0f a second, %.0f ns each; %" PRIu64
	       " late; at most %" PRIu64 " kB waited, %ld kB in all (%" PRIx64 ")\n",
	       path, stats.records, s, (double)stats.records / s, s * 1e9 / (double)stats.records,
	       stats.late, stats.max_waiting / 1024, usage.ru_maxrss, sum & 0xff);
}

int main(int argc, char **argv)
{
	char own[] = "/tmp/bench_read_order.XXXXXX";
	int fd;

	for (int i = 1; i < argc; i++)
		read_trace(argv[i]);
	if (argc > 1)
		return 0;
	fd = mkstemp(own);
	if (fd < 0)
		return 1;
	(void)close(fd);
	write_trace(own);
	for (int i = 0; i < 3; i++)
		read_trace(own);
	(void)unlink(own);
	return 0;
}
