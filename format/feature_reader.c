// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format/feature_reader.h"

#include <errno.h>
#include <inttypes.h>

void pev_rd_corrupt(struct pev_feat_reader *rd, const char *why)
{
	if (rd->r >= 0)
		rd->r = pev_err_set(rd->err, -EBADMSG, "%s", why);
}

void pev_rd_version(struct pev_feat_reader *rd, uint64_t version, uint64_t known)
{
	if (pev_rd_ok(rd) && version != known)
		rd->r = pev_err_set(rd->err, -EPROTONOSUPPORT,
				    "it has version %" PRIu64 " of this layout, only %" PRIu64
				    " is known here",
				    version, known);
}

void *pev_rd_room(struct pev_feat_reader *rd, uint64_t nr, size_t min, size_t size)
{
	void *room;

	if (!pev_rd_ok(rd))
		return NULL;
	if (nr > pev_cursor_left(&rd->c) / min) {
		rd->c.failed = true;
		return NULL;
	}
	room = pev_features_alloc(rd->f, (size_t)nr, size);
	if (!room)
		rd->r = pev_err_set(rd->err, -ENOMEM, "no memory for its %" PRIu64 " entries", nr);
	return room;
}

const uint8_t *pev_rd_bytes(struct pev_feat_reader *rd, size_t n)
{
	const uint8_t *const p = pev_cursor_bytes(&rd->c, n);
	const uint8_t *copy;

	if (!p || !pev_rd_ok(rd))
		return NULL;
	copy = pev_features_copy(rd->f, p, n);
	if (!copy)
		rd->r = pev_err_set(rd->err, -ENOMEM, "no memory for its %zu bytes", n);
	return copy;
}

const char *pev_rd_copy_str(struct pev_feat_reader *rd, const uint8_t *p, size_t max)
{
	const char *copy;
	size_t n;

	if (!p || !pev_rd_ok(rd))
		return NULL;
	n = strnlen((const char *)p, max);
	if (n == max) {
		pev_rd_corrupt(rd, "a string in it has no end");
		return NULL;
	}
	copy = pev_features_str(rd->f, (const char *)p, n);
	if (!copy)
		rd->r = pev_err_set(rd->err, -ENOMEM, "no memory for a string of %zu bytes", n);
	return copy;
}

const char *pev_rd_str(struct pev_feat_reader *rd)
{
	const uint32_t len = pev_cursor_u32(&rd->c);

	return pev_rd_copy_str(rd, pev_cursor_bytes(&rd->c, len), len);
}

struct pev_feat_strings pev_rd_strings(struct pev_feat_reader *rd)
{
	const uint32_t nr = pev_cursor_u32(&rd->c);
	const char **const v = pev_rd_room(rd, nr, PEV_RD_MIN_STR, sizeof(*v));

	for (uint32_t i = 0; v && i < nr && pev_rd_ok(rd); i++)
		v[i] = pev_rd_str(rd);
	return (struct pev_feat_strings){ .v = v, .nr = v ? nr : 0 };
}

const uint64_t *pev_rd_u64s(struct pev_feat_reader *rd, uint64_t nr)
{
	uint64_t *const v = pev_rd_room(rd, nr, sizeof(*v), sizeof(*v));

	for (uint64_t i = 0; v && i < nr; i++)
		v[i] = pev_cursor_u64(&rd->c);
	return v;
}
