// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Every record type and every sample field: what is encoded decodes to the same, in either byte
 * order; what is cut or damaged is refused or read within its bounds. Bytes under test lie in
 * memory of their exact size, so that AddressSanitizer sees a read beyond them.
 */
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "record_make.h"

#include <errno.h>
#include <string.h>

#define SAMPLE_BITS 25

/* The bytes of one record in memory of their own. */
static uint8_t *exactly(const void *bytes, size_t size)
{
	uint8_t *const p = malloc(size ? size : 1);

	assert_non_null(p);
	if (size)
		memcpy(p, bytes, size);
	return p;
}

static void encode(const struct pev_attr *attr, const struct pev_record *rec, struct pev_buf *buf)
{
	pev_buf_reset(buf);
	assert_int_equal(pev_record_encode(attr, rec, buf), 0);
}

/* Encodes; decodes to the same; encodes to the same bytes; decodes to the same when swapped. */
static void check_round_trip(const struct pev_attr *attr, const struct pev_record *rec)
{
	_cleanup_buf_ struct pev_buf first = { 0 }, second = { 0 };
	_cleanup_free_ uint8_t *bytes = NULL, *swapped = NULL;
	struct pev_err err = PEV_ERR_INIT;
	struct pev_record got;

	encode(attr, rec, &first);
	assert_int_equal(first.size % 8, 0);
	memset(&got, 0xa5, sizeof(got)); /* nothing of it may be left */
	bytes = exactly(first.data, first.size);
	assert_int_equal(pev_record_decode(attr, bytes, first.size, false, &got, &err), 0);
	assert_int_equal(got.hdr.size, first.size);
	assert_int_equal(got.rest, 0);
	assert_same_record(rec, &got);

	encode(attr, &got, &second);
	assert_int_equal(second.size, first.size);
	assert_memory_equal(second.data, first.data, first.size);

	swapped = exactly(first.data, first.size);
	swap_record(attr, swapped, first.size);
	assert_int_equal(pev_record_decode(attr, swapped, first.size, true, &got, &err), 0);
	assert_int_equal(got.hdr.size, first.size);
	assert_int_equal(got.rest, 0);
	assert_same_record(rec, &got);

	pev_buf_reset(&second);
	encode(attr, &got, &second);
	assert_int_equal(second.size, first.size);
	assert_memory_equal(second.data, first.data, first.size);
	assert_int_equal(err.code, 0);
}

/* The words of @subset, a number, spread over the bits of the trailer. */
static uint64_t trailer_bits(unsigned int subset)
{
	uint64_t bits = 0, left = PEV_SAMPLE_ID_BITS;

	for (; left; left &= left - 1, subset >>= 1)
		if (subset & 1)
			bits |= left & -left;
	return bits;
}

static void test_every_type(void **state)
{
	static struct made_record made;
	uint64_t random = 1;
	struct pev_attr attr;

	(void)state;
	for (uint32_t type = 1; type < PEV_REC_KERNEL_MAX; type++) {
		for (unsigned int subset = 0; subset < 64; subset++) {
			for (unsigned int id_all = 0; id_all < 2; id_all++) {
				make_attr(&random, trailer_bits(subset), &attr);
				attr.flags =
					PEV_ATTR_BUILD_ID | (id_all ? PEV_ATTR_SAMPLE_ID_ALL : 0);
				make_record(&random, &attr, type, &made);
				check_round_trip(&attr, &made.rec);
			}
		}
	}
}

/* MMAP2 tells a file by its build-id or by its inode; both must be seen, with every build-id size.
 */
static void test_mmap2_identities(void **state)
{
	static struct made_record made;
	uint64_t random = 2;
	struct pev_attr attr;

	(void)state;
	for (unsigned int size = 0; size <= PEV_BUILD_ID_MAX; size++) {
		make_attr(&random, PEV_SAMPLE_TID | PEV_SAMPLE_TIME, &attr);
		do
			make_record(&random, &attr, PEV_REC_MMAP2, &made);
		while (!(made.rec.hdr.misc & PEV_MISC_MMAP_BUILD_ID) ||
		       made.rec.mmap.build_id_size != size);
		check_round_trip(&attr, &made.rec);
	}
	do
		make_record(&random, &attr, PEV_REC_MMAP2, &made);
	while (made.rec.hdr.misc & PEV_MISC_MMAP_BUILD_ID);
	check_round_trip(&attr, &made.rec);
}

