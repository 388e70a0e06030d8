// SPDX-License-Identifier: LGPL-2.1-or-later
/* From CFA programs to rows. */
#include "tests/unit/test.h"

#include "base/checked.h"
#include "tests/unit/cfi_build.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define START    0x4000 /* of the function */
#define SIZE     0x100
#define TEXT_MAX 1024

/* DW_OP_breg7 + 8, and as many more bytes. */
#define BREG7_8 0x77, 8

static void say_rule(char *text, const char *name, const struct pev_cfi_rule *rule)
{
	static const char *const how[] = {
		[PEV_CFI_UNDEFINED] = "undefined", [PEV_CFI_SAME] = "same",
		[PEV_CFI_AT_CFA] = "[c%+d]",       [PEV_CFI_IS_CFA] = "c%+d",
		[PEV_CFI_AT_REG] = "[r%u%+d]",     [PEV_CFI_IS_REG] = "r%u%+d",
		[PEV_CFI_AT_EXPR] = "[e%u]",       [PEV_CFI_IS_EXPR] = "e%u",
	};
	char *const p = text + strlen(text);
	const size_t left = TEXT_MAX - (size_t)(p - text);
	char value[64];

	switch (rule->how) {
	case PEV_CFI_AT_CFA:
	case PEV_CFI_IS_CFA:
		(void)snprintf(value, sizeof(value),
			       rule->how == PEV_CFI_AT_CFA ? "[c%+d]" : "c%+d", rule->off);
		break;
	case PEV_CFI_AT_REG:
	case PEV_CFI_IS_REG:
		(void)snprintf(value, sizeof(value),
			       rule->how == PEV_CFI_AT_REG ? "[r%u%+d]" : "r%u%+d", rule->base,
			       rule->off);
		break;
	case PEV_CFI_AT_EXPR:
	case PEV_CFI_IS_EXPR:
		(void)snprintf(value, sizeof(value), rule->how == PEV_CFI_AT_EXPR ? "[e%u]" : "e%u",
			       rule->base);
		break;
	default:
		(void)snprintf(value, sizeof(value), "%s", how[rule->how]);
	}
	(void)snprintf(p, left, " %s=%s", name, value);
}

/* "+0 cfa=r7+8 ra=[c-8]" and so on, a row per line, until there is none. */
static void say_rows(char *text, struct pev_cfi *cfi, uint64_t start, uint64_t end)
{
	const struct pev_cfi_row *row;

	text[0] = '\0';
	for (uint64_t at = start; at < end; at = row->start + row->size) {
		char *const p = text + strlen(text);
		const int r = pev_cfi_find(cfi, at, &row);

		(void)snprintf(p, TEXT_MAX - (size_t)(p - text), "%s+%" PRIx64,
			       p == text ? "" : "\n", at - start);
		if (r < 0) {
			strcat(text, r == -ENOENT ? " none" : " bad");
			return;
		}
		assert_int_equal(row->start, at);
		say_rule(text, "cfa", &row->cfa);
		say_rule(text, "ra", &row->ra);
		for (unsigned i = 0; i < row->nr_rules; i++) {
			char name[8];

			(void)snprintf(name, sizeof(name), "r%u", row->rules[i].reg);
			say_rule(text, name, &row->rules[i]);
		}
		if (row->flags & PEV_CFI_SIGNAL)
			strcat(text, " signal");
		if (row->flags & PEV_CFI_RA_SIGNED)
			strcat(text, " signed");
		if (row->flags & PEV_CFI_READS_REG)
			strcat(text, " reads");
	}
}

struct program {
	const char *what;
	uint8_t bytes[32];
	size_t size;
	const char *rows;
};

#define PROGRAM(what, rows, ...)                                                \
	{                                                                       \
		what, { __VA_ARGS__ }, sizeof((uint8_t[]){ __VA_ARGS__ }), rows \
	}

/* Runs each program in a function of @arch after a CIE that says what the ABI does. */
static void check_programs(unsigned machine, const struct build_cie *cie,
			   const struct program *programs, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct cfi_build b = { .arch = pev_arch_of_elf(machine) };
		char text[TEXT_MAX];
		struct pev_cfi *cfi;

		print_message("%s\n", programs[i].what);
		build_cie(&b, cie, NO_BYTES);
		build_fde(&b, START, SIZE, programs[i].bytes, programs[i].size);
		cfi = build_new(&b);
		say_rows(text, cfi, START, START + SIZE);
		assert_string_equal(text, programs[i].rows);
		pev_cfi_free(cfi);
		pev_buf_done(&b.bytes);
	}
}

