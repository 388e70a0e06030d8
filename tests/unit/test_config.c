// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "recorder/config.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* A kernel that knows everything. */
static const struct pev_kernel_features newest = {
	.attr_flags = UINT64_MAX,
	.sample_type = UINT64_MAX,
	.read_format = UINT64_MAX,
};

static struct pev_record_opts defaults(void)
{
	return (struct pev_record_opts){
		.all_cpus = true,
		.inherit = true,
		.stack_bytes = 8192,
		.has_clockid = true,
		.clockid = CLOCK_MONOTONIC,
		.ring_bytes = 512 * 1024,
	};
}

static struct pev_evlist parse(const char *spec)
{
	struct pev_evlist list = { 0 };

	assert_int_equal(pev_evlist_parse(&list, spec, NULL), 0);
	return list;
}

static void test_tracking_event_comes_last(void **state)
{
	const struct pev_record_opts opts = defaults();
	struct pev_evlist list = parse("cpu-clock,page-faults");
	const struct pev_event *t;

	(void)state;
	assert_int_equal(pev_config_apply(&list, &opts, &newest, NULL), 0);
	assert_int_equal(list.nr, 3);
	t = &list.events[2];
	assert_true(t->tracking);
	assert_string_equal(t->name, "dummy:HG");
	assert_int_equal(t->attr.config, PEV_SW_DUMMY);
	/* On from its opening, while those that sample wait. */
	assert_int_equal(t->attr.flags & PEV_ATTR_DISABLED, 0);
	assert_true(list.events[0].attr.flags & PEV_ATTR_DISABLED);
	assert_true(t->attr.flags & PEV_ATTR_MMAP2);
	assert_true(t->attr.flags & PEV_ATTR_BUILD_ID);
	assert_int_equal(list.events[0].attr.flags & PEV_ATTR_MMAP, 0);
	for (size_t i = 0; i < list.nr; i++) {
		assert_true(list.events[i].attr.sample_type & PEV_SAMPLE_IDENTIFIER);
		assert_true(list.events[i].attr.flags & PEV_ATTR_SAMPLE_ID_ALL);
		assert_int_equal(list.events[i].attr.wakeup, 256 * 1024);
	}
	pev_evlist_done(&list);
}

static void test_periods(void **state)
{
	static const struct {
		const char *event;
		uint64_t freq, period;
		uint64_t expected;
		bool is_freq;
	} cases[] = {
		{ "cpu-clock", 0, 0, 4000, true },
		{ "cpu-clock", 99, 0, 99, true },
		{ "cpu-clock", 0, 1000000, 1000000, false },
		{ "software/config=0,period=5000/", 99, 0, 5000, false },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		struct pev_record_opts opts = defaults();
		struct pev_evlist list = parse(cases[i].event);
		const struct pev_attr *a;

		opts.freq = cases[i].freq;
		opts.period = cases[i].period;
		assert_int_equal(pev_config_apply(&list, &opts, &newest, NULL), 0);
		a = &list.events[0].attr;
		assert_int_equal(a->sample_period, cases[i].expected);
		assert_int_equal(!!(a->flags & PEV_ATTR_FREQ), cases[i].is_freq);
		assert_int_equal(!!(a->sample_type & PEV_SAMPLE_PERIOD), cases[i].is_freq);
		pev_evlist_done(&list);
	}
}

static void test_callgraphs(void **state)
{
	struct pev_record_opts opts = defaults();
	struct pev_evlist list = parse("cpu-clock");
	const struct pev_attr *a;

	(void)state;
	opts.callgraph = PEV_CALLGRAPH_DWARF;
	opts.stack_bytes = 4096;
	assert_int_equal(pev_config_apply(&list, &opts, &newest, NULL), 0);
	a = &list.events[0].attr;
	assert_true(a->sample_type & PEV_SAMPLE_STACK_USER);
	assert_true(a->sample_type & PEV_SAMPLE_REGS_USER);
	assert_int_equal(a->sample_stack_user, 4096);
	assert_true(a->flags & PEV_ATTR_EXCLUDE_CALLCHAIN_USER);
	assert_int_equal(list.events[1].attr.sample_type & PEV_SAMPLE_CALLCHAIN, 0);
	pev_evlist_done(&list);
}

