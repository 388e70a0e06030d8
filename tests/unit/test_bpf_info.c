// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names, addresses and sizes of BPF programs out of BPF_PROG_INFO and BPF_BTF. */
#include "tests/unit/test.h"

#include "base/cleanup.h"
#include "format/bpf_info.h"

#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#define ALL_ARRAYS 0x1ff
#define BTF_ID     31

/* What follows struct bpf_prog_info, in this order. */
struct arrays {
	uint64_t ksyms[2];
	uint32_t lens[2];
	uint8_t tags[2][8];
	struct bpf_func_info funcs[2];
};

/* One program of @nr functions. */
static void put_prog(struct pev_buf *buf, uint32_t id, uint32_t nr, uint32_t btf_id,
		     const char *name, uint64_t which)
{
	const struct arrays arrays = {
		.ksyms = { 0xffffffffc0022108, 0xffffffffc0025b88 },
		.lens = { 32, 35 },
		.tags = { { 0x2f, 0x74, 0x20, 0xef, 0xe0, 0xa5, 0x40, 0x9a },
			  { 0x2f, 0x5e, 0x57, 0x6f, 0xd4, 0x89, 0xaa, 0x0b } },
		.funcs = { { .type_id = 2 }, { .type_id = 4 } },
	};
	struct bpf_prog_info info = {
		.id = id,
		.btf_id = btf_id,
		.nr_jited_ksyms = nr,
		.nr_jited_func_lens = nr,
		.nr_prog_tags = nr,
		.nr_func_info = nr,
		.func_info_rec_size = sizeof(struct bpf_func_info),
		.jited_ksyms = offsetof(struct arrays, ksyms),
		.jited_func_lens = offsetof(struct arrays, lens),
		.prog_tags = offsetof(struct arrays, tags),
		.func_info = offsetof(struct arrays, funcs),
	};

	memcpy(info.name, name, strlen(name));
	pev_buf_u32(buf, sizeof(info));
	pev_buf_u32(buf, sizeof(arrays));
	pev_buf_u64(buf, which);
	pev_buf_put(buf, &info, sizeof(info));
	pev_buf_put(buf, &arrays, sizeof(arrays));
}

/* Four types: an int of no use, the function on_switch, a struct of no use, the function helper. */
static void put_btf(struct pev_buf *buf)
{
	static const char strings[] = "\0int\0on_switch\0helper";
	const uint32_t types[] = {
		1,  BTF_KIND_INT << 24,        4, 0x01000020,       /* 1 */
		5,  BTF_KIND_FUNC << 24,       1,                   /* 2 */
		0,  BTF_KIND_STRUCT << 24 | 1, 4, 1,          1, 0, /* 3 */
		15, BTF_KIND_FUNC << 24,       1,                   /* 4 */
	};
	const struct btf_header hdr = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(hdr),
		.type_len = sizeof(types),
		.str_off = sizeof(types),
		.str_len = sizeof(strings),
	};

	pev_buf_u32(buf, 7);
	pev_buf_u32(buf, 0);
	pev_buf_u32(buf, BTF_ID);
	pev_buf_u32(buf, sizeof(hdr) + sizeof(types) + sizeof(strings));
	pev_buf_put(buf, &hdr, sizeof(hdr));
	pev_buf_put(buf, types, sizeof(types));
	pev_buf_put(buf, strings, sizeof(strings));
}

static void put_all(struct pev_buf *progs, struct pev_buf *btfs)
{
	put_prog(progs, 1189, 2, BTF_ID, "on_switch", ALL_ARRAYS);
	put_prog(progs, 1190, 1, BTF_ID, "switch_of_btf", ALL_ARRAYS);
	put_prog(progs, 1191, 1, 0, "plain", ALL_ARRAYS);
	put_prog(progs, 1192, 2, 99, "no_such_btf", ALL_ARRAYS);
	put_prog(progs, 1193, 0, 0, "not_jited", ALL_ARRAYS);
	put_prog(progs, 1194, 1, 0, "fifteen_letters", ALL_ARRAYS & ~(1U << 3));
	put_btf(btfs);
	assert_int_equal(pev_buf_status(progs), 0);
	assert_int_equal(pev_buf_status(btfs), 0);
}

/* From copies that end where the sections do. */
static char *print(const struct pev_buf *progs, size_t progs_size, const struct pev_buf *btfs,
		   size_t btfs_size)
{
	_cleanup_features_ struct pev_features f = { 0 };
	char *text = NULL;
	size_t size;
	FILE *const out = open_memstream(&text, &size);

	assert_non_null(out);
	f.bpf_prog_info = (struct pev_feat_bpf){
		.nr = 6,
		.entries = pev_features_copy(&f, progs->data, progs_size),
		.size = progs_size,
	};
	f.bpf_btf = (struct pev_feat_bpf){
		.nr = 2,
		.entries = pev_features_copy(&f, btfs->data, btfs_size),
		.size = btfs_size,
	};
	pev_bpf_prog_info_print(&f, out);
	pev_bpf_btf_print(&f, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void test_print(void **state)
{
	_cleanup_buf_ struct pev_buf progs = { 0 }, btfs = { 0 };
	_cleanup_free_ char *text = NULL;

	(void)state;
	put_all(&progs, &btfs);
	text = print(&progs, progs.size, &btfs, btfs.size);
	assert_string_equal(
		text,
		"# bpf_prog_info 1189:\n"
		"# \tsub_prog 0: bpf_prog_2f7420efe0a5409a_on_switch addr 0xffffffffc0022108 "
		"size 32\n"
		"# \tsub_prog 1: bpf_prog_2f5e576fd489aa0b_helper addr 0xffffffffc0025b88 "
		"size 35\n"
		"# bpf_prog_info 1190: bpf_prog_2f7420efe0a5409a_on_switch addr "
		"0xffffffffc0022108 size 32\n"
		"# bpf_prog_info 1191: bpf_prog_2f7420efe0a5409a_plain addr 0xffffffffc0022108 "
		"size 32\n"
		"# bpf_prog_info 1192:\n"
		"# \tsub_prog 0: bpf_prog_2f7420efe0a5409a_F addr 0xffffffffc0022108 size 32\n"
		"# \tsub_prog 1: bpf_prog_2f5e576fd489aa0b_F addr 0xffffffffc0025b88 size 35\n"
		"# bpf_prog_info 1193:\n"
		"# bpf_prog_info 1194: bpf_prog_2f7420efe0a5409a_fifteen_letters addr 0x0 size "
		"32\n"
		"# btf info of id 7\n"
		"# btf info of id 31\n");
}

/* Without a byte read past the end, and no more said than is there. */
static void test_damage(void **state)
{
	_cleanup_buf_ struct pev_buf progs = { 0 }, btfs = { 0 };

	(void)state;
	put_all(&progs, &btfs);
	for (size_t n = 0; n < progs.size; n++)
		free(print(&progs, n, &btfs, btfs.size));
	for (size_t n = 0; n < btfs.size; n++)
		free(print(&progs, progs.size, &btfs, n));
	for (size_t bit = 0; bit < 8 * progs.size; bit++) {
		progs.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		free(print(&progs, progs.size, &btfs, btfs.size));
		progs.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (size_t bit = 0; bit < 8 * btfs.size; bit++) {
		btfs.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		free(print(&progs, progs.size, &btfs, btfs.size));
		btfs.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
