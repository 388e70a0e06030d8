// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * For each CPU, for each thread, each event in the order of the list, so that a group's leader is
 * open before its members. The first counter of a CPU owns that CPU's ring, all others write into
 * it (PERF_EVENT_IOC_SET_OUTPUT). A task's event that is inherited can only be mapped when it is
 * bound to a CPU (perf_mmap(), EINVAL otherwise), so threads too are opened once per CPU.
 */
#include "recorder/counters.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "recorder/explain.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

struct opener {
	struct pev_evlist *list;
	const struct pev_record_opts *opts;
	const struct pev_target *target;
	struct pev_counters c;
	struct pev_downgrades down;
	int *leader_fds;             /* per event, of the CPU and thread being opened */
	struct pev_cpus *event_cpus; /* per event, of PMUs that have a cpumask; nr 0: any */
};

static int event_cpus_parse(struct opener *o, struct pev_err *err)
{
	o->event_cpus = calloc(o->list->nr, sizeof(*o->event_cpus));
	if (!o->event_cpus)
		return pev_err_set(err, -ENOMEM, "no memory for the event list");
	for (size_t i = 0; i < o->list->nr; i++) {
		int r;

		if (!o->list->events[i].cpus)
			continue;
		r = pev_cpus_parse(o->list->events[i].cpus, &o->event_cpus[i], err);
		if (r < 0)
			return pev_err_wrap(err, "CPUs of event %s", o->list->events[i].name);
	}
	return 0;
}

static void opener_done(struct opener *o)
{
	for (size_t i = 0; o->event_cpus && i < o->list->nr; i++)
		pev_cpus_done(&o->event_cpus[i]);
	free(o->event_cpus);
	free(o->leader_fds);
	pev_counters_done(&o->c);
}

void pev_counters_done(struct pev_counters *c)
{
	for (size_t i = 0; i < c->nr_rings; i++)
		pev_ring_close(&c->rings[i]);
	for (size_t i = 0; i < c->nr; i++)
		(void)close(c->counters[i].fd);
	pev_ids_done(&c->ids);
	free(c->counters);
	free(c->rings);
	free(c->scratch);
	*c = (struct pev_counters){ 0 };
}

/* Every counter is an fd: take what the hard limit allows. */
static void raise_nofile(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) < 0 || lim.rlim_cur == lim.rlim_max)
		return;
	lim.rlim_cur = lim.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &lim);
}

static int paranoid(void)
{
	int64_t v;

	return pev_read_path_i64("/proc/sys/kernel/perf_event_paranoid", &v) < 0 ? 2 : (int)v;
}

/* Changes event @e so that the open that failed with @r may succeed; false when there is nothing
 * left to give up. */
static bool fall_back(struct opener *o, struct pev_event *e, int r)
{
	const uint64_t precise =
		(e->attr.flags & PEV_ATTR_PRECISE_IP_MASK) >> PEV_ATTR_PRECISE_IP_SHIFT;
	const bool no_such_event = r == -ENOENT || r == -EOPNOTSUPP || r == -ENODEV || r == -EINVAL;

	if (e->precise_max && precise && no_such_event) {
		e->attr.flags -= 1ULL << PEV_ATTR_PRECISE_IP_SHIFT;
		return true;
	}
	if (e->may_fall_back && no_such_event) {
		o->down.cpu_clock = true;
		return pev_config_cpu_clock(e) == 0;
	}
	/* Which events were open before does not matter: from 2 on nobody unprivileged gets kernel
	 * samples. */
	if (r == -EACCES && !o->down.user_only && o->target->tids[0] != -1 &&
	    e->attr.type != PEV_TYPE_TRACEPOINT &&
	    !(e->attr.flags & (PEV_ATTR_EXCLUDE_KERNEL | PEV_ATTR_EXCLUDE_USER)) &&
	    paranoid() > 1) {
		o->down.user_only = true;
		o->down.paranoid = paranoid();
		return pev_config_user_only(o->list) == 0;
	}
	return false;
}

/* perf_event_open(2) for @e. The file or function of a probe is a string that the kernel reads
 * through attr.config1. */
static int open_event(const struct pev_event *e, int pid, int cpu, int group_fd,
		      unsigned long flags)
{
	struct pev_attr attr = e->attr;

	if (e->path)
		attr.config1 = (uint64_t)(uintptr_t)e->path;
	return pev_perf_event_open(&attr, pid, cpu, group_fd, flags);
}

