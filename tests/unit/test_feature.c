// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sections of header features: read, written, printed, cut, damaged, without memory. */
#include "tests/unit/test.h"

#include "base/cleanup.h"
#include "format/feature.h"
#include "tests/unit/alloc.h"
#include "tests/unit/feature_make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void make_section(const struct feature_case *c, bool swap, struct pev_buf *ret)
{
	struct maker m = { .buf = ret, .swap = swap };

	c->make(&m);
	assert_int_equal(pev_buf_status(ret), 0);
}

/* From memory that ends where the section does, so that a sanitizer sees a byte read past it. */
static int decode_exactly(struct pev_features *f, enum pev_feat feat, const uint8_t *bytes,
			  size_t size, bool swap, struct pev_err *err)
{
	_cleanup_free_ uint8_t *exact = malloc(size);

	if (size)
		memcpy(exact, bytes, size);
	return pev_feature_decode(f, feat, exact, size, swap, err);
}

static void assert_bytes_equal(const char *name, const struct pev_buf *a, const struct pev_buf *b)
{
	if (a->size != b->size || (a->size && memcmp(a->data, b->data, a->size) != 0))
		fail_msg("%s: %zu bytes were written, not the same as the %zu there should be",
			 name, a->size, b->size);
}

static void test_round_trip(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * nr_feature_cases; i++) {
		const struct feature_case *const c = &feature_cases[i / 2];
		_cleanup_features_ struct pev_features f = { 0 };
		_cleanup_buf_ struct pev_buf section = { 0 }, native = { 0 }, again = { 0 };
		struct pev_err err = PEV_ERR_INIT;
		const bool swap = i % 2;

		if (swap && c->native_only)
			continue;
		make_ground(&f);
		make_section(c, swap, &section);
		make_section(c, false, &native);
		if (decode_exactly(&f, c->feat, section.data, section.size, swap, &err) < 0)
			fail_msg("%s: %s", c->name, err.msg);
		assert_true(pev_features_has(&f, c->feat));
		assert_int_equal(pev_feature_encode(&f, c->feat, &again), 0);
		if (!c->lossy)
			assert_bytes_equal(c->name, &again, &native);
	}
}

static char *print_one(const struct pev_features *f, enum pev_feat feat)
{
	const struct pev_features_print how = { .full = true, .pipe = true };
	struct pev_features one = *f;
	char *text = NULL;
	size_t size;
	FILE *const out = open_memstream(&text, &size);

	assert_non_null(out);
	one.has = 0;
	pev_features_set(&one, feat);
	pev_features_print(&one, &how, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void test_print(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_feature_cases; i++) {
		const struct feature_case *const c = &feature_cases[i];
		_cleanup_features_ struct pev_features f = { 0 };
		_cleanup_buf_ struct pev_buf section = { 0 };
		_cleanup_free_ char *text = NULL;

		make_ground(&f);
		make_section(c, false, &section);
		assert_int_equal(
			pev_feature_decode(&f, c->feat, section.data, section.size, false, NULL),
			0);
		text = print_one(&f, c->feat);
		if (c->printed)
			assert_string_equal(text, c->printed);
	}
}

/* A cut is seen, but where an older perf could have ended as well; then it is written as it was. */
static void test_every_prefix(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_feature_cases; i++) {
		const struct feature_case *const c = &feature_cases[i];
		_cleanup_buf_ struct pev_buf section = { 0 };
		size_t whole = 0;

		make_section(c, false, &section);
		for (size_t n = 0; n < section.size; n++) {
			_cleanup_features_ struct pev_features f = { 0 };
			_cleanup_buf_ struct pev_buf again = { 0 };
			struct pev_err err = PEV_ERR_INIT;
			int r;

			make_ground(&f);
			f.has &= ~(1ULL << c->feat) | 1ULL << PEV_FEAT_NRCPUS;
			r = decode_exactly(&f, c->feat, section.data, n, false, &err);
			if (r < 0) {
				assert_int_equal(r, -ENODATA);
				assert_int_equal(err.code, r);
				assert_non_null(strstr(err.msg, pev_feat_name(c->feat)));
				assert_true(c->feat == PEV_FEAT_NRCPUS ||
					    !pev_features_has(&f, c->feat));
				continue;
			}
			whole++;
			assert_int_equal(pev_feature_encode(&f, c->feat, &again), 0);
			if (!c->lossy)
				assert_memory_equal(again.data, section.data,
						    PEV_MIN(again.size, n));
		}
		/* Ends of older CPU_TOPOLOGYs; of whole entries where nothing tells how many there
		 * are, less than the head of another one behind them. */
		if (!c->open_ended && whole > 16)
			fail_msg("%s: %zu of %zu prefixes went unnoticed", c->name, whole,
				 section.size);
	}
}

