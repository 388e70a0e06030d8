// SPDX-License-Identifier: LGPL-2.1-or-later
/* Documentation/core-api/printk-formats.rst */
#include "report/tracepoint_part.h"

#include "base/checked.h"

#include <inttypes.h>
#include <string.h>

static void put_function(const struct tp_record *r, uint64_t address, bool offset,
			 struct pev_buf *text)
{
	if (!r->names || !r->names->symbol ||
	    !r->names->symbol(r->names->arg, address, offset, text))
		pev_buf_printf(text, "0x%" PRIx64, address);
}

/* The bytes that an argument stands for: an address is of what is in the record itself. */
static bool bytes_of(const struct tp_record *r, uint32_t node, struct pev_bytes *ret)
{
	const struct tp_node *const n = &r->t->nodes[node];

	if (n->type != TP_FIELD && n->type != TP_DYNAMIC)
		return false;
	*ret = tp_field_bytes(r, &r->t->fields[n->field]);
	return true;
}

static void put_mac(const struct pev_bytes *b, const struct tp_text *how, struct pev_buf *text)
{
	const char *const between = *how->p == 'm'                   ? ""
				    : how->n > 1 && how->p[1] == 'F' ? "-"
								     : ":";
	const bool reverse = how->n > 1 && how->p[1] == 'R';

	if (b->size != 6) {
		pev_buf_printf(text, "INVALIDMAC");
		return;
	}
	for (unsigned int i = 0; i < 6; i++)
		pev_buf_printf(text, "%s%02x", i ? between : "", b->p[reverse ? 5 - i : i]);
}

static void put_uuid(const struct pev_bytes *b, const struct tp_text *how, struct pev_buf *text)
{
	static const uint8_t little[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	const char kind = how->n > 1 ? how->p[1] : 'b';

	if (b->size != 16) {
		pev_buf_printf(text, "INVALIDUUID");
		return;
	}
	for (unsigned int i = 0; i < 16; i++) {
		const uint8_t v = b->p[kind == 'L' || kind == 'l' ? little[i] : i];

		if (i == 4 || i == 6 || i == 8 || i == 10)
			pev_buf_u8(text, '-');
		if (kind == 'L' || kind == 'B')
			pev_buf_printf(text, "%02X", v);
		else
			pev_buf_printf(text, "%02x", v);
	}
}

static void put_ip4(const uint8_t *p, bool zeros, bool reverse, struct pev_buf *text)
{
	for (unsigned int i = 0; i < 4; i++) {
		const unsigned int v = p[reverse ? 3 - i : i];

		if (i)
			pev_buf_u8(text, '.');
		if (zeros)
			pev_buf_printf(text, "%03u", v);
		else
			pev_buf_printf(text, "%u", v);
	}
}

static unsigned int word(const uint8_t *p, unsigned int i)
{
	return (unsigned int)p[i * 2] << 8 | p[i * 2 + 1];
}

/* An IPv4 address within: ::ffff:1.2.3.4, or ISATAP (RFC 5214). */
static bool has_ip4(const uint8_t *p)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(p, mapped, sizeof(mapped)) ||
	       ((p[8] | 2) == 2 && !p[9] && p[10] == 0x5e && p[11] == 0xfe);
}

/* RFC 5952: the longest run of zeros becomes "::". */
static void put_ip6_short(const uint8_t *p, struct pev_buf *text)
{
	const unsigned int nr = has_ip4(p) ? 6 : 8;
	unsigned int best = 0, length = 1;
	bool colon = false;

	for (unsigned int i = 0; i < nr; i++) {
		unsigned int run = 0;

		while (i + run < nr && !word(p, i + run))
			run++;
		if (run > length) {
			best = i;
			length = run;
		}
	}
	for (unsigned int i = 0; i < nr; i++) {
		if (length > 1 && i == best) {
			pev_buf_printf(text, colon || !i ? "::" : ":");
			colon = false;
			i += length - 1;
			continue;
		}
		pev_buf_printf(text, "%s%x", colon ? ":" : "", word(p, i));
		colon = true;
	}
	if (nr == 6) {
		if (colon)
			pev_buf_u8(text, ':');
		put_ip4(p + 12, false, false, text);
	}
}

