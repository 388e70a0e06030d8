// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unwind/resolver.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "unwind/kernel.h"
#include "unwind/names.h"
#include "unwind/resolver_part.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define NO_MEMORY "No memory to follow the processes of the trace"

/* Chains longer than this are not asked for by anybody. */
#define MAX_STACK_LIMIT 65536U

static void world_free(struct pev_world *w)
{
	void *id;

	pev_tasks_done(&w->tasks);
	for (size_t i = 0; i < PEV_NR_MACHINES; i++)
		pev_space_done(&w->kernel[i]);
	pev_table_done(&w->cgroups);
	for (size_t i = 0; (id = pev_table_next(&w->build_ids, &i));)
		free(id);
	pev_table_done(&w->build_ids);
	free(w);
}

int pev_resolver_new(const struct pev_resolver_options *options, struct pev_resolver **ret,
		     struct pev_err *err)
{
	static const struct pev_resolver_options defaults = { 0 };
	const struct pev_resolver_options *const o = options ? options : &defaults;
	_cleanup_(pev_resolver_freep) struct pev_resolver *r = calloc(1, sizeof(*r));
	int status;

	if (!r)
		return pev_err_set(err, -ENOMEM, NO_MEMORY);
	status = pev_modules_init(&r->modules, o, err);
	if (status < 0)
		return status;
	r->exact_callers = o->exact_callers;
	r->forget_ended = o->as_perf && !o->keep_ended;
	r->max_stack =
		o->max_stack ? PEV_MIN(o->max_stack, MAX_STACK_LIMIT) : PEV_MAX_STACK_DEFAULT;
	r->ips = calloc(r->max_stack, sizeof(r->ips[0]));
	if (!r->ips)
		return pev_err_set(err, -ENOMEM, NO_MEMORY);
	*ret = TAKE_PTR(r);
	return 0;
}

struct pev_resolver *pev_resolver_free(struct pev_resolver *r)
{
	struct pev_world *w;

	if (!r)
		return NULL;
	for (size_t i = 0; (w = pev_table_next(&r->worlds, &i));)
		world_free(w);
	pev_table_done(&r->worlds);
	pev_modules_done(&r->modules);
	free(r->ips);
	free(r);
	return NULL;
}

/* EM_* by what uname(2) calls the machine; EM_NONE for one that has no unwinder here. */
static unsigned int machine_of(const char *name)
{
	static const struct {
		const char *name;
		unsigned int machine;
	} known[] = {
		{ "x86_64", EM_X86_64 }, { "aarch64", EM_AARCH64 }, { "arm64", EM_AARCH64 },
		{ "i386", EM_386 },      { "i486", EM_386 },        { "i586", EM_386 },
		{ "i686", EM_386 },
	};

	for (size_t i = 0; i < PEV_ARRAY_SIZE(known); i++)
		if (strcmp(name, known[i].name) == 0)
			return known[i].machine;
	return EM_NONE;
}

struct pev_world *pev_resolver_world(struct pev_resolver *r, uint32_t trace)
{
	struct pev_world *w = pev_table_get(&r->worlds, trace, 0);
	struct utsname own;

	if (w)
		return w;
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->tasks.strings = &r->modules.strings;
	w->machine = uname(&own) == 0 ? machine_of(own.machine) : EM_NONE;
	if (pev_table_put(&r->worlds, trace, 0, w) < 0) {
		world_free(w);
		return NULL;
	}
	return w;
}

void pev_resolver_trace_end(struct pev_resolver *r, uint32_t trace)
{
	struct pev_world *const w = pev_table_get(&r->worlds, trace, 0);

	if (!w)
		return;
	pev_table_remove(&r->worlds, trace, 0);
	world_free(w);
}

/* Entries of a kernel are "[ext4]", or the file of a module, or the kernel itself. */
static bool is_kernel_entry(const struct pev_feat_build_id *id)
{
	return (id->misc & PEV_MISC_CPUMODE_MASK) == PEV_MISC_KERNEL && !strstr(id->name, ".ko") &&
	       (id->name[0] != '[' || strncmp(id->name, "[kernel.kallsyms", 16) == 0);
}

