// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A program for aarch64 that writes down its own registers and stack at some places, together with
 * the call chain that libgcc's unwinder finds there; replay.c unwinds them on the machine that
 * tests. Static and not position independent, so that its addresses are those of the file. What it
 * writes, as often as capture() is called:
 *
 *   u64 x0 .. x30, sp, pc
 *   u64 nr, u64 addresses[nr]    of the chain: return addresses, from capture()'s caller on
 *   u64 size, u8 stack[size]     from sp on
 */
#include <alloca.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#define NOINLINE   __attribute__((noipa))
#define MAX_FRAMES 64
#define NR_REGS    33

struct chain {
	uint64_t nr;
	uint64_t addresses[MAX_FRAMES];
};

static const char *stack_end;
static volatile int sink;

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *arg)
{
	struct chain *const c = arg;

	if (c->nr == MAX_FRAMES)
		return _URC_END_OF_STACK;
	c->addresses[c->nr++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

static void put(const void *bytes, size_t size)
{
	if (write(STDOUT_FILENO, bytes, size) != (ssize_t)size)
		_exit(1);
}

NOINLINE static void capture(void)
{
	uint64_t regs[NR_REGS], size;
	struct chain chain = { 0 };

	__asm__ volatile("stp x0, x1, [%0]\n\t"
			 "stp x2, x3, [%0, 16]\n\t"
			 "stp x4, x5, [%0, 32]\n\t"
			 "stp x6, x7, [%0, 48]\n\t"
			 "stp x8, x9, [%0, 64]\n\t"
			 "stp x10, x11, [%0, 80]\n\t"
			 "stp x12, x13, [%0, 96]\n\t"
			 "stp x14, x15, [%0, 112]\n\t"
			 "stp x16, x17, [%0, 128]\n\t"
			 "stp x18, x19, [%0, 144]\n\t"
			 "stp x20, x21, [%0, 160]\n\t"
			 "stp x22, x23, [%0, 176]\n\t"
			 "stp x24, x25, [%0, 192]\n\t"
			 "stp x26, x27, [%0, 208]\n\t"
			 "stp x28, x29, [%0, 224]\n\t"
			 "mov x1, sp\n\t"
			 "stp x30, x1, [%0, 240]\n\t"
			 "adr x1, .\n\t"
			 "str x1, [%0, 256]"
			 :
			 : "r"(regs)
			 : "x1", "memory");
	(void)_Unwind_Backtrace(take_frame, &chain);
	/* Its first frame is this one. */
	chain.nr--;
	size = (uint64_t)stack_end - regs[31];
	put(regs, sizeof(regs));
	put(&chain.nr, sizeof(chain.nr));
	put(chain.addresses + 1, chain.nr * sizeof(chain.addresses[0]));
	put(&size, sizeof(size));
	put((const void *)regs[31], size);
}

NOINLINE static int recurse(int n)
{
	int r;

	if (!n)
		capture();
	else
		recurse(n - 1);
	r = sink + n;
	return r;
}

NOINLINE static int with_alloca(size_t n)
{
	char *const p = alloca(n);

	memset(p, 1, n);
	capture();
	return p[n / 2];
}

NOINLINE static int with_vla(int n)
{
	int a[n];

	memset(a, 2, sizeof(a));
	sink = recurse(1);
	return a[n / 2];
}

NOINLINE static int with_many_registers(int n)
{
	const int a = sink + n, b = sink * n, c = sink - n, d = sink ^ n, e = sink & n;

	capture();
	return a ^ b ^ c ^ d ^ e ^ sink;
}

static int compare(const void *a, const void *b)
{
	capture();
	return *(const int *)a - *(const int *)b;
}

NOINLINE static void call_back(void)
{
	int numbers[] = { 2, 1 };

	qsort(numbers, 2, sizeof(numbers[0]), compare);
	sink = numbers[0];
}

int main(void)
{
	stack_end = (const char *)environ; /* above the frames of all functions */
	sink = recurse(0);
	sink = recurse(10);
	sink = with_alloca(100) + with_alloca(5000) + with_vla(7);
	sink = with_many_registers(3);
	call_back();
	return 0;
}
