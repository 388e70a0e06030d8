/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* LEB128 numbers of DWARF (DWARF 5, section 7.6), read through the cursor. */
#pragma once

#include "base/cursor.h"

/* Bits beyond the 64th are dropped: producers pad with them and libdw ignores them as well. */
static inline uint64_t pev_cursor_uleb(struct pev_cursor *c)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = pev_cursor_u8(c);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return c->failed ? 0 : v;
}

static inline int64_t pev_cursor_sleb(struct pev_cursor *c)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = pev_cursor_u8(c);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		v |= UINT64_MAX << shift;
	return c->failed ? 0 : (int64_t)v;
}
