/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trees as sysfs and tracefs show them, of machines that are not at hand. */
#pragma once

#include "recorder/event.h"

enum fake_kind {
	FAKE_INTEL,  /* one PMU "cpu", two memory controllers, kprobes */
	FAKE_HYBRID, /* two kinds of CPUs: cpu_core and cpu_atom */
	FAKE_BARE,   /* a virtual machine: no counters at all */
};

struct fake_machine {
	char dir[32]; /* below /tmp */
	char pmus[64];
	char tracefs[64];
	struct pev_event_sources sources; /* points to ->pmus and ->tracefs */
};

/* Makes the tree; a failure ends the test program. */
void fake_machine_init(struct fake_machine *m, enum fake_kind kind);

void fake_machine_done(struct fake_machine *m);

/* Writes @text to the file @path below the tree, whose directories are made. */
void fake_machine_put(const struct fake_machine *m, const char *path, const char *text);
