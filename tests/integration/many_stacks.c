// SPDX-License-Identifier: LGPL-2.1-or-later
/* Writes a flame graph of as many distinct stacks as the argument says, to standard output: what a
 * busy machine gives in a day, without waiting for it. */
#include "base/cleanup.h"
#include "report/flamegraph.h"

#include <errno.h>
#include <stdlib.h>

#define FUNCTIONS 4000
#define DEPTH     40
#define SLICES    1000

static uint32_t seed = 1;

static uint32_t roll(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static struct pev_frame frames[FUNCTIONS];
static struct pev_profile_code codes[FUNCTIONS];
static char names[FUNCTIONS][40];

static void make_codes(void)
{
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "function_%u(int, char)", i);
		frames[i] = (struct pev_frame){ .name = names[i],
						.dso = i % 7 ? "/usr/bin/program" : "[kernel]",
						.kernel = i % 7 == 0 };
		codes[i] = (struct pev_profile_code){ .frames = &frames[i], .nr_frames = 1 };
	}
}

int main(int argc, char **argv)
{
	const uint32_t nr = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 100000;
	struct pev_profile_event event = { .name = "cpu-clock", .samples = nr, .period = nr };
	_cleanup_free_ struct pev_profile_node *nodes = calloc(nr * 8UL + DEPTH, sizeof(*nodes));
	_cleanup_free_ struct pev_profile_stack *stacks = calloc(nr, sizeof(*stacks));
	_cleanup_free_ struct pev_profile_key *keys = calloc(SLICES, sizeof(*keys));
	_cleanup_free_ struct pev_profile_cell *cells = calloc(nr, sizeof(*cells));
	struct pev_profile_data d = { .events = &event, .nr_events = 1, .codes = codes };
	const struct pev_flamegraph_options how = { .title = "Many stacks",
						    .clock = { .has_wall = true } };
	struct pev_err err = PEV_ERR_INIT;

	if (!nodes || !stacks || !keys || !cells)
		return EXIT_FAILURE;
	make_codes();
	d.nr_nodes = 1;
	for (uint32_t i = 0; i < nr; i++) {
		/* Half the time far from the root, as stacks of one program have a trunk. */
		uint32_t at = i ? stacks[roll(i)].leaf : 0, depth = i ? 0 : DEPTH;

		for (uint32_t n = at; n && depth < DEPTH; n = nodes[n].parent)
			depth++;
		for (uint32_t up = roll(depth + 1); at && up; up--)
			at = nodes[at].parent;
		for (uint32_t grow = 1 + roll(7); grow; grow--) {
			nodes[d.nr_nodes] = (struct pev_profile_node){ at, roll(FUNCTIONS) };
			at = d.nr_nodes++;
		}
		for (uint32_t n = at; n; n = nodes[n].parent)
			stacks[i].depth++;
		stacks[i].leaf = at;
		stacks[i].self = nodes[at].code;
		cells[i] = (struct pev_profile_cell){ i, roll(SLICES), 1, 1 };
	}
	for (uint32_t i = 0; i < SLICES; i++)
		keys[i] = (struct pev_profile_key){ .comm = "program", .slice = i };
	d.nodes = nodes;
	d.stacks = stacks;
	d.keys = keys;
	d.cells = cells;
	d.nr_codes = FUNCTIONS;
	d.nr_stacks = d.nr_cells = nr;
	d.nr_keys = SLICES;
	d.first_slice_ns = d.first_ns = 1;
	d.slice_ns = 1000000;
	d.last_ns = SLICES * d.slice_ns;
	if (pev_flamegraph_write(&d, NULL, &how, stdout, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.msg);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
