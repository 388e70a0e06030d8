// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unwind/debuginfod.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "unwind/image.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define MAX_TIMEOUTS 2

struct pev_debuginfod {
	void *library;
	debuginfod_client *client;
	__typeof__(debuginfod_begin) *begin;
	__typeof__(debuginfod_end) *end;
	__typeof__(debuginfod_find_debuginfo) *find_debuginfo;
	__typeof__(debuginfod_find_executable) *find_executable;
	__typeof__(debuginfod_set_progressfn) *set_progressfn;

	uint64_t timeout_ms;
	pev_debuginfod_progress progress;
	void *arg;
	unsigned timeouts;

	/* The file that is being fetched. */
	const char *what;
	uint64_t deadline_ns;
	bool timed_out, cancelled;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * PEV_NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* Who asks in this thread: libdebuginfod calls back from within the call that fetches. */
static _Thread_local struct pev_debuginfod *asking;

static int on_progress(debuginfod_client *client, long done, long total)
{
	struct pev_debuginfod *const d = asking;

	(void)client;
	if (now_ns() > d->deadline_ns) {
		d->timed_out = true;
		return 1;
	}
	/* Without a total, @done counts how often this was called. */
	if (total <= 0 || done < 0)
		done = total = 0;
	d->cancelled =
		d->progress && d->progress(d->arg, d->what, (uint64_t)done, (uint64_t)total) != 0;
	return d->cancelled;
}

struct pev_debuginfod *pev_debuginfod_free(struct pev_debuginfod *d)
{
	if (!d)
		return NULL;
	if (d->client)
		d->end(d->client);
	/* The library stays: libcurl does not survive being unloaded and loaded again. */
	free(d);
	return NULL;
}

static bool load(struct pev_debuginfod *d)
{
	const struct {
		const char *name;
		void *slot;
	} functions[] = {
		{ "debuginfod_begin", &d->begin },
		{ "debuginfod_end", &d->end },
		{ "debuginfod_find_debuginfo", &d->find_debuginfo },
		{ "debuginfod_find_executable", &d->find_executable },
		{ "debuginfod_set_progressfn", &d->set_progressfn },
	};

	d->library = dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL);
	if (!d->library)
		return false;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(functions); i++) {
		*(void **)functions[i].slot = dlsym(d->library, functions[i].name);
		if (!*(void **)functions[i].slot)
			return false;
	}
	return true;
}

int pev_debuginfod_new(uint64_t timeout_ms, pev_debuginfod_progress progress, void *arg,
		       struct pev_debuginfod **ret, struct pev_err *err)
{
	_cleanup_(pev_debuginfod_freep) struct pev_debuginfod *d = NULL;
	const char *const urls = getenv(DEBUGINFOD_URLS_ENV_VAR);

	if (!urls || !*urls)
		return -ENOENT;
	d = calloc(1, sizeof(*d));
	if (!d)
		return pev_err_set(err, -ENOMEM, "No memory for debuginfod");
	if (!load(d))
		return pev_err_set(err, -ENOSYS,
				   "DEBUGINFOD_URLS is set, but libdebuginfod.so.1 cannot be "
				   "loaded: install it "
				   "(Debian: apt-get install libdebuginfod1)");
	d->client = d->begin();
	if (!d->client)
		return pev_err_set(err, -ENOMEM, "libdebuginfod does not start");
	d->timeout_ms = timeout_ms;
	d->progress = progress;
	d->arg = arg;
	d->set_progressfn(d->client, on_progress);
	*ret = TAKE_PTR(d);
	return 0;
}

int pev_debuginfod_find(struct pev_debuginfod *d, const struct pev_build_id *id, bool debug,
			const char *what, int *ret_fd, char **ret_path, struct pev_err *err)
{
	char text[PEV_BUILD_ID_TEXT], *path = NULL;
	int fd;

	if (!id->size)
		return pev_err_set(err, -ENOENT, "%s has no build-id to ask debuginfod for", what);
	if (d->timeouts >= MAX_TIMEOUTS)
		return pev_err_set(err, -ETIMEDOUT,
				   "debuginfod was too slow before; not asked for %s", what);
	d->what = what;
	d->timed_out = d->cancelled = false;
	d->deadline_ns = now_ns() + d->timeout_ms * PEV_NSEC_PER_MSEC;
	/* A length of 0 says that the build-id is text. */
	(void)pev_build_id_text(id, text);
	asking = d;
	fd = debug ? d->find_debuginfo(d->client, (const unsigned char *)text, 0, &path)
		   : d->find_executable(d->client, (const unsigned char *)text, 0, &path);
	if (fd >= 0) {
		d->timeouts = 0;
		*ret_fd = fd;
		*ret_path = path;
		return 0;
	}
	free(path);
	/* Told to stop, libdebuginfod says -ENOENT. */
	if (d->cancelled)
		return pev_err_set(err, -ECANCELED, "%s was not fetched from debuginfod: cancelled",
				   what);
	if (d->timed_out || fd == -ETIME || fd == -ETIMEDOUT) {
		d->timeouts++;
		return pev_err_set(err, -ETIMEDOUT,
				   "debuginfod did not deliver %s (build-id %s) in time", what,
				   text);
	}
	return pev_err_set(err, fd, "debuginfod has no %s (build-id %s): %s", what, text,
			   pev_errno_str(fd));
}
