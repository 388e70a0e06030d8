// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format/dir.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "format/trace_part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DIR_VERSION 1

PEV_DEFINE_CLEANUP(struct pev_trace *, pev_trace_free);

struct traces {
	struct pev_trace **v;
	size_t nr;
};

static void traces_done(struct traces *t)
{
	for (size_t i = 0; i < t->nr; i++)
		pev_trace_free(t->v[i]);
	free(t->v);
}

/* Takes over @t, which is freed on failure. */
static int add(struct traces *traces, struct pev_trace *t, struct pev_err *err)
{
	struct pev_trace **const v =
		realloc(traces->v, (traces->nr + 1) * sizeof(struct pev_trace *));

	if (!v) {
		pev_trace_free(t);
		return pev_err_set(err, -ENOMEM, "no memory for the files of a trace");
	}
	traces->v = v;
	v[traces->nr++] = t;
	return 0;
}

static int is_part(const struct dirent *entry)
{
	return !strncmp(entry->d_name, "data.", 5);
}

/* data.2 comes before data.10. */
static int by_number(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

/* A file of records alone, which are those of the events of @main. */
static int open_part(const char *path, const struct pev_trace *main,
		     const struct pev_trace_options *options, struct pev_trace **ret,
		     struct pev_err *err)
{
	_cleanup_(pev_trace_freep) struct pev_trace *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return pev_err_set(err, -ENOMEM, "no memory to read %s", path);
	if (options)
		t->options = *options;
	r = pev_input_open(path, &t->in, err);
	if (r < 0)
		return r;
	t->head.swap = main->head.swap;
	t->head.version = main->head.version;
	t->head.data_size = t->head.file_size = t->in.size;
	t->end = UINT64_MAX;
	for (size_t i = 0; i < main->nr_events; i++) {
		const struct pev_trace_event *const e = &main->events[i];

		r = pev_trace_add_event(t, &e->attr, e->ids, e->nr_ids, err);
		if (r < 0)
			return r;
	}
	*ret = TAKE_PTR(t);
	return 0;
}

static int add_file(struct traces *traces, const char *dir, const char *name,
		    const struct pev_trace_options *options, struct pev_err *err)
{
	_cleanup_free_ char *path = NULL;
	struct pev_trace *t = NULL;
	struct stat st;
	int r;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return pev_err_set(err, -ENOMEM, "no memory to read %s", dir);
	if (!traces->nr) {
		r = pev_trace_open(path, options, &t, err);
		if (r < 0)
			return pev_err_wrap(
				err,
				"%s is a folder, and no trace as perf record --threads leaves it",
				dir);
	} else {
		if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
			return 0;
		r = open_part(path, traces->v[0], options, &t, err);
	}
	return r < 0 ? r : add(traces, t, err);
}

static int open_folder(const char *path, const struct pev_trace_options *options,
		       struct traces *traces, struct pev_err *err)
{
	struct dirent **entries;
	struct pev_trace_head head;
	int nr, r;

	r = add_file(traces, path, "data", options, err);
	if (r < 0)
		return r;
	head = pev_trace_head(traces->v[0]);
	if (pev_features_has(head.features, PEV_FEAT_DIR_FORMAT) &&
	    head.features->dir_version > DIR_VERSION)
		return pev_err_set(
			err, -EPROTONOSUPPORT,
			"%s is a folder of version %" PRIu64
			", and this version of pevrec knows %d: read it with a newer one",
			path, head.features->dir_version, DIR_VERSION);
	nr = scandir(path, &entries, is_part, by_number);
	if (nr < 0)
		return pev_err_set(err, -errno, "cannot read %s: %s", path, pev_errno_str(errno));
	for (int i = 0; i < nr; i++) {
		if (r >= 0)
			r = add_file(traces, path, entries[i]->d_name, options, err);
		free(entries[i]);
	}
	free(entries);
	return r;
}

int pev_dir_open(const char *path, const struct pev_trace_options *options, struct pev_trace ***ret,
		 size_t *ret_nr, struct pev_err *err)
{
	_cleanup_(traces_done) struct traces traces = { 0 };
	struct stat st;
	int r;

	if (strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		r = open_folder(path, options, &traces, err);
	} else {
		struct pev_trace *t = NULL;

		r = pev_trace_open(path, options, &t, err);
		if (r == 0)
			r = add(&traces, t, err);
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(traces.v);
	*ret_nr = traces.nr;
	traces.nr = 0;
	return 0;
}
