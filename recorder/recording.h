/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One recording, from opening the events to the sealed file. */
#pragma once

#include "recorder/drain.h"
#include "recorder/options.h"
#include "recorder/snapshot.h"

struct pev_recording;

/* Why pev_recording_run() came back. */
enum pev_recording_end {
	PEV_END_STOPPED, /* the stop fd became readable */
	PEV_END_COMMAND, /* the command ended */
	PEV_END_TARGETS, /* all recorded threads have ended */
};

/* How it goes, for a status line or a status request. */
struct pev_recording_status {
	uint64_t elapsed_ns; /* since the events were enabled */
	struct pev_drain_stats drain;
	struct pev_writer_stats writer;
};

/* What there is to say when it is over. Arrays are the recording's own. */
struct pev_recording_result {
	struct pev_recording_status status;
	const struct pev_loss *ring_loss; /* per ring */
	const struct pev_counters *counters;
	const struct pev_evlist *events;
	const uint64_t *event_lost; /* per event: records the kernel could not write, by its own
				       count where it has one */
	uint64_t lost;              /* of all of these together */
	struct pev_downgrades downgrades;
	struct pev_snapshot_stats snapshot;
	int exit_code; /* of the command, once it has ended; else 0 */
};

struct pev_recording_hooks {
	/* About once a second while it runs. May be NULL. */
	void (*tick)(void *userdata, const struct pev_recording_status *status);
	void *userdata;
};

/*
 * Opens the events of @opts, creates the file, and writes all that there was before: processes,
 * kernel, BPF programs, cgroups. No sample yet. @opts must outlive the recording. The events move
 * out of @opts.
 */
int pev_recording_new(struct pev_record_opts *opts, struct pev_recording **ret,
		      struct pev_err *err);
struct pev_recording *pev_recording_free(struct pev_recording *rec);

/*
 * Enables the events, lets the command run, and drains until the command or the targets end, or
 * until @stop_fd is readable. Nothing is lost of what the rings hold then.
 */
int pev_recording_run(struct pev_recording *rec, int stop_fd,
		      const struct pev_recording_hooks *hooks, enum pev_recording_end *ret_end,
		      struct pev_err *err);

/* Disables the events, drains the rest, accounts for loss, and seals the file. */
int pev_recording_finish(struct pev_recording *rec, struct pev_err *err);

struct pev_recording_result pev_recording_result(const struct pev_recording *rec);