/* A command's events begin with its exec, or later with -D; only leaders do, members follow them.
 */
static void test_command(void **state)
{
	static char name[] = "true";
	char *argv[] = { name, NULL };
	struct pev_record_opts opts = defaults();
	struct pev_evlist list = parse("{cpu-clock,page-faults}");

	(void)state;
	opts.all_cpus = false;
	opts.argv = argv;
	assert_int_equal(pev_config_apply(&list, &opts, &newest, NULL), 0);
	assert_true(list.events[0].attr.flags & PEV_ATTR_ENABLE_ON_EXEC);
	assert_int_equal(list.events[1].attr.flags & PEV_ATTR_ENABLE_ON_EXEC, 0);
	assert_true(list.events[2].attr.flags & PEV_ATTR_ENABLE_ON_EXEC);
	pev_evlist_done(&list);

	list = parse("cpu-clock");
	opts.delay_ms = 100;
	assert_int_equal(pev_config_apply(&list, &opts, &newest, NULL), 0);
	assert_int_equal(list.events[0].attr.flags & PEV_ATTR_ENABLE_ON_EXEC, 0);
	assert_true(list.events[0].attr.flags & PEV_ATTR_DISABLED);
	assert_true(list.events[1].attr.flags & PEV_ATTR_ENABLE_ON_EXEC);
	pev_evlist_done(&list);
}

/* Linux 3.10: what nobody asked for by name is left out, what somebody did is refused. */
static void test_old_kernel(void **state)
{
	static const struct pev_kernel_features oldest;
	struct pev_record_opts opts = defaults();
	struct pev_err err = PEV_ERR_INIT;
	struct pev_evlist list = parse("cpu-clock");

	(void)state;
	opts.has_clockid = false;
	assert_int_equal(pev_config_apply(&list, &opts, &oldest, NULL), 0);
	assert_int_equal(list.events[1].attr.flags & (PEV_ATTR_MMAP2 | PEV_ATTR_BUILD_ID |
						      PEV_ATTR_KSYMBOL | PEV_ATTR_CGROUP),
			 0);
	assert_true(list.events[1].attr.flags & PEV_ATTR_MMAP);
	assert_int_equal(list.events[0].attr.read_format & PEV_FORMAT_LOST, 0);
	pev_evlist_done(&list);

	list = parse("cpu-clock");
	opts.namespaces = true;
	assert_int_equal(pev_config_apply(&list, &opts, &oldest, &err), -EOPNOTSUPP);
	assert_err(&err, -EOPNOTSUPP,
		   "this kernel does not support --namespaces: it needs Linux 4.12; leave it out");
	pev_evlist_done(&list);
}

static void test_user_only_names(void **state)
{
	const struct pev_record_opts opts = defaults();
	struct pev_evlist list = parse("cpu-clock,mem:0x1000:rw,page-faults:u");
	char breakpoint[64];

	(void)state;
	assert_int_equal(pev_config_apply(&list, &opts, &newest, NULL), 0);
	(void)snprintf(breakpoint, sizeof(breakpoint), "%s", list.events[1].name);
	assert_int_equal(pev_config_user_only(&list), 0);
	assert_string_equal(list.events[0].name, "cpu-clock:u");
	assert_string_equal(list.events[1].name, breakpoint);
	assert_string_equal(list.events[2].name, "page-faults:u");
	assert_string_equal(list.events[3].name, "dummy:u");
	for (size_t i = 0; i < list.nr; i++)
		assert_true(list.events[i].attr.flags & PEV_ATTR_EXCLUDE_KERNEL);
	pev_evlist_done(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tracking_event_comes_last),
		cmocka_unit_test(test_periods),
		cmocka_unit_test(test_callgraphs),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_old_kernel),
		cmocka_unit_test(test_user_only_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
