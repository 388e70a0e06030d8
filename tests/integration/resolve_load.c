// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Loads whose call chains resolve.py compares: resolve_load KIND [ARGUMENT], each some tenths of a
 * second of CPU time, all of it in functions with names of their own.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile uint64_t sink;

/* About a millisecond of pure computation for each @n. */
NOINLINE static void spin(unsigned int n)
{
	for (uint64_t i = 0; i < n * UINT64_C(300000); i++)
		sink += i * i;
}

NOINLINE static void odd(unsigned int depth);

NOINLINE static void even(unsigned int depth)
{
	if (depth == 0)
		spin(2);
	else
		odd(depth - 1);
	sink++; /* no tail call */
}

NOINLINE static void odd(unsigned int depth)
{
	if (depth == 0)
		spin(1);
	else
		even(depth - 1);
	sink++;
}

NOINLINE static int compare(const void *a, const void *b)
{
	const int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/* The library calls back. */
NOINLINE static void sort(void)
{
	static int v[20000];

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		v[i] = (int)(i * 7919 % 20011);
	qsort(v, sizeof(v) / sizeof(v[0]), sizeof(v[0]), compare);
	sink += (uint64_t)v[7];
	memset(v, 0, sizeof(v));
}

static int calls(void)
{
	for (unsigned int i = 0; i < 400; i++) {
		even(i % 20);
		sort();
	}
	return 0;
}

NOINLINE static void on_signal(int sig)
{
	(void)sig;
	spin(1);
	sink++;
}

NOINLINE static void interrupted(void)
{
	for (unsigned int i = 0; i < 250; i++) {
		(void)raise(SIGUSR1);
		spin(1);
	}
	sink++;
}

static int signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	stack_t stack = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };

	(void)sigaction(SIGUSR1, &action, NULL);
	interrupted();
	action.sa_flags = SA_ONSTACK;
	(void)sigaltstack(&stack, NULL);
	(void)sigaction(SIGUSR1, &action, NULL);
	interrupted();
	return 0;
}

NOINLINE static void ask_time(void)
{
	struct timespec t;

	for (unsigned int i = 0; i < 20000000; i++) {
		(void)clock_gettime(CLOCK_MONOTONIC, &t);
		sink += (uint64_t)t.tv_nsec;
	}
}

static int vdso(void)
{
	ask_time();
	return 0;
}

NOINLINE static void read_zeros(int fd, char *buf, size_t size)
{
	for (unsigned int i = 0; i < 400; i++)
		sink += (uint64_t)read(fd, buf, size);
}

NOINLINE static void touch_pages(void)
{
	const size_t size = 8 << 20;

	for (unsigned int i = 0; i < 30; i++) {
		char *const p = mmap(NULL, size, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		for (size_t at = 0; at < size; at += 4096)
			p[at] = 1;
		(void)munmap(p, size);
	}
}

NOINLINE static void stat_files(void)
{
	struct stat st;

	for (unsigned int i = 0; i < 50000; i++)
		sink += (uint64_t)stat("/usr/lib/../lib/../bin/./env", &st);
}

NOINLINE static void pipes(void)
{
	char buf[512] = "";
	int fds[2];

	if (pipe(fds) < 0)
		return;
	for (unsigned int i = 0; i < 100000; i++) {
		sink += (uint64_t)write(fds[1], buf, sizeof(buf));
		sink += (uint64_t)read(fds[0], buf, sizeof(buf));
	}
}

static int kernel(void)
{
	static char buf[1 << 20];
	const int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	read_zeros(fd, buf, sizeof(buf));
	touch_pages();
	stat_files();
	pipes();
	return 0;
}

/* A tree of forks, some of which become new programs. */
static int forks(const char *self)
{
	for (unsigned int i = 0; i < 12; i++) {
		const pid_t pid = fork();

		if (pid == 0) {
			spin(20);
			if (i % 3 == 0)
				(void)execl(self, "spinner", "calls", NULL);
			if (i % 3 == 1)
				(void)execlp("sh", "sh", "-c", "for i in 1 2 3 4 5 6 7; do :; done",
					     NULL);
			even(9);
			_exit(0);
		}
		spin(20);
		(void)waitpid(pid, NULL, 0);
	}
	return 0;
}

/* A library comes, works, and goes; another one takes its place. */
static int plugins(char **paths)
{
	for (unsigned int i = 0; i < 400; i++) {
		void *const lib = dlopen(paths[i & 1], RTLD_NOW);
		void (*work)(void (*)(unsigned int));

		if (!lib) {
			(void)fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		*(void **)&work = dlsym(lib, "plugin_work");
		work(even);
		(void)dlclose(lib);
	}
	return 0;
}

/* Code in memory that no file backs. On x86-64: push rbp; mov rbp, rsp; call rdi; pop rbp; ret */
static int generated(void)
{
	static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
	void *const p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *map;
	void (*run)(int (*)(void));

	(void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "we");
	if (p == MAP_FAILED || !map)
		return 1;
	(void)fprintf(map, "%lx %zx generated_code with spaces\n", (unsigned long)(uintptr_t)p,
		      sizeof(code));
	(void)fclose(map);
	memcpy(p, code, sizeof(code));
	*(void **)&run = p;
	run(calls);
	return 0;
}

int main(int argc, char **argv)
{
	const char *const kind = argc > 1 ? argv[1] : "";

	if (!strcmp(kind, "calls"))
		return calls();
	if (!strcmp(kind, "signals"))
		return signals();
	if (!strcmp(kind, "vdso"))
		return vdso();
	if (!strcmp(kind, "kernel"))
		return kernel();
	if (!strcmp(kind, "forks"))
		return forks(argv[0]);
	if (!strcmp(kind, "plugins") && argc == 4)
		return plugins(argv + 2);
	if (!strcmp(kind, "generated"))
		return generated();
	(void)fprintf(stderr, "usage: resolve_load KIND [ARGUMENT]\n");
	return 2;
}
