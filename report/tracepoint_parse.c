// SPDX-License-Identifier: LGPL-2.1-or-later
/* "literal with %d and %s", REC->number, __get_str(name): the literal becomes pieces, each of which
 * takes the next of the arguments. */
#include "report/tracepoint_part.h"

#include "base/cleanup.h"
#include "report/index.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ARGS_MAX 256

struct args {
	uint32_t nodes[ARGS_MAX];
	uint32_t nr, next;
};

static int parse_args(struct tp_parser *p, struct args *args)
{
	while (tp_skip(p, ',')) {
		int r;

		if (args->nr == ARGS_MAX)
			return -EBADMSG;
		r = tp_parse_expression(p, &args->nodes[args->nr]);
		if (r < 0)
			return r;
		args->nr++;
	}
	/* Something is left that nobody understood. */
	return p->rest.n ? -EBADMSG : 0;
}

static bool take(struct args *args, uint32_t *ret)
{
	if (args->next == args->nr)
		return false;
	*ret = args->nodes[args->next++];
	return true;
}

static int put(struct pev_tracepoint *t, const struct tp_piece *piece)
{
	const int r = PEV_ARRAY_ROOM(t->pieces, t->nr_pieces, t->cap_pieces);

	if (r == 0)
		t->pieces[t->nr_pieces++] = *piece;
	return r;
}

/* The letters behind %p that say what it points to, as the kernel's lib/vsprintf.c has them; of
 * those that libtraceevent knows. */
static size_t pointer_letters(const char *s, const char *end)
{
	const char *p = s;

	if (p == end)
		return 0;
	switch (*p++) {
	case 'F':
	case 'f':
	case 'S':
	case 's':
		return 1;
	case 'M':
	case 'm':
		return p < end && (*p == 'R' || *p == 'F') ? 2 : 1;
	case 'U':
		return p < end && strchr("LlBb", *p) ? 2 : 1;
	case 'h':
		return p < end && strchr("CDN", *p) ? 2 : 1;
	case 'I':
	case 'i':
		if (p == end || !strchr("4S6", *p))
			return 1;
		if (*p == '4')
			return p + 1 < end && strchr("hnlb", p[1]) ? 3 : 2;
		if (*p++ == 'S')
			while (p < end && strchr("pfs", *p))
				p++;
		if (p < end && strchr("hnlb", *p))
			p++;
		return (size_t)(p - s) + (p < end && *p == 'c');
	default:
		return 0;
	}
}

static int read_digits(const char **p, const char *end)
{
	int v = 0;

	while (*p < end && isdigit((unsigned char)**p)) {
		if (v < 1000)
			v = v * 10 + (**p - '0');
		(*p)++;
	}
	return v;
}

/* Width, precision and size between % and the conversion. */
static bool parse_modifiers(struct tp_piece *piece, const char **at, const char *end,
			    struct args *args)
{
	const char *p = *at;

	piece->width = piece->precision = -1;
	piece->length = TP_NONE;
	for (; p < end; p++)
		switch (*p) {
		case '#':
			piece->alternative = true;
			break;
		case '-':
			piece->left = true;
			break;
		case '0':
			piece->zero = true;
			break;
		case 'h':
			piece->size--;
			break;
		case 'l':
			piece->size++;
			break;
		case 'L':
			piece->size = 2;
			break;
		case 'z':
		case 'Z':
			break;
		case '.':
			p++;
			piece->star_precision = p < end && *p == '*';
			if (!piece->star_precision) {
				piece->precision = read_digits(&p, end);
				p--;
				break;
			}
			__attribute__((fallthrough));
		case '*':
			piece->star_width |= !piece->star_precision;
			if (piece->length != TP_NONE || !take(args, &piece->length))
				return false;
			break;
		default:
			if (!isdigit((unsigned char)*p)) {
				*at = p;
				return true;
			}
			piece->width = read_digits(&p, end);
			p--;
		}
	return false;
}

/* What comes behind a %, which @at is at. */
static int parse_conversion(struct pev_tracepoint *t, const char **at, const char *end,
			    struct args *args)
{
	struct tp_piece piece = { 0 };

	(*at)++;
	if (!parse_modifiers(&piece, at, end, args) || piece.size < -2 || piece.size > 2)
		return -EBADMSG;
	piece.conversion = *(*at)++;
	if (!strchr("pduixXos", piece.conversion)) {
		/* As libtraceevent shows what it does not know; no argument is used up. */
		const size_t start = t->strings.size;

		pev_buf_printf(&t->strings, ">%c<", piece.conversion);
		if (pev_buf_status(&t->strings) < 0)
			return -ENOMEM;
		piece = (struct tp_piece){
			.text = { (const char *)t->strings.data + start, 3 },
		};
		return put(t, &piece);
	}
	if (!take(args, &piece.arg))
		return -EBADMSG;
	if (piece.conversion == 'p') {
		piece.text = (struct tp_text){ *at, pointer_letters(*at, end) };
		*at += piece.text.n;
	}
	return put(t, &piece);
}

static int parse_pieces(struct pev_tracepoint *t, struct tp_text format, struct args *args)
{
	const char *p = format.p, *const end = format.p + format.n;
	int r = 0;

	while (p < end && r == 0) {
		const char *const percent = memchr(p, '%', (size_t)(end - p));
		struct tp_piece piece = { .text = { p, (size_t)((percent ? percent : end) - p) } };

		if (percent && percent + 1 < end && percent[1] == '%')
			piece.text.n++; /* one of the two is printed */
		if (piece.text.n) {
			r = put(t, &piece);
			p += piece.text.n + (percent && p + piece.text.n > percent);
			continue;
		}
		r = parse_conversion(t, &p, end, args);
	}
	return r;
}

int tp_parse_print(struct pev_tracepoint *t)
{
	struct tp_parser p = { .t = t, .rest = tp_print_format(t) };
	_cleanup_free_ struct args *args = calloc(1, sizeof(*args));
	struct tp_text format;
	int r;

	/* Literals, and ">c<" for each character at most: more is never put here, so that it does
	 * not move. */
	if (!args || !pev_buf_extend(&t->strings, p.rest.n * 3 + 16))
		return -ENOMEM;
	pev_buf_reset(&t->strings);
	r = tp_parse_string(&p, &format);
	if (r == 0)
		r = parse_args(&p, args);
	return r == 0 ? parse_pieces(t, format, args) : r;
}
