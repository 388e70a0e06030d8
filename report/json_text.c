// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/json_text.h"

#include "base/buf.h"
#include "base/cleanup.h"

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

json_t *pev_json_text(const char *s)
{
	_cleanup_buf_ struct pev_buf b = { 0 };
	const unsigned char *p = (const unsigned char *)s;
	json_t *j;

	if (!s)
		return json_null();
	j = json_string(s);
	if (j)
		return j;
	while (*p) {
		const size_t n = utf8_length(p);

		if (n)
			pev_buf_put(&b, p, n);
		else
			pev_buf_put(&b, "\xef\xbf\xbd", 3);
		p += n ? n : 1;
	}
	return pev_buf_status(&b) < 0 ? NULL : json_stringn((const char *)b.data, b.size);
}
