/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /tmp/perf-PID.map: what a runtime says of the code it made (node --perf-basic-prof, python -X
 * perf, java with perf-map-agent). */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pev_perf_map;

/* The name is borrowed from the text and not terminated. */
struct pev_perf_map_symbol {
	const char *name;
	size_t name_size;
	uint64_t start, end; /* [start, end), as the line says */
};

struct pev_perf_map_counters {
	uint64_t lines;
	uint64_t kept;
	uint64_t empty; /* of size 0 */
	uint64_t bad;   /* not "START SIZE NAME" with hexadecimal numbers */
};

/*
 * Parses @size bytes of @text, which is borrowed and must live as long as the map. A runtime
 * appends to its map and never takes a line back: where code was put over older code, the later
 * line wins, byte by byte. Lines that do not parse are counted; the last one may be cut. -E2BIG
 * when @text has 4 GiB, -ENOMEM.
 */
int pev_perf_map_new(const void *text, size_t size, struct pev_perf_map **ret, struct pev_err *err);

/* NULL is fine; returns NULL. */
struct pev_perf_map *pev_perf_map_free(struct pev_perf_map *m);

static inline void pev_perf_map_freep(struct pev_perf_map **m)
{
	*m = pev_perf_map_free(*m);
}

/* The symbol that holds @addr. May be called by several threads. */
bool pev_perf_map_find(const struct pev_perf_map *m, uint64_t addr,
		       struct pev_perf_map_symbol *ret);

const struct pev_perf_map_counters *pev_perf_map_counters(const struct pev_perf_map *m);
