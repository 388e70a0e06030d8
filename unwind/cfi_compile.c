// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The interpreter of CFA programs (DWARF 5, section 6.4.2): runs the CIE's, then the FDE's, and
 * writes down a row each time the location moves on. What differs from row to row is mostly the
 * CFA, so consecutive rows share their register rules.
 *
 * A program that goes wrong is believed up to the location where it does; from there to the end of
 * the function lies one row marked PEV_CFI_BAD.
 */
#include "unwind/cfi_entry.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "unwind/leb.h"

#include <dwarf.h>
#include <elf.h>
#include <errno.h>

#define MAX_ROWS       65536 /* the largest function seen had 15715 */
#define MAX_REMEMBERED 1024
#define MAX_EMPTY      8 /* functions without code in a row */

/* AADWARF64, "Call frame instructions"; dwarf.h knows 0x2d by the name that SPARC uses it under. */
#define DW_CFA_AARCH64_set_ra_state            0x2b
#define DW_CFA_AARCH64_negate_ra_state_with_pc 0x2c
#define DW_CFA_AARCH64_negate_ra_state         0x2d

struct state {
	struct pev_cfi_rule cfa;
	int32_t cfa_offset; /* the last one set; outlives a CFA that is an expression */
	struct pev_cfi_rule reg[PEV_ARCH_MAX_REGS];
	bool ra_signed;
};

/* A row whose rules are still an index, because the array of rules may yet move. */
struct draft {
	struct pev_cfi_row row;
	size_t first_rule;
};

struct compiler {
	const struct pev_cfi_table *table;
	const struct pev_arch *arch;
	const struct pev_fde *fde;
	struct state abi;     /* before any CFI */
	struct state initial; /* after the CIE's program */
	struct state now;
	struct pev_buf remembered; /* struct state */
	struct pev_buf rows;       /* struct draft */
	struct pev_buf rules;      /* struct pev_cfi_rule */
	uint64_t row_start;
	bool in_cie;
	bool done; /* the location reached the end of the function */
	int r;     /* why the program stopped making sense */
};

static void bad(struct compiler *c)
{
	if (!c->r)
		c->r = -EBADMSG;
}

/* What the ABI says of a column before any CFI does. */
static struct pev_cfi_rule abi_rule(const struct pev_arch *arch, unsigned column)
{
	struct pev_cfi_rule rule = { .reg = (uint8_t)column };

	if (column == arch->sp) {
		rule.how = PEV_CFI_IS_CFA;
	} else if (column == arch->ra && arch->ra == arch->pc) {
		rule.how = PEV_CFI_AT_CFA;
		rule.off = -arch->word;
	} else if (arch->callee_saved >> column & 1) {
		rule.how = PEV_CFI_SAME;
	}
	return rule;
}

static bool rule_is(const struct pev_cfi_rule *a, const struct pev_cfi_rule *b)
{
	return a->reg == b->reg && a->how == b->how && a->base == b->base && a->off == b->off;
}

static bool reads_register(const struct pev_cfi_rule *rule)
{
	return rule->how != PEV_CFI_UNDEFINED && rule->how != PEV_CFI_AT_CFA &&
	       rule->how != PEV_CFI_IS_CFA;
}

static size_t nr_rows(const struct compiler *c)
{
	return c->rows.size / sizeof(struct draft);
}

static struct draft *last_row(const struct compiler *c)
{
	return nr_rows(c) ? (struct draft *)(void *)c->rows.data + nr_rows(c) - 1 : NULL;
}

/* Writes the register rules of the current state where they differ from the ABI's, unless the last
 * row has the very same ones. */
