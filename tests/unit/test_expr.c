// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/unit/test.h"

#include "base/checked.h"
#include "unwind/expr.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>

#define MAX_BYTES 24

static const uint64_t memory[4] = { 0x1122334455667788, 0xfff0, 3, 4 };

/* memory[] lies at 0x1000. */
static bool read_memory(void *arg, uint64_t addr, unsigned size, uint64_t *ret)
{
	(void)arg;
	if (addr < 0x1000 || addr + size > 0x1000 + sizeof(memory))
		return false;
	*ret = 0;
	memcpy(ret, (const uint8_t *)memory + (addr - 0x1000), size);
	return true;
}

static enum pev_expr_status eval(unsigned machine, const uint8_t *bytes, size_t size,
				 const uint64_t *first, uint64_t *ret)
{
	struct pev_frame_regs regs = { .valid = 0xff };
	const struct pev_expr_input in = {
		.arch = pev_arch_of_elf(machine),
		.regs = &regs,
		.bytes = bytes,
		.size = size,
		.first = first,
		.read = read_memory,
	};

	for (unsigned i = 0; i < PEV_ARCH_MAX_REGS; i++)
		regs.reg[i] = 0x1000 + 8ULL * i;
	return pev_expr_eval(&in, ret);
}

static void values(void **state)
{
	static const struct {
		const char *what;
		uint8_t bytes[MAX_BYTES];
		size_t size;
		uint64_t value, value32; /* on x86-64 and on i386 */
	} cases[] = {
#define CASE(what, value, value32, ...) \
	{ what, { __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }), value, value32 }
		CASE("lit", 31, 31, DW_OP_lit31),
		CASE("addr", 0x40, 0x40, DW_OP_const1u, 0x40, DW_OP_nop),
		CASE("const1s", UINT64_MAX, UINT32_MAX, DW_OP_const1s, 0xff),
		CASE("const2u", 0xff80, 0xff80, DW_OP_const2u, 0x80, 0xff),
		CASE("const2s", (uint64_t)-128, 0xffffff80, DW_OP_const2s, 0x80, 0xff),
		CASE("const4u", 0x80000000, 0x80000000, DW_OP_const4u, 0, 0, 0, 0x80),
		CASE("const4s", 0xffffffff80000000, 0x80000000, DW_OP_const4s, 0, 0, 0, 0x80),
		CASE("const8u", 0x100000002, 2, DW_OP_const8u, 2, 0, 0, 0, 1, 0, 0, 0),
		CASE("constu", 300, 300, DW_OP_constu, 0xac, 0x02),
		CASE("consts", (uint64_t)-2, 0xfffffffe, DW_OP_consts, 0x7e),
		CASE("breg", 0x1008 - 1, 0x1008 - 1, DW_OP_breg1, 0x7f),
		CASE("bregx", 0x1010 + 2, 0x1010 + 2, DW_OP_bregx, 2, 2),
		CASE("deref", 0x1122334455667788, 0x55667788, DW_OP_breg0, 0, DW_OP_deref),
		CASE("deref_size", 0x7788, 0x7788, DW_OP_breg0, 0, DW_OP_deref_size, 2),
		CASE("dup", 6, 6, DW_OP_lit3, DW_OP_dup, DW_OP_plus),
		CASE("drop", 3, 3, DW_OP_lit3, DW_OP_lit4, DW_OP_drop),
		CASE("over", 4, 4, DW_OP_lit4, DW_OP_lit3, DW_OP_over),
		CASE("pick", 5, 5, DW_OP_lit5, DW_OP_lit4, DW_OP_lit3, DW_OP_pick, 2),
		CASE("swap", 1, 1, DW_OP_lit3, DW_OP_lit4, DW_OP_swap, DW_OP_minus),
		CASE("rot: the top becomes third", 2, 2, DW_OP_lit1, DW_OP_lit2, DW_OP_lit3,
		     DW_OP_rot),
		CASE("rot: and the third second", 1, 1, DW_OP_lit1, DW_OP_lit2, DW_OP_lit3,
		     DW_OP_rot, DW_OP_drop),
		CASE("abs", 2, 2, DW_OP_const1s, 0xfe, DW_OP_abs),
		CASE("neg", (uint64_t)-2, 0xfffffffe, DW_OP_lit2, DW_OP_neg),
		CASE("not", UINT64_MAX, UINT32_MAX, DW_OP_lit0, DW_OP_not),
		CASE("and", 4, 4, DW_OP_lit12, DW_OP_lit6, DW_OP_and),
		CASE("or", 14, 14, DW_OP_lit12, DW_OP_lit6, DW_OP_or),
		CASE("xor", 10, 10, DW_OP_lit12, DW_OP_lit6, DW_OP_xor),
		CASE("mul", 18, 18, DW_OP_lit3, DW_OP_lit6, DW_OP_mul),
		CASE("div is signed", (uint64_t)-3, 0xfffffffd, DW_OP_const1s, 0xf4, DW_OP_lit4,
		     DW_OP_div),
		CASE("div of the least number by -1", 1ULL << 63, 0, DW_OP_const8u, 0, 0, 0, 0, 0,
		     0, 0, 0x80, DW_OP_const1s, 0xff, DW_OP_div),
		CASE("mod is unsigned", 15, 15, DW_OP_const1s, 0xff, DW_OP_lit16, DW_OP_mod),
		CASE("plus_uconst", 131, 131, DW_OP_lit3, DW_OP_plus_uconst, 0x80, 1),
		CASE("shl", 24, 24, DW_OP_lit3, DW_OP_lit3, DW_OP_shl),
		CASE("shl out of the word", 0, 0, DW_OP_lit3, DW_OP_const1u, 64, DW_OP_shl),
		CASE("shr", 0x3fffffffffffffff, 0x3fffffff, DW_OP_const1s, 0xff, DW_OP_lit2,
		     DW_OP_shr),
		CASE("shra", (uint64_t)-1, 0xffffffff, DW_OP_const1s, 0xfe, DW_OP_lit31,
		     DW_OP_shra),
		CASE("eq", 1, 1, DW_OP_lit3, DW_OP_lit3, DW_OP_eq),
		CASE("ne", 0, 0, DW_OP_lit3, DW_OP_lit3, DW_OP_ne),
		CASE("lt is signed", 1, 1, DW_OP_const1s, 0xff, DW_OP_lit3, DW_OP_lt),
		CASE("le", 1, 1, DW_OP_lit3, DW_OP_lit3, DW_OP_le),
		CASE("gt", 0, 0, DW_OP_lit3, DW_OP_lit3, DW_OP_gt),
		CASE("ge", 1, 1, DW_OP_lit3, DW_OP_lit3, DW_OP_ge),
		CASE("skip", 2, 2, DW_OP_lit2, DW_OP_skip, 1, 0, DW_OP_lit9),
		CASE("bra not taken", 9, 9, DW_OP_lit2, DW_OP_lit0, DW_OP_bra, 1, 0, DW_OP_lit9),
		CASE("bra taken", 2, 2, DW_OP_lit2, DW_OP_lit1, DW_OP_bra, 1, 0, DW_OP_lit9),
		CASE("a loop that counts to nothing", 0, 0, DW_OP_lit9, DW_OP_lit1, DW_OP_minus,
		     DW_OP_dup, DW_OP_bra, 0xfa, 0xff),
#undef CASE
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		uint64_t v = 0, v32 = 0;

		print_message("%s\n", cases[i].what);
		assert_int_equal(eval(EM_X86_64, cases[i].bytes, cases[i].size, NULL, &v),
				 PEV_EXPR_OK);
		assert_int_equal(v, cases[i].value);
		/* A constant of 64 bits is cut on i386, which changes what is computed from it. */
		if (cases[i].bytes[0] == DW_OP_const8u && cases[i].value == 1ULL << 63)
			continue;
		assert_int_equal(eval(EM_386, cases[i].bytes, cases[i].size, NULL, &v32),
				 PEV_EXPR_OK);
		assert_int_equal(v32, cases[i].value32);
	}
}