/* No flip crashes or reads what is not there, and what can be read can be written and printed. */
static void test_every_bit_flip(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_feature_cases; i++) {
		const struct feature_case *const c = &feature_cases[i];
		_cleanup_buf_ struct pev_buf section = { 0 };

		make_section(c, false, &section);
		for (size_t bit = 0; bit < section.size * 8; bit++) {
			_cleanup_features_ struct pev_features f = { 0 };
			_cleanup_buf_ struct pev_buf again = { 0 };
			_cleanup_free_ char *text = NULL;
			struct pev_err err = PEV_ERR_INIT;
			int r;

			make_ground(&f);
			section.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			r = decode_exactly(&f, c->feat, section.data, section.size, false, &err);
			section.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			if (r < 0) {
				assert_true(r == -ENODATA || r == -EBADMSG ||
					    r == -EPROTONOSUPPORT);
				assert_non_null(strstr(err.msg, pev_feat_name(c->feat)));
				continue;
			}
			assert_int_equal(pev_feature_encode(&f, c->feat, &again), 0);
			text = print_one(&f, c->feat);
		}
	}
}

static void test_no_memory(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_feature_cases; i++) {
		const struct feature_case *const c = &feature_cases[i];
		_cleanup_buf_ struct pev_buf section = { 0 };
		bool failed = true;

		make_section(c, false, &section);
		for (unsigned int nth = 1; failed; nth++) {
			_cleanup_features_ struct pev_features f = { 0 };
			struct pev_err err = PEV_ERR_INIT;
			struct pev_features_block *owned;
			int r;

			make_ground(&f);
			f.has &= ~(1ULL << c->feat) | 1ULL << PEV_FEAT_NRCPUS;
			owned = f.owned;
			alloc_fail_at(nth);
			r = pev_feature_decode(&f, c->feat, section.data, section.size, false,
					       &err);
			failed = alloc_fail_end();
			assert_int_equal(r, failed ? -ENOMEM : 0);
			if (failed) {
				assert_ptr_equal(f.owned, owned);
				assert_non_null(strstr(err.msg, "no memory"));
				assert_false(pev_features_has(&f, c->feat));
			}
		}
	}
}

struct damage {
	enum pev_feat feat;
	int code;
	const char *says;
	uint64_t words[4]; /* u32 each, or u64 with ->wide */
	uint32_t nr;
	bool wide, swap, no_ground;
};

