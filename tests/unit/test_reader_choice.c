// SPDX-License-Identifier: LGPL-2.1-or-later
/* What a reader leaves out, what it makes of groups, and what it counts. */
#include "test.h"

#include "base/cleanup.h"
#include "foreign_make.h"
#include "format/reader.h"
#include "format/writer.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

PEV_DEFINE_CLEANUP(struct pev_reader *, pev_reader_free);
PEV_DEFINE_CLEANUP(struct pev_writer *, pev_writer_free);
PEV_DEFINE_CLEANUP(struct pev_block *, pev_block_free);

#define SAMPLE_TYPE                                                                 \
	(PEV_SAMPLE_IDENTIFIER | PEV_SAMPLE_IP | PEV_SAMPLE_TID | PEV_SAMPLE_TIME | \
	 PEV_SAMPLE_CPU | PEV_SAMPLE_PERIOD)

static const struct pev_attr plain = {
	.type = PEV_TYPE_SOFTWARE,
	.size = PEV_ATTR_SIZE_VER7,
	.sample_type = SAMPLE_TYPE,
	.flags = PEV_ATTR_SAMPLE_ID_ALL,
};

static struct pev_reader *open_reader(const char *path, const struct pev_reader_options *options)
{
	struct pev_reader *r = NULL;
	struct pev_err err = PEV_ERR_INIT;

	if (pev_reader_open(&path, 1, options, &r, &err) < 0)
		fail_msg("%s", err.msg);
	return r;
}

static bool next(struct pev_reader *r, struct pev_reader_record *rec)
{
	struct pev_err err = PEV_ERR_INIT;
	const int n = pev_reader_next(r, rec, &err);

	if (n < 0)
		fail_msg("%s", err.msg);
	return n;
}

#define BLOCKS    20
#define PER_BLOCK 50

static void put(struct pev_block *b, const struct pev_record *rec)
{
	_cleanup_buf_ struct pev_buf buf = { 0 };
	struct pev_rec_hdr hdr;
	uint8_t *p;

	assert_int_equal(pev_record_encode(&plain, rec, &buf), 0);
	memcpy(&hdr, buf.data, sizeof(hdr));
	p = pev_block_reserve(b, buf.size);
	assert_non_null(p);
	memcpy(p, buf.data, buf.size);
	pev_block_commit(b, &hdr, rec->id.time, rec->id.cpu);
}

/* Blocks of samples at 1000, 1001 and so on, each block of one CPU; every fourth begins with a
 * COMM, every fifth ends with a LOST. */
static void write_blocks(const char *path)
{
	static const uint64_t ids[] = { 1 };
	const struct pev_trace_event event = { .attr = plain, .ids = ids, .nr_ids = 1 };
	_cleanup_(pev_writer_freep) struct pev_writer *w = NULL;
	_cleanup_(pev_block_freep) struct pev_block *b = NULL;
	struct pev_record comm = { .hdr.type = PEV_REC_COMM, .comm = { 1, 1, "comm" } };
	struct pev_record lost = { .hdr.type = PEV_REC_LOST, .lost = { 1, 3 } };
	struct pev_record sample = { .hdr.type = PEV_REC_SAMPLE };

	assert_int_equal(pev_writer_open(path, -1, &event, 1, NULL, 0, &w, NULL), 0);
	assert_int_equal(pev_block_new(1, &b), 0);
	for (uint64_t n = 0; n < BLOCKS; n++) {
		sample.id = (struct pev_sample_id){ .id = 1, .cpu = (uint32_t)n % 4 };
		sample.id.time = 1000 + n * PER_BLOCK;
		comm.id = lost.id = sample.id;
		if (n % 4 == 0)
			put(b, &comm);
		for (uint64_t i = 0; i < PER_BLOCK; i++, sample.id.time++)
			put(b, &sample);
		if (n % 5 == 0)
			put(b, &lost);
		assert_int_equal(pev_writer_block(w, b, true, NULL), 0);
	}
	assert_int_equal(pev_writer_seal(w, NULL, 0, NULL, NULL), 0);
}

