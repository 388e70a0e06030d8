// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/out.h"

#include "base/io.h"

void pev_out_done(struct pev_out *o)
{
	pev_buf_done(&o->buf);
}

int pev_out_flush(struct pev_out *o)
{
	int r = pev_buf_status(&o->buf);

	if (!o->error && r == 0)
		r = pev_write_all(o->fd, o->buf.data, o->buf.size);
	pev_buf_reset(&o->buf);
	if (!o->error)
		o->error = r;
	return o->error;
}

/* Fills the end of @text with the digits; returns how many. */
static size_t digits(char text[24], uint64_t v, unsigned int base)
{
	size_t n = 0;

	do {
		text[23 - n++] = "0123456789abcdef"[v % base];
		v /= base;
	} while (v);
	return n;
}

static void put_padded(struct pev_out *o, const char *s, size_t n, size_t width, char pad)
{
	const size_t fill = width > n ? width - n : 0;
	char *const p = pev_buf_extend(&o->buf, fill + n);

	if (!p)
		return;
	memset(p, pad, fill);
	memcpy(p + fill, s, n);
}

void pev_out_dec(struct pev_out *o, uint64_t v, size_t width)
{
	char text[24];
	const size_t n = digits(text, v, 10);

	put_padded(o, text + 24 - n, n, width, ' ');
}

void pev_out_zeros(struct pev_out *o, uint64_t v, size_t width)
{
	char text[24];
	const size_t n = digits(text, v, 10);

	put_padded(o, text + 24 - n, n, width, '0');
}

void pev_out_hex(struct pev_out *o, uint64_t v, size_t width)
{
	char text[24];
	const size_t n = digits(text, v, 16);

	put_padded(o, text + 24 - n, n, width, ' ');
}

void pev_out_right(struct pev_out *o, const char *s, size_t width)
{
	put_padded(o, s, strlen(s), width, ' ');
}

static size_t signed_digits(char text[24], int32_t v)
{
	size_t n = digits(text, v < 0 ? -(uint64_t)v : (uint64_t)v, 10);

	if (v < 0)
		text[23 - n++] = '-';
	return n;
}

void pev_out_int(struct pev_out *o, int32_t v, size_t width)
{
	char text[24];
	const size_t n = signed_digits(text, v);

	put_padded(o, text + 24 - n, n, width, ' ');
}

void pev_out_int_left(struct pev_out *o, int32_t v, size_t width)
{
	char text[24];
	const size_t n = signed_digits(text, v);

	pev_out_put(o, text + 24 - n, n);
	put_padded(o, "", 0, width > n ? width - n : 0, ' ');
}
