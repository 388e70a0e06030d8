/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The modules of all traces: who they are, and what their files say, read when it is asked for. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "unwind/image.h"
#include "unwind/jitdump.h"
#include "unwind/locate.h"
#include "unwind/resolver.h"
#include "unwind/strings.h"
#include "unwind/symtab.h"
#include "unwind/table.h"

#include <stdbool.h>
#include <stdint.h>

struct pev_cfi;
struct pev_demangler;
struct pev_inlines;
struct pev_ksyms;
struct pev_modules;
struct pev_perf_map;

enum pev_module_kind {
	PEV_MODULE_FILE,     /* an ELF file, or what goes by a file name */
	PEV_MODULE_VDSO,     /* the code that the kernel maps into each process */
	PEV_MODULE_JIT,      /* anonymous executable memory of a process */
	PEV_MODULE_NAMELESS, /* memory without symbols: [heap], [stack], //anon, /SYSV... */
	PEV_MODULE_KERNEL,
	PEV_MODULE_KMOD, /* a module that was loaded into the kernel */
	PEV_MODULE_KSYM, /* what a KSYMBOL record told of: a BPF program, a trampoline */
};

/* Modules are the same when all of this is. */
struct pev_module_key {
	enum pev_module_kind kind;
	bool guest;
	const char *path; /* as recorded; of a JIT, of its perf map; of a KSYM, its symbol */
	struct pev_build_id id;
	/* Of the file, where the record has no build-id. */
	uint64_t dev, ino, ino_generation;
	/* What belongs to a kernel: where it is, which tells boots apart. Of a VDSO: 1 when the
	 * kernel that it came from is the one that runs here. */
	uint64_t start;
};

struct pev_module {
	struct pev_module_key key; /* ->path is interned */
	struct pev_modules *all;
	struct pev_module *next; /* with the same hash */
	const char *dso, *short_name;

	/* Set by who knows it, before names are asked for. */
	struct pev_module *kernel; /* of a KMOD */
	const char *ref_name;      /* of a KERNEL: a symbol of it, and where that was, or NULL */
	uint64_t ref_addr;
	const char *kallsyms;     /* of a KERNEL: its own, which came with the trace, or NULL */
	const char *release;      /* of a KERNEL, as uname -r; or NULL */
	uint64_t mnt_ns;          /* of a JIT: the process' mount namespace; 0: not told */
	const char *jitdump_path; /* of a JIT: the file it mapped to tell so, or NULL */

	/* Filled by pev_module_open(). */
	bool opened;
	struct pev_located located;
	const struct pev_ksyms *ksyms; /* of a KERNEL; borrowed from ->all */
	uint64_t delta;                /* of a KERNEL: address there minus address here */
	struct pev_buf text, dump;     /* of a JIT: the bytes of the next two */
	struct pev_perf_map *perf_map;
	struct pev_jitdump *jitdump;
	struct pev_table jit_codes; /* struct pev_jit_code, owned, by ->entry and 0 */

	/* Filled when they are asked for. */
	bool has_cfi, has_symtab, has_inlines;
	struct pev_cfi *cfi;
	struct pev_symtab *symtab;
	struct pev_inlines *inlines;
	struct pev_table renamed; /* by ->start of symbols: see unwind/names.c */

	struct pev_module_info info;
};

/* Kernel symbols are one file for all kernels that are the same. */
struct pev_ksyms_file {
	char *path;
	struct pev_buf text;
	struct pev_ksyms *ksyms; /* NULL: the file cannot be read, or has no addresses */
	struct pev_ksyms_file *next;
};

struct pev_modules {
	struct pev_strings strings; /* all that is given out */
	struct pev_demangler *demangler;
	struct pev_locate_options locate;
	const char **debug_dirs;
	struct pev_locate_counters located;
	const char *kallsyms, *vmlinux, *jit_dir; /* NULL for the defaults */
	bool no_inline, as_perf;                  /* of struct pev_resolver_options */
	struct pev_build_id own_kernel;           /* of the kernel that runs here */
	const char *own_release;                  /* uname -r */
	const char *own_host;                     /* uname -n */

	struct pev_table by_hash; /* the first of those that have it */
	struct pev_module **v;    /* all of them; owned */
	size_t nr;
	struct pev_ksyms_file *ksyms;
	struct pev_table names; /* struct pev_names by module and address: unwind/names.h */
};

/* Zero-initialise *@ms before. -ENOMEM; pev_modules_done() also then. */
int pev_modules_init(struct pev_modules *ms, const struct pev_resolver_options *options,
		     struct pev_err *err);
void pev_modules_done(struct pev_modules *ms);

/* The module that the key tells of, made when it is new; key->path is copied. NULL without memory.
 */
struct pev_module *pev_modules_get(struct pev_modules *ms, const struct pev_module_key *key);

/* The kind of module that goes by @path in the memory of a process. @exec: mapped executable;
 * @huge: MAP_HUGETLB. */
enum pev_module_kind pev_module_kind_of(const char *path, bool exec, bool huge);

/* True when its code is addressed by the offset in a file. */
static inline bool pev_module_is_file(const struct pev_module *m)
{
	return m->key.kind == PEV_MODULE_FILE || m->key.kind == PEV_MODULE_VDSO;
}

static inline bool pev_module_is_kernel(const struct pev_module *m)
{
	return m->key.kind >= PEV_MODULE_KERNEL;
}

/*
 * Looks for the files of the module, the first time. What is not found is no error, and told by
 * ->info. -ENOMEM.
 */
int pev_module_open(struct pev_module *m);

/* From an address of struct pev_code to the one that the ELF file uses; of an opened module. */
uint64_t pev_module_vaddr(const struct pev_module *m, uint64_t address);

/* Its unwind tables, NULL when there are none. -ENOMEM. */
int pev_module_cfi(struct pev_module *m, struct pev_cfi **ret);

/* Its symbols and its DWARF, NULL when there is none. -ENOMEM. */
int pev_module_symtab(struct pev_module *m, struct pev_symtab **ret);
int pev_module_inlines(struct pev_module *m, struct pev_inlines **ret);

/* Code of a JIT that was at @ip at @time (PEV_JITDUMP_LATEST: at the end) by its jitdump gets a
 * number of its own as an address; *ret_address is untouched when there is none. -ENOMEM. */
int pev_module_jit_code(struct pev_module *m, uint64_t ip, uint64_t time, uint64_t *ret_address);

/* The code that has that number, and how far in it the address is; NULL for other addresses. */
const struct pev_jit_code *pev_module_jit_code_at(const struct pev_module *m, uint64_t address,
						  uint64_t *ret_offset);