static bool listed(const uint32_t *cpus, size_t nr, uint32_t cpu)
{
	for (size_t i = 0; i < nr; i++)
		if (cpus[i] == cpu)
			return true;
	return !nr;
}

static void test_choice(void **state)
{
	static const struct {
		uint64_t since, until;
		uint32_t cpus[3];
		size_t nr_cpus;
		uint64_t skipped_blocks; /* those without state, and, for CPUs, without losses */
	} cases[] = {
		{ 0, UINT64_MAX, { 0 }, 0, 0 },
		{ 1000, 2000, { 0 }, 0, 0 },
		{ 1001, 1999, { 0 }, 0, 0 },
		{ 1050, 1950, { 0 }, 0, 1 }, /* the first block has a COMM */
		{ 1325, 1326, { 0 }, 0, 14 },
		{ 2000, UINT64_MAX, { 0 }, 0, 15 },
		{ 0, 1000, { 0 }, 0, 15 },
		{ 5, 5, { 0 }, 0, 15 },
		{ 0, UINT64_MAX, { 1 }, 1, 8 },
		{ 0, UINT64_MAX, { 1, 2, 3 }, 3, 0 },
		{ 0, UINT64_MAX, { 65, 1000 }, 2, 8 }, /* the head has CPUs modulo 64 */
		{ 1325,
		  1400,
		  { 2, 0 },
		  2,
		  14 }, /* of the two blocks of that time one is of CPU 3 */
	};
	char path[] = "/tmp/pevrec-unit.XXXXXX";
	const int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	(void)close(fd);
	(void)unlink(path);
	write_blocks(path);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		const struct pev_reader_options options = {
			.cpus = cases[i].nr_cpus ? cases[i].cpus : NULL,
			.nr_cpus = cases[i].nr_cpus,
		};
		_cleanup_(pev_reader_freep) struct pev_reader *r = open_reader(path, &options);
		struct pev_reader_stats stats;
		struct pev_reader_record rec;
		uint64_t expected = 0, got = 0;

		pev_reader_set_time(r, cases[i].since, cases[i].until);
		for (uint64_t n = 0; n < BLOCKS * PER_BLOCK; n++)
			expected += 1000 + n >= cases[i].since && 1000 + n < cases[i].until &&
				    listed(cases[i].cpus, cases[i].nr_cpus, n / PER_BLOCK % 4);
		while (next(r, &rec)) {
			if (rec.rec.hdr.type != PEV_REC_SAMPLE)
				continue;
			assert_in_range(rec.time_ns, cases[i].since, cases[i].until - 1);
			assert_true(listed(cases[i].cpus, cases[i].nr_cpus, rec.rec.id.cpu));
			got++;
		}
		stats = pev_reader_stats(r);
		assert_int_equal(got, expected);
		assert_int_equal(stats.by_type[PEV_REC_COMM], BLOCKS / 4);
		assert_int_equal(got + stats.skipped_samples, BLOCKS * PER_BLOCK);
		assert_int_equal(stats.skipped_blocks, cases[i].skipped_blocks);
		assert_false(pev_reader_damage_words(r, 0, NULL));
	}
	(void)unlink(path);
}

/* A head that lies is not believed: its checksum tells. */
static void test_wrong_head_is_not_believed(void **state)
{
	char path[] = "/tmp/pevrec-unit.XXXXXX";
	const int fd = mkstemp(path);
	_cleanup_(pev_reader_freep) struct pev_reader *r = NULL;
	struct pev_reader_record rec;
	uint8_t bytes[256];
	uint64_t got = 0;

	(void)state;
	assert_true(fd >= 0);
	(void)unlink(path);
	write_blocks(path);
	{
		_cleanup_(pev_reader_freep) struct pev_reader *first = open_reader(path, NULL);
		const uint64_t at = pev_reader_head(first, 0).data_offset;
		const int f = open(path, O_RDWR | O_CLOEXEC);
		const uint64_t wrong = 1;

		assert_int_equal(pread(f, bytes, sizeof(bytes), (off_t)at), sizeof(bytes));
		/* last_ns of the second block: before all that is asked for */
		memcpy(&rec.rec.hdr, bytes, sizeof(rec.rec.hdr));
		assert_int_equal(pwrite(f, &wrong, 8, (off_t)(at + rec.rec.hdr.size + 16 + 16)), 8);
		(void)close(f);
	}
	r = open_reader(path, NULL);
	pev_reader_set_time(r, 1050, 1100);
	while (next(r, &rec))
		got += rec.rec.hdr.type == PEV_REC_SAMPLE;
	assert_int_equal(got, PER_BLOCK);
	(void)unlink(path);
	(void)close(fd);
}

