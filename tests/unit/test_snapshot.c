// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A small world of this test's own: its process, a thread with a name, an executable file mapped
 * and one mapped and deleted; told to a sink, and looked for in the records.
 */
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "collect.h"
#include "recorder/buildid.h"
#include "recorder/snapshot.h"
#include "recorder/task.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define BYTES 8192

static char dir[] = "test-snapshot-XXXXXX";
static void *kept = MAP_FAILED, *deleted = MAP_FAILED, *data = MAP_FAILED;
static pthread_t thread;
static pid_t thread_tid;
static int to_thread[2], from_thread[2];

/* Names itself, says so, and lives until it is told otherwise. */
static void *thread_main(void *unused)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);
	char byte;

	(void)unused;
	(void)prctl(PR_SET_NAME, "pev (thread)");
	(void)!write(from_thread[1], &tid, sizeof(tid));
	(void)!read(to_thread[0], &byte, 1);
	return NULL;
}

/* The start of this program as a file of its own. */
static void *map_copy(const char *name, int prot, bool keep)
{
	_cleanup_close_ int in = open("/proc/self/exe", O_RDONLY), out = -1;
	char path[PATH_MAX], bytes[BYTES];
	void *p;

	(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	out = open(path, O_RDWR | O_CREAT | O_EXCL, 0700);
	if (out < 0 || read(in, bytes, BYTES) != BYTES || pev_write_all(out, bytes, BYTES) < 0)
		return MAP_FAILED;
	p = mmap(NULL, BYTES, prot, MAP_PRIVATE, out, 0);
	if (!keep)
		(void)unlink(path);
	return p;
}

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(dir) || pipe(to_thread) < 0 || pipe(from_thread) < 0)
		return -1;
	kept = map_copy("kept", PROT_READ | PROT_EXEC, true);
	deleted = map_copy("deleted", PROT_READ | PROT_EXEC, false);
	data = map_copy("data", PROT_READ, false);
	(void)prctl(PR_SET_NAME, "pev-leader");
	if (pthread_create(&thread, NULL, thread_main, NULL) != 0)
		return -1;
	return read(from_thread[0], &thread_tid, sizeof(thread_tid)) == sizeof(thread_tid) ? 0 : -1;
}

static int teardown(void **state)
{
	char path[PATH_MAX];

	(void)state;
	(void)!write(to_thread[1], "x", 1);
	(void)pthread_join(thread, NULL);
	(void)snprintf(path, sizeof(path), "%s/kept", dir);
	(void)unlink(path);
	return rmdir(dir);
}

static struct pev_snapshot_opts options(const pid_t *pids, size_t nr_pids)
{
	return (struct pev_snapshot_opts){
		.attr = &collect_attr,
		.id = 42,
		.time = 7,
		.pids = pids,
		.nr_pids = nr_pids,
		.build_ids = true,
	};
}

static void run(const struct pev_snapshot_opts *opts, struct collect *c,
		struct pev_snapshot_stats *stats)
{
	struct pev_err err = PEV_ERR_INIT;

	collect_init(c);
	if (pev_snapshot(opts, &c->sink, stats, NULL, &err) < 0)
		fail_msg("%s", err.msg);
}

/* What the records said of this process. */
struct seen {
	int forks, comms, mmaps, namespaces;
	bool thread_fork, thread_comm;
	struct pev_record kept, deleted, data, vdso;
	uint32_t order[8]; /* types of the first records */
	size_t nr;
};

