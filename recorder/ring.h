/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One mmapped perf ring: records out, in place. */
#pragma once

#include "base/err.h"
#include "format/abi.h"

#include <stddef.h>
#include <stdint.h>

struct pev_ring_stats {
	uint64_t records;
	uint64_t bytes;
	uint64_t corrupt; /* times that the ring held no whole record where one had to be; its
			     content was dropped */
};

/*
 * The contract (perf_event_open(2), MMAP layout; include/uapi/linux/perf_event.h, struct
 * perf_event_mmap_page): the kernel writes records and then data_head; the reader loads data_head
 * with acquire semantics, reads what lies below it, and stores data_tail with release semantics,
 * after which the kernel may overwrite it. Records start at multiples of 8, so a header never wraps
 * round the end; a record may.
 */
struct pev_ring {
	int fd;    /* of the event that owns the mapping; not closed here */
	int cpu;   /* whose records these are; -1: of a task, on any CPU */
	void *map; /* the metadata page, then the data; NULL: not mapped */
	size_t map_bytes;
	uint8_t *data;
	uint64_t size;    /* bytes of data, a power of two */
	uint64_t head;    /* read from the kernel at pev_ring_begin() */
	uint64_t last;    /* the record that pev_ring_next() returned last */
	uint64_t pos;     /* next record */
	uint8_t *scratch; /* PEV_REC_MAX_SIZE bytes for a record that wraps; borrowed, may be shared
			     between rings of a thread */
	struct pev_ring_stats stats;
};

/* Maps the ring of event @fd with @pages data pages (a power of two). Negative errno of mmap(2). */
int pev_ring_open(struct pev_ring *ring, int fd, int cpu, size_t pages, uint8_t *scratch);
void pev_ring_close(struct pev_ring *ring);

/* Takes a look at what the kernel has written. Returns the bytes that wait. */
uint64_t pev_ring_begin(struct pev_ring *ring);

/*
 * The next whole record below the head seen by pev_ring_begin(), header copied to *ret_hdr; NULL
 * when there is none. Valid until pev_ring_release() or the next call. A header that makes no sense
 * drops all that waits and is counted as corrupt.
 */
const uint8_t *pev_ring_next(struct pev_ring *ring, struct pev_rec_hdr *ret_hdr);

/* Gives what was read so far back to the kernel. */
void pev_ring_release(struct pev_ring *ring);

/* The same, but keeps the record that pev_ring_next() returned last. */
void pev_ring_release_before_last(struct pev_ring *ring);
