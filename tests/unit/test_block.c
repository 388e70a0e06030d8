// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Blocks. Records of several kinds of load go in as the drain puts them in; what comes out is read
 * with zstd's own decoder and compared byte for byte. The time and CPU of a record lie in its body,
 * so that what a head claims can be checked against what the block holds.
 */
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "format/block.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <zstd.h>

PEV_DEFINE_CLEANUP(struct pev_block *, pev_block_free);

/* The body of a record starts with these. */
struct stamp {
	uint64_t time_ns;
	uint64_t cpu;
};

#define RECORD_MIN (sizeof(struct pev_rec_hdr) + sizeof(struct stamp))

struct load {
	const char *name;
	size_t records;
	size_t min, max;     /* bytes of a record */
	unsigned int noise;  /* how many of 256 bytes are random, the others are 0 */
	unsigned int states; /* one of so many is COMM, LOST or FINISHED_ROUND instead of SAMPLE */
	unsigned int flush;  /* everything is taken after so many records; 0: only at the end */
};

static const struct load loads[] = {
	{ "one", 1, 64, 64, 128, 0, 0 },
	{ "the smallest", 50000, RECORD_MIN, RECORD_MIN, 0, 3, 0 },
	{ "zeros", 60000, 48, 128, 0, 0, 0 },
	{ "large zeros", 400, 4096, PEV_BLOCK_MAX, 0, 0, 0 },
	{ "largest zeros", 100, PEV_BLOCK_MAX, PEV_BLOCK_MAX, 0, 0, 0 },
	{ "samples", 30000, 64, 512, 90, 20, 0 },
	{ "stacks", 2000, 256, 8400, 150, 9, 0 },
	{ "noise", 20000, 64, 256, 256, 0, 0 },
	{ "large noise", 600, 4096, 32768, 256, 5, 0 },
	{ "noise of half a frame", 200, 30000, 34000, 256, 0, 0 },
	{ "noise near a frame", 200, 65000, PEV_BLOCK_MAX, 256, 0, 0 },
	{ "noise of all sizes", 500, RECORD_MIN, PEV_BLOCK_MAX, 256, 2, 7 },
	{ "flushed", 3000, 64, 2048, 128, 4, 100 },
	{ "flushed each", 300, 64, 60000, 200, 4, 1 },
};

struct run {
	uint64_t random;
	struct pev_block *block;
	struct pev_buf in, out; /* the records, and what was taken */
};

static void run_done(struct run *run)
{
	pev_block_free(run->block);
	pev_buf_done(&run->in);
	pev_buf_done(&run->out);
}

static void take(struct run *run, bool all)
{
	const void *bytes;
	size_t size;
	int r;

	while ((r = pev_block_take(run->block, all, &bytes, &size)) > 0) {
		assert_int_equal(size % 8, 0);
		assert_in_range(size, sizeof(struct pev_rec_hdr), PEV_BLOCK_MAX);
		pev_buf_put(&run->out, bytes, size);
	}
	assert_int_equal(r, 0);
	if (all)
		assert_true(pev_block_empty(run->block));
}

static uint32_t random_type(struct run *run, unsigned int states)
{
	static const uint32_t others[] = { PEV_REC_COMM, PEV_REC_LOST, PEV_REC_FINISHED_ROUND,
					   PEV_REC_THROTTLE, PEV_REC_MMAP2 };

	if (!states || test_random(&run->random) % states)
		return PEV_REC_SAMPLE;
	return others[test_random(&run->random) % PEV_ARRAY_SIZE(others)];
}

static void fill(struct run *run, uint8_t *p, size_t size, unsigned int noise)
{
	for (size_t i = 0; i < size; i += 8) {
		const uint64_t bytes = test_random(&run->random);
		const uint64_t value = test_random(&run->random) % 256 < noise ? bytes : 0;

		memcpy(p + i, &value, sizeof(value));
	}
}

static void put_record(struct run *run, const struct load *load, uint64_t time_ns)
{
	const size_t steps = (load->max - load->min) / 8 + 1;
	const size_t size = load->min + test_random(&run->random) % steps * 8;
	struct stamp stamp = { time_ns, test_random(&run->random) % 100 };
	struct pev_rec_hdr hdr = { .size = (uint16_t)size };
	uint8_t *p;

	hdr.type = random_type(run, load->states);
	p = pev_block_reserve(run->block, size);
	if (!p) {
		take(run, false);
		p = pev_block_reserve(run->block, size);
	}
	assert_non_null(p); /* what is complete was taken */
	memcpy(p, &hdr, sizeof(hdr));
	memcpy(p + sizeof(hdr), &stamp, sizeof(stamp));
	fill(run, p + RECORD_MIN, size - RECORD_MIN, load->noise);
	pev_buf_put(&run->in, p, size);
	pev_block_commit(run->block, &hdr, stamp.time_ns, (uint32_t)stamp.cpu);
}

