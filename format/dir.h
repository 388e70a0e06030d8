/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A trace that is a folder: DIR/data is a perf.data of its own, and DIR/data.N hold more of its
 * records. */
#pragma once

#include "format/trace.h"

#include <stddef.h>

/*
 * Opens all files of the trace at @path: if it is a folder, its `data`, then every other regular
 * file whose name starts with "data.", by number; else just that file. *ret is a heap-allocated
 * array of *ret_nr traces, the first of which has the head; free each, then the array. Features and
 * events are those of the first; the events of the others are copies of them.
 *
 * perf record --threads makes such folders (DIR_FORMAT, see perf.data-directory-format.txt), whose
 * data.N are records without any head; with --kcore there is a folder with `data` alone.
 */
int pev_dir_open(const char *path, const struct pev_trace_options *options, struct pev_trace ***ret,
		 size_t *ret_nr, struct pev_err *err);
