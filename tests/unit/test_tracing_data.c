// SPDX-License-Identifier: LGPL-2.1-or-later
/* The bytes of the section, for a tracefs made by hand. That they are perf's own for the tracefs of
 * this machine is for tests/integration/events.sh. */
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "fake_machine.h"
#include "recorder/tracing_data.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define _cleanup_evlist_  _cleanup_(pev_evlist_done)
#define _cleanup_machine_ _cleanup_(fake_machine_done)

static void put_text(struct pev_buf *b, const char *text)
{
	pev_buf_u64(b, strlen(text));
	pev_buf_put(b, text, strlen(text));
}

static void put_head(struct pev_buf *b)
{
	pev_buf_put(b, "\x17\x08\x44tracing0.6", 14);
	pev_buf_u8(b, __BYTE_ORDER == __BIG_ENDIAN);
	pev_buf_u8(b, sizeof(long));
	pev_buf_u32(b, (uint32_t)getpagesize());
	pev_buf_put(b, "header_page", 12);
	put_text(b, "page\n");
	pev_buf_put(b, "header_event", 13);
	put_text(b, "event\n");
}

static void put_tail(struct pev_buf *b, const char *cmdlines)
{
	static const char formats[] = "0x1 : \"one\"\n";

	pev_buf_u32(b, 0);
	pev_buf_u32(b, sizeof(formats) - 1);
	pev_buf_put(b, formats, sizeof(formats) - 1);
	put_text(b, cmdlines);
}

static void build(const struct fake_machine *m, const char *spec, struct pev_buf *ret)
{
	_cleanup_evlist_ struct pev_evlist list = { 0 };
	struct pev_err err = PEV_ERR_INIT;

	assert_int_equal(pev_evlist_parse_from(&list, spec, &m->sources, &err), 0);
	assert_int_equal(pev_tracing_data_build_from(m->tracefs, &list, ret, &err), 0);
}

static void test_one_system(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	_cleanup_buf_ struct pev_buf got = { 0 }, want = { 0 };

	(void)state;
	fake_machine_init(&m, FAKE_BARE);
	/* Twice the same event is described once; others than tracepoints not at all. */
	build(&m, "sched:sched_switch,cs,sched:sched_switch:u", &got);
	put_head(&want);
	pev_buf_u32(&want, 0);
	pev_buf_u32(&want, 1);
	pev_buf_put(&want, "sched", 6);
	pev_buf_u32(&want, 1);
	put_text(&want, "name: sched_switch\n");
	put_tail(&want, "");
	assert_int_equal(got.size, want.size);
	assert_memory_equal(got.data, want.data, want.size);
}

static void test_ftrace_and_cmdlines(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	_cleanup_buf_ struct pev_buf got = { 0 }, want = { 0 };

	(void)state;
	fake_machine_init(&m, FAKE_BARE);
	fake_machine_put(&m, "tracefs/saved_cmdlines", "1 init\n");
	build(&m, "syscalls:*,ftrace:print", &got);
	put_head(&want);
	pev_buf_u32(&want, 1);
	put_text(&want, "name: print\n");
	pev_buf_u32(&want, 1);
	pev_buf_put(&want, "syscalls", 9);
	pev_buf_u32(&want, 1);
	put_text(&want, "name: sys_enter_openat\n");
	put_tail(&want, "1 init\n");
	assert_int_equal(got.size, want.size);
	assert_memory_equal(got.data, want.data, want.size);
}

/* The order within a folder is the folder's: only the amount is certain. */
static void test_all(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	_cleanup_buf_ struct pev_buf one = { 0 }, all = { 0 };

	(void)state;
	fake_machine_init(&m, FAKE_BARE);
	build(&m, "sched:sched_switch", &one);
	build(&m, "sched:*,syscalls:*", &all);
	assert_int_equal(all.size, one.size + (8 + strlen("name: sched_wakeup\n")) +
					   (9 + 4 + 8 + strlen("name: sys_enter_openat\n")));
}

static void test_nothing_to_describe(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	_cleanup_evlist_ struct pev_evlist list = { 0 };
	_cleanup_buf_ struct pev_buf got = { 0 };

	(void)state;
	fake_machine_init(&m, FAKE_BARE);
	assert_int_equal(pev_evlist_parse_from(&list, "cs,cycles", &m.sources, NULL), 0);
	/* Neither needs a tracefs. */
	assert_int_equal(pev_tracing_data_build_from("/no/tracefs", &list, &got, NULL), 0);
	assert_int_equal(pev_tracing_data_build(&list, &got, NULL), 0);
	assert_int_equal(got.size, 0);
}

static void test_what_is_gone(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	_cleanup_evlist_ struct pev_evlist list = { 0 };
	_cleanup_buf_ struct pev_buf got = { 0 };
	struct pev_err err = PEV_ERR_INIT;
	char path[128], msg[256];

	(void)state;
	fake_machine_init(&m, FAKE_BARE);
	assert_int_equal(pev_evlist_parse_from(&list, "sched:sched_switch", &m.sources, NULL), 0);
	(void)snprintf(path, sizeof(path), "%s/events/sched/sched_switch/format", m.tracefs);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(pev_tracing_data_build_from(m.tracefs, &list, &got, &err), -ENOENT);
	(void)snprintf(msg, sizeof(msg),
		       "cannot read %s: No such file or directory: see that tracefs is mounted "
		       "there",
		       path);
	assert_err(&err, -ENOENT, msg);
	fake_machine_put(&m, "tracefs/events/sched/sched_switch/format", "name: x\n");
	(void)snprintf(path, sizeof(path), "%s/events/header_event", m.tracefs);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(pev_tracing_data_build_from(m.tracefs, &list, &got, &err), -ENOENT);
}

static void test_every_allocation_fails(void **state)
{
	_cleanup_machine_ struct fake_machine m;
	_cleanup_evlist_ struct pev_evlist list = { 0 };
	bool failed = true;

	(void)state;
	fake_machine_init(&m, FAKE_BARE);
	assert_int_equal(pev_evlist_parse_from(&list, "*:*", &m.sources, NULL), 0);
	assert_int_equal(list.nr, 4);
	for (unsigned n = 1; failed; n++) {
		_cleanup_buf_ struct pev_buf got = { 0 };
		struct pev_err err = PEV_ERR_INIT;
		int r;

		alloc_fail_at(n);
		r = pev_tracing_data_build_from(m.tracefs, &list, &got, &err);
		failed = alloc_fail_end();
		assert_int_equal(r, failed ? -ENOMEM : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_system),   cmocka_unit_test(test_ftrace_and_cmdlines),
		cmocka_unit_test(test_all),          cmocka_unit_test(test_nothing_to_describe),
		cmocka_unit_test(test_what_is_gone), cmocka_unit_test(test_every_allocation_fails),
	};

	return cmocka_run_group_tests_name("tracing_data", tests, NULL, NULL);
}
