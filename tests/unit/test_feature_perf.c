// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The feature layer and the facts about the host, judged by perf: records with the perf of this
 * machine, then
 *
 *	reads every section, writes it again and compares the bytes;
 *	prints the features and compares with `perf report --header-only`, with -I and without;
 *	prints the attributes and compares with `perf evlist -v`;
 *	gathers the host and compares with what perf wrote about it.
 *
 * With file names as arguments does the first three for these files, of whichever perf: for a look
 * by hand.
 */
#include "tests/unit/test.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "format/feature.h"
#include "recorder/host.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FILE (64 << 20)

static char dir[] = "/tmp/pevrec-feature-XXXXXX";
static unsigned int perf_major, perf_minor;

/* Newer than the one that this was written after, that of Debian 12. */
static bool perf_is_newer(void)
{
	return perf_major > 6 || (perf_major == 6 && perf_minor > 1);
}

/* The whole output of a shell command; "" when it fails. */
static char *output_of(const char *command)
{
	FILE *const in = popen(command, "re");
	struct pev_buf buf = { 0 };

	assert_non_null(in);
	assert_int_equal(pev_read_fd(fileno(in), MAX_FILE, &buf), 0);
	if (pclose(in) != 0)
		pev_buf_reset(&buf);
	pev_buf_u8(&buf, 0);
	assert_int_equal(pev_buf_status(&buf), 0);
	return (char *)buf.data;
}

static char *perf(const char *options, const char *file)
{
	char command[1024];

	(void)snprintf(command, sizeof(command), "perf %s %s </dev/null 2>/dev/null", options,
		       file);
	return output_of(command);
}

/* Reads the sections of a perf.data file of this byte order, each one back and forth. */
static void read_features(const char *path, struct pev_features *f)
{
	_cleanup_buf_ struct pev_buf file = { 0 };
	struct pev_file_header hdr = { 0 };
	struct pev_file_section section;
	size_t at;

	assert_int_equal(pev_read_path(path, MAX_FILE, &file), 0);
	assert_true(file.size >= sizeof(hdr));
	memcpy(&hdr, file.data, sizeof(hdr));
	assert_true(hdr.magic == PEV_MAGIC || hdr.magic == PEV_MAGIC_V1);
	at = hdr.data.offset + hdr.data.size;
	for (unsigned int feat = 0; feat < 256; feat++) {
		_cleanup_buf_ struct pev_buf again = { 0 };
		struct pev_err err = PEV_ERR_INIT;

		if (!(hdr.features[feat / 64] >> feat % 64 & 1))
			continue;
		assert_true(at + sizeof(section) <= file.size);
		memcpy(&section, file.data + at, sizeof(section));
		at += sizeof(section);
		assert_true(section.offset <= file.size &&
			    section.size <= file.size - section.offset);
		if (pev_feature_decode(f, feat, file.data + section.offset, section.size, false,
				       &err) < 0)
			fail_msg("%s: %s", path, err.msg);
		assert_int_equal(pev_feature_encode(f, feat, &again), 0);
		/* Since 6.12 perf pads the names in BUILD_ID to 8 bytes instead of 64. */
		if (feat == PEV_FEAT_BUILD_ID && again.size > section.size)
			continue;
		if (again.size != section.size ||
		    memcmp(again.data, file.data + section.offset, again.size) != 0)
			fail_msg("%s: %s is %zu bytes in the file and %zu when written again", path,
				 pev_feat_name(feat), (size_t)section.size, again.size);
	}
}

