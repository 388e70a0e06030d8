/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The mappings of a running process, told the way the kernel's own MMAP2 records tell them. */
#pragma once

#include "base/buf.h"
#include "base/cursor.h"
#include "recorder/buildid.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A mapping's name with its NUL; what is longer is "//toolong", as in the kernel's records. */
#define PEV_MAPPING_NAME_MAX PATH_MAX

/*
 * Differences to the text of /proc/PID/maps, all of them to meet the records that the kernel writes
 * for mappings that come later (perf_event_mmap_event() in kernel/events/core.c): memory without a
 * name, or with a name from prctl(PR_SET_VMA_ANON_NAME), is "//anon", named shared memory is
 * "/dev/zero (deleted)"; newlines in names are themselves; the x86 [vsyscall] page, which belongs
 * to no process, is left out.
 */
struct pev_mapping {
	uint64_t start, end;
	uint64_t pgoff; /* bytes */
	uint32_t maj, min;
	uint64_t ino;     /* 0: no file behind it */
	uint32_t prot;    /* PROT_* */
	uint32_t flags;   /* MAP_SHARED or MAP_PRIVATE, and MAP_HUGETLB */
	const char *name; /* NUL-terminated, borrowed until the next mapping is read */
	size_t name_len;
};

/*
 * Reads the next line of /proc/PID/maps (proc(5)) from @text; @name is where ret->name will point.
 * 1; 0 at the end; -EBADMSG for a line that is none, which is skipped: reading on is fine; -ENODATA
 * for a last line without its newline.
 */
int pev_maps_parse(struct pev_cursor *text, char name[PEV_MAPPING_NAME_MAX],
		   struct pev_mapping *ret);

enum pev_maps_way {
	PEV_MAPS_UNKNOWN, /* the first process decides */
	PEV_MAPS_QUERY,
	PEV_MAPS_TEXT,
};

/*
 * Reads one process after the other. Asks by ioctl PROCMAP_QUERY (Linux 6.11), which on one CPU
 * costs 0.75 us per mapping that is wanted, where the text costs 1.05 us per mapping that is there;
 * falls back to the text for good once the kernel does not know the ioctl.
 */
struct pev_maps {
	int fd;     /* owned: /proc/PID/maps */
	int procfd; /* borrowed: /proc */
	pid_t pid;
	enum pev_maps_way way; /* set it to force one */
	bool exec_only;
	uint64_t next;      /* address where to query on */
	uint64_t page_size; /* bytes of a page that is not huge */
	struct pev_buf text;
	struct pev_cursor cursor; /* over ->text */
	char name[PEV_MAPPING_NAME_MAX];
};

void pev_maps_init(struct pev_maps *m);
void pev_maps_done(struct pev_maps *m);

/*
 * Opens /proc/@pid/maps below @procfd, closing what was open. With @exec_only only executable
 * mappings are given, otherwise readable ones as well. -EACCES or -EPERM without the right to read
 * it, -ENOENT or -ESRCH when the process is gone, -E2BIG for an absurd file, other errors of
 * open(2) and read(2).
 */
int pev_maps_open(struct pev_maps *m, int procfd, pid_t pid, bool exec_only);

/* 1 and the next mapping; 0 at the end; -ESRCH when the process ended meanwhile; -EBADMSG for a
 * line nobody understands (go on after it), or another negative errno. */
int pev_maps_next(struct pev_maps *m, struct pev_mapping *ret);

/*
 * The build-id of the file behind @mapping, from the kernel, which is exact even for deleted files
 * and in containers; before Linux 6.11 from the file itself, by /proc/PID/map_files, or without the
 * right to that (CAP_CHECKPOINT_RESTORE) by its path below /proc/PID/root if that is still the same
 * file. 0 and the build-id, of size 0 when the file has none. -ESRCH when the process or the
 * mapping is gone, or another negative errno when the file could not be read.
 */
int pev_maps_build_id(const struct pev_maps *m, const struct pev_mapping *mapping,
		      struct pev_buildid *ret);
