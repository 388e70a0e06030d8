// SPDX-License-Identifier: LGPL-2.1-or-later
/* The text of /proc/kallsyms; whatever is found lies within the bytes. */
#include "tests/fuzz/fuzz.h"
#include "unwind/ksyms.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pev_ksyms *k = NULL;
	struct pev_ksym s;
	uint64_t addr;

	if (pev_ksyms_new(data, size, &k, NULL) < 0)
		return 0;
	(void)pev_ksyms_address(k, "_text", &addr);
	for (unsigned shift = 0; shift < 64; shift++)
		for (unsigned negative = 0; negative < 2; negative++) {
			addr = negative ? -(1ULL << shift) : 1ULL << shift;
			if (!pev_ksyms_find(k, addr, &s))
				continue;
			if ((const uint8_t *)s.name < data ||
			    (const uint8_t *)s.name + s.name_size > data + size || addr < s.start)
				abort();
		}
	pev_ksyms_free(k);
	return 0;
}
