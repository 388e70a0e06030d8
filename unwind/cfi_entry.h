/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CIEs and FDEs, the entries of .eh_frame and .debug_frame, and their compilation; inside of the
 * room only. */
#pragma once

#include "base/cursor.h"
#include "unwind/cfi.h"

/* One of the two sections of CFI, and how to read its entries. */
struct pev_cfi_table {
	const struct pev_cfi_sections *of;
	const struct pev_cfi_section *section;
	bool debug; /* .debug_frame, else .eh_frame */
};

/* What a CIE says for all of its FDEs. */
struct pev_cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra;      /* column of the return address */
	uint8_t pc_enc;   /* DW_EH_PE_* of the addresses in FDEs */
	uint8_t ptr_size; /* of DW_EH_PE_absptr */
	bool augmented;   /* FDEs have a length of augmentation data: 'z' */
	bool signal;      /* 'S' */
	struct pev_cursor program;
};

struct pev_fde {
	struct pev_cie cie;
	uint64_t start, end; /* addresses it covers */
	struct pev_cursor program;
};

struct pev_entry {
	bool is_cie;
	size_t cie_offset;      /* of an FDE's CIE */
	size_t next;            /* offset of the entry after this one */
	struct pev_cursor body; /* after the CIE id or pointer */
};

/*
 * Reads the head of the entry at @offset, at its CIE, or at its FDE. 0; -ENODATA: the section ends
 * here (its end or its terminator); -EBADMSG; -EPROTONOSUPPORT for a CIE version or augmentation
 * that cannot be skipped.
 */
int pev_entry_read(const struct pev_cfi_table *t, uint64_t offset, struct pev_entry *ret);
int pev_cie_read(const struct pev_cfi_table *t, uint64_t offset, struct pev_cie *ret);
int pev_fde_read(const struct pev_cfi_table *t, uint64_t offset, struct pev_fde *ret);

/* The rest of an FDE whose head was read and whose ret->cie is filled. */
int pev_fde_read_body(const struct pev_cfi_table *t, const struct pev_entry *entry,
		      struct pev_fde *ret);

/*
 * An address in one of the encodings of .eh_frame (LSB, "DWARF Exception Header Encoding") that
 * lies in @section, where the cursor is. DW_EH_PE_datarel is relative to @data_vaddr. Failure stays
 * in the cursor.
 */
uint64_t pev_cursor_encoded(struct pev_cursor *c, const struct pev_cfi_sections *of,
			    const struct pev_cfi_section *section, uint64_t data_vaddr, uint8_t enc,
			    uint8_t ptr_size);

/* The rows of one function, in one allocation: the rows, then their rules. */
struct pev_cfi_rows {
	size_t nr;
	size_t bytes; /* of the allocation */
	struct pev_cfi_row row[];
};

/*
 * Runs the program of the FDE at @offset. Rows are in address order and without gaps; where the
 * program goes wrong the rest is one row with PEV_CFI_BAD. 0, -EBADMSG, -EPROTONOSUPPORT, -E2BIG
 * (more than 65536 rows), -ENOMEM.
 */
int pev_cfi_compile(const struct pev_cfi_table *t, uint64_t offset, struct pev_cfi_rows **ret);
