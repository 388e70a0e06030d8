// SPDX-License-Identifier: LGPL-2.1-or-later
#include "dwfl.h"

#include <elf.h>
#include <elfutils/libdwfl.h>
#include <err.h>
#include <stdlib.h>
#include <string.h>

struct dwfl_oracle {
	Dwfl *dwfl;
	const struct pev_arch *arch;
	const struct pev_unwind_input *in; /* of the sample at hand */
	uint64_t regs[PEV_ARCH_MAX_REGS];
	uint64_t *ips;
	size_t nr, max;
};

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	(void)dwfl;
	if (*thread_arg)
		return 0;
	*thread_arg = arg;
	return 1;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	(void)dwfl;
	(void)tid;
	*thread_arg = arg;
	return true;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *ret, void *arg)
{
	const struct dwfl_oracle *const o = arg;
	const uint64_t at = addr - o->regs[o->arch->sp];
	const unsigned word = o->arch->word;

	(void)dwfl;
	if (at >= o->in->stack.size || word > o->in->stack.size - at)
		return false;
	*ret = 0;
	memcpy(ret, o->in->stack.p + at, word);
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	struct dwfl_oracle *const o = arg;
	const unsigned nr = o->arch->pc == o->arch->ra ? o->arch->nr_regs : o->arch->pc;

	if (o->arch->pc != o->arch->ra)
		dwfl_thread_state_register_pc(thread, o->regs[o->arch->pc]);
	return dwfl_thread_state_registers(thread, 0, nr, o->regs);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_registers,
};

static int find_no_elf(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
		       char **file_name, Elf **elf)
{
	(void)mod;
	(void)userdata;
	(void)name;
	(void)base;
	(void)file_name;
	(void)elf;
	return -1;
}

static int find_no_debuginfo(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
			     const char *file_name, const char *link, GElf_Word crc, char **ret)
{
	(void)mod;
	(void)userdata;
	(void)name;
	(void)base;
	(void)file_name;
	(void)link;
	(void)crc;
	(void)ret;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_no_elf,
	.find_debuginfo = find_no_debuginfo,
};

/* One file has several maps, but is reported once. libdwfl knows no file that lies in two places
 * (the builtins of V8 do): what is reported of the second would undo the first. */
static bool is_reported(const struct space *space, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (space->maps[j].is_code && space->maps[j].module == space->maps[i].module)
			return true;
	return false;
}

struct dwfl_oracle *dwfl_oracle_new(const struct pev_arch *arch, const struct space *space)
{
	struct dwfl_oracle *const o = calloc(1, sizeof(*o));
	Elf *any = NULL;

	if (!o)
		err(1, "out of memory");
	o->arch = arch;
	o->dwfl = dwfl_begin(&callbacks);
	dwfl_report_begin(o->dwfl);
	for (size_t i = 0; i < space->nr; i++) {
		const struct space_map *const map = &space->maps[i];

		if (!map->module->elf || !map->is_code || is_reported(space, i))
			continue;
		any = map->module->elf;
		if (!dwfl_report_elf(o->dwfl, map->module->path, map->module->file, -1, map->bias,
				     true))
			errx(1, "%s: %s", map->module->path, dwfl_errmsg(-1));
	}
	dwfl_report_end(o->dwfl, NULL, NULL);
	if (!dwfl_attach_state(o->dwfl, any, 1, &thread_callbacks, o))
		errx(1, "dwfl_attach_state: %s", dwfl_errmsg(-1));
	return o;
}

void dwfl_oracle_free(struct dwfl_oracle *o)
{
	if (!o)
		return;
	dwfl_end(o->dwfl);
	free(o);
}

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct dwfl_oracle *const o = arg;
	Dwarf_Addr pc;
	bool exact;

	if (!dwfl_frame_pc(frame, &pc, &exact))
		return DWARF_CB_ABORT;
	o->ips[o->nr++] = pc - !exact;
	return o->nr < o->max ? DWARF_CB_OK : DWARF_CB_ABORT;
}

size_t dwfl_oracle_unwind(struct dwfl_oracle *o, const struct pev_unwind_input *in, uint64_t *ips,
			  size_t max)
{
	o->in = in;
	o->ips = ips;
	o->nr = 0;
	o->max = max;
	for (unsigned i = 0; i < o->arch->nr_regs; i++) {
		const unsigned bit = o->arch->perf_regs[i];
		const uint64_t below = in->regs->mask & ((1ULL << bit) - 1);

		o->regs[i] = pev_u64s_at(&in->regs->values, (unsigned)__builtin_popcountll(below));
	}
	(void)dwfl_getthread_frames(o->dwfl, 1, take_frame, o);
	return o->nr;
}
