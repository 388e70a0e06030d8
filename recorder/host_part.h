/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of recorder/host.c share; others use recorder/host.h. */
#pragma once

#include "format/feature.h"

#include <stdbool.h>

struct pev_host {
	const char *root; /* in front of "/proc" and "/sys" */
	struct pev_features *f;
};

/*
 * Gatherers fill one feature and set its bit. 0; -ENOMEM, which ends the work; any other error says
 * that the machine does not tell, or not all of it: the feature stays out.
 */
int pev_host_cpu_topology(const struct pev_host *h); /* after NRCPUS */
int pev_host_numa_topology(const struct pev_host *h);
int pev_host_caches(const struct pev_host *h);
int pev_host_mem_topology(const struct pev_host *h);
int pev_host_pmus(const struct pev_host *h); /* everything that is about PMUs */

/* The first line of a file, without its newline, heap-allocated; the number it starts with; whether
 * it is there at all. The path is formatted and starts after the root. */
int pev_host_line(const struct pev_host *h, char **ret, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int pev_host_int(const struct pev_host *h, int32_t *ret, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
bool pev_host_exists(const struct pev_host *h, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Takes the next range off a list of sysfs, "0-3,8\n": true, and the first and the last number of
 * it. False at the end, and at what is no list.
 */
bool pev_host_range(const char **list, uint32_t *ret_first, uint32_t *ret_last);

/* One more than the last number of the list in a file: how large an array by CPU must be. */
int pev_host_list_end(const struct pev_host *h, const char *path, uint32_t *ret);