#define R0 "+0 cfa=r7+8 ra=[c-8]"

static void programs_x86_64(void **state)
{
	static const struct program programs[] = {
		PROGRAM("nothing", R0, DW_CFA_nop),
		PROGRAM("push", R0 "\n+1 cfa=r7+16 ra=[c-8] r6=[c-16]", DW_CFA_advance_loc | 1,
			DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2),
		PROGRAM("rows that say the same are one", R0, DW_CFA_advance_loc | 1,
			DW_CFA_def_cfa_offset, 8, DW_CFA_advance_loc | 1),
		PROGRAM("advance_loc1", R0 "\n+80 cfa=r6+8 ra=[c-8]", DW_CFA_advance_loc1, 0x80,
			DW_CFA_def_cfa_register, 6),
		PROGRAM("advance_loc2", R0 "\n+80 cfa=r6+8 ra=[c-8]", DW_CFA_advance_loc2, 0x80, 0,
			DW_CFA_def_cfa_register, 6),
		PROGRAM("advance_loc4", R0 "\n+80 cfa=r6+8 ra=[c-8]", DW_CFA_advance_loc4, 0x80, 0,
			0, 0, DW_CFA_def_cfa_register, 6),
		PROGRAM("an advance to the end, and what comes after it", R0, DW_CFA_advance_loc2,
			0, 1, DW_CFA_def_cfa_register, 6),
		PROGRAM("def_cfa", "+0 cfa=r3+24 ra=[c-8]", DW_CFA_def_cfa, 3, 24),
		PROGRAM("def_cfa_sf", "+0 cfa=r3+24 ra=[c-8]", DW_CFA_def_cfa_sf, 3, 0x7d),
		PROGRAM("def_cfa_offset_sf", "+0 cfa=r7+24 ra=[c-8]", DW_CFA_def_cfa_offset_sf,
			0x7d),
		PROGRAM("offset_extended", "+0 cfa=r7+8 ra=[c-8] r3=[c-24]", DW_CFA_offset_extended,
			3, 3),
		PROGRAM("offset_extended_sf", "+0 cfa=r7+8 ra=[c-8] r3=[c+24]",
			DW_CFA_offset_extended_sf, 3, 0x7d),
		PROGRAM("GNU_negative_offset_extended", "+0 cfa=r7+8 ra=[c-8] r3=[c+24]",
			DW_CFA_GNU_negative_offset_extended, 3, 3),
		PROGRAM("val_offset", "+0 cfa=r7+8 ra=[c-8] r3=c-16", DW_CFA_val_offset, 3, 2),
		PROGRAM("val_offset_sf", "+0 cfa=r7+8 ra=[c-8] r7=c+16", DW_CFA_val_offset_sf, 7,
			0x7e),
		PROGRAM("register", "+0 cfa=r7+8 ra=r2+0 r3=r12+0 reads", DW_CFA_register, 16, 2,
			DW_CFA_register, 3, 12),
		PROGRAM("undefined", "+0 cfa=r7+8 ra=undefined r3=undefined", DW_CFA_undefined, 16,
			DW_CFA_undefined, 3),
		PROGRAM("same_value", "+0 cfa=r7+8 ra=[c-8] r0=same reads", DW_CFA_same_value, 0,
			DW_CFA_same_value, 3),
		PROGRAM("restore", "+0 cfa=r7+8 ra=[c-8] r3=[c-16]\n+1 cfa=r7+8 ra=[c-8]",
			DW_CFA_offset | 3, 2, DW_CFA_advance_loc | 1, DW_CFA_restore | 3),
		PROGRAM("restore_extended", "+0 cfa=r7+8 ra=[c-8] r3=[c-16]\n+1 cfa=r7+8 ra=[c-8]",
			DW_CFA_offset | 3, 2, DW_CFA_advance_loc | 1, DW_CFA_restore_extended, 3),
		PROGRAM("remember and restore",
			R0 "\n+1 cfa=r6+16 ra=[c-8] r6=[c-16]\n+2 cfa=r7+8 ra=[c-8]",
			DW_CFA_remember_state, DW_CFA_advance_loc | 1, DW_CFA_def_cfa, 6, 16,
			DW_CFA_offset | 6, 2, DW_CFA_advance_loc | 1, DW_CFA_restore_state),
		PROGRAM("GNU_args_size", R0, DW_CFA_GNU_args_size, 0x80, 1),
		PROGRAM("columns that are not kept", R0, DW_CFA_offset | 17, 2,
			DW_CFA_offset_extended, 0xff, 1, 2, DW_CFA_restore | 40, DW_CFA_same_value,
			50),
		PROGRAM("an expression that is a register", "+0 cfa=r7+8 ra=[c-8]",
			DW_CFA_def_cfa_expression, 2, BREG7_8),
		PROGRAM("an expression that is a word in memory", "+0 cfa=[r6-8] ra=[c-8]",
			DW_CFA_def_cfa_expression, 3, 0x76, 0x78, DW_OP_deref),
		PROGRAM("an expression", "+0 cfa=e3 ra=[c-8]", DW_CFA_def_cfa_expression, 3,
			BREG7_8, DW_OP_nop),
		PROGRAM("expressions of registers",
			"+0 cfa=r7+8 ra=[r7+8] r3=r7+8 r6=[e3] r12=e3 r13=[r7+8] reads",
			DW_CFA_expression, 16, 2, BREG7_8, DW_CFA_val_expression, 3, 2, BREG7_8,
			DW_CFA_expression, 6, 3, BREG7_8, DW_OP_deref, DW_CFA_val_expression, 12, 3,
			BREG7_8, DW_OP_nop, DW_CFA_val_expression, 13, 3, BREG7_8, DW_OP_deref),
		PROGRAM("from an expression back to the last offset",
			"+0 cfa=e1 ra=[c-8]\n+1 cfa=r6+8 ra=[c-8]", DW_CFA_def_cfa_expression, 1,
			DW_OP_lit1, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_register, 6),
	};

	(void)state;
	check_programs(EM_X86_64, &(struct build_cie){ 0 }, programs, PEV_ARRAY_SIZE(programs));
}