static void put_ip6(const uint8_t *p, bool colons, struct pev_buf *text)
{
	for (unsigned int i = 0; i < 8; i++)
		pev_buf_printf(text, "%s%04x", i && colons ? ":" : "", word(p, i));
}

/* struct sockaddr_in and _in6, in the byte order of the machine but for port and address. */
static void put_sockaddr(const struct tp_record *r, const struct pev_bytes *b,
			 const struct tp_text *how, struct pev_buf *text)
{
	const bool port = memchr(how->p, 'p', how->n);
	const bool shorten = how->p[how->n - 1] == 'c';
	const unsigned int family = b->size < 2  ? 0
				    : r->t->swap ? word(b->p, 0)
						 : b->p[0] | (unsigned int)b->p[1] << 8;

	if (family == 2 && b->size >= 8) {
		put_ip4(b->p + 4, *how->p == 'i', false, text);
		if (port)
			pev_buf_printf(text, ":%u", word(b->p, 1));
	} else if (family == 10 && b->size >= 24) {
		if (port)
			pev_buf_u8(text, '[');
		if (shorten)
			put_ip6_short(b->p + 8, text);
		else
			put_ip6(b->p + 8, *how->p == 'I', text);
		if (port)
			pev_buf_printf(text, "]:%u", word(b->p, 1));
	} else {
		pev_buf_printf(text, "INVALIDIPv4");
	}
}

static void put_ip(const struct tp_record *r, const struct pev_bytes *b, const struct tp_text *how,
		   struct pev_buf *text)
{
	const char kind = how->n > 1 ? how->p[1] : 0, last = how->p[how->n - 1];

	if (kind == 'S') {
		put_sockaddr(r, b, how, text);
	} else if (kind == '4') {
		if (b->size == 4)
			put_ip4(b->p, *how->p == 'i', last == 'h' || last == 'l', text);
		else
			pev_buf_printf(text, "INVALIDIPv4");
	} else if (kind == '6') {
		if (b->size != 16)
			pev_buf_printf(text, "INVALIDIPv6");
		else if (last == 'c')
			put_ip6_short(b->p, text);
		else
			put_ip6(b->p, *how->p == 'I', text);
	}
}

/* %*ph: the bytes, as many as the width says. */
static void put_bytes(const struct pev_bytes *b, const struct tp_text *how, uint64_t nr,
		      struct pev_buf *text)
{
	const char kind = how->n > 1 ? how->p[1] : ' ';
	const char *const between = kind == 'C' ? ":" : kind == 'D' ? "-" : kind == 'N' ? "" : " ";

	for (uint64_t i = 0; i < PEV_MIN(nr, b->size); i++)
		pev_buf_printf(text, "%s%02x", i ? between : "", b->p[i]);
}

void tp_print_pointer(const struct tp_record *r, const struct tp_piece *piece, struct pev_buf *text)
{
	const struct tp_text *const how = &piece->text;
	const char kind = how->n ? *how->p : 0;
	struct pev_bytes bytes;
	uint64_t v;

	if (kind && strchr("FfSs", kind)) {
		put_function(r, tp_eval(r, piece->arg), kind == 'F' || kind == 'S', text);
		return;
	}
	if (!kind) {
		v = tp_eval(r, piece->arg);
		if (v)
			pev_buf_printf(text, "0x%" PRIx64, v);
		else
			pev_buf_printf(text, "(nil)");
		return;
	}
	if (!bytes_of(r, piece->arg, &bytes)) {
		pev_buf_printf(text, "ARG TYPE NOT FIELD");
		return;
	}
	switch (kind) {
	case 'M':
	case 'm':
		put_mac(&bytes, how, text);
		break;
	case 'U':
		put_uuid(&bytes, how, text);
		break;
	case 'h':
		v = piece->length == TP_NONE ? 1 : tp_eval(r, piece->length);
		put_bytes(&bytes, how, v, text);
		break;
	default:
		put_ip(r, &bytes, how, text);
	}
}
