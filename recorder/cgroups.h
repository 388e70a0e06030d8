/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cgroups that exist, as CGROUP records. */
#pragma once

#include "base/cursor.h"
#include "base/err.h"
#include "recorder/emit.h"

#include <limits.h>

/* Where a cgroup hierarchy is mounted, and which of its directories is at the mount point. */
struct pev_cgroup_mount {
	char path[PATH_MAX];
	char root[PATH_MAX]; /* "/", or more in a bind mount or a container */
};

/*
 * Finds, in the text of /proc/PID/mountinfo (proc(5)), the hierarchy that the perf_event controller
 * is on: the cgroup v1 mount with that option, else the cgroup v2 mount. 0, or -ENOENT. Lines that
 * make no sense are skipped.
 */
int pev_cgroup_find_mount(struct pev_cursor *mountinfo, struct pev_cgroup_mount *ret);

/*
 * Puts a CGROUP record for each cgroup of that hierarchy, parents first: id = the kernel's cgroup
 * id (name_to_handle_at(2); what PERF_SAMPLE_CGROUP gives), path = from the root of the hierarchy,
 * "/" for the root itself, as the kernel's own records have it. *@ret_count tells how many; 0
 * says that there is no such mount or that we may not read it. -ENOMEM or the sink's error.
 */
int pev_cgroups(struct pev_emit *e, uint64_t *ret_count, struct pev_err *err);

/* The same for the hierarchy mounted at @mount. */
int pev_cgroups_below(struct pev_emit *e, const struct pev_cgroup_mount *mount, uint64_t *ret_count,
		      struct pev_err *err);
