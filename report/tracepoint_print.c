// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/tracepoint_part.h"

#include "base/checked.h"

#include <ctype.h>
#include <inttypes.h>

/* @n bytes of @s as %s shows them: cut to the precision, filled up to the width. */
static void put_padded(const struct tp_record *r, const struct tp_piece *piece, const char *s,
		       size_t n, struct pev_buf *text)
{
	int64_t width = piece->width, precision = piece->precision;

	if (piece->length != TP_NONE) {
		const int32_t length = (int32_t)tp_eval(r, piece->length);

		*(piece->star_precision ? &precision : &width) = length;
	}
	if (precision >= 0)
		n = PEV_MIN(n, (size_t)precision);
	for (int64_t i = (int64_t)n; i < width && !piece->left; i++)
		pev_buf_u8(text, ' ');
	pev_buf_put(text, s, n);
	for (int64_t i = (int64_t)n; i < width && piece->left; i++)
		pev_buf_u8(text, ' ');
}

static void put_string(const struct tp_record *r, const struct tp_piece *piece, const char *s,
		       size_t max, struct pev_buf *text)
{
	put_padded(r, piece, s, max ? strnlen(s, max) : 0, text);
}

static void put_field(const struct tp_record *r, const struct tp_piece *piece,
		      const struct tp_field *f, struct pev_buf *text)
{
	const struct pev_bytes bytes = tp_field_bytes(r, f);

	/* A pointer says nothing here: what it points to was not recorded. */
	if (!f->is_array && f->size == r->t->long_size)
		pev_buf_printf(text, "%" PRIx64, tp_read(r, f->offset, f->size));
	else
		put_string(r, piece, (const char *)bytes.p, bytes.size, text);
}

static void put_flags(const struct tp_record *r, const struct tp_piece *piece,
		      const struct tp_node *n, struct pev_buf *text)
{
	int64_t v = (int64_t)tp_eval(r, n->a);
	bool any = false;

	for (uint32_t i = 0; i < n->nr_pairs; i++) {
		const struct tp_pair *const pair = &r->t->pairs[n->first_pair + i];

		if (!v && pair->value < 0) {
			put_padded(r, piece, pair->text.p, pair->text.n, text);
			break;
		}
		if (pair->value <= 0 || (v & pair->value) != pair->value)
			continue;
		if (any)
			pev_buf_put(text, n->text.p, n->text.n);
		put_padded(r, piece, pair->text.p, pair->text.n, text);
		any = true;
		v &= ~pair->value;
	}
	if (!v)
		return;
	if (any)
		pev_buf_put(text, n->text.p, n->text.n);
	pev_buf_printf(text, "0x%" PRIx64, v);
}

static void put_symbolic(const struct tp_record *r, const struct tp_piece *piece,
			 const struct tp_node *n, struct pev_buf *text)
{
	const int64_t v = (int64_t)tp_eval(r, n->a);

	for (uint32_t i = 0; i < n->nr_pairs; i++) {
		const struct tp_pair *const pair = &r->t->pairs[n->first_pair + i];

		if (pair->value == v) {
			put_padded(r, piece, pair->text.p, pair->text.n, text);
			return;
		}
	}
	pev_buf_printf(text, "0x%" PRIx64, v);
}

/* What a field or a dynamic array holds; nothing of other nodes. */
static struct pev_bytes bytes_of(const struct tp_record *r, uint32_t node)
{
	const struct tp_node *const n = &r->t->nodes[node];
	const struct tp_field *f;
	struct pev_bytes bytes = { 0 };

	if (n->type != TP_FIELD && n->type != TP_DYNAMIC)
		return bytes;
	f = &r->t->fields[n->field];
	bytes = tp_field_bytes(r, f);
	/* The length is said beside, and may be more than the field's own. */
	if (bytes.p)
		bytes.size = r->raw->size - (uint64_t)(bytes.p - r->raw->p);
	return bytes;
}

static void put_hex(const struct tp_record *r, const struct tp_node *n, struct pev_buf *text)
{
	const struct pev_bytes bytes = bytes_of(r, n->a);
	const int32_t nr = (int32_t)tp_eval(r, n->b);

	for (int32_t i = 0; i < nr && (uint64_t)i < bytes.size; i++)
		pev_buf_printf(text, "%s%02x", i && n->type == TP_HEX ? " " : "", bytes.p[i]);
}