static int add_build_id(struct pev_resolver *r, struct pev_world *w,
			const struct pev_feat_build_id *id)
{
	struct pev_build_id *copy;
	const char *name;

	if (!id->name || !id->size)
		return 0;
	name = pev_strings_put(&r->modules.strings, id->name, strlen(id->name));
	if (!name)
		return -ENOMEM;
	if (is_kernel_entry(id))
		w->kernel_name = name;
	copy = pev_table_get(&w->build_ids, (uintptr_t)name, 0);
	if (!copy) {
		copy = malloc(sizeof(*copy));
		if (!copy)
			return -ENOMEM;
		if (pev_table_put(&w->build_ids, (uintptr_t)name, 0, copy) < 0) {
			free(copy);
			return -ENOMEM;
		}
	}
	*copy = pev_build_id(id->id, PEV_MIN(id->size, (uint8_t)PEV_BUILD_ID_MAX));
	return 0;
}

int pev_resolver_build_id(struct pev_resolver *r, uint32_t trace,
			  const struct pev_feat_build_id *id, struct pev_err *err)
{
	struct pev_world *const w = pev_resolver_world(r, trace);

	if (!w || add_build_id(r, w, id) < 0)
		return pev_err_set(err, -ENOMEM, NO_MEMORY);
	return 0;
}

/* A folder made by perf record --kcore has the symbols of the kernel in it. */
static int find_kallsyms(struct pev_resolver *r, struct pev_world *w, const char *path)
{
	char name[PATH_MAX];

	if (!path ||
	    snprintf(name, sizeof(name), "%s/kcore_dir/kallsyms", path) >= (int)sizeof(name))
		return 0;
	if (access(name, R_OK) < 0)
		return 0;
	w->kallsyms = pev_strings_put(&r->modules.strings, name, strlen(name));
	return w->kallsyms ? 0 : -ENOMEM;
}

static int take_features(struct pev_resolver *r, struct pev_world *w, const struct pev_features *f)
{
	const struct pev_modules *const ms = &r->modules;
	int status;

	if (pev_features_has(f, PEV_FEAT_ARCH))
		w->machine = machine_of(f->arch);
	if (pev_features_has(f, PEV_FEAT_E_MACHINE))
		w->machine = f->e_machine.machine;
	if (pev_features_has(f, PEV_FEAT_OSRELEASE)) {
		w->release =
			pev_strings_put(&r->modules.strings, f->osrelease, strlen(f->osrelease));
		if (!w->release)
			return -ENOMEM;
	}
	w->same_host = w->release && ms->own_release && ms->own_host &&
		       pev_features_has(f, PEV_FEAT_HOSTNAME) &&
		       strcmp(w->release, ms->own_release) == 0 &&
		       strcmp(f->hostname, ms->own_host) == 0;
	if (!pev_features_has(f, PEV_FEAT_BUILD_ID))
		return 0;
	for (uint32_t i = 0; i < f->build_ids.nr; i++) {
		status = add_build_id(r, w, &f->build_ids.v[i]);
		if (status < 0)
			return status;
	}
	return 0;
}

int pev_resolver_trace(struct pev_resolver *r, uint32_t trace, const char *path,
		       const struct pev_features *features, struct pev_err *err)
{
	struct pev_world *const w = pev_resolver_world(r, trace);

	if (!w || take_features(r, w, features) < 0 || find_kallsyms(r, w, path) < 0)
		return pev_err_set(err, -ENOMEM, NO_MEMORY);
	return 0;
}

static int see_ksymbol(struct pev_resolver *r, struct pev_world *w, const struct pev_record *rec)
{
	const uint64_t start = rec->ksymbol.addr;
	const struct pev_module_key key = {
		.kind = PEV_MODULE_KSYM,
		.path = rec->ksymbol.name,
		.start = start,
	};
	struct pev_mapping map = { .start = start };
	int status = 0;

	if (!pev_add_u64(start, rec->ksymbol.len, &map.end) || map.end == start)
		return 0;
	if (rec->ksymbol.flags & PEV_KSYMBOL_FLAGS_UNREGISTER)
		return pev_space_unmap(&w->kernel[PEV_HOST], start, map.end);
	map.module = pev_modules_get(&r->modules, &key);
	if (!map.module)
		return -ENOMEM;
	r->counters.mappings++;
	status = pev_space_map(&w->kernel[PEV_HOST], &map);
	return status;
}