static void test_damage(void **state)
{
	static const struct damage damages[] = {
		{ .feat = PEV_FEAT_HOSTNAME,
		  .code = -EBADMSG,
		  .says = "feature HOSTNAME: a string in it has no end",
		  .words = { 4, 0x61616161 },
		  .nr = 2 },
		{ .feat = PEV_FEAT_HOSTNAME,
		  .code = -EBADMSG,
		  .says = "feature HOSTNAME: a string in it has no end",
		  .words = { 0 },
		  .nr = 1 },
		{ .feat = PEV_FEAT_HOSTNAME,
		  .code = -ENODATA,
		  .says = "feature HOSTNAME: its section of 8 bytes ends too early",
		  .words = { UINT32_MAX, 0 },
		  .nr = 2 },
		{ .feat = PEV_FEAT_CACHE,
		  .code = -EPROTONOSUPPORT,
		  .says = "feature CACHE: it has version 2 of this layout, only 1 is known here",
		  .words = { 2, 0 },
		  .nr = 2 },
		{ .feat = PEV_FEAT_MEM_TOPOLOGY,
		  .code = -EPROTONOSUPPORT,
		  .says = "feature MEM_TOPOLOGY: it has version 7 of this layout, only 1 is known "
			  "here",
		  .words = { 7, 0, 0 },
		  .nr = 3,
		  .wide = true },
		{ .feat = PEV_FEAT_CLOCK_DATA,
		  .code = -EPROTONOSUPPORT,
		  .says = "feature CLOCK_DATA: it has version 0 of this layout, only 1 is known "
			  "here",
		  .words = { 0, 0, 0 },
		  .nr = 3,
		  .wide = true },
		{ .feat = PEV_FEAT_CPU_TOPOLOGY,
		  .code = -EBADMSG,
		  .says = "feature CPU_TOPOLOGY: it lists CPUs, but NRCPUS, which says how many, "
			  "is not "
			  "there",
		  .words = { 0, 0, 5 },
		  .nr = 3,
		  .no_ground = true },
		{ .feat = PEV_FEAT_CPU_TOPOLOGY,
		  .code = -ENODATA,
		  .says = "feature CPU_TOPOLOGY: its section of 12 bytes ends too early",
		  .words = { 0, 0, 5 },
		  .nr = 3 },
		{ .feat = PEV_FEAT_BPF_PROG_INFO,
		  .code = -EPROTONOSUPPORT,
		  .says = "feature BPF_PROG_INFO: BPF programs of a machine of the other byte "
			  "order "
			  "cannot be read here",
		  .words = { 0 },
		  .nr = 1,
		  .swap = true },
		{ .feat = PEV_FEAT_BUILD_ID,
		  .code = -EBADMSG,
		  .says = "feature BUILD_ID: an entry in it is too small for a build-id and a name",
		  .words = { 0, 36 << 16, 0, 0 },
		  .nr = 20 },
		{ .feat = PEV_FEAT_BUILD_ID,
		  .code = -EBADMSG,
		  .says = "feature BUILD_ID: a build-id in it claims more than 20 bytes",
		  .words = { 0, 40 << 16 | PEV_MISC_BUILD_ID_SIZE, 0x15151515, 0x15151515 },
		  .nr = 20 },
		{ .feat = PEV_FEAT_BUILD_ID,
		  .code = -ENODATA,
		  .says = "feature BUILD_ID: its section of 16 bytes ends too early",
		  .words = { 0, 0xffff0000, 0, 0 },
		  .nr = 4 },
		{ .feat = PEV_FEAT_EVENT_DESC,
		  .code = -EBADMSG,
		  .says = "feature EVENT_DESC: event attributes take 4 bytes, but never less than "
			  "64",
		  .words = { 1, 4, 0, 0 },
		  .nr = 20 },
		{ .feat = PEV_FEAT_PMU_MAPPINGS,
		  .code = -ENODATA,
		  .says = "feature PMU_MAPPINGS: its section of 16 bytes ends too early",
		  .words = { UINT32_MAX, 0, 0, 0 },
		  .nr = 4 },
		{ .feat = PEV_FEAT_MEM_TOPOLOGY,
		  .code = -ENODATA,
		  .says = "feature MEM_TOPOLOGY: its section of 32 bytes ends too early",
		  .words = { 1, 0, UINT64_MAX, 0 },
		  .nr = 4,
		  .wide = true },
		{ .feat = PEV_FEAT_AUXTRACE,
		  .code = -ENODATA,
		  .says = "feature AUXTRACE: its section of 32 bytes ends too early",
		  .words = { 1ULL << 60, 0, 0, 0 },
		  .nr = 4,
		  .wide = true },
		{ .feat = 99,
		  .code = -EPROTONOSUPPORT,
		  .says = "feature 99 is not known here",
		  .words = { 0 },
		  .nr = 1 },
		{ .feat = PEV_FEAT_RESERVED,
		  .code = -EPROTONOSUPPORT,
		  .says = "feature 0 is not known here",
		  .words = { 0 },
		  .nr = 1 },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(damages); i++) {
		const struct damage *const d = &damages[i];
		_cleanup_features_ struct pev_features f = { 0 };
		_cleanup_buf_ struct pev_buf section = { 0 };
		struct pev_err err = PEV_ERR_INIT;

		if (!d->no_ground)
			make_ground(&f);
		for (uint32_t k = 0; k < d->nr; k++) {
			const uint64_t word = d->words[PEV_MIN(k, 3)];

			if (d->wide)
				pev_buf_u64(&section, word);
			else
				pev_buf_u32(&section, (uint32_t)word);
		}
		assert_int_equal(
			decode_exactly(&f, d->feat, section.data, section.size, d->swap, &err),
			d->code);
		assert_string_equal(err.msg, d->says);
		assert_int_equal(err.code, d->code);
		/* And without anybody to tell. */
		assert_int_equal(
			pev_feature_decode(&f, d->feat, section.data, section.size, d->swap, NULL),
			d->code);
	}
}

