/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A growing byte buffer, for what is built in memory before it is written. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Zero-initialise to start, pev_buf_done() to end. An append that finds no memory sets ->failed and
 * drops what follows, so that a whole structure can be put together and checked once with
 * pev_buf_status().
 */
struct pev_buf {
	uint8_t *data; /* owned */
	size_t size;   /* bytes used */
	size_t cap;    /* bytes allocated */
	int failed;    /* 0 or -ENOMEM */
};

void pev_buf_done(struct pev_buf *b);
#define _cleanup_buf_ _cleanup_(pev_buf_done)

/* Room for @n more bytes, which count as used; NULL without memory. The bytes are not initialised.
 */
void *pev_buf_extend(struct pev_buf *b, size_t n);

void pev_buf_put(struct pev_buf *b, const void *bytes, size_t n);
void pev_buf_u8(struct pev_buf *b, uint8_t v);
void pev_buf_u16(struct pev_buf *b, uint16_t v);
void pev_buf_u32(struct pev_buf *b, uint32_t v);
void pev_buf_u64(struct pev_buf *b, uint64_t v);
void pev_buf_zero(struct pev_buf *b, size_t n);
/* The string and its NUL, then zeros up to a multiple of 8 of what this call put. */
void pev_buf_str8(struct pev_buf *b, const char *s);
void pev_buf_printf(struct pev_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* 0, or -ENOMEM when an append since the last reset failed. */
int pev_buf_status(const struct pev_buf *b);

/* Empties the buffer and forgets a failure; keeps the memory. */
void pev_buf_reset(struct pev_buf *b);