static void put_rules(struct compiler *c, struct draft *draft)
{
	const struct draft *const last = last_row(c);
	struct pev_cfi_rule rules[PEV_ARCH_MAX_REGS];
	uint8_t n = 0;
	bool same;

	for (unsigned i = 0; i < c->arch->nr_regs; i++) {
		if (i == c->fde->cie.ra || rule_is(&c->now.reg[i], &c->abi.reg[i]))
			continue;
		if (reads_register(&c->now.reg[i]))
			draft->row.flags |= PEV_CFI_READS_REG;
		rules[n++] = c->now.reg[i];
	}
	draft->row.nr_rules = n;
	draft->first_rule = c->rules.size / sizeof(*rules);
	same = last && last->row.nr_rules == n;
	for (size_t i = 0; same && i < n; i++)
		same = rule_is(&rules[i],
			       (struct pev_cfi_rule *)(void *)c->rules.data + last->first_rule + i);
	if (same)
		draft->first_rule = last->first_rule;
	else
		pev_buf_put(&c->rules, rules, n * sizeof(*rules));
}

static bool row_continues(const struct draft *last, const struct draft *next)
{
	return last && last->row.flags == next->row.flags && last->first_rule == next->first_rule &&
	       last->row.nr_rules == next->row.nr_rules &&
	       rule_is(&last->row.cfa, &next->row.cfa) && rule_is(&last->row.ra, &next->row.ra);
}

/* Ends the current row at @end and starts the next one there. */
static void put_row(struct compiler *c, uint64_t end, uint8_t flags)
{
	struct draft draft = {
		.row = { .start = c->row_start,
			 .size = (uint32_t)(end - c->row_start),
			 .flags = flags,
			 .cfa = c->now.cfa,
			 .ra = c->now.reg[c->fde->cie.ra],
			 .exprs = c->table->section->data },
	};
	struct draft *const last = last_row(c);

	if (end == c->row_start)
		return;
	if (c->fde->cie.signal)
		draft.row.flags |= PEV_CFI_SIGNAL;
	if (c->now.ra_signed)
		draft.row.flags |= PEV_CFI_RA_SIGNED;
	put_rules(c, &draft);
	c->row_start = end;
	if (row_continues(last, &draft))
		last->row.size += draft.row.size;
	else if (nr_rows(c) == MAX_ROWS)
		c->r = -E2BIG;
	else
		pev_buf_put(&c->rows, &draft, sizeof(draft));
	if (pev_buf_status(&c->rows) || pev_buf_status(&c->rules))
		c->r = -ENOMEM;
}

static void set_location(struct compiler *c, uint64_t to)
{
	if (c->in_cie || to < c->row_start)
		return bad(c);
	c->done = to >= c->fde->end;
	put_row(c, c->done ? c->fde->end : to, 0);
}

static void advance(struct compiler *c, uint64_t units)
{
	uint64_t by, to;

	if (__builtin_mul_overflow(units, c->fde->cie.code_align, &by) ||
	    __builtin_add_overflow(c->row_start, by, &to))
		to = UINT64_MAX;
	set_location(c, to);
}

/* An offset in a rule: what fits 31 bits and a sign. */
static int32_t offset(struct compiler *c, int64_t value, int64_t factor)
{
	int32_t off;

	if (__builtin_mul_overflow(value, factor, &off)) {
		bad(c);
		return 0;
	}
	return off;
}

static uint16_t column(struct compiler *c, uint64_t number)
{
	if (number > UINT16_MAX) {
		bad(c);
		return 0;
	}
	return (uint16_t)number;
}

/* Rules of columns that are not kept are read and dropped. */
static void set_rule(struct compiler *c, uint64_t number, enum pev_cfi_how how, uint16_t base,
		     int32_t off)
{
	if (number < c->arch->nr_regs)
		c->now.reg[number] = (struct pev_cfi_rule){
			.reg = (uint8_t)number, .how = (uint8_t)how, .base = base, .off = off
		};
}

/*
 * The rule for an expression whose result is an address (@address) or the value itself. Most
 * expressions in the wild only say "register plus offset" (the frames of signal handlers, functions
 * that realign their stack) or "what is stored there": those become plain rules. The stubs of the
 * procedure linkage table need the evaluator, but are only ever the innermost frame.
 */
static struct pev_cfi_rule expression_rule(struct compiler *c, struct pev_cursor *p, bool address)
{
	const uint64_t size = pev_cursor_uleb(p);
	struct pev_cfi_rule rule = { 0 };
	struct pev_cursor e = *p;
	int64_t off;
	uint8_t op;

