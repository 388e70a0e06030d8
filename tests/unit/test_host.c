// SPDX-License-Identifier: LGPL-2.1-or-later
/* The facts about a host, from machines that are only files. */
#include "tests/unit/test.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "recorder/host.h"
#include "tests/unit/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct file {
	const char *path;
	const char *text;
};

#define CPU  "/sys/devices/system/cpu"
#define NODE "/sys/devices/system/node"
#define PMU  "/sys/bus/event_source/devices"
#define TOPOLOGY(n, package, core, core_id)                             \
	{ CPU "/cpu" n "/topology/package_cpus_list", package "\n" },   \
		{ CPU "/cpu" n "/topology/core_cpus_list", core "\n" }, \
		{ CPU "/cpu" n "/topology/core_id", core_id "\n" },     \
	{                                                               \
		CPU "/cpu" n "/topology/physical_package_id", "0\n"     \
	}
#define CACHE(n, index, level, kind, kb, cpus)                                         \
	{ CPU "/cpu" n "/cache/index" index "/level", level "\n" },                    \
		{ CPU "/cpu" n "/cache/index" index "/coherency_line_size", "64\n" },  \
		{ CPU "/cpu" n "/cache/index" index "/number_of_sets", "64\n" },       \
		{ CPU "/cpu" n "/cache/index" index "/ways_of_associativity", "8\n" }, \
		{ CPU "/cpu" n "/cache/index" index "/type", kind "\n" },              \
		{ CPU "/cpu" n "/cache/index" index "/size", kb "\n" },                \
	{                                                                              \
		CPU "/cpu" n "/cache/index" index "/shared_cpu_list", cpus "\n"        \
	}

/* Hybrid; CPU 1 is offline, CPUs 4 to 7 could still come; node 2 has memory only. */
static const struct file machine[] = {
	{ "/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some  CPU\t@ 3 GHz  \nflags\t\t: fpu\n"
			   "model name\t: Another\n" },
	{ "/proc/meminfo", "MemFree:  5 kB\nMemTotal:       16384 kB\n" },
	{ CPU "/possible", "0-7\n" },
	{ CPU "/present", "0-3\n" },
	{ CPU "/online", "0,2-3\n" },
	TOPOLOGY("0", "0,2-3", "0", "0"),
	TOPOLOGY("2", "0,2-3", "2-3", "8"),
	TOPOLOGY("3", "0,2-3", "2-3", "8"),
	{ CPU "/cpu0/topology/die_cpus_list", "0,2-3\n" },
	{ CPU "/cpu0/topology/die_id", "0\n" },
	{ CPU "/cpu2/topology/die_cpus_list", "0,2-3\n" },
	{ CPU "/cpu3/topology/die_cpus_list", "0,2-3\n" },
	CACHE("0", "0", "1", "Data", "48K", "0"),
	CACHE("0", "1", "2", "Unified", "2048K", "0"),
	CACHE("2", "0", "1", "Data", "32K", "2-3"),
	CACHE("2", "1", "2", "Unified", "4096K", "2-3"),
	CACHE("3", "0", "1", "Data", "32K", "2-3"),
	CACHE("3", "1", "2", "Unified", "4096K", "2-3"),
	{ NODE "/online", "0,2\n" },
	{ NODE "/node0/meminfo", "Node 0 MemTotal:       12288 kB\nNode 0 MemFree:  77 kB\n" },
	{ NODE "/node0/cpulist", "0,2-3\n" },
	{ NODE "/node0/memory0/state", "online\n" },
	{ NODE "/node0/memory2/state", "online\n" },
	{ NODE "/node0/memory_failure/total", "0\n" },
	{ NODE "/node2/meminfo", "Node 2 MemTotal:        4096 kB\nNode 2 MemFree: 4000 kB\n" },
	{ NODE "/node2/cpulist", "\n" },
	{ NODE "/node2/memory65/state", "online\n" },
	{ "/sys/devices/system/memory/block_size_bytes", "8000000\n" },
	{ PMU "/cpu_core/type", "4\n" },
	{ PMU "/cpu_core/cpus", "0\n" },
	{ PMU "/cpu_core/caps/branches", "32\n" },
	{ PMU "/cpu_atom/type", "10\n" },
	{ PMU "/cpu_atom/cpus", "\n" },
	{ PMU "/ibs_op/type", "4294967295\n" },
	{ PMU "/ibs_op/caps/zen4_ibs_extensions", "1\n" },
	{ PMU "/broken/type", "soon\n" },
};