static void look(struct collect *c, struct seen *s)
{
	const uint32_t self = (uint32_t)getpid();
	struct pev_record rec;

	*s = (struct seen){ .forks = 0 };
	for (; collect_next(c, &rec); s->nr++) {
		if (s->nr < PEV_ARRAY_SIZE(s->order))
			s->order[s->nr] = rec.hdr.type;
		assert_int_equal(rec.id.id, 42);
		assert_int_equal(rec.id.time, 7);
		assert_int_equal(rec.id.pid, self);
		switch (rec.hdr.type) {
		case PEV_REC_FORK:
			s->forks++;
			assert_int_equal(rec.hdr.misc, PEV_MISC_FORK_EXEC);
			assert_int_equal(rec.task.pid, self);
			assert_int_equal(rec.task.tid, rec.id.tid);
			assert_int_equal(rec.task.ppid, rec.task.ptid);
			assert_int_equal(rec.task.ppid,
					 rec.task.tid == self ? (uint32_t)getppid() : self);
			s->thread_fork |= rec.task.tid == (uint32_t)thread_tid;
			break;
		case PEV_REC_COMM:
			s->comms++;
			assert_int_equal(rec.hdr.misc, 0);
			assert_int_equal(rec.comm.pid, self);
			assert_string_equal(rec.comm.comm,
					    rec.comm.tid == self ? "pev-leader" : "pev (thread)");
			s->thread_comm |= rec.comm.tid == (uint32_t)thread_tid;
			break;
		case PEV_REC_NAMESPACES:
			s->namespaces++;
			assert_int_equal(rec.namespaces.nr, 7);
			break;
		case PEV_REC_MMAP2:
			s->mmaps++;
			assert_int_equal(rec.mmap.pid, self);
			assert_int_equal(rec.mmap.tid, self);
			assert_int_equal(rec.hdr.misc & PEV_MISC_CPUMODE_MASK, PEV_MISC_USER);
			if (rec.mmap.start == (uintptr_t)kept)
				s->kept = rec;
			if (rec.mmap.start == (uintptr_t)deleted)
				s->deleted = rec;
			if (rec.mmap.start == (uintptr_t)data)
				s->data = rec;
			if (strcmp(rec.mmap.filename, "[vdso]") == 0)
				s->vdso = rec;
			break;
		default:
			fail_msg("a record of type %u", rec.hdr.type);
		}
	}
}

static bool ends_with(const char *s, const char *tail)
{
	const size_t len = strlen(s), tail_len = strlen(tail);

	return len >= tail_len && strcmp(s + len - tail_len, tail) == 0;
}

static void own_build_id(struct pev_buildid *ret)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY);

	assert_int_equal(pev_buildid_from_file(fd, ret), 0);
}

static void assert_mapping(const struct pev_record *rec, const char *name,
			   const struct pev_buildid *id)
{
	assert_int_equal(rec->hdr.type, PEV_REC_MMAP2);
	assert_true(ends_with(rec->mmap.filename, name));
	assert_int_equal(rec->mmap.len, BYTES);
	assert_int_equal(rec->mmap.pgoff, 0);
	assert_int_equal(rec->mmap.flags, MAP_PRIVATE);
	assert_true(rec->hdr.misc & PEV_MISC_MMAP_BUILD_ID);
	assert_int_equal(rec->mmap.build_id_size, id->size);
	assert_memory_equal(rec->mmap.build_id, id->bytes, id->size);
}

static void test_own_process(void **state)
{
	const pid_t self = getpid();
	const struct pev_snapshot_opts opts = options(&self, 1);
	struct pev_snapshot_stats stats;
	struct pev_buildid id;
	struct collect c;
	struct seen s;

	(void)state;
	if (kept == MAP_FAILED)
		skip(); /* the build folder is mounted noexec */
	own_build_id(&id);
	run(&opts, &c, &stats);
	look(&c, &s);
	assert_int_equal(s.order[0], PEV_REC_FORK);
	assert_int_equal(s.order[1], PEV_REC_COMM);
	assert_int_equal(s.order[2], PEV_REC_MMAP2);
	assert_int_equal(s.forks, 2);
	assert_int_equal(s.comms, 2);
	assert_true(s.thread_fork && s.thread_comm);
	assert_int_equal(s.namespaces, 0);
	assert_mapping(&s.kept, "/kept", &id);
	assert_mapping(&s.deleted, "/deleted (deleted)", &id);
	assert_int_equal(s.kept.mmap.prot, PROT_READ | PROT_EXEC);
	assert_false(s.kept.hdr.misc & PEV_MISC_MMAP_DATA);
	/* The kernel gives no build-id for it in its own records either. */
	assert_false(s.vdso.hdr.misc & PEV_MISC_MMAP_BUILD_ID);
	assert_int_equal(s.data.hdr.type, 0);

	assert_int_equal(stats.records, s.nr);
	assert_int_equal(stats.processes, 1);
	assert_int_equal(stats.threads, 2);
	assert_int_equal(stats.mappings, s.mmaps);
	assert_true(stats.build_ids >= 3);
	assert_true(stats.build_id_files >= 3);
	assert_int_equal(stats.vanished + stats.unreadable + stats.bad_lines, 0);
	collect_done(&c);
}

