// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Happy path: the module by the recorded path, its debug file by build-id. Every place is tried
 * through try_path(), which opens, holds the build-ids against each other and writes down what
 * came of it; a place that is not right is never an error, only a line of the story.
 */
#include "unwind/locate.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "unwind/debuginfod.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MAX_TRIED 256

struct search {
	const struct pev_locate_options *o;
	const char *path;       /* as recorded, without " (deleted)" */
	bool is_file;           /* ->path may be looked at */
	struct pev_build_id id; /* of the module, once known */
	char hex[PEV_BUILD_ID_TEXT];
	struct pev_located *l;
	struct pev_locate_counters *counters;
	struct pev_err *err;
};

/* What a candidate must be. */
struct want {
	enum pev_wanted wanted;
	enum pev_source source;
	const struct pev_build_id *id; /* of size 0: any */
	const uint32_t *crc;           /* instead of the build-id, when the file has none */
};

const char *pev_source_name(enum pev_source source)
{
	static const char *const names[] = {
		[PEV_SOURCE_NONE] = "nowhere",
		[PEV_SOURCE_STORE] = "the trace's store",
		[PEV_SOURCE_SYMFS] = "--symfs",
		[PEV_SOURCE_DEBUG_DIR] = "--debug-dir",
		[PEV_SOURCE_RECORDED] = "the recorded path",
		[PEV_SOURCE_SYSTEM] = "the system's debug directory",
		[PEV_SOURCE_DEBUGLINK] = ".gnu_debuglink",
		[PEV_SOURCE_PERF_CACHE] = "perf's cache",
		[PEV_SOURCE_DEBUGINFOD] = "debuginfod",
	};

	return (size_t)source < PEV_ARRAY_SIZE(names) ? names[source] : "an unknown source";
}

void pev_located_done(struct pev_located *l)
{
	(void)pev_image_free(l->main);
	(void)pev_image_free(l->debug);
	(void)pev_image_free(l->mini);
	(void)pev_image_free(l->alt);
	for (size_t i = 0; i < l->nr_tried; i++)
		free(l->tried[i].path);
	free(l->tried);
	*l = (struct pev_located){ 0 };
}

static int note(struct search *s, const char *path, const struct want *want, int code)
{
	struct pev_located *const l = s->l;
	char *copy;

	if (code == -ESTALE)
		s->counters->stale++;
	if (l->nr_tried == MAX_TRIED)
		return 0;
	if (l->nr_tried == 0 || pev_is_pow2(l->nr_tried)) {
		struct pev_tried *const p =
			reallocarray(l->tried, l->nr_tried ? l->nr_tried * 2 : 1, sizeof(*p));

		if (!p)
			return -ENOMEM;
		l->tried = p;
	}
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	l->tried[l->nr_tried++] = (struct pev_tried){
		.path = copy,
		.source = want->source,
		.wanted = want->wanted,
		.code = code,
	};
	return 0;
}

static bool has_crc(const struct pev_image *image, uint32_t crc)
{
	uLong sum = crc32(0, NULL, 0);

	for (size_t at = 0; at < image->size; at += 1U << 30)
		sum = crc32(sum, image->bytes + at,
			    (uInt)PEV_MIN(image->size - at, (size_t)1 << 30));
	return sum == crc;
}

/* 0 when @image is what is wanted. */
static int check(const struct pev_image *image, const struct want *want)
{
	const bool same = pev_build_id_equal(&image->build_id, want->id);

	if (!same && (image->build_id.size || !want->crc)) {
		/* Without a build-id to hold against it, the file itself must do. */
		if (want->id->size)
			return -ESTALE;
	}
	if (!same && want->crc && !has_crc(image, *want->crc))
		return -ESTALE;
	if (want->wanted == PEV_WANTED_MODULE && !image->has_code)
		return -ENODATA;
	if (want->wanted == PEV_WANTED_DEBUG && !pev_image_has(image, ".debug_info") &&
	    !pev_image_has(image, ".symtab"))
		return -ENODATA;
	return 0;
}

