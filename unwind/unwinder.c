// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * One step goes from a frame to its caller: find the mapping of the pc, find its row, compute the
 * CFA, fetch the return address, then put every other register where the row says.
 *
 * A frame that was left by a call is looked up by the byte before its return address, which may be
 * the first of the next function when the call never returns. The innermost frame and one that a
 * signal interrupted have an exact pc.
 *
 * A register that cannot be fetched only becomes unknown: most are never asked for again. The chain
 * ends when the CFA or the return address is not to be had, and each way to fail has its name in
 * enum pev_unwind_end.
 */
#include "unwind/unwinder.h"

#include "base/cursor.h"
#include "unwind/expr.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#define USUAL_STACK (8ULL << 20) /* what RLIMIT_STACK is where nobody changed it */

#define GO_ON PEV_UNWIND_NR_ENDS /* from one step to the next: no end yet */

struct unwind {
	const struct pev_unwind_input *in;
	const struct pev_arch *arch;
	uint64_t stack_start;
	uint64_t stack_limit;      /* words start below stack_start + this */
	struct pev_unwind_map map; /* of the last pc looked up; empty at first */
	struct pev_frame_regs regs;
	uint64_t pc;
	bool exact; /* pc is that of an instruction, not of the one after a call */
	bool swap;
};

const char *pev_unwind_end_str(enum pev_unwind_end end)
{
	static const char *const words[] = {
		[PEV_UNWIND_OUTERMOST] = "outermost frame reached",
		[PEV_UNWIND_NO_REGS] = "no user registers in the sample",
		[PEV_UNWIND_NO_MAP] = "nothing mapped at the address",
		[PEV_UNWIND_NO_CFI] = "no call frame information for the address",
		[PEV_UNWIND_BAD_CFI] = "corrupt call frame information",
		[PEV_UNWIND_SHORT_STACK] = "stack dump too short",
		[PEV_UNWIND_NO_GROWTH] = "caller's frame below its callee's",
		[PEV_UNWIND_LOST_REG] = "a needed register was not saved",
		[PEV_UNWIND_TOO_HARD] = "DWARF expression not supported",
		[PEV_UNWIND_NO_MEMORY] = "out of memory",
		[PEV_UNWIND_MAX_FRAMES] = "frame limit reached",
	};

	return (unsigned)end < PEV_UNWIND_NR_ENDS ? words[end] : "unknown";
}