static void programs_that_fail(void **state)
{
	static const struct program programs[] = {
		PROGRAM("an unknown instruction, later", R0 "\n+1 bad", DW_CFA_advance_loc | 1,
			0x3f),
		PROGRAM("an unknown instruction, at once", "+0 bad", 0x3f),
		PROGRAM("one of aarch64", "+0 bad", 0x2d),
		PROGRAM("a state that nobody remembered", "+0 bad", DW_CFA_restore_state),
		PROGRAM("a location that goes back", R0 "\n+2 bad", DW_CFA_advance_loc | 2,
			DW_CFA_set_loc, 0, 0, 0xff, 0xff),
		PROGRAM("an offset out of range", "+0 bad", DW_CFA_offset | 3, 0xff, 0xff, 0xff,
			0xff, 0x7f),
		PROGRAM("a column out of range", "+0 bad", DW_CFA_def_cfa, 0xff, 0xff, 0x7f, 8),
		PROGRAM("an expression cut short", "+0 bad", DW_CFA_def_cfa_expression, 20,
			DW_OP_lit1),
		PROGRAM("an operand cut short", "+0 bad", DW_CFA_nop, DW_CFA_nop, DW_CFA_nop,
			DW_CFA_def_cfa_offset, 0x80, 0x80, 0x80),
	};

	(void)state;
	check_programs(EM_X86_64, &(struct build_cie){ 0 }, programs, PEV_ARRAY_SIZE(programs));
}

static void signal_frame(void **state)
{
	static const struct program programs[] = {
		PROGRAM("S", "+0 cfa=[r7+8] ra=[r7+8] r7=[r7+8] signal reads",
			DW_CFA_def_cfa_expression, 3, BREG7_8, DW_OP_deref, DW_CFA_expression, 16,
			2, BREG7_8, DW_CFA_expression, 7, 2, BREG7_8),
	};

	(void)state;
	check_programs(EM_X86_64, &(struct build_cie){ .augmentation = "zRS" }, programs, 1);
}

