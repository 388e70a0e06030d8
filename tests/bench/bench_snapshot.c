// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How long it takes to tell the existing world.
 *
 * usage: bench_snapshot [-d] [-n] [-s] [-p] [-r RUNS] [FILE]
 *
 * -d: data mappings too; -n: no build-ids; -s: namespaces too; -p: processes only, no kernel, BPF
 * and cgroups. Runs the snapshot RUNS times (default 5) into a sink that counts and then into FILE,
 * when one is named, each time from the start with nothing cached, and prints each run. FILE is a
 * perf.data in pipe mode: perf script -i FILE --show-task-events --show-mmap-events shows it.
 */
#include "base/checked.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "recorder/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#define TRACKING_ID 1

static const struct pev_attr attr = {
	.type = PEV_TYPE_SOFTWARE,
	.size = PEV_ATTR_SIZE_VER7,
	.config = PEV_SW_DUMMY,
	.sample_type = PEV_SAMPLE_IDENTIFIER | PEV_SAMPLE_TID | PEV_SAMPLE_TIME | PEV_SAMPLE_CPU,
	.flags = PEV_ATTR_SAMPLE_ID_ALL,
};

struct output {
	int fd; /* -1: count only */
	uint64_t bytes;
};

static int put(void *userdata, const void *records, size_t size)
{
	struct output *const out = userdata;

	out->bytes += size;
	return out->fd < 0 ? 0 : pev_write_all(out->fd, records, size);
}

/* The start of a trace in pipe mode: what perf needs to read the records that follow. */
static int put_header(int fd)
{
	_cleanup_buf_ struct pev_buf buf = { 0 };
	const struct pev_rec_hdr hdr = {
		.type = PEV_REC_HEADER_ATTR,
		.size = sizeof(hdr) + PEV_ATTR_SIZE_VER7 + sizeof(uint64_t),
	};

	pev_buf_u64(&buf, PEV_MAGIC);
	pev_buf_u64(&buf, sizeof(struct pev_pipe_header));
	pev_buf_put(&buf, &hdr, sizeof(hdr));
	pev_buf_put(&buf, &attr, PEV_ATTR_SIZE_VER7);
	pev_buf_u64(&buf, TRACKING_ID);
	return pev_buf_status(&buf) < 0 ? -ENOMEM : pev_write_all(fd, buf.data, buf.size);
}

static double now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static int run_once(const struct pev_snapshot_opts *opts, int fd)
{
	struct output out = { .fd = fd };
	const struct pev_sink sink = { .put = put, .userdata = &out };
	struct pev_snapshot_stats stats;
	struct pev_err err = PEV_ERR_INIT;
	const double start = now_ms();
	const int r = pev_snapshot(opts, &sink, &stats, NULL, &err);

	if (r < 0) {
		(void)fprintf(stderr, "%s\n", err.msg);
		return r;
	}
	(void)printf("%s %.2f ms: %" PRIu64 " records, %" PRIu64 " bytes, %" PRIu64
		     " processes, %" PRIu64 " threads, %" PRIu64 " mappings, %" PRIu64
		     " with build-id from %" PRIu64 " files, %" PRIu64 " without, %" PRIu64
		     " unreadable, %" PRIu64 " vanished, %" PRIu64 " bad lines, %" PRIu64
		     " cgroups, %" PRIu64 " modules, %" PRIu64 " BPF programs\n",
		     fd < 0 ? "counted" : "written", now_ms() - start, stats.records, out.bytes,
		     stats.processes, stats.threads, stats.mappings, stats.build_ids,
		     stats.build_id_files, stats.no_build_ids, stats.unreadable, stats.vanished,
		     stats.bad_lines, stats.cgroups, stats.kernel.modules, stats.bpf.programs);
	return 0;
}

int main(int argc, char **argv)
{
	struct pev_snapshot_opts opts = {
		.attr = &attr,
		.id = TRACKING_ID,
		.all = true,
		.kernel = true,
		.bpf = true,
		.cgroups = true,
		.build_ids = true,
	};
	_cleanup_close_ int fd = -1;
	long runs = 5;
	int c;

	while ((c = getopt(argc, argv, "dnspr:")) != -1) {
		switch (c) {
		case 'd':
			opts.mmap_data = true;
			break;
		case 'n':
			opts.build_ids = false;
			break;
		case 's':
			opts.namespaces = true;
			break;
		case 'p':
			opts.kernel = opts.bpf = opts.cgroups = false;
			break;
		case 'r':
			runs = strtol(optarg, NULL, 10);
			break;
		default:
			return EXIT_FAILURE;
		}
	}
	if (argv[optind]) {
		fd = open(argv[optind], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (fd < 0) {
			perror(argv[optind]);
			return EXIT_FAILURE;
		}
	}
	for (long i = 0; i < runs; i++) {
		if (run_once(&opts, -1) < 0)
			return EXIT_FAILURE;
		if (fd < 0)
			continue;
		if (lseek(fd, 0, SEEK_SET) < 0 || ftruncate(fd, 0) < 0 || put_header(fd) < 0 ||
		    run_once(&opts, fd) < 0)
			return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
