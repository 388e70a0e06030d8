// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A format file of tracefs (Documentation/trace/events.rst):
 *
 *	name: sched_switch
 *	ID: 314
 *	format:
 *		field:unsigned short common_type;	offset:0;	size:2;	signed:0;
 *		...
 *		field:char prev_comm[16];	offset:8;	size:16;	signed:0;
 *		field:__data_loc char[] name;	offset:24;	size:4;	signed:0;
 *
 *	print fmt: "prev_comm=%s", REC->prev_comm
 */
#include "report/tracepoint_part.h"

#include "report/index.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* More than any event has; bounds what a made-up file can ask for. */
#define FIELDS_MAX 1024

/* Takes the text up to @c and passes it; all of it when there is none. */
static struct tp_text cut(struct tp_text *from, char c)
{
	const char *const at = from->n ? memchr(from->p, c, from->n) : NULL;
	const size_t n = at ? (size_t)(at - from->p) : from->n;
	const struct tp_text taken = { from->p, n };

	from->p += at ? n + 1 : n;
	from->n -= at ? n + 1 : n;
	return taken;
}

static struct tp_text trim(struct tp_text t)
{
	while (t.n && isspace((unsigned char)*t.p)) {
		t.p++;
		t.n--;
	}
	while (t.n && isspace((unsigned char)t.p[t.n - 1]))
		t.n--;
	return t;
}

static bool starts(struct tp_text t, const char *s)
{
	return t.n >= strlen(s) && !memcmp(t.p, s, strlen(s));
}

static bool contains(struct tp_text t, const char *s)
{
	return t.n && memmem(t.p, t.n, s, strlen(s));
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* "offset:8": the number behind the colon; false when the key is another. */
static bool read_number(struct tp_text t, const char *key, uint32_t *ret)
{
	uint64_t v = 0;
	size_t i = strlen(key);

	t = trim(t);
	if (!starts(t, key) || i == t.n)
		return false;
	for (; i < t.n; i++) {
		if (!isdigit((unsigned char)t.p[i]) || v > UINT32_MAX / 10)
			return false;
		v = v * 10 + (uint64_t)(t.p[i] - '0');
	}
	*ret = (uint32_t)v;
	return true;
}

static uint32_t size_of_type(struct tp_text type, unsigned int long_size)
{
	static const struct {
		const char *part;
		uint32_t size;
	} types[] = {
		{ "u8", 1 },  { "s8", 1 },        { "char", 1 },  { "bool", 1 },
		{ "u16", 2 }, { "s16", 2 },       { "short", 2 }, { "u64", 8 },
		{ "s64", 8 }, { "long long", 8 }, { "u32", 4 },   { "s32", 4 },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (contains(type, types[i].part))
			return types[i].size;
	return contains(type, "long") ? long_size : contains(type, "int") ? 4 : 0;
}

/* Takes a declaration apart: the type, the name, and what is between brackets, on either side of
 * the name. */
static bool parse_declaration(struct tp_field *f, struct tp_text text, unsigned int long_size)
{
	struct tp_text type, inside = { 0 };
	const char *bracket;
	size_t end;

	text = trim(text);
	bracket = text.n ? memchr(text.p, '[', text.n) : NULL;
	f->is_array = bracket;
	if (bracket) {
		struct tp_text behind = { bracket + 1, (size_t)(text.p + text.n - bracket - 1) };

		inside = cut(&behind, ']');
		behind = trim(behind);
		type = trim((struct tp_text){ text.p, (size_t)(bracket - text.p) });
		if (behind.n)
			f->name = behind; /* "char[] name" */
	} else {
		type = text;
	}
	if (!f->name.n) {
		for (end = type.n; end && is_word(type.p[end - 1]); end--)
			;
		f->name = (struct tp_text){ type.p + end, type.n - end };
		type.n = end;
	}
	f->is_relative = starts(type, "__rel_loc");
	f->is_dynamic = f->is_relative || starts(type, "__data_loc");
	f->is_pointer = contains(type, "*");
	f->is_long = contains(type, "long");
	f->is_string = f->is_array &&
		       (contains(type, "char") || contains(type, "u8") || contains(type, "s8"));
	inside = trim(inside);
	f->element_size = size_of_type(type, long_size);
	if (inside.n && isdigit((unsigned char)*inside.p)) {
		uint32_t nr;

		if (read_number(inside, "", &nr) && nr)
			f->element_size = f->size / nr;
	}
	return f->name.n;
}

/* "field:DECLARATION; offset:8; size:16; signed:0;" */
static int parse_field(struct pev_tracepoint *t, struct tp_text line)
{
	struct tp_text declaration = cut(&line, ';');
	struct tp_field f = { 0 };
	uint32_t is_signed = 0;
	int r;

	if (!read_number(cut(&line, ';'), "offset:", &f.offset) ||
	    !read_number(cut(&line, ';'), "size:", &f.size))
		return -EBADMSG;
	/* Linux before 2.6.31 did not say. */
	(void)read_number(cut(&line, ';'), "signed:", &is_signed);
	f.is_signed = is_signed;
	cut(&declaration, ':');
	if (!parse_declaration(&f, declaration, t->long_size) || t->nr_fields >= FIELDS_MAX)
		return -EBADMSG;
	f.is_common = starts(f.name, "common_");
	r = PEV_ARRAY_ROOM(t->fields, t->nr_fields, t->cap_fields);
	if (r == 0)
		t->fields[t->nr_fields++] = f;
	return r;
}

int tp_parse_fields(struct pev_tracepoint *t)
{
	struct tp_text rest = t->file;

	while (rest.n) {
		const struct tp_text line = trim(cut(&rest, '\n'));
		int r;

		if (starts(line, "print fmt:"))
			break;
		r = starts(line, "field:") || starts(line, "field special:") ? parse_field(t, line)
									     : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

struct tp_text tp_print_format(const struct pev_tracepoint *t)
{
	static const char key[] = "print fmt:";
	const char *const at =
		t->file.n ? memmem(t->file.p, t->file.n, key, sizeof(key) - 1) : NULL;
	struct tp_text format = { 0 };

	if (at) {
		format.p = at + sizeof(key) - 1;
		format.n = (size_t)(t->file.p + t->file.n - format.p);
	}
	return trim(format);
}

uint32_t tp_find_field(const struct pev_tracepoint *t, struct tp_text name)
{
	for (uint32_t i = 0; i < t->nr_fields; i++)
		if (t->fields[i].name.n == name.n && !memcmp(t->fields[i].name.p, name.p, name.n))
			return i;
	return TP_NONE;
}