static void put_records(struct run *run, const struct load *load)
{
	for (size_t i = 0; i < load->records; i++) {
		/* Two rings in turns, each in order of its own; some records have no time. */
		const uint64_t time_ns = i % 13 == 5 ? 0 : 1000 + i * 10 - i % 2 * 5000 % (i + 1);

		put_record(run, load, time_ns);
		if (load->flush && i % load->flush == 0)
			take(run, true);
	}
}

static void run_load(struct run *run, const struct load *load)
{
	put_records(run, load);
	take(run, true);
	assert_int_equal(pev_buf_status(&run->in), 0);
	assert_int_equal(pev_buf_status(&run->out), 0);
}

static struct pev_rec_hdr hdr_at(const uint8_t *p)
{
	struct pev_rec_hdr hdr;

	memcpy(&hdr, p, sizeof(hdr));
	return hdr;
}

/* The head must tell of the @size bytes of records at @p what is true. */
static void check_head(const struct pev_block_head *head, const uint8_t *p, size_t size)
{
	uint32_t records = 0, samples = 0, states = 0, losses = 0;

	assert_int_equal(head->raw_size, size);
	for (size_t at = 0; at < size; at += hdr_at(p + at).size) {
		const struct pev_rec_hdr hdr = hdr_at(p + at);
		struct stamp stamp;

		assert_in_range(hdr.size, RECORD_MIN, size - at);
		memcpy(&stamp, p + at + sizeof(hdr), sizeof(stamp));
		records++;
		samples += hdr.type == PEV_REC_SAMPLE;
		states += hdr.type == PEV_REC_COMM || hdr.type == PEV_REC_MMAP2;
		losses += hdr.type == PEV_REC_LOST || hdr.type == PEV_REC_THROTTLE;
		if (stamp.time_ns)
			assert_in_range(stamp.time_ns, head->first_ns, head->last_ns);
		if (hdr.type == PEV_REC_SAMPLE)
			assert_true(head->cpus >> (stamp.cpu % 64) & 1);
	}
	assert_int_equal(head->records, records);
	assert_int_equal(head->samples, samples);
	assert_int_equal(head->states, states);
	assert_int_equal(head->losses, losses);
}

struct totals {
	size_t blocks, plain, largest, raw_largest;
};

/* Everything that came out is what went in, in order. */
static struct totals check_out(const struct run *run)
{
	_cleanup_free_ uint8_t *raw = malloc(PEV_BLOCK_RAW_MAX);
	struct totals totals = { 0 };
	size_t at = 0, done = 0;

	assert_non_null(raw);
	for (; at < run->out.size; at += hdr_at(run->out.data + at).size) {
		const uint8_t *const p = run->out.data + at;
		const struct pev_rec_hdr hdr = hdr_at(p);
		struct pev_block_head head;
		size_t n;

		assert_in_range(hdr.size, sizeof(hdr), run->out.size - at);
		if (hdr.type != PEV_REC_COMPRESSED) {
			assert_in_range(hdr.size, 0, run->in.size - done);
			assert_memory_equal(p, run->in.data + done, hdr.size);
			done += hdr.size;
			totals.plain++;
			continue;
		}
		assert_int_equal(hdr.misc, 0);
		assert_int_equal(pev_block_head_read(p, hdr.size, true, &head), 1);
		n = ZSTD_decompress(raw, PEV_BLOCK_RAW_MAX, p + sizeof(hdr),
				    hdr.size - sizeof(hdr));
		assert_false(ZSTD_isError(n));
		assert_in_range(n, 1, run->in.size - done);
		assert_memory_equal(raw, run->in.data + done, n);
		check_head(&head, raw, n);
		done += n;
		totals.blocks++;
		totals.largest = PEV_MAX(totals.largest, hdr.size);
		totals.raw_largest = PEV_MAX(totals.raw_largest, n);
	}
	assert_int_equal(at, run->out.size);
	assert_int_equal(done, run->in.size);
	return totals;
}

static struct totals try(const struct load *load, int level)
{
	_cleanup_(run_done) struct run run = { .random = load->records };

	assert_int_equal(pev_block_new(level, &run.block), 0);
	assert_true(pev_block_empty(run.block));
	run_load(&run, load);
	return check_out(&run);
}

