// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/buf.h"

#include "base/checked.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pev_buf_done(struct pev_buf *b)
{
	free(b->data);
	*b = (struct pev_buf){ 0 };
}

void pev_buf_reset(struct pev_buf *b)
{
	b->size = 0;
	b->failed = 0;
}

int pev_buf_status(const struct pev_buf *b)
{
	return b->failed;
}

void *pev_buf_extend(struct pev_buf *b, size_t n)
{
	size_t need;
	void *p;

	if (b->failed)
		return NULL;
	if (!pev_add_size(b->size, n, &need)) {
		b->failed = -ENOMEM;
		return NULL;
	}
	if (need > b->cap || !b->data) {
		size_t cap = b->cap ? b->cap : 256;

		while (cap < need)
			if (!pev_mul_size(cap, 2, &cap))
				cap = need;
		p = realloc(b->data, cap);
		if (!p) {
			b->failed = -ENOMEM;
			return NULL;
		}
		b->data = p;
		b->cap = cap;
	}
	p = b->data + b->size;
	b->size = need;
	return p;
}

void pev_buf_put(struct pev_buf *b, const void *bytes, size_t n)
{
	void *const p = pev_buf_extend(b, n);

	if (p && n)
		memcpy(p, bytes, n);
}

void pev_buf_u8(struct pev_buf *b, uint8_t v)
{
	pev_buf_put(b, &v, sizeof(v));
}

void pev_buf_u16(struct pev_buf *b, uint16_t v)
{
	pev_buf_put(b, &v, sizeof(v));
}

void pev_buf_u32(struct pev_buf *b, uint32_t v)
{
	pev_buf_put(b, &v, sizeof(v));
}

void pev_buf_u64(struct pev_buf *b, uint64_t v)
{
	pev_buf_put(b, &v, sizeof(v));
}

void pev_buf_zero(struct pev_buf *b, size_t n)
{
	void *const p = pev_buf_extend(b, n);

	if (p && n)
		memset(p, 0, n);
}

void pev_buf_str8(struct pev_buf *b, const char *s)
{
	const size_t n = strlen(s) + 1;

	pev_buf_put(b, s, n);
	pev_buf_zero(b, pev_align8(n) - n);
}

void pev_buf_printf(struct pev_buf *b, const char *fmt, ...)
{
	va_list ap;
	char *p;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0) {
		b->failed = -ENOMEM;
		return;
	}
	/* vsnprintf() wants room for its NUL, which is then not counted. */
	p = pev_buf_extend(b, (size_t)n + 1);
	if (!p)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(p, (size_t)n + 1, fmt, ap);
	va_end(ap);
	b->size--;
}