static void failures(void **state)
{
	static const struct {
		const char *what;
		uint8_t bytes[MAX_BYTES];
		size_t size;
		enum pev_expr_status status;
	} cases[] = {
#define CASE(what, status, ...) \
	{ what, { __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }), status }
		{ "nothing at all", { 0 }, 0, PEV_EXPR_TOO_HARD },
		CASE("an empty stack", PEV_EXPR_TOO_HARD, DW_OP_plus),
		CASE("one operand of two", PEV_EXPR_TOO_HARD, DW_OP_lit1, DW_OP_plus),
		CASE("a pick too deep", PEV_EXPR_TOO_HARD, DW_OP_lit1, DW_OP_pick, 1),
		CASE("nothing left", PEV_EXPR_TOO_HARD, DW_OP_lit1, DW_OP_drop),
		CASE("an operand cut short", PEV_EXPR_TOO_HARD, DW_OP_const4u, 1, 2),
		CASE("a LEB128 cut short", PEV_EXPR_TOO_HARD, DW_OP_constu, 0x80),
		CASE("an unknown operator", PEV_EXPR_TOO_HARD, 0xff),
		CASE("a location", PEV_EXPR_TOO_HARD, DW_OP_reg0),
		CASE("the frame base", PEV_EXPR_TOO_HARD, DW_OP_fbreg, 0),
		CASE("a division by zero", PEV_EXPR_TOO_HARD, DW_OP_lit1, DW_OP_lit0, DW_OP_div),
		CASE("a rest by zero", PEV_EXPR_TOO_HARD, DW_OP_lit1, DW_OP_lit0, DW_OP_mod),
		CASE("a jump before the start", PEV_EXPR_TOO_HARD, DW_OP_skip, 0xfc, 0xff),
		CASE("a jump beyond the end", PEV_EXPR_TOO_HARD, DW_OP_lit1, DW_OP_skip, 1, 0),
		CASE("a loop for ever", PEV_EXPR_TOO_HARD, DW_OP_lit1, DW_OP_skip, 0xfd, 0xff),
		CASE("a stack for ever", PEV_EXPR_TOO_HARD, DW_OP_lit1, DW_OP_skip, 0xfc, 0xff),
		CASE("a word of no bytes", PEV_EXPR_TOO_HARD, DW_OP_breg0, 0, DW_OP_deref_size, 0),
		CASE("a word of 9 bytes", PEV_EXPR_TOO_HARD, DW_OP_breg0, 0, DW_OP_deref_size, 9),
		CASE("memory that is not there", PEV_EXPR_UNREADABLE, DW_OP_lit1, DW_OP_deref),
		CASE("a register not known", PEV_EXPR_LOST_REG, DW_OP_breg8, 0),
		CASE("a register not kept", PEV_EXPR_LOST_REG, DW_OP_breg31, 0),
		CASE("a register that never was", PEV_EXPR_LOST_REG, DW_OP_bregx, 0xff, 0x7f, 0),
#undef CASE
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		uint64_t v = 42;

		print_message("%s\n", cases[i].what);
		assert_int_equal(eval(EM_X86_64, cases[i].bytes, cases[i].size, NULL, &v),
				 cases[i].status);
		assert_int_equal(v, 42);
	}
}

