// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * unwind_step PROGRAM: runs the fixture from its first breakpoint to its last, one instruction at a
 * time, and unwinds it before each. What the chain must be is known without any CFI: every call is
 * seen to push its return address, every return to pop it, and signals are seen to arrive. Exit
 * code 0 when all chains are right; 77 when processes may not be traced here.
 *
 * libdwfl unwinds the same registers and stack; how often it is right is told for comparison.
 */
#include "dwfl.h"
#include "space.h"

#include "base/checked.h"
#include "base/cleanup.h"

#include <elf.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#define MAX_DEPTH     256
#define MAX_FRAMES    300
#define STACK_BYTES   65528
#define RED_ZONE      4096 /* and more */
#define WRONG_TOLD    3
#define MAX_WRONG_CFI 200 /* one chain in so many: longjmp(), the epilogues of realigned frames */
#define TEST_SKIP     77
#define INT3          0xcc

/* A frame that must be in the chain. */
struct known {
	uint64_t slot; /* where its return address lies; for an interrupted frame, its sp */
	uint64_t pc;   /* the return address, or the interrupted pc */
	bool interrupted;
};

struct stepper {
	pid_t pid;
	const struct pev_arch *arch;
	struct space space;
	struct dwfl_oracle *libdwfl;
	struct user_regs_struct regs, before;
	uint8_t stack[STACK_BYTES];
	size_t stack_size;
	struct known known[MAX_DEPTH];
	size_t depth;
	size_t steps, wrong, libdwfl_wrong;
	size_t wrong_cfi; /* of ->wrong: libdwfl says the very same, so the CFI is to blame */
	size_t ends[PEV_UNWIND_NR_ENDS];
};

static int wait_for(struct stepper *s)
{
	int status;

	if (waitpid(s->pid, &status, 0) < 0)
		err(1, "waitpid");
	if (WIFEXITED(status) && WEXITSTATUS(status) == TEST_SKIP)
		exit(TEST_SKIP);
	if (!WIFSTOPPED(status))
		errx(1, "the program ended early, with status 0x%x", (unsigned)status);
	return WSTOPSIG(status);
}

static void read_state(struct stepper *s)
{
	struct iovec to = { .iov_base = s->stack, .iov_len = sizeof(s->stack) }, from;
	ssize_t n = -1;

	s->before = s->regs;
	if (ptrace(PTRACE_GETREGS, s->pid, NULL, &s->regs) < 0)
		err(1, "PTRACE_GETREGS");
	/* Near its upper end the stack is shorter than what is asked for. */
	for (; to.iov_len && n < 0; to.iov_len = to.iov_len / 2 & ~(size_t)7) {
		from = (struct iovec){ .iov_base = (void *)s->regs.rsp, .iov_len = to.iov_len };
		n = process_vm_readv(s->pid, &to, 1, &from, 1, 0);
	}
	s->stack_size = n < 0 ? 0 : (size_t)n;
}

static uint64_t stack_word(const struct stepper *s)
{
	uint64_t v = 0;

	memcpy(&v, s->stack, s->arch->word);
	return v;
}

/* Keeps ->known true over the instruction that was just done. */
static void follow_instruction(struct stepper *s)
{
	const uint64_t sp = s->regs.rsp, pc = s->before.rip, top = stack_word(s);
	const struct known *last = s->depth ? &s->known[s->depth - 1] : NULL;

	if (last && last->interrupted && last->pc == s->regs.rip && last->slot == sp) {
		s->depth--;
		return;
	}
	while (s->depth && !s->known[s->depth - 1].interrupted && s->known[s->depth - 1].slot < sp)
		s->depth--;
	/* Only a call pushes the address of the instruction after itself and goes elsewhere. */
	if (sp == s->before.rsp - s->arch->word && top > pc && top - pc <= 8 &&
	    s->regs.rip != top) {
		if (s->depth == MAX_DEPTH)
			errx(1, "calls nest deeper than expected");
		s->known[s->depth++] = (struct known){ .slot = sp, .pc = top };
	}
}

/* The kernel has just made the frame of a signal handler. */
static void follow_signal(struct stepper *s)
{
	if (s->depth + 2 > MAX_DEPTH)
		errx(1, "calls nest deeper than expected");
	s->known[s->depth++] =
		(struct known){ .slot = s->before.rsp, .pc = s->before.rip, .interrupted = true };
	s->known[s->depth++] = (struct known){ .slot = s->regs.rsp, .pc = stack_word(s) };
}

/* Innermost first, as pev_unwind() gives them. */
static size_t known_chain(const struct stepper *s, uint64_t *ips)
{
	size_t n = 0;

	ips[n++] = s->regs.rip;
	for (size_t i = s->depth; i-- > 0;) {
		const bool trampoline = i > 0 && s->known[i - 1].interrupted;

		ips[n++] = s->known[i].pc - !(s->known[i].interrupted || trampoline);
	}
	return n;
}

/* A handler on a stack of its own leads to frames on another one, of which perf has no copy. Below
 * the stack pointer nothing is to be had, as in a sample. */
static bool read_other_stack(void *arg, uint64_t addr, void *buf, size_t size)
{
	struct stepper *const s = arg;
	struct iovec to = { .iov_base = buf, .iov_len = size };
	struct iovec from = { .iov_base = (void *)addr, .iov_len = size };

	return s->regs.rsp - addr > RED_ZONE &&
	       process_vm_readv(s->pid, &to, 1, &from, 1, 0) == (ssize_t)size;
}

static bool find_map(void *arg, uint64_t pc, struct pev_unwind_map *ret)
{
	struct stepper *const s = arg;

	return space_find_map(&s->space, pc, ret);
}

