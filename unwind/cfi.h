/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Call frame information of one ELF file, compiled function by function into rows that say how to
 * find the caller. */
#pragma once

#include "base/err.h"
#include "unwind/arch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct Elf;

struct pev_cfi_section {
	const uint8_t *data; /* NULL when the file has no such section */
	size_t size;         /* at most 4 GiB - 1 */
	uint64_t vaddr;
};

/*
 * The bytes that hold the CFI of one ELF file, all borrowed. .eh_frame is described in the LSB Core
 * specification (section "Exception Frames"), .debug_frame in DWARF 5, section 6.4. With an
 * .eh_frame_hdr the file is searched through its table and nothing is read before it is asked for;
 * without one, the first lookup reads the start of every entry.
 */
struct pev_cfi_sections {
	const struct pev_arch *arch;
	bool swap;           /* the ELF file is of the other byte order */
	uint8_t ptr_size;    /* 4 with ELFCLASS32, 8 with ELFCLASS64 */
	uint64_t text_vaddr; /* what DW_EH_PE_textrel is relative to; 0 where nothing uses it */
	uint64_t data_vaddr; /* what DW_EH_PE_datarel is relative to in .eh_frame */
	uint64_t plt_vaddr;  /* procedure linkage stubs, which may have no CFI at all */
	uint64_t plt_size;   /* 0 when unknown */
	struct pev_cfi_section eh_frame, eh_frame_hdr, debug_frame;
};

/*
 * Finds them: by section headers, or by PT_GNU_EH_FRAME where those were stripped. @debug is the
 * ELF file of the separate debug information, from which .debug_frame is taken if @elf has none, or
 * NULL; dwarf_getelf() gives it. A compressed .debug_frame is decompressed within its Elf. The
 * bytes live as long as @elf and @debug; take .eh_frame from a mapped or read-in file
 * (ELF_C_READ_MMAP, elf_memory()). Files without CFI are no error: the sections are empty.
 *
 * 0; -EPROTONOSUPPORT for a machine without an unwinder; -EBADMSG when libelf cannot read it.
 */
int pev_cfi_sections_of_elf(struct Elf *elf, struct Elf *debug, struct pev_cfi_sections *ret,
			    struct pev_err *err);

/* Where the caller's value of a register, the return address or the CFA is. */
enum pev_cfi_how {
	PEV_CFI_UNDEFINED = 0, /* lost; for the return address: this is the outermost frame */
	PEV_CFI_SAME,          /* still in the register */
	PEV_CFI_AT_CFA,        /* in memory at CFA + off */
	PEV_CFI_IS_CFA,        /* the value CFA + off */
	PEV_CFI_AT_REG,        /* in memory at register base + off */
	PEV_CFI_IS_REG,        /* the value of register base + off */
	PEV_CFI_AT_EXPR,       /* in memory at what the expression gives */
	PEV_CFI_IS_EXPR,       /* what the expression gives */
};

struct pev_cfi_rule {
	uint8_t reg;   /* DWARF column that the rule is for; 0 and unused for the CFA */
	uint8_t how;   /* enum pev_cfi_how */
	uint16_t base; /* *_REG: a column; *_EXPR: bytes of the expression */
	int32_t off;   /* *_EXPR: the expression is at row->exprs + (uint32_t)off */
};

#define PEV_CFI_SIGNAL    1 /* augmentation S: the caller was interrupted, its pc is exact */
#define PEV_CFI_RA_SIGNED 2 /* aarch64: the return address carries pointer authentication bits */
#define PEV_CFI_READS_REG 4 /* some register rule reads another register: apply to a copy */
#define PEV_CFI_BAD       8 /* the CFI for these addresses is corrupt; never given out */

/*
 * How to get from a frame whose pc lies in [start, start + size) to its caller. Registers without a
 * rule: the stack pointer becomes the CFA, columns in arch->callee_saved stay, others are lost.
 */
struct pev_cfi_row {
	uint64_t start; /* as linked: without the bias of a mapping */
	uint32_t size;
	uint8_t nr_rules;
	uint8_t flags;                    /* PEV_CFI_* */
	struct pev_cfi_rule cfa;          /* IS_REG, AT_REG or IS_EXPR */
	struct pev_cfi_rule ra;           /* for column arch->ra */
	const struct pev_cfi_rule *rules; /* the other registers that have one */
	const uint8_t *exprs;
};

/*
 * Compiled CFI of one file. Every function may be called from several threads at once, but for
 * pev_cfi_free(): what was compiled is published with one atomic exchange and never changes, two
 * threads that compile the same function waste a little work, and nobody waits.
 */
struct pev_cfi;

/* Takes a copy of @sections, whose bytes must outlive the object. Reads none of them. -E2BIG for a
 * section of 4 GiB, -ENOMEM. */
int pev_cfi_new(const struct pev_cfi_sections *sections, struct pev_cfi **ret, struct pev_err *err);
void pev_cfi_free(struct pev_cfi *cfi);

/*
 * The row for the address @vaddr (pc minus the bias of the mapping, and minus 1 for a frame that
 * was left by a call). The first question about a function compiles it, which allocates; later ones
 * do not. The row lives as long as @cfi. .eh_frame is asked first, then .debug_frame.
 *
 * 0; -ENOENT: no CFI covers the address; -EBADMSG: what covers it is corrupt or over a limit;
 * -ENOMEM, which is not remembered.
 */
int pev_cfi_find(struct pev_cfi *cfi, uint64_t vaddr, const struct pev_cfi_row **ret);

const struct pev_cfi_sections *pev_cfi_sections(const struct pev_cfi *cfi);

/* What lookups did so far; each counter is exact, but they are not read at one instant. */
struct pev_cfi_stats {
	uint64_t functions;     /* compiled */
	uint64_t rows;          /* of those */
	uint64_t bytes;         /* that those take */
	uint64_t bad_functions; /* with an entry that could not be read */
};
void pev_cfi_stats(const struct pev_cfi *cfi, struct pev_cfi_stats *ret);
