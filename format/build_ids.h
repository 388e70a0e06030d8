/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of build-ids that a trace ends with: every file that was mapped with one, once. */
#pragma once

#include "format/feature.h"
#include "format/record.h"

struct pev_build_ids {
	struct pev_feat_build_id *v; /* names are owned */
	size_t nr, cap;
	uint32_t *slots; /* index + 1 into ->v, by hash of name and id; 0: empty */
	size_t nr_slots;
	uint64_t dropped; /* without memory */
};

/* More than any host maps; bounds what a hostile process can make us keep. */
#define PEV_BUILD_IDS_MAX (1U << 20)

/* Takes the build-id of an executable MMAP2 that has one; other records are ignored. */
void pev_build_ids_see(struct pev_build_ids *t, const struct pev_record *rec);

void pev_build_ids_done(struct pev_build_ids *t);
