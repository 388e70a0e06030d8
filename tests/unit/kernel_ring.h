/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plainest way to have records of the running kernel: an event, its ring, and a walk over it.
 */
#pragma once

#include "format/abi.h"

#include <stdint.h>
#include <sys/types.h>

struct kernel_ring {
	int fd;
	void *base;
	size_t data_bytes;
};

/* Opens a disabled event on @pid and @cpu as perf_event_open(2) means them, with a ring of 2^@order
 * pages. Returns 0 or a negative errno. */
int kernel_ring_open(const struct pev_attr *attr, pid_t pid, int cpu, unsigned int order,
		     struct kernel_ring *ret);
void kernel_ring_enable(const struct kernel_ring *ring);
void kernel_ring_disable(const struct kernel_ring *ring);

/* The event's id, as its records carry it. */
uint64_t kernel_ring_id(const struct kernel_ring *ring);

/* Bytes that wait in the ring. */
uint64_t kernel_ring_waiting(const struct kernel_ring *ring);

/* Calls @each with every record, in memory of its exact size, and empties the ring. */
void kernel_ring_drain(struct kernel_ring *ring,
		       void (*each)(const uint8_t *record, size_t size, void *userdata),
		       void *userdata);
void kernel_ring_close(struct kernel_ring *ring);
