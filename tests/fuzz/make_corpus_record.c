// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The recipe of corpus/record: make_corpus_record FOLDER writes one file for every record type, one
 * for every sample field, and some of many fields, in the form that fuzz_record.c reads.
 */
#include "tests/unit/test.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tests/unit/record_make.h"

#include <fcntl.h>
#include <string.h>

static void write_file(const char *folder, const char *name, const struct pev_buf *buf)
{
	_cleanup_close_ int fd = -1;
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || pev_write_all(fd, buf->data, buf->size) < 0) {
		perror(path);
		exit(1);
	}
}

static void write_record(const char *folder, const char *name, uint64_t random, uint32_t type,
			 uint64_t sample_type, bool swapped)
{
	_cleanup_buf_ struct pev_buf buf = { 0 };
	static struct made_record made;
	struct pev_attr attr;
	uint64_t flags;
	size_t start;

	make_attr(&random, sample_type, &attr);
	make_record(&random, &attr, type, &made);
	flags = (attr.flags & PEV_ATTR_SAMPLE_ID_ALL ? 1U : 0) | (swapped ? 2U : 0) |
		(attr.branch_sample_type & PEV_BRANCH_HW_INDEX ? 4U : 0) |
		(attr.branch_sample_type & PEV_BRANCH_COUNTERS ? 8U : 0) |
		(attr.flags & PEV_ATTR_BUILD_ID ? 16U : 0);
	pev_buf_u32(&buf, (uint32_t)attr.sample_type);
	pev_buf_u8(&buf, (uint8_t)attr.read_format);
	pev_buf_u8(&buf, (uint8_t)flags);
	pev_buf_u16(&buf, 0);
	pev_buf_u64(&buf, attr.sample_regs_user);
	pev_buf_u64(&buf, attr.sample_regs_intr);
	start = buf.size;
	if (pev_record_encode(&attr, &made.rec, &buf) < 0)
		exit(1);
	if (swapped)
		swap_record(&attr, buf.data + start, buf.size - start);
	write_file(folder, name, &buf);
}

int main(int argc, char **argv)
{
	char name[64];

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	for (uint32_t type = 1; type < PEV_REC_KERNEL_MAX; type++) {
		(void)snprintf(name, sizeof(name), "type-%02u", type);
		write_record(argv[1], name, type, type, PEV_SAMPLE_ID_BITS, type & 1);
	}
	for (unsigned int bit = 0; bit < 25; bit++) {
		(void)snprintf(name, sizeof(name), "sample-bit-%02u", bit);
		write_record(argv[1], name, 100 + bit, PEV_REC_SAMPLE, 1ULL << bit, bit & 1);
	}
	for (uint64_t seed = 200; seed < 208; seed++) {
		uint64_t random = seed;

		(void)snprintf(name, sizeof(name), "sample-many-%u", (unsigned int)seed - 200);
		write_record(argv[1], name, seed, PEV_REC_SAMPLE,
			     test_random(&random) & PEV_SAMPLE_ALL, seed & 1);
	}
	return 0;
}
