// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * unwind_compare PERF.DATA...: unwinds the samples of each file's busiest process, and has libdwfl
 * do the same; prints how many frames are equal, how chains end, and the first few that differ.
 * UNWIND_SHOW says how many of those. Exit code 1 when fewer than 99.5 % of libdwfl's frames are
 * ours.
 */
#include "dwfl.h"
#include "perfdata.h"

#include "base/checked.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_FRAMES 1024
#define MIN_SHARE  0.995

struct counts {
	size_t samples, chains_equal, frames_ours, frames_libdwfl, frames_equal;
	size_t ends[PEV_UNWIND_NR_ENDS];
	size_t to_show;
};

static void show_chain(const struct perfdata *d, const char *who, const uint64_t *ips, size_t n)
{
	printf("  %s, %zu frames\n", who, n);
	for (size_t i = 0; i < n; i++)
		printf("    %16" PRIx64 " %s\n", ips[i], space_symbol(&d->space, ips[i]));
}

static void compare(const struct perfdata *d, struct dwfl_oracle *oracle,
		    const struct pev_unwind_input *in, struct counts *c)
{
	uint64_t ours[MAX_FRAMES], theirs[MAX_FRAMES];
	enum pev_unwind_end end;
	const size_t n = pev_unwind(in, ours, MAX_FRAMES, &end);
	const size_t m = dwfl_oracle_unwind(oracle, in, theirs, MAX_FRAMES);
	size_t same = 0;

	while (same < n && same < m && ours[same] == theirs[same])
		same++;
	c->samples++;
	c->ends[end]++;
	c->frames_ours += n;
	c->frames_libdwfl += m;
	c->frames_equal += same;
	if (same == n && same == m) {
		c->chains_equal++;
	} else if (c->to_show) {
		c->to_show--;
		printf("differs after %zu frames; ours ends: %s\n", same, pev_unwind_end_str(end));
		show_chain(d, "ours", ours, n);
		show_chain(d, "libdwfl", theirs, m);
	}
}

static bool compare_file(const char *path)
{
	const char *const show = getenv("UNWIND_SHOW");
	const struct pev_arch *const arch = pev_arch_of_sample(PERFDATA_MACHINE, PEV_REGS_ABI_64);
	struct counts c = { .to_show = show ? strtoul(show, NULL, 10) : 0 };
	struct perfdata d = { 0 };
	struct dwfl_oracle *oracle;
	double share;

	perfdata_read(&d, path);
	oracle = dwfl_oracle_new(arch, &d.space);
	for (size_t i = 0; i < d.nr; i++) {
		const struct pev_sample *const s = &d.samples[i].sample;
		const struct pev_unwind_input in = {
			.arch = arch,
			.regs = &s->regs_user,
			.stack = { .p = s->stack_user.data.p, .size = s->stack_user.dyn_size },
			.find_map = space_find_map,
			.arg = &d.space,
		};

		if (d.samples[i].pid == d.pid && s->regs_user.abi == PEV_REGS_ABI_64)
			compare(&d, oracle, &in, &c);
	}
	if (!c.frames_libdwfl)
		errx(1, "%s: no samples with user registers and stack", path);
	share = (double)c.frames_equal / (double)c.frames_libdwfl;
	printf("%s: %zu samples, %zu chains equal; frames: %zu of libdwfl's %zu (%.3f %%), ours "
	       "%zu\n",
	       path, c.samples, c.chains_equal, c.frames_equal, c.frames_libdwfl, 100 * share,
	       c.frames_ours);
	for (unsigned i = 0; i < PEV_UNWIND_NR_ENDS; i++)
		if (c.ends[i])
			printf("  %6zu chains end: %s\n", c.ends[i], pev_unwind_end_str(i));
	dwfl_oracle_free(oracle);
	perfdata_done(&d);
	return share >= MIN_SHARE;
}

int main(int argc, char **argv)
{
	bool good = true;

	if (argc < 2) {
		fprintf(stderr, "usage: %s PERF.DATA...\n", argv[0]);
		return 2;
	}
	for (int i = 1; i < argc; i++)
		good &= compare_file(argv[i]);
	return good ? 0 : 1;
}
