// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unwind/arch.h"

#include "base/checked.h"
#include "format/abi.h"

#include <elf.h>
#include <stddef.h>

#define REG(n)         (1ULL << (n))
#define REGS(from, to) ((REG((to) - (from) + 1) - 1) << (from))

static const uint8_t x86_64_perf_regs[] = { 0,  3,  2,  1,  4,  5,  6,  7, 16,
					    17, 18, 19, 20, 21, 22, 23, 8 };
static const uint8_t i386_perf_regs[] = { 0, 2, 3, 1, 7, 6, 4, 5, 8 };
static const uint8_t arm64_perf_regs[] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
					   11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
					   22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32 };
static_assert(sizeof(arm64_perf_regs) <= PEV_ARCH_MAX_REGS, "columns of arm64");

static const struct pev_arch arches[] = {
	{
		.name = "x86-64",
		.machine = EM_X86_64,
		.word = 8,
		.nr_regs = sizeof(x86_64_perf_regs),
		.sp = 7,
		.fp = 6,
		.ra = 16,
		.pc = 16,
		.cfa_offset = 8,
		.addr_mask = UINT64_MAX,
		.callee_saved = REG(3) | REG(6) | REGS(12, 15),
		.perf_regs = x86_64_perf_regs,
	},
	{
		.name = "i386",
		.machine = EM_386,
		.word = 4,
		.nr_regs = sizeof(i386_perf_regs),
		.sp = 4,
		.fp = 5,
		.ra = 8,
		.pc = 8,
		.cfa_offset = 4,
		.addr_mask = UINT32_MAX,
		.callee_saved = REG(3) | REGS(5, 7),
		.perf_regs = i386_perf_regs,
	},
	{
		.name = "aarch64",
		.machine = EM_AARCH64,
		.word = 8,
		.nr_regs = sizeof(arm64_perf_regs),
		.sp = 31,
		.fp = 29,
		.ra = 30,
		.pc = 32,
		.cfa_offset = 0,
		.addr_mask = UINT64_MAX,
		.callee_saved = REGS(19, 30),
		.perf_regs = arm64_perf_regs,
	},
};

const struct pev_arch *pev_arch_of_elf(unsigned machine)
{
	for (size_t i = 0; i < PEV_ARRAY_SIZE(arches); i++)
		if (arches[i].machine == machine)
			return &arches[i];
	return NULL;
}

const struct pev_arch *pev_arch_of_sample(unsigned machine, uint64_t regs_abi)
{
	switch (regs_abi) {
	case PEV_REGS_ABI_32:
		return machine == EM_386 || machine == EM_X86_64 ? pev_arch_of_elf(EM_386) : NULL;
	case PEV_REGS_ABI_64:
		return machine == EM_386 ? NULL : pev_arch_of_elf(machine);
	default:
		return NULL;
	}
}
