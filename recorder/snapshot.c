// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The walk over /proc. Everything is looked up below one descriptor of it; buffers live in struct
 * walk and are used again for each process, so that nothing is allocated per process.
 *
 * A task can end between any two system calls. Whatever fails with ENOENT or ESRCH is counted as
 * vanished, with EACCES or EPERM as unreadable, and the walk goes on; only what would fail for all
 * that follow (no memory, no descriptors, a sink that refuses) ends it.
 */
#include "recorder/snapshot.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "recorder/buildid.h"
#include "recorder/cgroups.h"
#include "recorder/dents.h"
#include "recorder/maps.h"
#include "recorder/task.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* PERF_RECORD_NAMESPACES: links in the order of the kernel's enum (NET_NS_INDEX is 0). */
static const char *const namespaces[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };

struct walk {
	const struct pev_snapshot_opts *opts;
	struct pev_snapshot_stats stats;
	struct pev_emit emit;
	int procfd; /* owned */
	struct pev_maps maps;
	struct pev_buildid_cache cache;
	struct pev_dents processes, threads;
	pid_t mnt_ns_pid; /* whose mount namespace ->mnt_ns is */
	uint64_t mnt_ns;
};

static void walk_free(struct walk *w)
{
	pev_closep(&w->procfd);
	pev_emit_done(&w->emit);
	pev_maps_done(&w->maps);
	pev_buildid_cache_done(&w->cache);
	free(w);
}
PEV_DEFINE_CLEANUP(struct walk *, walk_free);

/* Counts what went wrong with one task. 0, or @r when nothing further can work either. */
static int forgive(struct walk *w, int r)
{
	switch (r) {
	case -ENOMEM:
	case -EMFILE:
	case -ENFILE:
		return r;
	case -ENOENT:
	case -ESRCH:
		w->stats.vanished++;
		return 0;
	default:
		w->stats.unreadable++;
		return 0;
	}
}

/*
 * Mappings.
 */

/*
 * The mount namespace of @pid; 0 when it cannot be known. On file systems without a device of their
 * own (major 0) inode numbers need not be unique: btrfs shows one device for all its subvolumes.
 * Two containers may then have different files of the same inode number and path.
 */
static uint64_t mount_namespace(struct walk *w, pid_t pid)
{
	char path[32];
	struct stat st;

	if (w->mnt_ns_pid != pid) {
		(void)snprintf(path, sizeof(path), "%d/ns/mnt", pid);
		w->mnt_ns = fstatat(w->procfd, path, &st, 0) < 0 ? 0 : st.st_ino;
		w->mnt_ns_pid = pid;
	}
	return w->mnt_ns;
}

static bool is_file(const struct pev_mapping *m)
{
	return m->ino && m->name[0] == '/' && m->name[1] != '/';
}

/* The build-id of the file behind @m, or NULL; each distinct file is read once. */
static int find_build_id(struct walk *w, const struct pev_mapping *m,
			 const struct pev_buildid **ret)
{
	const struct pev_buildid_key key = {
		.dev = (uint64_t)m->maj << 32 | m->min,
		.ino = m->ino,
		.extra = pev_hash_bytes(m->name, m->name_len,
					m->maj ? 0 : mount_namespace(w, w->maps.pid)),
	};
	struct pev_buildid id;
	int r;

	*ret = pev_buildid_cache_get(&w->cache, &key);
	if (*ret)
		return 0;
	r = pev_maps_build_id(&w->maps, m, &id);
	if (r == -ENOMEM || r == -EMFILE || r == -ENFILE)
		return r;
	/* Not cached: the next process that has it mapped may be luckier. */
	if (r < 0)
		return 0;
	w->stats.build_id_files++;
	r = pev_buildid_cache_put(&w->cache, &key, &id);
	if (r < 0)
		return r;
	*ret = pev_buildid_cache_get(&w->cache, &key);
	return 0;
}

static int put_mapping(struct walk *w, pid_t pid, const struct pev_mapping *m)
{
	const struct pev_buildid *id = NULL;
	struct pev_record rec = {
		.hdr = {
			.type = PEV_REC_MMAP2,
			.misc = PEV_MISC_USER |
				(m->prot & PROT_EXEC ? 0 : PEV_MISC_MMAP_DATA),
		},
		.mmap = {
			.pid = (uint32_t)pid,
			.tid = (uint32_t)pid,
			.start = m->start,
			.len = m->end - m->start,
			.pgoff = m->pgoff,
			.maj = m->maj,
			.min = m->min,
			.ino = m->ino,
			.prot = m->prot,
			.flags = m->flags,
			.filename = m->name,
		},
	};

	if (w->opts->build_ids && is_file(m)) {
		const int r = find_build_id(w, m, &id);

		if (r < 0)
			return r;
		if (id && id->size) {
			rec.hdr.misc |= PEV_MISC_MMAP_BUILD_ID;
			rec.mmap.build_id_size = id->size;
			memcpy(rec.mmap.build_id, id->bytes, sizeof(id->bytes));
			w->stats.build_ids++;
		} else {
			w->stats.no_build_ids++;
		}
	}
	w->stats.mappings++;
	return pev_emit(&w->emit, (uint32_t)pid, (uint32_t)pid, &rec);
}

