// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "recorder/config.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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
	/* A perf with libunwind finds .eh_frame by its mapping, which is not executable. */
	assert_true(list.events[1].attr.flags & PEV_ATTR_MMAP_DATA);
	pev_evlist_done(&list);

	list = parse("cpu-clock/call-graph=dwarf/");
	opts.callgraph = PEV_CALLGRAPH_FP;
	assert_int_equal(pev_config_apply(&list, &opts, &newest, NULL), 0);
	assert_true(list.events[1].attr.flags & PEV_ATTR_MMAP_DATA);
	pev_evlist_done(&list);

	list = parse("cpu-clock");
	assert_int_equal(pev_config_apply(&list, &opts, &newest, NULL), 0);
	assert_int_equal(list.events[1].attr.flags & PEV_ATTR_MMAP_DATA, 0);
	pev_evlist_done(&list);
}

/* Options that each set something in the attributes of what samples, and nothing in the
 * side-band's. */
static void test_switches(void **state)
{
	static const struct {
		size_t option; /* of a bool in struct pev_record_opts */
		uint64_t sample_type, flags;
	} cases[] = {
#define OPTION(name) offsetof(struct pev_record_opts, name)
		{ OPTION(sample_raw), PEV_SAMPLE_RAW, 0 },
		{ OPTION(sample_phys_addr), PEV_SAMPLE_PHYS_ADDR, 0 },
		{ OPTION(data_page_size), PEV_SAMPLE_DATA_PAGE_SIZE, 0 },
		{ OPTION(code_page_size), PEV_SAMPLE_CODE_PAGE_SIZE, 0 },
		{ OPTION(all_cgroups), PEV_SAMPLE_CGROUP, 0 },
		{ OPTION(sample_data), PEV_SAMPLE_ADDR | PEV_SAMPLE_DATA_SRC, 0 },
		{ OPTION(user_callchains), 0, PEV_ATTR_EXCLUDE_CALLCHAIN_KERNEL },
		{ OPTION(kernel_callchains), 0, PEV_ATTR_EXCLUDE_CALLCHAIN_USER },
		{ OPTION(all_user), 0, PEV_ATTR_EXCLUDE_KERNEL },
		{ OPTION(all_kernel), 0, PEV_ATTR_EXCLUDE_USER },
		{ OPTION(inherit_stat), 0, PEV_ATTR_INHERIT_STAT },
#undef OPTION
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		struct pev_record_opts opts = defaults();
		struct pev_evlist plain = parse("cpu-clock"), list = parse("cpu-clock");
		const struct pev_attr *a;

		opts.period = 1000;
		assert_int_equal(pev_config_apply(&plain, &opts, &newest, NULL), 0);
		*(bool *)((char *)&opts + cases[i].option) = true;
		assert_int_equal(pev_config_apply(&list, &opts, &newest, NULL), 0);
		a = &list.events[0].attr;
		assert_int_equal(a->sample_type & ~plain.events[0].attr.sample_type,
				 cases[i].sample_type);
		assert_int_equal(a->flags & ~plain.events[0].attr.flags, cases[i].flags);
		assert_int_equal(list.events[1].attr.sample_type, plain.events[1].attr.sample_type);
		pev_evlist_done(&plain);
		pev_evlist_done(&list);
	}
}

/* --all-user and --all-kernel overrule modifiers. */
static void test_all_kernel_overrules(void **state)
{
	struct pev_record_opts opts = defaults();
	struct pev_evlist list = parse("cpu-clock:u");

	(void)state;
	opts.all_kernel = true;
	assert_int_equal(pev_config_apply(&list, &opts, &newest, NULL), 0);
	assert_true(list.events[0].attr.flags & PEV_ATTR_EXCLUDE_USER);
	assert_int_equal(list.events[0].attr.flags & PEV_ATTR_EXCLUDE_KERNEL, 0);
	pev_evlist_done(&list);
}

/* --exclude-perf narrows the filters of tracepoints, those of others stay away. */
static void test_exclude_self(void **state)
{
	struct pev_record_opts opts = defaults();
	struct pev_evlist list = parse("cpu-clock");
	struct pev_event *e;
	char expected[64];

	(void)state;
	opts.exclude_self = true;
	for (int i = 0; i < 2; i++) {
		e = pev_evlist_add(&list);
		assert_non_null(e);
		e->attr.type = PEV_TYPE_TRACEPOINT;
		e->name = strdup("a:b");
	}
	e->filter = strdup("x == 1 || y == 2");
	assert_int_equal(pev_config_apply(&list, &opts, &newest, NULL), 0);
	assert_null(list.events[0].filter);
	(void)snprintf(expected, sizeof(expected), "common_pid != %d", (int)getpid());
	assert_string_equal(list.events[1].filter, expected);
	(void)snprintf(expected, sizeof(expected), "common_pid != %d && (x == 1 || y == 2)",
		       (int)getpid());
	assert_string_equal(list.events[2].filter, expected);
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
		cmocka_unit_test(test_switches),
		cmocka_unit_test(test_all_kernel_overrules),
		cmocka_unit_test(test_exclude_self),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_old_kernel),
		cmocka_unit_test(test_user_only_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