static int see_cgroup(struct pev_resolver *r, struct pev_world *w, const struct pev_record *rec)
{
	const char *const path = rec->cgroup.path;
	const char *const copy = pev_strings_put(&r->modules.strings, path, strlen(path));

	if (!copy)
		return -ENOMEM;
	/* The table has no values that are only read. */
	return pev_table_put(&w->cgroups, rec->cgroup.id, 0, (void *)(uintptr_t)copy);
}

/* struct perf_ns_link_info, by its index in the record: NET, UTS, IPC, PID, USER, MNT, CGROUP. */
#define NS_MNT 5

static int see_namespaces(struct pev_world *w, const struct pev_record *rec)
{
	struct pev_task *task;

	if (rec->namespaces.nr <= NS_MNT)
		return 0;
	task = pev_tasks_get(&w->tasks, PEV_HOST, rec->namespaces.pid, rec->namespaces.tid);
	if (!task)
		return -ENOMEM;
	task->process->mnt_ns = pev_u64s_at(&rec->namespaces.links, 2 * NS_MNT + 1);
	return 0;
}

static enum pev_machine machine_of_mode(unsigned int mode)
{
	return mode == PEV_MISC_GUEST_KERNEL || mode == PEV_MISC_GUEST_USER ? PEV_GUEST : PEV_HOST;
}

static int see(struct pev_resolver *r, struct pev_world *w, const struct pev_record *rec)
{
	struct pev_fork fork;

	switch (rec->hdr.type) {
	case PEV_REC_MMAP:
	case PEV_REC_MMAP2:
		return pev_resolver_map(r, w, rec);
	case PEV_REC_COMM:
		return pev_tasks_comm(&w->tasks,
				      machine_of_mode(rec->hdr.misc & PEV_MISC_CPUMODE_MASK),
				      rec->comm.pid, rec->comm.tid, rec->comm.comm,
				      rec->hdr.misc & PEV_MISC_COMM_EXEC);
	case PEV_REC_FORK:
		fork = (struct pev_fork){
			.pid = rec->task.pid,
			.tid = rec->task.tid,
			.ppid = rec->task.ppid,
			.ptid = rec->task.ptid,
			.told_later = rec->hdr.misc & PEV_MISC_FORK_EXEC,
		};
		return pev_tasks_fork(&w->tasks, &fork);
	case PEV_REC_EXIT:
		pev_tasks_exit(&w->tasks, rec->task.tid);
		return 0;
	case PEV_REC_KSYMBOL:
		return see_ksymbol(r, w, rec);
	case PEV_REC_CGROUP:
		return see_cgroup(r, w, rec);
	case PEV_REC_NAMESPACES:
		return see_namespaces(w, rec);
	default:
		return 0;
	}
}

int pev_resolver_see(struct pev_resolver *r, uint32_t trace, const struct pev_record *rec,
		     struct pev_err *err)
{
	struct pev_world *const w = pev_resolver_world(r, trace);
	uint64_t processes, forgotten;

	if (!w)
		return pev_err_set(err, -ENOMEM, NO_MEMORY);
	processes = w->tasks.nr_processes;
	forgotten = w->tasks.nr_forgotten;
	if (see(r, w, rec) < 0)
		return pev_err_set(err, -ENOMEM, NO_MEMORY);
	r->counters.records++;
	r->counters.spaces += w->tasks.nr_processes - processes;
	r->counters.forgotten += w->tasks.nr_forgotten - forgotten;
	return 0;
}

struct pev_process *pev_world_process(const struct pev_world *w, uint8_t mode, uint32_t pid)
{
	return pev_tasks_find_process(&w->tasks, machine_of_mode(mode), pid);
}

