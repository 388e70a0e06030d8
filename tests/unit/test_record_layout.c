// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Bytes written by hand after the comments of include/uapi/linux/perf_event.h, every field another
 * number: which field is where. (That a round trip works, it would do as well with two swapped.)
 */
#include "test.h"

#include "base/cleanup.h"
#include "format/record.h"

#include <string.h>

#define H(v) (uint8_t)(v), (uint8_t)((v) >> 8)
#define W(v) H(v), H((v) >> 16)
#define Q(v) W((uint64_t)(v)), W((uint64_t)(v) >> 32)

#define TRAILER W(901), W(902), Q(903), Q(904), Q(905), W(906), W(907)

/* Bytes are little-endian; a host of the other order reads them swapped. */
static const bool swap = __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__;

/* Decodes @bytes; its trailer, if it has one, is TRAILER. */
static struct pev_record decode(const struct pev_attr *attr, const uint8_t *bytes, size_t size)
{
	struct pev_err err = PEV_ERR_INIT;
	struct pev_record rec;

	if (pev_record_decode(attr, bytes, size, swap, &rec, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(rec.hdr.size, size);
	assert_int_equal(rec.rest, 0);
	return rec;
}

static const struct pev_attr with_trailer = {
	.sample_type = PEV_SAMPLE_ID_BITS & ~PEV_SAMPLE_IDENTIFIER,
	.read_format = PEV_FORMAT_ALL & ~PEV_FORMAT_GROUP,
	.flags = PEV_ATTR_SAMPLE_ID_ALL | PEV_ATTR_BUILD_ID,
};

/* A record of the body given, with the trailer that all of them have. */
#define RECORD(type, misc, ...)                                                                    \
	decode(&with_trailer,                                                                      \
	       (const uint8_t[]){ W(type), H(misc),                                                \
				  H(sizeof((uint8_t[]){ __VA_ARGS__, TRAILER }) + 8), __VA_ARGS__, \
				  TRAILER },                                                       \
	       sizeof((uint8_t[]){ __VA_ARGS__, TRAILER }) + 8)

static void assert_trailer(const struct pev_sample_id *id)
{
	assert_true(id->has == with_trailer.sample_type);
	assert_true(id->pid == 901 && id->tid == 902);
	assert_true(id->time == 903);
	assert_true(id->id == 904);
	assert_true(id->stream_id == 905);
	assert_true(id->cpu == 906 && id->cpu_res == 907);
}

static void test_mmap(void **state)
{
	struct pev_record r;

	(void)state;
	r = RECORD(PEV_REC_MMAP, PEV_MISC_USER, W(1), W(2), Q(3), Q(4), Q(5), 'l', 'i', 'b', 0,
		   W(0));
	assert_true(r.mmap.pid == 1 && r.mmap.tid == 2);
	assert_true(r.mmap.start == 3 && r.mmap.len == 4 && r.mmap.pgoff == 5);
	assert_string_equal(r.mmap.filename, "lib");
	assert_trailer(&r.id);

	r = RECORD(PEV_REC_MMAP2, PEV_MISC_USER, W(1), W(2), Q(3), Q(4), Q(5), W(6), W(7), Q(8),
		   Q(9), W(10), W(11), 'l', 'i', 'b', 0, W(0));
	assert_true(r.mmap.pid == 1 && r.mmap.tid == 2);
	assert_true(r.mmap.start == 3 && r.mmap.len == 4 && r.mmap.pgoff == 5);
	assert_true(r.mmap.maj == 6 && r.mmap.min == 7);
	assert_true(r.mmap.ino == 8 && r.mmap.ino_generation == 9);
	assert_true(r.mmap.prot == 10 && r.mmap.flags == 11);
	assert_int_equal(r.mmap.build_id_size, 0);
	assert_string_equal(r.mmap.filename, "lib");
	assert_trailer(&r.id);

	r = RECORD(PEV_REC_MMAP2, PEV_MISC_USER | PEV_MISC_MMAP_BUILD_ID, W(1), W(2), Q(3), Q(4),
		   Q(5), 3, 0, 0, 0, 0xa1, 0xa2, 0xa3, 0, Q(0), Q(0), W(10), W(11), 'l', 'i', 'b',
		   0, W(0));
	assert_true(r.mmap.start == 3 && r.mmap.len == 4 && r.mmap.pgoff == 5);
	assert_int_equal(r.mmap.build_id_size, 3);
	assert_memory_equal(r.mmap.build_id, ((uint8_t[20]){ 0xa1, 0xa2, 0xa3 }), 20);
	assert_true(r.mmap.prot == 10 && r.mmap.flags == 11);
	assert_true(r.mmap.ino == 0 && r.mmap.maj == 0);
	assert_string_equal(r.mmap.filename, "lib");
	assert_trailer(&r.id);
}

/* Linux leaves the bit of another event's build-id on: believed of an event that asked for
 * build-ids, and of a build-id that can be no inode. */
static void test_build_id_of_another(void **state)
{
	static const struct {
		uint64_t flags;
		uint8_t identity[24];
		bool build_id;
	} cases[] = {
		{ PEV_ATTR_BUILD_ID, { 8, 0, 0, 0, 0xa1 }, true },
		{ PEV_ATTR_BUILD_ID, { 20, 0, 0, 0, 0xa1 }, true },
		{ 0, { 20, 0, 0, 0, 0xa1 }, true },
		{ 0, { 16, 0, 0, 0, 0xa1 }, true },
		{ 0, { 20, 1, 0, 0, 0xa1 }, false },
		{ 0, { W(8), W(1), Q(1234), Q(99) }, false },
		{ 0, { W(254), W(0), Q(1234), Q(99) }, false },
		{ 0, { 0 }, false },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		const struct pev_attr attr = { .flags = cases[i].flags };
		/* clang-format off */
		uint8_t bytes[] = {
			W(PEV_REC_MMAP2), H(PEV_MISC_USER | PEV_MISC_MMAP_BUILD_ID), H(80),
			W(1), W(2), Q(3), Q(4), Q(5),
			Q(0), Q(0), Q(0), /* the identity */
			W(10), W(11), 'l', 'i', 'b', 0, W(0),
		};
		/* clang-format on */
		struct pev_record r;

		memcpy(bytes + 40, cases[i].identity, 24);
		r = decode(&attr, bytes, sizeof(bytes));
		assert_int_equal(r.hdr.misc & PEV_MISC_MMAP_BUILD_ID,
				 cases[i].build_id ? PEV_MISC_MMAP_BUILD_ID : 0);
		assert_int_equal(r.mmap.build_id_size,
				 cases[i].build_id ? cases[i].identity[0] : 0);
		assert_true(r.mmap.prot == 10 && r.mmap.flags == 11);
		assert_string_equal(r.mmap.filename, "lib");
	}
}

/* The kernel of RHEL 7.0 has neither prot nor flags: the path is where they would be. */
static void test_mmap2_without_prot(void **state)
{
	struct pev_record r;

	(void)state;
	r = RECORD(PEV_REC_MMAP2, PEV_MISC_USER, W(1), W(2), Q(3), Q(4), Q(5), W(6), W(7), Q(8),
		   Q(9), '[', 's', 't', 'a', 'c', 'k', ']', 0);
	assert_true(r.mmap.maj == 6 && r.mmap.min == 7 && r.mmap.ino == 8);
	assert_true(r.mmap.prot == 0 && r.mmap.flags == 0);
	assert_string_equal(r.mmap.filename, "[stack]");
	assert_trailer(&r.id);

	r = RECORD(PEV_REC_MMAP2, PEV_MISC_USER, W(1), W(2), Q(3), Q(4), Q(5), W(6), W(7), Q(8),
		   Q(9), '/', 'u', 's', 'r', '/', 'l', 'i', 'b', '/', 'x', 0, 0, W(0));
	assert_true(r.mmap.prot == 0 && r.mmap.flags == 0);
	assert_string_equal(r.mmap.filename, "/usr/lib/x");
	assert_trailer(&r.id);
}

static void test_tasks(void **state)
{
	static const uint32_t fork_and_exit[] = { PEV_REC_FORK, PEV_REC_EXIT };
	struct pev_record r;

	(void)state;
	r = RECORD(PEV_REC_COMM, PEV_MISC_COMM_EXEC, W(1), W(2), 'b', 'a', 's', 'h', 0, 0, 0, 0);
	assert_int_equal(r.hdr.misc, PEV_MISC_COMM_EXEC);
	assert_true(r.comm.pid == 1 && r.comm.tid == 2);
	assert_string_equal(r.comm.comm, "bash");
	assert_trailer(&r.id);

	for (size_t i = 0; i < PEV_ARRAY_SIZE(fork_and_exit); i++) {
		r = RECORD(fork_and_exit[i], 0, W(1), W(2), W(3), W(4), Q(5));
		assert_true(r.task.pid == 1 && r.task.ppid == 2);
		assert_true(r.task.tid == 3 && r.task.ptid == 4);
		assert_true(r.task.time == 5);
		assert_trailer(&r.id);
	}

	r = RECORD(PEV_REC_SWITCH_CPU_WIDE, PEV_MISC_SWITCH_OUT, W(1), W(2));
	assert_true(r.switch_cpu_wide.pid == 1 && r.switch_cpu_wide.tid == 2);
	assert_trailer(&r.id);

	r = RECORD(PEV_REC_ITRACE_START, 0, W(1), W(2));
	assert_true(r.itrace_start.pid == 1 && r.itrace_start.tid == 2);
	assert_trailer(&r.id);

	r = RECORD(PEV_REC_NAMESPACES, 0, W(1), W(2), Q(2), Q(3), Q(4), Q(5), Q(6));
	assert_true(r.namespaces.pid == 1 && r.namespaces.tid == 2 && r.namespaces.nr == 2);
	for (uint64_t i = 0; i < 4; i++)
		assert_true(pev_u64s_at(&r.namespaces.links, i) == 3 + i);
	assert_trailer(&r.id);
}

static void test_loss_and_throttling(void **state)
{
	static const uint32_t both[] = { PEV_REC_THROTTLE, PEV_REC_UNTHROTTLE };
	struct pev_record r;

	(void)state;
	r = RECORD(PEV_REC_LOST, 0, Q(1), Q(2));
	assert_true(r.lost.id == 1 && r.lost.lost == 2);
	assert_trailer(&r.id);
	r = RECORD(PEV_REC_LOST_SAMPLES, 0, Q(1));
	assert_true(r.lost_samples.lost == 1);
	assert_trailer(&r.id);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(both); i++) {
		r = RECORD(both[i], 0, Q(1), Q(2), Q(3));
		assert_true(r.throttle.time == 1);
		assert_true(r.throttle.id == 2 && r.throttle.stream_id == 3);
		assert_trailer(&r.id);
	}
	r = RECORD(PEV_REC_AUX, 0, Q(1), Q(2), Q(3));
	assert_true(r.aux.offset == 1 && r.aux.size == 2 && r.aux.flags == 3);
	assert_trailer(&r.id);
	r = RECORD(PEV_REC_AUX_OUTPUT_HW_ID, 0, Q(1));
	assert_true(r.aux_output_hw_id.hw_id == 1);
	assert_trailer(&r.id);
}

static void test_kernel_text(void **state)
{
	struct pev_record r;

	(void)state;
	r = RECORD(PEV_REC_KSYMBOL, 0, Q(1), W(2), H(3), H(4), 'b', 'p', 'f', 0, W(0));
	assert_true(r.ksymbol.addr == 1 && r.ksymbol.len == 2);
	assert_true(r.ksymbol.type == 3 && r.ksymbol.flags == 4);
	assert_string_equal(r.ksymbol.name, "bpf");
	assert_trailer(&r.id);

	r = RECORD(PEV_REC_BPF_EVENT, 0, H(1), H(2), W(3), 1, 2, 3, 4, 5, 6, 7, 8);
	assert_true(r.bpf_event.type == 1 && r.bpf_event.flags == 2 && r.bpf_event.prog_id == 3);
	assert_memory_equal(r.bpf_event.tag, ((uint8_t[]){ 1, 2, 3, 4, 5, 6, 7, 8 }), 8);
	assert_trailer(&r.id);

	r = RECORD(PEV_REC_CGROUP, 0, Q(1), '/', 'a', 0, 0, W(0));
	assert_true(r.cgroup.id == 1);
	assert_string_equal(r.cgroup.path, "/a");
	assert_trailer(&r.id);

	r = RECORD(PEV_REC_TEXT_POKE, 0, Q(1), H(1), H(2), 0xcc, 0x90, 0x91, 0);
	assert_true(r.text_poke.addr == 1);
	assert_true(r.text_poke.old_code.size == 1 && r.text_poke.old_code.p[0] == 0xcc);
	assert_true(r.text_poke.new_code.size == 2 && r.text_poke.new_code.p[1] == 0x91);
	assert_trailer(&r.id);

	r = RECORD(PEV_REC_CALLCHAIN_DEFERRED, 0, Q(1), Q(2), Q(3), Q(4));
	assert_true(r.callchain_deferred.cookie == 1);
	assert_true(r.callchain_deferred.callchain.nr == 2);
	assert_true(pev_u64s_at(&r.callchain_deferred.callchain, 1) == 4);
	assert_trailer(&r.id);
}

/* Linux counts the trailers of other people's events into the size of these; what it filled ends
 * sooner, and beyond lies what was in the ring. */
static void test_oversized(void **state)
{
	/* clang-format off */
	static const uint8_t ksymbol[] = {
		W(PEV_REC_KSYMBOL), H(0), H(64), Q(1), W(2), H(3), H(4), 'b', 'p', 'f', 0, W(0),
		W(5), W(6), Q(7), /* the trailer */
		Q(8), Q(9),
	};
	static const uint8_t bpf[] = {
		W(PEV_REC_BPF_EVENT), H(0), H(48), H(1), H(2), W(3), Q(4),
		W(5), W(6), Q(7),
		Q(8),
	};
	static const uint8_t poke[] = {
		W(PEV_REC_TEXT_POKE), H(0), H(56), Q(1), H(1), H(1), 2, 3, 0, 0,
		W(5), W(6), Q(7),
		Q(8), Q(9),
	};
	/* clang-format on */
	static const struct {
		const uint8_t *bytes;
		size_t size, filled;
	} cases[] = {
		{ ksymbol, sizeof(ksymbol), 48 },
		{ bpf, sizeof(bpf), 40 },
		{ poke, sizeof(poke), 40 },
	};
	const struct pev_attr attr = { .sample_type = PEV_SAMPLE_TID | PEV_SAMPLE_IDENTIFIER,
				       .flags = PEV_ATTR_SAMPLE_ID_ALL };

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		const uint8_t *const bytes = cases[i].bytes;
		struct pev_record r;

		assert_int_equal(pev_record_decode(&attr, bytes, cases[i].size, swap, &r, NULL), 0);
		assert_int_equal(r.rest, cases[i].size - cases[i].filled);
		assert_true(r.id.pid == 5 && r.id.tid == 6 && r.id.id == 7);
	}
}