static void test_data_and_namespaces_by_inode(void **state)
{
	const pid_t self = getpid();
	struct pev_snapshot_opts opts = options(&self, 1);
	struct pev_snapshot_stats stats;
	struct collect c;
	struct seen s;
	struct stat st;
	char path[PATH_MAX];

	(void)state;
	if (kept == MAP_FAILED)
		skip();
	opts.mmap_data = opts.namespaces = true;
	opts.build_ids = false;
	run(&opts, &c, &stats);
	look(&c, &s);
	assert_int_equal(s.order[0], PEV_REC_FORK);
	assert_int_equal(s.order[1], PEV_REC_NAMESPACES);
	assert_int_equal(s.order[2], PEV_REC_COMM);
	assert_int_equal(s.namespaces, 2);
	assert_true(ends_with(s.data.mmap.filename, "/data (deleted)"));
	assert_int_equal(s.data.mmap.prot, PROT_READ);
	assert_true(s.data.hdr.misc & PEV_MISC_MMAP_DATA);
	assert_false(s.kept.hdr.misc & (PEV_MISC_MMAP_BUILD_ID | PEV_MISC_MMAP_DATA));
	(void)snprintf(path, sizeof(path), "%s/kept", dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(s.kept.mmap.ino, st.st_ino);
	assert_int_equal(stats.build_ids + stats.no_build_ids + stats.build_id_files, 0);
	collect_done(&c);
}

static void test_namespace_links(void **state)
{
	static const char *const names[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	const pid_t self = getpid();
	struct pev_snapshot_opts opts = options(&self, 1);
	struct pev_snapshot_stats stats;
	struct pev_record rec = { .hdr = { .type = 0 } };
	struct collect c;

	(void)state;
	opts.namespaces = true;
	run(&opts, &c, &stats);
	while (rec.hdr.type != PEV_REC_NAMESPACES)
		assert_true(collect_next(&c, &rec));
	for (size_t i = 0; i < PEV_ARRAY_SIZE(names); i++) {
		char path[64];
		struct stat st;

		(void)snprintf(path, sizeof(path), "/proc/self/ns/%s", names[i]);
		if (stat(path, &st) < 0)
			continue;
		assert_int_equal(pev_u64s_at(&rec.namespaces.links, 2 * i), st.st_dev);
		assert_int_equal(pev_u64s_at(&rec.namespaces.links, 2 * i + 1), st.st_ino);
	}
	collect_done(&c);
}

/* A thread alone brings its leader along, once, and not its siblings. */
static void test_lists(void **state)
{
	const pid_t self = getpid(), both[] = { thread_tid, self }, twice[] = { self, thread_tid };
	struct pev_snapshot_opts opts = options(NULL, 0);
	struct pev_snapshot_stats stats;
	struct collect c;
	struct seen s;

	(void)state;
	opts.tids = &self;
	opts.nr_tids = 1;
	run(&opts, &c, &stats);
	look(&c, &s);
	assert_int_equal(s.forks, 1);
	assert_false(s.thread_fork);
	collect_done(&c);

	opts.tids = both;
	opts.nr_tids = 2;
	run(&opts, &c, &stats);
	look(&c, &s);
	assert_int_equal(s.forks, 2);
	assert_int_equal(stats.processes, 1);
	assert_true(s.thread_comm);
	collect_done(&c);

	/* A pid that is a thread's stands for its process; nothing is told twice. */
	opts.pids = twice;
	opts.nr_pids = 2;
	run(&opts, &c, &stats);
	look(&c, &s);
	assert_int_equal(s.forks, 2);
	assert_int_equal(s.comms, 2);
	collect_done(&c);
}

/* A child whose leader has exited while a thread lives on. */
static pid_t fork_without_leader(void)
{
	_cleanup_close_ int procfd = open("/proc", O_RDONLY | O_DIRECTORY);
	struct pev_task task;
	const pid_t child = fork();
	pid_t tid;

	if (child == 0) {
		pthread_t other;

		if (pthread_create(&other, NULL, thread_main, NULL) == 0)
			(void)syscall(SYS_exit, 0); /* ends this thread only */
		_exit(1);
	}
	assert_true(child > 0);
	assert_int_equal(read(from_thread[0], &tid, sizeof(tid)), sizeof(tid));
	do {
		(void)sched_yield();
		assert_int_equal(pev_task_read(procfd, child, &task), 0);
	} while (task.state != 'Z');
	return child;
}

/* The mappings of such a process are shown by the thread that has them. */
static void test_exited_leader(void **state)
{
	const pid_t child = fork_without_leader();
	const struct pev_snapshot_opts opts = options(&child, 1);
	struct pev_snapshot_stats stats;
	struct pev_record rec;
	struct collect c;
	uint64_t mmaps = 0;

	(void)state;
	run(&opts, &c, &stats);
	(void)kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	while (collect_next(&c, &rec)) {
		if (rec.hdr.type != PEV_REC_MMAP2)
			continue;
		assert_int_equal(rec.mmap.pid, child);
		assert_int_equal(rec.mmap.tid, child);
		mmaps++;
	}
	assert_int_equal(stats.threads, 2);
	assert_true(mmaps >= 3);
	assert_int_equal(stats.mappings, mmaps);
	collect_done(&c);
}

static void test_whole_machine(void **state)
{
	struct pev_snapshot_opts opts = options(NULL, 0);
	struct pev_bpf_features bpf = { 0 };
	struct pev_snapshot_stats stats;
	struct pev_err err = PEV_ERR_INIT;
	struct pev_record rec;
	struct collect c;
	uint64_t nr = 0;
	bool self_seen = false, mmap_before_comm = false;

	(void)state;
	opts.all = opts.kernel = opts.bpf = opts.cgroups = true;
	collect_init(&c);
	if (pev_snapshot(&opts, &c.sink, &stats, &bpf, &err) < 0)
		fail_msg("%s", err.msg);
	for (; collect_next(&c, &rec); nr++) {
		if (rec.hdr.type == PEV_REC_COMM && rec.comm.pid == (uint32_t)getpid())
			self_seen = true;
		if (rec.hdr.type == PEV_REC_MMAP2 && rec.mmap.pid == (uint32_t)getpid())
			mmap_before_comm = mmap_before_comm || !self_seen;
	}
	assert_int_equal(nr, stats.records);
	assert_true(self_seen);
	assert_false(mmap_before_comm);
	assert_true(stats.processes >= 2);
	assert_true(stats.threads >= stats.processes + 1);
	pev_bpf_features_done(&bpf);
	collect_done(&c);
}

static void test_gone(void **state)
{
	const pid_t gone = 1 << 23; /* above the largest possible pid */
	struct pev_snapshot_opts opts = options(&gone, 1);
	struct pev_snapshot_stats stats;
	struct collect c;

	(void)state;
	opts.tids = &gone;
	opts.nr_tids = 1;
	run(&opts, &c, &stats);
	assert_int_equal(stats.vanished, 2);
	assert_int_equal(stats.records, 0);
	assert_int_equal(c.records.size, 0);
	collect_done(&c);
}

static void test_errors(void **state)
{
	const pid_t self = getpid();
	const struct pev_snapshot_opts opts = options(&self, 1);
	struct pev_snapshot_stats stats = { .records = 77 };
	struct pev_err err = PEV_ERR_INIT;
	struct collect c;
	bool failed = true;

	(void)state;
	collect_init(&c);
	c.fail_in = 1;
	assert_int_equal(pev_snapshot(&opts, &c.sink, &stats, NULL, &err), -ENOSPC);
	assert_err(&err, -ENOSPC,
		   "cannot tell the running processes to the trace: No space left on device");
	collect_done(&c);
	for (unsigned int n = 1; failed; n++) {
		int r;

		collect_init(&c);
		alloc_fail_at(n);
		r = pev_snapshot(&opts, &c.sink, &stats, NULL, &err);
		failed = alloc_fail_end();
		assert_int_equal(r, failed ? -ENOMEM : 0);
		if (failed)
			assert_int_equal(stats.records, 77);
		collect_done(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_process),
		cmocka_unit_test(test_data_and_namespaces_by_inode),
		cmocka_unit_test(test_namespace_links),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_whole_machine),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_exited_leader),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
