// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * bench_unwind PERF.DATA...: unwinds the samples of each file's busiest process, first with nothing
 * compiled yet, then again until a second is over; then libdwfl does it once. Record one with
 *
 *   perf record -F 2000 -e cpu-clock:u --call-graph dwarf,8192 -o PERF.DATA PROGRAM
 */
#include "tests/unwind/dwfl.h"
#include "tests/unwind/perfdata.h"

#include "base/checked.h"

#include <stdio.h>
#include <time.h>

#define MAX_FRAMES 1024

static uint64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * PEV_NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

/* Unwinds every sample with ours, or with @oracle; the number of frames. */
static size_t unwind_all(struct perfdata *d, const struct pev_arch *arch,
			 struct dwfl_oracle *oracle)
{
	uint64_t ips[MAX_FRAMES];
	enum pev_unwind_end end;
	size_t frames = 0;

	for (size_t i = 0; i < d->nr; i++) {
		const struct pev_sample *const s = &d->samples[i].sample;
		const struct pev_unwind_input in = {
			.arch = arch,
			.regs = &s->regs_user,
			.stack = { .p = s->stack_user.data.p, .size = s->stack_user.dyn_size },
			.find_map = space_find_map,
			.arg = &d->space,
		};

		if (d->samples[i].pid != d->pid)
			continue;
		frames += oracle ? dwfl_oracle_unwind(oracle, &in, ips, MAX_FRAMES)
				 : pev_unwind(&in, ips, MAX_FRAMES, &end);
	}
	return frames;
}

static void tell_compiled(const struct space *space)
{
	struct pev_cfi_stats sum = { 0 };

	for (const struct space_module *m = space->modules; m; m = m->next) {
		struct pev_cfi_stats s = { 0 };

		if (m->cfi)
			pev_cfi_stats(m->cfi, &s);
		sum.functions += s.functions;
		sum.rows += s.rows;
		sum.bytes += s.bytes;
	}
	printf("  compiled: %lu functions, %lu rows, %lu kB\n", (unsigned long)sum.functions,
	       (unsigned long)sum.rows, (unsigned long)sum.bytes / 1000);
}

static void bench(const char *path)
{
	const struct pev_arch *const arch = pev_arch_of_sample(PERFDATA_MACHINE, PEV_REGS_ABI_64);
	struct perfdata d = { 0 };
	struct dwfl_oracle *oracle;
	uint64_t start, cold, warm, libdwfl;
	size_t frames, warm_frames = 0, libdwfl_frames;

	perfdata_read(&d, path);
	start = now_ns();
	frames = unwind_all(&d, arch, NULL);
	cold = now_ns() - start;
	start = now_ns();
	do {
		warm_frames += unwind_all(&d, arch, NULL);
		warm = now_ns() - start;
	} while (warm < PEV_NSEC_PER_SEC);
	oracle = dwfl_oracle_new(arch, &d.space);
	start = now_ns();
	libdwfl_frames = unwind_all(&d, arch, oracle);
	libdwfl = now_ns() - start;
	printf("%s: %zu samples, %zu frames\n"
	       "  ns per frame: %.1f first, %.1f again; libdwfl %.1f\n",
	       path, d.nr, frames, (double)cold / (double)frames,
	       (double)warm / (double)warm_frames, (double)libdwfl / (double)libdwfl_frames);
	tell_compiled(&d.space);
	dwfl_oracle_free(oracle);
	perfdata_done(&d);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: %s PERF.DATA...\n", argv[0]);
		return 2;
	}
	for (int i = 1; i < argc; i++)
		bench(argv[i]);
	return 0;
}