static void test_read(void **state)
{
	const struct pev_attr group = { .read_format = PEV_FORMAT_ALL };
	/* clang-format off */
	const uint8_t bytes[] = {
		W(PEV_REC_READ), H(0), H(88), W(1), W(2), Q(2), Q(3), Q(4),
		Q(5), Q(6), Q(7),
		Q(8), Q(9), Q(10),
	};
	/* clang-format on */
	struct pev_read_value v;
	struct pev_record r;

	(void)state;
	r = RECORD(PEV_REC_READ, 0, W(1), W(2), Q(3), Q(4), Q(5), Q(6), Q(7));
	assert_true(r.read.pid == 1 && r.read.tid == 2);
	assert_true(r.read.values.nr == 1 && !r.read.values.group);
	assert_true(r.read.values.time_enabled == 4 && r.read.values.time_running == 5);
	v = pev_read_values_at(&r.read.values, 0);
	assert_true(v.value == 3 && v.id == 6 && v.lost == 7);
	assert_trailer(&r.id);

	r = decode(&group, bytes, sizeof(bytes));
	assert_true(r.read.values.nr == 2 && r.read.values.group);
	assert_true(r.read.values.time_enabled == 3 && r.read.values.time_running == 4);
	v = pev_read_values_at(&r.read.values, 1);
	assert_true(v.value == 8 && v.id == 9 && v.lost == 10);
}

