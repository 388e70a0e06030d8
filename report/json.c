// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/json.h"

#include "base/utf8.h"

void pev_json_string(const char *s, FILE *out)
{
	const unsigned char *p = (const unsigned char *)s;

	(void)putc('"', out);
	while (*p) {
		const size_t n = pev_utf8_length(p);

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
