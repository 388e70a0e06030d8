// SPDX-License-Identifier: LGPL-2.1-or-later
/* The unwinder over stacks and call frame information made by hand. */
#include "tests/unit/test.h"

#include "base/checked.h"
#include "tests/unit/alloc.h"
#include "tests/unit/unwind_world.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>

static const uint8_t outermost[] = { DW_CFA_undefined, 16 };

/* Function 1 has pushed rbp and uses rsp; 2 uses rbp and saves rbx; 3 is where all began. */
static void three_frames(struct world *w)
{
	world_begin(w, EM_X86_64);
	world_function(w, 1, BYTES(DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 6, 2));
	world_function(w, 2,
		       BYTES(DW_CFA_def_cfa, 6, 16, DW_CFA_offset | 6, 2, DW_CFA_offset | 3, 3));
	world_function(w, 3, outermost, sizeof(outermost));
	world_set_reg(w, 16, w->code + F(1) + 0x10);
	world_push_zeros(w, 2);
	world_push(w, world_here(w) + 32); /* rbp of function 2 */
	world_push(w, w->code + F(2) + 0x20);
	world_push_zeros(w, 1);
	world_push(w, 0xb0b);               /* rbx */
	world_push(w, world_here(w) + 100); /* rbp */
	world_push(w, w->code + F(3) + 0x30);
}

static void plain(void **state)
{
	struct world w;

	(void)state;
	three_frames(&w);
	/* The innermost address as it was sampled, the others inside of the call. */
	world_check(&w, PEV_UNWIND_OUTERMOST, CHAIN(F(1) + 0x10, F(2) + 0x20 - 1, F(3) + 0x30 - 1));
	world_end(&w);
}

/* What is dumped less of ends the chain earlier, and changes nothing before that. */
static void every_prefix_of_the_stack(void **state)
{
	uint64_t whole[3];
	struct world w;

	(void)state;
	three_frames(&w);
	assert_int_equal(world_unwind(&w), 3);
	memcpy(whole, w.ips, sizeof(whole));
	for (size_t bytes = 0; bytes < 8 * w.nr_words; bytes++) {
		const size_t n = world_unwind_bytes(&w, bytes);

		assert_int_equal(n, bytes < 8 * 4 ? 1 : 2);
		assert_int_equal(w.end, PEV_UNWIND_SHORT_STACK);
		assert_memory_equal(w.ips, whole, n * sizeof(whole[0]));
	}
	world_end(&w);
}

static void frame_limit(void **state)
{
	struct world w;

	(void)state;
	three_frames(&w);
	for (w.max = 0; w.max < 3; w.max++) {
		assert_int_equal(world_unwind(&w), w.max);
		assert_int_equal(w.end, PEV_UNWIND_MAX_FRAMES);
	}
	world_end(&w);
}

static void other_byte_order(void **state)
{
	struct world w;

	(void)state;
	three_frames(&w);
	w.swap = true;
	world_check(&w, PEV_UNWIND_OUTERMOST, CHAIN(F(1) + 0x10, F(2) + 0x20 - 1, F(3) + 0x30 - 1));
	world_end(&w);
}

static void missing_registers(void **state)
{
	struct world w;

	(void)state;
	three_frames(&w);
	w.mask = 1 << 8; /* pc without sp */
	world_check(&w, PEV_UNWIND_NO_REGS, 0, NULL);
	w.mask = 1 << 7;
	world_check(&w, PEV_UNWIND_NO_REGS, 0, NULL);
	w.mask = 1 << 8 | 1 << 7;
	world_check(&w, PEV_UNWIND_OUTERMOST, CHAIN(F(1) + 0x10, F(2) + 0x20 - 1, F(3) + 0x30 - 1));
	world_end(&w);
}