/* All of a sample, in the order of the kernel's perf_output_sample(). */
/* clang-format off */
static const uint8_t sample[] = {
	W(PEV_REC_SAMPLE), H(PEV_MISC_USER), H(344),
	Q(1),                                         /* identifier */
	Q(2), W(3), W(4), Q(5), Q(6), Q(1), Q(8),     /* ip, pid, tid, time, addr, id, stream */
	W(9), W(10), Q(11),                           /* cpu, res, period */
	Q(12),                                        /* read: one value */
	Q(2), Q(13), Q(14),                           /* callchain */
	W(12), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, /* raw */
	Q(2), Q(15),                                  /* branch stack: nr, hw_idx */
	Q(16), Q(17), Q(18), Q(19), Q(20), Q(21),     /* from, to, flags */
	Q(22), Q(23),                                 /* counters */
	Q(2), Q(24), Q(25),                           /* user registers */
	Q(8), Q(26), Q(7),                            /* stack: size, data, dyn_size */
	Q(27), Q(28), Q(29),                          /* weight, data_src, transaction */
	Q(1), Q(30),                                  /* registers */
	Q(31), Q(32), Q(33), Q(34),                   /* phys_addr, cgroup, data page, code page */
	Q(8), Q(35),                                  /* aux */
};
/* clang-format on */

