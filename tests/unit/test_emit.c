// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "alloc.h"
#include "collect.h"

#include <errno.h>

static struct pev_record comm(const char *name)
{
	return (struct pev_record){
		.hdr = { .type = PEV_REC_COMM },
		.comm = { .pid = 7, .tid = 8, .comm = name },
	};
}

static void test_trailer(void **state)
{
	struct collect c;
	struct pev_emit e = { .attr = &collect_attr, .id = 42, .time = 99 };
	struct pev_record rec = comm("one");

	(void)state;
	collect_init(&c);
	e.sink = &c.sink;
	assert_int_equal(pev_emit(&e, 7, 8, &rec), 0);
	assert_int_equal(c.records.size, 0); /* gathered, not handed over yet */
	assert_int_equal(pev_emit_flush(&e), 0);
	assert_int_equal(pev_emit_flush(&e), 0);
	assert_int_equal(e.records, 1);
	assert_true(collect_next(&c, &rec));
	assert_int_equal(rec.hdr.type, PEV_REC_COMM);
	assert_string_equal(rec.comm.comm, "one");
	assert_int_equal(rec.id.pid, 7);
	assert_int_equal(rec.id.tid, 8);
	assert_int_equal(rec.id.time, 99);
	assert_int_equal(rec.id.id, 42);
	assert_int_equal(rec.id.stream_id, 0);
	assert_int_equal(rec.id.cpu, 0);
	assert_false(collect_next(&c, &rec));
	pev_emit_done(&e);
	collect_done(&c);
}

static void test_many_come_in_order(void **state)
{
	struct collect c;
	struct pev_emit e = { .attr = &collect_attr };
	struct pev_record rec;
	uint32_t i;

	(void)state;
	collect_init(&c);
	e.sink = &c.sink;
	for (i = 0; i < 10000; i++) {
		rec = comm("many");
		assert_int_equal(pev_emit(&e, i, i, &rec), 0);
	}
	assert_true(c.records.size > 0);
	assert_int_equal(pev_emit_flush(&e), 0);
	for (i = 0; collect_next(&c, &rec); i++)
		assert_int_equal(rec.id.pid, i);
	assert_int_equal(i, 10000);
	pev_emit_done(&e);
	collect_done(&c);
}

static void test_errors(void **state)
{
	struct collect c;
	struct pev_emit e = { .attr = &collect_attr };
	struct pev_record rec = comm("x");
	static char long_name[70000];

	(void)state;
	collect_init(&c);
	e.sink = &c.sink;
	memset(long_name, 'a', sizeof(long_name) - 1);
	assert_int_equal(pev_emit(&e, 1, 1, &rec), 0);
	rec = comm(long_name);
	assert_int_equal(pev_emit(&e, 1, 1, &rec), -E2BIG);
	rec = (struct pev_record){ .hdr = { .type = PEV_REC_KERNEL_MAX } };
	assert_int_equal(pev_emit(&e, 1, 1, &rec), -EPROTONOSUPPORT);
	/* What could not be encoded leaves no trace of itself. */
	assert_int_equal(pev_emit_flush(&e), 0);
	assert_true(collect_next(&c, &rec));
	assert_false(collect_next(&c, &rec));
	assert_int_equal(e.records, 1);

	rec = comm("x");
	assert_int_equal(pev_emit(&e, 1, 1, &rec), 0);
	c.fail_in = 1;
	assert_int_equal(pev_emit_flush(&e), -ENOSPC);
	pev_emit_done(&e);

	e = (struct pev_emit){ .attr = &collect_attr, .sink = &c.sink };
	alloc_fail_at(1);
	assert_int_equal(pev_emit(&e, 1, 1, &rec), -ENOMEM);
	assert_true(alloc_fail_end());
	pev_emit_done(&e);
	collect_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trailer),
		cmocka_unit_test(test_many_come_in_order),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
