// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/json.h"

/* Bytes of the UTF-8 character (RFC 3629) at @s, 0 when there is none. */
static size_t utf8_length(const unsigned char *s)
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

void pev_json_string(const char *s, FILE *out)
{
	const unsigned char *p = (const unsigned char *)s;

	(void)putc('"', out);
	while (*p) {
		const size_t n = utf8_length(p);

		if (!n)
			(void)fputs("\\ufffd", out);
		else if (*p == '"' || *p == '\\')
			(void)fprintf(out, "\\%c", *p);
		else if (*p < 0x20 || *p == '<')
			(void)fprintf(out, "\\u%04x", *p);
		else
			(void)fwrite(p, 1, n, out);
		p += n ? n : 1;
	}
	(void)putc('"', out);
}

void pev_json_base64(const uint8_t *bytes, size_t n, FILE *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		const uint32_t second = i + 1 < n ? bytes[i + 1] : 0;
		const uint32_t third = i + 2 < n ? bytes[i + 2] : 0;
		const uint32_t word = (uint32_t)bytes[i] << 16 | second << 8 | third;
		const char quad[4] = {
			digits[word >> 18],
			digits[word >> 12 & 63],
			i + 1 < n ? digits[word >> 6 & 63] : '=',
			i + 2 < n ? digits[word & 63] : '=',
		};

		(void)fwrite(quad, 1, sizeof(quad), out);
	}
}
