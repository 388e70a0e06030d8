// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The rules are those of the script's default options, quirks included, since whoever compares two
 * profiles may have got one of them from there.
 */
#include "report/folded_names.h"

#include <ctype.h>
#include <string.h>

/* Whether blanks, then the number of a thread, then blanks come next: " 123 ", " 1/2 ". */
static bool is_number_next(const char *s)
{
	const char *const start = s;

	s += strspn(s, " \t");
	if (s == start || !isdigit((unsigned char)*s))
		return false;
	s += strspn(s, "0123456789");
	s += strspn(s, "/");
	s += strspn(s, "0123456789");
	return *s == ' ' || *s == '\t';
}

/* The script takes the name to end, after at least two characters, where a number seems to follow:
 * "Thread 3" is cut to "Thread", and "a" keeps one of the blanks behind it. */
void pev_folded_comm(const char *comm, struct pev_buf *text)
{
	const size_t n = strlen(comm);
	size_t end = n;

	for (size_t i = 2; i < n && end == n; i++)
		if (is_number_next(comm + i))
			end = i;
	for (size_t i = 0; i < end; i++)
		pev_buf_u8(text, (uint8_t)(comm[i] == ' ' ? '_' : comm[i]));
	if (n == 1)
		pev_buf_u8(text, '_');
	pev_buf_u8(text, 0);
}

/* Whether it looks like a method of Go, "net/http.(*Client).Do": a ".(" and a ")." behind it. */
static bool is_go_method(const char *s, size_t n)
{
	const char *const open = memmem(s, n, ".(", 2);

	return open && memmem(open + 2, n - (size_t)(open + 2 - s), ").", 2);
}

/* Where the parameters begin: at the first parenthesis that is not "(anonymous namespace)". */
static size_t parameters(const char *s, size_t n)
{
	static const char anonymous[] = "(anonymous namespace)";

	for (size_t i = 0; i < n; i++)
		if (s[i] == '(' && (n - i < sizeof(anonymous) - 1 ||
				    memcmp(s + i, anonymous, sizeof(anonymous) - 1) != 0))
			return i;
	return n;
}

static void put_piece(const char *s, size_t n, bool first, bool java, struct pev_buf *text)
{
	const size_t start = text->size;

	if (!is_go_method(s, n))
		n = parameters(s, n);
	if (java && n && *s == 'L' && memchr(s, '/', n)) {
		s++;
		n--;
	}
	for (size_t i = 0; i < n; i++)
		if (s[i] != '"' && s[i] != '\'')
			pev_buf_u8(text, (uint8_t)(s[i] == ';' ? ':' : s[i]));
	/* What follows an arrow is taken for code that the piece before it was inlined to. */
	if (!first && pev_buf_status(text) == 0 &&
	    !memmem(text->data + start, text->size - start, "_[i]", 4))
		pev_buf_put(text, "_[i]", 4);
	pev_buf_u8(text, 0);
}

static size_t put_unknown(const char *dso, struct pev_buf *text)
{
	static const char deleted[] = " (deleted)";
	const char *const slash = strrchr(dso, '/');
	const char *const name = slash ? slash + 1 : dso;
	size_t n = strlen(name);

	if (!strcmp(dso, "[unknown]")) {
		pev_buf_put(text, dso, strlen(dso) + 1);
		return 1;
	}
	if (n >= sizeof(deleted) && !strcmp(name + n - (sizeof(deleted) - 1), deleted))
		n -= sizeof(deleted) - 1;
	pev_buf_u8(text, '[');
	for (size_t i = 0; i < n; i++)
		pev_buf_u8(text, (uint8_t)(name[i] == ';' ? ':' : name[i]));
	pev_buf_u8(text, ']');
	pev_buf_u8(text, 0);
	return 1;
}

size_t pev_folded_frame(const struct pev_frame *frame, bool java, struct pev_buf *text)
{
	const char *s = frame->name;
	size_t pieces = 0;

	if (!s)
		return put_unknown(frame->dso, text);
	if (*s == '(')
		return 0;
	while (*s) {
		const char *const arrow = strstr(s, "->");
		const size_t n = arrow ? (size_t)(arrow - s) : strlen(s);

		put_piece(s, n, !pieces, java, text);
		pieces++;
		s += n + (arrow ? 2 : 0);
	}
	return pieces;
}
