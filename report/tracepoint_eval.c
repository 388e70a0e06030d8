// SPDX-License-Identifier: LGPL-2.1-or-later
/* As libtraceevent does it: everything is unsigned 64 bits, also fields that have a sign; the
 * conversion of the format makes of it what it says. */
#include "report/tracepoint_part.h"

#include "base/checked.h"
#include "base/cursor.h"

uint64_t tp_read(const struct tp_record *r, uint64_t offset, uint64_t size)
{
	struct pev_cursor c = pev_cursor(r->raw->p, r->raw->size);

	c.swap = r->t->swap;
	(void)pev_cursor_bytes(&c, offset);
	switch (size) {
	case 1:
		return pev_cursor_u8(&c);
	case 2:
		return pev_cursor_u16(&c);
	case 4:
		return pev_cursor_u32(&c);
	case 8:
		return pev_cursor_u64(&c);
	default:
		return 0;
	}
}

struct pev_bytes tp_field_bytes(const struct tp_record *r, const struct tp_field *f)
{
	uint64_t offset = f->offset, size = f->size;

	if (f->is_dynamic) {
		const uint64_t where = tp_read(r, f->offset, f->size);

		offset = where & 0xffff;
		size = where >> 16 & 0xffff;
		if (f->is_relative)
			offset += f->offset + f->size;
	} else if (!size) {
		size = r->raw->size; /* all that is left */
	}
	if (offset > r->raw->size)
		return (struct pev_bytes){ 0 };
	return (struct pev_bytes){ r->raw->p + offset, PEV_MIN(size, r->raw->size - offset) };
}

static uint64_t index_of(const struct tp_record *r, const struct tp_node *n)
{
	const struct tp_node *array = &r->t->nodes[n->a];
	const uint64_t i = tp_eval(r, n->b);
	const struct tp_field *f;
	uint64_t mask = UINT64_MAX;

	for (; array->type == TP_CAST; array = &r->t->nodes[array->a])
		mask &= array->value;
	if (array->type != TP_FIELD && array->type != TP_DYNAMIC)
		return 0;
	f = &r->t->fields[array->field];
	if (f->is_dynamic)
		return tp_read(r, (tp_read(r, f->offset, f->size) & 0xffff) + i, f->element_size) &
		       mask;
	return tp_read(r, f->offset + i * f->element_size, f->element_size) & mask;
}

static uint64_t unary(enum tp_op op, uint64_t v)
{
	switch (op) {
	case TP_NOT:
		return !v;
	case TP_INVERT:
		return ~v;
	case TP_MINUS:
		return -v;
	default:
		return v;
	}
}

static uint64_t binary(enum tp_op op, uint64_t a, uint64_t b)
{
	switch (op) {
	case TP_OR_OR:
		return a || b;
	case TP_AND_AND:
		return a && b;
	case TP_OR:
		return a | b;
	case TP_XOR:
		return a ^ b;
	case TP_AND:
		return a & b;
	case TP_EQUAL:
		return a == b;
	case TP_UNEQUAL:
		return a != b;
	case TP_LESS:
		return a < b;
	case TP_GREATER:
		return a > b;
	case TP_LESS_EQUAL:
		return a <= b;
	case TP_GREATER_EQUAL:
		return a >= b;
	/* Of 64 and more the processor takes what is left below 64. */
	case TP_SHIFT_LEFT:
		return a << (b & 63);
	case TP_SHIFT_RIGHT:
		return a >> (b & 63);
	case TP_PLUS:
		return a + b;
	case TP_MINUS:
		return a - b;
	case TP_TIMES:
		return a * b;
	case TP_DIVIDE:
		return b ? a / b : 0;
	case TP_MODULO:
		return b ? a % b : 0;
	default:
		return 0;
	}
}

uint64_t tp_eval(const struct tp_record *r, uint32_t node)
{
	const struct tp_node *const n = &r->t->nodes[node];
	const struct tp_field *f;

	switch (n->type) {
	case TP_NUMBER:
		return n->value;
	case TP_FIELD:
		f = &r->t->fields[n->field];
		return tp_read(r, f->offset, f->size);
	case TP_CAST:
		return tp_eval(r, n->a) & n->value;
	case TP_UNARY:
		return unary(n->op, tp_eval(r, n->a));
	case TP_BINARY:
		return binary(n->op, tp_eval(r, n->a), tp_eval(r, n->b));
	case TP_CHOICE:
		return tp_eval(r, tp_eval(r, n->a) ? n->b : n->c);
	case TP_INDEX:
		return index_of(r, n);
	case TP_DYNAMIC_LENGTH:
		f = &r->t->fields[n->field];
		return tp_read(r, f->offset, f->size) >> 16;
	default:
		return 0;
	}
}
