// SPDX-License-Identifier: LGPL-2.1-or-later
/* Event attributes of every size and either byte order, and how they are printed. */
#include "tests/unit/test.h"

#include "base/cleanup.h"
#include "format/attr.h"
#include "tests/unit/feature_make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct pev_attr full = {
	.type = 0x01020304,
	.size = PEV_ATTR_SIZE_VER9,
	.config = 0x1112131415161718,
	.sample_period = 0x2122232425262728,
	.sample_type = 0x3132333435363738,
	.read_format = 0x4142434445464748,
	.flags = 0x515253545556d758,
	.wakeup = 0x61626364,
	.bp_type = 0x71727374,
	.config1 = 0x8182838485868788,
	.config2 = 0x9192939495969798,
	.branch_sample_type = 0xa1a2a3a4a5a6a7a8,
	.sample_regs_user = 0xb1b2b3b4b5b6b7b8,
	.sample_stack_user = 0xc1c2c3c4,
	.clockid = -7,
	.sample_regs_intr = 0xd1d2d3d4d5d6d7d8,
	.aux_watermark = 0xe1e2e3e4,
	.sample_max_stack = 0xf1f2,
	.reserved_2 = 0xf3f4,
	.aux_sample_size = 0x01010101,
	.aux_action = PEV_AUX_START_PAUSED | PEV_AUX_RESUME,
	.sig_data = 0x0202020202020202,
	.config3 = 0x0303030303030303,
	.config4 = 0x0404040404040404,
};

/* What a file that gives each attr @size bytes can keep of @attr. */
static struct pev_attr cut(const struct pev_attr *attr, size_t size)
{
	struct pev_attr c = { 0 };

	memcpy(&c, attr, PEV_MIN(size, sizeof(c)));
	return c;
}

static void test_every_size(void **state)
{
	static const size_t sizes[] = { 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 152, 208 };

	(void)state;
	for (size_t i = 0; i < 2 * PEV_ARRAY_SIZE(sizes); i++) {
		const size_t size = sizes[i / 2];
		const struct pev_attr expected = cut(&full, size);
		_cleanup_buf_ struct pev_buf buf = { 0 }, again = { 0 };
		struct maker m = { .buf = &buf, .swap = i % 2 };
		struct pev_attr attr;
		struct pev_cursor c;

		make_attr_bytes(&m, &full, size);
		make_u32(&m, 4711);
		c = pev_cursor(buf.data, buf.size);
		c.swap = m.swap;
		assert_int_equal(pev_attr_decode(&c, size, &attr, NULL), 0);
		assert_memory_equal(&attr, &expected, sizeof(attr));
		assert_int_equal(pev_cursor_u32(&c), 4711);
		pev_attr_encode(&again, &attr, size);
		assert_int_equal(again.size, size);
		if (!m.swap)
			assert_memory_equal(again.data, buf.data, size);
	}
}

