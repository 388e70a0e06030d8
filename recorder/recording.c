// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Happy path: prepare the command, resolve the target, open counters and rings (the side-band flows
 * from here on), create the file, tell the existing world, FINISHED_INIT; then run: enable, drain
 * on wake-up and once a second, until the end; then finish: disable, drain the rest, write what was
 * lost, seal. Failure: before the first sample nothing is left behind, after it whatever was
 * written stays readable. Shutdown: finish and free.
 */
#include "recorder/recording.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "format/build_ids.h"
#include "recorder/cgroups.h"
#include "recorder/header.h"
#include "recorder/loss.h"
#include "recorder/output.h"
#include "recorder/target.h"
#include "recorder/workload.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>

/* A record waits no longer than this in memory before it is in the file. */
#define MAX_BLOCK_AGE_NS PEV_NSEC_PER_SEC
/*
 * Whenever a ring wakes us all of them are drained, so that none is nearly half full when we come
 * back late: with few rings always. With many, looking at each costs more than it brings, and a
 * pass over all waits until this long per ring has gone by since the last.
 */
#define FULL_PASS_NS_PER_RING (PEV_NSEC_PER_MSEC / 16)

/* epoll data: what woke us. Rings are numbered from WAKE_RING on, with the counter that was polled
 * in the upper half. */
enum wake {
	WAKE_STOP,
	WAKE_COMMAND,
	WAKE_RING
};

struct pev_recording {
	const struct pev_record_opts *opts;
	struct pev_evlist events;
	struct pev_kernel_features kernel;
	struct pev_target target;
	struct pev_counters counters;
	struct pev_drain drain;
	struct pev_block *block;
	struct pev_writer *writer;
	struct pev_output output;
	struct pev_workload workload;
	struct pev_build_ids build_ids;
	struct pev_header *header;
	struct pev_downgrades downgrades;
	struct pev_snapshot_stats snapshot;
	uint64_t *event_lost;
	uint64_t lost;
	int epoll_fd;
	size_t live; /* counters that have not hung up */
	uint64_t enabled_ns, ended_ns, full_pass_ns, tick_ns;
};

PEV_DEFINE_CLEANUP(struct pev_recording *, pev_recording_free);

static uint64_t now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * PEV_NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

struct pev_recording *pev_recording_free(struct pev_recording *rec)
{
	if (!rec)
		return NULL;
	pev_workload_done(&rec->workload);
	pev_writer_free(rec->writer);
	pev_output_done(&rec->output);
	pev_block_free(rec->block);
	pev_drain_done(&rec->drain);
	pev_counters_done(&rec->counters);
	pev_target_done(&rec->target);
	pev_build_ids_done(&rec->build_ids);
	pev_header_free(rec->header);
	pev_evlist_done(&rec->events);
	free(rec->event_lost);
	pev_closep(&rec->epoll_fd);
	free(rec);
	return NULL;
}

static void see_state(void *userdata, const struct pev_record *r)
{
	struct pev_recording *const rec = userdata;

	pev_build_ids_see(&rec->build_ids, r);
}

static size_t tracking_index(const struct pev_recording *rec)
{
	return rec->events.nr - 1;
}

static void free_trace_events(struct pev_trace_event *events, size_t nr)
{
	for (size_t i = 0; events && i < nr; i++)
		free((void *)(uintptr_t)events[i].ids);
	free(events);
}

