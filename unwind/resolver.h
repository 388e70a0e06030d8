/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the records of a trace, in the order of time, to named frames: which code a sample was in,
 * and what that code is called. */
#pragma once

/*
 * How it is used:
 *
 *	pev_resolver_new(&options, &r, &err);
 *	for each trace:
 *		pev_resolver_trace(r, trace, path, head.features, &err);
 *	for each record of a kernel type, in time order:
 *		if it is no sample:
 *			pev_resolver_see(r, trace, rec, &err);
 *		else:
 *			pev_resolver_chain(r, trace, attr, rec, &chain, &err);
 *			count chain.codes, an array of (module, address)
 *	for each distinct code:
 *		n = pev_resolver_name(r, &code, &frames, &err);
 *
 * Several traces can share a resolver, told apart by a small number of the caller's choice:
 * processes and kernels are each trace's own, files and their names are shared.
 *
 * Following the records and making chains is cheap, and distinct code has distinct (module,
 * address): count those, and ask for names once at the end. Chains, comms and cgroups are those of
 * the moment, so ask for them before the next record is seen.
 *
 * Everything that is given out (modules, frames, strings) belongs to the resolver and lives as long
 * as it, but for struct pev_chain. One thread at a time.
 */

#include "base/err.h"
#include "format/feature.h"
#include "format/record.h"
#include "unwind/unwinder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pev_buf;
struct pev_debuginfod;
struct pev_resolver;

/* A file of code, or what stands for one: the kernel, the vdso, a BPF program, the code that a JIT
 * compiler wrote into the memory of one process. */
struct pev_module;

/* Frames of a chain when the caller does not say: perf's PERF_MAX_STACK_DEPTH. */
#define PEV_MAX_STACK_DEFAULT 127

struct pev_resolver_options {
	const char *symfs;             /* NULL, or where the file tree of the host is */
	const char *const *debug_dirs; /* asked for separate debug files before /usr/lib/debug */
	size_t nr_debug_dirs;
	const char *kallsyms; /* NULL, or a copy of /proc/kallsyms of the recorded kernel */
	const char *vmlinux;  /* NULL, or the ELF file of the recorded kernel */
	const char *jit_dir;  /* NULL: /tmp, where perf-PID.map files are */
	struct pev_debuginfod *debuginfod; /* NULL: servers are not asked; borrowed */
	bool no_inline;                    /* one frame for each code: the function that is there */
	bool no_demangle;
	/*
	 * For pevrec script: what perf script (7.2) gets wrong is the same here. A function that
	 * goes by another name in DWARF than in the symbol table has DWARF's, and counts as
	 * inlined; one inlined into itself does not; a task has no name any more when it ended;
	 * unwinding stops before code that has no file.
	 */
	bool as_perf;
	bool keep_ended; /* with ->as_perf: but an ended task keeps its name, as in perf 6.1 */
	/*
	 * Callers that the kernel recorded are named by the byte before the return address, which
	 * is in the call and not behind it: in its line, and in what was inlined there. perf does
	 * so for unwound ones only, so that names differ from its own now and then.
	 */
	bool exact_callers;
	unsigned int max_stack; /* 0: PEV_MAX_STACK_DEFAULT */
};

/* Copies what it keeps of @options (NULL for all defaults) but for ->debuginfod. Reads no file yet.
 * -ENOMEM. */
int pev_resolver_new(const struct pev_resolver_options *options, struct pev_resolver **ret,
		     struct pev_err *err);

/* NULL is fine. Returns NULL. */
struct pev_resolver *pev_resolver_free(struct pev_resolver *r);

static inline void pev_resolver_freep(struct pev_resolver **r)
{
	*r = pev_resolver_free(*r);
}

/*
 * What the header of the trace says: the architecture, the build-ids of the files. Copied. @path is
 * that of the trace, or NULL: when it is a folder with kcore_dir/kallsyms in it, the names of the
 * kernel are in there. To be called before the first record, and again when a pipe-mode trace told
 * more; the last word counts. Without it the trace is taken to be of this machine's architecture.
 */
