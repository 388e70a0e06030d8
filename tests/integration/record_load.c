// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * record_load ACTION ARGUMENT...: does what it is told, in that order, so that a test knows what a
 * recording of it has to show.
 *
 *   walk N          N walks over a tree of calls; the same work each time
 *   spin MS         walks until the thread has used so much CPU time
 *   until-eof -     walks until its standard input ends
 *   wait -          says "ready" and waits for a line on standard input
 *   getppid N       so many getppid(2)
 *   seek N          lseek(77, i, SEEK_SET) for i from 0 on, none of which can work
 *   fault N         touches so many new pages
 *   sleep N         sleeps so many times for 100 us
 *   touch N         writes so many times to the variable "watched"
 *   probe N         so many calls of probed()
 *   threads N       so many threads do the next action together
 *   fork N          so many children do the next action, one after the other
 *   exec NAME       does the rest after an exec of itself, which makes "exe" its name in the trace
 *   kill SIGNAL     sends itself a signal
 *   exit CODE       ends
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE    __attribute__((noinline, noclone))
#define MAX_THREADS 64

volatile uint64_t watched;
static volatile uint64_t sink;

/* 24 functions; the n-th burns n + 1 units, so that a profile has a known order. */
#define DEFINE_BURN(n)                                                             \
	NOINLINE void burn_##n(uint64_t seed);                                     \
	NOINLINE void burn_##n(uint64_t seed)                                      \
	{                                                                          \
		for (unsigned int i = 0; i < ((n) + 1) * 40U; i++)                 \
			seed = seed * 6364136223846793005ULL + (seed >> 59) + (n); \
		sink = seed;                                                       \
	}

DEFINE_BURN(0)
DEFINE_BURN(1)
DEFINE_BURN(2)
DEFINE_BURN(3)
DEFINE_BURN(4)
DEFINE_BURN(5)
DEFINE_BURN(6)
DEFINE_BURN(7)
DEFINE_BURN(8)
DEFINE_BURN(9)
DEFINE_BURN(10)
DEFINE_BURN(11)
DEFINE_BURN(12)
DEFINE_BURN(13)
DEFINE_BURN(14)
DEFINE_BURN(15)
DEFINE_BURN(16)
DEFINE_BURN(17)
DEFINE_BURN(18)
DEFINE_BURN(19)
DEFINE_BURN(20)
DEFINE_BURN(21)
DEFINE_BURN(22)
DEFINE_BURN(23)

static void (*const burns[24])(uint64_t) = {
	burn_0,  burn_1,  burn_2,  burn_3,  burn_4,  burn_5,  burn_6,  burn_7,
	burn_8,  burn_9,  burn_10, burn_11, burn_12, burn_13, burn_14, burn_15,
	burn_16, burn_17, burn_18, burn_19, burn_20, burn_21, burn_22, burn_23,
};

/* Not a tail call: each level shall have its frame. */
NOINLINE void descend(unsigned int depth, uint64_t seed);
NOINLINE void descend(unsigned int depth, uint64_t seed)
{
	volatile uint64_t local[4] = { seed, depth, seed ^ depth, 0 };

	if (depth)
		descend(depth - 1, seed + 1);
	else
		for (size_t i = 0; i < 24; i++)
			burns[i](seed + i);
	local[3] = local[0] ^ local[1];
	sink = local[3];
}

NOINLINE void walk(long n);
NOINLINE void walk(long n)
{
	for (long i = 0; i < n; i++)
		descend((unsigned int)(i % 12), (uint64_t)i);
	sink = (uint64_t)n;
}

NOINLINE void probed(void);
NOINLINE void probed(void)
{
	sink++;
}

static long thread_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void spin(long ms)
{
	const long until = thread_ms() + ms;

	/* Rarely asks for the time, so that nearly all of it is spent in user space. */
	while (thread_ms() < until)
		walk(100);
}

static void *read_to_eof(void *done)
{
	char buf[64];

	while (read(STDIN_FILENO, buf, sizeof(buf)) > 0)
		;
	__atomic_store_n((int *)done, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void until_eof(void)
{
	static int done, started;
	pthread_t reader;

	if (!__atomic_exchange_n(&started, 1, __ATOMIC_RELAXED) &&
	    pthread_create(&reader, NULL, read_to_eof, &done) == 0)
		(void)pthread_detach(reader);
	while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
		walk(10);
}

static void wait_line(void)
{
	char c;

	(void)puts("ready");
	(void)fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
}

static void fault(long n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (size_t)n * page;
	volatile char *const p =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(3);
	(void)madvise((void *)(uintptr_t)p, bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < (size_t)n; i++)
		p[i * page] = 1;
	(void)munmap((void *)(uintptr_t)p, bytes);
}

static void nap(long n)
{
	const struct timespec ts = { .tv_nsec = 100000 };

	for (long i = 0; i < n; i++)
		(void)nanosleep(&ts, NULL);
}

static void act(const char *action, const char *arg)
{
	const long n = strtol(arg, NULL, 10);

	if (!strcmp(action, "walk"))
		walk(n);
	else if (!strcmp(action, "spin"))
		spin(n);
	else if (!strcmp(action, "until-eof"))
		until_eof();
	else if (!strcmp(action, "wait"))
		wait_line();
	else if (!strcmp(action, "getppid"))
		for (long i = 0; i < n; i++)
			(void)syscall(SYS_getppid);
	else if (!strcmp(action, "seek"))
		for (long i = 0; i < n; i++)
			(void)lseek(77, i, SEEK_SET);
	else if (!strcmp(action, "fault"))
		fault(n);
	else if (!strcmp(action, "sleep"))
		nap(n);
	else if (!strcmp(action, "touch"))
		for (long i = 0; i < n; i++)
			watched = (uint64_t)i;
	else if (!strcmp(action, "probe"))
		for (long i = 0; i < n; i++)
			probed();
	else if (!strcmp(action, "kill"))
		(void)raise((int)n);
	else if (!strcmp(action, "exit"))
		exit((int)n);
	else {
		(void)fprintf(stderr, "record_load: no action '%s'\n", action);
		exit(2);
	}
}

static void *act_thread(void *words)
{
	char *const *const w = words;

	act(w[0], w[1]);
	return NULL;
}

static void act_threads(long nr, char **words)
{
	pthread_t threads[MAX_THREADS];

	if (nr > MAX_THREADS)
		exit(2);
	for (long i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL, act_thread, words) != 0)
			exit(3);
	for (long i = 0; i < nr; i++)
		(void)pthread_join(threads[i], NULL);
}

static void act_children(long nr, char **words)
{
	for (long i = 0; i < nr; i++) {
		const pid_t pid = fork();

		if (pid == 0) {
			act(words[0], words[1]);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			exit(3);
	}
}

int main(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		const long n = strtol(argv[i + 1], NULL, 10);

		if (!strcmp(argv[i], "exec")) {
			(void)execv("/proc/self/exe", argv + i + 1);
			return 3;
		}
		if (i + 3 < argc && !strcmp(argv[i], "threads")) {
			i += 2;
			act_threads(n, argv + i);
		} else if (i + 3 < argc && !strcmp(argv[i], "fork")) {
			i += 2;
			act_children(n, argv + i);
		} else {
			act(argv[i], argv[i + 1]);
		}
	}
	return 0;
}
