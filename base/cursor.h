/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The one way outside bytes are read: a cursor that checks by subtraction and, once failed, stays
 * failed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Borrowed bytes. After a read past the end, ->failed is set, every further read gives 0 (or NULL)
 * and the position does not move: callers read a whole structure and check once. With ->swap set,
 * integers are of the other byte order. No alignment is needed.
 */
struct pev_cursor {
	const uint8_t *p;
	const uint8_t *end;
	bool swap;
	bool failed;
};

static inline struct pev_cursor pev_cursor(const void *bytes, size_t size)
{
	/* No bytes may come as NULL, on which no arithmetic is defined, not even + 0. */
	return (struct pev_cursor){ .p = bytes,
				    .end = size ? (const uint8_t *)bytes + size : bytes };
}

static inline size_t pev_cursor_left(const struct pev_cursor *c)
{
	return (size_t)(c->end - c->p);
}

/* @n bytes in place, or NULL when fewer are left. */
static inline const uint8_t *pev_cursor_bytes(struct pev_cursor *c, size_t n)
{
	const uint8_t *const p = c->p;

	if (c->failed || n > pev_cursor_left(c)) {
		c->failed = true;
		return NULL;
	}
	if (n)
		c->p += n;
	return p;
}

static inline uint8_t pev_cursor_u8(struct pev_cursor *c)
{
	const uint8_t *const p = pev_cursor_bytes(c, 1);

	return p ? *p : 0;
}

#define PEV_DEFINE_CURSOR_READ(name, type, bswap)                           \
	static inline type name(struct pev_cursor *c)                       \
	{                                                                   \
		const uint8_t *const p = pev_cursor_bytes(c, sizeof(type)); \
		type v = 0;                                                 \
                                                                            \
		if (p)                                                      \
			memcpy(&v, p, sizeof(v));                           \
		return c->swap ? bswap(v) : v;                              \
	}                                                                   \
	struct pev_needs_a_semicolon

PEV_DEFINE_CURSOR_READ(pev_cursor_u16, uint16_t, __builtin_bswap16);
PEV_DEFINE_CURSOR_READ(pev_cursor_u32, uint32_t, __builtin_bswap32);
PEV_DEFINE_CURSOR_READ(pev_cursor_u64, uint64_t, __builtin_bswap64);

/*
 * A NUL-terminated string that lies, terminator included, within the next @max bytes. Moves past
 * the whole field of @max bytes (strings in records are padded). NULL, and failed, when there is no
 * terminator.
 */
static inline const char *pev_cursor_str(struct pev_cursor *c, size_t max)
{
	const uint8_t *const p = pev_cursor_bytes(c, max);

	if (!p || !memchr(p, 0, max)) {
		c->failed = true;
		return NULL;
	}
	return (const char *)p;
}