/* Takes @image, which came from @path; 1 when it is the right one, 0 when not. */
static int take(struct search *s, struct pev_image *image, const char *path,
		const struct want *want)
{
	_cleanup_(pev_image_freep) struct pev_image *owned = image;
	const int code = check(owned, want);
	const int r = note(s, path, want, code);

	if (r < 0 || code < 0)
		return r;
	switch (want->wanted) {
	case PEV_WANTED_MODULE:
		s->l->main = TAKE_PTR(owned);
		s->l->main_source = want->source;
		break;
	case PEV_WANTED_DEBUG:
		s->l->debug = TAKE_PTR(owned);
		s->l->debug_source = want->source;
		break;
	case PEV_WANTED_ALT:
		s->l->alt = TAKE_PTR(owned);
		break;
	}
	return 1;
}

/* Opens a path put together of three parts; 1 when it is what is wanted, 0 when not. */
static int try_path(struct search *s, const struct want *want, const char *a, const char *b,
		    const char *c)
{
	_cleanup_(pev_image_freep) struct pev_image *image = NULL;
	char path[PATH_MAX];
	int r;

	if (snprintf(path, sizeof(path), "%s%s%s", a, b, c) >= (int)sizeof(path))
		return 0;
	r = pev_image_open(path, &image, NULL);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return note(s, path, want, r);
	return take(s, TAKE_PTR(image), path, want);
}

/* DIR/.build-id/xx/yyyySUFFIX */
static int try_build_id(struct search *s, const struct want *want, const char *dir,
			const char *suffix)
{
	char hex[PEV_BUILD_ID_TEXT], tail[PEV_BUILD_ID_TEXT + 64];

	if (want->id->size < 2)
		return 0;
	(void)pev_build_id_text(want->id, hex);
	(void)snprintf(tail, sizeof(tail), "/.build-id/%.2s/%s", hex, hex + 2);
	return try_path(s, want, dir, tail, suffix);
}

static int try_store(struct search *s, struct want *want)
{
	_cleanup_(pev_image_freep) struct pev_image *image = NULL;
	int r;

	if (!s->o->store || !want->id->size)
		return 0;
	want->source = PEV_SOURCE_STORE;
	r = s->o->store(s->o->store_arg, want->id, want->wanted, &image, NULL);
	if (r == -ENOENT || r == -ENOMEM)
		return r == -ENOENT ? 0 : r;
	if (r < 0)
		return note(s, "the trace's store", want, r);
	return take(s, TAKE_PTR(image), "the trace's store", want);
}

static int try_debuginfod(struct search *s, struct want *want, const char *what)
{
	_cleanup_(pev_image_freep) struct pev_image *image = NULL;
	_cleanup_free_ char *path = NULL;
	char label[PATH_MAX];
	int r, fd;

	if (!s->o->debuginfod || !want->id->size)
		return 0;
	want->source = PEV_SOURCE_DEBUGINFOD;
	(void)snprintf(label, sizeof(label), "%s%s", what, s->path);
	r = pev_debuginfod_find(s->o->debuginfod, want->id, want->wanted != PEV_WANTED_MODULE,
				label, &fd, &path, NULL);
	if (r < 0)
		return note(s, "debuginfod", want, r);
	s->counters->fetched++;
	r = pev_image_open_fd(fd, path, &image, NULL);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return note(s, path, want, r);
	return take(s, TAKE_PTR(image), path, want);
}

