/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the kernel says of its PMUs in /sys/bus/event_source/devices. */
#pragma once

/*
 * A PMU is a directory there (Documentation/ABI/testing/sysfs-bus-event_source-devices*):
 *
 *   type               attr.type of its events
 *   format/FIELD       "config:0-7,32-35": the bits of attr.config, config1, ... that FIELD fills
 *   events/NAME        "event=0x3c,umask=0x1": the terms that NAME stands for
 *   events/NAME.unit, events/NAME.scale
 *   cpumask or cpus    the CPUs that its events must be opened on
 *
 * A `cpus` file (or the name "cpu") marks the CPU's own counters; a machine with two kinds of CPUs
 * has two of them.
 */

#include "base/err.h"
#include "recorder/near.h"

#include <stdbool.h>
#include <stdint.h>

struct pev_pmu {
	char *dir; /* owned */
	char *name;
	char *cpus; /* NULL: every CPU */
	uint32_t type;
	bool core;        /* the CPU's own counters */
	bool one_of_many; /* so are others: this machine has CPUs of more than one kind */
};

void pev_pmu_done(struct pev_pmu *pmu);
#define _cleanup_pmu_ _cleanup_(pev_pmu_done)

struct pev_pmus {
	struct pev_pmu *pmus; /* owned, in the order of their names */
	size_t nr;
};

void pev_pmus_done(struct pev_pmus *pmus);
#define _cleanup_pmus_ _cleanup_(pev_pmus_done)

/*
 * All PMUs below @root. One whose files make no sense is left out. -ENOENT or -EACCES when @root
 * cannot be read, with a sentence.
 */
int pev_pmus_read(const char *root, struct pev_pmus *ret, struct pev_err *err);

/*
 * Whether @pattern means @name: the name itself, a glob, or the name without its running number or
 * without "uncore_" ("uncore_imc" and "imc" both mean uncore_imc_0).
 */
bool pev_pmu_matches(const char *pattern, const char *name);

/* Which bits a field of an event's description fills. */
struct pev_pmu_field {
	unsigned word; /* 0 for attr.config, up to 4 for attr.config4 */
	uint64_t mask;
};

/* Reads format/@name. -ENOENT when the PMU has no such field, -EBADMSG when it cannot be
 * understood. */
int pev_pmu_field(const struct pev_pmu *pmu, const char *name, struct pev_pmu_field *ret);

/* "config:0-7,32-35", as found in a format file; -EBADMSG for anything else. */
int pev_pmu_field_parse(const char *text, struct pev_pmu_field *ret);

/* Spreads the low bits of @value over the bits of @mask; what does not fit is lost. */
uint64_t pev_pmu_deposit(uint64_t value, uint64_t mask);

/* Whether the PMU has an event @name in its events/. */
bool pev_pmu_has_event(const struct pev_pmu *pmu, const char *name);

/* The terms that the event @name stands for, heap-allocated; -ENOENT when it has none. */
int pev_pmu_alias(const struct pev_pmu *pmu, const char *name, char **ret_terms);

/* The event's unit, heap-allocated, and scale; NULL and 1.0 when the PMU does not say. */
int pev_pmu_alias_unit(const struct pev_pmu *pmu, const char *name, char **ret_unit,
		       double *ret_scale);

/* Let the PMU's events, or its fields, compete. */
void pev_pmu_offer_events(const struct pev_pmu *pmu, struct pev_near *near);
void pev_pmu_offer_fields(const struct pev_pmu *pmu, struct pev_near *near);

/* Puts the names of the PMU's fields behind one another, with ", " between them, in @buf, as far as
 * they fit. Returns @buf. */
char *pev_pmu_field_names(const struct pev_pmu *pmu, char *buf, size_t size);