static int open_file(struct pev_recording *rec, struct pev_err *err)
{
	struct pev_trace_event *const events = calloc(rec->events.nr, sizeof(*events));
	int r = events ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < rec->events.nr; i++) {
		const struct pev_event *const e = &rec->events.events[i];
		uint64_t *ids = NULL;

		r = pev_counters_ids(&rec->counters, i, &ids, &events[i].nr_ids);
		events[i].ids = ids;
		events[i].attr = e->attr;
		events[i].name = e->name;
		events[i].unit = e->unit;
		events[i].scale = e->scale;
	}
	if (r < 0)
		(void)pev_err_set(err, r, "no memory for the event list");
	if (r == 0)
		r = pev_header_new(&rec->events, events, rec->opts, &rec->header, err);
	if (r == 0)
		r = pev_output_make_way(&rec->output, err);
	if (r == 0)
		r = pev_header_write_open(rec->header, rec->output.name, rec->output.fd,
					  &rec->writer, err);
	free_trace_events(events, rec->events.nr);
	return r;
}

struct put_ctx {
	struct pev_recording *rec;
	struct pev_err *err;
};

/* Records that the snapshot makes: into the block, and past the same eyes as those of the kernel.
 */
static int put_made(void *userdata, const void *records, size_t size)
{
	struct put_ctx *const ctx = userdata;
	struct pev_recording *const rec = ctx->rec;
	const struct pev_attr *const attr = &rec->events.events[tracking_index(rec)].attr;
	const uint8_t *p = records;

	for (size_t n = 0; n < size; n += rec->drain.record.hdr.size) {
		const int r = pev_record_decode(attr, p + n, size - n, false, &rec->drain.record,
						ctx->err);

		if (r < 0)
			return r;
		see_state(rec, &rec->drain.record);
	}
	return pev_drain_put(&rec->drain, records, size, ctx->err);
}

static uint64_t first_id(const struct pev_recording *rec, size_t event)
{
	for (size_t i = 0; i < rec->counters.nr; i++)
		if (rec->counters.counters[i].event == event)
			return rec->counters.counters[i].id;
	return 0;
}

static int tell_world(struct pev_recording *rec, struct pev_err *err)
{
	const struct pev_rec_hdr init = { .type = PEV_REC_FINISHED_INIT, .size = sizeof(init) };
	const struct pev_event *const tracking = &rec->events.events[tracking_index(rec)];
	_cleanup_(pev_bpf_features_done) struct pev_bpf_features bpf = { 0 };
	struct put_ctx ctx = { .rec = rec, .err = err };
	const struct pev_sink sink = { .put = put_made, .userdata = &ctx };
	const bool whole = pev_target_system_wide(&rec->target);
	const bool kernel = !(tracking->attr.flags & PEV_ATTR_EXCLUDE_KERNEL);
	struct pev_snapshot_opts opts = {
		.attr = &tracking->attr,
		.id = first_id(rec, tracking_index(rec)),
		.all = whole,
		.tids = whole ? NULL : rec->target.tids,
		.nr_tids = whole ? 0 : rec->target.nr_tids,
		.kernel = kernel,
		.bpf = kernel,
		.cgroups = tracking->attr.flags & PEV_ATTR_CGROUP,
		.namespaces = rec->opts->namespaces,
		.mmap_data = tracking->attr.flags & PEV_ATTR_MMAP_DATA,
		.build_ids = tracking->attr.flags & PEV_ATTR_BUILD_ID,
	};
	int r;

	if (pev_records_command(rec->opts)) {
		/* The command has not come to its exec yet: what it is now says nothing about it.
		 */
		opts.nr_tids = 0;
	}
	r = pev_snapshot(&opts, &sink, &rec->snapshot, &bpf, err);
	if (r == 0)
		r = pev_header_set_bpf(rec->header, &bpf, err);
	if (r < 0)
		return r;
	r = pev_drain_put(&rec->drain, &init, sizeof(init), err);
	if (r == 0)
		r = pev_drain_all(&rec->drain, err);
	if (r == 0)
		r = pev_drain_flush(&rec->drain, 0, 0, err);
	return r;
}

