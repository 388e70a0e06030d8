/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A part of traces as a trace of its own, which perf opens. */
#pragma once

#include "base/err.h"
#include "format/reader.h"
#include "report/filter.h"
#include "unwind/resolver.h"

struct pev_slice_counters {
	uint64_t samples;      /* written */
	uint64_t states;       /* records that samples need to make sense, written */
	uint64_t left_samples; /* that the filter does not want */
	uint64_t left_aux;     /* AUX area data, which a slice does not keep */
};

/*
 * Writes the samples of @reader that @filter wants, and every record that tells of processes, files
 * and the kernel up to the end of the times asked for, into the trace @path, which must not exist;
 * with @fd >= 0 into that pipe, in pipe mode. Traces have to be of one machine and one clock: else
 * -EINVAL with a sentence. -ENODATA when there is nothing to read. On failure @path may be there.
 */
int pev_slice_write(struct pev_reader *reader, struct pev_resolver *resolver,
		    const struct pev_filter *filter, const char *path, int fd,
		    struct pev_slice_counters *ret, struct pev_err *err);
