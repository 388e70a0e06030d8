/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text for a file descriptor, for output of many millions of lines: printf() would be most of the
 * work. */
#pragma once

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Zero-initialise, set ->fd; pev_out_done() to end, after pev_out_flush(). After a write failed
 * nothing more is written, and ->error tells. */
struct pev_out {
	int fd;
	int error; /* 0 or a negative errno */
	struct pev_buf buf;
};

void pev_out_done(struct pev_out *o);

/* Writes what has gathered. Returns ->error. */
int pev_out_flush(struct pev_out *o);

/* To be called now and then, at the end of a line: writes when enough has gathered. */
static inline int pev_out_turn(struct pev_out *o)
{
	return o->buf.size < 256 * 1024 && !o->error ? 0 : pev_out_flush(o);
}

static inline void pev_out_put(struct pev_out *o, const char *s, size_t n)
{
	pev_buf_put(&o->buf, s, n);
}

static inline void pev_out_str(struct pev_out *o, const char *s)
{
	pev_buf_put(&o->buf, s, strlen(s));
}

static inline void pev_out_char(struct pev_out *o, char c)
{
	pev_buf_u8(&o->buf, (uint8_t)c);
}

/* "%*PRIu64", "%*PRIx64", "%*s": with blanks in front up to @width. */
void pev_out_dec(struct pev_out *o, uint64_t v, size_t width);
void pev_out_hex(struct pev_out *o, uint64_t v, size_t width);
void pev_out_right(struct pev_out *o, const char *s, size_t width);
/* "%0*PRIu64" */
void pev_out_zeros(struct pev_out *o, uint64_t v, size_t width);
/* "%*d", and "%-*d" */
void pev_out_int(struct pev_out *o, int32_t v, size_t width);
void pev_out_int_left(struct pev_out *o, int32_t v, size_t width);

#define pev_out_printf(o, ...) pev_buf_printf(&(o)->buf, __VA_ARGS__)