/* Events, counters, rings: all that may be refused, before any file is made. */
static int open_events(struct pev_recording *rec, struct pev_err *err)
{
	const struct pev_record_opts *const opts = rec->opts;
	int r;

	if (!rec->events.nr) {
		r = pev_evlist_parse(&rec->events, "cycles:P", err);
		if (r < 0)
			return r;
		rec->events.events[0].may_fall_back = true;
	}
	pev_kernel_features_probe(&rec->kernel);
	r = pev_config_apply(&rec->events, opts, &rec->kernel, err);
	if (r < 0)
		return r;
	if (opts->argv) {
		r = pev_workload_prepare(opts->argv, &rec->workload, err);
		if (r < 0)
			return r;
	}
	r = pev_target_resolve(opts, tracking_index(rec), rec->workload.pid, &rec->target, err);
	if (r < 0)
		return r;
	return pev_counters_open(&rec->events, opts, &rec->target, &rec->counters, &rec->downgrades,
				 err);
}

static int new_pipeline(struct pev_recording *rec, struct pev_err *err)
{
	int r;

	rec->event_lost = calloc(rec->events.nr, sizeof(*rec->event_lost));
	if (!rec->event_lost)
		return pev_err_set(err, -ENOMEM, "no memory for the event list");
	r = pev_block_new(rec->opts->level, &rec->block);
	if (r == -EINVAL)
		return pev_err_set(err, r, "zstd has no compression level %d", rec->opts->level);
	if (r < 0)
		return pev_err_set(err, r, "no memory for a block");
	rec->drain = (struct pev_drain){
		.events = &rec->events,
		.counters = &rec->counters,
		.block = rec->block,
		.on_state = see_state,
		.userdata = rec,
	};
	r = pev_drain_init(&rec->drain);
	if (r < 0)
		return pev_err_set(err, r, "no memory for the drain");
	r = open_file(rec, err);
	rec->drain.writer = rec->writer;
	return r;
}

int pev_recording_new(struct pev_record_opts *opts, struct pev_recording **ret, struct pev_err *err)
{
	_cleanup_(pev_recording_freep) struct pev_recording *rec = calloc(1, sizeof(*rec));
	int r;

	if (!rec)
		return pev_err_set(err, -ENOMEM, "no memory for a recording");
	rec->opts = opts;
	rec->workload = PEV_WORKLOAD_INIT;
	rec->output = PEV_OUTPUT_INIT;
	rec->epoll_fd = -1;
	rec->events = opts->events;
	opts->events = (struct pev_evlist){ 0 };
	r = pev_output_open(opts->output, &rec->output, err);
	if (r == 0)
		r = open_events(rec, err);
	if (r == 0)
		r = new_pipeline(rec, err);
	if (r == 0)
		r = tell_world(rec, err);
	if (r < 0) {
		pev_output_undo(&rec->output);
		return r;
	}
	*ret = TAKE_PTR(rec);
	return 0;
}

static int watch(int epoll_fd, int fd, uint64_t what)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = what };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

/*
 * Whole CPUs never hang up, there the owner of each ring is enough. A task's counter hangs up when
 * the task and all that inherited it have ended, and then polls ready for ever: every counter is
 * watched, to take it out alone.
 */
static int watch_all(struct pev_recording *rec, int stop_fd, struct pev_err *err)
{
	const bool whole = pev_target_system_wide(&rec->target);
	int r = 0;

	rec->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (rec->epoll_fd < 0)
		return pev_err_set(err, -errno, "cannot wait for events: %s", pev_errno_str(errno));
	if (stop_fd >= 0)
		r = watch(rec->epoll_fd, stop_fd, WAKE_STOP);
	for (size_t i = 0; r == 0 && i < rec->counters.nr; i++) {
		const struct pev_counter *const c = &rec->counters.counters[i];

		if (whole && rec->counters.rings[c->ring].fd != c->fd)
			continue;
		r = watch(rec->epoll_fd, c->fd, WAKE_RING + ((uint64_t)i << 32));
		rec->live++;
	}
	if (r < 0)
		return pev_err_set(err, r, "cannot wait for events: %s", pev_errno_str(r));
	return 0;
}

