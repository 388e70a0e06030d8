// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Loads a program of its own, with a subprogram and BTF that names both functions, and looks for it
 * in what is told of all loaded programs.
 */
#include "test.h"

#include "base/cleanup.h"
#include "collect.h"
#include "recorder/bpf_prog.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>

/* Strings: 1 "int", 5 "main_func", 15 "sub_func". */
#define STRINGS "\0int\0main_func\0sub_func"

static int prog_fd = -1, btf_fd = -1;
static uint32_t prog_id;
static uint8_t prog_tag[BPF_TAG_SIZE];
static struct pev_buf btf;

static int bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	const long r = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return r < 0 ? -errno : (int)r;
}

static void put_type(uint32_t name, uint32_t kind, uint32_t type)
{
	pev_buf_u32(&btf, name);
	pev_buf_u32(&btf, kind << 24);
	pev_buf_u32(&btf, type);
}

static int load_btf(void)
{
	const uint32_t type_len = 4 * 12 + 4;
	union bpf_attr attr;

	pev_buf_u16(&btf, 0xeb9f);
	pev_buf_u16(&btf, 1);
	pev_buf_u32(&btf, 24);
	pev_buf_u32(&btf, 0);
	pev_buf_u32(&btf, type_len);
	pev_buf_u32(&btf, type_len);
	pev_buf_u32(&btf, sizeof(STRINGS));
	put_type(1, 1, 4); /* 1: int, 4 bytes */
	pev_buf_u32(&btf, 1 << 24 | 32);
	put_type(0, 13, 1);  /* 2: int () */
	put_type(5, 12, 2);  /* 3: main_func */
	put_type(15, 12, 2); /* 4: sub_func */
	pev_buf_put(&btf, STRINGS, sizeof(STRINGS));
	assert_int_equal(pev_buf_status(&btf), 0);
	memset(&attr, 0, sizeof(attr));
	attr.btf = (uintptr_t)btf.data;
	attr.btf_size = (uint32_t)btf.size;
	return bpf(BPF_BTF_LOAD, &attr);
}

static int load_prog(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_CALL, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	const struct bpf_func_info funcs[] = { { .insn_off = 0, .type_id = 3 },
					       { .insn_off = 2, .type_id = 4 } };
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
	attr.insn_cnt = PEV_ARRAY_SIZE(insns);
	attr.insns = (uintptr_t)insns;
	attr.license = (uintptr_t) "GPL";
	attr.prog_btf_fd = (uint32_t)btf_fd;
	attr.func_info_rec_size = sizeof(funcs[0]);
	attr.func_info = (uintptr_t)funcs;
	attr.func_info_cnt = PEV_ARRAY_SIZE(funcs);
	memcpy(attr.prog_name, "pev_test", 9);
	return bpf(BPF_PROG_LOAD, &attr);
}

static int get_id(void)
{
	struct bpf_prog_info info;
	union bpf_attr attr;
	int r;

	memset(&info, 0, sizeof(info));
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)prog_fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uintptr_t)&info;
	r = bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
	prog_id = info.id;
	memcpy(prog_tag, info.tag, sizeof(prog_tag));
	return r < 0 ? r : (int)info.nr_jited_ksyms;
}

static int run(struct collect *c, const char *kallsyms, struct pev_bpf_stats *stats,
	       struct pev_bpf_features *features)
{
	_cleanup_(pev_kallsyms_done) struct pev_kallsyms k = { 0 };
	struct pev_emit e = { .attr = &collect_attr, .sink = &c->sink };
	int r;

	assert_int_equal(pev_kallsyms_read(kallsyms, true, &k, NULL), 0);
	r = pev_bpf_progs(&e, &k, stats, features, NULL);
	if (r >= 0)
		r = pev_emit_flush(&e);
	pev_emit_done(&e);
	return r;
}

/* Names from kallsyms and names that are made differ in the tag of the first function at most: it
 * is the function's own or, since some Linux 6.x, that of the whole program. */