/* Opens one counter. An fd, -ESRCH or -ENODEV for a thread or CPU that has gone, or an error that
 * was explained. */
static int open_one(struct opener *o, size_t index, int cpu, pid_t tid, struct pev_err *err)
{
	struct pev_event *const e = &o->list->events[index];
	const int group_fd = e->leader == index ? -1 : o->leader_fds[e->leader];
	unsigned long flags = PERF_FLAG_FD_CLOEXEC;
	int pid = tid, fd;

	if (o->target->cgroup_fds && index < o->target->nr_cgroup_fds &&
	    o->target->cgroup_fds[index] >= 0) {
		pid = o->target->cgroup_fds[index];
		flags |= PERF_FLAG_PID_CGROUP;
	}
	do
		fd = open_event(e, pid, cpu, group_fd, flags);
	while (fd < 0 && fall_back(o, e, fd));
	if (fd >= 0)
		return fd;
	if (fd == -ESRCH && tid != -1)
		return fd;
	if (fd == -ENODEV && e->attr.type == PEV_TYPE_SOFTWARE)
		return fd;
	return pev_open_explain(e, cpu, tid, fd, err);
}

/* Takes ownership of @fd. */
static int add_counter(struct opener *o, int fd, size_t index, int cpu, pid_t tid)
{
	struct pev_counters *const c = &o->c;

	if (pev_is_pow2(c->nr) || c->nr == 0) {
		struct pev_counter *const p =
			realloc(c->counters, PEV_MAX(c->nr * 2, (size_t)1) * sizeof(*p));

		if (!p) {
			(void)close(fd);
			return -ENOMEM;
		}
		c->counters = p;
	}
	c->counters[c->nr++] = (struct pev_counter){ .fd = fd,
						     .event = (uint32_t)index,
						     .ring = (uint32_t)c->nr_rings,
						     .cpu = cpu,
						     .tid = tid };
	return 0;
}

static int open_thread(struct opener *o, int cpu, pid_t tid, struct pev_err *err)
{
	for (size_t i = 0; i < o->list->nr; i++) {
		int fd, r;

		o->leader_fds[i] = -1;
		if (o->event_cpus[i].nr && !pev_cpus_has(&o->event_cpus[i], cpu))
			continue;
		fd = open_one(o, i, cpu, tid, err);
		if (fd == -ESRCH) {
			o->down.gone++;
			return 0;
		}
		if (fd == -ENODEV) {
			o->down.offline++;
			return 0;
		}
		if (fd < 0)
			return fd;
		r = add_counter(o, fd, i, cpu, tid);
		if (r < 0)
			return pev_err_set(err, r, "no memory for %zu counters", o->c.nr + 1);
		o->leader_fds[i] = fd;
	}
	return 0;
}

/* The ring of the counters from @first on, all of one CPU: mapped from the first, shared by the
 * rest. */
static int open_ring(struct opener *o, size_t first, int cpu, struct pev_err *err)
{
	struct pev_counters *const c = &o->c;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const int owner = c->counters[first].fd;
	int r;

	r = pev_ring_open(&c->rings[c->nr_rings], owner, cpu, o->opts->ring_bytes / page,
			  c->scratch);
	if (r < 0)
		return pev_mmap_explain(o->opts->ring_bytes, r, err);
	c->nr_rings++;
	for (size_t i = first; i < c->nr; i++) {
		struct pev_counter *const k = &c->counters[i];

		if (i > first && ioctl(k->fd, PERF_EVENT_IOC_SET_OUTPUT, owner) < 0)
			return pev_err_set(
				err, -errno, "event %s cannot share the ring of CPU %d: %s",
				o->list->events[k->event].name, cpu, pev_errno_str(errno));
		if (ioctl(k->fd, PERF_EVENT_IOC_ID, &k->id) < 0)
			return pev_err_set(err, -errno, "event %s has no id: %s",
					   o->list->events[k->event].name, pev_errno_str(errno));
		r = pev_ids_add(&c->ids, k->id, k->event, k->ring);
		if (r < 0)
			return pev_err_set(err, r, "no memory for %zu counters", c->nr);
	}
	return 0;
}

