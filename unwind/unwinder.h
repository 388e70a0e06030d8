/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the registers and the stack of a sample to its call chain. */
#pragma once

#include "format/record.h"
#include "unwind/arch.h"
#include "unwind/cfi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of code in the address space of the sampled process. */
struct pev_unwind_map {
	uint64_t start, end; /* absolute addresses it is good for */
	uint64_t bias;       /* absolute address minus address as linked */
	struct pev_cfi *cfi; /* borrowed; NULL when there is none: JIT code, a file not found */
};

/* The mapping that has code at @pc; false when nothing is mapped there. */
typedef bool pev_unwind_find_map(void *arg, uint64_t pc, struct pev_unwind_map *ret);

/* Reads @size bytes of the process that are not in the dumped stack (constant data in a file, say);
 * false when they cannot be had. */
typedef bool pev_unwind_read_memory(void *arg, uint64_t addr, void *buf, size_t size);

struct pev_unwind_input {
	const struct pev_arch *arch; /* pev_arch_of_sample() */
	const struct pev_regs *regs; /* PERF_SAMPLE_REGS_USER: at least sp and pc */
	struct pev_bytes stack;      /* PERF_SAMPLE_STACK_USER from sp on, dyn_size bytes */
	pev_unwind_find_map *find_map;
	pev_unwind_read_memory *read_memory; /* or NULL */
	void *arg;                           /* of both */
};

/* Why a call chain has no further frame. */
enum pev_unwind_end {
	PEV_UNWIND_OUTERMOST,   /* CFI says so, or the return address is zero */
	PEV_UNWIND_NO_REGS,     /* the sample has no user registers */
	PEV_UNWIND_NO_MAP,      /* nothing is mapped at the last pc */
	PEV_UNWIND_NO_CFI,      /* the code there has no CFI, and no frame pointer helped */
	PEV_UNWIND_BAD_CFI,     /* the CFI there is corrupt */
	PEV_UNWIND_SHORT_STACK, /* the caller's frame is beyond what was dumped */
	PEV_UNWIND_NO_GROWTH,   /* the caller's frame would lie below its callee's */
	PEV_UNWIND_LOST_REG,    /* the caller's frame hangs on a register that nobody saved */
	PEV_UNWIND_TOO_HARD,    /* an expression that the evaluator does not do */
	PEV_UNWIND_NO_MEMORY,   /* compiling the CFI failed for want of memory */
	PEV_UNWIND_MAX_FRAMES,  /* the caller's limit */
	PEV_UNWIND_NR_ENDS,
};

/* A few words for people, "stack dump too short" and so on. */
const char *pev_unwind_end_str(enum pev_unwind_end end);

/*
 * Unwinds one sample: fills @ips, innermost first, with at most @max addresses and returns how
 * many. As `perf script` has it, an address is the sampled pc for the innermost frame, the exact pc
 * for a signal trampoline and for what a signal interrupted, and the return address minus 1 for the
 * rest, so that each lies inside of the call instruction and not after it.
 *
 * Where there is no CFI, a stub of the procedure linkage table is left by the return address on top
 * of the stack; for other code a frame pointer is followed if it points into the stack above the
 * current frame and if the return address beside it lies in a mapping.
 *
 * Reentrant; allocates nothing and calls no libdw itself (pev_cfi_find() compiles what is met for
 * the first time). Trusts nothing in the sample.
 */
size_t pev_unwind(const struct pev_unwind_input *in, uint64_t *ips, size_t max,
		  enum pev_unwind_end *ret_end);
