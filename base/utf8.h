/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Telling text from bytes that are none: UTF-8 (RFC 3629). */
#pragma once

#include <stddef.h>

/* Bytes of the character at @s, which ends with a NUL; 0 when there is none. */
static inline size_t pev_utf8_length(const unsigned char *s)
{
	const size_t n = s[0] < 0x80    ? 1
			 : s[0] >= 0xf5 ? 0
			 : s[0] >= 0xf0 ? 4
			 : s[0] >= 0xe0 ? 3
			 : s[0] >= 0xc2 ? 2
					: 0;

	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* Not the shortest form, a surrogate, or beyond the last character. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}