static void starts_with_the_cfa(void **state)
{
	static const uint8_t bytes[] = { DW_OP_lit8, DW_OP_minus };
	const uint64_t cfa = 0x2000;
	uint64_t v;

	(void)state;
	assert_int_equal(eval(EM_X86_64, bytes, sizeof(bytes), &cfa, &v), PEV_EXPR_OK);
	assert_int_equal(v, 0x1ff8);
}

/* The expression of a procedure linkage table: the second half of an entry has pushed a word. */
static void plt_expression(void **state)
{
	static const uint8_t bytes[] = { DW_OP_breg7, 8,         DW_OP_breg6, 0,
					 DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge,
					 DW_OP_lit3,  DW_OP_shl, DW_OP_plus };
	uint64_t v;

	(void)state;
	/* Register 6 stands for the pc: 0x1030 ends in 0. */
	assert_int_equal(eval(EM_X86_64, bytes, sizeof(bytes), NULL, &v), PEV_EXPR_OK);
	assert_int_equal(v, 0x1038 + 8);
}

static void random_bytes(void **state)
{
	uint64_t seed = 1, v;
	uint8_t bytes[MAX_BYTES];

	(void)state;
	for (int i = 0; i < 200000; i++) {
		for (size_t j = 0; j < sizeof(bytes); j++)
			bytes[j] = (uint8_t)test_random(&seed);
		(void)eval(i % 2 ? EM_386 : EM_AARCH64, bytes, 1 + test_random(&seed) % MAX_BYTES,
			   NULL, &v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(failures),
		cmocka_unit_test(starts_with_the_cfa),
		cmocka_unit_test(plt_expression),
		cmocka_unit_test(random_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