static void test_round_trip(void **state)
{
	static const int levels[] = { 1, 3, -5 };

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(loads); i++)
		for (size_t j = 0; j < PEV_ARRAY_SIZE(levels); j++) {
			const struct totals t = try(&loads[i], levels[j]);

			assert_true(t.blocks && t.raw_largest <= PEV_BLOCK_RAW_MAX);
		}
}

/* A load that turns into another in the middle of a frame: what was planned is wrong then. */
static void test_turns(void **state)
{
	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(loads); i++)
		for (size_t j = 0; j < PEV_ARRAY_SIZE(loads); j++) {
			_cleanup_(run_done) struct run run = { .random = i * 100 + j };

			if (loads[i].flush || i == j)
				continue;
			assert_int_equal(pev_block_new(1, &run.block), 0);
			put_records(&run, &loads[i]);
			put_records(&run, &loads[j]);
			take(&run, true);
			(void)check_out(&run);
		}
}

/* Noise does not compress: a record that no frame can hold comes out as it is, between the blocks
 * of what is around it. */
static void test_too_large(void **state)
{
	static const struct load large = { "", 1, PEV_BLOCK_MAX, PEV_BLOCK_MAX, 256, 0, 0 };
	static const struct load small = { "", 5, 64, 64, 0, 0, 0 };
	_cleanup_(run_done) struct run run = { .random = 1 };
	struct totals t;

	(void)state;
	assert_int_equal(pev_block_new(1, &run.block), 0);
	put_records(&run, &large);
	put_records(&run, &small);
	put_records(&run, &large);
	put_records(&run, &large);
	put_records(&run, &small);
	take(&run, true);
	t = check_out(&run);
	assert_int_equal(t.plain, 3);
	assert_int_equal(t.blocks, 2);
	assert_int_equal(hdr_at(run.out.data).type, PEV_REC_SAMPLE);
}

/* A small block, alone in memory of its size. */
static uint8_t *make_block(size_t *ret_size)
{
	static const struct load few = { "", 3, 64, 128, 100, 2, 0 };
	_cleanup_(run_done) struct run run = { .random = 4 };
	uint8_t *bytes;

	assert_int_equal(pev_block_new(1, &run.block), 0);
	run_load(&run, &few);
	bytes = malloc(run.out.size);
	assert_non_null(bytes);
	memcpy(bytes, run.out.data, run.out.size);
	assert_int_equal(hdr_at(bytes).size, run.out.size);
	*ret_size = run.out.size;
	return bytes;
}

/*
 * Whatever bit is wrong behind the header of the record: either it is noticed, or neither the head
 * nor the records are any other than they were. (A damaged magic makes it another writer's block.)
 */
