/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Taking a feature section apart, piece by piece; others use format/feature.h. */
#pragma once

#include "base/cursor.h"
#include "format/feature.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One section while it is read. A read past its end stays in the cursor, anything else that goes
 * wrong in ->r: after either, what is taken is NULL or 0, so that a whole layout can be read and
 * checked once.
 */
struct pev_feat_reader {
	struct pev_cursor c;
	struct pev_features *f; /* owns what is taken */
	struct pev_err *err;    /* says what ->r is about */
	int r;                  /* 0 or the first failure */
};

static inline bool pev_rd_ok(const struct pev_feat_reader *rd)
{
	return !rd->c.failed && rd->r >= 0;
}

/* Fails with -EBADMSG and these words. */
void pev_rd_corrupt(struct pev_feat_reader *rd, const char *why);

/* Fails with -EPROTONOSUPPORT unless the layout is of the version that is known. */
void pev_rd_version(struct pev_feat_reader *rd, uint64_t version, uint64_t known);

/* The fewest bytes a string takes: its length and a NUL. */
#define PEV_RD_MIN_STR (sizeof(uint32_t) + 1)

/* Zeroed room for @nr things of @size bytes, each of which takes at least @min bytes of those that
 * are left: checked before anything is allocated. */
void *pev_rd_room(struct pev_feat_reader *rd, uint64_t nr, size_t min, size_t size);

/* Copies that the model owns: of the next @n bytes; of a string at @p that ends within @max bytes;
 * of a string with its length in front; of a list of those with their number in front; of numbers.
 */
const uint8_t *pev_rd_bytes(struct pev_feat_reader *rd, size_t n);
const char *pev_rd_copy_str(struct pev_feat_reader *rd, const uint8_t *p, size_t max);
const char *pev_rd_str(struct pev_feat_reader *rd);
struct pev_feat_strings pev_rd_strings(struct pev_feat_reader *rd);
const uint64_t *pev_rd_u64s(struct pev_feat_reader *rd, uint64_t nr);
