// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recorder/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int pev_ring_open(struct pev_ring *ring, int fd, int cpu, size_t pages, uint8_t *scratch)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t bytes = (pages + 1) * page;
	void *const map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	*ring = (struct pev_ring){
		.fd = fd,
		.cpu = cpu,
		.map = map,
		.map_bytes = bytes,
		.data = (uint8_t *)map + page,
		.size = pages * page,
		.scratch = scratch,
	};
	return 0;
}

void pev_ring_close(struct pev_ring *ring)
{
	if (ring->map)
		(void)munmap(ring->map, ring->map_bytes);
	*ring = (struct pev_ring){ .fd = -1, .cpu = -1 };
}

uint64_t pev_ring_begin(struct pev_ring *ring)
{
	const struct perf_event_mmap_page *const page = ring->map;

	ring->head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	return ring->head - ring->pos;
}

const uint8_t *pev_ring_next(struct pev_ring *ring, struct pev_rec_hdr *ret_hdr)
{
	const uint64_t left = ring->head - ring->pos;
	const uint64_t offset = ring->pos & (ring->size - 1);
	const uint8_t *record = ring->data + offset;

	if (!left)
		return NULL;
	memcpy(ret_hdr, record, sizeof(*ret_hdr));
	if (left < sizeof(*ret_hdr) || left > ring->size || ret_hdr->size < sizeof(*ret_hdr) ||
	    ret_hdr->size > left || ret_hdr->size % 8) {
		/* Seen when a sample outgrows header.size: REGS_INTR behind a stack dump of almost
		 * 64 KiB (Linux 6.18). */
		ring->stats.corrupt++;
		ring->pos = ring->head;
		return NULL;
	}
	if (ret_hdr->size > ring->size - offset) {
		const size_t first = (size_t)(ring->size - offset);

		memcpy(ring->scratch, record, first);
		memcpy(ring->scratch + first, ring->data, ret_hdr->size - first);
		record = ring->scratch;
	}
	ring->last = ring->pos;
	ring->pos += ret_hdr->size;
	ring->stats.records++;
	ring->stats.bytes += ret_hdr->size;
	return record;
}

static void release(struct pev_ring *ring, uint64_t tail)
{
	struct perf_event_mmap_page *const page = ring->map;

	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

void pev_ring_release(struct pev_ring *ring)
{
	release(ring, ring->pos);
}

void pev_ring_release_before_last(struct pev_ring *ring)
{
	release(ring, ring->last);
}