static void hang_up(struct pev_recording *rec, const struct pev_counter *c)
{
	(void)epoll_ctl(rec->epoll_fd, EPOLL_CTL_DEL, c->fd, NULL);
	rec->live--;
}

/* The command has ended, or else there is nothing left to record. When the command itself is what
 * is recorded, only its end counts: its exit status is to be passed on. */
static bool ended(struct pev_recording *rec)
{
	if (rec->workload.pid && pev_workload_ended(&rec->workload))
		return true;
	return !rec->live && !pev_target_system_wide(&rec->target) &&
	       !pev_records_command(rec->opts);
}

/* Milliseconds until something is due by itself. */
static int timeout_ms(const struct pev_recording *rec, uint64_t now, uint64_t enable_at)
{
	uint64_t next = rec->tick_ns + PEV_NSEC_PER_SEC;

	if (enable_at && enable_at < next)
		next = enable_at;
	return next <= now ? 0 : (int)((next - now + PEV_NSEC_PER_MSEC - 1) / PEV_NSEC_PER_MSEC);
}

static int full_pass(struct pev_recording *rec, uint64_t now, struct pev_err *err)
{
	rec->full_pass_ns = now;
	return pev_drain_all(&rec->drain, err);
}

static bool full_pass_due(const struct pev_recording *rec, uint64_t now)
{
	const uint64_t rings = rec->counters.nr_rings;

	return rings <= 16 || now >= rec->full_pass_ns + rings * FULL_PASS_NS_PER_RING;
}

/* What one wake-up brought. Sets *ret_stop when the stop fd was readable. */
static int handle(struct pev_recording *rec, const struct epoll_event *events, int nr,
		  bool *ret_stop, struct pev_err *err)
{
	for (int i = 0; i < nr; i++) {
		const uint64_t what = events[i].data.u64 & UINT32_MAX;
		const struct pev_counter *c;
		int r;

		if (what == WAKE_STOP)
			*ret_stop = true;
		if (what != WAKE_RING)
			continue;
		c = &rec->counters.counters[events[i].data.u64 >> 32];
		r = pev_drain_ring(&rec->drain, c->ring, err);
		if (r < 0)
			return r;
		if (events[i].events & (EPOLLHUP | EPOLLERR))
			hang_up(rec, c);
	}
	return 0;
}

static int tick(struct pev_recording *rec, uint64_t now, const struct pev_recording_hooks *hooks,
		struct pev_err *err)
{
	int r;

	rec->tick_ns = now;
	r = full_pass(rec, now, err);
	if (r < 0)
		return r;
	if (hooks && hooks->tick) {
		const struct pev_recording_status status = pev_recording_result(rec).status;

		hooks->tick(hooks->userdata, &status);
	}
	return 0;
}

/* Lets the samples begin. */
static int enable(struct pev_recording *rec, struct pev_err *err)
{
	const int r = pev_counters_enable(&rec->counters, &rec->events, true);

	if (r < 0)
		return pev_err_set(err, r, "cannot enable the events: %s", pev_errno_str(r));
	rec->enabled_ns = now_ns();
	return 0;
}