static void test_flips(void **state)
{
	size_t size;
	_cleanup_free_ uint8_t *block = make_block(&size);
	struct pev_block_head good, head;
	uint8_t raw[1024], again[1024];
	size_t n, unnoticed = 0;

	(void)state;
	assert_int_equal(pev_block_head_read(block, size, true, &good), 1);
	n = ZSTD_decompress(raw, sizeof(raw), block + 8, size - 8);
	assert_int_equal(n, good.raw_size);
	for (size_t bit = 8 * sizeof(struct pev_rec_hdr); bit < 8 * size; bit++) {
		int r;

		block[bit / 8] ^= (uint8_t)(1 << bit % 8);
		r = pev_block_head_read(block, size, true, &head);
		if (r == -EBADMSG) {
			block[bit / 8] ^= (uint8_t)(1 << bit % 8);
			continue;
		}
		assert_in_range(r, 0, 1);
		if (r == 1)
			assert_memory_equal(&head, &good, sizeof(head));
		if (ZSTD_decompress(again, sizeof(again), block + 8, size - 8) == n) {
			assert_int_equal(r, 0);
			assert_memory_equal(again, raw, n);
			unnoticed++;
		}
		block[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	/* The skippable frame's 16 magics, our magic, our version. */
	assert_int_equal(unnoticed, 4 + 32 + 32);
}

static void test_prefixes(void **state)
{
	size_t size;
	_cleanup_free_ uint8_t *block = make_block(&size);
	struct pev_block_head head;

	(void)state;
	for (size_t n = 0; n < size; n++) {
		_cleanup_free_ uint8_t *cut = malloc(n + !n);

		assert_non_null(cut);
		memcpy(cut, block, n);
		assert_int_equal(pev_block_head_read(cut, n, true, &head),
				 n < PEV_BLOCK_OVERHEAD ? 0 : -EBADMSG);
		assert_int_equal(pev_block_head_read(cut, n, false, &head),
				 n >= PEV_BLOCK_OVERHEAD);
	}
}

static void test_another_writers(void **state)
{
	static const uint8_t perfs[] = { 81,   0,    0,    0,    0, 0,    24,   0,
					 0x28, 0xb5, 0x2f, 0xfd, 0, 0x58, 0x00, 0x00,
					 0x00, 0,    0,    0,    0, 0,    0,    0 };
	struct pev_block_head head;

	(void)state;
	assert_int_equal(pev_block_head_read(perfs, sizeof(perfs), true, &head), 0);
	assert_int_equal(pev_block_head_read(NULL, 0, true, &head), 0);
}

static size_t bytes_allocated;

/* Called for whatever any library allocates where AddressSanitizer is. */
void __sanitizer_malloc_hook(const volatile void *p, size_t size);
void __sanitizer_malloc_hook(const volatile void *p, size_t size)
{
	(void)p;
	bytes_allocated += size;
}

/* Grows with each allocation of the process, or, without AddressSanitizer, with what is left of
 * them. */
static size_t allocated(void)
{
	return bytes_allocated + mallinfo2().uordblks;
}

/* The drain may not wait for memory, nor fail for lack of it. */
static void test_allocates_once(void **state)
{
	static const struct load load = { "", 1, 4096, 8192, 120, 3, 0 };
	_cleanup_(run_done) struct run run = { .random = 4 };
	size_t before;

	(void)state;
	assert_non_null(pev_buf_extend(&run.in, 1 << 24));
	assert_non_null(pev_buf_extend(&run.out, 1 << 24));
	pev_buf_reset(&run.in);
	pev_buf_reset(&run.out);
	before = allocated();
	assert_int_equal(pev_block_new(1, &run.block), 0);
	assert_true(allocated() > before + (1 << 18));
	before = allocated();
	alloc_fail_at(1);
	for (int i = 0; i < 2000; i++)
		put_record(&run, &load, 1);
	take(&run, true);
	assert_false(alloc_fail_end());
	assert_int_equal(allocated(), before);
	assert_true(check_out(&run).blocks > 20);
}

static void test_no_memory(void **state)
{
	(void)state;
	for (unsigned int nth = 1;; nth++) {
		struct pev_block *b = NULL;
		int r;

		alloc_fail_at(nth);
		r = pev_block_new(1, &b);
		if (!alloc_fail_end()) {
			assert_int_equal(r, 0);
			assert_in_range(nth, 4, 100);
			pev_block_free(b);
			break;
		}
		assert_int_equal(r, -ENOMEM);
		assert_null(b);
	}
	assert_null(pev_block_free(NULL));
}

static void test_levels(void **state)
{
	struct pev_block *b = NULL;

	(void)state;
	assert_int_equal(pev_block_new(ZSTD_maxCLevel() + 1, &b), -EINVAL);
	assert_int_equal(pev_block_new(ZSTD_minCLevel() - 1, &b), -EINVAL);
	assert_null(b);
	(void)try(&loads[5], ZSTD_minCLevel());
	(void)try(&loads[0], ZSTD_maxCLevel());
}

static void test_nothing(void **state)
{
	struct pev_block *b;
	const void *bytes;
	size_t size;

	(void)state;
	assert_int_equal(pev_block_new(1, &b), 0);
	assert_true(pev_block_empty(b));
	assert_int_equal(pev_block_take(b, false, &bytes, &size), 0);
	assert_int_equal(pev_block_take(b, true, &bytes, &size), 0);
	pev_block_free(b);
}

/* What a reader that hops over a block would forget. */
static void test_states(void **state)
{
	(void)state;
	for (uint32_t type = 0; type < 100; type++) {
		const bool told = type == PEV_REC_SAMPLE || type == PEV_REC_LOST ||
				  type == PEV_REC_THROTTLE || type == PEV_REC_UNTHROTTLE ||
				  type == PEV_REC_READ || type == PEV_REC_AUX ||
				  type == PEV_REC_LOST_SAMPLES || type == PEV_REC_SWITCH ||
				  type == PEV_REC_SWITCH_CPU_WIDE ||
				  type == PEV_REC_CALLCHAIN_DEFERRED ||
				  type == PEV_REC_FINISHED_ROUND || type == PEV_REC_FINISHED_INIT;
		const bool known = (type >= PEV_REC_MMAP && type < PEV_REC_KERNEL_MAX) ||
				   type >= PEV_REC_USER_START;

		assert_int_equal(pev_rec_is_state(type), known && !told);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_turns),
		cmocka_unit_test(test_too_large),      cmocka_unit_test(test_flips),
		cmocka_unit_test(test_prefixes),       cmocka_unit_test(test_another_writers),
		cmocka_unit_test(test_allocates_once), cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_levels),         cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
