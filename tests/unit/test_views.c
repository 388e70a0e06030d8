// SPDX-License-Identifier: LGPL-2.1-or-later
/* The exports of one small profile: what is in them, and what happens without memory. */
#include "alloc.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "report/firefox.h"
#include "report/flame_tree.h"
#include "report/flamegraph.h"
#include "report/gzip.h"
#include "report/json.h"
#include "report/pprof.h"
#include "report/proto.h"
#include "report/speedscope.h"
#include "report/string_pool.h"
#include "report/threads.h"
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/*
 * main calls work, which has step inlined in it; work calls the kernel. Two threads of two
 * processes were in work, one of them in the kernel, too.
 */
static const struct pev_frame main_frames[] = { { .name = "main", .dso = "/bin/a", .line = 9 } };
static const struct pev_frame work_frames[] = {
	{ .name = "step", .dso = "/bin/a", .inlined = true, .file = "a.c", .line = 3 },
	{ .name = "work<\"x\">", .dso = "/bin/a", .file = "a.c", .line = 5 },
};
static const struct pev_frame kernel_frames[] = {
	{ .name = "do_work", .dso = "[kernel.kallsyms]", .kernel = true },
};
static const struct pev_frame jit_frames[] = { { .name = "js", .dso = "/tmp/perf-12.map" } };
static const struct pev_frame unknown_frames[] = { { .dso = "/bin/stripped" } };

#define CODE(f)                                               \
	{                                                     \
		.frames = (f), .nr_frames = PEV_ARRAY_SIZE(f) \
	}
static const struct pev_profile_code codes[] = {
	CODE(main_frames), CODE(work_frames),    CODE(kernel_frames),
	CODE(jit_frames),  CODE(unknown_frames),
};
static const struct pev_profile_node nodes[] = {
	{ 0, 0 }, { 0, 0 }, { 1, 1 }, { 2, 2 }, { 1, 3 },
};
static const struct pev_profile_stack stacks[] = {
	{ 2, 1, 2 },
	{ 3, 2, 3 },
	{ 4, 3, 2 },
	{ 0, 4, 0 },
};
static const struct pev_profile_key keys[] = {
	{ .pid = 7, .tid = 8, .comm = "helper", .slice = 1 },
	{ .pid = 7, .tid = 7, .comm = "boss", .slice = 4 },
	{ .pid = 7, .tid = 8, .comm = "helper", .slice = 0, .cpu = 1 },
};
static const struct pev_profile_cell cells[] = {
	{ 0, 0, 3, 30 }, { 1, 1, 2, 20 }, { 0, 2, 1, 10 }, { 2, 2, 4, 40 }, { 3, 1, 5, 50 },
};
static const struct pev_profile_event events[] = {
	{ .name = "cpu-clock",
	  .attr = { .type = PEV_TYPE_SOFTWARE },
	  .samples = 15,
	  .period = 150 },
};
static const struct pev_profile_data data = {
	.events = events,
	.nr_events = 1,
	.codes = codes,
	.nr_codes = PEV_ARRAY_SIZE(codes),
	.nodes = nodes,
	.nr_nodes = PEV_ARRAY_SIZE(nodes),
	.stacks = stacks,
	.nr_stacks = PEV_ARRAY_SIZE(stacks),
	.keys = keys,
	.nr_keys = PEV_ARRAY_SIZE(keys),
	.cells = cells,
	.nr_cells = PEV_ARRAY_SIZE(cells),
	.first_slice_ns = 1000,
	.slice_ns = 1000000,
	.first_ns = 1000,
	.last_ns = 4500000,
};

