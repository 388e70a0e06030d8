// SPDX-License-Identifier: LGPL-2.1-or-later
/* A jit-PID.dump, of either byte order; all that is found is read. */
#include "tests/fuzz/fuzz.h"
#include "unwind/jitdump.h"

#include <stdlib.h>
#include <string.h>

static volatile size_t sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pev_jitdump *j = NULL;

	if (pev_jitdump_new(data, size, &j, NULL) < 0)
		return 0;
	for (uint64_t i = 0; i < 256; i++) {
		const uint64_t addr = i < 128 ? i * 0x111 : 1ULL << i % 64;
		struct pev_jit_code code;
		const char *file;
		uint32_t line;

		if (!pev_jitdump_find(j, addr, i % 3 ? PEV_JITDUMP_LATEST : i * 100, &code))
			continue;
		if (addr - code.start >= code.size)
			abort();
		sink += strlen(code.name);
		for (uint64_t k = 0; k < code.code_size; k++)
			sink += code.code[k];
		for (uint64_t k = 0; k < code.unwinding_size; k++)
			sink += code.unwinding[k];
		if (pev_jitdump_line(j, &code, addr, &file, &line))
			sink += strlen(file);
	}
	pev_jitdump_free(j);
	return 0;
}
