/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a trace says about its machine, its events and itself, from the opening of the file to its
 * seal. */
#pragma once

#include "format/build_ids.h"
#include "format/writer.h"
#include "recorder/bpf_prog.h"
#include "recorder/drain.h"
#include "recorder/options.h"

struct pev_header;

/*
 * Gathers the facts of the host, once, and those of the recording: @events are those of @list with
 * their ids. Copies what it keeps, but for @opts->cmdline.
 */
int pev_header_new(const struct pev_evlist *list, const struct pev_trace_event *events,
		   const struct pev_record_opts *opts, struct pev_header **ret,
		   struct pev_err *err);
struct pev_header *pev_header_free(struct pev_header *h);

/* Takes what is known of the BPF programs, which the seal then writes; empty sections are left out.
 */
int pev_header_set_bpf(struct pev_header *h, const struct pev_bpf_features *bpf,
		       struct pev_err *err);

/* Creates the trace, as pev_writer_open() does, with all features that are known at the start. */
int pev_header_write_open(const struct pev_header *h, const char *path, int fd,
			  struct pev_writer **ret, struct pev_err *err);

/* Seals the trace with those that are known at the end as well. */
int pev_header_write_seal(struct pev_header *h, struct pev_writer *w,
			  const struct pev_drain_stats *stats,
			  const struct pev_build_ids *build_ids, struct pev_err *err);