static void check_records(const char *kallsyms)
{
	struct pev_bpf_stats stats;
	struct pev_record rec;
	struct collect c;
	int main_seen = 0, sub_seen = 0, events_seen = 0;

	collect_init(&c);
	assert_true(pev_bpf_any());
	assert_int_equal(run(&c, kallsyms, &stats, NULL), 0);
	assert_false(stats.hidden);
	assert_true(stats.programs >= 1);
	while (collect_next(&c, &rec)) {
		if (rec.hdr.type == PEV_REC_BPF_EVENT) {
			assert_int_equal(rec.bpf_event.type, PEV_BPF_EVENT_PROG_LOAD);
			if (rec.bpf_event.prog_id == prog_id) {
				assert_memory_equal(rec.bpf_event.tag, prog_tag, BPF_TAG_SIZE);
				events_seen++;
			}
			continue;
		}
		assert_int_equal(rec.hdr.type, PEV_REC_KSYMBOL);
		assert_int_equal(rec.ksymbol.type, PEV_KSYMBOL_TYPE_BPF);
		assert_int_equal(rec.ksymbol.flags, 0);
		assert_true(rec.ksymbol.addr != 0);
		assert_true(rec.ksymbol.len > 0);
		if (strncmp(rec.ksymbol.name, "bpf_prog_", 9) != 0)
			continue;
		main_seen += strcmp(rec.ksymbol.name + 9 + 16, "_main_func") == 0;
		sub_seen += strcmp(rec.ksymbol.name + 9 + 16, "_sub_func") == 0;
	}
	assert_int_equal(events_seen, 1);
	assert_int_equal(main_seen, 1);
	assert_int_equal(sub_seen, 1);
	collect_done(&c);
}

static void test_records(void **state)
{
	(void)state;
	check_records("/proc/kallsyms");
	check_records("/dev/null");
}

/* Reads the feature as perf does: each entry's sizes lead to the next. */
static void test_prog_info_feature(void **state)
{
	_cleanup_(pev_bpf_features_done) struct pev_bpf_features features = { 0 };
	struct pev_bpf_stats stats;
	struct pev_cursor cursor;
	struct collect c;
	uint32_t count;
	bool seen = false;

	(void)state;
	collect_init(&c);
	assert_int_equal(run(&c, "/dev/null", &stats, &features), 0);
	cursor = pev_cursor(features.prog_info.data, features.prog_info.size);
	count = pev_cursor_u32(&cursor);
	assert_int_equal(count, stats.programs);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t info_len = pev_cursor_u32(&cursor);
		const uint32_t data_len = pev_cursor_u32(&cursor);
		const uint64_t arrays = pev_cursor_u64(&cursor);
		const uint8_t *const bytes = pev_cursor_bytes(&cursor, info_len);
		const uint8_t *const data = pev_cursor_bytes(&cursor, data_len);
		struct bpf_prog_info info = { .type = 0 };
		uint64_t addr;

		assert_false(cursor.failed);
		assert_int_equal(info_len, 208);
		assert_int_equal(data_len % 8, 0);
		memcpy(&info, bytes, info_len);
		if (info.id != prog_id)
			continue;
		seen = true;
		/* JITED_KSYMS, JITED_FUNC_LENS, FUNC_INFO, PROG_TAGS and JITED_INSNS at least. */
		assert_int_equal(arrays & 0x139, 0x139);
		assert_string_equal(info.name, "pev_test");
		assert_int_equal(info.nr_jited_ksyms, 2);
		assert_true(info.jited_ksyms + 16 <= data_len);
		assert_true(info.prog_tags + 16 <= data_len);
		assert_true(info.jited_prog_insns + info.jited_prog_len <= data_len);
		memcpy(&addr, data + info.jited_ksyms, sizeof(addr));
		assert_true(addr >> 63);
		assert_memory_equal(info.tag, prog_tag, BPF_TAG_SIZE);
	}
	assert_int_equal(pev_cursor_left(&cursor), 0);
	assert_true(seen);
	collect_done(&c);
}

