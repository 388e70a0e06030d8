// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/unit/test.h"

#include "tests/unit/unwind_world.h"

#include <elf.h>
#include <string.h>

void world_begin(struct world *w, unsigned machine)
{
	*w = (struct world){ .code = machine == EM_386 ? 0x56000000 : 0x7f0000000000,
			     .sp = machine == EM_386 ? 0xffffc000 : 0x7ffffff00000,
			     .max = MAX_FRAMES };
	w->b.arch = pev_arch_of_elf(machine);
	w->mask = machine == EM_AARCH64 ? 0x1ffffffff : 0xff01ff;
	build_cie(&w->b, &(struct build_cie){ 0 }, NO_BYTES);
}

void world_end(struct world *w)
{
	pev_cfi_free(w->cfi);
	pev_buf_done(&w->b.bytes);
}

void world_function(struct world *w, unsigned n, const uint8_t *program, size_t size)
{
	build_fde(&w->b, F(n), 0x100, program, size);
}

void world_push(struct world *w, uint64_t word)
{
	assert_true(w->nr_words < MAX_WORDS);
	w->words[w->nr_words++] = word;
}

void world_push_zeros(struct world *w, size_t n)
{
	while (n--)
		world_push(w, 0);
}

uint64_t world_here(const struct world *w)
{
	return w->sp + w->b.arch->word * w->nr_words;
}

void world_set_reg(struct world *w, unsigned column, uint64_t value)
{
	w->regs[w->b.arch->perf_regs[column]] = value;
}

static bool find_map(void *arg, uint64_t pc, struct pev_unwind_map *ret)
{
	const struct world *const w = arg;

	if (pc - w->code >= 0x100000)
		return false;
	*ret = (struct pev_unwind_map){ .start = w->code,
					.end = w->code + 0x100000,
					.bias = w->code,
					.cfi = w->no_cfi ? NULL : w->cfi };
	return true;
}

static bool read_memory(void *arg, uint64_t addr, void *buf, size_t size)
{
	const struct world *const w = arg;

	if (addr != w->elsewhere || size > sizeof(w->elsewhere_value))
		return false;
	memcpy(buf, &w->elsewhere_value, size);
	return true;
}

static void encode_stack(struct world *w)
{
	const unsigned word = w->b.arch->word;

	for (size_t i = 0; i < w->nr_words; i++) {
		const uint64_t v = w->swap ? __builtin_bswap64(w->words[i]) : w->words[i];

		memcpy(w->stack + i * word, &v, word);
	}
}

size_t world_unwind_bytes(struct world *w, size_t stack_bytes)
{
	uint64_t values[64];
	struct pev_regs regs = { .abi = w->b.arch->word == 8 ? PEV_REGS_ABI_64 : PEV_REGS_ABI_32,
				 .mask = w->mask,
				 .values = { .p = (const uint8_t *)values, .swap = w->swap } };
	const struct pev_unwind_input in = {
		.arch = w->b.arch,
		.regs = &regs,
		.stack = { .p = w->stack, .size = stack_bytes },
		.find_map = find_map,
		.read_memory = w->elsewhere ? read_memory : NULL,
		.arg = w,
	};

	world_set_reg(w, w->b.arch->sp, w->sp);
	for (unsigned i = 0; i < 64; i++)
		if (w->mask >> i & 1)
			values[regs.values.nr++] =
				w->swap ? __builtin_bswap64(w->regs[i]) : w->regs[i];
	encode_stack(w);
	if (!w->cfi) {
		struct pev_cfi_sections s = build_sections(&w->b);

		s.plt_vaddr = w->plt_vaddr;
		s.plt_size = w->plt_size;
		assert_int_equal(pev_cfi_new(&s, &w->cfi, NULL), 0);
	}
	return pev_unwind(&in, w->ips, w->max, &w->end);
}

size_t world_unwind(struct world *w)
{
	return world_unwind_bytes(w, w->nr_words * w->b.arch->word);
}

void world_check(struct world *w, enum pev_unwind_end how, size_t nr, const uint64_t *offsets)
{
	const size_t n = world_unwind(w);

	for (size_t i = 0; i < n && i < nr; i++)
		assert_int_equal(w->ips[i] - w->code, offsets[i]);
	assert_int_equal(n, nr);
	assert_string_equal(pev_unwind_end_str(w->end), pev_unwind_end_str(how));
}
