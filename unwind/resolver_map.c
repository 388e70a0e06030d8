// SPDX-License-Identifier: LGPL-2.1-or-later
/* MMAP and MMAP2: which module a record tells of, and where it is. */
#include "unwind/resolver_part.h"

#include "base/checked.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* The build-id that the header of the trace has for @name, NULL when it has none. */
static const struct pev_build_id *header_build_id(struct pev_resolver *r, const struct pev_world *w,
						  const char *name)
{
	/* The pool has one copy of each string, so that names are the same by their pointers. */
	const char *const own = pev_strings_put(&r->modules.strings, name, strlen(name));

	return own ? pev_table_get(&w->build_ids, (uintptr_t)own, 0) : NULL;
}

static bool has_build_id(const struct pev_record *rec)
{
	return rec->hdr.type == PEV_REC_MMAP2 && rec->hdr.misc & PEV_MISC_MMAP_BUILD_ID;
}

/* Who the file is: by the build-id in the record, or by the one in the header. */
static void fill_build_id(struct pev_resolver *r, const struct pev_world *w,
			  const struct pev_record *rec, const char *name,
			  struct pev_module_key *key)
{
	const struct pev_build_id *known;

	if (has_build_id(rec)) {
		key->id = pev_build_id(rec->mmap.build_id, rec->mmap.build_id_size);
		return;
	}
	known = header_build_id(r, w, name);
	if (known)
		key->id = *known;
}

/*
 * perf writes the name of a reference symbol behind the name of the kernel, and the address of that
 * symbol as ->pgoff; in its first years it was "[kernel.kallsyms._text]".
 */
static bool is_kernel(const char *name)
{
	return strncmp(name, "[kernel.kallsyms", 16) == 0 ||
	       strncmp(name, "[guest.kernel.kallsyms", 22) == 0;
}

static int fill_kernel(struct pev_resolver *r, const struct pev_world *w, const struct pev_mmap *m,
		       struct pev_module *kernel)
{
	const char *const ref = strchr(m->filename, ']');

	kernel->kallsyms = w->kallsyms;
	kernel->release = w->release;
	/* An address of 0: kernel.kptr_restrict hid it. */
	if (!ref || !ref[1] || !m->pgoff)
		return 0;
	kernel->ref_addr = m->pgoff;
	kernel->ref_name = pev_strings_put(&r->modules.strings, ref + 1, strlen(ref + 1));
	return kernel->ref_name ? 0 : -ENOMEM;
}

static int map_kernel(struct pev_resolver *r, struct pev_world *w, const struct pev_record *rec,
		      struct pev_mapping *map)
{
	const bool guest = (rec->hdr.misc & PEV_MISC_CPUMODE_MASK) == PEV_MISC_GUEST_KERNEL;
	const enum pev_machine machine = guest ? PEV_GUEST : PEV_HOST;
	const struct pev_mmap *const m = &rec->mmap;
	const bool kernel = is_kernel(m->filename);
	const char *const header_name = kernel && !guest ? w->kernel_name : NULL;
	struct pev_module_key key = {
		.kind = kernel ? PEV_MODULE_KERNEL : PEV_MODULE_KMOD,
		.guest = guest,
		.path = header_name ? header_name : m->filename,
		.start = kernel && m->pgoff ? m->pgoff : m->start,
	};

	/* Old perfs told of an empty kernel where kernel.kptr_restrict hid its addresses. */
	if (kernel && map->start == 0 && map->end == 0)
		map->end = UINT64_MAX;
	fill_build_id(r, w, rec, key.path, &key);
	map->pgoff = 0;
	map->module = pev_modules_get(&r->modules, &key);
	if (!map->module)
		return -ENOMEM;
	if (!kernel)
		map->module->kernel = w->kernel_module[machine];
	else if (fill_kernel(r, w, m, map->module) < 0)
		return -ENOMEM;
	else
		w->kernel_module[machine] = map->module;
	return pev_space_map(&w->kernel[machine], map);
}

static bool is_exec(const struct pev_record *rec)
{
	return rec->hdr.type == PEV_REC_MMAP2 ? rec->mmap.prot & PROT_EXEC
					      : !(rec->hdr.misc & PEV_MISC_MMAP_DATA);
}

