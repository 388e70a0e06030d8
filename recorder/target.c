// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recorder/target.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "recorder/cgroups.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

void pev_target_done(struct pev_target *t)
{
	for (size_t i = 0; i < t->nr_cgroup_fds; i++)
		pev_closep(&t->cgroup_fds[i]);
	free(t->cgroup_fds);
	free(t->tids);
	pev_cpus_done(&t->cpus);
	*t = (struct pev_target){ 0 };
}

bool pev_target_system_wide(const struct pev_target *t)
{
	return t->nr_tids == 1 && t->tids[0] == -1;
}

static int add_tid(struct pev_target *t, pid_t tid)
{
	pid_t *tids;

	for (size_t i = 0; i < t->nr_tids; i++)
		if (t->tids[i] == tid)
			return 0;
	tids = realloc(t->tids, (t->nr_tids + 1) * sizeof(*tids));
	if (!tids)
		return -ENOMEM;
	t->tids = tids;
	tids[t->nr_tids++] = tid;
	return 0;
}

/* All threads that the process has now; those to come are inherited. */
static int add_process(struct pev_target *t, pid_t pid)
{
	_cleanup_closedir_ DIR *dir = NULL;
	const struct dirent *d;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((d = readdir(dir))) {
		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		if (add_tid(t, (pid_t)strtol(d->d_name, NULL, 10)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int resolve_tasks(struct pev_target *t, const struct pev_record_opts *opts,
			 pid_t workload_pid, struct pev_err *err)
{
	int r = 0;

	for (size_t i = 0; i < opts->pids.nr && r == 0; i++) {
		r = add_process(t, opts->pids.pids[i]);
		if (r < 0)
			return pev_err_set(err, r, "cannot record process %d: %s",
					   opts->pids.pids[i], pev_errno_str(r));
	}
	for (size_t i = 0; i < opts->tids.nr && r == 0; i++) {
		char path[64];

		/* Threads of all processes have an entry, though a directory listing shows only the
		 * leaders. */
		(void)snprintf(path, sizeof(path), "/proc/%d", (int)opts->tids.pids[i]);
		if (access(path, F_OK) < 0)
			return pev_err_set(err, -ESRCH, "cannot record thread %d: %s",
					   opts->tids.pids[i], pev_errno_str(ESRCH));
		r = add_tid(t, opts->tids.pids[i]);
	}
	if (r == 0 && workload_pid && !t->nr_tids)
		r = add_tid(t, workload_pid);
	return r < 0 ? pev_err_set(err, r, "no memory for the list of threads") : 0;
}

/* The directory of a cgroup, by its path below the hierarchy that perf events go by, or its full
 * path. */
static int open_cgroup(const char *name, struct pev_err *err)
{
	_cleanup_free_ struct pev_cgroup_mount *mount = calloc(1, sizeof(*mount));
	_cleanup_buf_ struct pev_buf mountinfo = { 0 };
	_cleanup_free_ char *path = NULL;
	struct pev_cursor c;
	int fd, r;

	if (!mount)
		return pev_err_set(err, -ENOMEM, "no memory");
	r = pev_read_path("/proc/self/mountinfo", 16 << 20, &mountinfo);
	if (r == 0) {
		c = pev_cursor(mountinfo.data, mountinfo.size);
		r = pev_cgroup_find_mount(&c, mount);
	}
	if (r < 0)
		return pev_err_set(err, r,
				   "cannot find cgroup %s: no cgroup file system is mounted", name);
	if (!strncmp(name, mount->path, strlen(mount->path)))
		name += strlen(mount->path);
	if (asprintf(&path, "%s/%s", mount->path, name + (*name == '/')) < 0)
		return pev_err_set(err, -ENOMEM, "no memory");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return pev_err_set(err, -errno, "cannot open cgroup %s: %s: %s", name, path,
				   pev_errno_str(errno));
	return fd;
}

/*
 * -G: one name for each event in order, empty for none, or a single one for all. The tracking
 * event, which comes last, has none: a process is named before it enters the cgroup.
 */
static int resolve_cgroups(struct pev_target *t, const char *names, size_t nr_events,
			   struct pev_err *err)
{
	_cleanup_free_ char *copy = strdup(names);
	const bool one = !strchr(names, ',');
	char *rest = copy;
	size_t i = 0;

	t->cgroup_fds = calloc(nr_events, sizeof(*t->cgroup_fds));
	if (!copy || !t->cgroup_fds)
		return pev_err_set(err, -ENOMEM, "no memory for the list of cgroups");
	t->nr_cgroup_fds = nr_events;
	memset(t->cgroup_fds, 0xff, nr_events * sizeof(*t->cgroup_fds));
	for (char *name; (name = strsep(&rest, ","));) {
		if (i >= nr_events)
			return pev_err_set(err, -EINVAL,
					   "-G %s names more cgroups than there are events (%zu): "
					   "give each an -e",
					   names, nr_events);
		for (; i < nr_events; i++) {
			if (*name) {
				const int fd = open_cgroup(name, err);

				if (fd < 0)
					return fd;
				t->cgroup_fds[i] = fd;
			}
			if (!one)
				break;
		}
		i++;
	}
	return 0;
}

int pev_target_resolve(const struct pev_record_opts *opts, size_t nr_events, pid_t workload_pid,
		       struct pev_target *ret, struct pev_err *err)
{
	const bool whole = opts->all_cpus || (opts->cpu_list && !opts->pids.nr && !opts->tids.nr) ||
			   opts->cgroups;
	_cleanup_(pev_target_done) struct pev_target t = { 0 };
	int r;

	if (opts->cpu_list)
		r = pev_cpus_parse(opts->cpu_list, &t.cpus, err);
	else
		r = pev_cpus_online(&t.cpus, err);
	if (r < 0)
		return r;
	if (!t.cpus.nr)
		return pev_err_set(err, -EINVAL, "-C names no CPU: write it like 0-3,8");
	r = whole ? (add_tid(&t, -1) < 0 ? pev_err_set(err, -ENOMEM, "no memory") : 0)
		  : resolve_tasks(&t, opts, workload_pid, err);
	if (r == 0 && opts->cgroups)
		r = resolve_cgroups(&t, opts->cgroups, nr_events, err);
	if (r < 0)
		return r;
	*ret = t;
	t = (struct pev_target){ 0 };
	return 0;
}