static void put_array(const struct tp_record *r, const struct tp_node *n, struct pev_buf *text)
{
	const struct pev_bytes bytes = bytes_of(r, n->a);
	const int32_t nr = (int32_t)tp_eval(r, n->b);
	const uint64_t size = tp_eval(r, n->c);
	uint64_t at = bytes.p ? (uint64_t)(bytes.p - r->raw->p) : 0;

	for (int32_t i = 0; i < nr && bytes.p && at + size <= r->raw->size; i++) {
		if (i)
			pev_buf_u8(text, ' ');
		if (size != 1 && size != 2 && size != 4 && size != 8) {
			pev_buf_printf(text, "BAD SIZE:%d 0x%x", (int)size, bytes.p[0]);
			return;
		}
		pev_buf_printf(text, "%" PRIu64, tp_read(r, at, size));
		at += size;
	}
}

/* Hex digits, the highest byte first, with a comma each 32 bits. */
static void put_bitmask(const struct tp_record *r, const struct tp_piece *piece,
			const struct tp_field *f, struct pev_buf *text)
{
	const struct pev_bytes bytes = tp_field_bytes(r, f);
	struct pev_buf mask = { 0 };

	for (uint64_t i = bytes.size; i-- > 0;) {
		pev_buf_printf(&mask, "%02x", bytes.p[r->t->swap ? bytes.size - 1 - i : i]);
		if (i && i % 4 == 0)
			pev_buf_u8(&mask, ',');
	}
	if (pev_buf_status(&mask) == 0)
		put_padded(r, piece, (const char *)mask.data, mask.size, text);
	pev_buf_done(&mask);
}

/* An argument of %s. */
static void put_text(const struct tp_record *r, const struct tp_piece *piece, uint32_t node,
		     struct pev_buf *text)
{
	const struct tp_node *const n = &r->t->nodes[node];
	struct pev_bytes bytes;

	switch (n->type) {
	case TP_NUMBER: {
		char number[24];
		const int len = snprintf(number, sizeof(number), "%" PRIu64, n->value);

		put_padded(r, piece, number, (size_t)len, text);
		break;
	}
	case TP_STRING:
	case TP_NAME:
		put_padded(r, piece, n->text.p, n->text.n, text);
		break;
	case TP_FIELD:
		put_field(r, piece, &r->t->fields[n->field], text);
		break;
	case TP_FLAGS:
		put_flags(r, piece, n, text);
		break;
	case TP_SYMBOLIC:
		put_symbolic(r, piece, n, text);
		break;
	case TP_HEX:
	case TP_HEX_STR:
		put_hex(r, n, text);
		break;
	case TP_ARRAY:
		put_array(r, n, text);
		break;
	case TP_GET_STR:
		bytes = tp_field_bytes(r, &r->t->fields[n->field]);
		put_string(r, piece, (const char *)bytes.p, bytes.size, text);
		break;
	case TP_BITMASK:
		put_bitmask(r, piece, &r->t->fields[n->field], text);
		break;
	case TP_CHOICE:
		put_text(r, piece, tp_eval(r, n->a) ? n->b : n->c, text);
		break;
	default:
		break;
	}
}

/* Digits of @v into the end of @digits; returns where they begin. */
static char *format_digits(char digits[72], uint64_t v, unsigned int base, bool upper)
{
	const char *const letters = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char *p = digits + 72;

	do {
		*--p = letters[v % base];
		v /= base;
	} while (v);
	return p;
}

/* What the conversion makes of 64 bits. */
static uint64_t narrow(uint64_t v, int size, bool is_signed)
{
	switch (size) {
	case -2:
		return is_signed ? (uint64_t)(int8_t)v : (uint8_t)v;
	case -1:
		return is_signed ? (uint64_t)(int16_t)v : (uint16_t)v;
	case 0:
		return is_signed ? (uint64_t)(int32_t)v : (uint32_t)v;
	default:
		return v;
	}
}

/* printf(3), for the conversions of numbers. */
static void put_number(const struct tp_record *r, const struct tp_piece *piece,
		       struct pev_buf *text)
{
	const char c = piece->conversion;
	const bool is_signed = c == 'd' || c == 'i';
	const unsigned int base = c == 'x' || c == 'X' ? 16 : c == 'o' ? 8 : 10;
	uint64_t v = narrow(tp_eval(r, piece->arg), piece->size, is_signed);
	const bool minus = is_signed && (int64_t)v < 0;
	int width = piece->width, precision = piece->precision;
	const char *prefix = "";
	char digits[72], *p;
	int n, zeros, blanks;

