// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * pevrec record: run = parse, block signals, open everything, run until the command, the targets or
 * a signal ends it, finish, tell how it went. Everything that is said goes to stderr: standard
 * output may be the trace.
 */
#include "base/checked.h"
#include "base/cleanup.h"
#include "cli/cmd.h"
#include "cli/record_args.h"
#include "recorder/recording.h"
#include "recorder/workload.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>

PEV_DEFINE_CLEANUP(struct pev_recording *, pev_recording_free);

/* SIGINT and friends become something that can be waited for, so that the file is sealed first. */
static int block_signals(struct pev_err *err)
{
	sigset_t set;
	int fd;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	/* A reader of our standard output that goes away, and a file that reaches the limit of its
	 * size (ulimit -f), are errors of write(2), not our end. */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? pev_err_set(err, -errno, "cannot wait for signals: %s",
				    pev_errno_str(errno))
		      : fd;
}

struct status_line {
	uint64_t samples, elapsed_ns; /* at the last tick */
	bool shown;
};

static void show_status(void *userdata, const struct pev_recording_status *s)
{
	struct status_line *const line = userdata;
	const uint64_t ns = s->elapsed_ns - line->elapsed_ns;
	const uint64_t samples = s->drain.samples - line->samples;
	char bytes[32];

	(void)fprintf(stderr,
		      "\r\033[K[ %" PRIu64 " s  %.0f samples/s  %" PRIu64 " lost  %s written ]",
		      s->elapsed_ns / PEV_NSEC_PER_SEC,
		      ns ? (double)samples * (double)PEV_NSEC_PER_SEC / (double)ns : 0.0,
		      s->drain.lost_records, cmd_bytes(s->writer.bytes, bytes));
	line->samples = s->drain.samples;
	line->elapsed_ns = s->elapsed_ns;
	line->shown = true;
}

/* What was given up to be able to record at all: one line each. */
static void say_downgrades(const struct pev_recording_result *res)
{
	const struct pev_downgrades *const d = &res->downgrades;

	if (d->cpu_clock)
		cmd_say("no hardware counter for cycles on this machine: sampling by cpu-clock "
			"instead");
	if (d->user_only)
		cmd_say("kernel.perf_event_paranoid=%d forbids kernel samples: recording user "
			"space only (lower it, "
			"or run with CAP_PERFMON)",
			d->paranoid);
	if (d->gone)
		cmd_say("%zu threads ended before they could be recorded", d->gone);
	if (res->snapshot.kernel.hidden)
		cmd_say("the kernel hides its addresses (kernel.kptr_restrict, or CAP_SYSLOG is "
			"missing): kernel symbols will be missing");
}

/* Loss is shouted: how much, where, and what to do about it. */
static void say_losses(const struct pev_recording_result *res, const struct pev_record_opts *opts)
{
	const struct pev_drain_stats *const d = &res->status.drain;
	const uint64_t total = res->lost + d->samples;

	if (res->lost) {
		cmd_say("LOST %" PRIu64 " records (%.2f %%): the rings were full; use larger ones "
			"(-m %zuK) or sample "
			"less (-F, -c)",
			res->lost, 100.0 * (double)res->lost / (double)PEV_MAX(total, 1U),
			opts->ring_bytes * 4 / 1024);
		for (size_t i = 0; i < res->counters->nr_rings; i++)
			if (res->ring_loss[i].lost_records)
				cmd_say("  CPU %d: %" PRIu64, res->counters->rings[i].cpu,
					res->ring_loss[i].lost_records);
		for (size_t i = 0; i < res->events->nr; i++)
			if (res->event_lost[i])
				cmd_say("  event %s: %" PRIu64, res->events->events[i].name,
					res->event_lost[i]);
	}
	if (d->throttles)
		cmd_say("the kernel throttled sampling %" PRIu64
			" times: for a moment samples came faster than "
			"kernel.perf_event_max_sample_rate allows; lower -F when that goes on",
			d->throttles);
	if (d->unknown + d->undecodable)
		cmd_say("dropped %" PRIu64 " records that could not be decoded",
			d->unknown + d->undecodable);
	for (size_t i = 0; i < res->counters->nr_rings; i++)
		if (res->counters->rings[i].stats.corrupt)
			cmd_say("the kernel corrupted the ring of CPU %d %" PRIu64
				" times; what it held then is gone",
				res->counters->rings[i].cpu, res->counters->rings[i].stats.corrupt);
}

