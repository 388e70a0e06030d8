/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the unwinder knows of a processor: its DWARF columns and perf's numbers for them. */
#pragma once

#include <stdint.h>

/*
 * DWARF columns that are kept while unwinding: the integer registers and the program counter.
 * Vector registers never take part in finding a caller.
 */
#define PEV_ARCH_MAX_REGS 33

/*
 * Sources: the psABI supplements (x86-64 section 3.6.2, i386 section 2.5.1, AADWARF64 section 4.1)
 * and arch/{x86,arm64}/include/uapi/asm/perf_regs.h.
 */
struct pev_arch {
	const char *name;
	uint16_t machine;       /* EM_* of the ELF files whose CFI uses these columns */
	uint8_t word;           /* bytes of a saved register and of an address */
	uint8_t nr_regs;        /* columns 0 .. nr_regs - 1 are kept */
	uint8_t sp, fp, ra, pc; /* columns; ra == pc where a call pushes the return address */
	uint8_t cfa_offset;     /* at the first instruction of a function CFA == sp + this */
	uint64_t addr_mask;     /* the bits of an address */
	uint64_t
		callee_saved; /* columns that a callee leaves alone unless its CFI says otherwise */
	const uint8_t *perf_regs; /* perf's register number of each column */
};

/*
 * The architecture of a sample: @machine is EM_* of the recording host and @regs_abi the abi word
 * of PERF_SAMPLE_REGS_USER (PEV_REGS_ABI_*), so that 32-bit code on an x86-64 host is found. Static
 * storage. NULL when there is no unwinder for it.
 */
const struct pev_arch *pev_arch_of_sample(unsigned machine, uint64_t regs_abi);

/* The architecture of an ELF file by its e_machine, or NULL. */
const struct pev_arch *pev_arch_of_elf(unsigned machine);