static char *printed(const struct pev_features *f, bool full)
{
	const struct pev_features_print how = {
		.full = full,
		.nr_known = PEV_FEAT_CPU_DOMAIN_INFO,
	};
	char *text = NULL;
	size_t size = 0;
	FILE *const out = open_memstream(&text, &size);

	assert_non_null(out);
	pev_features_print(f, &how, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* What perf says between the facts about the file and its closing line. */
static void check_print(const char *path, const struct pev_features *f, bool full)
{
	_cleanup_free_ char *said = perf(full ? "report --header-only --stdio -I -i"
					      : "report --header-only --stdio -i",
					 path);
	_cleanup_free_ char *ours = printed(f, full);
	char *const facts = strstr(said, "# feat offset");
	char *const start = facts ? strchr(facts, '\n') : NULL;
	char *const end = start ? strstr(start, "\n# ========") : NULL;

	if (!end)
		fail_msg("%s: perf report --header-only says nothing", path);
	end[1] = '\0';
	assert_string_equal(ours, start + 1);
}

static void check_attrs(const char *path, const struct pev_features *f)
{
	_cleanup_free_ char *said = perf("evlist -v -i", path);
	char *text = NULL, *tip = strstr(said, "# Tip:");
	size_t size = 0;
	FILE *const out = open_memstream(&text, &size);

	assert_non_null(out);
	for (uint32_t i = 0; i < f->event_desc.nr; i++) {
		fprintf(out, "%s: ", f->event_desc.events[i].name);
		pev_attr_print(&f->event_desc.events[i].attr, ": ", out);
		fputc('\n', out);
	}
	assert_int_equal(fclose(out), 0);
	if (tip)
		*tip = '\0';
	assert_string_equal(text, said);
	free(text);
}

static void check_file(const char *path, struct pev_features *f)
{
	read_features(path, f);
	/* Later ones add names to the numbers, which depend on the machine they run on. */
	if (perf_is_newer())
		return;
	check_print(path, f, true);
	check_print(path, f, false);
	if (pev_features_has(f, PEV_FEAT_EVENT_DESC))
		check_attrs(path, f);
}

/*
 * Each a recording that has features the others have not. Those without -B may fail: while anybody
 * on the machine records with attr.build_id, kernels mark the MMAP2 records of everybody else as if
 * they had a build-id too (seen with 6.18), and perf up to 6.12 aborts when it reads them.
 */
static const char *const recordings[] = {
	"-B -e cpu-clock -- true",
	"-B --call-graph dwarf,1024 -k CLOCK_BOOTTIME -e cpu-clock:k -F 99 -- true",
	"-B -e '{cpu-clock,page-faults},{context-switches,minor-faults}' -g -- true",
	"-a -z -k CLOCK_MONOTONIC -e cpu-clock:u -e dummy -c 1000003 -- true",
	"-T -d --switch-events --namespaces --all-cgroups --phys-data -e page-faults -- true",
	"-a --timestamp-boundary -e sched:sched_switch -e cpu-clock -- sh -c 'true \"it'\\''s\"'",
};

static void record(const char *options, char ret_path[64])
{
	static unsigned int nr;
	char command[512];

	(void)snprintf(ret_path, 64, "%s/%u.data", dir, nr++);
	(void)snprintf(command, sizeof(command), "perf record -N -o %s %s >/dev/null 2>&1",
		       ret_path, options);
	if (system(command) != 0)
		ret_path[0] = '\0';
}

static void test_recordings(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(recordings) / sizeof(recordings[0]); i++) {
		_cleanup_features_ struct pev_features f = { 0 };
		char path[64];

		record(recordings[i], path);
		if (path[0])
			check_file(path, &f);
		else
			print_message("perf record %s: fails here\n", recordings[i]);
	}
}

/* What perf writes about this machine and what we gather must be the same bytes. */
static void test_host(void **state)
{
	static const enum pev_feat host[] = {
		PEV_FEAT_HOSTNAME,     PEV_FEAT_OSRELEASE,    PEV_FEAT_ARCH,
		PEV_FEAT_NRCPUS,       PEV_FEAT_CPUDESC,      PEV_FEAT_CPUID,
		PEV_FEAT_TOTAL_MEM,    PEV_FEAT_CPU_TOPOLOGY, PEV_FEAT_NUMA_TOPOLOGY,
		PEV_FEAT_PMU_MAPPINGS, PEV_FEAT_CACHE,        PEV_FEAT_MEM_TOPOLOGY,
		PEV_FEAT_CPU_PMU_CAPS, PEV_FEAT_PMU_CAPS,     PEV_FEAT_HYBRID_TOPOLOGY,
	};
	_cleanup_features_ struct pev_features theirs = { 0 }, ours = { 0 };
	struct pev_feat_numa_node nodes[64];
	char path[64];

	(void)state;
	record(recordings[0], path);
	assert_true(path[0]);
	read_features(path, &theirs);
	assert_int_equal(pev_host_gather(&ours), 0);
	/* Free memory is the one fact that moves between the two. */
	assert_int_equal(ours.numa_nodes.nr, theirs.numa_nodes.nr);
	for (uint32_t i = 0; i < ours.numa_nodes.nr && i < 64; i++) {
		nodes[i] = ours.numa_nodes.v[i];
		nodes[i].free_kb = theirs.numa_nodes.v[i].free_kb;
	}
	if (ours.numa_nodes.nr <= 64)
		ours.numa_nodes.v = nodes;
	for (size_t i = 0; i < sizeof(host) / sizeof(host[0]); i++) {
		_cleanup_buf_ struct pev_buf a = { 0 }, b = { 0 };

		/* Written another way by later ones. */
		if (perf_is_newer() &&
		    (host[i] == PEV_FEAT_PMU_MAPPINGS || host[i] == PEV_FEAT_CPU_PMU_CAPS ||
		     host[i] == PEV_FEAT_PMU_CAPS))
			continue;
		assert_int_equal(pev_features_has(&ours, host[i]),
				 pev_features_has(&theirs, host[i]));
		if (!pev_features_has(&ours, host[i]))
			continue;
		assert_int_equal(pev_feature_encode(&ours, host[i], &a), 0);
		assert_int_equal(pev_feature_encode(&theirs, host[i], &b), 0);
		if (a.size != b.size || memcmp(a.data, b.data, a.size) != 0)
			fail_msg("%s is not what perf wrote", pev_feat_name(host[i]));
	}
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command) == 0 ? 0 : -1;
}

/* For a look by hand. */
static char **files;

static void test_files(void **state)
{
	(void)state;
	for (char **path = files; *path; path++) {
		_cleanup_features_ struct pev_features f = { 0 };

		print_message("%s\n", *path);
		check_file(*path, &f);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recordings),
		cmocka_unit_test(test_host),
	};
	const struct CMUnitTest by_hand[] = { cmocka_unit_test(test_files) };
	_cleanup_free_ char *version = output_of("perf --version 2>/dev/null");

	if (sscanf(version, "perf version %u.%u", &perf_major, &perf_minor) != 2) {
		puts("skipped: there is no perf here to compare with");
		return 77;
	}
	if (argc > 1) {
		files = argv + 1;
		return cmocka_run_group_tests(by_hand, NULL, NULL);
	}
	if (system("perf record -B -o /dev/null -e cpu-clock -- true >/dev/null 2>&1") != 0) {
		puts("skipped: perf cannot record here (perf_event_paranoid, or no right to)");
		return 77;
	}
	return cmocka_run_group_tests(tests, setup, teardown);
}