/* The loop; *enable_at: when to enable the events, 0: they are, or shall not be by us. */
static int loop(struct pev_recording *rec, const struct pev_recording_hooks *hooks,
		uint64_t enable_at, enum pev_recording_end *ret_end, struct pev_err *err)
{
	struct epoll_event events[64];
	bool stop = false;

	for (;;) {
		uint64_t now = now_ns();
		int n, r;

		n = epoll_wait(rec->epoll_fd, events, PEV_ARRAY_SIZE(events),
			       timeout_ms(rec, now, enable_at));
		if (n < 0 && errno != EINTR)
			return pev_err_set(err, -errno, "cannot wait for events: %s",
					   pev_errno_str(errno));
		now = now_ns();
		r = handle(rec, events, PEV_MAX(n, 0), &stop, err);
		if (r == 0 && enable_at && now >= enable_at) {
			enable_at = 0;
			r = enable(rec, err);
		}
		if (r == 0 && now >= rec->tick_ns + PEV_NSEC_PER_SEC)
			r = tick(rec, now, hooks, err);
		else if (r == 0 && n > 0 && full_pass_due(rec, now))
			r = full_pass(rec, now, err);
		if (r == 0)
			r = pev_drain_flush(&rec->drain, now, MAX_BLOCK_AGE_NS, err);
		if (r < 0)
			return r;
		if (stop || ended(rec)) {
			*ret_end = stop                   ? PEV_END_STOPPED
				   : rec->workload.reaped ? PEV_END_COMMAND
							  : PEV_END_TARGETS;
			return 0;
		}
	}
}

static int watch_command(struct pev_recording *rec, struct pev_err *err)
{
	const int fd = (int)syscall(SYS_pidfd_open, rec->workload.pid, 0);
	int r;

	/* Before Linux 5.3 there is none, and its end is seen a tick later. */
	if (fd < 0)
		return 0;
	rec->workload.pid_fd = fd;
	r = watch(rec->epoll_fd, fd, WAKE_COMMAND);
	return r < 0 ? pev_err_set(err, r, "cannot wait for the command: %s", pev_errno_str(r)) : 0;
}

int pev_recording_run(struct pev_recording *rec, int stop_fd,
		      const struct pev_recording_hooks *hooks, enum pev_recording_end *ret_end,
		      struct pev_err *err)
{
	const struct pev_record_opts *const opts = rec->opts;
	uint64_t enable_at = 0;
	int r;

	r = watch_all(rec, stop_fd, err);
	if (r == 0 && rec->workload.pid)
		r = watch_command(rec, err);
	if (r < 0)
		return r;
	rec->tick_ns = rec->full_pass_ns = rec->enabled_ns = now_ns();
	if (opts->delay_ms > 0)
		enable_at = rec->enabled_ns + (uint64_t)opts->delay_ms * PEV_NSEC_PER_MSEC;
	else if (opts->delay_ms == 0 && !pev_records_command(opts))
		r = enable(rec, err);
	if (r == 0 && rec->workload.pid) {
		r = pev_workload_start(&rec->workload, opts->argv[0], err);
		if (r < 0)
			pev_output_undo(&rec->output);
	}
	if (r == 0)
		r = loop(rec, hooks, enable_at, ret_end, err);
	rec->ended_ns = now_ns();
	return r;
}

int pev_recording_finish(struct pev_recording *rec, struct pev_err *err)
{
	int r;

	(void)pev_counters_enable(&rec->counters, &rec->events, false);
	r = pev_drain_all(&rec->drain, err);
	if (r == 0)
		r = pev_loss_write(&rec->drain, rec->event_lost, &rec->lost, err);
	if (r == 0)
		r = pev_drain_flush(&rec->drain, 0, 0, err);
	if (r == 0 && rec->output.fd < 0)
		r = pev_header_write_seal(rec->header, rec->writer, &rec->drain.stats,
					  &rec->build_ids, err);
	return r;
}

struct pev_recording_result pev_recording_result(const struct pev_recording *rec)
{
	const uint64_t until = rec->ended_ns ? rec->ended_ns : now_ns();

	return (struct pev_recording_result){
		.status = {
			.elapsed_ns = rec->enabled_ns ? until - rec->enabled_ns : 0,
			.drain = rec->drain.stats,
			.writer = pev_writer_stats(rec->writer),
		},
		.ring_loss = rec->drain.ring_loss,
		.counters = &rec->counters,
		.events = &rec->events,
		.event_lost = rec->event_lost,
		.lost = rec->lost,
		.downgrades = rec->downgrades,
		.snapshot = rec->snapshot,
		.exit_code = pev_workload_exit_code(&rec->workload),
	};
}
