// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libdw describes a rule by DWARF operations, pevrec by struct pev_cfi_rule. Both are written out
 * as text, and the texts are compared: "breg7+8", "cfa +-16", "breg6+-8 op6" and so on.
 */
#include "cfi_oracle.h"

#include "base/cursor.h"
#include "unwind/cfi_entry.h"
#include "unwind/leb.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_MAX         512
#define DIFFERENCES_TOLD 10

struct text {
	char s[TEXT_MAX];
	size_t n;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->s + t->n, sizeof(t->s) - t->n, fmt, ap);
	va_end(ap);
	t->n += n > 0 ? (size_t)n : 0;
	if (t->n >= sizeof(t->s))
		t->n = sizeof(t->s) - 1;
}

/* One operation with up to two operands. */
static void say_op(struct text *t, uint8_t atom, uint64_t a, uint64_t b)
{
	if (atom == DW_OP_bregx)
		say(t, " breg%" PRIu64 "+%" PRId64, a, (int64_t)b);
	else if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		say(t, " breg%d+%" PRId64, atom - DW_OP_breg0, (int64_t)a);
	else if (atom == DW_OP_call_frame_cfa)
		say(t, " cfa");
	else if (atom == DW_OP_plus_uconst)
		say(t, " +%" PRId64, (int64_t)a);
	else
		say(t, " op%x:%" PRIx64, atom, a);
}

static void say_libdw(struct text *t, const Dwarf_Op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++)
		say_op(t, ops[i].atom, ops[i].number, ops[i].number2);
}

static uint64_t operand(struct pev_cursor *c, uint8_t op)
{
	switch (op) {
	case DW_OP_const1u:
	case DW_OP_pick:
	case DW_OP_deref_size:
		return pev_cursor_u8(c);
	case DW_OP_const1s:
		return (uint64_t)(int8_t)pev_cursor_u8(c);
	case DW_OP_const2u:
		return pev_cursor_u16(c);
	case DW_OP_const2s:
	case DW_OP_skip:
	case DW_OP_bra:
		return (uint64_t)(int16_t)pev_cursor_u16(c);
	case DW_OP_const4u:
		return pev_cursor_u32(c);
	case DW_OP_const4s:
		return (uint64_t)(int32_t)pev_cursor_u32(c);
	case DW_OP_constu:
	case DW_OP_plus_uconst:
	case DW_OP_bregx:
		return pev_cursor_uleb(c);
	case DW_OP_consts:
	case DW_OP_breg0 ... DW_OP_breg31:
		return (uint64_t)pev_cursor_sleb(c);
	default:
		return 0;
	}
}

static void say_expression(struct text *t, const uint8_t *bytes, size_t size)
{
	struct pev_cursor c = pev_cursor(bytes, size);

	while (pev_cursor_left(&c) && !c.failed) {
		const uint8_t op = pev_cursor_u8(&c);
		const uint64_t a = operand(&c, op);

		say_op(t, op, a, op == DW_OP_bregx ? (uint64_t)pev_cursor_sleb(&c) : 0);
	}
}

static void say_register_rule(struct text *t, const struct pev_cfi_row *row,
			      const struct pev_cfi_rule *rule, const char *libdw)
{
	switch (rule->how) {
	case PEV_CFI_UNDEFINED:
		say(t, "undefined");
		break;
	case PEV_CFI_SAME:
		say(t, "same");
		break;
	case PEV_CFI_AT_CFA:
	case PEV_CFI_IS_CFA:
		say(t, " cfa");
		if (rule->off)
			say(t, " +%d", rule->off);
		break;
	case PEV_CFI_AT_REG:
		say(t, " cfa breg%u+%d", rule->base, rule->off);
		break;
	case PEV_CFI_IS_REG:
		/* Both DW_CFA_register and an expression end here. */
		if (!strncmp(libdw, " cfa", 4))
			say(t, " cfa breg%u+%d", rule->base, rule->off);
		else
			say(t, " op%x:%x", DW_OP_regx, rule->base);
		break;
	default:
		say(t, " cfa");
		say_expression(t, row->exprs + (uint32_t)rule->off, rule->base);
	}
	if (rule->how == PEV_CFI_IS_CFA || rule->how == PEV_CFI_IS_EXPR ||
	    (rule->how == PEV_CFI_IS_REG && !strncmp(libdw, " cfa", 4)))
		say(t, " op%x:0", DW_OP_stack_value);
}

static void say_cfa(struct text *t, const struct pev_cfi_row *row)
{
	if (row->cfa.how == PEV_CFI_IS_EXPR) {
		say_expression(t, row->exprs + (uint32_t)row->cfa.off, row->cfa.base);
		return;
	}
	say(t, " breg%u+%d", row->cfa.base, row->cfa.off);
	if (row->cfa.how == PEV_CFI_AT_REG)
		say(t, " op%x:0", DW_OP_deref);
}

static struct pev_cfi_rule rule_of(const struct pev_arch *arch, const struct pev_cfi_row *row,
				   unsigned column)
{
	struct pev_cfi_rule rule = { .reg = (uint8_t)column };

	if (column == row->ra.reg)
		return row->ra;
	for (unsigned i = 0; i < row->nr_rules; i++)
		if (row->rules[i].reg == column)
			return row->rules[i];
	if (column == arch->sp)
		rule.how = PEV_CFI_IS_CFA;
	else if (arch->callee_saved >> column & 1)
		rule.how = PEV_CFI_SAME;
	return rule;
}