/* The flag word as the C compiler of a big-endian machine lays it out. */
static void test_big_endian_flags(void **state)
{
	static const struct {
		uint8_t bytes[8];
		uint64_t flags;
	} words[] = {
		{ { 0x80 }, PEV_ATTR_DISABLED },
		{ { 0x40 }, PEV_ATTR_INHERIT },
		{ { 0x01 }, PEV_ATTR_EXCLUDE_IDLE },
		{ { 0, 0x80 }, PEV_ATTR_MMAP },
		{ { 0, 0x20 }, PEV_ATTR_FREQ },
		{ { 0, 0x00, 0x80 }, 1ULL << PEV_ATTR_PRECISE_IP_SHIFT },
		{ { 0, 0x01, 0x00 }, 2ULL << PEV_ATTR_PRECISE_IP_SHIFT },
		{ { 0, 0x01, 0x80 }, 3ULL << PEV_ATTR_PRECISE_IP_SHIFT },
		{ { 0, 0, 0x20 }, PEV_ATTR_SAMPLE_ID_ALL },
		{ { 0, 0, 0, 0, 0x04 }, PEV_ATTR_SIGTRAP },
		{ { 0x80, 0x60, 0x20 },
		  PEV_ATTR_DISABLED | PEV_ATTR_COMM | PEV_ATTR_FREQ | PEV_ATTR_SAMPLE_ID_ALL },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(words); i++) {
		uint8_t bytes[PEV_ATTR_SIZE_VER0] = { 0, 0, 0, 1, 0, 0, 0, 64 };
		struct pev_cursor c = pev_cursor(bytes, sizeof(bytes));
		struct pev_attr attr;

		c.swap = true;
		memcpy(bytes + offsetof(struct pev_attr, flags), words[i].bytes, 8);
		assert_int_equal(pev_attr_decode(&c, sizeof(bytes), &attr, NULL), 0);
		assert_int_equal(attr.type, PEV_TYPE_SOFTWARE);
		assert_int_equal(attr.size, PEV_ATTR_SIZE_VER0);
		assert_int_equal(attr.flags, words[i].flags);
	}
}

static void test_errors(void **state)
{
	uint8_t bytes[PEV_ATTR_SIZE_VER9] = { 0 };
	struct pev_attr attr = { .type = 5 };
	struct pev_err err = PEV_ERR_INIT;
	struct pev_cursor c = pev_cursor(bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(pev_attr_decode(&c, 63, &attr, &err), -EBADMSG);
	assert_string_equal(err.msg, "event attributes take 63 bytes, but never less than 64");
	c = pev_cursor(bytes, 100);
	assert_int_equal(pev_attr_decode(&c, 112, &attr, &err), -ENODATA);
	assert_string_equal(err.msg, "event attributes take 112 bytes, but only 100 are left");
	c = pev_cursor(bytes, sizeof(bytes));
	bytes[4] = 56;
	assert_int_equal(pev_attr_decode(&c, sizeof(bytes), &attr, &err), -EBADMSG);
	assert_string_equal(err.msg,
			    "event attributes claim a size of 56, but it is never less than 64");
	assert_int_equal(attr.type, 5);

	/* A size of 0 is the first one there was. */
	c = pev_cursor(bytes, sizeof(bytes));
	bytes[4] = 0;
	assert_int_equal(pev_attr_decode(&c, sizeof(bytes), &attr, &err), 0);
	assert_int_equal(attr.size, PEV_ATTR_SIZE_VER0);
}

static void check_print(const struct pev_attr *attr, const char *equals, const char *expected)
{
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *const out = open_memstream(&text, &size);

	assert_non_null(out);
	pev_attr_print(attr, equals, out);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, expected);
}