static const struct pev_attr reads = {
	.type = PEV_TYPE_SOFTWARE,
	.sample_type = SAMPLE_TYPE | PEV_SAMPLE_READ,
	.read_format = PEV_FORMAT_GROUP | PEV_FORMAT_ID,
	.flags = PEV_ATTR_SAMPLE_ID_ALL,
};

static void put_group(struct foreign *f, uint64_t time, uint32_t tid, uint64_t first,
		      uint64_t second)
{
	const uint64_t words[] = { first, 1, second, 2, 77, 99 };
	struct pev_record rec = {
		.hdr.type = PEV_REC_SAMPLE,
		.id = { .time = time, .cpu = (uint32_t)time % 2, .id = 1, .tid = tid },
	};

	rec.sample.read = (struct pev_read_values){
		.group = true,
		.has_id = true,
		.nr = 3,
		.words = { (const uint8_t *)words, PEV_ARRAY_SIZE(words), false },
	};
	foreign_record(f, 0, &rec);
}

static const char *group_words(struct pev_reader *r)
{
	static char text[1024];
	struct pev_reader_record rec;
	size_t n = 0;

	text[0] = 0;
	while (next(r, &rec)) {
		if (rec.rec.hdr.type != PEV_REC_SAMPLE)
			continue;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%llu:%s+%llu ",
				      (unsigned long long)rec.time_ns, rec.event->name,
				      (unsigned long long)rec.rec.sample.period);
		assert_true(n < sizeof(text));
	}
	return text;
}

/* Each counter of a group that went on is a sample; an id that no event has is left out. */
static void test_groups(void **state)
{
	static const uint32_t cpus[] = { 0 };
	const struct pev_reader_options whole = { .keep_groups = true },
					some = { .cpus = cpus, .nr_cpus = 1 };

	(void)state;
	for (int inherit = 0; inherit < 2; inherit++) {
		_cleanup_foreign_ struct foreign f;
		_cleanup_buf_ struct pev_buf bytes = { 0 };
		_cleanup_(pev_reader_freep) struct pev_reader *r = NULL, *kept = NULL,
							      *of_cpu = NULL;
		struct foreign_path p;
		struct pev_attr attr = reads;

		foreign_init(&f, inherit);
		f.hostname = "host"; /* without it the other features of the other byte order do not
					count */
		attr.flags |= inherit ? PEV_ATTR_INHERIT : 0;
		foreign_event(&f, &attr, "a");
		foreign_event(&f, &attr, "b");
		put_group(&f, 1, 5, 100, 10);
		put_group(&f, 2, 6, 150, 10);
		put_group(&f, 3, 5, 170, 14);
		foreign_file(&f, &bytes);
		p = foreign_path(&bytes);
		r = open_reader(p.path, NULL);
		kept = open_reader(p.path, &whole);
		of_cpu = open_reader(p.path, &some);
		assert_string_equal(group_words(kept), "1:a+0 2:a+0 3:a+0 ");
		/* The counters of inherited events count for each thread on its own. */
		assert_string_equal(group_words(r),
				    inherit ? "1:a+100 1:b+10 2:a+150 2:b+10 "
					      "3:a+70 3:b+4 "
					    : "1:a+100 1:b+10 2:a+50 3:a+20 3:b+4 ");
		assert_int_equal(pev_reader_stats(r).no_event, 3);
		assert_string_equal(group_words(of_cpu), inherit ? "2:a+150 2:b+10 " : "2:a+50 ");
		foreign_path_done(&p);
	}
}

