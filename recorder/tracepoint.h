/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tracepoints as tracefs lists them: events/SYSTEM/NAME/{id,format}. */
#pragma once

#include "base/err.h"
#include "recorder/near.h"

#include <stdint.h>

/*
 * Where tracefs is mounted, heap-allocated: /sys/kernel/tracing, or /sys/kernel/debug/tracing as
 * older systems have it. -ENOENT when it is not mounted, -EACCES when this process may not look,
 * with a sentence that says how to mount or whom to be.
 */
int pev_tracefs_find(char **ret, struct pev_err *err);

/* ->one() is called for each tracepoint; a negative return ends the walk and is returned. */
struct pev_tracepoint_visitor {
	int (*one)(void *userdata, const char *system, const char *name, uint64_t id);
	void *userdata;
};

/*
 * Visits the tracepoints whose system and name match the globs (perf takes * ? and [] in both), in
 * the order of the directories, as perf does. A plain name is a glob that matches itself. -ENOENT
 * when nothing matches, with the nearest names; -EACCES when tracefs may not be read.
 */
int pev_tracepoint_each(const char *tracefs, const char *system_glob, const char *name_glob,
			const struct pev_tracepoint_visitor *visitor, struct pev_err *err);

/* "TRACEFS/events/SYSTEM/NAME/format", heap-allocated; NULL without memory. The file need not
 * exist. */
char *pev_tracepoint_format_path(const char *tracefs, const char *system, const char *name);

/* What to do when a file of tracefs cannot be read: set in @err, with @code returned. */
int pev_tracefs_refused(const char *path, int code, struct pev_err *err);