static const char machine_says[] = "# nrcpus online : 3\n"
				   "# nrcpus avail : 4\n"
				   "# cpudesc : Some CPU @ 3 GHz \n"
				   "# total memory : 16384 kB\n"
				   "# sibling sockets : 0,2-3\n"
#if defined(__x86_64__)
				   "# sibling dies    : 0,2-3\n"
#endif
				   "# sibling threads : 0\n"
				   "# sibling threads : 2-3\n"
#if defined(__x86_64__)
				   "# CPU 0: Core ID 0, Die ID 0, Socket ID 0\n"
				   "# CPU 1: Core ID -1, Die ID -1, Socket ID -1\n"
				   "# CPU 2: Core ID 8, Die ID -1, Socket ID 0\n"
				   "# CPU 3: Core ID 8, Die ID -1, Socket ID 0\n"
#else
				   "# CPU 0: Core ID 0, Socket ID 0\n"
				   "# CPU 1: Core ID -1, Socket ID -1\n"
				   "# CPU 2: Core ID 8, Socket ID 0\n"
				   "# CPU 3: Core ID 8, Socket ID 0\n"
#endif
				   "# node0 meminfo  : total = 12288 kB, free = 77 kB\n"
				   "# node0 cpu list : 0,2-3\n"
				   "# node2 meminfo  : total = 4096 kB, free = 4000 kB\n"
				   "# node2 cpu list : -1\n"
				   "# CPU cache info:\n"
				   "#  L1 Data                 48K [0]\n"
				   "#  L1 Data                 32K [2-3]\n"
				   "#  L2 Unified            2048K [0]\n"
				   "#  L2 Unified            4096K [2-3]\n"
				   "# memory nodes (nr 2, block size 0x8000000):\n"
				   "#    0 [256M]: 0,2\n"
				   "#    2 [128M]: 65\n"
				   "# hybrid cpu system:\n"
				   "# cpu_core cpu list : 0\n"
				   "# cpu_core pmu capabilities: branches=32\n"
				   "# ibs_op pmu capabilities: zen4_ibs_extensions=1\n";

/* Not hybrid, an old kernel, no NUMA, no caches, no memory blocks, nothing in /proc. */
static const struct file old_machine[] = {
	{ CPU "/possible", "0\n" },
	{ CPU "/present", "0\n" },
	{ CPU "/online", "0\n" },
	{ CPU "/cpu0/topology/core_siblings_list", "0\n" },
	{ CPU "/cpu0/topology/thread_siblings_list", "0\n" },
	{ PMU "/cpu/type", "4\n" },
	{ PMU "/cpu/caps/max_precise", "3\n" },
};

static const char old_machine_says[] = "# nrcpus online : 1\n"
				       "# nrcpus avail : 1\n"
				       "# sibling sockets : 0\n"
				       "# sibling threads : 0\n"
				       "# CPU 0: Core ID -1, Socket ID -1\n"
				       "# pmu mappings: cpu = 4\n"
				       "# CPU cache info:\n"
				       "# cpu pmu capabilities: max_precise=3\n";

static char root[] = "/tmp/pevrec-host-XXXXXX";

