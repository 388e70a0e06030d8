// SPDX-License-Identifier: LGPL-2.1-or-later
/* The reader: order, every form of a trace in either byte order, several traces, choices, groups.
 */
#include "test.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "foreign_make.h"
#include "format/reader.h"
#include "format/writer.h"
#include "record_make.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

PEV_DEFINE_CLEANUP(struct pev_reader *, pev_reader_free);

#define SAMPLE_TYPE                                                                 \
	(PEV_SAMPLE_IDENTIFIER | PEV_SAMPLE_IP | PEV_SAMPLE_TID | PEV_SAMPLE_TIME | \
	 PEV_SAMPLE_CPU | PEV_SAMPLE_PERIOD)

static const struct pev_attr plain = {
	.type = PEV_TYPE_SOFTWARE,
	.sample_type = SAMPLE_TYPE,
	.flags = PEV_ATTR_SAMPLE_ID_ALL,
};

static struct pev_reader *open_reader(const char *const *paths, size_t nr,
				      const struct pev_reader_options *options)
{
	struct pev_reader *r = NULL;
	struct pev_err err = PEV_ERR_INIT;

	if (pev_reader_open(paths, nr, options, &r, &err) < 0)
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

/* What comes of the whole trace, as words: "S5" is a sample at 5, "C" a COMM without a time, "R" a
 * round, "1:" goes before what is of trace 1, "." its end. */
static const char *words(struct pev_reader *r)
{
	static char text[4096];
	struct pev_reader_record rec;
	size_t n = 0;

	text[0] = 0;
	while (next(r, &rec)) {
		static const char letters[PEV_REC_USER_MAX] = {
			[PEV_READER_TRACE_END] = '.', [PEV_REC_SAMPLE] = 'S',
			[PEV_REC_COMM] = 'C',         [PEV_REC_FINISHED_ROUND] = 'R',
			[PEV_REC_AUXTRACE] = 'X',     [PEV_REC_AUXTRACE_INFO] = 'A',
		};

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", n ? " " : "");
		if (pev_reader_nr_traces(r) > 1)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%u:", rec.trace);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%c", letters[rec.rec.hdr.type]);
		if (rec.time_ns)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%llu",
					      (unsigned long long)rec.time_ns);
		assert_true(n < sizeof(text));
	}
	return text;
}

static void comm(struct foreign *f, uint64_t time)
{
	const struct pev_record rec = {
		.hdr.type = PEV_REC_COMM,
		.id = { .time = time, .id = f->events[0].ids[0] },
		.comm = { 1, 1, "comm" },
	};

	foreign_record(f, 0, &rec);
}

/* Builds a file of what @text says, in the language of words(). */
static void build(struct foreign *f, const char *text)
{
	const uint64_t info[1] = { 0 };
	char *end;

	for (; *text; text = *end ? end + 1 : end) {
		const uint64_t time = strtoull(text + 1, &end, 10);

		switch (*text) {
		case 'S':
			foreign_sample(f, time, (uint32_t)time % 4, (uint32_t)time);
			break;
		case 'C':
			comm(f, time);
			break;
		case 'R':
			foreign_round(f);
			break;
		default:
			foreign_user(f, PEV_REC_AUXTRACE_INFO, info, 1);
		}
	}
}

static void test_order(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "", "." },
		{ "S1", "S1 ." },
		{ "S3 S1 S2", "S1 S2 S3 ." },
		{ "S3 S1 R S2", "R S1 S2 S3 ." },
		{ "S3 S1 R S5 S4 R S2 S9", "R R S1 S3 S2 S4 S5 S9 ." },
		{ "S3 R S5 R S7 R S9", "R R S3 R S5 S7 S9 ." },
		/* What has no time does not wait, nor does what the kernel did not write. */
		{ "S3 C S1 A C0", "C A C S1 S3 ." },
		{ "S3 C18446744073709551615", "C S3 ." },
		{ "S3 C2 S1", "S1 C2 S3 ." },
		{ "S2 S2 C2 S1", "S1 S2 S2 C2 ." },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		_cleanup_foreign_ struct foreign f;
		_cleanup_buf_ struct pev_buf bytes = { 0 };
		_cleanup_(pev_reader_freep) struct pev_reader *r = NULL;

		foreign_init(&f, false);
		foreign_event(&f, &plain, "cpu-clock");
		build(&f, cases[i].in);
		foreign_file(&f, &bytes);
		{
			_cleanup_foreign_path_ struct foreign_path p = foreign_path(&bytes);

			r = open_reader(&(const char *){ p.path }, 1, NULL);
			assert_string_equal(words(r), cases[i].out);
		}
	}
}

