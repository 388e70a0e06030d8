// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recorder/tracepoint.h"

#include "base/checked.h"
#include "base/io.h"
#include "recorder/dirlist.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>

int pev_tracefs_refused(const char *path, int code, struct pev_err *err)
{
	return pev_err_set(err, code, "cannot read %s: %s: %s", path, pev_errno_str(code),
			   code == -EACCES || code == -EPERM
				   ? "tracefs is for root; be root, or have CAP_DAC_READ_SEARCH"
				   : "see that tracefs is mounted there");
}

int pev_tracefs_find(char **ret, struct pev_err *err)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char events[64];
	char *place;

	for (size_t i = 0; i < PEV_ARRAY_SIZE(places); i++) {
		(void)snprintf(events, sizeof(events), "%s/events", places[i]);
		if (access(events, X_OK) == 0) {
			place = strdup(places[i]);
			if (!place)
				return pev_err_set(err, -ENOMEM, "no memory for a path");
			*ret = place;
			return 0;
		}
		/* The directory that debugfs hides from all but root says nothing about tracefs. */
		if (errno == EACCES && i == 0)
			return pev_tracefs_refused(places[i], -EACCES, err);
	}
	if (access(places[0], F_OK) < 0)
		return pev_err_set(err, -ENOENT,
				   "there are no tracepoints: %s does not exist, so this kernel "
				   "is built without tracing (CONFIG_TRACEPOINTS, CONFIG_FTRACE)",
				   places[0]);
	return pev_err_set(err, -ENOENT,
			   "tracepoints need tracefs, which is not mounted: as root, mount -t "
			   "tracefs nodev %s",
			   places[0]);
}

char *pev_tracepoint_format_path(const char *tracefs, const char *system, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/events/%s/%s/format", tracefs, system, name) < 0)
		return NULL;
	return path;
}

/* What a walk needs everywhere. */
struct walk {
	const char *events; /* TRACEFS/events */
	const char *system_glob;
	const char *name_glob;
	const struct pev_tracepoint_visitor *visitor;
	struct pev_err *err;
	size_t matched;
};

static int visit_system(struct walk *w, const char *system)
{
	_cleanup_dirlist_ struct pev_dirlist names = { 0 };
	_cleanup_free_ char *dir = NULL;
	int r;

	if (asprintf(&dir, "%s/%s", w->events, system) < 0)
		return pev_err_set(w->err, -ENOMEM, "no memory for a path");
	r = pev_dirlist_read(dir, 1, &names);
	if (r == -ENOTDIR)
		return 0;
	if (r < 0)
		return pev_tracefs_refused(dir, r, w->err);
	for (int i = 0; i < names.nr; i++) {
		const char *const name = names.entries[i]->d_name;
		_cleanup_free_ char *path = NULL;
		int64_t id;

		if (fnmatch(w->name_glob, name, 0))
			continue;
		if (asprintf(&path, "%s/%s/id", dir, name) < 0)
			return pev_err_set(w->err, -ENOMEM, "no memory for a path");
		r = pev_read_path_i64(path, &id);
		/* "enable" and "filter" are files; an event without an id is not for perf. */
		if (r == -ENOENT || r == -ENOTDIR)
			continue;
		if (r < 0 || id < 0)
			return pev_tracefs_refused(path, r < 0 ? r : -EBADMSG, w->err);
		w->matched++;
		r = w->visitor->one(w->visitor->userdata, system, name, (uint64_t)id);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Finds the words for a tracepoint that does not exist: the system, or a name in it. */
static int none_matched(const struct walk *w, const struct pev_dirlist *systems)
{
	struct pev_near near_system = pev_near(w->system_glob);
	struct pev_near near_name = pev_near(w->name_glob);
	bool known = false;
	char hint[256];

	for (int i = 0; i < systems->nr; i++) {
		const char *const system = systems->entries[i]->d_name;
		_cleanup_dirlist_ struct pev_dirlist names = { 0 };
		_cleanup_free_ char *dir = NULL;

		pev_near_offer(&near_system, system);
		if (fnmatch(w->system_glob, system, 0))
			continue;
		known = true;
		if (asprintf(&dir, "%s/%s", w->events, system) < 0 ||
		    pev_dirlist_read(dir, 0, &names) < 0)
			continue;
		for (int j = 0; j < names.nr; j++)
			pev_near_offer(&near_name, names.entries[j]->d_name);
	}
	(void)pev_near_phrase(known ? &near_name : &near_system,
			      known ? "ls that directory shows those there are"
				    : "perf list shows the tracepoints and events there are",
			      hint, sizeof(hint));
	if (known)
		return pev_err_set(w->err, -ENOENT,
				   "unknown tracepoint '%s:%s': there is none of that name in "
				   "%s/%s: %s",
				   w->system_glob, w->name_glob, w->events, w->system_glob, hint);
	return pev_err_set(w->err, -ENOENT,
			   "unknown tracepoint '%s:%s': there is no system '%s' in %s: %s",
			   w->system_glob, w->name_glob, w->system_glob, w->events, hint);
}

int pev_tracepoint_each(const char *tracefs, const char *system_glob, const char *name_glob,
			const struct pev_tracepoint_visitor *visitor, struct pev_err *err)
{
	_cleanup_dirlist_ struct pev_dirlist systems = { 0 };
	_cleanup_free_ char *events = NULL;
	struct walk w = {
		.system_glob = system_glob,
		.name_glob = name_glob,
		.visitor = visitor,
		.err = err,
	};
	int r;

	if (asprintf(&events, "%s/events", tracefs) < 0)
		return pev_err_set(err, -ENOMEM, "no memory for a path");
	w.events = events;
	r = pev_dirlist_read(events, 1, &systems);
	if (r < 0)
		return pev_tracefs_refused(events, r, err);
	for (int i = 0; i < systems.nr; i++) {
		if (fnmatch(system_glob, systems.entries[i]->d_name, 0))
			continue;
		r = visit_system(&w, systems.entries[i]->d_name);
		if (r < 0)
			return r;
	}
	return w.matched ? 0 : none_matched(&w, &systems);
}