static const struct pev_attr whole = {
	.sample_type = PEV_SAMPLE_ALL,
	.branch_sample_type = PEV_BRANCH_HW_INDEX | PEV_BRANCH_COUNTERS,
	.sample_regs_user = 0x81,
	.sample_regs_intr = 1ULL << 63,
};

static void test_sample_identity(void **state)
{
	const struct pev_record r = decode(&whole, sample, sizeof(sample));

	(void)state;
	assert_true(r.id.has == PEV_SAMPLE_ID_BITS);
	assert_true(r.id.id == 1);
	assert_true(r.sample.ip == 2);
	assert_true(r.id.pid == 3 && r.id.tid == 4);
	assert_true(r.id.time == 5);
	assert_true(r.sample.addr == 6);
	assert_true(r.id.stream_id == 8);
	assert_true(r.id.cpu == 9 && r.id.cpu_res == 10);
	assert_true(r.sample.period == 11);
}

static void test_sample_contents(void **state)
{
	const struct pev_record r = decode(&whole, sample, sizeof(sample));
	const struct pev_sample *const s = &r.sample;
	const struct pev_branch_stack *const b = &s->branch_stack;

	(void)state;
	assert_true(pev_read_values_at(&s->read, 0).value == 12);
	assert_true(s->callchain.nr == 2);
	assert_true(pev_u64s_at(&s->callchain, 0) == 13 && pev_u64s_at(&s->callchain, 1) == 14);
	assert_true(s->raw.size == 12 && s->raw.p[0] == 1 && s->raw.p[11] == 12);
	assert_true(b->nr == 2 && b->hw_idx == 15);
	assert_true(b->entries.nr == 6 && b->counters.nr == 2);
	for (uint64_t i = 0; i < 6; i++)
		assert_true(pev_u64s_at(&b->entries, i) == 16 + i);
	assert_true(pev_u64s_at(&b->counters, 0) == 22 && pev_u64s_at(&b->counters, 1) == 23);
	assert_true(s->regs_user.abi == PEV_REGS_ABI_64 && s->regs_user.mask == 0x81);
	assert_true(pev_u64s_at(&s->regs_user.values, 0) == 24);
	assert_true(pev_u64s_at(&s->regs_user.values, 1) == 25);
	assert_true(s->stack_user.data.size == 8 && s->stack_user.data.p[0] == 26);
	assert_true(s->stack_user.dyn_size == 7);
	assert_true(s->weight == 27 && s->data_src == 28 && s->transaction == 29);
	assert_true(s->regs_intr.abi == PEV_REGS_ABI_32 && s->regs_intr.values.nr == 1);
	assert_true(pev_u64s_at(&s->regs_intr.values, 0) == 30);
	assert_true(s->phys_addr == 31 && s->cgroup == 32);
	assert_true(s->data_page_size == 33 && s->code_page_size == 34);
	assert_true(s->aux.size == 8 && s->aux.p[0] == 35);
}

