/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fields of a SAMPLE and of read values, shared by the halves of the record layer; others use
 * format/record.h. */
#pragma once

#include "format/record.h"

/* @nr words in place; empty, and the cursor failed, when they are not all there. */
static inline struct pev_u64s pev_cursor_u64s(struct pev_cursor *c, uint64_t nr)
{
	const uint8_t *p;

	if (nr > pev_cursor_left(c) / 8) {
		c->failed = true;
		return (struct pev_u64s){ 0 };
	}
	p = pev_cursor_bytes(c, nr * 8);
	return (struct pev_u64s){ .p = p, .nr = p ? nr : 0, .swap = c->swap };
}

/* Reads struct read_format as @read_format (PEV_FORMAT_*) shapes it; failure stays in the cursor.
 */
void pev_read_values_decode(struct pev_cursor *c, uint64_t read_format,
			    struct pev_read_values *ret);
void pev_read_values_encode(struct pev_buf *buf, uint64_t read_format,
			    const struct pev_read_values *values);

/* Reads the body of a SAMPLE that starts at @record into ret->id and ret->sample; failure stays in
 * the cursor. */
void pev_sample_decode(struct pev_cursor *c, const struct pev_attr *attr, const uint8_t *record,
		       struct pev_record *ret);
void pev_sample_encode(struct pev_buf *buf, const struct pev_attr *attr,
		       const struct pev_record *rec);
