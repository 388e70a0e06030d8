// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reader, the writer and the printer of header features. The input is
 *
 *   0  u8  feature
 *   1  u8  bit 0: other byte order
 *   2  u16 how many CPUs NRCPUS said there are
 *   4  the section
 *
 * What can be read can be printed, and can be written to something that reads the same.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "format/feature.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void print(const struct pev_features *f)
{
	const struct pev_features_print how = { .full = true };
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	FILE *const out = open_memstream(&text, &size);

	if (!out)
		return;
	pev_features_print(f, &how, out);
	check(fclose(out) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_features_ struct pev_features f = { 0 }, again = { 0 };
	_cleanup_buf_ struct pev_buf first = { 0 }, second = { 0 };
	struct pev_cursor c = pev_cursor(data, size);
	const unsigned int feat = pev_cursor_u8(&c);
	const bool swap = pev_cursor_u8(&c) & 1;
	struct pev_err err = PEV_ERR_INIT;
	int r;

	f.nrcpus.avail = again.nrcpus.avail = pev_cursor_u16(&c);
	pev_features_set(&f, PEV_FEAT_NRCPUS);
	pev_features_set(&again, PEV_FEAT_NRCPUS);
	if (c.failed)
		return 0;
	r = pev_feature_decode(&f, feat, c.p, pev_cursor_left(&c), swap, &err);
	check(r == err.code && (r == 0) == (err.msg[0] == 0));
	if (r < 0)
		return 0;
	print(&f);
	check(pev_feature_encode(&f, feat, &first) == 0);
	check(pev_feature_decode(&again, feat, first.data, first.size, false, &err) == 0);
	check(pev_feature_encode(&again, feat, &second) == 0);
	check(second.size == first.size &&
	      (!first.size || !memcmp(second.data, first.data, first.size)));
	return 0;
}