static void programs_aarch64(void **state)
{
	static const struct program programs[] = {
		PROGRAM("leaf", "+0 cfa=r31+0 ra=same", DW_CFA_nop),
		PROGRAM("frame", "+0 cfa=r31+0 ra=same\n+4 cfa=r31+32 ra=[c-24] r29=[c-32]",
			DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 29, 4,
			DW_CFA_offset | 30, 3),
		PROGRAM("signed return address",
			"+0 cfa=r31+0 ra=same\n+4 cfa=r31+0 ra=same signed\n+8 cfa=r31+0 ra=same",
			DW_CFA_advance_loc | 1, 0x2d, DW_CFA_advance_loc | 1, 0x2d),
		PROGRAM("signed with the pc",
			"+0 cfa=r31+0 ra=same\n+4 cfa=r31+0 ra=same signed\n+8 cfa=r31+0 ra=same",
			DW_CFA_advance_loc | 1, 0x2c, DW_CFA_advance_loc | 1, 0x2b, 0, 0),
		PROGRAM("a remembered sign",
			"+0 cfa=r31+0 ra=same signed\n+4 cfa=r31+0 ra=same\n"
			"+8 cfa=r31+0 ra=same signed",
			0x2d, DW_CFA_remember_state, DW_CFA_advance_loc | 1, 0x2d,
			DW_CFA_advance_loc | 1, DW_CFA_restore_state),
	};

	(void)state;
	check_programs(EM_AARCH64, &(struct build_cie){ .augmentation = "zRB", .code_align = 4 },
		       programs, PEV_ARRAY_SIZE(programs));
	/* __rawmemchr() of glibc has its return address in x15 and says so in a CIE. */
	check_programs(
		EM_AARCH64, &(struct build_cie){ .ra = 15 },
		&(struct program){ "another column", { DW_CFA_nop }, 1, "+0 cfa=r31+0 ra=same" },
		1);
}

/* The shapes that a CIE may have; each must lead to the same row. */
static void cies(void **state)
{
	static const struct {
		const char *what;
		struct build_cie cie;
		bool debug, wide, bad;
	} cases[] = {
		{ "zR", { .augmentation = "zR" }, false, false, false },
		{ "zPLR", { .augmentation = "zPLR" }, false, false, false },
		{ "an unknown letter after the known",
		  { .augmentation = "zRX" },
		  false,
		  false,
		  false },
		{ "64 bits", { .augmentation = "zR" }, false, true, false },
		{ ".debug_frame", { 0 }, true, false, false },
		{ ".debug_frame of 64 bits", { 0 }, true, true, false },
		{ "version 3", { .version = 3 }, true, false, false },
		{ "version 4", { .version = 4 }, true, false, false },
		{ "version 2", { .version = 2 }, true, false, true },
		{ "eh, of old gcc", { .augmentation = "eh" }, true, false, false },
		{ "an augmentation of unknown size",
		  { .augmentation = "armcc" },
		  true,
		  false,
		  true },
		{ "a column of no register", { .ra = 40 }, true, false, true },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		struct cfi_build b = { .arch = pev_arch_of_elf(EM_X86_64),
				       .debug = cases[i].debug,
				       .wide = cases[i].wide };
		char text[TEXT_MAX];
		struct pev_cfi *cfi;

		print_message("%s\n", cases[i].what);
		build_cie(&b, &cases[i].cie, BYTES(DW_CFA_def_cfa, 7, 24, DW_CFA_offset | 6, 2));
		build_fde(&b, START, SIZE, BYTES(DW_CFA_restore | 6));
		cfi = build_new(&b);
		say_rows(text, cfi, START, START + SIZE);
		/* An FDE whose CIE has no column for the return address is found, but no good. */
		assert_string_equal(text, !cases[i].bad ? "+0 cfa=r7+24 ra=[c-8] r6=[c-16]"
					  : cases[i].cie.ra == 40 ? "+0 bad"
								  : "+0 none");
		pev_cfi_free(cfi);
		pev_buf_done(&b.bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_x86_64),
		cmocka_unit_test(programs_that_fail),
		cmocka_unit_test(signal_frame),
		cmocka_unit_test(programs_aarch64),
		cmocka_unit_test(cies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
