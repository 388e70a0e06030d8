/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A perf ring whose kernel is the test. */
#pragma once

#include "recorder/ring.h"

#define FAKE_RING_BYTES 4096

struct fake_ring {
	struct pev_ring ring;
	void *map;
	uint8_t scratch[PEV_REC_MAX_SIZE + 1];
};

void fake_ring_init(struct fake_ring *f, size_t data_bytes);
void fake_ring_done(struct fake_ring *f);

/* Writes a record as the kernel does: it may wrap. */
void fake_ring_write(struct fake_ring *f, const void *record, size_t size);

/* What the reader gave back so far. */
uint64_t fake_ring_tail(const struct fake_ring *f);
