// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The kernel as the oracle of the record layer: what it writes into a ring must decode with nothing
 * left over, and encode to the very same bytes. Skipped where perf events may not be opened.
 */
#include "test.h"

#include "base/cleanup.h"
#include "format/record.h"
#include "kernel_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* General registers of a 64-bit task: uapi asm/perf_regs.h. */
#if defined(__x86_64__)
#define ALL_REGS 0xff0fffULL /* DS, ES, FS and GS are not to be had */
#elif defined(__aarch64__)
#define ALL_REGS ((1ULL << 33) - 1)
#else
#define ALL_REGS 1ULL
#endif

/* Software events have no branch stack and no AUX area; of the two weights only one may be asked.
 */
#define SAMPLE_BITS \
	(PEV_SAMPLE_ALL & ~(PEV_SAMPLE_BRANCH_STACK | PEV_SAMPLE_AUX | PEV_SAMPLE_WEIGHT))

/* What came out of a ring, by type. */
struct seen {
	const struct pev_attr *attr;
	bool self; /* all of it is about this thread */
	unsigned int types[PEV_REC_KERNEL_MAX];
};

/* What a sample of this thread says must be so. */
static void check_own_sample(const struct pev_attr *attr, const struct pev_record *rec)
{
	const struct pev_sample *const s = &rec->sample;
	const uint64_t type = attr->sample_type;

	if (type & PEV_SAMPLE_TID)
		assert_true(rec->id.pid == (uint32_t)getpid() && rec->id.tid == rec->id.pid);
	if (type & PEV_SAMPLE_CPU)
		assert_true(rec->id.cpu < sysconf(_SC_NPROCESSORS_CONF) && !rec->id.cpu_res);
	if (type & PEV_SAMPLE_PERIOD)
		assert_true(s->period == attr->sample_period);
	if (type & PEV_SAMPLE_CALLCHAIN && type & PEV_SAMPLE_IP)
		assert_true(pev_u64s_at(&s->callchain, 1) == s->ip);
	if (type & PEV_SAMPLE_REGS_USER)
		assert_true(s->regs_user.abi == PEV_REGS_ABI_64);
	if (type & PEV_SAMPLE_STACK_USER)
		assert_true(s->stack_user.data.size == attr->sample_stack_user);
	if (type & PEV_SAMPLE_CODE_PAGE_SIZE)
		assert_true(s->code_page_size == 0 || pev_is_pow2(s->code_page_size));
	if (type & PEV_SAMPLE_DATA_PAGE_SIZE)
		assert_true(s->data_page_size == 0 || pev_is_pow2(s->data_page_size));
	if (type & PEV_SAMPLE_READ)
		assert_true(s->read.nr == 1);
}

static void check_record(const uint8_t *bytes, size_t size, void *userdata)
{
	_cleanup_buf_ struct pev_buf again = { 0 };
	struct seen *const seen = userdata;
	struct pev_err err = PEV_ERR_INIT;
	struct pev_record rec;
	size_t filled;

	if (pev_record_decode(seen->attr, bytes, size, false, &rec, &err) < 0)
		fail_msg("sample_type %#llx: %s", (unsigned long long)seen->attr->sample_type,
			 err.msg);
	/* With another profiler on this machine some records end in what nobody filled. */
	filled = size - (pev_rec_may_be_oversized(rec.hdr.type) ? rec.rest : 0);
	if (rec.rest != size - filled)
		fail_msg("sample_type %#llx: record %s of %zu bytes leaves %zu over",
			 (unsigned long long)seen->attr->sample_type,
			 pev_rec_type_name(rec.hdr.type), size, rec.rest);
	seen->types[rec.hdr.type]++;
	if (seen->self && rec.hdr.type == PEV_REC_SAMPLE)
		check_own_sample(seen->attr, &rec);
	assert_int_equal(pev_record_encode(seen->attr, &rec, &again), 0);
	assert_int_equal(again.size, filled);
	/* What the header says of size and build-id may be another profiler's; see format/record.c.
	 */
	rec.hdr.size = (uint16_t)filled;
	assert_memory_equal(again.data, &rec.hdr, sizeof(rec.hdr));
	assert_memory_equal(again.data + 8, bytes + 8, filled - 8);
}

/* Burns CPU until @bytes wait in the ring; the clock only ends what would never end. */
static void burn_until(const struct kernel_ring *ring, uint64_t bytes)
{
	struct timespec cpu_time;

	do {
		for (volatile int i = 0; i < 100000; i++)
			;
		(void)getppid();
		(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu_time);
	} while (kernel_ring_waiting(ring) < bytes && cpu_time.tv_sec < 60);
}