static void tell(struct cfi_oracle_counts *counts, uint64_t pc, const char *what,
		 const struct text *ours, const struct text *libdw)
{
	if (counts->different++ < DIFFERENCES_TOLD)
		fprintf(stderr, "0x%" PRIx64 ", %s: \"%s\", but libdw: \"%s\"\n", pc, what, ours->s,
			libdw->s);
}

/*
 * Where libdw 0.188 is wrong. It takes column 0 of x86-64 for rbx, which is column 3 (psABI, figure
 * 3.36), where it says which registers a callee preserves. It takes a return address in a column of
 * its own, without a rule, for undefined (__rawmemchr of glibc on aarch64 has it in x15).
 */
static bool libdw_errs(const struct pev_arch *arch, const struct pev_cfi_row *row, unsigned column,
		       const char *ours, const char *libdw)
{
	if (column == row->ra.reg && column != arch->ra)
		return !strcmp(ours, "same") && !strcmp(libdw, "undefined");
	if (arch->machine != EM_X86_64)
		return false;
	return (column == 0 && !strcmp(ours, "undefined") && !strcmp(libdw, "same")) ||
	       (column == 3 && !strcmp(ours, "same") && !strcmp(libdw, "undefined"));
}

static void compare_register(const struct pev_arch *arch, const struct pev_cfi_row *row,
			     uint64_t pc, unsigned column, Dwarf_Frame *frame,
			     struct cfi_oracle_counts *counts)
{
	const struct pev_cfi_rule rule = rule_of(arch, row, column);
	struct text ours = { "", 0 }, libdw = { "", 0 };
	char what[32];
	Dwarf_Op mem[3], *ops;
	size_t n;

	if (dwarf_frame_register(frame, (int)column, mem, &ops, &n))
		say(&libdw, "%s", dwarf_errmsg(-1));
	else if (!n)
		say(&libdw, ops == mem ? "undefined" : "same");
	else
		say_libdw(&libdw, ops, n);
	say_register_rule(&ours, row, &rule, libdw.s);
	counts->expressions += rule.how == PEV_CFI_AT_EXPR || rule.how == PEV_CFI_IS_EXPR;
	(void)snprintf(what, sizeof(what), "register %u", column);
	if (strcmp(ours.s, libdw.s) != 0 && !libdw_errs(arch, row, column, ours.s, libdw.s))
		tell(counts, pc, what, &ours, &libdw);
}

static void compare_at(const struct pev_arch *arch, const struct pev_cfi_row *row, uint64_t pc,
		       Dwarf_CFI *cfi, struct cfi_oracle_counts *counts)
{
	struct text ours = { "", 0 }, libdw = { "", 0 };
	Dwarf_Frame *frame;
	Dwarf_Op *ops;
	size_t n;
	bool signal;

	if (dwarf_cfi_addrframe(cfi, pc, &frame)) {
		counts->refused += row != NULL;
		return;
	}
	if (!row) {
		say(&ours, "nothing");
		tell(counts, pc, "frame", &ours, &libdw);
		free(frame);
		return;
	}
	(void)dwarf_frame_info(frame, NULL, NULL, &signal);
	counts->expressions += row->cfa.how == PEV_CFI_IS_EXPR;
	say_cfa(&ours, row);
	if (dwarf_frame_cfa(frame, &ops, &n))
		counts->refused++;
	else
		say_libdw(&libdw, ops, n);
	if (libdw.n && strcmp(ours.s, libdw.s) != 0)
		tell(counts, pc, "CFA", &ours, &libdw);
	if (signal != !!(row->flags & PEV_CFI_SIGNAL))
		tell(counts, pc, "signal frame", &ours, &libdw);
	for (unsigned i = 0; i < arch->nr_regs; i++)
		compare_register(arch, row, pc, i, frame, counts);
	free(frame);
}

static void compare_function(struct pev_cfi *cfi, const struct pev_fde *fde, Dwarf_CFI *libdw,
			     struct cfi_oracle_counts *counts)
{
	const struct pev_arch *const arch = pev_cfi_sections(cfi)->arch;
	const struct pev_cfi_row *row;

	counts->functions++;
	for (uint64_t pc = fde->start; pc < fde->end; pc = row->start + row->size) {
		if (pev_cfi_find(cfi, pc, &row) < 0) {
			compare_at(arch, NULL, pc, libdw, counts);
			return;
		}
		counts->rows++;
		compare_at(arch, row, pc, libdw, counts);
		compare_at(arch, row, row->start + row->size - 1, libdw, counts);
	}
}

void cfi_oracle_compare(struct pev_cfi *cfi, bool debug, Dwarf_CFI *libdw, size_t every,
			struct cfi_oracle_counts *counts)
{
	const struct pev_cfi_sections *const s = pev_cfi_sections(cfi);
	const struct pev_cfi_table table = { .of = s,
					     .section = debug ? &s->debug_frame : &s->eh_frame,
					     .debug = debug };
	struct pev_entry entry;
	struct pev_fde fde;
	size_t nth = 0;

	for (size_t at = 0; pev_entry_read(&table, at, &entry) >= 0; at = entry.next)
		if (!entry.is_cie && nth++ % every == 0 && pev_fde_read(&table, at, &fde) >= 0)
			compare_function(cfi, &fde, libdw, counts);
}
