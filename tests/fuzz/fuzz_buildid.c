// SPDX-License-Identifier: LGPL-2.1-or-later
/* The readers of build-ids: of a whole ELF image, and of notes alone in each shape. */
#include "recorder/buildid.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

static void check(int r, const struct pev_buildid *id)
{
	if (r > 0 || (r == 0 && (id->size == 0 || id->size > PEV_BUILD_ID_MAX)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pev_buildid id = { .size = 0 };

	check(pev_buildid_from_image(data, size, &id), &id);
	for (unsigned int shape = 0; shape < 4; shape++)
		check(pev_buildid_from_notes(data, size, shape & 1 ? 8 : 4, shape & 2, &id), &id);
	return 0;
}