static uint64_t decode(const struct unwind *u, const uint8_t *bytes, unsigned size)
{
	uint64_t v = 0;

	if (size == 8) {
		memcpy(&v, bytes, 8);
		return u->swap ? __builtin_bswap64(v) : v;
	}
	for (unsigned i = 0; i < size; i++) {
		const bool little = (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != u->swap;

		v |= (uint64_t)bytes[i] << 8 * (little ? i : size - 1 - i);
	}
	return v;
}

/* Memory outside of the dump, or at its very end. */
static bool read_elsewhere(const struct unwind *u, uint64_t addr, unsigned size, uint64_t *ret)
{
	const uint64_t at = addr - u->stack_start;
	uint8_t bytes[8];

	if (at < u->in->stack.size && size <= u->in->stack.size - at) {
		*ret = decode(u, u->in->stack.p + at, size);
		return true;
	}
	if (!u->in->read_memory || !u->in->read_memory(u->in->arg, addr, bytes, size))
		return false;
	*ret = decode(u, bytes, size);
	return true;
}

static bool read_word(const struct unwind *u, uint64_t addr, uint64_t *ret)
{
	const uint64_t at = (addr & u->arch->addr_mask) - u->stack_start;

	if (at < u->stack_limit && u->arch->word == 8) {
		*ret = decode(u, u->in->stack.p + at, 8);
		return true;
	}
	return read_elsewhere(u, addr & u->arch->addr_mask, u->arch->word, ret);
}

static bool read_for_expr(void *arg, uint64_t addr, unsigned size, uint64_t *ret)
{
	return read_elsewhere(arg, addr, size, ret);
}

static bool has(const struct unwind *u, unsigned column)
{
	return pev_frame_regs_has(&u->regs, column);
}

static void set(struct unwind *u, unsigned column, uint64_t value)
{
	u->regs.reg[column] = value & u->arch->addr_mask;
	u->regs.valid |= 1ULL << column;
}

static void lose(struct unwind *u, unsigned column)
{
	u->regs.valid &= ~(1ULL << column);
}

/* Fetches all registers of the sample; false without pc or sp. */
static bool start(struct unwind *u, const struct pev_unwind_input *in)
{
	const struct pev_arch *const arch = in->arch;
	const struct pev_regs *const regs = in->regs;

	*u = (struct unwind){ .in = in, .arch = arch, .exact = true, .swap = regs->values.swap };
	for (unsigned i = 0; i < arch->nr_regs; i++) {
		const unsigned bit = arch->perf_regs[i];
		const uint64_t below = regs->mask & ((1ULL << bit) - 1);
		const unsigned at = (unsigned)__builtin_popcountll(below);

		if ((regs->mask >> bit & 1) && at < regs->values.nr)
			set(u, i, pev_u64s_at(&regs->values, at));
	}
	if (!has(u, arch->pc) || !has(u, arch->sp))
		return false;
	u->pc = u->regs.reg[arch->pc];
	u->stack_start = u->regs.reg[arch->sp];
	u->stack_limit = in->stack.size >= 8 ? in->stack.size - 7 : 0;
	return true;
}

static bool find_map(struct unwind *u, uint64_t pc)
{
	if (pc - u->map.start < u->map.end - u->map.start)
		return true;
	u->map = (struct pev_unwind_map){ 0 };
	return u->in->find_map(u->in->arg, pc, &u->map);
}

static enum pev_unwind_end find_row(struct unwind *u, uint64_t pc, const struct pev_cfi_row **ret)
{
	if (!find_map(u, pc))
		return PEV_UNWIND_NO_MAP;
	if (!u->map.cfi || pev_cfi_sections(u->map.cfi)->arch != u->arch)
		return PEV_UNWIND_NO_CFI;
	switch (pev_cfi_find(u->map.cfi, (pc - u->map.bias) & u->arch->addr_mask, ret)) {
	case 0:
		return GO_ON;
	case -ENOENT:
		return PEV_UNWIND_NO_CFI;
	case -ENOMEM:
		return PEV_UNWIND_NO_MEMORY;
	default:
		return PEV_UNWIND_BAD_CFI;
	}
}

/*
 * Takes the pointer authentication code (Arm ARM, "Pointer authentication") off a return address.
 * How many bits it has depends on the size of the address space, which the sample does not tell;
 * but stacks are at its upper end, so that sp shows how many bits an address has.
 */
static uint64_t strip_pac(const struct unwind *u, uint64_t addr)
{
	static const uint8_t sizes[] = { 39, 42, 47, 48 };
	const uint64_t seen = u->stack_start | u->pc;

	for (unsigned i = 0; i < sizeof(sizes); i++)
		if (!(seen >> sizes[i]))
			return addr & ((1ULL << sizes[i]) - 1);
	return addr & ((1ULL << 52) - 1);
}

static void enter_caller(struct unwind *u, uint64_t ra, uint64_t sp)
{
	set(u, u->arch->ra, ra);
	set(u, u->arch->sp, sp);
	u->pc = ra;
	u->exact = false;
}

/*
 * The caller of code without CFI, if that code keeps a frame pointer (psABI x86-64 section 3.2.2,
 * AAPCS64 section 6.4.6): the two words at the frame pointer are the caller's frame pointer and the
 * return address. The other registers of the caller are unknown then. @why is what to say if not.
 */
static enum pev_unwind_end follow_frame_pointer(struct unwind *u, enum pev_unwind_end why)
{
	const struct pev_arch *const arch = u->arch;
	const uint64_t fp = u->regs.reg[arch->fp], sp = u->regs.reg[arch->sp];
	uint64_t caller_fp, ra;
	bool has_fp;

	if (!has(u, arch->fp) || fp % arch->word || (has(u, arch->sp) && fp < sp))
		return why;
	if (!read_word(u, fp + arch->word, &ra))
		return fp - u->stack_start < USUAL_STACK ? PEV_UNWIND_SHORT_STACK : why;
	has_fp = read_word(u, fp, &caller_fp);
	if (arch->machine == EM_AARCH64)
		ra = strip_pac(u, ra);
	if (!ra)
		return PEV_UNWIND_OUTERMOST;
	if (!find_map(u, ra - 1))
		return why;
	u->regs.valid = 0;
	if (has_fp)
		set(u, arch->fp, caller_fp);
	enter_caller(u, ra, fp + 2U * arch->word);
	return GO_ON;
}

/* Code without CFI whose return address is still where the call put it: procedure linkage stubs
 * (lld makes no CFI for them, ld none in static programs), and on i386 the thunks of two
 * instructions by which position independent code learns its address, when the linker chose a copy
 * without CFI. */
static bool is_stub(const struct unwind *u)
{
	const struct pev_cfi_sections *const s = pev_cfi_sections(u->map.cfi);

	return u->exact &&
	       (u->arch->machine == EM_386 || u->pc - u->map.bias - s->plt_vaddr < s->plt_size);
}

static bool leave_stub(struct unwind *u)
{
	const struct pev_arch *const arch = u->arch;
	const uint64_t sp = u->regs.reg[arch->sp];
	uint64_t ra = u->regs.reg[arch->ra];
	const struct pev_cfi_row *row;

	if (arch->ra == arch->pc && !read_word(u, sp, &ra))
		return false;
	if (arch->machine == EM_AARCH64)
		ra = strip_pac(u, ra);
	/* What the stub itself pushes on its way to the dynamic linker is no address of code. */
	if (!ra || find_row(u, ra - 1, &row) != GO_ON)
		return false;
	u->regs.valid &= arch->callee_saved;
	enter_caller(u, ra, sp + arch->cfa_offset);
	return true;
}

static enum pev_unwind_end evaluate(struct unwind *u, const struct pev_frame_regs *regs,
				    const struct pev_cfi_row *row, const struct pev_cfi_rule *rule,
				    const uint64_t *first, uint64_t *ret)
{
	const struct pev_expr_input in = {
		.arch = u->arch,
		.regs = regs,
		.bytes = row->exprs + (uint32_t)rule->off,
		.size = rule->base,
		.swap = pev_cfi_sections(u->map.cfi)->swap,
		.first = first,
		.read = read_for_expr,
		.read_arg = u,
	};

	switch (pev_expr_eval(&in, ret)) {
	case PEV_EXPR_OK:
		return GO_ON;
	case PEV_EXPR_UNREADABLE:
		return PEV_UNWIND_SHORT_STACK;
	case PEV_EXPR_LOST_REG:
		return PEV_UNWIND_LOST_REG;
	default:
		return PEV_UNWIND_TOO_HARD;
	}
}

/* The value that a rule gives, out of the callee's @regs. @cfa is NULL for the CFA's own rule. */
static enum pev_unwind_end fetch(struct unwind *u, const struct pev_frame_regs *regs,
				 const struct pev_cfi_row *row, const struct pev_cfi_rule *rule,
				 const uint64_t *cfa, uint64_t *ret)
{
	const unsigned from = rule->how == PEV_CFI_SAME ? rule->reg : rule->base;
	const uint64_t off = (uint64_t)(int64_t)rule->off;
	enum pev_unwind_end end;
	uint64_t v;

	switch ((enum pev_cfi_how)rule->how) {
	case PEV_CFI_UNDEFINED:
		return PEV_UNWIND_OUTERMOST;
	case PEV_CFI_AT_CFA:
		return read_word(u, *cfa + off, ret) ? GO_ON : PEV_UNWIND_SHORT_STACK;
	case PEV_CFI_IS_CFA:
		*ret = *cfa + off;
		return GO_ON;
	case PEV_CFI_SAME:
	case PEV_CFI_AT_REG:
	case PEV_CFI_IS_REG:
		if (!pev_frame_regs_has(regs, from))
			return PEV_UNWIND_LOST_REG;
		v = regs->reg[from] + off;
		if (rule->how == PEV_CFI_AT_REG && !read_word(u, v, &v))
			return PEV_UNWIND_SHORT_STACK;
		*ret = v;
		return GO_ON;
	case PEV_CFI_AT_EXPR:
	case PEV_CFI_IS_EXPR:
		end = evaluate(u, regs, row, rule, cfa, &v);
		if (end == GO_ON && rule->how == PEV_CFI_AT_EXPR && !read_word(u, v, &v))
			end = PEV_UNWIND_SHORT_STACK;
		if (end == GO_ON)
			*ret = v;
		return end;
	}
	return PEV_UNWIND_BAD_CFI;
}

/*
 * Between the pop of a register and the return, CFI made by gcc goes on saying that the register is
 * in its slot, which lies below the stack pointer then, where nothing was dumped. What was popped
 * is in the register.
 */
static bool was_popped(const struct unwind *u, const struct pev_frame_regs *callee,
		       const struct pev_cfi_rule *rule, uint64_t cfa, uint64_t *ret)
{
	const uint64_t slot = (cfa + (uint64_t)(int64_t)rule->off) & u->arch->addr_mask;

	if (rule->how != PEV_CFI_AT_CFA || slot >= u->stack_start ||
	    !pev_frame_regs_has(callee, rule->reg))
		return false;
	*ret = callee->reg[rule->reg];
	return true;
}

/* Moves the registers other than the return address to the caller. */
static void move_registers(struct unwind *u, const struct pev_cfi_row *row, uint64_t cfa)
{
	const struct pev_frame_regs *callee = &u->regs;
	struct pev_frame_regs copy;
	uint64_t v;

	if (row->flags & PEV_CFI_READS_REG) {
		copy = u->regs;
		callee = &copy;
	}
	u->regs.valid &= u->arch->callee_saved;
	set(u, u->arch->sp, cfa);
	for (unsigned i = 0; i < row->nr_rules; i++) {
		const struct pev_cfi_rule *const rule = &row->rules[i];

		if (fetch(u, callee, row, rule, &cfa, &v) == GO_ON ||
		    was_popped(u, callee, rule, cfa, &v))
			set(u, rule->reg, v);
		else
			lose(u, rule->reg);
	}
}

/*
 * The kernel's trampoline for signal handlers on aarch64 has CFI that only finds the frame record
 * of what was interrupted: its link register, but neither its pc nor its sp. Those are in the
 * struct rt_sigframe at sp (arch/arm64/kernel/signal.c: a siginfo of 128 bytes, then the ucontext,
 * whose sigcontext is at 176; asm/sigcontext.h). It is one if its x29 is also in the frame record.
 */
static bool leave_aarch64_signal(struct unwind *u)
{
	const uint64_t sp = u->regs.reg[31], x29 = u->regs.reg[29];
	const uint64_t regs_at = sp + 128 + 176 + 8;
	struct pev_frame_regs caller = { .valid = (1ULL << 33) - 1 };
	uint64_t record_x29;

	if (!has(u, 31) || !has(u, 29) || !read_word(u, x29, &record_x29))
		return false;
	for (unsigned i = 0; i < 33; i++)
		if (!read_word(u, regs_at + 8ULL * i, &caller.reg[i]))
			return false;
	if (caller.reg[29] != record_x29 || !caller.reg[32])
		return false;
	u->regs = caller;
	u->pc = caller.reg[32];
	u->exact = true;
	return true;
}

/* From the frame that @row describes to its caller. */
static enum pev_unwind_end follow_row(struct unwind *u, const struct pev_cfi_row *row)
{
	const struct pev_arch *const arch = u->arch;
	const bool signal = row->flags & PEV_CFI_SIGNAL;
	const uint64_t sp = has(u, arch->sp) ? u->regs.reg[arch->sp] : 0;
	uint64_t cfa, ra;
	enum pev_unwind_end end;

	if (signal && arch->machine == EM_AARCH64 && leave_aarch64_signal(u))
		return GO_ON;
	end = fetch(u, &u->regs, row, &row->cfa, NULL, &cfa);
	if (end != GO_ON)
		return end;
	cfa &= arch->addr_mask;
	if (row->ra.how == PEV_CFI_SAME && !u->exact)
		return PEV_UNWIND_NO_GROWTH;
	end = fetch(u, &u->regs, row, &row->ra, &cfa, &ra);
	if (end != GO_ON)
		return end;
	if (row->flags & PEV_CFI_RA_SIGNED)
		ra = strip_pac(u, ra);
	ra &= arch->addr_mask;
	if (!ra)
		return PEV_UNWIND_OUTERMOST;
	move_registers(u, row, cfa);
	set(u, row->ra.reg, ra);
	/* Handlers may run on a stack of their own; only a leaf needs no stack at all. The CFA
	 * itself need not lie on the stack: longjmp() of glibc has it in its jmp_buf. */
	if (!signal && has(u, arch->sp) && u->regs.reg[arch->sp] < sp + !u->exact)
		return PEV_UNWIND_NO_GROWTH;
	u->pc = ra;
	u->exact = signal;
	return GO_ON;
}

/* Gives the address of the current frame and moves to its caller. */
static enum pev_unwind_end step(struct unwind *u, uint64_t *ret_ip)
{
	const uint64_t inside = u->pc - !u->exact;
	const struct pev_cfi_row *row;
	enum pev_unwind_end end;

	*ret_ip = inside;
	end = find_row(u, inside, &row);
	if (end == PEV_UNWIND_NO_CFI && u->map.cfi && is_stub(u) && leave_stub(u))
		return GO_ON;
	if (end == PEV_UNWIND_NO_MAP || end == PEV_UNWIND_NO_CFI)
		return follow_frame_pointer(u, end);
	if (end != GO_ON)
		return end;
	if (row->flags & PEV_CFI_SIGNAL)
		*ret_ip = u->pc;
	return follow_row(u, row);
}

size_t pev_unwind(const struct pev_unwind_input *in, uint64_t *ips, size_t max,
		  enum pev_unwind_end *ret_end)
{
	enum pev_unwind_end end = GO_ON;
	struct unwind u;
	size_t n = 0;

	if (!start(&u, in)) {
		*ret_end = PEV_UNWIND_NO_REGS;
		return 0;
	}
	while (end == GO_ON && n < max)
		end = step(&u, &ips[n++]);
	*ret_end = end == GO_ON ? PEV_UNWIND_MAX_FRAMES : end;
	return n;
}