int pev_resolver_trace(struct pev_resolver *r, uint32_t trace, const char *path,
		       const struct pev_features *features, struct pev_err *err);

/* A build-id that came in a HEADER_BUILD_ID record; the name is copied. */
int pev_resolver_build_id(struct pev_resolver *r, uint32_t trace,
			  const struct pev_feat_build_id *id, struct pev_err *err);

/*
 * Takes in a record that is no sample, all of them in time order: MMAP, MMAP2, COMM, FORK, EXIT,
 * KSYMBOL, CGROUP, NAMESPACES count, others do nothing. 0 or -ENOMEM.
 */
int pev_resolver_see(struct pev_resolver *r, uint32_t trace, const struct pev_record *rec,
		     struct pev_err *err);

/* The trace has no more records: drops what was kept of its processes. Names can still be had. */
void pev_resolver_trace_end(struct pev_resolver *r, uint32_t trace);

/* Where code was executed. Hash and compare ->module and ->address only. */
struct pev_code {
	struct pev_module *module; /* NULL: nothing was mapped there */
	/*
	 * By which it is named: the offset in the file of the module (what perf prints with the
	 * field dsoff); the recorded address for the kernel, for what has no file, and without a
	 * ->module. No file was opened to find it.
	 */
	uint64_t address;
	uint64_t ip;  /* as recorded, and as `perf script` prints it */
	uint8_t mode; /* PEV_MISC_KERNEL, _USER, _HYPERVISOR, _GUEST_KERNEL, _GUEST_USER */
};

/* How a chain was found, and so what its end means. */
enum pev_chain_kind {
	PEV_CHAIN_NONE,      /* the event records none: ->codes is where the sample was */
	PEV_CHAIN_CALLCHAIN, /* by the kernel: frame pointers */
	PEV_CHAIN_DWARF,     /* the user part was unwound from registers and stack */
	PEV_CHAIN_LBR,       /* the user part is from the branch records of the CPU */
};

/*
 * Zero-initialise once, use again for each sample, and pev_chain_done() at the end: the array grows
 * to what is needed and stays.
 */
struct pev_chain {
	struct pev_code self;   /* where the sample was: sample.ip */
	struct pev_code *codes; /* owned; innermost first, the kernel's before the user's */
	size_t nr, cap;
	enum pev_chain_kind kind;
	enum pev_unwind_end end; /* with PEV_CHAIN_DWARF: why it has no further frame */
	bool truncated;          /* cut at max_stack */
	bool corrupt;    /* the recorded chain was not understood, and dropped, as perf does */
	bool deferred;   /* the user part is in a CALLCHAIN_DEFERRED record to come, */
	uint64_t cookie; /* which has this cookie */
};

void pev_chain_done(struct pev_chain *chain);

/*
 * The chain of a sample, as `perf script` orders it, recorded by an event with the attributes
 * @attr; what the records seen so far say is mapped. Without a recorded chain it is one code, that
 * of sample.ip; it may be empty. 0 or -ENOMEM.
 */
int pev_resolver_chain(struct pev_resolver *r, uint32_t trace, const struct pev_attr *attr,
		       const struct pev_record *sample, struct pev_chain *chain,
		       struct pev_err *err);

/*
 * Appends the user part that a CALLCHAIN_DEFERRED record brings to the chain of the sample that has
 * ->deferred set and the same ->cookie. 0 or -ENOMEM.
 */
int pev_resolver_chain_deferred(struct pev_resolver *r, uint32_t trace,
				const struct pev_record *rec, struct pev_chain *chain,
				struct pev_err *err);

/*
 * What is at @address of process @pid at this moment, in @mode (PEV_MISC_KERNEL, ...): for
 * sample.addr and for branch records. Data mappings count, too. 0 or -ENOMEM.
 */
int pev_resolver_at(struct pev_resolver *r, uint32_t trace, uint32_t pid, uint8_t mode,
		    uint64_t address, struct pev_code *ret, struct pev_err *err);