/* A call that never returns may be the last instruction of its function. */
static void call_at_the_end(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, EM_X86_64);
	world_function(&w, 1, NO_BYTES);
	build_fde(&w.b, F(2) - 0x100, 0x100, BYTES(DW_CFA_undefined, 16));
	world_function(&w, 2, BYTES(0x3f));
	world_set_reg(&w, 16, w.code + F(1));
	world_push(&w, w.code + F(2));
	world_check(&w, PEV_UNWIND_OUTERMOST, CHAIN(F(1), F(2) - 1));
	world_end(&w);
}

/* __restore_rt: everything comes back, and the interrupted pc is exact: at the very start of a
 * function, one before it would be in another one. */
static void signal_frame(void **state)
{
	struct world w;
	uint64_t frame;

	(void)state;
	world_begin(&w, EM_X86_64);
	world_function(&w, 1, NO_BYTES);
	build_fde(&w.b, F(3), 0x100, BYTES(DW_CFA_def_cfa, 3, 16, DW_CFA_undefined, 16));
	build_fde(&w.b, F(4), 0x100, BYTES(DW_CFA_def_cfa, 3, 16));
	build_cie(&w.b, &(struct build_cie){ .augmentation = "zRS" }, NO_BYTES);
	build_fde(&w.b, F(2) - 1, 0x10,
		  BYTES(DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 16, DW_OP_deref,
			DW_CFA_expression, 3, 2, DW_OP_breg7, 8, DW_CFA_expression, 7, 2,
			DW_OP_breg7, 16, DW_CFA_expression, 16, 2, DW_OP_breg7, 24));
	world_set_reg(&w, 16, w.code + F(1) + 4);
	world_push(&w, w.code + F(2));
	frame = world_here(&w);
	world_push_zeros(&w, 1);
	world_push(&w, frame + 0x40); /* rbx, on which the interrupted frame hangs */
	world_push(&w, frame - 0x40); /* rsp: the handler ran on another stack, above this one */
	world_push(&w, w.code + F(4));
	world_push_zeros(&w, 5);
	world_push(&w, w.code + F(3) + 9);
	world_check(&w, PEV_UNWIND_OUTERMOST, CHAIN(F(1) + 4, F(2), F(4), F(3) + 8));
	world_end(&w);
}

/* The second half of a stub has pushed a word; only the pc tells. */
static void plt_expression(void **state)
{
	static const uint8_t program[] = { DW_CFA_def_cfa_expression,
					   11,
					   DW_OP_breg7,
					   8,
					   DW_OP_breg16,
					   0,
					   DW_OP_lit15,
					   DW_OP_and,
					   DW_OP_lit11,
					   DW_OP_ge,
					   DW_OP_lit3,
					   DW_OP_shl,
					   DW_OP_plus };

	(void)state;
	for (unsigned at = 0; at < 16; at++) {
		struct world w;

		world_begin(&w, EM_X86_64);
		world_function(&w, 1, program, sizeof(program));
		world_function(&w, 2, outermost, sizeof(outermost));
		world_set_reg(&w, 16, w.code + F(1) + at);
		world_push_zeros(&w, at >= 11);
		world_push(&w, w.code + F(2) + 5);
		world_check(&w, PEV_UNWIND_OUTERMOST, CHAIN(F(1) + at, F(2) + 4));
		world_end(&w);
	}
}

/* One without CFI is left by the return address on the stack, unless it is not on top any more. */
static void plt_without_cfi(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, EM_X86_64);
	world_function(&w, 2, BYTES(DW_CFA_def_cfa, 6, 16, DW_CFA_undefined, 16));
	w.plt_vaddr = F(1);
	w.plt_size = 0x20;
	world_set_reg(&w, 16, w.code + F(1) + 0x10);
	world_set_reg(&w, 6, w.sp);
	world_push(&w, w.code + F(2) + 5);
	world_check(&w, PEV_UNWIND_OUTERMOST, CHAIN(F(1) + 0x10, F(2) + 4));
	w.words[0] = 3;
	world_check(&w, PEV_UNWIND_SHORT_STACK, CHAIN(F(1) + 0x10));
	world_end(&w);
}