static const char *base_name(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Leaves @r when it is not 0: something was found, or memory ran out. */
#define TRY(expression)                      \
	do {                                 \
		const int try_ = expression; \
		if (try_ != 0)               \
			return try_;         \
	} while (0)

static int find_main(struct search *s)
{
	struct want want = { .wanted = PEV_WANTED_MODULE, .id = &s->id };
	const struct pev_locate_options *const o = s->o;

	TRY(try_store(s, &want));
	want.source = PEV_SOURCE_SYMFS;
	if (o->symfs && s->is_file) {
		TRY(try_path(s, &want, o->symfs, s->path, ""));
		TRY(try_path(s, &want, o->symfs, "/", base_name(s->path)));
	}
	want.source = PEV_SOURCE_DEBUG_DIR;
	for (size_t i = 0; i < o->nr_debug_dirs; i++) {
		TRY(try_build_id(s, &want, o->debug_dirs[i], ""));
		if (!s->is_file)
			continue;
		TRY(try_path(s, &want, o->debug_dirs[i], s->path, ""));
		TRY(try_path(s, &want, o->debug_dirs[i], "/", base_name(s->path)));
	}
	want.source = PEV_SOURCE_RECORDED;
	if (s->is_file && (!o->symfs || s->id.size))
		TRY(try_path(s, &want, s->path, "", ""));
	want.source = PEV_SOURCE_PERF_CACHE;
	if (*o->perf_cache) {
		TRY(try_build_id(s, &want, o->perf_cache, "/elf"));
		TRY(try_build_id(s, &want, o->perf_cache, "/vdso"));
	}
	return try_debuginfod(s, &want, "");
}

/* The directory of @image, symbolic links resolved, with a '/' at the end. */
static void dir_of(const struct pev_image *image, char dir[PATH_MAX])
{
	char *slash;

	if (!realpath(image->path, dir))
		(void)snprintf(dir, PATH_MAX, "%s", image->path);
	slash = strrchr(dir, '/');
	if (slash)
		slash[1] = 0;
	else
		dir[0] = 0;
}

static int find_by_debuglink(struct search *s)
{
	char dir[PATH_MAX];
	const char *name;
	uint32_t crc;
	struct want want = {
		.wanted = PEV_WANTED_DEBUG,
		.source = PEV_SOURCE_DEBUGLINK,
		.id = &s->id,
		.crc = &crc,
	};

	if (!s->l->main || pev_image_debuglink(s->l->main, &name, &crc) < 0)
		return 0;
	dir_of(s->l->main, dir);
	TRY(try_path(s, &want, dir, "", name));
	TRY(try_path(s, &want, dir, ".debug/", name));
	for (size_t i = 0; i < s->o->nr_debug_dirs; i++) {
		TRY(try_path(s, &want, s->o->debug_dirs[i], dir, name));
		TRY(try_path(s, &want, s->o->debug_dirs[i], "/", name));
	}
	return try_path(s, &want, s->o->system_dir, dir, name);
}

static int find_debug(struct search *s)
{
	struct want want = { .wanted = PEV_WANTED_DEBUG, .id = &s->id };
	const struct pev_locate_options *const o = s->o;

	TRY(try_store(s, &want));
	want.source = PEV_SOURCE_SYMFS;
	if (o->symfs) {
		char dir[PATH_MAX];

		(void)snprintf(dir, sizeof(dir), "%s/usr/lib/debug", o->symfs);
		TRY(try_build_id(s, &want, dir, ".debug"));
		/* Only a build-id can tell whether a file that goes by its name is the right one.
		 */
		if (s->is_file && s->id.size)
			TRY(try_path(s, &want, dir, s->path, ".debug"));
	}
	want.source = PEV_SOURCE_DEBUG_DIR;
	for (size_t i = 0; i < o->nr_debug_dirs; i++) {
		TRY(try_build_id(s, &want, o->debug_dirs[i], ".debug"));
		if (s->is_file && s->id.size)
			TRY(try_path(s, &want, o->debug_dirs[i], s->path, ".debug"));
	}
	want.source = PEV_SOURCE_SYSTEM;
	TRY(try_build_id(s, &want, o->system_dir, ".debug"));
	TRY(find_by_debuglink(s));
	if (s->is_file && s->id.size) {
		TRY(try_path(s, &want, o->system_dir, s->path, ".debug"));
		TRY(try_path(s, &want, o->system_dir, s->path, ""));
	}
	want.source = PEV_SOURCE_PERF_CACHE;
	if (*o->perf_cache)
		TRY(try_build_id(s, &want, o->perf_cache, "/debug"));
	return try_debuginfod(s, &want, "debug info of ");
}

static int find_alt(struct search *s, struct pev_image *dwarf)
{
	struct pev_build_id id;
	struct want want = { .wanted = PEV_WANTED_ALT, .source = PEV_SOURCE_DEBUGLINK, .id = &id };
	char dir[PATH_MAX];
	const char *path;

	if (pev_image_debugaltlink(dwarf, &path, &id) < 0 || !id.size)
		return 0;
	dir_of(dwarf, dir);
	if (path[0] != '/') {
		TRY(try_path(s, &want, dir, path, ""));
	} else {
		if (s->o->symfs)
			TRY(try_path(s, &want, s->o->symfs, path, ""));
		TRY(try_path(s, &want, path, "", ""));
	}
	TRY(try_store(s, &want));
	want.source = PEV_SOURCE_DEBUG_DIR;
	for (size_t i = 0; i < s->o->nr_debug_dirs; i++)
		TRY(try_build_id(s, &want, s->o->debug_dirs[i], ".debug"));
	want.source = PEV_SOURCE_SYSTEM;
	TRY(try_build_id(s, &want, s->o->system_dir, ".debug"));
	return try_debuginfod(s, &want, "shared debug info of ");
}

/* True when @path may name a file that could be an ELF image. */
static bool may_be_file(const char *path)
{
	static const char *const no_files[] = { "//", "/memfd:", "/SYSV", "/dev/",
						"/anon_hugepage" };

	if (path[0] != '/')
		return false;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(no_files); i++)
		if (strncmp(path, no_files[i], strlen(no_files[i])) == 0)
			return false;
	return true;
}