/* What follows a whole section is of a version to come. */
static void test_bytes_behind(void **state)
{
	const uint32_t words[] = { 4, 2, 77 };
	struct pev_features f = { 0 };

	(void)state;
	assert_int_equal(pev_feature_decode(&f, PEV_FEAT_NRCPUS, words, sizeof(words), false, NULL),
			 0);
	assert_int_equal(f.nrcpus.avail, 4);
	assert_int_equal(f.nrcpus.online, 2);
}

static void test_encode_refuses(void **state)
{
	static const struct pev_feat_cpu cpus[2];
	_cleanup_free_ char *name = malloc(70000);
	_cleanup_buf_ struct pev_buf buf = { 0 };
	struct pev_feat_build_id id = { .misc = PEV_MISC_USER, .name = name };
	struct pev_features f = { .cpu_topology = { .cpus = cpus, .nr_cpus = 2 } };

	(void)state;
	pev_buf_u8(&buf, 1);
	assert_int_equal(pev_feature_encode(&f, PEV_FEAT_HOSTNAME, &buf), -ENOENT);
	assert_int_equal(pev_feature_encode(&f, 99, &buf), -ENOENT);
	f.has = UINT64_MAX;
	assert_int_equal(pev_feature_encode(&f, PEV_FEAT_RESERVED, &buf), -ENOENT);
	assert_int_equal(pev_feature_encode(&f, PEV_FEAT_MAX, &buf), -ENOENT);

	f.nrcpus.avail = 3;
	assert_int_equal(pev_feature_encode(&f, PEV_FEAT_CPU_TOPOLOGY, &buf), -EINVAL);
	f.nrcpus.avail = 2;
	f.has = 1ULL << PEV_FEAT_CPU_TOPOLOGY;
	assert_int_equal(pev_feature_encode(&f, PEV_FEAT_CPU_TOPOLOGY, &buf), -EINVAL);
	f.cpu_topology.cpus = NULL;
	f.cpu_topology.has_dies = true;
	assert_int_equal(pev_feature_encode(&f, PEV_FEAT_CPU_TOPOLOGY, &buf), -EINVAL);

	assert_non_null(name);
	memset(name, 'x', 69999);
	name[69999] = '\0';
	f.build_ids.v = &id;
	f.build_ids.nr = 1;
	pev_features_set(&f, PEV_FEAT_BUILD_ID);
	assert_int_equal(pev_feature_encode(&f, PEV_FEAT_BUILD_ID, &buf), -E2BIG);
	/* The longest that fits: 64 bytes less than the u16 of the size, in steps of 64. */
	name[65535 - 36 - 63 - 1] = '\0';
	assert_int_equal(buf.size, 1);
	assert_int_equal(pev_feature_encode(&f, PEV_FEAT_BUILD_ID, &buf), 0);

	buf.failed = -ENOMEM;
	assert_int_equal(pev_feature_encode(&f, PEV_FEAT_BUILD_ID, &buf), -ENOMEM);
}