static void check_sample(uint64_t *random, uint64_t sample_type)
{
	static struct made_record made;
	struct pev_attr attr;

	make_attr(random, sample_type, &attr);
	make_record(random, &attr, PEV_REC_SAMPLE, &made);
	check_round_trip(&attr, &made.rec);
}

static void test_sample_bits(void **state)
{
	uint64_t random = 3;

	(void)state;
	check_sample(&random, 0);
	check_sample(&random, PEV_SAMPLE_ALL);
	for (int a = 0; a < SAMPLE_BITS; a++) {
		check_sample(&random, PEV_SAMPLE_ALL & ~(1ULL << a));
		for (int b = 0; b < SAMPLE_BITS; b++)
			for (int i = 0; i < 3; i++)
				check_sample(&random, 1ULL << a | 1ULL << b);
	}
	for (int i = 0; i < 3000; i++)
		check_sample(&random, test_random(&random) & PEV_SAMPLE_ALL);
}

static void test_read_formats(void **state)
{
	static struct made_record made;
	uint64_t random = 4;
	struct pev_attr attr;

	(void)state;
	for (uint64_t format = 0; format <= PEV_FORMAT_ALL; format++) {
		for (int i = 0; i < 10; i++) {
			make_attr(&random, PEV_SAMPLE_READ | PEV_SAMPLE_IP, &attr);
			attr.read_format = format;
			make_record(&random, &attr, PEV_REC_SAMPLE, &made);
			check_round_trip(&attr, &made.rec);
			make_record(&random, &attr, PEV_REC_READ, &made);
			check_round_trip(&attr, &made.rec);
		}
	}
}

static void test_branch_stacks(void **state)
{
	static const uint64_t types[] = {
		PEV_BRANCH_ANY,
		PEV_BRANCH_HW_INDEX,
		PEV_BRANCH_COUNTERS,
		PEV_BRANCH_HW_INDEX | PEV_BRANCH_COUNTERS,
	};
	static struct made_record made;
	uint64_t random = 5;
	struct pev_attr attr;

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(types); i++) {
		for (int n = 0; n < 20; n++) {
			make_attr(&random, PEV_SAMPLE_BRANCH_STACK | PEV_SAMPLE_WEIGHT, &attr);
			attr.branch_sample_type = types[i];
			make_record(&random, &attr, PEV_REC_SAMPLE, &made);
			check_round_trip(&attr, &made.rec);
		}
	}
}

static void test_register_masks(void **state)
{
	static struct made_record made;
	uint64_t random = 6;
	struct pev_attr attr;

	(void)state;
	for (unsigned int bits = 0; bits <= 64; bits++) {
		for (int n = 0; n < 4; n++) {
			make_attr(&random, PEV_SAMPLE_REGS_USER | PEV_SAMPLE_REGS_INTR, &attr);
			attr.sample_regs_user = bits ? UINT64_MAX >> (64 - bits) : 0;
			attr.sample_regs_intr = ~attr.sample_regs_user;
			make_record(&random, &attr, PEV_REC_SAMPLE, &made);
			check_round_trip(&attr, &made.rec);
		}
	}
}

/* Calls @check with records of every type, samples of every bit and of many of them. */
static void each_record(uint64_t random,
			void (*check)(const struct pev_attr *attr, const struct pev_buf *buf))
{
	_cleanup_buf_ struct pev_buf buf = { 0 };
	static struct made_record made;
	struct pev_attr attr;

	for (int id_all = 0; id_all < 2; id_all++) {
		for (uint32_t type = 1; type < PEV_REC_KERNEL_MAX; type++) {
			make_attr(&random, test_random(&random) & PEV_SAMPLE_ALL, &attr);
			attr.flags = PEV_ATTR_BUILD_ID | (id_all ? PEV_ATTR_SAMPLE_ID_ALL : 0);
			make_record(&random, &attr, type, &made);
			encode(&attr, &made.rec, &buf);
			check(&attr, &buf);
		}
	}
	for (int i = 0; i < SAMPLE_BITS + 40; i++) {
		make_attr(&random,
			  i < SAMPLE_BITS ? 1ULL << i : test_random(&random) & PEV_SAMPLE_ALL,
			  &attr);
		make_record(&random, &attr, PEV_REC_SAMPLE, &made);
		encode(&attr, &made.rec, &buf);
		check(&attr, &buf);
	}
}