static void write_file(const struct file *file)
{
	_cleanup_close_ int fd = -1;
	char path[512];

	(void)snprintf(path, sizeof(path), "%s%s", root, file->path);
	for (char *slash = path + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(pev_write_all(fd, file->text, strlen(file->text)), 0);
}

static void remove_machine(void)
{
	char command[64];

	(void)snprintf(command, sizeof(command), "rm -rf %s/*", root);
	assert_int_equal(system(command), 0);
}

static void make_machine(const struct file *files, size_t nr)
{
	remove_machine();
	for (size_t i = 0; i < nr; i++)
		write_file(&files[i]);
}

/* Without what uname(2) and the CPUID instruction tell. */
static char *print_machine(struct pev_features *f)
{
	const struct pev_features_print how = { .full = true, .pipe = true };
	const uint64_t not_of_files = 1ULL << PEV_FEAT_HOSTNAME | 1ULL << PEV_FEAT_OSRELEASE |
				      1ULL << PEV_FEAT_VERSION | 1ULL << PEV_FEAT_ARCH |
				      1ULL << PEV_FEAT_CPUID;
	char *text = NULL;
	size_t size;
	FILE *const out = open_memstream(&text, &size);

	assert_non_null(out);
	f->has &= ~not_of_files;
	pev_features_print(f, &how, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void test_machine(void **state)
{
	_cleanup_features_ struct pev_features f = { 0 };
	_cleanup_free_ char *text = NULL;
	uint64_t types = 0;

	(void)state;
	make_machine(machine, PEV_ARRAY_SIZE(machine));
	assert_int_equal(pev_host_gather_from(root, &f), 0);
	assert_string_equal(f.version, "pevrec " PEVREC_VERSION);
	assert_true(pev_features_has(&f, PEV_FEAT_HOSTNAME));
	/* In the order of the directory, which is the file system's. */
	assert_int_equal(f.pmu_mappings.nr, 2);
	for (uint32_t i = 0; i < f.pmu_mappings.nr; i++)
		types += f.pmu_mappings.v[i].type;
	assert_int_equal(types, 4 + 4294967295);
	f.has &= ~(1ULL << PEV_FEAT_PMU_MAPPINGS);
	assert_false(pev_features_has(&f, PEV_FEAT_CPU_PMU_CAPS));
	text = print_machine(&f);
	assert_string_equal(text, machine_says);
}

static void test_old_machine(void **state)
{
	_cleanup_features_ struct pev_features f = { 0 };
	_cleanup_free_ char *text = NULL;

	(void)state;
	make_machine(old_machine, PEV_ARRAY_SIZE(old_machine));
	assert_int_equal(pev_host_gather_from(root, &f), 0);
	text = print_machine(&f);
	assert_string_equal(text, old_machine_says);
}

static void test_nothing(void **state)
{
	_cleanup_features_ struct pev_features f = { 0 };
	_cleanup_free_ char *text = NULL;

	(void)state;
	remove_machine();
	assert_int_equal(pev_host_gather_from(root, &f), 0);
	text = print_machine(&f);
	assert_string_equal(text, "");
}

/* A file that is missing takes its feature along, and no other one. */
static void test_half_a_cache(void **state)
{
	_cleanup_features_ struct pev_features f = { 0 };
	char path[256];

	(void)state;
	make_machine(machine, PEV_ARRAY_SIZE(machine));
	(void)snprintf(path, sizeof(path), "%s" CPU "/cpu2/cache/index1/size", root);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(pev_host_gather_from(root, &f), 0);
	assert_false(pev_features_has(&f, PEV_FEAT_CACHE));
	assert_true(pev_features_has(&f, PEV_FEAT_CPU_TOPOLOGY));
	assert_true(pev_features_has(&f, PEV_FEAT_MEM_TOPOLOGY));
}

static void test_lists_that_are_none(void **state)
{
	static const char *const lists[] = { "\n", "no\n", "3-1\n", "70000\n", "1-\n" };

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(lists); i++) {
		const struct file file = { CPU "/present", lists[i] };
		_cleanup_features_ struct pev_features f = { 0 };

		make_machine(machine, PEV_ARRAY_SIZE(machine));
		write_file(&file);
		assert_int_equal(pev_host_gather_from(root, &f), 0);
		assert_false(pev_features_has(&f, PEV_FEAT_NRCPUS));
		assert_false(pev_features_has(&f, PEV_FEAT_CPU_TOPOLOGY));
	}
}

static void test_no_memory(void **state)
{
	bool failed = true;

	(void)state;
	make_machine(machine, PEV_ARRAY_SIZE(machine));
	for (unsigned int nth = 1; failed; nth++) {
		_cleanup_features_ struct pev_features f = { 0 };
		int r;

		alloc_fail_at(nth);
		r = pev_host_gather_from(root, &f);
		failed = alloc_fail_end();
		/* Only what runs inside libc may be taken for a fact that is not there. */
		assert_true(r == 0 || (r == -ENOMEM && failed));
	}
}

/* The machine at hand has at least a name, a CPU and some memory. */
static void test_here(void **state)
{
	_cleanup_features_ struct pev_features f = { 0 };

	(void)state;
	assert_int_equal(pev_host_gather(&f), 0);
	assert_true(f.hostname && f.osrelease[0] && f.arch[0]);
	assert_true(f.nrcpus.online >= 1 && f.nrcpus.online <= f.nrcpus.avail);
	assert_true(f.total_mem_kb > 1000);
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	remove_machine();
	return rmdir(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machine),
		cmocka_unit_test(test_old_machine),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_half_a_cache),
		cmocka_unit_test(test_lists_that_are_none),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_here),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