/* The mappings of process @pid, read through its thread @tid. */
static int put_mappings(struct walk *w, pid_t pid, pid_t tid)
{
	struct pev_mapping mapping;
	int r;

	r = pev_maps_open(&w->maps, w->procfd, tid, !w->opts->mmap_data);
	if (r < 0)
		return forgive(w, r);
	for (;;) {
		r = pev_maps_next(&w->maps, &mapping);
		if (r == 0)
			return 0;
		if (r == -EBADMSG) {
			w->stats.bad_lines++;
			continue;
		}
		if (r < 0)
			return forgive(w, r);
		r = put_mapping(w, pid, &mapping);
		if (r < 0)
			return r;
	}
}

/*
 * Tasks.
 */

static int put_fork(struct walk *w, pid_t pid, pid_t tid, pid_t parent)
{
	struct pev_record rec = {
		.hdr = { .type = PEV_REC_FORK, .misc = PEV_MISC_FORK_EXEC },
		.task = {
			.pid = (uint32_t)pid,
			.tid = (uint32_t)tid,
			.ppid = (uint32_t)parent,
			.ptid = (uint32_t)parent,
			.time = w->opts->time,
		},
	};

	return pev_emit(&w->emit, (uint32_t)pid, (uint32_t)tid, &rec);
}

static int put_comm(struct walk *w, pid_t pid, pid_t tid, const char *comm)
{
	struct pev_record rec = {
		.hdr = { .type = PEV_REC_COMM },
		.comm = { .pid = (uint32_t)pid, .tid = (uint32_t)tid, .comm = comm },
	};

	return pev_emit(&w->emit, (uint32_t)pid, (uint32_t)tid, &rec);
}

static int put_namespaces(struct walk *w, pid_t pid, pid_t tid)
{
	uint64_t links[2 * PEV_ARRAY_SIZE(namespaces)] = { 0 };
	struct pev_record rec = {
		.hdr = { .type = PEV_REC_NAMESPACES },
		.namespaces = {
			.pid = (uint32_t)pid,
			.tid = (uint32_t)tid,
			.nr = PEV_ARRAY_SIZE(namespaces),
			.links = {
				.p = (const uint8_t *)links,
				.nr = PEV_ARRAY_SIZE(links),
			},
		},
	};
	_cleanup_close_ int nsfd = -1;
	char path[64];

	(void)snprintf(path, sizeof(path), "%d/task/%d/ns", pid, tid);
	nsfd = openat(w->procfd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (nsfd < 0)
		return forgive(w, -errno);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(namespaces); i++) {
		struct stat st;

		if (fstatat(nsfd, namespaces[i], &st, 0) < 0) {
			/* A kernel without this kind; its link stays 0. */
			if (errno == ENOENT && i > 0)
				continue;
			return forgive(w, -errno);
		}
		links[2 * i] = st.st_dev;
		links[2 * i + 1] = st.st_ino;
	}
	return pev_emit(&w->emit, (uint32_t)pid, (uint32_t)tid, &rec);
}

static int put_task(struct walk *w, pid_t pid, pid_t tid, pid_t parent, const char *comm)
{
	int r;

	w->stats.threads++;
	r = put_fork(w, pid, tid, parent);
	if (r >= 0 && w->opts->namespaces)
		r = put_namespaces(w, pid, tid);
	if (r >= 0)
		r = put_comm(w, pid, tid, comm);
	return r;
}

static int put_thread(struct walk *w, pid_t pid, pid_t tid)
{
	char comm[PEV_COMM_MAX];
	const int r = pev_task_read_comm(w->procfd, pid, tid, comm);

	return r < 0 ? forgive(w, r) : put_task(w, pid, tid, pid, comm);
}

/*
 * The other threads of @pid. A leader that has exited while its threads live on has no mappings to
 * show; then the first thread that has them shows them.
 */