static void test_print(void **state)
{
	static const struct {
		struct pev_attr attr;
		const char *printed;
	} attrs[] = {
		{ { 0 }, "" },
		{ { .size = 128 }, "size: 128" },
		{ { .type = PEV_TYPE_SOFTWARE,
		    .size = 128,
		    .config = PEV_SW_DUMMY,
		    .sample_period = 4000,
		    .sample_type = PEV_SAMPLE_IP | PEV_SAMPLE_TID | PEV_SAMPLE_TIME |
				   PEV_SAMPLE_CPU | PEV_SAMPLE_PERIOD | PEV_SAMPLE_IDENTIFIER,
		    .read_format = PEV_FORMAT_ID | PEV_FORMAT_LOST,
		    .flags = PEV_ATTR_DISABLED | PEV_ATTR_INHERIT | PEV_ATTR_FREQ |
			     PEV_ATTR_SAMPLE_ID_ALL | PEV_ATTR_EXCLUDE_GUEST },
		  "type: 1, size: 128, config: 0x9, { sample_period, sample_freq }: 4000, "
		  "sample_type: IP|TID|TIME|CPU|PERIOD|IDENTIFIER, read_format: ID|LOST, "
		  "disabled: 1, inherit: 1, freq: 1, sample_id_all: 1, exclude_guest: 1" },
		{ { .size = 144,
		    .sample_type = PEV_SAMPLE_ALL,
		    .read_format = PEV_FORMAT_ALL,
		    .branch_sample_type = (1ULL << 20) - 1 },
		  "size: 144, sample_type: IP|TID|TIME|ADDR|READ|CALLCHAIN|ID|CPU|PERIOD|"
		  "STREAM_ID|RAW|BRANCH_STACK|REGS_USER|STACK_USER|IDENTIFIER|REGS_INTR|"
		  "DATA_SRC|WEIGHT|PHYS_ADDR|AUX|CGROUP|DATA_PAGE_SIZE|CODE_PAGE_SIZE|"
		  "WEIGHT_STRUCT, read_format: TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|GROUP|"
		  "LOST, branch_sample_type: USER|KERNEL|HV|ANY|ANY_CALL|ANY_RETURN|IND_CALL|"
		  "ABORT_TX|IN_TX|NO_TX|COND|CALL_STACK|IND_JUMP|CALL|NO_FLAGS|NO_CYCLES|"
		  "TYPE_SAVE|HW_INDEX|PRIV_SAVE|COUNTERS" },
		{ { .size = 144,
		    .sample_type = 1ULL << 40 | PEV_SAMPLE_IP,
		    .read_format = 1ULL << 40 },
		  "size: 144, sample_type: IP|0x10000000000, read_format: 0x10000000000" },
		{ { .size = 144, .flags = (1ULL << 40) - 1 },
		  "size: 144, disabled: 1, inherit: 1, pinned: 1, exclusive: 1, "
		  "exclude_user: 1, exclude_kernel: 1, exclude_hv: 1, exclude_idle: 1, mmap: 1, "
		  "comm: 1, freq: 1, inherit_stat: 1, enable_on_exec: 1, task: 1, watermark: 1, "
		  "precise_ip: 3, mmap_data: 1, sample_id_all: 1, exclude_host: 1, "
		  "exclude_guest: 1, exclude_callchain_kernel: 1, exclude_callchain_user: 1, "
		  "mmap2: 1, comm_exec: 1, use_clockid: 1, context_switch: 1, "
		  "write_backward: 1, namespaces: 1, ksymbol: 1, bpf_event: 1, aux_output: 1, "
		  "cgroup: 1, text_poke: 1, build_id: 1, inherit_thread: 1, remove_on_exec: 1, "
		  "sigtrap: 1, defer_callchain: 1, defer_output: 1" },
		{ { .type = PEV_TYPE_BREAKPOINT,
		    .size = 144,
		    .wakeup = 1,
		    .bp_type = 3,
		    .config1 = 0xffffffff81000000,
		    .config2 = 8,
		    .sample_regs_user = 0xff0fff,
		    .sample_stack_user = 8192,
		    .clockid = -1,
		    .sample_regs_intr = 1,
		    .aux_watermark = 2,
		    .sample_max_stack = 127,
		    .aux_sample_size = 4,
		    .sig_data = 5,
		    .aux_action = 7 },
		  "type: 5, size: 144, { wakeup_events, wakeup_watermark }: 1, bp_type: 3, "
		  "{ bp_addr, config1 }: 0xffffffff81000000, { bp_len, config2 }: 0x8, "
		  "sample_regs_user: 0xff0fff, sample_stack_user: 8192, clockid: -1, "
		  "sample_regs_intr: 0x1, aux_watermark: 2, sample_max_stack: 127, "
		  "aux_sample_size: 4, sig_data: 5, aux_start_paused: 1, aux_pause: 1, "
		  "aux_resume: 1" },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(attrs); i++)
		check_print(&attrs[i].attr, ": ", attrs[i].printed);
	check_print(&attrs[1].attr, " = ", "size = 128");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_size),
		cmocka_unit_test(test_big_endian_flags),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_print),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
