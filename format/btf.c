// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * struct btf_header, then a section of types and one of strings. A type is three words (name, info,
 * size or type), then what its kind adds; ids are not written, they count up from 1.
 */
#include "format/btf.h"

#include "base/cleanup.h"
#include "base/cursor.h"

#include <errno.h>

#define BTF_MAGIC 0xeb9f

#define TYPE_BYTES 12

/* What follows the three words: so many bytes, and so many for each of the vlen members. */
static const struct {
	uint8_t fixed, per_member;
} kinds[] = {
	[1] = { 4, 0 },   /* INT */
	[2] = { 0, 0 },   /* PTR */
	[3] = { 12, 0 },  /* ARRAY */
	[4] = { 0, 12 },  /* STRUCT */
	[5] = { 0, 12 },  /* UNION */
	[6] = { 0, 8 },   /* ENUM */
	[7] = { 0, 0 },   /* FWD */
	[8] = { 0, 0 },   /* TYPEDEF */
	[9] = { 0, 0 },   /* VOLATILE */
	[10] = { 0, 0 },  /* CONST */
	[11] = { 0, 0 },  /* RESTRICT */
	[12] = { 0, 0 },  /* FUNC */
	[13] = { 0, 8 },  /* FUNC_PROTO */
	[14] = { 4, 0 },  /* VAR */
	[15] = { 0, 12 }, /* DATASEC */
	[16] = { 0, 0 },  /* FLOAT */
	[17] = { 4, 0 },  /* DECL_TAG */
	[18] = { 0, 0 },  /* TYPE_TAG */
	[19] = { 0, 12 }, /* ENUM64 */
};

static int index_types(struct pev_cursor types, struct pev_btf *btf)
{
	/* Each type takes twelve bytes at least, which caps what a lie could allocate. */
	const size_t most = pev_cursor_left(&types) / TYPE_BYTES;

	btf->names = calloc(most + 1, sizeof(*btf->names));
	if (!btf->names)
		return -ENOMEM;
	btf->nr = 1;
	while (pev_cursor_left(&types)) {
		const uint32_t name = pev_cursor_u32(&types);
		const uint32_t info = pev_cursor_u32(&types);
		const uint32_t kind = info >> 24 & 0x1f;
		const size_t vlen = info & 0xffff;

		(void)pev_cursor_u32(&types);
		if (kind == 0 || kind >= sizeof(kinds) / sizeof(kinds[0]))
			return 0;
		(void)pev_cursor_bytes(&types, kinds[kind].fixed + vlen * kinds[kind].per_member);
		if (types.failed)
			return -ENODATA;
		btf->names[btf->nr++] = name;
	}
	return 0;
}

/* The section at @offset within what follows the header. */
static int section(const struct pev_cursor *body, uint32_t offset, uint32_t len,
		   struct pev_cursor *ret)
{
	const size_t size = pev_cursor_left(body);

	if (offset > size || len > size - offset)
		return -ENODATA;
	*ret = pev_cursor(body->p + offset, len);
	return 0;
}

int pev_btf_index(const void *bytes, size_t size, struct pev_btf *ret)
{
	struct pev_cursor c = pev_cursor(bytes, size);
	const uint16_t magic = pev_cursor_u16(&c);
	const uint8_t version = pev_cursor_u8(&c);
	uint32_t hdr_len, type_off, type_len, str_off, str_len;
	_cleanup_(pev_btf_done) struct pev_btf btf = { 0 };
	struct pev_cursor types, strings;
	int r;

	(void)pev_cursor_u8(&c); /* flags */
	hdr_len = pev_cursor_u32(&c);
	type_off = pev_cursor_u32(&c);
	type_len = pev_cursor_u32(&c);
	str_off = pev_cursor_u32(&c);
	str_len = pev_cursor_u32(&c);
	if (c.failed || hdr_len > size)
		return -ENODATA;
	if (magic != BTF_MAGIC || hdr_len < 24)
		return -EBADMSG;
	if (version != 1)
		return -EPROTONOSUPPORT;
	c = pev_cursor((const uint8_t *)bytes + hdr_len, size - hdr_len);
	r = section(&c, type_off, type_len, &types);
	if (r >= 0)
		r = section(&c, str_off, str_len, &strings);
	if (r >= 0)
		r = index_types(types, &btf);
	if (r < 0)
		return r;
	btf.strings = strings.p;
	btf.strings_size = pev_cursor_left(&strings);
	*ret = btf;
	btf.names = NULL;
	return 0;
}

const char *pev_btf_name(const struct pev_btf *btf, uint32_t id)
{
	const char *name;
	uint32_t offset;

	if (id == 0 || id >= btf->nr)
		return NULL;
	offset = btf->names[id];
	if (offset >= btf->strings_size)
		return NULL;
	name = (const char *)btf->strings + offset;
	return *name && memchr(name, 0, btf->strings_size - offset) ? name : NULL;
}

void pev_btf_done(struct pev_btf *btf)
{
	free(btf->names);
	*btf = (struct pev_btf){ 0 };
}