static int set_filters(struct opener *o, size_t first, struct pev_err *err)
{
	for (size_t i = first; i < o->c.nr; i++) {
		const struct pev_event *const e = &o->list->events[o->c.counters[i].event];

		if (e->filter &&
		    ioctl(o->c.counters[i].fd, PERF_EVENT_IOC_SET_FILTER, e->filter) < 0)
			return pev_err_set(err, -errno,
					   "the kernel refuses the filter '%s' of %s: %s; look up "
					   "its fields in "
					   "/sys/kernel/tracing/events",
					   e->filter, e->name, pev_errno_str(errno));
	}
	return 0;
}

static int open_all(struct opener *o, struct pev_err *err)
{
	int r;

	for (size_t i = 0; i < o->target->cpus.nr; i++) {
		const size_t first = o->c.nr;
		const int cpu = o->target->cpus.cpus[i];

		for (size_t j = 0; j < o->target->nr_tids; j++) {
			r = open_thread(o, cpu, o->target->tids[j], err);
			if (r < 0)
				return r;
		}
		if (o->c.nr == first)
			continue;
		r = open_ring(o, first, cpu, err);
		if (r == 0)
			r = set_filters(o, first, err);
		if (r < 0)
			return r;
	}
	if (!o->c.nr && o->down.gone)
		return pev_err_set(err, -ESRCH,
				   "none of the processes or threads asked for is there "
				   "any more: nothing to record");
	if (!o->c.nr)
		return pev_err_set(err, -ENODEV, "none of the CPUs asked for can count the events");
	return 0;
}

int pev_counters_open(struct pev_evlist *list, const struct pev_record_opts *opts,
		      const struct pev_target *target, struct pev_counters *ret,
		      struct pev_downgrades *ret_downgrades, struct pev_err *err)
{
	_cleanup_(opener_done) struct opener o = { .list = list, .opts = opts, .target = target };
	int r;

	raise_nofile();
	for (size_t i = 0; i < list->nr; i++)
		if (list->events[i].precise_max)
			list->events[i].attr.flags |= PEV_ATTR_PRECISE_IP_MASK;
	o.leader_fds = calloc(list->nr, sizeof(*o.leader_fds));
	o.c.rings = calloc(target->cpus.nr, sizeof(*o.c.rings));
	o.c.scratch = malloc(PEV_REC_MAX_SIZE + 1);
	if (!o.leader_fds || !o.c.rings || !o.c.scratch)
		return pev_err_set(err, -ENOMEM, "no memory for the rings");
	r = event_cpus_parse(&o, err);
	if (r == 0)
		r = open_all(&o, err);
	if (r < 0)
		return r;
	*ret = o.c;
	*ret_downgrades = o.down;
	o.c = (struct pev_counters){ 0 };
	return 0;
}

int pev_counters_ids(const struct pev_counters *c, size_t event, uint64_t **ret, size_t *ret_nr)
{
	uint64_t *const ids = calloc(c->nr + 1, sizeof(*ids));
	size_t nr = 0;

	if (!ids)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr; i++)
		if (c->counters[i].event == event)
			ids[nr++] = c->counters[i].id;
	*ret = ids;
	*ret_nr = nr;
	return 0;
}

int pev_counters_enable(const struct pev_counters *c, const struct pev_evlist *list, bool on)
{
	const unsigned long request = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;
	int r = 0;

	for (size_t i = 0; i < c->nr; i++)
		if (!list->events[c->counters[i].event].tracking &&
		    ioctl(c->counters[i].fd, request, 0) < 0)
			r = -errno;
	return r;
}

uint64_t pev_counter_lost(const struct pev_counter *counter, const struct pev_attr *attr)
{
	/* value, [time_enabled], [time_running], id, lost; in a group these of all members, the
	 * leader's own first. */
	uint64_t words[512];
	size_t lost_at = 1;
	ssize_t n;

	if (!(attr->read_format & PEV_FORMAT_LOST))
		return 0;
	lost_at += !!(attr->read_format & PEV_FORMAT_TOTAL_TIME_ENABLED);
	lost_at += !!(attr->read_format & PEV_FORMAT_TOTAL_TIME_RUNNING);
	lost_at += !!(attr->read_format & PEV_FORMAT_GROUP);
	lost_at += !!(attr->read_format & PEV_FORMAT_ID);
	n = read(counter->fd, words, sizeof(words));
	return n >= (ssize_t)((lost_at + 1) * sizeof(words[0])) ? words[lost_at] : 0;
}