/* True when the kernel of the trace is the one that runs here, as far as can be told. */
static bool is_own_kernel(const struct pev_resolver *r, const struct pev_world *w)
{
	const struct pev_module *const kernel = w->kernel_module[PEV_HOST];

	if (kernel && kernel->key.id.size)
		return pev_build_id_equal(&kernel->key.id, &r->modules.own_kernel);
	return w->same_host;
}

/* What code the process makes itself is one module, wherever it lies. */
static struct pev_module *jit_module(struct pev_resolver *r, const struct pev_process *p)
{
	char path[32];
	const struct pev_module_key key = {
		.kind = PEV_MODULE_JIT,
		.guest = p->machine == PEV_GUEST,
		.path = path,
	};
	struct pev_module *m;

	(void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)p->pid);
	m = pev_modules_get(&r->modules, &key);
	if (m && !m->mnt_ns)
		m->mnt_ns = p->mnt_ns;
	return m;
}

static struct pev_module *user_module(struct pev_resolver *r, const struct pev_world *w,
				      const struct pev_record *rec, const struct pev_process *p)
{
	const struct pev_mmap *const m = &rec->mmap;
	struct pev_module_key key = { .guest = p->machine == PEV_GUEST, .path = m->filename };

	key.kind = pev_module_kind_of(m->filename, is_exec(rec),
				      rec->hdr.type == PEV_REC_MMAP2 && m->flags & MAP_HUGETLB);
	if (key.kind == PEV_MODULE_JIT)
		return jit_module(r, p);
	if (key.kind == PEV_MODULE_VDSO)
		key.start = is_own_kernel(r, w);
	if (key.kind != PEV_MODULE_NAMELESS)
		fill_build_id(r, w, rec, m->filename, &key);
	if (key.kind == PEV_MODULE_FILE && rec->hdr.type == PEV_REC_MMAP2 && !has_build_id(rec)) {
		key.dev = (uint64_t)m->maj << 32 | m->min;
		key.ino = m->ino;
		key.ino_generation = m->ino_generation;
	}
	return pev_modules_get(&r->modules, &key);
}

/* A runtime maps its jitdump executable to have its name in the trace (jitdump-specification.txt).
 */
static int note_jitdump(struct pev_resolver *r, const struct pev_process *p, const char *path)
{
	const char *const slash = strrchr(path, '/');
	struct pev_module *m;
	unsigned int pid;
	char end;

	if (!slash || sscanf(slash, "/jit-%u.dum%c", &pid, &end) != 2 || end != 'p')
		return 0;
	m = jit_module(r, p);
	if (!m)
		return -ENOMEM;
	m->jitdump_path = pev_strings_put(&r->modules.strings, path, strlen(path));
	return m->jitdump_path ? 0 : -ENOMEM;
}

static int map_user(struct pev_resolver *r, struct pev_world *w, const struct pev_record *rec,
		    struct pev_mapping *map)
{
	const bool guest = (rec->hdr.misc & PEV_MISC_CPUMODE_MASK) == PEV_MISC_GUEST_USER;
	const struct pev_mmap *const m = &rec->mmap;
	struct pev_task *task;

	task = pev_tasks_get(&w->tasks, guest ? PEV_GUEST : PEV_HOST, m->pid, m->tid);
	if (!task)
		return -ENOMEM;
	map->module = user_module(r, w, rec, task->process);
	if (!map->module)
		return -ENOMEM;
	/* The vdso is no file, and its offset in nothing is told differently by each kernel. */
	if (map->module->key.kind == PEV_MODULE_VDSO)
		map->pgoff = 0;
	if (is_exec(rec) && note_jitdump(r, task->process, m->filename) < 0)
		return -ENOMEM;
	return pev_space_map(&task->process->space, map);
}

int pev_resolver_map(struct pev_resolver *r, struct pev_world *w, const struct pev_record *rec)
{
	const unsigned int mode = rec->hdr.misc & PEV_MISC_CPUMODE_MASK;
	struct pev_mapping map = { .start = rec->mmap.start, .pgoff = rec->mmap.pgoff };
	int status;

	if (!pev_add_u64(rec->mmap.start, rec->mmap.len, &map.end))
		map.end = UINT64_MAX;
	r->counters.mappings++;
	if (mode == PEV_MISC_KERNEL || mode == PEV_MISC_GUEST_KERNEL)
		status = map_kernel(r, w, rec, &map);
	else
		status = map_user(r, w, rec, &map);
	/* An empty mapping maps nothing. */
	return status == -EINVAL ? 0 : status;
}