	if (piece->length != TP_NONE) {
		int32_t length = (int32_t)tp_eval(r, piece->length);

		length = length > 1000 ? 1000 : length;
		*(piece->star_precision ? &precision : &width) = length;
	}
	if (piece->alternative && v && base == 16)
		prefix = c == 'x' ? "0x" : "0X";
	p = format_digits(digits, minus ? -v : v, base, c == 'X');
	n = (int)(digits + 72 - p);
	zeros = precision > n ? precision - n : 0;
	if (piece->alternative && base == 8 && *p != '0' && !zeros)
		zeros = 1;
	blanks = width - n - zeros - (int)strlen(prefix) - minus;
	if (piece->zero && !piece->left && precision < 0 && blanks > 0) {
		zeros += blanks;
		blanks = 0;
	}
	for (int i = 0; i < blanks && !piece->left; i++)
		pev_buf_u8(text, ' ');
	pev_buf_printf(text, "%s%s", minus ? "-" : "", prefix);
	for (int i = 0; i < zeros; i++)
		pev_buf_u8(text, '0');
	pev_buf_put(text, p, (size_t)n);
	for (int i = 0; i < blanks && piece->left; i++)
		pev_buf_u8(text, ' ');
}

static bool is_printable(const struct pev_bytes *b)
{
	for (uint64_t i = 0; i < b->size && b->p[i]; i++)
		if (!isprint(b->p[i]) && !isspace(b->p[i]))
			return false;
	return true;
}

static void put_value(const struct tp_record *r, const struct tp_field *f, struct pev_buf *text)
{
	const uint64_t v = tp_read(r, f->offset, f->size);

	if (f->is_pointer || (f->is_long && !f->is_signed))
		pev_buf_printf(text, "0x%" PRIx64, v);
	else if (!f->is_signed)
		pev_buf_printf(text, "%" PRIu64, v);
	else if (f->size == 4 && f->is_long)
		pev_buf_printf(text, "0x%x", (unsigned int)v);
	else if (f->size == 4)
		pev_buf_printf(text, "%d", (int)v);
	else if (f->size == 2)
		pev_buf_printf(text, "%2d", (short)v);
	else if (f->size == 1)
		pev_buf_printf(text, "%1d", (signed char)v);
	else
		pev_buf_printf(text, "%" PRId64, (int64_t)v);
}

/* A list of the fields, where the format is not understood. */
static void put_fields(const struct tp_record *r, struct pev_buf *text)
{
	for (uint32_t i = 0; i < r->t->nr_fields; i++) {
		const struct tp_field *const f = &r->t->fields[i];
		const struct pev_bytes bytes = tp_field_bytes(r, f);

		if (f->is_common)
			continue;
		pev_buf_printf(text, " %.*s=", (int)f->name.n, f->name.p);
		if (!f->is_array) {
			put_value(r, f, text);
		} else if (f->is_string && is_printable(&bytes)) {
			pev_buf_put(text, bytes.p,
				    bytes.size ? strnlen((const char *)bytes.p, bytes.size) : 0);
		} else {
			pev_buf_printf(text, "ARRAY[");
			for (uint64_t k = 0; k < bytes.size; k++)
				pev_buf_printf(text, "%s%02x", k ? ", " : "", bytes.p[k]);
			pev_buf_u8(text, ']');
		}
	}
}

void pev_tracepoint_print(const struct pev_tracepoint *t, const struct pev_bytes *raw,
			  const struct pev_tracepoint_names *names, struct pev_buf *text)
{
	const struct tp_record r = { .t = t, .raw = raw, .names = names };

	if (t->failed) {
		pev_buf_printf(text, "[FAILED TO PARSE]");
		put_fields(&r, text);
		return;
	}
	for (uint32_t i = 0; i < t->nr_pieces; i++) {
		const struct tp_piece *const piece = &t->pieces[i];

		if (!piece->conversion)
			pev_buf_put(text, piece->text.p, piece->text.n);
		else if (piece->conversion == 's')
			put_text(&r, piece, piece->arg, text);
		else if (piece->conversion == 'p')
			tp_print_pointer(&r, piece, text);
		else
			put_number(&r, piece, text);
	}
}