#define RECORDS 300

static struct made_record made[RECORDS];
static size_t made_event[RECORDS];

/* Two events with different fields and every flag, and records of every type of theirs. */
static void build_everything(struct foreign *f, uint64_t seed, bool with_rounds)
{
	const uint64_t all = PEV_SAMPLE_ALL & ~(PEV_SAMPLE_READ | PEV_SAMPLE_AUX);
	uint64_t random = seed;

	for (size_t i = 0; i < 2; i++) {
		struct pev_attr attr;

		make_attr(&random, i ? SAMPLE_TYPE : all, &attr);
		attr.type = PEV_TYPE_SOFTWARE;
		attr.flags = i ? PEV_ATTR_SAMPLE_ID_ALL | PEV_ATTR_BUILD_ID
			       : PEV_ATTR_SAMPLE_ID_ALL | PEV_ATTR_BUILD_ID | PEV_ATTR_FREQ |
					     PEV_ATTR_TASK | PEV_ATTR_COMM_EXEC | PEV_ATTR_CGROUP |
					     1ULL << PEV_ATTR_PRECISE_IP_SHIFT;
		foreign_event(f, &attr, i ? "second" : "first");
	}
	for (uint32_t i = 0; i < RECORDS; i++) {
		const uint32_t type = i % 3 ? PEV_REC_SAMPLE : 1 + i / 3 % (PEV_REC_KERNEL_MAX - 1);

		made_event[i] = type == PEV_REC_SAMPLE && i % 2 ? 1 : 0;
		make_record(&random, &f->events[made_event[i]].attr, type, &made[i]);
		made[i].rec.id.time = 1000 + i;
		made[i].rec.id.id = f->events[made_event[i]].ids[0];
	}
	/* Neighbours change places; a round now and then lets them go. */
	for (size_t i = 0; i < RECORDS; i++) {
		const size_t at = i ^ 1;

		foreign_record(f, made_event[at], &made[at].rec);
		if (with_rounds && i % 20 == 19)
			foreign_round(f);
	}
}

static void check_everything(const char *path)
{
	_cleanup_(pev_reader_freep) struct pev_reader *r = open_reader(&path, 1, NULL);
	struct pev_reader_record rec;
	struct pev_reader_stats stats;
	size_t i = 0;

	while (next(r, &rec)) {
		if (rec.rec.hdr.type >= PEV_REC_USER_START ||
		    rec.rec.hdr.type == PEV_READER_TRACE_END)
			continue;
		assert_in_range(i, 0, RECORDS - 1);
		assert_true(rec.time_ns == 1000 + i);
		assert_int_equal(rec.event_index, made_event[i]);
		assert_string_equal(rec.event->name, made_event[i] ? "second" : "first");
		assert_same_record(&made[i].rec, &rec.rec);
		i++;
	}
	assert_int_equal(i, RECORDS);
	stats = pev_reader_stats(r);
	assert_int_equal(stats.undecodable + stats.no_event + stats.unknown + stats.late, 0);
	assert_int_equal(stats.by_type[PEV_REC_SAMPLE], 205);
	assert_false(pev_reader_damage_words(r, 0, NULL));
}

enum form {
	FILE_FORM,
	PIPE_FORM,
	FORMS,
};

/* How the records lie in it. */
enum packing {
	PLAIN,
	COMPRESSED,
	COMPRESSED2,
	PACKINGS,
};

