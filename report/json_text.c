// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/json_text.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"

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
		const size_t n = pev_utf8_length(p);

		if (n)
			pev_buf_put(&b, p, n);
		else
			pev_buf_put(&b, "\xef\xbf\xbd", 3);
		p += n ? n : 1;
	}
	return pev_buf_status(&b) < 0 ? NULL : json_stringn((const char *)b.data, b.size);
}