static void check_samples(uint64_t sample_type, uint64_t random)
{
	const struct pev_attr attr = {
		.type = PEV_TYPE_SOFTWARE,
		.config = PEV_SW_CPU_CLOCK,
		.sample_period = 50000, /* ns */
		.sample_type = sample_type,
		.read_format = test_random(&random) & PEV_FORMAT_ALL,
		.flags = test_random(&random) & PEV_ATTR_SAMPLE_ID_ALL,
		.sample_regs_user = sample_type & PEV_SAMPLE_REGS_USER ? ALL_REGS : 0,
		.sample_regs_intr = sample_type & PEV_SAMPLE_REGS_INTR ? ALL_REGS & 0x155 : 0,
		.sample_stack_user = sample_type & PEV_SAMPLE_STACK_USER ? 512 : 0,
	};
	struct seen seen = { .attr = &attr, .self = true };
	struct kernel_ring ring;

	if (kernel_ring_open(&attr, 0, -1, 4, &ring) < 0)
		fail_msg("sample_type %#llx: %s", (unsigned long long)sample_type, strerror(errno));
	kernel_ring_enable(&ring);
	burn_until(&ring, 10 * 256);
	kernel_ring_disable(&ring);
	kernel_ring_drain(&ring, check_record, &seen);
	assert_true(seen.types[PEV_REC_SAMPLE] > 0);
	kernel_ring_close(&ring);
}

static void test_samples(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (uint64_t bit = 1; bit <= PEV_SAMPLE_WEIGHT_STRUCT; bit <<= 1)
		if (bit & SAMPLE_BITS)
			check_samples(bit, bit);
	check_samples(SAMPLE_BITS, 1);
	check_samples((SAMPLE_BITS & ~PEV_SAMPLE_WEIGHT_STRUCT) | PEV_SAMPLE_WEIGHT, 2);
	for (int i = 0; i < 60; i++)
		check_samples(test_random(&random) & SAMPLE_BITS, random);
}

/* A socket filter that returns 0: loading and freeing it makes KSYMBOL and BPF_EVENT records. */
static void load_bpf(void)
{
	const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (uintptr_t)program,
		.insn_cnt = PEV_ARRAY_SIZE(program),
		.license = (uintptr_t) "GPL",
		.prog_name = "pevrec_test",
	};
	const int fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));

	if (fd >= 0)
		(void)close(fd);
}

static void map_own_code(void)
{
	_cleanup_close_ int exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *const p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, exe, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	(void)munmap(p, 4096);
}

/* Does what side-band records tell of. */
static void live(void)
{
	pid_t pid;

	map_own_code();
	assert_int_equal(prctl(PR_SET_NAME, "a long name"), 0);
	load_bpf();
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)sched_yield();
		(void)execl("/bin/true", "true", NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Opens one ring per CPU of this process (an inherited event has no other), lives, and looks. */
static void check_sideband(const struct pev_attr *attr, unsigned int *ret_types)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	_cleanup_free_ struct kernel_ring *rings = calloc((size_t)cpus, sizeof(*rings));
	struct seen seen = { .attr = attr };

	for (int cpu = 0; cpu < cpus; cpu++) {
		const int r = kernel_ring_open(attr, 0, cpu, 6, &rings[cpu]);

		rings[cpu].fd = r < 0 ? -1 : rings[cpu].fd;
		assert_true(r == 0 || r == -ENODEV);
	}
	for (int cpu = 0; cpu < cpus; cpu++)
		if (rings[cpu].fd >= 0)
			kernel_ring_enable(&rings[cpu]);
	live();
	for (int cpu = 0; cpu < cpus; cpu++) {
		if (rings[cpu].fd < 0)
			continue;
		kernel_ring_disable(&rings[cpu]);
		kernel_ring_drain(&rings[cpu], check_record, &seen);
		kernel_ring_close(&rings[cpu]);
	}
	for (size_t i = 0; i < PEV_ARRAY_SIZE(seen.types); i++)
		ret_types[i] += seen.types[i];
}