/* The same records in every form of a trace read the same. */
static void test_every_form(void **state)
{
	(void)state;
	for (int n = 0; n < 2 * FORMS * PACKINGS; n++) {
		const bool big = n % 2;
		const enum form form = (enum form)(n / 2 % FORMS);
		const enum packing packing = (enum packing)(n / 2 / FORMS);
		_cleanup_foreign_ struct foreign f;
		_cleanup_buf_ struct pev_buf bytes = { 0 }, all = { 0 };

		foreign_init(&f, big);
		f.hostname = "elsewhere";
		build_everything(&f, 7, n % 3);
		if (packing != PLAIN) {
			/* Records straddle the pieces, as perf's do. */
			all = f.data;
			f.data = (struct pev_buf){ 0 };
			for (size_t at = 0; at < all.size; at += 10000) {
				const size_t size = PEV_MIN(all.size - at, (size_t)10000);

				pev_buf_put(&f.data, all.data + at, size);
				foreign_compress(&f,
						 packing == COMPRESSED ? PEV_REC_COMPRESSED
								       : PEV_REC_COMPRESSED2,
						 at + size < all.size ? 5 : 0);
			}
		}
		if (form == FILE_FORM)
			foreign_file(&f, &bytes);
		else
			foreign_pipe(&f, &bytes);
		{
			_cleanup_foreign_path_ struct foreign_path p = foreign_path(&bytes);
			_cleanup_(pev_reader_freep) struct pev_reader *r =
				open_reader(&(const char *){ p.path }, 1, NULL);
			const struct pev_trace_head head = pev_reader_head(r, 0);

			assert_int_equal(head.swap,
					 big == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__));
			assert_int_equal(head.nr_events, 2);
			assert_true(head.events[0].attr.flags == f.events[0].attr.flags);
			assert_true(head.events[0].attr.sample_type ==
				    f.events[0].attr.sample_type);
			assert_string_equal(head.features->hostname, "elsewhere");
			check_everything(p.path);
		}
	}
}

static void write_file(const char *path, const struct pev_buf *bytes)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pev_write_all(fd, bytes->data, bytes->size), 0);
}