	if (!pev_cursor_bytes(p, (size_t)size) || size > UINT16_MAX) {
		bad(c);
		return rule;
	}
	rule.how = address ? PEV_CFI_AT_EXPR : PEV_CFI_IS_EXPR;
	rule.base = (uint16_t)size;
	rule.off = (int32_t)(uint32_t)(e.p - c->table->section->data);
	e.end = e.p + size;
	op = pev_cursor_u8(&e);
	off = pev_cursor_sleb(&e);
	if (e.failed || op < DW_OP_breg0 || op > DW_OP_breg31 || off != (int32_t)off)
		return rule;
	if (e.p == e.end)
		rule.how = address ? PEV_CFI_AT_REG : PEV_CFI_IS_REG;
	else if (!address && e.p + 1 == e.end && *e.p == DW_OP_deref)
		rule.how = PEV_CFI_AT_REG;
	else
		return rule;
	rule.base = op - DW_OP_breg0;
	rule.off = (int32_t)off;
	return rule;
}

static void set_expression(struct compiler *c, struct pev_cursor *p, bool address)
{
	const uint64_t number = pev_cursor_uleb(p);
	const struct pev_cfi_rule rule = expression_rule(c, p, address);

	set_rule(c, number, rule.how, rule.base, rule.off);
}

static void set_cfa(struct compiler *c, uint64_t number, int32_t off)
{
	c->now.cfa_offset = off;
	c->now.cfa = (struct pev_cfi_rule){ .how = PEV_CFI_IS_REG,
					    .base = column(c, number),
					    .off = off };
}

static void remember(struct compiler *c)
{
	if (c->remembered.size == MAX_REMEMBERED * sizeof(c->now))
		c->r = -E2BIG;
	else
		pev_buf_put(&c->remembered, &c->now, sizeof(c->now));
	if (pev_buf_status(&c->remembered))
		c->r = -ENOMEM;
}

static void recall(struct compiler *c)
{
	if (c->remembered.size < sizeof(c->now))
		return bad(c);
	c->remembered.size -= sizeof(c->now);
	memcpy(&c->now, c->remembered.data + c->remembered.size, sizeof(c->now));
}

static void restore(struct compiler *c, uint64_t number)
{
	if (number < c->arch->nr_regs)
		c->now.reg[number] = c->initial.reg[number];
}

/* Instructions that move the location; false when @op is none of them. */
static bool location_op(struct compiler *c, struct pev_cursor *p, uint8_t op)
{
	const struct pev_cfi_table *const t = c->table;

	switch (op) {
	case DW_CFA_set_loc:
		set_location(c, pev_cursor_encoded(p, t->of, t->section, t->of->data_vaddr,
						   c->fde->cie.pc_enc, c->fde->cie.ptr_size));
		return true;
	case DW_CFA_advance_loc1:
		advance(c, pev_cursor_u8(p));
		return true;
	case DW_CFA_advance_loc2:
		advance(c, pev_cursor_u16(p));
		return true;
	case DW_CFA_advance_loc4:
		advance(c, pev_cursor_u32(p));
		return true;
	case DW_CFA_MIPS_advance_loc8:
		advance(c, pev_cursor_u64(p));
		return true;
	default:
		return false;
	}
}

/* The standard wants a CFA of register and offset here. Hand-written assembly goes back to one from
 * an expression this way (libgcrypt), and gcc's unwinder takes the offset that was last set. */
static void set_cfa_offset(struct compiler *c, int32_t off)
{
	c->now.cfa_offset = off;
	if (c->now.cfa.how == PEV_CFI_IS_REG)
		c->now.cfa.off = off;
}