/* EVENT_DESC of events that know their own sizes. */
static void test_attr_size_of_events(void **state)
{
	const uint64_t ids[] = { 5, 6 };
	const struct pev_feat_event events[] = {
		{ .attr.size = PEV_ATTR_SIZE_VER7, .name = "a", .ids = ids, .nr_ids = 2 },
		{ .attr.size = PEV_ATTR_SIZE_VER9, .attr.config4 = 9, .name = "b" },
	};
	struct pev_features f = { .event_desc = { .events = events, .nr = 2 } };
	_cleanup_features_ struct pev_features g = { 0 };
	_cleanup_buf_ struct pev_buf buf = { 0 };

	(void)state;
	pev_features_set(&f, PEV_FEAT_EVENT_DESC);
	assert_int_equal(pev_feature_encode(&f, PEV_FEAT_EVENT_DESC, &buf), 0);
	assert_int_equal(
		pev_feature_decode(&g, PEV_FEAT_EVENT_DESC, buf.data, buf.size, false, NULL), 0);
	assert_int_equal(g.event_desc.attr_size, PEV_ATTR_SIZE_VER9);
	assert_int_equal(g.event_desc.events[0].attr.size, PEV_ATTR_SIZE_VER7);
	assert_int_equal(g.event_desc.events[1].attr.config4, 9);
	assert_int_equal(g.event_desc.events[0].ids[1], 6);
	assert_string_equal(g.event_desc.events[1].name, "b");
}

static void test_groups_that_do_not_fit(void **state)
{
	static const struct pev_feat_group groups[] = {
		{ "a", 0, 1 }, { "b", 3, 2 }, { "c", 2, 2 }, { "d", 0, UINT32_MAX }, { "e", 0, 3 },
	};
	_cleanup_features_ struct pev_features f = { 0 };
	_cleanup_free_ char *text = NULL;

	(void)state;
	make_ground(&f);
	f.groups.v = groups;
	f.groups.nr = PEV_ARRAY_SIZE(groups);
	text = print_one(&f, PEV_FEAT_GROUP_DESC);
	assert_string_equal(text, "# group: e{sched:sched_switch,dummy:HG,cpu-clock}\n");
}

static void test_missing_features(void **state)
{
	struct pev_features f = { .hostname = "h", .arch = "a" };
	struct pev_features_print how = { .nr_known = 12 };
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	pev_features_set(&f, PEV_FEAT_HOSTNAME);
	pev_features_set(&f, PEV_FEAT_CPU_TOPOLOGY);
	pev_features_set(&f, PEV_FEAT_CACHE);
	pev_features_print(&f, &how, out);
	how.nr_known = 0;
	pev_features_print(&f, &how, out);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(
		text,
		"# hostname : h\n"
		"# missing features: TRACING_DATA BUILD_ID OSRELEASE VERSION ARCH NRCPUS CPUDESC "
		"CPUID TOTAL_MEM CMDLINE \n"
		"# hostname : h\n"
		"# CPU_TOPOLOGY info available, use -I to display\n"
		"# CACHE info available, use -I to display\n"
		"# missing features: TRACING_DATA BUILD_ID OSRELEASE VERSION ARCH NRCPUS CPUDESC "
		"CPUID TOTAL_MEM CMDLINE EVENT_DESC NUMA_TOPOLOGY BRANCH_STACK PMU_MAPPINGS "
		"GROUP_DESC AUXTRACE STAT SAMPLE_TIME MEM_TOPOLOGY CLOCKID DIR_FORMAT "
		"BPF_PROG_INFO BPF_BTF COMPRESSED CPU_PMU_CAPS CLOCK_DATA HYBRID_TOPOLOGY "
		"PMU_CAPS CPU_DOMAIN_INFO E_MACHINE CLN_SIZE \n");
}

/* A copy that gives up ownership borrows, and may have fields of its own. */
static void test_borrowed_copy(void **state)
{
	_cleanup_features_ struct pev_features f = { 0 };
	struct pev_features copy;

	(void)state;
	f.hostname = pev_features_str(&f, "first host", 5);
	pev_features_set(&f, PEV_FEAT_HOSTNAME);
	copy = f;
	copy.owned = NULL;
	copy.version = pev_features_str(&copy, "2", 1);
	assert_string_equal(copy.hostname, "first");
	pev_features_done(&copy);
	assert_null(copy.hostname);
	assert_string_equal(f.hostname, "first");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_every_prefix),
		cmocka_unit_test(test_every_bit_flip),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_bytes_behind),
		cmocka_unit_test(test_encode_refuses),
		cmocka_unit_test(test_attr_size_of_events),
		cmocka_unit_test(test_groups_that_do_not_fit),
		cmocka_unit_test(test_missing_features),
		cmocka_unit_test(test_borrowed_copy),
	};

	/* The reference time is printed as the local one. */
	(void)setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