/* At its return instruction a function has popped rbx, which its CFI still looks for below rsp. */
static void popped_register(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, EM_X86_64);
	world_function(&w, 1, BYTES(DW_CFA_offset | 3, 2));
	world_function(&w, 2, BYTES(DW_CFA_def_cfa, 3, 16));
	world_function(&w, 3, outermost, sizeof(outermost));
	world_set_reg(&w, 16, w.code + F(1) + 0x10);
	world_set_reg(&w, 3, w.sp + 16);
	world_push(&w, w.code + F(2) + 2);
	world_push_zeros(&w, 2);
	world_push(&w, w.code + F(3) + 3);
	world_check(&w, PEV_UNWIND_OUTERMOST, CHAIN(F(1) + 0x10, F(2) + 1, F(3) + 2));
	world_end(&w);
}

/* Two frames of code without CFI, then one with. */
static void frame_pointers(struct world *w)
{
	world_begin(w, EM_X86_64);
	world_function(w, 2, BYTES(DW_CFA_def_cfa, 6, 16, DW_CFA_undefined, 16));
	world_set_reg(w, 16, w->code + F(8));
	world_push_zeros(w, 3);
	world_set_reg(w, 6, world_here(w));
	world_push(w, world_here(w) + 24);
	world_push(w, w->code + F(9));
	world_push_zeros(w, 1);
	world_push(w, world_here(w) + 24);
	world_push(w, w->code + F(2) + 7);
}

static void follows_frame_pointers(void **state)
{
	struct world w;

	(void)state;
	frame_pointers(&w);
	world_check(&w, PEV_UNWIND_OUTERMOST, CHAIN(F(8), F(9) - 1, F(2) + 6));
	world_end(&w);

	/* Likewise where the module has no CFI at all, as JIT code. */
	frame_pointers(&w);
	w.no_cfi = true;
	w.words[7] = 0;
	world_check(&w, PEV_UNWIND_OUTERMOST, CHAIN(F(8), F(9) - 1));
	world_end(&w);

	/* And where nothing is mapped. */
	frame_pointers(&w);
	world_set_reg(&w, 16, 0x1234);
	world_check(&w, PEV_UNWIND_OUTERMOST, CHAIN(0x1234 - w.code, F(9) - 1, F(2) + 6));
	world_end(&w);
}

static void mistrusts_frame_pointers(void **state)
{
	static const struct {
		const char *what;
		int64_t fp; /* minus sp */
		uint64_t ra;
		enum pev_unwind_end end;
	} cases[] = {
		{ "not mapped", 24, 0x4444, PEV_UNWIND_NO_CFI },
		{ "below the stack pointer", -8, F(9), PEV_UNWIND_NO_CFI },
		{ "unaligned", 25, F(9), PEV_UNWIND_NO_CFI },
		{ "beyond what was dumped", 4096, F(9), PEV_UNWIND_SHORT_STACK },
		{ "beyond any stack", 1LL << 40, F(9), PEV_UNWIND_NO_CFI },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		struct world w;

		print_message("%s\n", cases[i].what);
		frame_pointers(&w);
		world_set_reg(&w, 6, w.sp + (uint64_t)cases[i].fp);
		w.words[4] = cases[i].ra == 0x4444 ? cases[i].ra : w.code + cases[i].ra;
		world_check(&w, cases[i].end, CHAIN(F(8)));
		world_end(&w);
	}
}

