// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/cmd.h"

#include <stdarg.h>
#include <stdio.h>

void cmd_say(const char *fmt, ...)
{
	va_list ap;

	(void)fflush(stdout);
	(void)fputs("pevrec: ", stderr);
	va_start(ap, fmt);
	(void)vfprintf(stderr, fmt, ap);
	va_end(ap);
	(void)fputc('\n', stderr);
}

int cmd_fail(const struct pev_err *err)
{
	cmd_say("%s", err->msg);
	return PEV_EXIT_FAILURE;
}

const char *cmd_bytes(uint64_t bytes, char buf[32])
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB" };
	double v = (double)bytes;
	size_t i = 0;

	while (v >= 999.95 && i + 1 < sizeof(units) / sizeof(units[0])) {
		v /= 1000;
		i++;
	}
	(void)snprintf(buf, 32, i ? "%.1f %s" : "%.0f %s", v, units[i]);
	return buf;
}

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

void cmd_json_string(const char *s, FILE *out)
{
	const unsigned char *p = (const unsigned char *)s;

	(void)fputc('"', out);
	while (*p) {
		const size_t n = utf8_length(p);

		if (!n)
			(void)fputs("\\ufffd", out);
		else if (*p == '"' || *p == '\\')
			(void)fprintf(out, "\\%c", *p);
		else if (*p < 0x20)
			(void)fprintf(out, "\\u%04x", *p);
		else
			(void)fwrite(p, 1, n, out);
		p += n ? n : 1;
	}
	(void)fputc('"', out);
}