static void test_json(void **state)
{
	static const struct {
		const char *in, *out;
	} strings[] = {
		{ "", "\"\"" },
		{ "a\"b\\c\n", "\"a\\\"b\\\\c\\u000a\"" },
		{ "</script>", "\"\\u003c/script>\"" },
		{ "\xc3\xa4\xff", "\"\xc3\xa4\\ufffd\"" },
		{ "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"" },
	};
	/* RFC 4648, section 10 */
	static const struct {
		const char *in, *out;
	} base64[] = {
		{ "", "" },
		{ "f", "Zg==" },
		{ "fo", "Zm8=" },
		{ "foo", "Zm9v" },
		{ "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" },
		{ "foobar", "Zm9vYmFy" },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(strings) + PEV_ARRAY_SIZE(base64); i++) {
		const size_t b = i - PEV_ARRAY_SIZE(strings);
		_cleanup_free_ char *text = NULL;
		size_t n = 0;
		FILE *const f = open_memstream(&text, &n);

		if (i < PEV_ARRAY_SIZE(strings))
			pev_json_string(strings[i].in, f);
		else
			pev_json_base64((const uint8_t *)base64[b].in, strlen(base64[b].in), f);
		assert_int_equal(fclose(f), 0);
		assert_string_equal(text,
				    i < PEV_ARRAY_SIZE(strings) ? strings[i].out : base64[b].out);
	}
}

static void test_proto(void **state)
{
	/* The example of protobuf.dev: field 1 is 150; then a string, then a message. */
	static const uint8_t expected[] = { 0x08, 0x96, 0x01, 0x12, 0x02, 'h',
					    'i',  0x1a, 0x02, 0x08, 0x01 };
	_cleanup_buf_ struct pev_buf b = { 0 }, inner = { 0 };

	(void)state;
	pev_proto_uint(&b, 1, 150);
	pev_proto_uint(&b, 9, 0);
	pev_proto_bytes(&b, 2, "hi", 2);
	pev_proto_uint(&inner, 1, 1);
	pev_proto_message(&b, 3, &inner);
	assert_int_equal(inner.size, 0);
	assert_int_equal(b.size, sizeof(expected));
	assert_memory_equal(b.data, expected, sizeof(expected));
}

static void test_gzip(void **state)
{
	_cleanup_(pev_gzip_freep) struct pev_gzip *z = NULL;
	struct pev_err err = PEV_ERR_INIT;
	unsigned char back[4096] = { 0 };
	_cleanup_free_ char *packed = NULL;
	size_t n = 0;
	FILE *const f = open_memstream(&packed, &n);
	z_stream s = { 0 };

	(void)state;
	assert_int_equal(pev_gzip_new(f, &z, &err), 0);
	assert_int_equal(pev_gzip_write(z, "to and ", 7, &err), 0);
	assert_int_equal(pev_gzip_write(z, "fro", 3, &err), 0);
	assert_int_equal(pev_gzip_finish(z, &err), 0);
	assert_int_equal(fclose(f), 0);
	s.next_in = (unsigned char *)packed;
	s.avail_in = (uInt)n;
	s.next_out = back;
	s.avail_out = sizeof(back);
	assert_int_equal(inflateInit2(&s, 31), Z_OK);
	assert_int_equal(inflate(&s, Z_FINISH), Z_STREAM_END);
	assert_int_equal(inflateEnd(&s), Z_OK);
	assert_string_equal((char *)back, "to and fro");
}

static void test_flame_tree(void **state)
{
	static const struct {
		const char *name;
		uint32_t parent;
		enum pev_flame_kind kind;
	} expected[] = {
		{ "boss", 0, PEV_FLAME_THREAD },   { "[unknown]", 1, PEV_FLAME_UNKNOWN },
		{ "main", 1, PEV_FLAME_USER },     { "work<\"x\">", 3, PEV_FLAME_USER },
		{ "step", 4, PEV_FLAME_INLINED },  { "do_work", 5, PEV_FLAME_KERNEL },
		{ "helper", 0, PEV_FLAME_THREAD }, { "main", 7, PEV_FLAME_USER },
		{ "js", 8, PEV_FLAME_JIT },        { "work<\"x\">", 8, PEV_FLAME_USER },
		{ "step", 10, PEV_FLAME_INLINED },
	};
	_cleanup_(pev_flame_tree_done) struct pev_flame_tree t = { 0 };
	struct pev_err err = PEV_ERR_INIT;

	(void)state;
	assert_int_equal(pev_flame_tree_add(&t, &data, PEV_FLAME_AFTER, &err), 0);
	assert_int_equal(pev_flame_tree_add(&t, &data, PEV_FLAME_BEFORE, &err), 0);
	assert_int_equal(pev_flame_tree_sort(&t, &err), 0);
	assert_int_equal(t.nr_nodes, PEV_ARRAY_SIZE(expected) + 1);
	for (uint32_t i = 1; i < t.nr_nodes; i++) {
		assert_string_equal(t.labels[t.nodes[i].label].name, expected[i - 1].name);
		assert_int_equal(t.nodes[i].parent, expected[i - 1].parent);
		assert_int_equal(t.nodes[i].kind, expected[i - 1].kind);
	}
	assert_int_equal(t.nr_events, 1);
	assert_int_equal(t.events[0].samples[PEV_FLAME_AFTER], 15);
	assert_int_equal(t.events[0].samples[PEV_FLAME_BEFORE], 15);
	assert_int_equal(t.nr_counts, 2 * PEV_ARRAY_SIZE(cells));
	/* The first side first, each by node and slice. */
	assert_int_equal(t.counts[0].node, 2);
	assert_int_equal(t.counts[0].samples, 5);
	assert_int_equal(t.counts[3].node, 11);
	assert_int_equal(t.counts[3].slice, 0);
	assert_int_equal(t.counts[4].slice, 1);
	assert_int_equal(t.counts[5].side, PEV_FLAME_BEFORE);
}

static void test_threads(void **state)
{
	_cleanup_(pev_threads_done) struct pev_threads t = { 0 };

	(void)state;
	assert_int_equal(pev_threads_make(&t, &data), 0);
	assert_int_equal(t.nr, 2);
	assert_string_equal(t.v[0].comm, "boss");
	assert_string_equal(t.v[1].comm, "helper");
	assert_string_equal(t.v[1].process, "boss");
	assert_int_equal(t.v[1].nr, 3);
	assert_int_equal(t.cells[t.v[1].first_cell], 2);
	assert_int_equal(t.cells[t.v[1].first_cell + 2], 0);
}

static void test_string_pool(void **state)
{
	_cleanup_(pev_string_pool_done) struct pev_string_pool p = { 0 };

	(void)state;
	assert_int_equal(pev_string_pool_add(&p, ""), 0);
	assert_int_equal(pev_string_pool_add(&p, "a"), 1);
	assert_int_equal(pev_string_pool_add(&p, ""), 0);
	assert_int_equal(p.nr, 2);
	alloc_fail_at(1);
	assert_int_equal(pev_string_pool_add(&p, "b"), 0);
	assert_true(alloc_fail_end());
	assert_int_equal(p.failed, -ENOMEM);
}

static int write_flamegraph(FILE *out, struct pev_err *err)
{
	static const struct pev_flamegraph_options how = { .title = "</script><b>" };

	return pev_flamegraph_write(&data, &data, &how, out, err);
}

static int write_pprof(FILE *out, struct pev_err *err)
{
	static const struct pev_clock clock = { .has_wall = true, .wall_ns = 5 };

	return pev_pprof_write(&data, PEV_PPROF_KEY, &clock, out, err);
}

static int write_speedscope(FILE *out, struct pev_err *err)
{
	return pev_speedscope_write(&data, "title", out, err);
}

static int write_firefox(FILE *out, struct pev_err *err)
{
	static const struct pev_clock clock = { 0 };

	return pev_firefox_write(&data, "title", &clock, out, err);
}

static const struct {
	const char *name;
	int (*run)(FILE *out, struct pev_err *err);
	const char *expected;
} writers[] = {
	{ "flamegraph", write_flamegraph, "{\"title\":\"\\u003c/script>\\u003cb>\",\"notes\":[]" },
	{ "pprof", write_pprof, NULL },
	{ "speedscope", write_speedscope,
	  "\"samples\":[[0,2,1],[0,4],[0,2,1]],\"weights\":[10,40,30]" },
	{ "firefox", write_firefox, "\"weight\":[1,4,3],\"weightType\":\"samples\"" },
};

static void test_writers(void **state)
{
	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(writers); i++) {
		struct pev_err err = PEV_ERR_INIT;
		_cleanup_free_ char *text = NULL;
		size_t n = 0;
		FILE *const f = open_memstream(&text, &n);

		assert_int_equal(writers[i].run(f, &err), 0);
		assert_int_equal(fclose(f), 0);
		if (writers[i].expected && !strstr(text, writers[i].expected))
			fail_msg("%s does not have %s: %s", writers[i].name, writers[i].expected,
				 text);
	}
}