/* Each program is that of function 1, whose caller is not to be found. */
static void dead_ends(void **state)
{
	static const struct {
		const char *what;
		uint8_t program[16];
		size_t size;
		enum pev_unwind_end end;
	} cases[] = {
#define CASE(what, end, ...) { what, { __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }), end }
		CASE("undefined", PEV_UNWIND_OUTERMOST, DW_CFA_undefined, 16),
		CASE("zero", PEV_UNWIND_OUTERMOST, DW_CFA_def_cfa_offset, 16),
		CASE("corrupt", PEV_UNWIND_BAD_CFI, 0x3f),
		CASE("beyond the dump", PEV_UNWIND_SHORT_STACK, DW_CFA_def_cfa_offset, 0x80, 8),
		CASE("a CFA in memory beyond the dump", PEV_UNWIND_SHORT_STACK,
		     DW_CFA_def_cfa_expression, 4, DW_OP_breg7, 0x80, 8, DW_OP_deref),
		CASE("an expression beyond the dump", PEV_UNWIND_SHORT_STACK,
		     DW_CFA_def_cfa_expression, 5, DW_OP_breg7, 0x80, 8, DW_OP_deref, DW_OP_nop),
		CASE("downwards", PEV_UNWIND_NO_GROWTH, DW_CFA_def_cfa_sf, 7, 3,
		     DW_CFA_offset_extended_sf, 16, 0x7d),
		CASE("xmm0", PEV_UNWIND_LOST_REG, DW_CFA_def_cfa, 17, 8),
		CASE("an expression of xmm0", PEV_UNWIND_LOST_REG, DW_CFA_def_cfa_expression, 3,
		     DW_OP_bregx, 17, 0),
		CASE("too hard", PEV_UNWIND_TOO_HARD, DW_CFA_def_cfa_expression, 1,
		     DW_OP_call_frame_cfa),
#undef CASE
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		struct world w;

		print_message("%s\n", cases[i].what);
		world_begin(&w, EM_X86_64);
		world_function(&w, 1, cases[i].program, cases[i].size);
		world_set_reg(&w, 16, w.code + F(1));
		world_push(&w, w.code + F(2));
		world_push_zeros(&w, 3);
		world_check(&w, cases[i].end, CHAIN(F(1)));
		world_end(&w);
	}
}

static void no_memory(void **state)
{
	struct world w;

	(void)state;
	three_frames(&w);
	w.cfi = build_new(&w.b);
	alloc_fail_at(1);
	world_check(&w, PEV_UNWIND_NO_MEMORY, CHAIN(F(1) + 0x10));
	assert_true(alloc_fail_end());
	assert_int_equal(world_unwind(&w), 3);
	world_end(&w);
}

static void nothing_mapped(void **state)
{
	struct world w;

	(void)state;
	three_frames(&w);
	w.words[2] = 0;
	w.words[3] = 0x1111;
	world_check(&w, PEV_UNWIND_NO_MAP, CHAIN(F(1) + 0x10, 0x1110 - w.code));
	world_end(&w);
}

static void memory_elsewhere(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, EM_X86_64);
	world_function(&w, 1, BYTES(DW_CFA_def_cfa, 12, 8));
	world_function(&w, 2, outermost, sizeof(outermost));
	world_set_reg(&w, 16, w.code + F(1));
	world_set_reg(&w, 12, w.sp + 0x1000);
	world_push(&w, 0);
	w.elsewhere = w.sp + 0x1000;
	w.elsewhere_value = w.code + F(2) + 1;
	world_check(&w, PEV_UNWIND_OUTERMOST, CHAIN(F(1), F(2)));
	world_end(&w);
}

/* Code for 32 bits in a process of 64: the module is of another architecture than the sample. */
static void other_architecture(void **state)
{
	struct world w;

	(void)state;
	three_frames(&w);
	w.b.arch = pev_arch_of_elf(EM_386);
	w.cfi = build_new(&w.b);
	w.b.arch = pev_arch_of_elf(EM_X86_64);
	world_check(&w, PEV_UNWIND_NO_CFI, CHAIN(F(1) + 0x10));
	world_end(&w);
}