static void test_sideband(void **state)
{
	const uint64_t flags = PEV_ATTR_COMM | PEV_ATTR_COMM_EXEC | PEV_ATTR_TASK | PEV_ATTR_MMAP |
			       PEV_ATTR_MMAP_DATA | PEV_ATTR_CONTEXT_SWITCH | PEV_ATTR_NAMESPACES |
			       PEV_ATTR_KSYMBOL | PEV_ATTR_BPF_EVENT | PEV_ATTR_CGROUP |
			       PEV_ATTR_TEXT_POKE | PEV_ATTR_INHERIT | PEV_ATTR_INHERIT_STAT |
			       PEV_ATTR_EXCLUDE_IDLE;
	unsigned int types[PEV_REC_KERNEL_MAX] = { 0 };
	uint64_t random = 1;

	(void)state;
	for (int i = 0; i < 40; i++) {
		const uint64_t id_bits = test_random(&random) & PEV_SAMPLE_ID_BITS;
		const struct pev_attr attr = {
			.type = PEV_TYPE_SOFTWARE,
			.config = PEV_SW_CPU_CLOCK,
			.sample_period = 1000000,
			.sample_type = PEV_SAMPLE_IP | id_bits,
			.read_format = test_random(&random) & PEV_FORMAT_ALL & ~PEV_FORMAT_GROUP,
			.flags = flags | (i & 1 ? PEV_ATTR_SAMPLE_ID_ALL : 0) |
				 (i & 2 ? PEV_ATTR_MMAP2 : 0) | (i & 4 ? PEV_ATTR_BUILD_ID : 0),
		};

		check_sideband(&attr, types);
	}
	assert_true(types[PEV_REC_MMAP] > 0);
	assert_true(types[PEV_REC_MMAP2] > 0);
	assert_true(types[PEV_REC_COMM] > 0);
	assert_true(types[PEV_REC_FORK] > 0);
	assert_true(types[PEV_REC_EXIT] > 0);
	assert_true(types[PEV_REC_SWITCH] > 0);
	for (uint32_t type = 0; type < PEV_REC_KERNEL_MAX; type++)
		if (types[type])
			print_message("%u %s\n", types[type], pev_rec_type_name(type));
}

/* A ring that overflows tells how much it lost with the first record that fits again. */
static void test_lost(void **state)
{
	const struct pev_attr attr = {
		.type = PEV_TYPE_SOFTWARE,
		.config = PEV_SW_CPU_CLOCK,
		.sample_period = 20000,
		.sample_type = PEV_SAMPLE_ID_BITS | PEV_SAMPLE_STACK_USER,
		.sample_stack_user = 1024,
		.flags = PEV_ATTR_SAMPLE_ID_ALL,
	};
	struct seen seen = { .attr = &attr };
	struct timespec cpu_time;
	struct kernel_ring ring;

	(void)state;
	assert_int_equal(kernel_ring_open(&attr, 0, -1, 0, &ring), 0);
	kernel_ring_enable(&ring);
	do {
		burn_until(&ring, 2500);
		for (volatile int i = 0; i < 3000000; i++)
			;
		kernel_ring_drain(&ring, check_record, &seen);
		(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu_time);
	} while (!seen.types[PEV_REC_LOST] && cpu_time.tv_sec < 60);
	kernel_ring_close(&ring);
	assert_true(seen.types[PEV_REC_LOST] > 0);
}

struct neighbour {
	struct pev_attr attr;
	struct kernel_ring ring;
	uint64_t id;
	unsigned int ksymbols, bpf_events, grown;
};

static void check_neighbour(const uint8_t *bytes, size_t size, void *userdata)
{
	struct neighbour *const n = userdata;
	struct pev_record rec;

	assert_int_equal(pev_record_decode(&n->attr, bytes, size, false, &rec, NULL), 0);
	assert_true(rec.id.id == n->id);
	if (n->attr.sample_type & PEV_SAMPLE_TID)
		assert_true(rec.id.pid == (uint32_t)getpid());
	n->ksymbols += rec.hdr.type == PEV_REC_KSYMBOL;
	n->bpf_events += rec.hdr.type == PEV_REC_BPF_EVENT;
	n->grown += rec.rest > 0;
}

/* Two that ask for the same: in a kernel that grows the header from one to the next, each still
 * finds its own trailer. */
static void test_neighbours(void **state)
{
	static const uint64_t types[] = {
		PEV_SAMPLE_IDENTIFIER | PEV_SAMPLE_TID | PEV_SAMPLE_TIME,
		PEV_SAMPLE_IDENTIFIER,
		PEV_SAMPLE_IDENTIFIER | PEV_SAMPLE_TID | PEV_SAMPLE_CPU,
	};
	struct neighbour n[PEV_ARRAY_SIZE(types)];

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(n); i++) {
		n[i] = (struct neighbour){
			.attr = { .type = PEV_TYPE_SOFTWARE,
				  .config = PEV_SW_DUMMY,
				  .sample_type = types[i],
				  .flags = PEV_ATTR_SAMPLE_ID_ALL | PEV_ATTR_KSYMBOL |
					   PEV_ATTR_BPF_EVENT },
		};
		assert_int_equal(kernel_ring_open(&n[i].attr, 0, -1, 2, &n[i].ring), 0);
		n[i].id = kernel_ring_id(&n[i].ring);
		kernel_ring_enable(&n[i].ring);
	}
	for (int i = 0; i < 5; i++)
		load_bpf();
	for (size_t i = 0; i < PEV_ARRAY_SIZE(n); i++) {
		kernel_ring_drain(&n[i].ring, check_neighbour, &n[i]);
		kernel_ring_close(&n[i].ring);
		print_message("%u KSYMBOL, %u BPF_EVENT, %u of them grown\n", n[i].ksymbols,
			      n[i].bpf_events, n[i].grown);
	}
}

