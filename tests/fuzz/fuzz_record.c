// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The record decoder. The input is what shapes the record, then the record:
 *
 *   0  u32 sample_type
 *   4  u8  read_format
 *   5  u8  bit 0 sample_id_all, 1 other byte order, 2 BRANCH_HW_INDEX, 3 BRANCH_COUNTERS, 4
 * build_id 6  u16 unused 8  u64 sample_regs_user 16  u64 sample_regs_intr 24  the record
 *
 * What decodes must encode to something that decodes, and that encodes to itself.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "format/record.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <string.h>

static void check(bool ok)
{
	if (!ok)
		abort();
}

static struct pev_attr read_attr(struct pev_cursor *c, bool *ret_swap)
{
	struct pev_attr attr = { .size = sizeof(attr) };
	uint8_t flags;

	attr.sample_type = pev_cursor_u32(c);
	attr.read_format = pev_cursor_u8(c) & PEV_FORMAT_ALL;
	flags = pev_cursor_u8(c);
	(void)pev_cursor_u16(c);
	attr.sample_regs_user = pev_cursor_u64(c);
	attr.sample_regs_intr = pev_cursor_u64(c);
	attr.flags =
		(flags & 1 ? PEV_ATTR_SAMPLE_ID_ALL : 0) | (flags & 16 ? PEV_ATTR_BUILD_ID : 0);
	attr.branch_sample_type =
		(flags & 4 ? PEV_BRANCH_HW_INDEX : 0) | (flags & 8 ? PEV_BRANCH_COUNTERS : 0);
	*ret_swap = flags & 2;
	return attr;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct pev_buf first = { 0 }, second = { 0 };
	struct pev_cursor c = pev_cursor(data, size);
	bool swap;
	const struct pev_attr attr = read_attr(&c, &swap);
	struct pev_err err = PEV_ERR_INIT;
	struct pev_record rec;
	int r;

	if (c.failed)
		return 0;
	r = pev_record_decode(&attr, c.p, pev_cursor_left(&c), swap, &rec, &err);
	check(r == err.code && (r == 0) == (err.msg[0] == 0));
	if (r < 0)
		return 0;
	(void)pev_record_identifier(c.p, swap);
	r = pev_record_encode(&attr, &rec, &first);
	/* A trailer that was missing is put, which may be too much for the largest record. */
	if (r == -E2BIG)
		return 0;
	check(r == 0);
	check(pev_record_decode(&attr, first.data, first.size, false, &rec, &err) == 0);
	check(rec.rest == 0 && rec.hdr.size == first.size);
	check(pev_record_encode(&attr, &rec, &second) == 0);
	check(second.size == first.size && !memcmp(second.data, first.data, first.size));
	return 0;
}
