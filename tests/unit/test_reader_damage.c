// SPDX-License-Identifier: LGPL-2.1-or-later
/* The reader and what is no good: damage is counted and told, and costs only what it hit. */
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "foreign_make.h"
#include "format/reader.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

PEV_DEFINE_CLEANUP(struct pev_reader *, pev_reader_free);

static const struct pev_attr plain = {
	.type = PEV_TYPE_SOFTWARE,
	.sample_type = PEV_SAMPLE_IDENTIFIER | PEV_SAMPLE_IP | PEV_SAMPLE_TID | PEV_SAMPLE_TIME |
		       PEV_SAMPLE_CPU | PEV_SAMPLE_PERIOD,
	.flags = PEV_ATTR_SAMPLE_ID_ALL,
};

/* Reads all of @bytes. The samples that came, or the error of opening or reading, which has words.
 */
static int read_all(const struct pev_buf *bytes, struct pev_reader_stats *ret,
		    struct pev_err *ret_words)
{
	_cleanup_foreign_path_ struct foreign_path p = foreign_path(bytes);
	_cleanup_(pev_reader_freep) struct pev_reader *r = NULL;
	struct pev_err err = PEV_ERR_INIT;
	struct pev_reader_record rec;
	int n = pev_reader_open(&(const char *){ p.path }, 1, NULL, &r, &err);
	uint64_t samples = 0;

	if (n == 0)
		while ((n = pev_reader_next(r, &rec, &err)) > 0)
			samples += rec.rec.hdr.type == PEV_REC_SAMPLE;
	if (n < 0) {
		assert_int_equal(err.code, n);
		assert_true(err.msg[0]);
		return n;
	}
	*ret = pev_reader_stats(r);
	if (!pev_reader_damage_words(r, 0, ret_words))
		*ret_words = PEV_ERR_INIT;
	return (int)samples;
}

static void build(struct foreign *f, bool big, uint32_t compressed)
{
	const struct pev_record comm = {
		.hdr.type = PEV_REC_COMM,
		.id = { .id = 1, .time = 1 },
		.comm = { 1, 1, "comm" },
	};

	foreign_init(f, big);
	f->hostname = "host";
	foreign_event(f, &plain, "first");
	foreign_event(f, &plain, "second");
	foreign_record(f, 0, &comm);
	for (uint64_t i = 0; i < 12; i++) {
		foreign_sample(f, 100 + (i ^ 1), (uint32_t)i % 2, 7);
		if (i % 4 == 3)
			foreign_round(f);
		if (compressed && i % 6 == 5)
			foreign_compress(f, compressed, i == 5 ? 20 : 0);
	}
}

static void make_bytes(unsigned int form, struct pev_buf *ret)
{
	static const uint32_t compressed[] = { 0, PEV_REC_COMPRESSED, PEV_REC_COMPRESSED2 };
	_cleanup_foreign_ struct foreign f;

	build(&f, form & 1, compressed[form / 4]);
	if (form & 2)
		foreign_pipe(&f, ret);
	else
		foreign_file(&f, ret);
}

#define MADE_FORMS 12

static void test_every_prefix(void **state)
{
	(void)state;
	for (unsigned int form = 0; form < MADE_FORMS; form++) {
		_cleanup_buf_ struct pev_buf bytes = { 0 };
		const bool pipe = form & 2;
		int before = -1;

		make_bytes(form, &bytes);
		for (size_t size = 0; size <= bytes.size; size++) {
			const struct pev_buf cut = { .data = bytes.data, .size = size };
			struct pev_reader_stats stats;
			struct pev_err words;
			const int n = read_all(&cut, &stats, &words);

			assert_true(n >= 0 || n == -ENODATA);
			assert_true(n >= before || before < 0);
			before = n;
			/* A file whose header promises more is known to be cut; a pipe that ends
			 * between records is not. */
			if (n >= 0 && n < 12 && !pipe)
				assert_int_equal(words.code, -ENODATA);
		}
		assert_int_equal(before, 12);
	}
}

