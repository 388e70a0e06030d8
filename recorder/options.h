/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a recording is asked to do: filled by the command line or the daemon, read by the recorder.
 */
#pragma once

#include "recorder/cpus.h"
#include "recorder/event.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define PEV_DEFAULT_FREQ        4000
#define PEV_DEFAULT_STACK_BYTES 8192
#define PEV_DEFAULT_RING_BYTES  (512 * 1024)
#define PEV_DEFAULT_LEVEL       1

struct pev_pids {
	pid_t *pids;
	size_t nr;
};

/* Strings and arrays are borrowed from the caller unless said otherwise. */
struct pev_record_opts {
	struct pev_evlist events; /* owned; empty: the default event */

	/* Target: all CPUs, processes, threads, cgroups of them, or a command; at least one. */
	bool all_cpus;
	const char *cpu_list; /* -C, NULL: all that are online */
	struct pev_pids pids; /* with all their threads */
	struct pev_pids tids;
	const char
		*cgroups;  /* -G: comma-separated, one for each event or one for all; NULL: none */
	char *const *argv; /* COMMAND, NULL-terminated; NULL: none */

	/* Sampling */
	uint64_t freq;   /* Hz; 0: not given */
	bool freq_max;   /* -F max */
	uint64_t period; /* events; 0: not given */
	enum pev_callgraph callgraph;
	uint32_t stack_bytes; /* of a DWARF stack dump */
	bool inherit;
	bool no_build_ids;         /* inodes in MMAP2 records, see doc/FORMAT.md */
	bool all_user, all_kernel; /* overrule the modifiers of all events */
	bool user_callchains, kernel_callchains;
	bool exclude_self; /* no tracepoints of the recorder's own doing */
	bool sample_data, sample_phys_addr, all_cgroups, namespaces, switch_events, inherit_stat;
	bool sample_period, sample_raw, data_page_size, code_page_size;
	bool has_clockid;
	int32_t clockid;
	int delay_ms; /* -1: never enable by ourselves; 0: at once */

	/* Rings and file */
	size_t ring_bytes;  /* of data per CPU, a power of two */
	int level;          /* of zstd */
	const char *output; /* "-": standard output, as a stream */
	char **cmdline;     /* our own command line, for the header; owned, NULL-terminated */

	bool verbose;
	bool quiet;
};

/* True when the command itself is what is recorded, not something else while it runs. */
static inline bool pev_records_command(const struct pev_record_opts *opts)
{
	return opts->argv && !opts->all_cpus && !opts->cpu_list && !opts->cgroups &&
	       !opts->pids.nr && !opts->tids.nr;
}