static struct pev_unwind_input input_of(struct stepper *s, struct pev_regs *regs, uint64_t *values)
{
	const struct user_regs_struct *const r = &s->regs;
	const bool is64 = s->arch->word == 8;
	const uint64_t all[] = { r->rax, r->rbx, r->rcx, r->rdx, r->rsi, r->rdi,
				 r->rbp, r->rsp, r->rip, r->r8,  r->r9,  r->r10,
				 r->r11, r->r12, r->r13, r->r14, r->r15 };

	memcpy(values, all, sizeof(all));
	*regs = (struct pev_regs){ .abi = is64 ? PEV_REGS_ABI_64 : PEV_REGS_ABI_32,
				   .mask = 0x1ff | 0xffULL << 16,
				   .values = { .p = (const uint8_t *)values, .nr = 17 } };
	return (struct pev_unwind_input){ .arch = s->arch,
					  .regs = regs,
					  .stack = { .p = s->stack, .size = s->stack_size },
					  .find_map = find_map,
					  .read_memory = read_other_stack,
					  .arg = s };
}

static void show(const struct stepper *s, const char *who, const uint64_t *ips, size_t n)
{
	fprintf(stderr, "  %s:\n", who);
	for (size_t i = 0; i < n && i < 6; i++)
		fprintf(stderr, "    %16" PRIx64 " %s\n", ips[i], space_symbol(&s->space, ips[i]));
}

static void check(struct stepper *s)
{
	uint64_t values[17], ours[MAX_FRAMES], libdwfl[MAX_FRAMES], known[MAX_DEPTH + 1];
	struct pev_regs regs;
	const struct pev_unwind_input in = input_of(s, &regs, values);
	const size_t nr_known = known_chain(s, known);
	enum pev_unwind_end end;
	const size_t n = pev_unwind(&in, ours, MAX_FRAMES, &end);
	const size_t m = dwfl_oracle_unwind(s->libdwfl, &in, libdwfl, MAX_FRAMES);

	s->steps++;
	s->ends[end]++;
	s->libdwfl_wrong += m <= nr_known || memcmp(libdwfl, known, nr_known * sizeof(known[0]));
	if (n > nr_known && end == PEV_UNWIND_OUTERMOST &&
	    !memcmp(ours, known, nr_known * sizeof(known[0])))
		return;
	s->wrong++;
	if (n >= m && !memcmp(ours, libdwfl, m * sizeof(ours[0]))) {
		s->wrong_cfi++;
		return;
	}
	if (s->wrong - s->wrong_cfi > WRONG_TOLD)
		return;
	fprintf(stderr, "wrong at step %zu, ends: %s\n", s->steps, pev_unwind_end_str(end));
	show(s, "ours", ours, n);
	show(s, "libdwfl", libdwfl, m);
	show(s, "must start with", known, nr_known);
}

/* Starts the program and lets it run to its first breakpoint. */
static void start(struct stepper *s, char **argv)
{
	s->pid = fork();
	if (s->pid < 0)
		err(1, "fork");
	if (!s->pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0) {
			printf("skipped: processes may not be traced here: %s\n", strerror(errno));
			(void)fflush(stdout);
			_exit(TEST_SKIP);
		}
		execv(argv[0], argv);
		err(1, "%s", argv[0]);
	}
	(void)wait_for(s);
	if (ptrace(PTRACE_CONT, s->pid, NULL, NULL) < 0)
		err(1, "PTRACE_CONT");
	if (wait_for(s) != SIGTRAP)
		errx(1, "%s does not reach its breakpoint", argv[0]);
	read_state(s);
	s->arch = pev_arch_of_sample(EM_X86_64,
				     s->regs.cs == 0x33 ? PEV_REGS_ABI_64 : PEV_REGS_ABI_32);
	space_add_process(&s->space, s->pid);
	s->libdwfl = dwfl_oracle_new(s->arch, &s->space);
}

static void run(struct stepper *s)
{
	int pending = 0, sig;

	for (;;) {
		check(s);
		if (ptrace(PTRACE_SINGLESTEP, s->pid, NULL, pending) < 0)
			err(1, "PTRACE_SINGLESTEP");
		sig = wait_for(s);
		if (sig != SIGTRAP) {
			pending = sig;
			continue;
		}
		read_state(s);
		if (pending)
			follow_signal(s);
		else
			follow_instruction(s);
		pending = 0;
		/* The int3 that ends it traps without moving the stack. */
		if (s->regs.rip - 1 == s->before.rip &&
		    (ptrace(PTRACE_PEEKTEXT, s->pid, s->before.rip, NULL) & 0xff) == INT3)
			return;
	}
}

int main(int argc, char **argv)
{
	_cleanup_free_ struct stepper *s = calloc(1, sizeof(*s));

	if (argc != 2 || !s) {
		fprintf(stderr, "usage: %s PROGRAM\n", argv[0]);
		return 2;
	}
	start(s, argv + 1);
	run(s);
	(void)kill(s->pid, SIGKILL);
	(void)waitpid(s->pid, NULL, 0);
	printf("%s: %zu steps, %zu chains wrong, of which %zu for the CFI; libdwfl: %zu wrong\n",
	       argv[1], s->steps, s->wrong, s->wrong_cfi, s->libdwfl_wrong);
	for (unsigned i = 0; i < PEV_UNWIND_NR_ENDS; i++)
		if (s->ends[i])
			printf("  %6zu chains end: %s\n", s->ends[i], pev_unwind_end_str(i));
	dwfl_oracle_free(s->libdwfl);
	space_done(&s->space);
	return s->wrong != s->wrong_cfi || s->wrong > s->steps / MAX_WRONG_CFI;
}