static int kernel_code(struct pev_world *w, enum pev_machine machine, struct pev_code *code)
{
	struct pev_module *const kernel = w->kernel_module[machine];
	const struct pev_mapping *const m = pev_space_find(&w->kernel[machine], code->address);
	bool holds = false;
	int r;

	if (m) {
		code->module = m->module;
		return 0;
	}
	if (!kernel)
		return 0;
	r = pev_kernel_holds(kernel, code->address, &holds);
	if (r == 0 && holds)
		code->module = kernel;
	return r;
}

int pev_world_code(struct pev_world *w, struct pev_process *p, uint8_t mode, uint64_t address,
		   uint64_t time, struct pev_code *ret)
{
	const struct pev_mapping *m = NULL;

	*ret = (struct pev_code){ .address = address, .ip = address, .mode = mode };
	if (mode == PEV_MISC_KERNEL)
		return kernel_code(w, PEV_HOST, ret);
	if (mode == PEV_MISC_GUEST_KERNEL)
		return kernel_code(w, PEV_GUEST, ret);
	if (p && (mode == PEV_MISC_USER || mode == PEV_MISC_GUEST_USER))
		m = pev_process_find(p, address);
	if (!m)
		return 0;
	ret->module = m->module;
	if (pev_module_is_file(m->module))
		ret->address = address - m->start + m->pgoff;
	if (!m->module->jitdump_path)
		return 0;
	/* What code is there changes with time, so that it cannot go by its address. */
	if (pev_module_open(m->module) < 0)
		return -ENOMEM;
	return pev_module_jit_code(m->module, address, time, &ret->address);
}

int pev_resolver_at(struct pev_resolver *r, uint32_t trace, uint32_t pid, uint8_t mode,
		    uint64_t address, struct pev_code *ret, struct pev_err *err)
{
	struct pev_world *const w = pev_resolver_world(r, trace);

	if (!w || pev_world_code(w, pev_world_process(w, mode, pid), mode, address,
				 PEV_JITDUMP_LATEST, ret) < 0)
		return pev_err_set(err, -ENOMEM, NO_MEMORY);
	return 0;
}

int pev_resolver_name(struct pev_resolver *r, const struct pev_code *code,
		      const struct pev_frame **ret_frames, struct pev_err *err)
{
	const size_t known = r->modules.names.nr;
	const int n = pev_names_get(&r->modules, code->module, code->address, ret_frames);

	if (n < 0)
		return pev_err_set(err, n, "No memory for the names of functions");
	if (r->modules.names.nr != known) {
		r->counters.named++;
		r->counters.unnamed += !(*ret_frames)[n - 1].name;
	}
	return n;
}

const char *pev_resolver_comm(struct pev_resolver *r, uint32_t trace, uint32_t pid, uint32_t tid)
{
	const struct pev_world *const w = pev_table_get(&r->worlds, trace, 0);
	const struct pev_task *const task = w ? pev_tasks_find(&w->tasks, PEV_HOST, tid) : NULL;
	char text[16];
	int n;

	if (task && task->comm && (task->process->pid == pid || pid == UINT32_MAX) &&
	    !(task->ended && r->forget_ended))
		return task->comm;
	if (tid == 0)
		n = snprintf(text, sizeof(text), "swapper");
	else
		n = snprintf(text, sizeof(text), ":%d", (int)tid);
	return pev_strings_put(&r->modules.strings, text, (size_t)n);
}

const char *pev_resolver_cgroup(const struct pev_resolver *r, uint32_t trace, uint64_t id)
{
	const struct pev_world *const w = pev_table_get(&r->worlds, trace, 0);

	return w ? pev_table_get(&w->cgroups, id, 0) : NULL;
}

struct pev_module *pev_resolver_module(struct pev_resolver *r, size_t i)
{
	return i < r->modules.nr ? r->modules.v[i] : NULL;
}

const struct pev_resolver_counters *pev_resolver_counters(const struct pev_resolver *r)
{
	return &r->counters;
}
