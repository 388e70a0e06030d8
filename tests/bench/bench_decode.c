// SPDX-License-Identifier: LGPL-2.1-or-later
/* How fast records decode: what a drain loop and a reader do to every one of them. */
#include "base/checked.h"
#include "base/cleanup.h"
#include "format/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define RECORDS 4096
#define ROUNDS  500

static volatile uint64_t times; /* so that the decoding is not optimised away */

static uint64_t now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * PEV_NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static void fill(const struct pev_attr *attr, uint32_t type, struct pev_buf *buf)
{
	static const uint64_t chain[30] = { PEV_CONTEXT_USER, 0x401000 };
	static const uint8_t stack[8192];
	struct pev_record rec = { .hdr.type = type };

	if (type == PEV_REC_SAMPLE) {
		rec.sample.callchain.p = (const uint8_t *)chain;
		rec.sample.callchain.nr = PEV_ARRAY_SIZE(chain);
		rec.sample.stack_user.data.p = stack;
		rec.sample.stack_user.data.size = sizeof(stack);
	} else {
		rec.mmap.filename = "/usr/lib/x86_64-linux-gnu/libc.so.6";
	}
	for (int i = 0; i < RECORDS; i++)
		if (pev_record_encode(attr, &rec, buf) < 0)
			abort();
}

static void bench(const char *name, const struct pev_attr *attr, uint32_t type)
{
	_cleanup_buf_ struct pev_buf buf = { 0 };
	uint64_t start, ns;

	fill(attr, type, &buf);
	start = now_ns();
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t at = 0; at < buf.size;) {
			struct pev_record rec;

			if (pev_record_decode(attr, buf.data + at, buf.size - at, false, &rec,
					      NULL) < 0)
				abort();
			times += rec.id.time;
			at += rec.hdr.size;
		}
	}
	ns = now_ns() - start;
	printf("%-24s %6.1f ns/record  %7.2f GB/s\n", name, (double)ns / RECORDS / ROUNDS,
	       (double)buf.size * ROUNDS / (double)ns);
}

int main(void)
{
	const struct pev_attr frame_pointers = {
		.sample_type = PEV_SAMPLE_IDENTIFIER | PEV_SAMPLE_IP | PEV_SAMPLE_TID |
			       PEV_SAMPLE_TIME | PEV_SAMPLE_CPU | PEV_SAMPLE_PERIOD |
			       PEV_SAMPLE_CALLCHAIN,
		.flags = PEV_ATTR_SAMPLE_ID_ALL,
	};
	struct pev_attr dwarf = frame_pointers;

	dwarf.sample_type |= PEV_SAMPLE_REGS_USER | PEV_SAMPLE_STACK_USER;
	bench("sample, 30 frames", &frame_pointers, PEV_REC_SAMPLE);
	bench("sample, 8 KiB of stack", &dwarf, PEV_REC_SAMPLE);
	bench("mmap2", &frame_pointers, PEV_REC_MMAP2);
	return 0;
}