/* Without PERIOD a sample stands for what was asked for. */
static void test_period(void **state)
{
	_cleanup_foreign_ struct foreign f;
	_cleanup_buf_ struct pev_buf bytes = { 0 };
	_cleanup_(pev_reader_freep) struct pev_reader *r = NULL;
	struct pev_attr attr = plain;
	struct foreign_path p;

	(void)state;
	attr.sample_type &= ~PEV_SAMPLE_PERIOD;
	attr.sample_period = 4711;
	foreign_init(&f, false);
	foreign_event(&f, &attr, "a");
	foreign_sample(&f, 1, 0, 1);
	foreign_file(&f, &bytes);
	p = foreign_path(&bytes);
	r = open_reader(p.path, NULL);
	assert_string_equal(group_words(r), "1:a+4711 ");
	foreign_path_done(&p);
}

static void put_loss(struct foreign *f, uint32_t type, uint16_t misc, size_t event, uint64_t time,
		     uint32_t cpu, uint64_t n)
{
	struct pev_record rec = {
		.hdr = { .type = type, .misc = misc },
		.id = { .time = time, .cpu = cpu, .id = f->events[event].ids[0] }
	};

	if (type == PEV_REC_LOST)
		rec.lost.lost = n;
	else if (type == PEV_REC_LOST_SAMPLES)
		rec.lost_samples.lost = n;
	foreign_record(f, event, &rec);
}

static void test_losses(void **state)
{
	/* ID_INDEX: id 2 is a counter of CPU 7, id 3 one of all CPUs. */
	static const uint64_t index[] = { 2, 2, 0, 7, 0, 3, 0, UINT64_MAX, 0 };
	static const struct pev_loss expected[] = {
		{ 0, 0, 1, 10 + 20, 0, 0, 2 },
		{ 0, 0, 2, 5, 6, 0, 0 },
		{ 0, 1, 7, 0, 30, 40, 0 },
		{ 0, 2, PEV_CPU_UNKNOWN, 0, 50, 0, 0 },
	};
	_cleanup_foreign_ struct foreign f;
	_cleanup_buf_ struct pev_buf bytes = { 0 };
	_cleanup_(pev_reader_freep) struct pev_reader *r = NULL;
	struct pev_reader_record rec;
	struct pev_reader_stats stats;
	struct foreign_path p;

	(void)state;
	foreign_init(&f, true);
	for (size_t i = 0; i < 3; i++)
		foreign_event(&f, &plain, "event");
	foreign_user(&f, PEV_REC_ID_INDEX, index, PEV_ARRAY_SIZE(index));
	put_loss(&f, PEV_REC_LOST, 0, 0, 100, 1, 10);
	put_loss(&f, PEV_REC_LOST, 0, 0, 101, 2, 5);
	put_loss(&f, PEV_REC_LOST, 0, 0, 102, 1, 20);
	put_loss(&f, PEV_REC_THROTTLE, 0, 0, 103, 1, 0);
	put_loss(&f, PEV_REC_UNTHROTTLE, 0, 0, 104, 1, 0);
	put_loss(&f, PEV_REC_THROTTLE, 0, 0, 105, 1, 0);
	put_loss(&f, PEV_REC_LOST_SAMPLES, 0, 0, 106, 2, 6);
	/* As perf writes them at the end, without time and CPU. */
	put_loss(&f, PEV_REC_LOST_SAMPLES, 0, 1, 0, 0, 30);
	put_loss(&f, PEV_REC_LOST_SAMPLES, PEV_MISC_LOST_SAMPLES_BPF, 1, 0, 0, 40);
	put_loss(&f, PEV_REC_LOST_SAMPLES, 0, 2, 0, 0, 50);
	foreign_file(&f, &bytes);
	p = foreign_path(&bytes);
	r = open_reader(p.path, NULL);
	while (next(r, &rec))
		;
	stats = pev_reader_stats(r);
	assert_int_equal(stats.nr_losses, PEV_ARRAY_SIZE(expected));
	for (size_t i = 0; i < stats.nr_losses; i++)
		assert_memory_equal(&stats.losses[i], &expected[i], sizeof(expected[i]));
	foreign_path_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choice), cmocka_unit_test(test_wrong_head_is_not_believed),
		cmocka_unit_test(test_groups), cmocka_unit_test(test_period),
		cmocka_unit_test(test_losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