static void test_bit_flips(void **state)
{
	(void)state;
	/* Of a plain file, and of a compressed stream of the other byte order. */
	for (size_t i = 0; i < 2; i++) {
		_cleanup_buf_ struct pev_buf bytes = { 0 };

		make_bytes(i ? 7 : 0, &bytes);
		/* Each byte, and one after another each of its bits: the fuzz target does the rest.
		 */
		for (size_t bit = 0; bit < 8 * bytes.size; bit += 9) {
			struct pev_reader_stats stats;
			struct pev_err words;
			int n;

			bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			n = read_all(&bytes, &stats, &words);
			assert_true(n >= 0 || n == -ENODATA || n == -EBADMSG || n == -E2BIG ||
				    n == -EPROTONOSUPPORT);
			bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
}

/* Records that are no good are left out, the others come. */
static void test_bad_records(void **state)
{
	static const uint64_t nonsense[] = { 1, 2 };
	_cleanup_foreign_ struct foreign f;
	_cleanup_buf_ struct pev_buf bytes = { 0 };
	struct pev_reader_stats stats;
	struct pev_err words;
	char expected[256];

	(void)state;
	foreign_init(&f, false);
	f.hostname = "host";
	foreign_event(&f, &plain, "first");
	foreign_event(&f, &plain, "second");
	foreign_sample(&f, 1, 0, 1);
	foreign_user(&f, 200, nonsense, 2); /* unknown, of user space and of the kernel */
	foreign_user(&f, 50, nonsense, 2);
	foreign_user(&f, PEV_REC_SAMPLE, nonsense, 2); /* too small */
	f.events[0].ids = memcpy((uint64_t *)(uintptr_t)f.events[0].ids, &(uint64_t){ 4711 }, 8);
	foreign_sample(&f, 2, 0, 1); /* of an id that the head does not have */
	memcpy((uint64_t *)(uintptr_t)f.events[0].ids, &(uint64_t){ 1 }, 8);
	foreign_sample(&f, 3, 0, 1);
	foreign_file(&f, &bytes);
	assert_int_equal(read_all(&bytes, &stats, &words), 2);
	assert_int_equal(stats.unknown, 2);
	assert_int_equal(stats.undecodable, 1);
	assert_int_equal(stats.no_event, 1);
	(void)snprintf(expected, sizeof(expected), "%s",
		       strstr(words.msg, ": ") ? strstr(words.msg, ": ") : "");
	assert_int_equal(words.code, -EBADMSG);
	assert_string_equal(expected, ": 1 record contradicts itself, 1 record belongs to none of "
				      "its events; the rest of it was read");
}

static void test_damage_in_words(void **state)
{
	static const struct {
		unsigned int form;
		size_t cut;          /* bytes taken off the end */
		const char *rubbish; /* put there */
		size_t wrong;        /* byte turned, from the end of the data */
		int code;
		const char *words;
	} cases[] = {
		{ 2, 0, NULL, 0, 0, "" },
		{ 2, 3, NULL, 0, -ENODATA, ": it ends 5 bytes into a record" },
		{ 2, 0, "[ perf record: Woken up ]\n", 0, -EBADMSG,
		  ": the last 26 bytes are no record" },
		/* perf compresses one long stream: what follows a damaged piece is lost, too. */
		{ 6, 0, NULL, 60, -EBADMSG, ": 2 blocks of 160 bytes are damaged" },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		_cleanup_buf_ struct pev_buf bytes = { 0 };
		struct pev_reader_stats stats;
		struct pev_err words;

		make_bytes(cases[i].form, &bytes);
		bytes.size -= cases[i].cut;
		if (cases[i].rubbish)
			pev_buf_put(&bytes, cases[i].rubbish, strlen(cases[i].rubbish));
		if (cases[i].wrong)
			bytes.data[bytes.size - cases[i].wrong] ^= 0xff;
		assert_true(read_all(&bytes, &stats, &words) >= 0);
		assert_int_equal(words.code, cases[i].code);
		assert_non_null(strstr(words.msg, cases[i].words));
		if (cases[i].code)
			assert_non_null(strstr(words.msg, " (the first damage is at offset "));
	}
}

static void test_refusals(void **state)
{
	static const uint32_t cpu[] = { 1U << 20 };
	const struct pev_reader_options no_cpu = { .cpus = cpu, .nr_cpus = 1 };
	char folder[] = "/tmp/pevrec-unit.XXXXXX", path[64], expected[256];
	struct pev_reader *r = NULL;
	struct pev_err err = PEV_ERR_INIT;
	_cleanup_foreign_ struct foreign f;
	_cleanup_buf_ struct pev_buf bytes = { 0 };
	struct foreign_path p;
	FILE *file;

	(void)state;
	assert_int_equal(pev_reader_open(NULL, 0, NULL, &r, &err), -EINVAL);
	assert_err(&err, -EINVAL, "there is no trace to read");
	assert_int_equal(pev_reader_open(&(const char *){ "/no/such" }, 1, NULL, &r, &err),
			 -ENOENT);
	assert_err(&err, -ENOENT, "cannot open /no/such: No such file or directory");
	assert_non_null(mkdtemp(folder));
	assert_int_equal(pev_reader_open(&(const char *){ folder }, 1, NULL, &r, &err), -ENOENT);
	(void)snprintf(expected, sizeof(expected),
		       "%s is a folder, and no trace as perf record --threads leaves it: cannot "
		       "open %s/data: No such file or directory",
		       folder, folder);
	assert_err(&err, -ENOENT, expected);

	foreign_init(&f, false);
	f.dir_version = 2;
	foreign_event(&f, &plain, "a");
	foreign_sample(&f, 1, 1, 1);
	foreign_file(&f, &bytes);
	(void)snprintf(path, sizeof(path), "%s/data", folder);
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes.data, bytes.size, 1, file), 1);
	(void)fclose(file);
	assert_int_equal(pev_reader_open(&(const char *){ folder }, 1, NULL, &r, &err),
			 -EPROTONOSUPPORT);
	(void)snprintf(expected, sizeof(expected),
		       "%s is a folder of version 2, and this version of pevrec knows 1: read it "
		       "with a newer one",
		       folder);
	assert_err(&err, -EPROTONOSUPPORT, expected);
	(void)unlink(path);
	(void)rmdir(folder);

	p = foreign_path(&bytes);
	assert_int_equal(pev_reader_open(&(const char *){ p.path }, 1, &no_cpu, &r, &err), -EINVAL);
	assert_err(&err, -EINVAL, "there is no CPU 1048576");
	assert_null(r);
	foreign_path_done(&p);
}

static void test_no_memory(void **state)
{
	_cleanup_buf_ struct pev_buf bytes = { 0 };
	bool failed = true;

	(void)state;
	make_bytes(6, &bytes);
	for (unsigned int nth = 1; failed; nth++) {
		_cleanup_foreign_path_ struct foreign_path p = foreign_path(&bytes);
		struct pev_err err = PEV_ERR_INIT;
		struct pev_reader_record rec;
		struct pev_reader *r = NULL;
		int n;

		alloc_fail_at(nth);
		n = pev_reader_open(&(const char *){ p.path }, 1, NULL, &r, &err);
		while (n >= 0 && (n = pev_reader_next(r, &rec, &err)) > 0)
			;
		failed = alloc_fail_end();
		/* A feature or a name that finds no memory is no reason to give up. */
		assert_true(n == 0 || (failed && n == -ENOMEM && err.code == n && err.msg[0]));
		pev_reader_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_prefix), cmocka_unit_test(test_bit_flips),
		cmocka_unit_test(test_bad_records),  cmocka_unit_test(test_damage_in_words),
		cmocka_unit_test(test_refusals),     cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
