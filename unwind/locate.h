/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the files of a module are: the program itself, its debug info, and why they were not found.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "unwind/image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pev_debuginfod;

enum pev_wanted {
	PEV_WANTED_MODULE, /* the program or library itself: code, unwind tables, PLT */
	PEV_WANTED_DEBUG,  /* its separate debug file: DWARF, .symtab */
	PEV_WANTED_ALT,    /* the file that dwz made for several debug files */
};

/* In the order in which they are asked. */
enum pev_source {
	PEV_SOURCE_NONE,
	PEV_SOURCE_STORE,      /* the trace's own ELF files */
	PEV_SOURCE_SYMFS,      /* below --symfs */
	PEV_SOURCE_DEBUG_DIR,  /* below a --debug-dir */
	PEV_SOURCE_RECORDED,   /* where the trace says that it was */
	PEV_SOURCE_SYSTEM,     /* below /usr/lib/debug */
	PEV_SOURCE_DEBUGLINK,  /* what .gnu_debuglink or .gnu_debugaltlink names */
	PEV_SOURCE_PERF_CACHE, /* perf's ~/.debug */
	PEV_SOURCE_DEBUGINFOD,
};

const char *pev_source_name(enum pev_source source);

struct pev_locate_options {
	const char *symfs; /* NULL: none. With it, recorded paths are meant below it only */
	const char *const *debug_dirs;
	size_t nr_debug_dirs;
	const char *system_dir;            /* NULL: /usr/lib/debug */
	const char *perf_cache;            /* NULL: $HOME/.debug; "": none */
	struct pev_debuginfod *debuginfod; /* borrowed; NULL: not asked */

	/*
	 * The trace's own store. 0 and an image in *ret, which the caller then owns, -ENOENT when
	 * it has none, or another negative errno. NULL: there is no store.
	 */
	int (*store)(void *arg, const struct pev_build_id *id, enum pev_wanted wanted,
		     struct pev_image **ret, struct pev_err *err);
	void *store_arg;
};

/* A place that was looked at. */
struct pev_tried {
	char *path;
	enum pev_source source;
	enum pev_wanted wanted;
	int code; /* 0: taken. -ESTALE: another build-id or CRC; -ENODATA: nothing of use in it; ...
		   */
};

/* Zero-initialise to start, pev_located_done() to end. */
struct pev_located {
	struct pev_image *main;  /* owned; NULL: not found */
	struct pev_image *debug; /* owned; NULL: not found, or ->main has all there is */
	struct pev_image *mini;  /* owned; NULL: none, or not needed */
	struct pev_image *alt;   /* owned; NULL: none, or not found */
	enum pev_source main_source, debug_source;
	bool unverified; /* the trace has no build-id; ->main is what is at the recorded path now */
	struct pev_tried *tried;
	size_t nr_tried;
};

void pev_located_done(struct pev_located *l);

struct pev_locate_counters {
	uint64_t modules;       /* looked for */
	uint64_t not_found;     /* neither the file nor its debug file */
	uint64_t no_debug_info; /* no DWARF, neither in the file nor separate */
	uint64_t stale;         /* files refused because of another build-id or CRC */
	uint64_t fetched;       /* files from debuginfod */
};

/*
 * Looks for the module that the trace knows as @path with @id (NULL or of size 0 when it knows
 * none). A file with another build-id, or with none where @id has one, is never taken. Paths that
 * are no files ("[vdso]", "//anon", "/memfd:x", "/dev/...") are only looked for by their build-id;
 * " (deleted)" at the end is ignored.
 *
 * What is not found is no error: the images are NULL and ->tried tells the story. A debug file
 * is looked for when the module itself has no DWARF. @counters are added to. -ENOMEM.
 */
int pev_locate(const struct pev_locate_options *options, const char *path,
	       const struct pev_build_id *id, struct pev_located *ret,
	       struct pev_locate_counters *counters, struct pev_err *err);

/*
 * One sentence for a person: "/app (build-id 1a2b...): not found; /app: another build-id; ...".
 * @path and @id as asked for.
 */
void pev_located_explain(const struct pev_located *l, const char *path,
			 const struct pev_build_id *id, struct pev_buf *text);