static void say_summary(const struct pev_recording_result *res, const struct pev_record_opts *opts)
{
	char bytes[32], raw[32];

	(void)fprintf(stderr, "[ pevrec record: %" PRIu64 " samples in %.1f s, %s written to %s",
		      res->status.drain.samples,
		      (double)res->status.elapsed_ns / (double)PEV_NSEC_PER_SEC,
		      cmd_bytes(res->status.writer.bytes, bytes),
		      strcmp(opts->output, "-") ? opts->output : "standard output");
	(void)fprintf(stderr, " (%s before compression) ]\n",
		      cmd_bytes(res->status.writer.raw_bytes, raw));
	if (!opts->verbose)
		return;
	cmd_say("%zu counters, %zu rings of %zu kB; %" PRIu64 " processes, %" PRIu64
		" threads, %" PRIu64 " mappings found at the start",
		res->counters->nr, res->counters->nr_rings, opts->ring_bytes / 1024,
		res->snapshot.processes, res->snapshot.threads, res->snapshot.mappings);
}

/* Nothing at all was sampled: why that may be. */
static void say_empty(const struct pev_recording_result *res, const struct pev_record_opts *opts)
{
	const double s = (double)res->status.elapsed_ns / (double)PEV_NSEC_PER_SEC;

	if (opts->delay_ms && s * 1000.0 < opts->delay_ms)
		cmd_say("no samples: the recording ended after %.1f s, before the delay of %d ms "
			"was over; shorten -D",
			s, opts->delay_ms);
	else if (opts->period || res->events->events[0].attr.type == PEV_TYPE_TRACEPOINT)
		cmd_say("no samples in %.1f s: %s did not happen often enough in what was "
			"recorded; check -e, --filter and "
			"-c",
			s, res->events->events[0].name);
	else
		cmd_say("no samples in %.1f s: what was recorded did not run; record longer, or "
			"with -a to see what did",
			s);
}

/* @end: why the recording ended; a command that we ended ourselves has no status to pass on. */
static int finish(struct pev_recording *rec, const struct pev_record_opts *opts,
		  enum pev_recording_end end, struct pev_err *err)
{
	struct pev_recording_result res;
	const int r = pev_recording_finish(rec, err);

	res = pev_recording_result(rec);
	if (!opts->quiet || res.lost)
		say_losses(&res, opts);
	if (r < 0)
		return cmd_fail(err);
	if (!opts->quiet)
		say_summary(&res, opts);
	if (end == PEV_END_COMMAND && res.exit_code)
		return res.exit_code;
	if (res.status.drain.samples)
		return 0;
	say_empty(&res, opts);
	return PEV_EXIT_FAILURE;
}

static int record(struct pev_record_opts *opts, struct pev_err *err)
{
	_cleanup_(pev_recording_freep) struct pev_recording *rec = NULL;
	_cleanup_close_ int stop_fd = -1;
	struct status_line line = { 0 };
	const struct pev_recording_hooks hooks = { .tick = show_status, .userdata = &line };
	const bool terminal = isatty(STDERR_FILENO) && !opts->quiet;
	enum pev_recording_end end;
	struct pev_recording_result res;
	int r;

	if (opts->argv) {
		r = pev_workload_check(opts->argv[0], err);
		if (r < 0) {
			(void)cmd_fail(err);
			return pev_workload_refusal(r);
		}
	}
	stop_fd = block_signals(err);
	if (stop_fd < 0)
		return stop_fd;
	r = pev_recording_new(opts, &rec, err);
	if (r < 0)
		return r;
	res = pev_recording_result(rec);
	if (!opts->quiet)
		say_downgrades(&res);
	r = pev_recording_run(rec, stop_fd, terminal ? &hooks : NULL, &end, err);
	if (line.shown)
		(void)fputs("\r\033[K", stderr);
	if (r < 0) {
		/* When the command could not be run, this is how a shell would say it. */
		const int code = pev_recording_result(rec).exit_code;

		if (!code)
			return r;
		(void)cmd_fail(err);
		return code;
	}
	return finish(rec, opts, end, err);
}

int cmd_record(int argc, char **argv)
{
	struct pev_record_opts opts;
	struct pev_err err = PEV_ERR_INIT;
	int r;

	r = record_args_parse(argc, argv, &opts, &err);
	if (r == 0)
		r = record(&opts, &err);
	record_args_done(&opts);
	return r < 0 ? cmd_fail(&err) : r;
}