static void i386(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, EM_386);
	world_function(&w, 1, BYTES(DW_CFA_def_cfa_offset, 12, DW_CFA_offset | 5, 2));
	world_function(&w, 2, BYTES(DW_CFA_def_cfa, 5, 8, DW_CFA_undefined, 8));
	world_set_reg(&w, 8, w.code + F(1) + 0x10);
	world_push_zeros(&w, 1);
	world_push(&w, world_here(&w) + 12);
	world_push(&w, w.code + F(2) + 0x20);
	world_push_zeros(&w, 3);
	world_check(&w, PEV_UNWIND_OUTERMOST, CHAIN(F(1) + 0x10, F(2) + 0x1f));
	w.swap = true;
	for (size_t i = 0; i < w.nr_words; i++)
		w.words[i] <<= 32; /* so that swapping 8 bytes swaps these 4 */
	world_check(&w, PEV_UNWIND_OUTERMOST, CHAIN(F(1) + 0x10, F(2) + 0x1f));
	world_end(&w);
}

/* A leaf that still has its return address in x30, called by a function with a frame. */
static void aarch64_frames(struct world *w, uint64_t pac)
{
	world_begin(w, EM_AARCH64);
	world_function(w, 1, NO_BYTES);
	world_function(w, 2,
		       BYTES(0x2d, DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 29, 4,
			     DW_CFA_offset | 30, 3));
	world_function(w, 3, BYTES(DW_CFA_undefined, 30));
	world_set_reg(w, 32, w->code + F(1) + 8);
	world_set_reg(w, 30, w->code + F(2) + 12);
	world_push(w, world_here(w) + 32);
	world_push(w, (w->code + F(3) + 16) | pac);
	world_push_zeros(w, 2);
}

static void aarch64(void **state)
{
	struct world w;

	(void)state;
	aarch64_frames(&w, 0);
	world_check(&w, PEV_UNWIND_OUTERMOST, CHAIN(F(1) + 8, F(2) + 11, F(3) + 15));
	world_end(&w);
	aarch64_frames(&w, 0x00a5ULL << 48);
	world_check(&w, PEV_UNWIND_OUTERMOST, CHAIN(F(1) + 8, F(2) + 11, F(3) + 15));
	world_end(&w);

	/* Android has addresses of 39 bits, which leaves more for the code. */
	aarch64_frames(&w, 0x00a5a5ULL << 39);
	w.sp = 0x7ffff00000;
	w.words[0] = w.sp + 32;
	w.words[1] += 0x5500000000 - w.code;
	world_set_reg(&w, 32, 0x5500000000 + F(1) + 8);
	world_set_reg(&w, 30, 0x5500000000 + F(2) + 12);
	w.code = 0x5500000000;
	world_check(&w, PEV_UNWIND_OUTERMOST, CHAIN(F(1) + 8, F(2) + 11, F(3) + 15));
	world_end(&w);

	/* A function that is not a leaf must have saved its return address. */
	aarch64_frames(&w, 0);
	w.words[1] = w.code + F(1) + 16;
	world_check(&w, PEV_UNWIND_NO_GROWTH, CHAIN(F(1) + 8, F(2) + 11, F(1) + 15));
	world_end(&w);
}