struct identities {
	const struct pev_attr *attr;
	unsigned int build_ids, inodes;
	struct stat exe;
};

static void check_identity(const uint8_t *bytes, size_t size, void *userdata)
{
	struct identities *const seen = userdata;
	struct pev_record rec;

	assert_int_equal(pev_record_decode(seen->attr, bytes, size, false, &rec, NULL), 0);
	if (rec.hdr.type != PEV_REC_MMAP2)
		return;
	if (rec.hdr.misc & PEV_MISC_MMAP_BUILD_ID) {
		assert_int_equal(rec.mmap.build_id_size, 20);
		seen->build_ids++;
		return;
	}
	assert_true(rec.mmap.ino == seen->exe.st_ino);
	seen->inodes++;
}

/* One that wants build-ids between two that do not: all are told the truth. */
static void test_build_id_neighbours(void **state)
{
	static const uint64_t flags[] = { 0, PEV_ATTR_BUILD_ID, 0 };
	struct kernel_ring rings[PEV_ARRAY_SIZE(flags)];
	struct pev_attr attrs[PEV_ARRAY_SIZE(flags)];

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(flags); i++) {
		attrs[i] = (struct pev_attr){
			.type = PEV_TYPE_SOFTWARE,
			.config = PEV_SW_DUMMY,
			.flags = flags[i] | PEV_ATTR_MMAP | PEV_ATTR_MMAP2,
		};
		if (kernel_ring_open(&attrs[i], 0, -1, 2, &rings[i]) < 0) {
			print_message("needs attr.build_id (Linux 5.12)\n");
			while (i-- > 0)
				kernel_ring_close(&rings[i]);
			skip();
		}
		kernel_ring_enable(&rings[i]);
	}
	map_own_code();
	for (size_t i = 0; i < PEV_ARRAY_SIZE(flags); i++) {
		struct identities seen = { .attr = &attrs[i] };

		assert_int_equal(stat("/proc/self/exe", &seen.exe), 0);
		kernel_ring_disable(&rings[i]);
		kernel_ring_drain(&rings[i], check_identity, &seen);
		kernel_ring_close(&rings[i]);
		/* Without a build-id in this program the kernel has none to give. */
		assert_int_equal(seen.build_ids + seen.inodes, 1);
		assert_true(seen.inodes || flags[i]);
	}
}

/* Of a whole CPU: switches that name both sides, and whatever else the machine does meanwhile. */
static void test_cpu_wide(void **state)
{
	const struct pev_attr attr = {
		.type = PEV_TYPE_SOFTWARE,
		.config = PEV_SW_CPU_CLOCK,
		.sample_period = 100000,
		.sample_type = SAMPLE_BITS & ~(PEV_SAMPLE_STACK_USER | PEV_SAMPLE_REGS_USER |
					       PEV_SAMPLE_REGS_INTR),
		.read_format = PEV_FORMAT_ALL,
		.flags = PEV_ATTR_SAMPLE_ID_ALL | PEV_ATTR_CONTEXT_SWITCH | PEV_ATTR_MMAP |
			 PEV_ATTR_MMAP2 | PEV_ATTR_COMM | PEV_ATTR_TASK | PEV_ATTR_CGROUP |
			 PEV_ATTR_KSYMBOL,
	};
	struct seen seen = { .attr = &attr };
	struct kernel_ring ring;
	cpu_set_t here, before;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&here);
	CPU_SET((size_t)sched_getcpu(), &here);
	assert_int_equal(sched_setaffinity(0, sizeof(here), &here), 0);
	if (kernel_ring_open(&attr, -1, sched_getcpu(), 6, &ring) < 0)
		skip();
	kernel_ring_enable(&ring);
	for (int i = 0; i < 5; i++)
		live(); /* on one CPU a child that is waited for takes switches */
	kernel_ring_disable(&ring);
	kernel_ring_drain(&ring, check_record, &seen);
	kernel_ring_close(&ring);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	assert_true(seen.types[PEV_REC_SWITCH_CPU_WIDE] > 0);
}

int main(void)
{
	const struct pev_attr probe = {
		.type = PEV_TYPE_SOFTWARE,
		.config = PEV_SW_CPU_CLOCK,
		.sample_period = 1000000,
		.sample_type = PEV_SAMPLE_PHYS_ADDR,
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_sideband),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_build_id_neighbours),
		cmocka_unit_test(test_cpu_wide),
	};
	struct kernel_ring ring;
	const int r = kernel_ring_open(&probe, 0, -1, 0, &ring);

	if (r < 0) {
		printf("skipped: perf_event_open with kernel and physical addresses: %s\n",
		       strerror(-r));
		return TEST_SKIP;
	}
	kernel_ring_close(&ring);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
