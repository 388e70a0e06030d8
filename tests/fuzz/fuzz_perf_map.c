// SPDX-License-Identifier: LGPL-2.1-or-later
/* The text of a /tmp/perf-PID.map; whatever is found lies within the bytes and holds the address.
 */
#include "tests/fuzz/fuzz.h"
#include "unwind/perf_map.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pev_perf_map *m = NULL;
	struct pev_perf_map_symbol s;

	if (pev_perf_map_new(data, size, &m, NULL) < 0)
		return 0;
	for (uint64_t i = 0; i < 256; i++) {
		const uint64_t addr = i < 128 ? i * 17 : 1ULL << i % 64;

		if (!pev_perf_map_find(m, addr, &s))
			continue;
		if ((const uint8_t *)s.name < data ||
		    (const uint8_t *)s.name + s.name_size > data + size || addr < s.start ||
		    addr >= s.end)
			abort();
	}
	pev_perf_map_free(m);
	return 0;
}