static bool cfa_op(struct compiler *c, struct pev_cursor *p, uint8_t op)
{
	const int64_t data_align = c->fde->cie.data_align;
	uint64_t number;

	switch (op) {
	case DW_CFA_def_cfa:
		number = pev_cursor_uleb(p);
		set_cfa(c, number, offset(c, (int64_t)pev_cursor_uleb(p), 1));
		return true;
	case DW_CFA_def_cfa_sf:
		number = pev_cursor_uleb(p);
		set_cfa(c, number, offset(c, pev_cursor_sleb(p), data_align));
		return true;
	case DW_CFA_def_cfa_register:
		set_cfa(c, pev_cursor_uleb(p), c->now.cfa_offset);
		return true;
	case DW_CFA_def_cfa_offset:
		set_cfa_offset(c, offset(c, (int64_t)pev_cursor_uleb(p), 1));
		return true;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa_offset(c, offset(c, pev_cursor_sleb(p), data_align));
		return true;
	case DW_CFA_def_cfa_expression:
		c->now.cfa = expression_rule(c, p, false);
		return true;
	default:
		return false;
	}
}

static bool register_op(struct compiler *c, struct pev_cursor *p, uint8_t op)
{
	const int64_t data_align = c->fde->cie.data_align;
	uint64_t number;

	switch (op) {
	case DW_CFA_offset_extended:
		number = pev_cursor_uleb(p);
		set_rule(c, number, PEV_CFI_AT_CFA, 0,
			 offset(c, (int64_t)pev_cursor_uleb(p), data_align));
		return true;
	case DW_CFA_offset_extended_sf:
		number = pev_cursor_uleb(p);
		set_rule(c, number, PEV_CFI_AT_CFA, 0, offset(c, pev_cursor_sleb(p), data_align));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		number = pev_cursor_uleb(p);
		set_rule(c, number, PEV_CFI_AT_CFA, 0,
			 offset(c, -(int64_t)(pev_cursor_uleb(p) & INT64_MAX), data_align));
		return true;
	case DW_CFA_val_offset:
		number = pev_cursor_uleb(p);
		set_rule(c, number, PEV_CFI_IS_CFA, 0,
			 offset(c, (int64_t)pev_cursor_uleb(p), data_align));
		return true;
	case DW_CFA_val_offset_sf:
		number = pev_cursor_uleb(p);
		set_rule(c, number, PEV_CFI_IS_CFA, 0, offset(c, pev_cursor_sleb(p), data_align));
		return true;
	case DW_CFA_undefined:
		set_rule(c, pev_cursor_uleb(p), PEV_CFI_UNDEFINED, 0, 0);
		return true;
	case DW_CFA_same_value:
		set_rule(c, pev_cursor_uleb(p), PEV_CFI_SAME, 0, 0);
		return true;
	case DW_CFA_register:
		number = pev_cursor_uleb(p);
		set_rule(c, number, PEV_CFI_IS_REG, column(c, pev_cursor_uleb(p)), 0);
		return true;
	case DW_CFA_restore_extended:
		restore(c, pev_cursor_uleb(p));
		return true;
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		set_expression(c, p, op == DW_CFA_expression);
		return true;
	default:
		return false;
	}
}

/* Where AArch64 has three instructions for signed return addresses, others have none. */
static void aarch64_op(struct compiler *c, struct pev_cursor *p, uint8_t op)
{
	switch (c->arch->machine == EM_AARCH64 ? op : 0) {
	case DW_CFA_AARCH64_negate_ra_state:
	case DW_CFA_AARCH64_negate_ra_state_with_pc:
		c->now.ra_signed = !c->now.ra_signed;
		return;
	case DW_CFA_AARCH64_set_ra_state:
		c->now.ra_signed = pev_cursor_uleb(p) != 0;
		(void)pev_cursor_sleb(p);
		return;
	default:
		return bad(c);
	}
}

static void instruction(struct compiler *c, struct pev_cursor *p)
{
	const uint8_t byte = pev_cursor_u8(p), low = byte & 0x3f;

	switch (byte & 0xc0) {
	case DW_CFA_advance_loc:
		return advance(c, low);
	case DW_CFA_offset:
		return set_rule(c, low, PEV_CFI_AT_CFA, 0,
				offset(c, (int64_t)pev_cursor_uleb(p), c->fde->cie.data_align));
	case DW_CFA_restore:
		return restore(c, low);
	}
	if (location_op(c, p, byte) || cfa_op(c, p, byte) || register_op(c, p, byte))
		return;
	switch (byte) {
	case DW_CFA_nop:
		return;
	case DW_CFA_GNU_args_size:
		(void)pev_cursor_uleb(p);
		return;
	case DW_CFA_remember_state:
		return remember(c);
	case DW_CFA_restore_state:
		return recall(c);
	default:
		return aarch64_op(c, p, byte);
	}
}

