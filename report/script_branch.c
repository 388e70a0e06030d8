// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * struct perf_branch_entry: from, to, and flags from the lowest bit up: mispred 1, predicted 1,
 * in_tx 1, abort 1, cycles 16, type 4, spec 2, new_type 4, priv 3.
 */
#include "report/script_part.h"

#include "base/checked.h"

#include <inttypes.h>

static const char *type_name(uint64_t flags)
{
	static const char *const names[] = {
		"",       "COND",      "UNCOND",   "IND",  "CALL", "IND_CALL", "RET",   "SYSCALL",
		"SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",   "NO_TX",
	};
	static const char *const more[] = { "FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
					    "ARCH_2",     "ARCH_3",     "ARCH_4",     "ARCH_5" };
	const uint64_t type = flags >> 20 & 0xf, new_type = flags >> 26 & 0xf;

	if (type < PEV_ARRAY_SIZE(names))
		return names[type];
	return new_type < PEV_ARRAY_SIZE(more) ? more[new_type] : "(null)";
}

static void print_flags(struct script *s, uint64_t flags)
{
	static const char *const specs[] = { "-", "SPEC_WRONG_PATH", "NON_SPEC_CORRECT_PATH",
					     "SPEC_CORRECT_PATH" };
	const char *const predicted = flags & 2 ? "P" : flags & 1 ? "M" : "-";

	pev_out_printf(&s->out, "/%s/%c/%c/%d/%s", predicted, flags & 4 ? 'X' : '-',
		       flags & 8 ? 'A' : '-', (int)(flags >> 4 & 0xffff), type_name(flags));
	if (s->options->style != PEV_SCRIPT_PERF_6_1)
		pev_out_printf(&s->out, "/%s", specs[flags >> 24 & 3]);
	pev_out_char(&s->out, ' ');
}

static int print_dso(struct script *s, const struct pev_code *code)
{
	int r;

	pev_out_str(&s->out, s->options->style == PEV_SCRIPT_PERF_6_1 ? "(" : " (");
	r = script_print_dso(s, code);
	pev_out_char(&s->out, ')');
	return r;
}

/* One end of a branch. */
static int print_end(struct script *s, const struct pev_reader_record *rec, uint64_t address,
		     uint64_t fields)
{
	struct pev_code code;
	int r = 0;

	if (fields & (PEV_SCRIPT_DSO | PEV_SCRIPT_BRSTACKSYM | PEV_SCRIPT_BRSTACKOFF))
		r = script_resolve(s, rec, address, &code);
	if (r < 0)
		return r;
	if (fields & PEV_SCRIPT_BRSTACK)
		pev_out_printf(&s->out, "0x%" PRIx64, address);
	else if (fields & PEV_SCRIPT_BRSTACKSYM)
		r = script_print_symbol(s, &code, true);
	else
		pev_out_printf(&s->out, "0x%" PRIx64, code.address);
	return r == 0 && fields & PEV_SCRIPT_DSO ? print_dso(s, &code) : r;
}

int script_print_branches(struct script *s, const struct pev_reader_record *rec, uint64_t fields)
{
	const struct pev_branch_stack *const b = &rec->rec.sample.branch_stack;
	int r = 0;

	for (uint64_t i = 0; i < b->nr && i * 3 + 2 < b->entries.nr && r == 0; i++) {
		/* perf leaves the blank out where symbols are. */
		if (fields & PEV_SCRIPT_BRSTACK || !(fields & PEV_SCRIPT_BRSTACKSYM))
			pev_out_char(&s->out, ' ');
		r = print_end(s, rec, pev_u64s_at(&b->entries, i * 3), fields);
		pev_out_char(&s->out, '/');
		if (r == 0)
			r = print_end(s, rec, pev_u64s_at(&b->entries, i * 3 + 1), fields);
		print_flags(s, pev_u64s_at(&b->entries, i * 3 + 2));
	}
	return r;
}