/* Nothing leaks, nothing crashes, and the answer is -ENOMEM; or the allocation was not needed. */
static void test_no_memory(void **state)
{
	_cleanup_fclose_ FILE *null = fopen("/dev/null", "we");

	(void)state;
	assert_non_null(null);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(writers); i++)
		for (unsigned int nth = 1;; nth++) {
			struct pev_err err = PEV_ERR_INIT;
			int r;

			alloc_fail_at(nth);
			r = writers[i].run(null, &err);
			if (!alloc_fail_end())
				break;
			if (r != 0)
				assert_int_equal(r, -ENOMEM);
		}
}

static void test_full_disk(void **state)
{
	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(writers); i++) {
		struct pev_err err = PEV_ERR_INIT;
		FILE *const full = fopen("/dev/full", "we");
		int r;

		assert_non_null(full);
		r = writers[i].run(full, &err);
		assert_int_equal(r, -ENOSPC);
		assert_non_null(strstr(err.msg, "No space left"));
		(void)fclose(full);
	}
}

static void test_empty(void **state)
{
	static const struct pev_profile_data empty = { .events = events };
	static const struct pev_flamegraph_options how = { .title = "" };
	struct pev_err err = PEV_ERR_INIT;

	(void)state;
	assert_int_equal(pev_flamegraph_write(&empty, NULL, &how, stdout, &err), -ENODATA);
	assert_err(&err, -ENODATA,
		   "there are no samples to draw: nothing was recorded, or no sample passes the "
		   "filters");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),      cmocka_unit_test(test_proto),
		cmocka_unit_test(test_gzip),      cmocka_unit_test(test_flame_tree),
		cmocka_unit_test(test_threads),   cmocka_unit_test(test_string_pool),
		cmocka_unit_test(test_writers),   cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_full_disk), cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