/* A sample of a branch stack and one more field, 99. */
static struct pev_record decode_branches(uint64_t branch_sample_type, const uint8_t *bytes,
					 size_t size)
{
	const struct pev_attr attr = {
		.sample_type = PEV_SAMPLE_BRANCH_STACK | PEV_SAMPLE_WEIGHT,
		.branch_sample_type = branch_sample_type,
	};
	const struct pev_record r = decode(&attr, bytes, size);

	assert_true(r.sample.weight == 99);
	return r;
}

/* Linux leaves out what it has not. */
static void test_branch_stack_in_part(void **state)
{
	const uint64_t all = PEV_BRANCH_HW_INDEX | PEV_BRANCH_COUNTERS;
	/* clang-format off */
	const uint8_t none[] = { W(PEV_REC_SAMPLE), W(24 << 16), Q(0), Q(99) };
	const uint8_t empty[] = { W(PEV_REC_SAMPLE), W(32 << 16), Q(0), Q(5), Q(99) };
	const uint8_t one[] = {
		W(PEV_REC_SAMPLE), W(56 << 16), Q(1), Q(5), Q(1), Q(2), Q(3), Q(99),
	};
	/* clang-format on */
	struct pev_record r;

	(void)state;
	r = decode_branches(all, none, sizeof(none));
	assert_true(r.sample.branch_stack.nr == 0 && r.sample.branch_stack.hw_idx == 0);
	r = decode_branches(all, empty, sizeof(empty));
	assert_true(r.sample.branch_stack.nr == 0 && r.sample.branch_stack.hw_idx == 5);
	r = decode_branches(all, one, sizeof(one));
	assert_true(r.sample.branch_stack.nr == 1 && r.sample.branch_stack.hw_idx == 5);
	assert_true(r.sample.branch_stack.counters.nr == 0);
	assert_true(pev_branch_at(&r.sample.branch_stack, 0).to == 2);
}

