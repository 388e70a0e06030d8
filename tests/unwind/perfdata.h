/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The samples of a perf.data file: just enough of a reader for the unwinder's tests. */
#pragma once

#include "space.h"

#include "base/buf.h"
#include "format/record.h"

#include <elf.h>

/* EM_* of this machine, whose files are read. */
#if defined(__x86_64__)
#define PERFDATA_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define PERFDATA_MACHINE EM_AARCH64
#else
#define PERFDATA_MACHINE EM_386
#endif

struct perfdata_sample {
	uint32_t pid;
	const struct pev_attr *attr;
	struct pev_sample sample; /* points into the file's bytes */
};

/* Zero-initialise to start. */
struct perfdata {
	struct pev_buf file;
	struct perfdata_sample *samples; /* those with user registers and a stack */
	size_t nr;
	struct space space; /* of @pid: its mappings from MMAP and MMAP2 */
	uint32_t pid;       /* the process with the most samples */
};

/* Reads the uncompressed file at @path, written on this machine; ends the program if it cannot. */
void perfdata_read(struct perfdata *data, const char *path);
void perfdata_done(struct perfdata *data);
