// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * load MODE CPU SECONDS: keeps one CPU busy with something to record.
 *
 *   calls     a tree of calls up to 40 deep over 16 functions, with locals on the stack that differ
 * from visit to visit syscalls  getppid(2) as fast as it goes
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t seed = 88172645463325252ULL;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

typedef uint64_t visit_fn(unsigned int depth, uint64_t state);
static visit_fn *const visits[16];

/* Each is a function of its own, so that stacks differ; none may be turned into a jump. */
#define DEFINE_VISIT(n)                                                                         \
	static __attribute__((noinline)) uint64_t visit_##n(unsigned int depth, uint64_t state) \
	{                                                                                       \
		volatile uint64_t locals[4 + (n)*2];                                            \
		uint64_t sum = state;                                                           \
                                                                                                \
		for (unsigned int i = 0; i < 4 + (n)*2; i++)                                    \
			locals[i] = sum = sum * 6364136223846793005ULL + (n);                   \
		if (depth)                                                                      \
			sum += visits[sum >> 60](depth - 1, sum);                               \
		for (unsigned int i = 0; i < 4 + (n)*2; i++)                                    \
			sum ^= locals[i] >> (n);                                                \
		return sum;                                                                     \
	}

DEFINE_VISIT(0)
DEFINE_VISIT(1)
DEFINE_VISIT(2)
DEFINE_VISIT(3)
DEFINE_VISIT(4)
DEFINE_VISIT(5)
DEFINE_VISIT(6)
DEFINE_VISIT(7)
DEFINE_VISIT(8)
DEFINE_VISIT(9)
DEFINE_VISIT(10)
DEFINE_VISIT(11)
DEFINE_VISIT(12)
DEFINE_VISIT(13)
DEFINE_VISIT(14)
DEFINE_VISIT(15)

static visit_fn *const visits[16] = { visit_0,  visit_1,  visit_2,  visit_3, visit_4,  visit_5,
				      visit_6,  visit_7,  visit_8,  visit_9, visit_10, visit_11,
				      visit_12, visit_13, visit_14, visit_15 };

static void calls(void)
{
	volatile uint64_t sink;

	for (int i = 0; i < 1000; i++) {
		/* A limited set of paths, as programs have: the same few roots come back. */
		const uint64_t path = next_random() % 64;

		sink = visit_0((unsigned int)(path % 40), path * 0x9e3779b97f4a7c15ULL);
	}
	(void)sink;
}

static void syscalls(void)
{
	for (int i = 0; i < 10000; i++)
		(void)syscall(SYS_getppid);
}

static double now(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	void (*const work)(void) = argc == 4 && !strcmp(argv[1], "calls")      ? calls
				   : argc == 4 && !strcmp(argv[1], "syscalls") ? syscalls
									       : NULL;
	cpu_set_t cpus;
	double end;

	if (!work) {
		(void)fputs("usage: load calls|syscalls CPU SECONDS\n", stderr);
		return 2;
	}
	CPU_ZERO(&cpus);
	CPU_SET((size_t)strtoul(argv[2], NULL, 10), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0) {
		perror("load: sched_setaffinity");
		return 1;
	}
	end = now() + strtod(argv[3], NULL);
	while (now() < end)
		work();
	return 0;
}
