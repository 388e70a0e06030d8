// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Call frame information as a damaged or hostile ELF file may hold it. The input:
 *
 *   u8 flags           bits 0-1: architecture, bit 2: .debug_frame, bit 3: the other byte order
 *   u8 n               .eh_frame_hdr is the first 4 * n bytes of the rest
 *   the rest           .eh_frame_hdr, then .eh_frame or .debug_frame
 *
 * Every function that can be read is asked for at its ends and in its middle, and a sample whose
 * registers and stack are made of the input is unwound from there.
 */
#include "tests/fuzz/fuzz.h"

#include "base/checked.h"
#include "unwind/cfi_entry.h"
#include "unwind/unwinder.h"

#include <elf.h>
#include <stdlib.h>

#define MAX_FUNCTIONS 32
#define HDR_VADDR     0x1000
#define VADDR         0x2000

static bool find_map(void *arg, uint64_t pc, struct pev_unwind_map *ret)
{
	(void)pc;
	*ret = (struct pev_unwind_map){ .end = UINT64_MAX, .cfi = arg };
	return true;
}

static void unwind_from(struct pev_cfi *cfi, uint64_t pc, const uint8_t *data, size_t size)
{
	const struct pev_arch *const arch = pev_cfi_sections(cfi)->arch;
	uint64_t values[64], ips[64];
	const struct pev_regs regs = { .abi = PEV_REGS_ABI_64,
				       .mask = UINT64_MAX,
				       .values = { .p = (const uint8_t *)values, .nr = 64 } };
	const struct pev_unwind_input in = {
		.arch = arch,
		.regs = &regs,
		.stack = { .p = data, .size = size },
		.find_map = find_map,
		.arg = cfi,
	};
	enum pev_unwind_end end;

	for (unsigned i = 0; i < 64; i++)
		values[i] = VADDR + data[i % size];
	values[arch->perf_regs[arch->pc]] = pc;
	values[arch->perf_regs[arch->sp]] = VADDR;
	if (pev_unwind(&in, ips, PEV_ARRAY_SIZE(ips), &end) > PEV_ARRAY_SIZE(ips))
		abort();
}

static void ask(struct pev_cfi *cfi, uint64_t vaddr, const uint8_t *data, size_t size)
{
	const struct pev_cfi_row *row;

	if (!pev_cfi_find(cfi, vaddr, &row) && vaddr - row->start >= row->size)
		abort();
	unwind_from(cfi, vaddr, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned machines[] = { EM_X86_64, EM_386, EM_AARCH64, EM_X86_64 };
	struct pev_cfi_sections s = { 0 };
	struct pev_cfi_table table;
	struct pev_entry entry;
	struct pev_fde fde;
	struct pev_cfi *cfi;
	size_t hdr, functions = 0;

	if (size < 3)
		return 0;
	hdr = PEV_MIN(4U * data[1], size - 2);
	s.arch = pev_arch_of_elf(machines[data[0] & 3]);
	s.ptr_size = s.arch->word;
	s.swap = data[0] & 8;
	s.eh_frame_hdr = (struct pev_cfi_section){ data + 2, hdr, HDR_VADDR };
	s.eh_frame = (struct pev_cfi_section){ data + 2 + hdr, size - 2 - hdr, VADDR };
	if (data[0] & 4) {
		s.debug_frame = s.eh_frame;
		s.eh_frame = (struct pev_cfi_section){ 0 };
	}
	table = (struct pev_cfi_table){ .of = &s,
					.section = data[0] & 4 ? &s.debug_frame : &s.eh_frame,
					.debug = data[0] & 4 };
	if (pev_cfi_new(&s, &cfi, NULL) < 0)
		return 0;
	for (size_t at = 0; functions < MAX_FUNCTIONS && pev_entry_read(&table, at, &entry) >= 0;
	     at = entry.next) {
		if (entry.is_cie || pev_fde_read(&table, at, &fde) < 0)
			continue;
		functions++;
		ask(cfi, fde.start, data, size);
		ask(cfi, fde.start + (fde.end - fde.start) / 2, data, size);
		ask(cfi, fde.end - 1, data, size);
	}
	pev_cfi_free(cfi);
	return 0;
}
