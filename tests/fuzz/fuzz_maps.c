// SPDX-License-Identifier: LGPL-2.1-or-later
/* The reader of /proc/PID/maps. Whatever a line holds, what is told of it makes sense. */
#include "recorder/maps.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void check(bool ok)
{
	if (!ok)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pev_cursor text = pev_cursor(data, size);
	char name[PEV_MAPPING_NAME_MAX];
	struct pev_mapping m;
	int r;

	while ((r = pev_maps_parse(&text, name, &m)) != 0) {
		if (r < 0) {
			check(r == -EBADMSG || r == -ENODATA);
			continue;
		}
		check(m.start < m.end);
		check(m.name == name && strlen(m.name) == m.name_len && m.name_len > 0);
	}
	check(text.p == text.end);
	return 0;
}