/* Cut: fewer bytes are there than the header says. */
static void check_cuts(const struct pev_attr *attr, const struct pev_buf *buf)
{
	for (size_t size = 0; size < buf->size; size++) {
		_cleanup_free_ uint8_t *bytes = exactly(buf->data, size);
		struct pev_err err = PEV_ERR_INIT;
		struct pev_record got;

		assert_int_equal(pev_record_decode(attr, bytes, size, false, &got, &err), -ENODATA);
		assert_int_equal(err.code, -ENODATA);
	}
}

static void test_every_prefix(void **state)
{
	(void)state;
	each_record(7, check_cuts);
}

/* Too small: the header admits the cut. Only what ends in something of any length may still fit,
 * and branch stacks, of which the kernel leaves parts out. */
static void check_small(const struct pev_attr *attr, const struct pev_buf *buf)
{
	struct pev_rec_hdr hdr;

	memcpy(&hdr, buf->data, sizeof(hdr));
	for (uint16_t size = 0; size < buf->size; size++) {
		_cleanup_free_ uint8_t *bytes = exactly(buf->data, PEV_MAX(size, sizeof(hdr)));
		struct pev_err err = PEV_ERR_INIT;
		struct pev_record got;
		int r;

		hdr.size = size;
		memcpy(bytes, &hdr, sizeof(hdr));
		r = pev_record_decode(attr, bytes, PEV_MAX(size, sizeof(hdr)), false, &got, &err);
		if (size < sizeof(hdr) ||
		    (hdr.type == PEV_REC_SAMPLE && !(attr->sample_type & PEV_SAMPLE_BRANCH_STACK)))
			assert_int_equal(r, -EBADMSG);
		else
			assert_true(r == 0 || r == -EBADMSG);
		assert_int_equal(err.code, r);
	}
}

static void test_every_smaller_size(void **state)
{
	(void)state;
	each_record(8, check_small);
}

static volatile uint64_t touched; /* so that the reads are not optimised away */

/* Reads all that a decoded record points to, as a user of it would. */
static uint64_t touch(const struct pev_record *rec)
{
	const struct pev_sample *const s = &rec->sample;
	const struct pev_u64s *const words[] = {
		&s->callchain,        &s->branch_stack.entries, &s->branch_stack.counters,
		&s->regs_user.values, &s->regs_intr.values,
	};
	const struct pev_bytes *const blobs[] = { &s->raw, &s->stack_user.data, &s->aux };
	uint64_t sum = 0;

	if (rec->hdr.type != PEV_REC_SAMPLE)
		return 0;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(words); i++)
		for (uint64_t n = 0; n < words[i]->nr; n++)
			sum += pev_u64s_at(words[i], n);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(blobs); i++)
		for (uint64_t n = 0; n < blobs[i]->size; n++)
			sum += blobs[i]->p[n];
	for (uint64_t n = 0; n < s->read.nr; n++)
		sum += pev_read_values_at(&s->read, n).value;
	return sum;
}

static void check_flips(const struct pev_attr *attr, const struct pev_buf *buf)
{
	_cleanup_free_ uint8_t *bytes = exactly(buf->data, buf->size);
	_cleanup_buf_ struct pev_buf again = { 0 };

	for (size_t bit = 0; bit < 8 * buf->size; bit++) {
		for (int swap = 0; swap < 2; swap++) {
			struct pev_record got;
			int r;

			bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
			r = pev_record_decode(attr, bytes, buf->size, swap, &got, NULL);
			assert_true(r == 0 || r == -EBADMSG || r == -ENODATA ||
				    r == -EPROTONOSUPPORT);
			if (r == 0) {
				touched += touch(&got);
				pev_buf_reset(&again);
				assert_int_equal(pev_record_encode(attr, &got, &again), 0);
			}
			bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
}

static void test_every_bit_flip(void **state)
{
	(void)state;
	each_record(9, check_flips);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_type),     cmocka_unit_test(test_mmap2_identities),
		cmocka_unit_test(test_sample_bits),    cmocka_unit_test(test_read_formats),
		cmocka_unit_test(test_branch_stacks),  cmocka_unit_test(test_register_masks),
		cmocka_unit_test(test_every_prefix),   cmocka_unit_test(test_every_smaller_size),
		cmocka_unit_test(test_every_bit_flip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