static int search_all(struct search *s)
{
	struct pev_located *const l = s->l;
	struct pev_image *dwarf;
	int r;

	s->counters->modules++;
	r = find_main(s);
	if (r < 0)
		return r;
	l->unverified = l->main && !s->id.size;
	if (l->main && !s->id.size)
		s->id = l->main->build_id;
	if (!l->main || !pev_image_has(l->main, ".debug_info")) {
		r = find_debug(s);
		if (r < 0)
			return r;
	}
	dwarf = l->debug && pev_image_has(l->debug, ".debug_info") ? l->debug : l->main;
	if (dwarf) {
		r = find_alt(s, dwarf);
		if (r < 0)
			return r;
	}
	if (l->main && !pev_image_has(l->main, ".symtab") &&
	    !(l->debug && pev_image_has(l->debug, ".symtab"))) {
		r = pev_image_open_mini(l->main, &l->mini, s->err);
		if (r == -ENOMEM)
			return r;
	}
	s->counters->not_found += !l->main && !l->debug;
	s->counters->no_debug_info += !dwarf || !pev_image_has(dwarf, ".debug_info");
	return 0;
}

int pev_locate(const struct pev_locate_options *options, const char *path,
	       const struct pev_build_id *id, struct pev_located *ret,
	       struct pev_locate_counters *counters, struct pev_err *err)
{
	static const char deleted[] = " (deleted)";
	_cleanup_(pev_located_done) struct pev_located l = { 0 };
	_cleanup_free_ char *cut = strdup(path);
	char cache[PATH_MAX] = "";
	struct pev_locate_options o = *options;
	struct search s = { .o = &o, .l = &l, .counters = counters, .err = err };
	const size_t n = strlen(path);
	int r;

	if (!cut)
		return pev_err_set(err, -ENOMEM, "No memory to look for %s", path);
	if (n >= sizeof(deleted) && strcmp(cut + n - strlen(deleted), deleted) == 0)
		cut[n - strlen(deleted)] = 0;
	if (!o.system_dir)
		o.system_dir = "/usr/lib/debug";
	if (!o.perf_cache) {
		const char *const home = getenv("HOME");

		if (home && snprintf(cache, sizeof(cache), "%s/.debug", home) >= (int)sizeof(cache))
			cache[0] = 0;
		o.perf_cache = cache;
	}
	if (o.symfs && !*o.symfs)
		o.symfs = NULL;
	s.path = cut;
	s.is_file = may_be_file(cut);
	if (id)
		s.id = *id;
	r = search_all(&s);
	if (r < 0)
		return pev_err_set(err, r, "No memory to look for %s", path);
	*ret = l;
	l = (struct pev_located){ 0 };
	return 0;
}

static const char *reason(int code)
{
	switch (code) {
	case 0:
		return "taken";
	case -ESTALE:
		return "another build-id";
	case -ENODATA:
		return "nothing of use in it";
	case -ENOEXEC:
		return "not an ELF file";
	default:
		return pev_errno_str(code);
	}
}

void pev_located_explain(const struct pev_located *l, const char *path,
			 const struct pev_build_id *id, struct pev_buf *text)
{
	char hex[PEV_BUILD_ID_TEXT];

	pev_buf_printf(text, "%s (", path);
	if (id && id->size)
		pev_buf_printf(text, "build-id %s): ", pev_build_id_text(id, hex));
	else
		pev_buf_printf(text, "no build-id): ");
	if (l->main || l->debug)
		pev_buf_printf(text, "found %s",
			       pev_source_name(l->main ? l->main_source : l->debug_source));
	else
		pev_buf_printf(text, "not found");
	if (l->main && !l->debug && !pev_image_has(l->main, ".debug_info"))
		pev_buf_printf(text, ", without debug info");
	for (size_t i = 0; i < l->nr_tried; i++)
		if (l->tried[i].code)
			pev_buf_printf(text, "; %s: %s", l->tried[i].path,
				       reason(l->tried[i].code));
}
