// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "kernel_ring.h"

#include "base/cleanup.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

int kernel_ring_open(const struct pev_attr *attr, pid_t pid, int cpu, unsigned int order,
		     struct kernel_ring *ret)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), data_bytes = page << order;
	struct pev_attr a = *attr;
	void *base;
	int fd;

	a.size = PEV_ATTR_SIZE_VER7;
	a.flags |= PEV_ATTR_DISABLED;
	fd = (int)syscall(SYS_perf_event_open, &a, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	base = mmap(NULL, page + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED) {
		const int r = -errno;

		(void)close(fd);
		return r;
	}
	*ret = (struct kernel_ring){ .fd = fd, .base = base, .data_bytes = data_bytes };
	return 0;
}

void kernel_ring_close(struct kernel_ring *ring)
{
	(void)munmap(ring->base, (size_t)sysconf(_SC_PAGESIZE) + ring->data_bytes);
	(void)close(ring->fd);
}

void kernel_ring_enable(const struct kernel_ring *ring)
{
	assert_int_equal(ioctl(ring->fd, PERF_EVENT_IOC_ENABLE, 0), 0);
}

void kernel_ring_disable(const struct kernel_ring *ring)
{
	assert_int_equal(ioctl(ring->fd, PERF_EVENT_IOC_DISABLE, 0), 0);
}

uint64_t kernel_ring_id(const struct kernel_ring *ring)
{
	uint64_t id;

	assert_int_equal(ioctl(ring->fd, PERF_EVENT_IOC_ID, &id), 0);
	return id;
}

uint64_t kernel_ring_waiting(const struct kernel_ring *ring)
{
	const struct perf_event_mmap_page *const page = ring->base;

	return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) - page->data_tail;
}

/* @size bytes at position @at of the ring, which may wrap around its end. */
static void copy_out(const struct kernel_ring *ring, uint64_t at, void *to, size_t size)
{
	const uint8_t *const data = (const uint8_t *)ring->base + sysconf(_SC_PAGESIZE);
	const size_t offset = at & (ring->data_bytes - 1);
	const size_t first = PEV_MIN(size, ring->data_bytes - offset);

	memcpy(to, data + offset, first);
	memcpy((uint8_t *)to + first, data, size - first);
}

void kernel_ring_drain(struct kernel_ring *ring,
		       void (*each)(const uint8_t *record, size_t size, void *userdata),
		       void *userdata)
{
	struct perf_event_mmap_page *const page = ring->base;
	const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail;

	while (tail < head) {
		_cleanup_free_ uint8_t *record = NULL;
		struct pev_rec_hdr hdr;

		copy_out(ring, tail, &hdr, sizeof(hdr));
		assert_true(hdr.size >= sizeof(hdr) && hdr.size <= head - tail);
		record = malloc(hdr.size);
		assert_non_null(record);
		copy_out(ring, tail, record, hdr.size);
		each(record, hdr.size, userdata);
		tail += hdr.size;
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}
