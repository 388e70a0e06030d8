/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel and its modules as mappings. */
#pragma once

#include "base/err.h"
#include "recorder/emit.h"
#include "recorder/kallsyms.h"

/* Where to look; tests look elsewhere. */
struct pev_kernel_paths {
	const char *notes;       /* "/sys/kernel/notes" */
	const char *modules;     /* "/proc/modules" */
	const char *sys_module;  /* "/sys/module" */
	const char *lib_modules; /* "/lib/modules/RELEASE" */
};

struct pev_kernel_map_stats {
	uint64_t kernels; /* 0 or 1 */
	uint64_t modules;
	uint64_t build_ids; /* of those mappings */
	bool hidden;        /* addresses are withheld from us (kernel.kptr_restrict, no
				   CAP_SYSLOG, or no /proc/kallsyms): nothing told */
};

/*
 * Puts the kernel's own mapping, "[kernel.kallsyms]_text": from _text (or _stext) to _edata (or
 * _etext), pgoff = the address of the symbol it is named for, by which readers relocate a kernel
 * image; then one mapping per module with the path of its .ko file, or "[name]" without one. MMAP2
 * with a build-id where @build_ids is set and there is one, else MMAP. pid is -1, tid 0.
 *
 * @paths may be NULL: the running kernel's. What is not there (no modules, no notes) is left out;
 * -ENOMEM or the sink's error otherwise.
 */
int pev_kernel_map(struct pev_emit *e, const struct pev_kallsyms *kallsyms, bool build_ids,
		   const struct pev_kernel_paths *paths, struct pev_kernel_map_stats *ret,
		   struct pev_err *err);