/*
 * A function that is at an address: really there (the last one of the array), or inlined (those
 * before it, innermost first). Strings that are equal have equal pointers.
 */
struct pev_frame {
	const char *name;          /* demangled; NULL: "[unknown]" */
	const char *mangled;       /* as the symbol table or DWARF has it; NULL as above */
	const char *dso;           /* as perf script prints it between the parentheses */
	const char *file;          /* of the source, as compiled; NULL: not known */
	uint32_t line;             /* 0: not known */
	bool inlined;              /* perf prints "(inlined)" in place of the dso */
	bool kernel;               /* also a guest's, and BPF programs */
	uint64_t offset;           /* of the address in the symbol, of all that is inlined, too */
	struct pev_module *module; /* NULL: nothing was mapped there */
};

/*
 * Names @code. Each distinct code is named once, the next time it costs a look into a table.
 * Returns the number of frames, at least 1, or -ENOMEM.
 */
int pev_resolver_name(struct pev_resolver *r, const struct pev_code *code,
		      const struct pev_frame **ret_frames, struct pev_err *err);

/*
 * The name of thread @tid of @pid at this moment; ":TID" when none was told, as perf has it. @pid
 * may be unknown (0xffffffff). NULL without memory.
 */
const char *pev_resolver_comm(struct pev_resolver *r, uint32_t trace, uint32_t pid, uint32_t tid);

/* The path of the cgroup with @id, as the CGROUP records so far tell; NULL when they do not. */
const char *pev_resolver_cgroup(const struct pev_resolver *r, uint32_t trace, uint64_t id);

/* What is known of a module, and what was missing when it was needed. */
struct pev_module_info {
	const char *dso;        /* as struct pev_frame has it */
	const char *short_name; /* as `perf report` prints it: the file name, "[module]" */
	const char *path;       /* the file that symbols were taken from; NULL: none, or not yet
				   looked for */
	uint8_t build_id_size;  /* 0: the trace has none */
	uint8_t build_id[PEV_BUILD_ID_MAX];
	bool kernel;      /* the kernel, a module of it, a BPF program */
	bool used;        /* looked for because of a sample; the rest is only known then */
	bool not_found;   /* neither the file nor its debug file */
	bool stale;       /* there was a file, but with another build-id */
	bool unverified;  /* the trace has no build-id, the file may be another build */
	bool stripped;    /* no symbol table beyond that of the dynamic linker */
	bool no_cfi;      /* no unwind tables, and they were needed */
	bool no_lines;    /* no DWARF: neither inlined functions nor lines */
	uint64_t named;   /* distinct addresses that got a name */
	uint64_t unnamed; /* and those that got none */
};

void pev_module_info(const struct pev_module *m, struct pev_module_info *ret);

/* Appends one sentence that tells where the file was looked for, and what was wrong there. */
void pev_module_explain(const struct pev_module *m, struct pev_buf *text);

/* All modules that were mapped: number @i, NULL behind the last one. */
struct pev_module *pev_resolver_module(struct pev_resolver *r, size_t i);

struct pev_resolver_counters {
	uint64_t records;   /* seen */
	uint64_t samples;   /* that got a chain */
	uint64_t frames;    /* of those chains */
	uint64_t unmapped;  /* of those: in no mapping */
	uint64_t unwound;   /* samples with a dumped stack */
	uint64_t truncated; /* chains cut at max_stack */
	uint64_t corrupt;   /* chains that were not understood */
	uint64_t named;     /* distinct addresses */
	uint64_t unnamed;   /* of those: without a symbol */
	uint64_t spaces;    /* processes */
	uint64_t mappings;  /* records of them */
	uint64_t forgotten; /* ended processes that were dropped to bound the memory */
	uint64_t ends[PEV_UNWIND_NR_ENDS]; /* why unwound chains end */
};

const struct pev_resolver_counters *pev_resolver_counters(const struct pev_resolver *r);