static void run(struct compiler *c, struct pev_cursor program)
{
	while (!c->r && !c->done && pev_cursor_left(&program)) {
		instruction(c, &program);
		if (program.failed)
			bad(c);
	}
}

static void start_state(struct compiler *c)
{
	set_cfa(c, c->arch->sp, c->arch->cfa_offset);
	for (unsigned i = 0; i < c->arch->nr_regs; i++)
		c->now.reg[i] = abi_rule(c->arch, i);
	/* A return address in a register of its own is there until something else is said. */
	if (c->fde->cie.ra != c->arch->ra)
		c->now.reg[c->fde->cie.ra].how = PEV_CFI_SAME;
	c->abi = c->initial = c->now;
}

static int take_rows(const struct compiler *c, struct pev_cfi_rows **ret)
{
	const struct draft *const drafts = (struct draft *)(void *)c->rows.data;
	const size_t nr = nr_rows(c);
	const size_t rows_bytes = sizeof(struct pev_cfi_rows) + nr * sizeof(struct pev_cfi_row);
	struct pev_cfi_rows *const rows = malloc(rows_bytes + c->rules.size);
	struct pev_cfi_rule *rules;

	if (!rows)
		return -ENOMEM;
	rows->nr = nr;
	rows->bytes = rows_bytes + c->rules.size;
	rules = (struct pev_cfi_rule *)(void *)((uint8_t *)rows + rows_bytes);
	if (c->rules.size)
		memcpy(rules, c->rules.data, c->rules.size);
	for (size_t i = 0; i < nr; i++) {
		rows->row[i] = drafts[i].row;
		rows->row[i].rules = rules + drafts[i].first_rule;
	}
	*ret = rows;
	return 0;
}

static int compile(struct compiler *c, struct pev_cfi_rows **ret)
{
	start_state(c);
	c->in_cie = true;
	run(c, c->fde->cie.program);
	if (c->r)
		return c->r;
	c->in_cie = false;
	c->initial = c->now;
	c->row_start = c->fde->start;
	run(c, c->fde->program);
	if (c->r && c->r != -EBADMSG)
		return c->r;
	put_row(c, c->fde->end, c->r ? PEV_CFI_BAD : 0);
	if (c->r && c->r != -EBADMSG)
		return c->r;
	return take_rows(c, ret);
}

/*
 * A function without code shares its address with the next function, and .eh_frame_hdr as lld makes
 * it keeps one of the two. The FDE with the code then comes shortly after in the section.
 */
static int read_fde(const struct pev_cfi_table *t, uint64_t at, struct pev_fde *ret)
{
	struct pev_entry entry;
	struct pev_fde next;
	int r;

	r = pev_fde_read(t, at, ret);
	for (unsigned tries = 0; !r && ret->start == ret->end && tries < MAX_EMPTY; tries++) {
		if (pev_entry_read(t, at, &entry) < 0)
			break;
		at = entry.next;
		if (pev_fde_read(t, at, &next) >= 0 && next.start == ret->start)
			*ret = next;
	}
	return r;
}

int pev_cfi_compile(const struct pev_cfi_table *t, uint64_t at, struct pev_cfi_rows **ret)
{
	struct compiler c = { .table = t, .arch = t->of->arch };
	struct pev_fde fde;
	int r;

	r = read_fde(t, at, &fde);
	if (r < 0)
		return r;
	if (fde.cie.ra >= c.arch->nr_regs)
		return -EPROTONOSUPPORT;
	if (fde.end - fde.start > UINT32_MAX)
		return -E2BIG;
	c.fde = &fde;
	r = compile(&c, ret);
	pev_buf_done(&c.remembered);
	pev_buf_done(&c.rows);
	pev_buf_done(&c.rules);
	return r;
}
