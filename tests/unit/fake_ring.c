// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fake_ring.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096

void fake_ring_init(struct fake_ring *f, size_t data_bytes)
{
	f->map = calloc(1, PAGE + data_bytes);
	if (!f->map)
		abort();
	f->ring = (struct pev_ring){
		.fd = -1,
		.map = f->map,
		.map_bytes = PAGE + data_bytes,
		.data = (uint8_t *)f->map + PAGE,
		.size = data_bytes,
		.scratch = f->scratch,
	};
}

void fake_ring_done(struct fake_ring *f)
{
	free(f->map);
}

void fake_ring_write(struct fake_ring *f, const void *record, size_t size)
{
	struct perf_event_mmap_page *const page = f->map;
	const uint8_t *const p = record;

	for (size_t i = 0; i < size; i++)
		f->ring.data[(page->data_head + i) & (f->ring.size - 1)] = p[i];
	page->data_head += size;
}

uint64_t fake_ring_tail(const struct fake_ring *f)
{
	return ((const struct perf_event_mmap_page *)f->map)->data_tail;
}