static void test_btf_feature(void **state)
{
	_cleanup_(pev_bpf_features_done) struct pev_bpf_features features = { 0 };
	struct pev_bpf_stats stats;
	struct pev_cursor cursor;
	struct collect c;
	uint32_t count;
	bool seen = false;

	(void)state;
	collect_init(&c);
	assert_int_equal(run(&c, "/dev/null", &stats, &features), 0);
	cursor = pev_cursor(features.btf.data, features.btf.size);
	count = pev_cursor_u32(&cursor);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t id = pev_cursor_u32(&cursor);
		const uint32_t size = pev_cursor_u32(&cursor);
		const uint8_t *const data = pev_cursor_bytes(&cursor, size);

		assert_false(cursor.failed);
		assert_true(id > 0);
		if (size == btf.size && memcmp(data, btf.data, size) == 0)
			seen = true;
	}
	assert_int_equal(pev_cursor_left(&cursor), 0);
	assert_true(seen);
	collect_done(&c);
}

static void test_sink_refuses(void **state)
{
	struct pev_bpf_stats stats = { .programs = 77 };
	struct collect c;

	(void)state;
	collect_init(&c);
	c.fail_in = 1;
	assert_int_equal(run(&c, "/dev/null", &stats, NULL), -ENOSPC);
	collect_done(&c);
}

/* What kallsyms alone knows: trampolines and dispatchers. */
static void test_images(void **state)
{
	static char names[] =
		"bpf_trampoline_6442\0bpf_prog_0011223344556677_x\0bpf_dispatcher_xdp";
	struct pev_bpf_symbol symbols[] = { { .addr = 0xffffffffc0000f00, .name = 0 },
					    { .addr = 0xffffffffc0000f40, .name = 20 },
					    { .addr = 0xffffffffc0000fc0, .name = 48 } };
	const struct pev_kallsyms k = {
		.bpf = symbols,
		.nr_bpf = 3,
		.names = { .data = (uint8_t *)names, .size = sizeof(names) },
	};
	struct pev_bpf_stats stats;
	struct pev_record rec;
	struct pev_emit e;
	struct collect c;
	int trampolines = 0, dispatchers = 0;

	(void)state;
	collect_init(&c);
	e = (struct pev_emit){ .attr = &collect_attr, .sink = &c.sink };
	assert_int_equal(pev_bpf_progs(&e, &k, &stats, NULL, NULL), 0);
	assert_int_equal(pev_emit_flush(&e), 0);
	while (collect_next(&c, &rec)) {
		if (rec.hdr.type != PEV_REC_KSYMBOL)
			continue;
		if (strcmp(rec.ksymbol.name, "bpf_trampoline_6442") == 0) {
			trampolines++;
			assert_int_equal(rec.ksymbol.len, 0x40); /* up to the next symbol */
		}
		if (strcmp(rec.ksymbol.name, "bpf_dispatcher_xdp") == 0) {
			dispatchers++;
			assert_int_equal(rec.ksymbol.len, 0x40); /* up to the end of the page */
		}
		/* bpf(2) did not tell of this one: it is gone. */
		assert_string_not_equal(rec.ksymbol.name, "bpf_prog_0011223344556677_x");
	}
	assert_int_equal(trampolines, 1);
	assert_int_equal(dispatchers, 1);
	pev_emit_done(&e);
	collect_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),     cmocka_unit_test(test_prog_info_feature),
		cmocka_unit_test(test_btf_feature), cmocka_unit_test(test_sink_refuses),
		cmocka_unit_test(test_images),
	};
	int r;

	btf_fd = load_btf();
	prog_fd = btf_fd < 0 ? btf_fd : load_prog();
	if (prog_fd < 0) {
		(void)fprintf(stderr, "skipped: cannot load a BPF program: %s\n",
			      pev_errno_str(prog_fd));
		return TEST_SKIP;
	}
	r = get_id();
	if (r <= 0) {
		(void)fprintf(stderr,
			      "skipped: BPF programs are not compiled (net.core.bpf_jit_enable) "
			      "or their addresses are hidden\n");
		return TEST_SKIP;
	}
	r = cmocka_run_group_tests(tests, NULL, NULL);
	(void)close(prog_fd);
	(void)close(btf_fd);
	pev_buf_done(&btf);
	return r;
}
