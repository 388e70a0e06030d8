// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names of nameless events: what perf script 6.1, 6.12 and 7.2 call them, where these agree. */
#include "test.h"

#include "alloc.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "format/event_name.h"

#include <string.h>

#define K     PEV_ATTR_EXCLUDE_KERNEL
#define U     PEV_ATTR_EXCLUDE_USER
#define H     PEV_ATTR_EXCLUDE_HV
#define HOST  PEV_ATTR_EXCLUDE_HOST
#define GUEST PEV_ATTR_EXCLUDE_GUEST
#define P(n)  ((uint64_t)(n) << PEV_ATTR_PRECISE_IP_SHIFT)

static const struct {
	uint32_t type;
	uint64_t config;
	uint64_t flags;
	const char *name;
} cases[] = {
	{ PEV_TYPE_HARDWARE, 0, 0, "cycles" },
	{ PEV_TYPE_HARDWARE, 5, 0, "branch-misses" },
	{ PEV_TYPE_HARDWARE, 9, 0, "ref-cycles" },
	{ PEV_TYPE_HARDWARE, 10, 0, "unknown-hardware" },
	{ PEV_TYPE_HARDWARE, 4ULL << 32, 0, "cpu/cycles/" },
	{ PEV_TYPE_HARDWARE, 99ULL << 32, 0, "cycles" },
	{ PEV_TYPE_SOFTWARE, PEV_SW_CPU_CLOCK, 0, "cpu-clock" },
	{ PEV_TYPE_SOFTWARE, PEV_SW_DUMMY, 0, "dummy" },
	{ PEV_TYPE_SOFTWARE, 99, 0, "unknown-software" },
	{ PEV_TYPE_HW_CACHE, 0, 0, "L1-dcache-loads" },
	{ PEV_TYPE_HW_CACHE, 0x10000, 0, "L1-dcache-load-misses" },
	{ PEV_TYPE_HW_CACHE, 0x100, 0, "L1-dcache-stores" },
	{ PEV_TYPE_HW_CACHE, 0x10201, 0, "L1-icache-prefetch-misses" },
	{ PEV_TYPE_HW_CACHE, 0x206, 0, "node-prefetches" },
	{ PEV_TYPE_HW_CACHE, 0x7, 0, "unknown cache 0x7" },
	{ PEV_TYPE_HW_CACHE, 0x300, 0, "unknown cache 0x300" },
	{ PEV_TYPE_HW_CACHE, 0x20000, 0, "unknown cache 0x20000" },
	{ PEV_TYPE_RAW, 0x1c2, K, "raw 0x1c2:uh" },
	{ PEV_TYPE_TRACEPOINT, 317, K, "unknown tracepoint id=0x13d" },
	{ 4, 1, 0, "raw 0x1" },
	{ 9, 1, 0, "msr/config=0x1/" },
	{ 20, 18, K, "unknown event PMU=20 config=0x12" },
	{ PEV_TYPE_HARDWARE, 0, K, "cycles:uh" },
	{ PEV_TYPE_HARDWARE, 0, K | H, "cycles:u" },
	{ PEV_TYPE_HARDWARE, 0, U | H, "cycles:k" },
	{ PEV_TYPE_HARDWARE, 0, K | U, "cycles:h" },
	{ PEV_TYPE_HARDWARE, 0, K | U | H, "cycles" },
	{ PEV_TYPE_HARDWARE, 0, K | U | H | P(3), "cycles:ppp" },
	{ PEV_TYPE_HARDWARE, 0, P(1), "cycles:p" },
	{ PEV_TYPE_HARDWARE, 0, P(2), "cycles:pp" },
	{ PEV_TYPE_HARDWARE, 0, K | P(1), "cycles:uhp" },
	{ PEV_TYPE_HARDWARE, 0, GUEST, "cycles" },
	{ PEV_TYPE_HARDWARE, 0, HOST, "cycles:G" },
	{ PEV_TYPE_HARDWARE, 0, HOST | GUEST, "cycles" },
	{ PEV_TYPE_HARDWARE, 0, GUEST | P(3), "cycles:pppH" },
	{ PEV_TYPE_HARDWARE, 0, K | GUEST, "cycles:uhH" },
	{ PEV_TYPE_HARDWARE, 0, K | H | GUEST | P(1), "cycles:upH" },
	{ PEV_TYPE_HARDWARE, 0, K | HOST, "cycles:uhG" },
	{ PEV_TYPE_HW_CACHE, 0, K, "L1-dcache-loads:uh" },
};

static const struct pev_feat_pmu pmus[] = { { 4, "cpu" }, { 9, "msr" } };