/* DIR/data has the head and what was known before, DIR/data.N the samples of some CPUs. */
static void test_folder(void **state)
{
	char folder[] = "/tmp/pevrec-unit.XXXXXX", path[64];
	_cleanup_(pev_reader_freep) struct pev_reader *r = NULL;
	_cleanup_foreign_ struct foreign f;
	_cleanup_buf_ struct pev_buf bytes = { 0 };

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (int i = 0; i < 12; i++) {
		foreign_init(&f, false);
		foreign_event(&f, &plain, "cpu-clock");
		f.dir_version = 1;
		build(&f, i ? "" : "C C3");
		for (uint64_t k = 0; i && k < 3; k++)
			foreign_sample(&f, 100 * (3 - k) + (uint64_t)i, (uint32_t)i, (uint32_t)i);
		pev_buf_reset(&bytes);
		if (i)
			pev_buf_put(&bytes, f.data.data, f.data.size);
		else
			foreign_file(&f, &bytes);
		(void)snprintf(path, sizeof(path), i ? "%s/data.%d" : "%s/data", folder, i - 1);
		write_file(path, &bytes);
		if (i < 11)
			foreign_done(&f);
	}
	(void)snprintf(path, sizeof(path), "%s/data.not-a-file", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	r = open_reader(&(const char *){ folder }, 1, NULL);
	assert_string_equal(words(r), "C C3 S101 S102 S103 S104 S105 S106 S107 S108 S109 S110 S111 "
				      "S201 S202 S203 S204 S205 S206 S207 S208 S209 S210 S211 "
				      "S301 S302 S303 S304 S305 S306 S307 S308 S309 S310 S311 .");
	(void)rmdir(path);
	for (int i = 0; i < 12; i++) {
		(void)snprintf(path, sizeof(path), i ? "%s/data.%d" : "%s/data", folder, i - 1);
		(void)unlink(path);
	}
	(void)rmdir(folder);
}

/* What follows an AUXTRACE outside of it is no record, however much it looks like one. */
static void test_auxtrace(void **state)
{
	(void)state;
	for (int form = 0; form < 4; form++) {
		const uint64_t auxtrace[] = { 24, 0, 0, 0, 0 };
		_cleanup_foreign_ struct foreign f;
		_cleanup_buf_ struct pev_buf bytes = { 0 };

		foreign_init(&f, form & 1);
		foreign_event(&f, &plain, "intel_pt//");
		build(&f, "S3");
		foreign_user(&f, PEV_REC_AUXTRACE, auxtrace, PEV_ARRAY_SIZE(auxtrace));
		build(&f, "R R R S2");
		if (form & 2)
			foreign_pipe(&f, &bytes);
		else
			foreign_file(&f, &bytes);
		{
			_cleanup_foreign_path_ struct foreign_path p = foreign_path(&bytes);
			_cleanup_(pev_reader_freep) struct pev_reader *r =
				open_reader(&(const char *){ p.path }, 1, NULL);

			assert_string_equal(words(r), "X S2 S3 .");
		}
	}
}

struct told {
	unsigned int calls;
	uint64_t bytes, total;
};

static void tell(void *userdata, uint64_t bytes, uint64_t total)
{
	struct told *const t = userdata;

	assert_true(bytes >= t->bytes);
	*t = (struct told){ t->calls + 1, bytes, total };
}

/* Standard input, which cannot seek. */
static void test_standard_input(void **state)
{
	_cleanup_(pev_reader_freep) struct pev_reader *r = NULL;
	_cleanup_foreign_ struct foreign f;
	_cleanup_buf_ struct pev_buf bytes = { 0 };
	struct told told = { 0 };
	const struct pev_reader_options options = { .progress = tell, .userdata = &told };
	const int saved = dup(STDIN_FILENO);
	int fds[2];

	(void)state;
	foreign_init(&f, false);
	foreign_event(&f, &plain, "cpu-clock");
	build(&f, "S2 S1 R S3");
	foreign_pipe(&f, &bytes);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(pev_write_all(fds[1], bytes.data, bytes.size), 0);
	(void)close(fds[1]);
	assert_true(dup2(fds[0], STDIN_FILENO) >= 0);
	(void)close(fds[0]);
	r = open_reader(&(const char *){ "-" }, 1, &options);
	assert_string_equal(pev_reader_path(r, 0), "standard input");
	assert_string_equal(words(r), "R S1 S2 S3 .");
	assert_true(told.calls == 1 && told.bytes == bytes.size && told.total == 0);
	(void)dup2(saved, STDIN_FILENO);
	(void)close(saved);
}

struct several {
	struct foreign f[3];
	struct foreign_path paths[3];
	const char *names[3];
};

static void several_init(struct several *s)
{
	for (size_t i = 0; i < 3; i++) {
		foreign_init(&s->f[i], i == 1);
		foreign_event(&s->f[i], &plain, "cpu-clock");
	}
}

static void several_write(struct several *s)
{
	for (size_t i = 0; i < 3; i++) {
		_cleanup_buf_ struct pev_buf bytes = { 0 };

		foreign_file(&s->f[i], &bytes);
		s->paths[i] = foreign_path(&bytes);
		s->names[i] = s->paths[i].path;
	}
}

static void several_done(struct several *s)
{
	for (size_t i = 0; i < 3; i++) {
		foreign_done(&s->f[i]);
		foreign_path_done(&s->paths[i]);
	}
}

static void test_merge(void **state)
{
	_cleanup_(several_done) struct several s;
	_cleanup_(pev_reader_freep) struct pev_reader *r = NULL;
	struct told told = { 0 };
	const struct pev_reader_options options = { .progress = tell, .userdata = &told };
	struct pev_reader_stats stats;

	(void)state;
	several_init(&s);
	build(&s.f[0], "C S5 S1 R S9");
	build(&s.f[1], "S2 S6 R S10 S3");
	/* Tells that it begins later, so that it is begun later, too. */
	build(&s.f[2], "C S8 S7");
	s.f[2].first_ns = 7;
	s.f[2].last_ns = 8;
	several_write(&s);
	r = open_reader(s.names, 3, &options);
	assert_string_equal(words(r), "0:C 0:R 1:R 0:S1 1:S2 1:S3 0:S5 1:S6 2:C 2:S7 2:S8 2:. 0:S9 "
				      "0:. 1:S10 1:.");
	assert_true(told.calls == 3 && told.bytes == told.total);
	stats = pev_reader_stats(r);
	assert_true(stats.first_ns == 1 && stats.last_ns == 10);
	assert_int_equal(stats.by_type[PEV_REC_SAMPLE], 9);
}

/* A trace that says of itself that it is of another time is not read. */
static void test_skipped_trace(void **state)
{
	_cleanup_(several_done) struct several s;
	_cleanup_(pev_reader_freep) struct pev_reader *r = NULL;
	struct told told = { 0 };
	const struct pev_reader_options options = { .progress = tell, .userdata = &told };

	(void)state;
	several_init(&s);
	for (size_t i = 0; i < 3; i++) {
		build(&s.f[i], i ? "C S10 S15 S19" : "C S25 S12");
		s.f[i].hostname = "host";
		s.f[i].first_ns = i ? 10 : 12;
		s.f[i].last_ns = i ? 19 : 25;
	}
	/* The last does not tell. */
	s.f[2].first_ns = 0;
	several_write(&s);
	r = open_reader(s.names, 3, &options);
	pev_reader_set_time(r, 20, 30);
	assert_string_equal(words(r), "2:C 2:. 1:. 0:C 0:S25 0:.");
	assert_int_equal(pev_reader_stats(r).skipped_traces, 1);
	assert_int_equal(pev_reader_stats(r).skipped_samples, 4);
	assert_true(told.bytes == told.total);
}

/* An event that asked for a clock, and a moment by it. */
static void set_clock(struct foreign *f, int32_t id, uint64_t tod_ns, uint64_t clock_ns)
{
	f->events[0].attr.flags |= PEV_ATTR_USE_CLOCKID;
	f->events[0].attr.clockid = f->clockid = id;
	f->tod_ns = tod_ns;
	f->clockid_ns = clock_ns;
}

static const uint64_t second = PEV_NSEC_PER_SEC, wall = 1700000000 * PEV_NSEC_PER_SEC;

/* Two hosts that tell the time of day are merged by that. */
static void test_different_clocks(void **state)
{
	_cleanup_(several_done) struct several s;
	_cleanup_(pev_reader_freep) struct pev_reader *r = NULL;
	struct pev_clock clock;

	(void)state;
	several_init(&s);
	for (size_t i = 0; i < 3; i++)
		s.f[i].hostname = i ? "one" : "other";
	set_clock(&s.f[0], CLOCK_MONOTONIC, wall, 1000);
	set_clock(&s.f[1], CLOCK_MONOTONIC, wall, 500);
	set_clock(&s.f[2], CLOCK_REALTIME, 0, 0);
	foreign_sample(&s.f[0], 1000 + 10, 0, 1);
	foreign_sample(&s.f[0], 1000 + 40, 0, 1);
	foreign_sample(&s.f[1], 500 + 20, 0, 2);
	foreign_sample(&s.f[2], wall + 30, 0, 3);
	several_write(&s);
	r = open_reader(s.names, 3, NULL);
	assert_string_equal(words(r), "0:S1700000000000000010 1:S1700000000000000020 1:. "
				      "2:S1700000000000000030 2:. 0:S1700000000000000040 0:.");
	clock = pev_reader_clock(r);
	assert_true(clock.id == CLOCK_REALTIME && clock.has_wall);
	assert_true(pev_clock_to_wall(&clock, 12345) == 12345);
}

/* The same clock of the same boot: its own time, of which the time of day is known. */
static void test_same_clock(void **state)
{
	_cleanup_(several_done) struct several s;
	_cleanup_(pev_reader_freep) struct pev_reader *r = NULL;
	struct pev_clock clock;

	(void)state;
	several_init(&s);
	for (size_t i = 0; i < 3; i++) {
		/* NTP has moved it a little in between. */
		set_clock(&s.f[i], CLOCK_MONOTONIC, wall + i * 100 * second + i, i * 100 * second);
		foreign_sample(&s.f[i], (i + 1) * second, 0, 1);
	}
	several_write(&s);
	r = open_reader(s.names, 3, NULL);
	clock = pev_reader_clock(r);
	assert_true(clock.id == CLOCK_MONOTONIC && clock.has_wall);
	assert_true(pev_clock_to_wall(&clock, 5 * second) == wall + 5 * second);
	assert_true(pev_clock_from_wall(&clock, wall + 5 * second) == 5 * second);
	assert_true(pev_clock_from_wall(&clock, 5) == 0);
	assert_string_equal(words(r), "0:S1000000000 0:. 1:S2000000000 1:. 2:S3000000000 2:.");
}

static void test_clocks_without_relation(void **state)
{
	_cleanup_(several_done) struct several s;
	struct pev_reader *r = NULL;
	struct pev_err err = PEV_ERR_INIT;
	char expected[256];

	(void)state;
	several_init(&s);
	set_clock(&s.f[0], CLOCK_MONOTONIC, wall, 1000);
	set_clock(&s.f[2], CLOCK_REALTIME, 0, 0);
	for (size_t i = 0; i < 3; i++)
		foreign_sample(&s.f[i], 1, 0, 1);
	several_write(&s);
	assert_int_equal(pev_reader_open(s.names, 3, NULL, &r, &err), -EINVAL);
	(void)snprintf(
		expected, sizeof(expected),
		"the traces tell time by different clocks, and %s (perf's own clock) does not "
		"say what time of day that was: read it alone, or record with --clockid",
		s.names[1]);
	assert_err(&err, -EINVAL, expected);
	assert_null(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_every_form),
		cmocka_unit_test(test_folder),
		cmocka_unit_test(test_auxtrace),
		cmocka_unit_test(test_standard_input),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_skipped_trace),
		cmocka_unit_test(test_different_clocks),
		cmocka_unit_test(test_same_clock),
		cmocka_unit_test(test_clocks_without_relation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
