// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A stack machine for the operators that can have a meaning in call frame information. All values
 * are of the address size: they are kept zero-extended and cut after every operation; what
 * compares, divides or shifts signed sign-extends first. Operators that name a location
 * (DW_OP_reg*, pieces), need a debug information entry (DW_OP_call*, typed operations) or a frame
 * (DW_OP_fbreg) cannot occur here and count as too hard.
 */
#include "unwind/expr.h"

#include "base/cursor.h"
#include "unwind/leb.h"

#include <dwarf.h>

#define MAX_STEPS 4096
#define MAX_STACK 64

struct machine {
	const struct pev_expr_input *in;
	struct pev_cursor code;
	uint64_t stack[MAX_STACK];
	unsigned depth;
	enum pev_expr_status status; /* once not OK, stays */
};

static void fail(struct machine *m, enum pev_expr_status why)
{
	if (!m->status)
		m->status = why;
}

static void push(struct machine *m, uint64_t v)
{
	if (m->depth == MAX_STACK)
		fail(m, PEV_EXPR_TOO_HARD);
	else
		m->stack[m->depth++] = v & m->in->arch->addr_mask;
}

/* The entry @down from the top; 0, and failed, when the stack is not that deep. */
static uint64_t peek(struct machine *m, unsigned down)
{
	if (down >= m->depth) {
		fail(m, PEV_EXPR_TOO_HARD);
		return 0;
	}
	return m->stack[m->depth - 1 - down];
}

static uint64_t pop(struct machine *m)
{
	const uint64_t v = peek(m, 0);

	if (m->depth)
		m->depth--;
	return v;
}

static int64_t as_signed(const struct machine *m, uint64_t v)
{
	const unsigned unused = 64 - 8U * m->in->arch->word;

	return (int64_t)(v << unused) >> unused;
}

static void push_register(struct machine *m, uint64_t column, int64_t offset)
{
	if (column >= m->in->arch->nr_regs || !pev_frame_regs_has(m->in->regs, (unsigned)column))
		fail(m, PEV_EXPR_LOST_REG);
	else
		push(m, m->in->regs->reg[column] + (uint64_t)offset);
}

static void deref(struct machine *m, unsigned size)
{
	const uint64_t addr = pop(m);
	uint64_t v = 0;

	if (!size || size > m->in->arch->word)
		fail(m, PEV_EXPR_TOO_HARD);
	else if (!m->status && !m->in->read(m->in->read_arg, addr, size, &v))
		fail(m, PEV_EXPR_UNREADABLE);
	push(m, v);
}

static void jump(struct machine *m, bool taken)
{
	const int16_t by = (int16_t)pev_cursor_u16(&m->code);
	const ptrdiff_t at = m->code.p - m->in->bytes;

	if (!taken || m->code.failed)
		return;
	if (at + by < 0 || (size_t)(at + by) > m->in->size)
		fail(m, PEV_EXPR_TOO_HARD);
	else
		m->code.p += by;
}

static void rotate(struct machine *m)
{
	const uint64_t top = pop(m), second = pop(m), third = pop(m);

	push(m, top);
	push(m, third);
	push(m, second);
}

static uint64_t shift(const struct machine *m, uint8_t op, uint64_t v, uint64_t by)
{
	const bool out = by >= 8U * m->in->arch->word;

	switch (op) {
	case DW_OP_shl:
		return out ? 0 : v << by;
	case DW_OP_shr:
		return out ? 0 : v >> by;
	default:
		return (uint64_t)(as_signed(m, v) >> (out ? 63 : by));
	}
}

static uint64_t divide(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
	if (!b) {
		fail(m, PEV_EXPR_TOO_HARD);
		return 0;
	}
	if (op == DW_OP_mod)
		return a % b;
	/* The one quotient that does not fit is the negation of the least number: itself, here. */
	return as_signed(m, b) == -1 ? 0 - a : (uint64_t)(as_signed(m, a) / as_signed(m, b));
}

static void binary(struct machine *m, uint8_t op)
{
	const uint64_t b = pop(m), a = pop(m);
	const int64_t sb = as_signed(m, b), sa = as_signed(m, a);

	switch (op) {
	case DW_OP_and:
		return push(m, a & b);
	case DW_OP_or:
		return push(m, a | b);
	case DW_OP_xor:
		return push(m, a ^ b);
	case DW_OP_plus:
		return push(m, a + b);
	case DW_OP_minus:
		return push(m, a - b);
	case DW_OP_mul:
		return push(m, a * b);
	case DW_OP_div:
	case DW_OP_mod:
		return push(m, divide(m, op, a, b));
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
		return push(m, shift(m, op, a, b));
	case DW_OP_eq:
		return push(m, sa == sb);
	case DW_OP_ne:
		return push(m, sa != sb);
	case DW_OP_lt:
		return push(m, sa < sb);
	case DW_OP_le:
		return push(m, sa <= sb);
	case DW_OP_gt:
		return push(m, sa > sb);
	default:
		return push(m, sa >= sb);
	}
}

