// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "collect.h"

#include <errno.h>

const struct pev_attr collect_attr = {
	.type = PEV_TYPE_SOFTWARE,
	.size = PEV_ATTR_SIZE_VER7,
	.config = PEV_SW_DUMMY,
	.sample_type = PEV_SAMPLE_ID_BITS,
	.flags = PEV_ATTR_SAMPLE_ID_ALL,
};

static int put(void *userdata, const void *records, size_t size)
{
	struct collect *const c = userdata;

	if (c->fail_in && --c->fail_in == 0)
		return -ENOSPC;
	pev_buf_put(&c->records, records, size);
	return pev_buf_status(&c->records);
}

void collect_init(struct collect *c)
{
	*c = (struct collect){ .sink = { .put = put, .userdata = c } };
}

void collect_done(struct collect *c)
{
	pev_buf_done(&c->records);
}

bool collect_next(struct collect *c, struct pev_record *ret)
{
	struct pev_err err = PEV_ERR_INIT;

	if (c->at == c->records.size)
		return false;
	if (pev_record_decode(&collect_attr, c->records.data + c->at, c->records.size - c->at,
			      false, ret, &err) < 0)
		fail_msg("record at byte %zu: %s", c->at, err.msg);
	assert_int_equal(ret->hdr.size % 8, 0);
	assert_int_equal(ret->rest, 0);
	c->at += ret->hdr.size;
	return true;
}
