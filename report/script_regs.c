// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/script_part.h"

#include "base/checked.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* arch/x86/include/uapi/asm/perf_regs.h, in its order */
static const char *x86_name(unsigned int i, char buf[16])
{
	static const char *const names[] = {
		"AX", "BX", "CX", "DX", "SI", "DI", "BP",  "SP",  "IP",  "FLAGS", "CS",  "SS",
		"DS", "ES", "FS", "GS", "R8", "R9", "R10", "R11", "R12", "R13",   "R14", "R15",
	};

	if (i < PEV_ARRAY_SIZE(names))
		return names[i];
	/* Two words each. */
	if (i < 32)
		return "unknown";
	(void)snprintf(buf, 16, "XMM%u", (i - 32) / 2);
	return buf;
}

/* arch/arm64/include/uapi/asm/perf_regs.h */
static const char *arm64_name(unsigned int i, char buf[16])
{
	static const char *const names[] = { "lr", "sp", "pc" };

	if (i >= 30 && i - 30 < PEV_ARRAY_SIZE(names))
		return names[i - 30];
	if (i == 46)
		return "vg";
	(void)snprintf(buf, 16, i < 30 ? "x%u" : "unknown", i);
	return buf;
}

static const char *name_of(const char *arch, unsigned int i, char buf[16])
{
	if (!strcmp(arch, "aarch64") || !strcmp(arch, "arm64"))
		return arm64_name(i, buf);
	if (!strcmp(arch, "x86_64") || !strncmp(arch, "i", 1))
		return x86_name(i, buf);
	(void)snprintf(buf, 16, "r%u", i);
	return buf;
}

void script_print_regs(struct script *s, const struct pev_regs *regs, const char *arch)
{
	uint64_t at = 0;

	if (regs->abi == PEV_REGS_ABI_NONE)
		return;
	pev_out_printf(&s->out, " ABI:%" PRIu64 " ", regs->abi);
	for (unsigned int i = 0; i < 64 && at < regs->values.nr; i++) {
		char buf[16];

		if (regs->mask >> i & 1)
			pev_out_printf(&s->out, "%5s:0x%" PRIx64 " ", name_of(arch, i, buf),
				       pev_u64s_at(&regs->values, at++));
	}
}
