/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Holds compiled CFI rows to what libdw says of the same addresses. */
#pragma once

#include "unwind/cfi.h"

#include <elfutils/libdw.h>

struct cfi_oracle_counts {
	size_t functions, rows, expressions;
	size_t refused; /* by libdw alone */
	size_t different;
};

/*
 * Compares every row of every @every-th function in .eh_frame (or .debug_frame, with @debug), at
 * its first and at its last address, with dwarf_cfi_addrframe(). The first few differences are
 * printed.
 */
void cfi_oracle_compare(struct pev_cfi *cfi, bool debug, Dwarf_CFI *libdw, size_t every,
			struct cfi_oracle_counts *counts);
