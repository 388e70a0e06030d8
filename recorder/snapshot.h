/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The existing world, as records: what was there before a recording's events were opened. */
#pragma once

#include "base/err.h"
#include "recorder/bpf_prog.h"
#include "recorder/kernel_map.h"
#include "recorder/sink.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct pev_snapshot_opts {
	const struct pev_attr *attr; /* of the tracking event: decides the trailer */
	uint64_t id;                 /* its first id */
	uint64_t time; /* 0 at the start of a recording; now, on the events' clock, for a process
			  that is discovered late: its maps then apply from there on */

	/* Which processes: all, or those of ->pids with all their threads and the threads of ->tids
	 * with their process' mappings. A pid that is a thread's stands for its process. */
	bool all;
	const pid_t *pids;
	size_t nr_pids;
	const pid_t *tids;
	size_t nr_tids;

	bool kernel;     /* the kernel's and its modules' mappings */
	bool bpf;        /* BPF programs */
	bool cgroups;    /* CGROUP records */
	bool namespaces; /* NAMESPACES records */
	bool mmap_data;  /* readable mappings too, not only executable ones */
	bool build_ids;  /* the kernel knows attr.build_id: MMAP2 by build-id, else by inode */
};

struct pev_snapshot_stats {
	uint64_t records;
	uint64_t processes; /* kernel threads among them */
	uint64_t threads;   /* all tasks: each process is at least one */
	uint64_t mappings;
	uint64_t vanished;       /* tasks that ended while they were read */
	uint64_t unreadable;     /* times that a task's maps or namespaces were refused us */
	uint64_t bad_lines;      /* of /proc texts that nobody understood */
	uint64_t build_ids;      /* mappings of a file that has one */
	uint64_t no_build_ids;   /* mappings of a file that has none, or it could not be read */
	uint64_t build_id_files; /* distinct files asked for theirs */
	uint64_t cgroups;
	struct pev_kernel_map_stats kernel;
	struct pev_bpf_stats bpf;
};

/*
 * Tells @sink what exists, in the order perf record does: kernel, modules, BPF, cgroups, then each
 * process: FORK (misc FORK_EXEC), NAMESPACES, COMM and MMAP2s for the leader, FORK, NAMESPACES and
 * COMM for each other thread. Open the events first: what starts while this runs is then told by
 * either or both.
 *
 * Processes vanish and may be unreadable: that is counted in *@ret_stats, not an error. *@ret_bpf
 * may be NULL (see pev_bpf_progs()). A negative errno when /proc itself cannot be read, when memory
 * or file descriptors are out, or what the sink returned.
 */
int pev_snapshot(const struct pev_snapshot_opts *opts, const struct pev_sink *sink,
		 struct pev_snapshot_stats *ret_stats, struct pev_bpf_features *ret_bpf,
		 struct pev_err *err);
