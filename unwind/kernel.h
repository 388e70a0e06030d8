/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the names of a kernel come from. */
#pragma once

#include "unwind/image.h"
#include "unwind/module.h"

/*
 * pev_module_open() for the kind PEV_MODULE_KERNEL: ->ksyms or ->located.main is filled by the
 * first of these that is there:
 *
 * - the vmlinux that the caller named;
 * - the kallsyms that the caller named (or that came with the trace, see @kallsyms);
 * - a vmlinux with the recorded build-id: where distributions put it, or in a debug directory;
 * - /proc/kallsyms, if this machine runs the kernel with the recorded build-id;
 * - what perf put into its cache, ~/.debug, when it recorded;
 * - a vmlinux from debuginfod.
 *
 * -ENOMEM.
 */
int pev_kernel_open(struct pev_module *m);

/*
 * True when @address is the kernel's, though it lies out of what the trace says that is mapped of
 * it: perf tells of [_text, _etext), and the code that starts the kernel lies behind. *ret is
 * untouched on failure: -ENOMEM.
 */
int pev_kernel_holds(struct pev_module *m, uint64_t address, bool *ret);

/* The build-id of the running kernel, of size 0 when it does not tell. */
struct pev_build_id pev_kernel_own_build_id(void);