static int put_threads(struct walk *w, pid_t pid, bool want_maps)
{
	_cleanup_close_ int taskfd = -1;
	char path[32];
	pid_t tid;
	int r;

	(void)snprintf(path, sizeof(path), "%d/task", pid);
	taskfd = openat(w->procfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (taskfd < 0)
		return forgive(w, -errno);
	pev_dents_start(&w->threads, taskfd);
	while ((r = pev_dents_next_pid(&w->threads, &tid)) > 0) {
		if (tid == pid)
			continue;
		r = put_thread(w, pid, tid);
		if (r >= 0 && want_maps) {
			const uint64_t before = w->stats.mappings;

			r = put_mappings(w, pid, tid);
			want_maps = w->stats.mappings == before;
		}
		if (r < 0)
			return r;
	}
	return r < 0 ? forgive(w, r) : 0;
}

/* The leader and its mappings, and the other threads @with_threads. */
static int put_process(struct walk *w, pid_t pid, bool with_threads)
{
	struct pev_task task;
	bool exited;
	int r;

	r = pev_task_read(w->procfd, pid, &task);
	if (r == -EBADMSG || r == -ENODATA) {
		w->stats.bad_lines++;
		return 0;
	}
	if (r < 0)
		return forgive(w, r);
	w->stats.processes++;
	exited = task.state == 'Z' || task.state == 'X';
	r = put_task(w, pid, pid, task.ppid, task.comm);
	if (r >= 0 && !task.kernel_thread && !exited)
		r = put_mappings(w, pid, pid);
	if (r >= 0 && with_threads && task.nr_threads > 1)
		r = put_threads(w, pid, exited);
	return r;
}

/*
 * Which tasks.
 */

static int put_all(struct walk *w)
{
	pid_t pid;
	int r;

	pev_dents_start(&w->processes, w->procfd);
	while ((r = pev_dents_next_pid(&w->processes, &pid)) > 0) {
		r = put_process(w, pid, true);
		if (r < 0)
			return r;
	}
	return r;
}

/* The processes told so far: an array of pid_t. */
static bool told(const struct pev_buf *leaders, pid_t pid)
{
	for (size_t at = 0; at < leaders->size; at += sizeof(pid))
		if (memcmp(leaders->data + at, &pid, sizeof(pid)) == 0)
			return true;
	return false;
}

static int put_listed_pid(struct walk *w, pid_t tid, struct pev_buf *leaders)
{
	pid_t pid;
	const int r = pev_task_read_tgid(w->procfd, tid, &pid);

	if (r < 0)
		return forgive(w, r);
	if (told(leaders, pid))
		return 0;
	pev_buf_put(leaders, &pid, sizeof(pid));
	return put_process(w, pid, true);
}

/* @whole are the processes that were told with all their threads. */
static int put_listed_tid(struct walk *w, pid_t tid, const struct pev_buf *whole,
			  struct pev_buf *leaders)
{
	pid_t pid;
	int r = pev_task_read_tgid(w->procfd, tid, &pid);

	if (r < 0)
		return forgive(w, r);
	if (told(whole, pid))
		return 0;
	if (!told(leaders, pid)) {
		pev_buf_put(leaders, &pid, sizeof(pid));
		r = put_process(w, pid, false);
	}
	if (r >= 0 && tid != pid)
		r = put_thread(w, pid, tid);
	return r;
}

static int put_listed(struct walk *w)
{
	_cleanup_buf_ struct pev_buf whole = { 0 }, leaders = { 0 };
	int r = 0;

	for (size_t i = 0; i < w->opts->nr_pids && r >= 0; i++)
		r = put_listed_pid(w, w->opts->pids[i], &whole);
	for (size_t i = 0; i < w->opts->nr_tids && r >= 0; i++)
		r = put_listed_tid(w, w->opts->tids[i], &whole, &leaders);
	if (r >= 0)
		r = pev_buf_status(&whole);
	return r < 0 ? r : pev_buf_status(&leaders);
}

/*
 * The rest of the world, and all of it.
 */

static int put_system(struct walk *w, struct pev_bpf_features *ret_bpf, struct pev_err *err)
{
	const struct pev_snapshot_opts *const o = w->opts;
	const bool bpf = o->bpf && pev_bpf_any();
	_cleanup_(pev_kallsyms_done) struct pev_kallsyms kallsyms = { 0 };
	int r;

	if (o->kernel || bpf) {
		r = pev_kallsyms_read("/proc/kallsyms", bpf, &kallsyms, err);
		if (r == -ENOMEM)
			return r;
		/* A sandbox that keeps us from opening it hides the addresses as well. */
		if (r < 0)
			kallsyms.hidden = true;
	}
	r = 0;
	if (o->kernel)
		r = pev_kernel_map(&w->emit, &kallsyms, o->build_ids, NULL, &w->stats.kernel, err);
	if (r >= 0 && bpf)
		r = pev_bpf_progs(&w->emit, &kallsyms, &w->stats.bpf, ret_bpf, err);
	if (r >= 0 && o->cgroups)
		r = pev_cgroups(&w->emit, &w->stats.cgroups, err);
	return r;
}

int pev_snapshot(const struct pev_snapshot_opts *opts, const struct pev_sink *sink,
		 struct pev_snapshot_stats *ret_stats, struct pev_bpf_features *ret_bpf,
		 struct pev_err *err)
{
	_cleanup_(walk_freep) struct walk *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return pev_err_set(err, -ENOMEM, "out of memory");
	w->opts = opts;
	w->emit = (struct pev_emit){
		.attr = opts->attr,
		.sink = sink,
		.id = opts->id,
		.time = opts->time,
	};
	pev_maps_init(&w->maps);
	w->procfd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (w->procfd < 0)
		return pev_err_set(err, -errno, "cannot open /proc: %s; mount it first",
				   pev_errno_str(errno));
	r = put_system(w, ret_bpf, err);
	if (r < 0)
		return r;
	r = opts->all ? put_all(w) : put_listed(w);
	if (r >= 0)
		r = pev_emit_flush(&w->emit);
	if (r < 0)
		return pev_err_set(err, r, "cannot tell the running processes to the trace: %s",
				   pev_errno_str(r));
	w->stats.records = w->emit.records;
	*ret_stats = w->stats;
	return 0;
}
