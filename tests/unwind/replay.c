// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * unwind_replay PROGRAM DUMP: unwinds what fixture_arm64.c, run as PROGRAM, wrote to DUMP. Exit
 * code 0 when every chain is the one that libgcc's unwinder found in the program itself.
 */
#include "space.h"

#include "base/buf.h"
#include "base/checked.h"
#include "base/cursor.h"
#include "base/io.h"

#include <elf.h>
#include <err.h>
#include <inttypes.h>
#include <stdio.h>

#define MAX_DUMP   (16 << 20)
#define MAX_FRAMES 64
#define NR_REGS    33
#define CODE_END   0x10000000 /* the program is linked at 4 MB and is smaller than this */

struct place {
	const uint8_t *regs;
	uint64_t nr;
	struct pev_cursor addresses; /* of libgcc's chain */
	struct pev_bytes stack;
};

static struct place read_place(struct pev_cursor *c)
{
	struct place p = { .regs = pev_cursor_bytes(c, NR_REGS * sizeof(uint64_t)),
			   .nr = pev_cursor_u64(c) };

	p.addresses = *c;
	(void)pev_cursor_bytes(c, p.nr * sizeof(uint64_t));
	p.stack.size = pev_cursor_u64(c);
	p.stack.p = pev_cursor_bytes(c, p.stack.size);
	if (c->failed)
		errx(1, "the dump ends early");
	return p;
}

static bool is_right(struct space *space, struct place *p)
{
	const struct pev_regs regs = { .abi = PEV_REGS_ABI_64,
				       .mask = (1ULL << NR_REGS) - 1,
				       .values = { .p = p->regs, .nr = NR_REGS } };
	const struct pev_unwind_input in = {
		.arch = pev_arch_of_sample(EM_AARCH64, PEV_REGS_ABI_64),
		.regs = &regs,
		.stack = p->stack,
		.find_map = space_find_map,
		.arg = space,
	};
	uint64_t ips[MAX_FRAMES];
	enum pev_unwind_end end;
	const size_t n = pev_unwind(&in, ips, MAX_FRAMES, &end);
	bool right = n == p->nr + 1 && end == PEV_UNWIND_OUTERMOST;

	for (size_t i = 1; i < n && right; i++)
		right = ips[i] + 1 == pev_cursor_u64(&p->addresses);
	if (right)
		return true;
	fprintf(stderr, "wrong; ends: %s; must have %" PRIu64 " frames:\n", pev_unwind_end_str(end),
		p->nr + 1);
	for (size_t i = 0; i < n; i++)
		fprintf(stderr, "  %" PRIx64 " %s\n", ips[i], space_symbol(space, ips[i]));
	return false;
}

int main(int argc, char **argv)
{
	struct pev_buf dump = { 0 };
	struct space space = { 0 };
	size_t places = 0, wrong = 0;
	struct pev_cursor c;

	if (argc != 3) {
		fprintf(stderr, "usage: %s PROGRAM DUMP\n", argv[0]);
		return 2;
	}
	if (pev_read_path(argv[2], MAX_DUMP, &dump) < 0)
		errx(1, "cannot read %s", argv[2]);
	space_add(&space, &(struct space_map){ .end = CODE_END, .is_code = true }, 0, argv[1], 0);
	space.maps[0].bias = 0;
	for (c = pev_cursor(dump.data, dump.size); pev_cursor_left(&c); places++) {
		struct place p = read_place(&c);

		wrong += !is_right(&space, &p);
	}
	printf("%s: %zu places, %zu chains wrong\n", argv[1], places, wrong);
	pev_buf_done(&dump);
	space_done(&space);
	return !places || wrong;
}
