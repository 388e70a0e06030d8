// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program to be unwound at every one of its instructions: between two breakpoints it goes through
 * the shapes that frames have. Built with -O2 and without frame pointers, as a dynamic and as a
 * static program, and for 32 bits; tests/unwind/step.c single-steps it.
 */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

static volatile int sink;
static jmp_buf escape;

NOINLINE static int leaf(int n)
{
	return n * 3 + sink;
}

NOINLINE static int recurse(int n)
{
	int below;

	if (!n)
		return leaf(n);
	below = recurse(n - 1);
	return below + leaf(n);
}

NOINLINE static int with_alloca(size_t n)
{
	char *const p = alloca(n);

	memset(p, 1, n);
	sink = p[n / 2];
	return leaf((int)n) + p[n - 1];
}

NOINLINE static int with_vla(int n)
{
	int a[n];

	for (int i = 0; i < n; i++)
		a[i] = leaf(i);
	return a[n / 2] + recurse(2);
}

/* Realigns its stack and moves it: the CFA hangs on what was saved in memory. */
NOINLINE static int with_alignment(int n)
{
	__attribute__((aligned(64))) volatile char aligned[128];
	volatile char *const p = alloca((size_t)n);

	aligned[n] = 1;
	p[n - 1] = 2;
	return leaf(aligned[n] + p[n - 1]) + recurse(1);
}

/* Keeps six values over a call, and needs no frame when @n is 0. */
NOINLINE static int with_many_registers(int n)
{
	int a, b, c, d, e, f;

	if (!n)
		return 0;
	a = leaf(n);
	b = leaf(a);
	c = leaf(b);
	d = leaf(c);
	e = leaf(d);
	f = leaf(e);
	return a ^ b ^ c ^ d ^ e ^ f ^ leaf(f);
}

NOINLINE static int with_many_arguments(int a, int b, int c, int d, int e, int f, int g, int h,
					int i)
{
	return leaf(a + b + c + d) + leaf(e + f + g + h + i);
}

static int compare(const void *a, const void *b)
{
	return leaf(*(const int *)a) - leaf(*(const int *)b);
}

NOINLINE static void call_back(void)
{
	int numbers[] = { 5, 2, 9, 1 };

	qsort(numbers, 4, sizeof(numbers[0]), compare);
	sink = numbers[0];
}

static void handler(int sig)
{
	sink = sig + recurse(2);
}

NOINLINE static void interrupt(int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

NOINLINE static void jump_out(int n)
{
	if (!n)
		longjmp(escape, 1);
	jump_out(n - 1);
	sink = n;
}

NOINLINE static void ask_the_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	sink = (int)t.tv_nsec;
}

NOINLINE static void print(void)
{
	char text[64];

	sink = snprintf(text, sizeof(text), "%d %s %.3f", sink, "text", 1.5);
}

/* The call is its last instruction: the return address is that of the next function. */
NOINLINE __attribute__((noreturn)) static void finish(void)
{
	sink = leaf(1);
	__asm__ volatile("int3");
	_exit(0);
}

NOINLINE static void finish_from_here(void)
{
	sink = leaf(2);
	finish();
}

int main(void)
{
	static char other_stack[65536];
	const stack_t stack = { .ss_sp = other_stack, .ss_size = sizeof(other_stack) };

	sigaltstack(&stack, NULL);
	__asm__ volatile("int3");
	sink = recurse(40);
	sink = with_alloca(100) + with_vla(5) + with_alignment(30);
	sink = with_many_registers(0) + with_many_registers(1);
	sink = with_many_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9);
	call_back();
	interrupt(0);
	interrupt(SA_SIGINFO);
	interrupt(SA_ONSTACK);
	if (!setjmp(escape))
		jump_out(3);
	ask_the_time();
	print();
	finish_from_here();
	return 0;
}