/* The kernel's trampoline: its CFI leads to the frame record, struct rt_sigframe to more. */
static void aarch64_signal(void **state)
{
	static const uint8_t program[] = { DW_CFA_def_cfa,
					   29,
					   0,
					   DW_CFA_offset_extended_sf,
					   29,
					   0,
					   DW_CFA_offset_extended_sf,
					   30,
					   0x7f };
	const size_t regs_word = (128 + 176 + 8) / 8;
	uint64_t frame;
	struct world w;

	(void)state;
	world_begin(&w, EM_AARCH64);
	world_function(&w, 1, NO_BYTES);
	world_function(&w, 3, NO_BYTES);
	world_function(&w, 4, BYTES(DW_CFA_undefined, 30));
	build_cie(&w.b, &(struct build_cie){ .augmentation = "zRS" }, NO_BYTES);
	build_fde(&w.b, F(2), 0x10, program, sizeof(program));
	world_set_reg(&w, 32, w.code + F(1));
	world_set_reg(&w, 30, w.code + F(2) + 4);
	world_push_zeros(&w, regs_word);
	for (unsigned i = 0; i < 31; i++)
		world_push(&w, 0x100 + i);
	w.words[regs_word + 29] = 0xf00d;
	w.words[regs_word + 30] = w.code + F(4) + 9; /* of the interrupted leaf */
	world_push(&w, world_here(&w) + 0x40);
	world_push(&w, w.code + F(3));
	world_push_zeros(&w, 1);
	frame = world_here(&w);
	world_set_reg(&w, 29, frame);
	world_push(&w, 0xf00d);
	world_push(&w, w.code + F(4) + 9);
	world_check(&w, PEV_UNWIND_OUTERMOST, CHAIN(F(1), F(2) + 4, F(3), F(4) + 8));

	/* Not the kernel's: what the CFI says is all there is. */
	w.words[(frame - w.sp) / 8] = 0xbeef;
	world_check(&w, PEV_UNWIND_OUTERMOST, CHAIN(F(1), F(2) + 4, F(4) + 9));
	world_end(&w);
}

static void sample_architectures(void **state)
{
	(void)state;
	assert_string_equal(pev_arch_of_sample(EM_X86_64, PEV_REGS_ABI_64)->name, "x86-64");
	assert_string_equal(pev_arch_of_sample(EM_X86_64, PEV_REGS_ABI_32)->name, "i386");
	assert_string_equal(pev_arch_of_sample(EM_386, PEV_REGS_ABI_32)->name, "i386");
	assert_string_equal(pev_arch_of_sample(EM_AARCH64, PEV_REGS_ABI_64)->name, "aarch64");
	assert_null(pev_arch_of_sample(EM_AARCH64, PEV_REGS_ABI_32));
	assert_null(pev_arch_of_sample(EM_386, PEV_REGS_ABI_64));
	assert_null(pev_arch_of_sample(EM_X86_64, PEV_REGS_ABI_NONE));
	assert_null(pev_arch_of_sample(EM_S390, PEV_REGS_ABI_64));
}

/* Random registers and stacks over good CFI: the sanitizers are the judges. */
static void random_samples(void **state)
{
	uint64_t seed = 7;
	struct world w;

	(void)state;
	three_frames(&w);
	for (int round = 0; round < 20000; round++) {
		for (unsigned i = 0; i < 24; i++)
			w.regs[i] = test_random(&seed) >> test_random(&seed) % 64;
		for (size_t i = 0; i < w.nr_words; i++)
			w.words[i] = test_random(&seed) % 2 ? w.code + test_random(&seed) % F(5)
							    : w.sp + test_random(&seed) % 128;
		if (round % 4)
			world_set_reg(&w, 16, w.code + F(1) + test_random(&seed) % F(4));
		(void)world_unwind(&w);
		assert_true(w.end < PEV_UNWIND_NR_ENDS);
	}
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),
		cmocka_unit_test(every_prefix_of_the_stack),
		cmocka_unit_test(frame_limit),
		cmocka_unit_test(other_byte_order),
		cmocka_unit_test(missing_registers),
		cmocka_unit_test(call_at_the_end),
		cmocka_unit_test(signal_frame),
		cmocka_unit_test(plt_expression),
		cmocka_unit_test(plt_without_cfi),
		cmocka_unit_test(popped_register),
		cmocka_unit_test(follows_frame_pointers),
		cmocka_unit_test(mistrusts_frame_pointers),
		cmocka_unit_test(dead_ends),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(nothing_mapped),
		cmocka_unit_test(memory_elsewhere),
		cmocka_unit_test(other_architecture),
		cmocka_unit_test(i386),
		cmocka_unit_test(aarch64),
		cmocka_unit_test(aarch64_signal),
		cmocka_unit_test(sample_architectures),
		cmocka_unit_test(random_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
