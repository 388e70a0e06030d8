/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One address space at one moment: which module is mapped where. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pev_module;

struct pev_mapping {
	uint64_t start, end; /* [start, end), never empty */
	uint64_t pgoff;      /* of ->start in the file */
	struct pev_module *module;
};

struct pev_space_chunk;

/*
 * Zero-initialise to start, pev_space_done() to end. Mappings do not overlap and are kept by
 * address, in chunks that spaces share until one of them changes: a fork copies a pointer for
 * every hundred mappings. What was not told to be mapped away stays, since the kernel records no
 * munmap(2). One thread at a time, also for finding.
 */
struct pev_space {
	struct pev_space_chunk **chunks; /* none is empty */
	size_t nr_chunks, cap;
	const struct pev_mapping *last; /* found last; NULL after each change */
};

void pev_space_done(struct pev_space *s);

/* The mapping that holds @addr, NULL when nothing is there; good until the space changes. */
const struct pev_mapping *pev_space_find(struct pev_space *s, uint64_t addr);

/*
 * Maps @m, which takes the place of whatever was there: of older mappings remains what lies before
 * and behind it. -EINVAL when it is empty or wraps around, -ENOMEM; the space is then as it was.
 */
int pev_space_map(struct pev_space *s, const struct pev_mapping *m);

/* Cuts [start, end) out. Errors as above. */
int pev_space_unmap(struct pev_space *s, uint64_t start, uint64_t end);

/* Makes @to what @from is, as fork(2) does. -ENOMEM; then @to is as it was. */
int pev_space_copy(struct pev_space *to, const struct pev_space *from);

size_t pev_space_count(const struct pev_space *s);

/* Mapping number @i by address, which must be below the count. */
const struct pev_mapping *pev_space_at(const struct pev_space *s, size_t i);
