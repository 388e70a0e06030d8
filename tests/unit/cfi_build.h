/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes call frame information by hand, for tests. */
#pragma once

#include "base/buf.h"
#include "unwind/cfi.h"

/* The bytes of a CFA program or of an expression as two arguments. */
#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })
#define NO_BYTES   NULL, 0

#define BUILD_VADDR 0x10000 /* of the section */

/* Zero-initialise, then set ->arch; ends with pev_buf_done() of ->bytes and ->hdr. */
struct cfi_build {
	const struct pev_arch *arch;
	bool debug; /* .debug_frame; else .eh_frame */
	bool wide;  /* the 64-bit format of DWARF */
	struct pev_buf bytes;
	struct pev_buf hdr; /* .eh_frame_hdr, by build_hdr() */
	uint64_t hdr_vaddr;
	size_t cie; /* offset of the last one */
};

struct build_cie {
	uint8_t version;          /* 0 is 1 */
	const char *augmentation; /* NULL is "zR", or "" in .debug_frame */
	uint8_t code_align;       /* 0 is 1 */
	int8_t data_align;        /* 0 is minus the word of the architecture */
	uint8_t ra;               /* 0 is the architecture's */
};

void build_cie(struct cfi_build *b, const struct build_cie *cie, const uint8_t *program,
	       size_t size);
/* The offset of the entry. */
size_t build_fde(struct cfi_build *b, uint64_t start, uint64_t size, const uint8_t *program,
		 size_t program_size);

/* .eh_frame_hdr with a table of these FDEs, which must be in address order. */
void build_hdr(struct cfi_build *b, const uint64_t *starts, const size_t *offsets, size_t nr);

/* What was built; borrows it. */
struct pev_cfi_sections build_sections(const struct cfi_build *b);
/* Compiled, by pev_cfi_new(). */
struct pev_cfi *build_new(const struct cfi_build *b);
