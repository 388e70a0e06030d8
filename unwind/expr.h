/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The evaluator of DWARF expressions as call frame information uses them. */
#pragma once

#include "unwind/arch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers of one frame by DWARF column. */
struct pev_frame_regs {
	uint64_t reg[PEV_ARCH_MAX_REGS];
	uint64_t valid; /* which of ->reg are known */
};

static inline bool pev_frame_regs_has(const struct pev_frame_regs *regs, unsigned column)
{
	return column < PEV_ARCH_MAX_REGS && (regs->valid >> column & 1);
}

enum pev_expr_status {
	PEV_EXPR_OK = 0,
	PEV_EXPR_UNREADABLE, /* it wants memory that is not there */
	PEV_EXPR_LOST_REG,   /* it wants a register whose value is not known */
	PEV_EXPR_TOO_HARD,   /* malformed, an operator that CFI has no use for, or over a limit */
};

/* Reads @size bytes (1 .. 8) of the unwound process as an unsigned integer; false if not there. */
typedef bool pev_expr_read(void *arg, uint64_t addr, unsigned size, uint64_t *ret);

struct pev_expr_input {
	const struct pev_arch *arch;
	const struct pev_frame_regs *regs;
	const uint8_t *bytes; /* DW_OP_* with their operands (DWARF 5, section 2.5) */
	size_t size;
	bool swap;             /* operands are of the other byte order */
	const uint64_t *first; /* pushed before the first operation, or NULL: the CFA for register
				* rules (DWARF 5, section 6.4.2.3) */
	pev_expr_read *read;
	void *read_arg;
};

/*
 * Runs the expression and gives the top of its stack, cut to the address size. Reentrant, allocates
 * nothing, and ends: at most 4096 operations on a stack of 64. *ret is untouched on failure.
 */
enum pev_expr_status pev_expr_eval(const struct pev_expr_input *in, uint64_t *ret);