/* One branch as a little-endian and as a big-endian machine write it: bit-fields begin at the
 * lowest and at the highest bit of the word. */
static void test_branch_flags(void **state)
{
	static const uint8_t little[24] = {
		Q(0x1000), Q(0x2000), 0x29, 0x01, 0xa0, 0x59, 0x01, 0, 0, 0,
	};
	static const uint8_t big[24] = {
		0, 0, 0,    0, 0,    0,    0x10, 0,    0,    0, 0, 0,
		0, 0, 0x20, 0, 0x90, 0x01, 0x2a, 0x5a, 0x80, 0, 0, 0,
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		const struct pev_branch_stack stack = {
			.nr = 1,
			.entries = { i ? big : little, 3, i ? !swap : swap },
		};
		const struct pev_branch b = pev_branch_at(&stack, 0);

		assert_true(b.from == 0x1000 && b.to == 0x2000);
		assert_true(b.mispred && !b.predicted && !b.in_tx && b.abort);
		assert_int_equal(b.cycles, 0x0012);
		assert_int_equal(b.type, 10);
		assert_int_equal(b.spec, 1);
		assert_int_equal(b.new_type, 6);
		assert_int_equal(b.priv, 5);
	}
}

/* The encoder makes those bytes. */
static void test_encoder_agrees(void **state)
{
	const struct pev_record r = decode(&whole, sample, sizeof(sample));
	_cleanup_buf_ struct pev_buf buf = { 0 };

	(void)state;
	if (swap)
		skip();
	assert_int_equal(pev_record_encode(&whole, &r, &buf), 0);
	assert_int_equal(buf.size, sizeof(sample));
	assert_memory_equal(buf.data, sample, sizeof(sample));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mmap),
		cmocka_unit_test(test_build_id_of_another),
		cmocka_unit_test(test_mmap2_without_prot),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_loss_and_throttling),
		cmocka_unit_test(test_kernel_text),
		cmocka_unit_test(test_oversized),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_sample_identity),
		cmocka_unit_test(test_sample_contents),
		cmocka_unit_test(test_branch_stack_in_part),
		cmocka_unit_test(test_branch_flags),
		cmocka_unit_test(test_encoder_agrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