/* Operators that push a constant of their operand; false when @op is none of them. */
static bool constant(struct machine *m, uint8_t op)
{
	struct pev_cursor *const c = &m->code;

	switch (op) {
	case DW_OP_lit0 ... DW_OP_lit31:
		push(m, op - DW_OP_lit0);
		return true;
	case DW_OP_addr:
		push(m, m->in->arch->word == 4 ? pev_cursor_u32(c) : pev_cursor_u64(c));
		return true;
	case DW_OP_const1u:
		push(m, pev_cursor_u8(c));
		return true;
	case DW_OP_const1s:
		push(m, (uint64_t)(int8_t)pev_cursor_u8(c));
		return true;
	case DW_OP_const2u:
		push(m, pev_cursor_u16(c));
		return true;
	case DW_OP_const2s:
		push(m, (uint64_t)(int16_t)pev_cursor_u16(c));
		return true;
	case DW_OP_const4u:
		push(m, pev_cursor_u32(c));
		return true;
	case DW_OP_const4s:
		push(m, (uint64_t)(int32_t)pev_cursor_u32(c));
		return true;
	case DW_OP_const8u:
	case DW_OP_const8s:
		push(m, pev_cursor_u64(c));
		return true;
	case DW_OP_constu:
		push(m, pev_cursor_uleb(c));
		return true;
	case DW_OP_consts:
		push(m, (uint64_t)pev_cursor_sleb(c));
		return true;
	default:
		return false;
	}
}

/* Operators that move stack entries about; false when @op is none of them. */
static bool shuffle(struct machine *m, uint8_t op)
{
	uint64_t a, b;

	switch (op) {
	case DW_OP_dup:
		push(m, peek(m, 0));
		return true;
	case DW_OP_drop:
		(void)pop(m);
		return true;
	case DW_OP_over:
		push(m, peek(m, 1));
		return true;
	case DW_OP_pick:
		push(m, peek(m, pev_cursor_u8(&m->code)));
		return true;
	case DW_OP_swap:
		a = pop(m);
		b = pop(m);
		push(m, a);
		push(m, b);
		return true;
	case DW_OP_rot:
		rotate(m);
		return true;
	default:
		return false;
	}
}

static void step(struct machine *m)
{
	const uint8_t op = pev_cursor_u8(&m->code);
	uint64_t v;

	if (constant(m, op) || shuffle(m, op))
		return;
	switch (op) {
	case DW_OP_breg0 ... DW_OP_breg31:
		return push_register(m, op - DW_OP_breg0, pev_cursor_sleb(&m->code));
	case DW_OP_bregx:
		v = pev_cursor_uleb(&m->code);
		return push_register(m, v, pev_cursor_sleb(&m->code));
	case DW_OP_deref:
		return deref(m, m->in->arch->word);
	case DW_OP_deref_size:
		return deref(m, pev_cursor_u8(&m->code));
	case DW_OP_plus_uconst:
		v = pop(m);
		return push(m, v + pev_cursor_uleb(&m->code));
	case DW_OP_abs:
		v = pop(m);
		return push(m, as_signed(m, v) < 0 ? 0 - v : v);
	case DW_OP_neg:
		return push(m, 0 - pop(m));
	case DW_OP_not:
		return push(m, ~pop(m));
	case DW_OP_and:
	case DW_OP_div ... DW_OP_mul:
	case DW_OP_or ... DW_OP_plus:
	case DW_OP_shl ... DW_OP_xor:
	case DW_OP_eq ... DW_OP_ne:
		return binary(m, op);
	case DW_OP_skip:
		return jump(m, true);
	case DW_OP_bra:
		return jump(m, pop(m) != 0);
	case DW_OP_nop:
		return;
	default:
		return fail(m, PEV_EXPR_TOO_HARD);
	}
}

enum pev_expr_status pev_expr_eval(const struct pev_expr_input *in, uint64_t *ret)
{
	struct machine m;
	unsigned steps = 0;
	uint64_t top;

	/* Field by field: clearing the stack would cost more than most expressions. */
	m.in = in;
	m.code = pev_cursor(in->bytes, in->size);
	m.code.swap = in->swap;
	m.depth = 0;
	m.status = PEV_EXPR_OK;
	if (in->first)
		push(&m, *in->first);
	while (pev_cursor_left(&m.code) && !m.status) {
		if (steps++ == MAX_STEPS)
			return PEV_EXPR_TOO_HARD;
		step(&m);
		if (m.code.failed)
			return PEV_EXPR_TOO_HARD;
	}
	top = peek(&m, 0);
	if (!m.status)
		*ret = top;
	return m.status;
}