static void test_names(void **state)
{
	const struct pev_features f = { .pmu_mappings = { pmus, PEV_ARRAY_SIZE(pmus) } };

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		const struct pev_attr attr = {
			.type = cases[i].type,
			.config = cases[i].config,
			.flags = cases[i].flags,
		};
		_cleanup_free_ char *name = pev_event_guess_name(&attr, &f);

		assert_string_equal(name, cases[i].name);
	}
}

static void test_breakpoints(void **state)
{
	static const char *const names[] = { "", "r", "w", "rw", "x", "rx", "wx", "rwx" };
	const struct pev_features f = { 0 };

	(void)state;
	for (uint32_t i = 0; i < PEV_ARRAY_SIZE(names); i++) {
		const struct pev_attr attr = {
			.type = PEV_TYPE_BREAKPOINT,
			.bp_type = i,
			.config1 = 0x1234,
		};
		_cleanup_free_ char *name = pev_event_guess_name(&attr, &f);

		assert_string_equal(name + strlen("mem:0x1234:"), names[i]);
	}
}

static void put(struct pev_buf *buf, bool big, uint64_t v, unsigned int width)
{
	for (unsigned int i = 0; i < width; i++)
		pev_buf_u8(buf, (uint8_t)(v >> 8 * (big ? width - 1 - i : i)));
}

static void put_file(struct pev_buf *buf, bool big, const char *text)
{
	put(buf, big, strlen(text), 8);
	pev_buf_put(buf, text, strlen(text));
}

/* What perf writes of tracefs: two of ftrace's own formats, then three of two systems. */
static void put_tracing_data(struct pev_buf *buf, bool big)
{
	pev_buf_put(buf, "\x17\x08\x44tracing0.5", 14);
	put(buf, big, big, 1);
	put(buf, big, 8, 1);
	put(buf, big, 4096, 4);
	pev_buf_put(buf, "header_page", 12);
	put_file(buf, big, "\tfield: u64 timestamp;\nname: no\nID: 314\n");
	pev_buf_put(buf, "header_event", 13);
	put_file(buf, big, "# compressed entry header\n");
	put(buf, big, 2, 4);
	put_file(buf, big, "name: function\nID: 1\nformat:\n");
	put_file(buf, big, "name: funcgraph_entry\nID: 11\nformat:\n");
	put(buf, big, 2, 4);
	pev_buf_put(buf, "sched", 6);
	put(buf, big, 2, 4);
	put_file(buf, big, "name: sched_switch\nID: 314\nformat:\n\tfield:int ID: 5;\n");
	put_file(buf, big, "name: sched_wakeup\nID: 317");
	pev_buf_put(buf, "irq", 4);
	put(buf, big, 1, 4);
	put_file(buf, big, "nothing to see\n");
	put(buf, big, 0, 4);
}

static void test_tracepoints(void **state)
{
	static const struct {
		uint64_t id;
		const char *name;
	} points[] = {
		{ 1, "ftrace:function" },
		{ 11, "ftrace:funcgraph_entry" },
		{ 314, "sched:sched_switch" },
		{ 317, "sched:sched_wakeup" },
		{ 31, NULL },
		{ 5, NULL },
	};

	(void)state;
	for (int big = 0; big < 2; big++) {
		_cleanup_buf_ struct pev_buf buf = { 0 };

		put_tracing_data(&buf, big);
		for (size_t i = 0; i < PEV_ARRAY_SIZE(points); i++) {
			const struct pev_feat_blob whole = { buf.data, buf.size };
			_cleanup_free_ char *name = pev_tracing_data_name(&whole, points[i].id);

			if (points[i].name)
				assert_string_equal(name, points[i].name);
			else
				assert_null(name);
		}
		/* Cut anywhere: another name is never found. */
		for (size_t size = 0; size <= buf.size; size++) {
			_cleanup_free_ uint8_t *exact = malloc(size ? size : 1);
			const struct pev_feat_blob cut = { exact, size };
			_cleanup_free_ char *name = NULL;

			assert_non_null(exact);
			memcpy(exact, buf.data, size);
			name = pev_tracing_data_name(&cut, 317);
			assert_true(!name || !strcmp(name, "sched:sched_wakeup"));
		}
	}
}

static void test_no_memory(void **state)
{
	const struct pev_attr attr = { .type = PEV_TYPE_HARDWARE };
	const struct pev_features f = { 0 };

	(void)state;
	alloc_fail_at(1);
	assert_null(pev_event_guess_name(&attr, &f));
	assert_true(alloc_fail_end());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_breakpoints),
		cmocka_unit_test(test_tracepoints),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
