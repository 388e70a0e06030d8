// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The recipe of corpus/reader: make_corpus_reader FOLDER writes one small trace of each form, of
 * either byte order, in the form that fuzz_reader.c reads.
 */
#include "tests/unit/test.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "format/writer.h"
#include "tests/unit/foreign_make.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

PEV_DEFINE_CLEANUP(struct pev_writer *, pev_writer_free);
PEV_DEFINE_CLEANUP(struct pev_block *, pev_block_free);

static const struct pev_attr attrs[2] = {
	{
		.type = PEV_TYPE_SOFTWARE,
		.size = PEV_ATTR_SIZE_VER7,
		.sample_type = PEV_SAMPLE_IDENTIFIER | PEV_SAMPLE_IP | PEV_SAMPLE_TID |
			       PEV_SAMPLE_TIME | PEV_SAMPLE_CPU | PEV_SAMPLE_PERIOD,
		.flags = PEV_ATTR_SAMPLE_ID_ALL | PEV_ATTR_KSYMBOL,
	},
	{
		.type = PEV_TYPE_HARDWARE,
		.size = PEV_ATTR_SIZE_VER7,
		.sample_type = PEV_SAMPLE_IDENTIFIER | PEV_SAMPLE_IP | PEV_SAMPLE_TID |
			       PEV_SAMPLE_TIME | PEV_SAMPLE_CPU | PEV_SAMPLE_PERIOD |
			       PEV_SAMPLE_READ | PEV_SAMPLE_CALLCHAIN | PEV_SAMPLE_BRANCH_STACK,
		.read_format = PEV_FORMAT_GROUP | PEV_FORMAT_ID,
		.branch_sample_type = PEV_BRANCH_HW_INDEX,
		.flags = PEV_ATTR_SAMPLE_ID_ALL,
	},
};

static void put_group(struct foreign *f, uint64_t time)
{
	static const uint64_t words[] = { 100, 1, 50, 2 }, chain[] = { PEV_CONTEXT_USER, 0x1000 },
			      branches[] = { 1, 2, 3 };
	struct pev_record rec = {
		.hdr.type = PEV_REC_SAMPLE,
		.id = { .time = time, .id = 2, .pid = 1, .tid = 1 },
	};

	rec.sample.read = (struct pev_read_values){ .group = true, .has_id = true, .nr = 2 };
	rec.sample.read.words = (struct pev_u64s){ (const uint8_t *)words, 4, false };
	rec.sample.callchain = (struct pev_u64s){ (const uint8_t *)chain, 2, false };
	rec.sample.branch_stack.nr = 1;
	rec.sample.branch_stack.entries = (struct pev_u64s){ (const uint8_t *)branches, 3, false };
	foreign_record(f, 1, &rec);
}

static void put_others(struct foreign *f)
{
	static const uint64_t index[] = { 1, 1, 0, 0, 0 };
	struct pev_record rec = { .hdr.type = PEV_REC_MMAP2,
				  .id = { .id = 1, .pid = 1, .tid = 1 } };

	foreign_user(f, PEV_REC_ID_INDEX, index, PEV_ARRAY_SIZE(index));
	rec.mmap = (struct pev_mmap){ .pid = 1, .tid = 1, .len = 4096, .filename = "/bin/true" };
	foreign_record(f, 0, &rec);
	rec = (struct pev_record){ .hdr.type = PEV_REC_LOST, .id = { .id = 1, .time = 103 } };
	rec.lost.lost = 3;
	foreign_record(f, 0, &rec);
	rec = (struct pev_record){ .hdr.type = PEV_REC_KSYMBOL, .id = { .id = 1, .time = 104 } };
	rec.ksymbol.name = "bpf_prog_1";
	foreign_record(f, 0, &rec);
}

static void write_file(const char *folder, const char *name, uint8_t flags,
		       const struct pev_buf *trace)
{
	_cleanup_close_ int fd = -1;
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || pev_write_all(fd, &flags, 1) < 0 ||
	    pev_write_all(fd, trace->data, trace->size) < 0) {
		perror(path);
		exit(1);
	}
}

static void write_foreign(const char *folder, const char *name, uint8_t flags, bool big,
			  uint32_t compressed, bool pipe)
{
	_cleanup_foreign_ struct foreign f;
	_cleanup_buf_ struct pev_buf buf = { 0 };

	foreign_init(&f, big);
	f.hostname = "host";
	f.first_ns = 100;
	f.last_ns = 111;
	foreign_event(&f, &attrs[0], "a");
	foreign_event(&f, &attrs[1], "b");
	put_others(&f);
	for (uint64_t i = 0; i < 8; i++) {
		foreign_sample(&f, 100 + (i ^ 1), (uint32_t)i % 2, 7);
		put_group(&f, 100 + i);
		if (i % 4 == 3)
			foreign_round(&f);
		if (compressed && i % 4 == 3)
			foreign_compress(&f, compressed, i == 3 ? 20 : 0);
	}
	if (pipe)
		foreign_pipe(&f, &buf);
	else
		foreign_file(&f, &buf);
	write_file(folder, name, flags, &buf);
}

/* Blocks with heads that can be passed over. */
static void write_ours(const char *folder)
{
	static const uint64_t ids[] = { 1 };
	const struct pev_trace_event event = { .attr = attrs[0], .ids = ids, .nr_ids = 1 };
	_cleanup_(pev_writer_freep) struct pev_writer *w = NULL;
	_cleanup_(pev_block_freep) struct pev_block *b = NULL;
	_cleanup_buf_ struct pev_buf buf = { 0 };
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/blocks.tmp", folder);
	assert_int_equal(pev_writer_open(path, -1, &event, 1, NULL, 0, &w, NULL), 0);
	assert_int_equal(pev_block_new(1, &b), 0);
	for (uint64_t i = 0; i < 3; i++) {
		struct pev_record rec = { .hdr.type = PEV_REC_SAMPLE, .id = { .id = 1 } };

		rec.id.time = 100 + 1000 * i;
		rec.id.cpu = (uint32_t)i;
		for (int k = 0; k < 4; k++, rec.id.time++) {
			uint8_t *p;

			pev_buf_reset(&buf);
			assert_int_equal(pev_record_encode(&attrs[0], &rec, &buf), 0);
			p = pev_block_reserve(b, buf.size);
			assert_non_null(p);
			memcpy(p, buf.data, buf.size);
			rec.hdr.size = (uint16_t)buf.size;
			pev_block_commit(b, &rec.hdr, rec.id.time, rec.id.cpu);
		}
		assert_int_equal(pev_writer_block(w, b, true, NULL), 0);
	}
	assert_int_equal(pev_writer_seal(w, NULL, 0, NULL, NULL), 0);
	pev_buf_reset(&buf);
	assert_int_equal(pev_read_path(path, 1 << 20, &buf), 0);
	(void)unlink(path);
	write_file(folder, "blocks", 1, &buf);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	write_foreign(argv[1], "file-big", 8, true, 0, false);
	write_foreign(argv[1], "file-compressed", 2, false, PEV_REC_COMPRESSED, false);
	write_foreign(argv[1], "pipe", 0, false, 0, true);
	write_foreign(argv[1], "pipe-big-compressed2", 4, true, PEV_REC_COMPRESSED2, true);
	write_ours(argv[1]);
	return 0;
}
