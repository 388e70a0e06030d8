/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The BPF programs that are loaded, as records, and as the header features that hold their code. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "recorder/emit.h"
#include "recorder/kallsyms.h"

/* Whole feature sections (HEADER_BPF_PROG_INFO, HEADER_BPF_BTF): a u32 count, then the entries.
 * Zero-initialise to start, pev_bpf_features_done() to end; empty when nothing was found. */
struct pev_bpf_features {
	struct pev_buf prog_info, btf;
};

void pev_bpf_features_done(struct pev_bpf_features *f);

struct pev_bpf_stats {
	uint64_t programs;
	uint64_t symbols; /* KSYMBOL records: one per JITed function or trampoline */
	bool hidden;      /* bpf(2) is not permitted (it takes CAP_SYS_ADMIN): only kallsyms told */
};

/* Whether programs may be loaded: false only when bpf(2) says that there are none. */
bool pev_bpf_any(void);

/*
 * Puts a KSYMBOL for each JITed function of each loaded program, named as @kallsyms has it or else
 * as the kernel would (bpf_prog_TAG_NAME), and a BPF_EVENT for the program; then KSYMBOLs for
 * trampolines and dispatchers, which only @kallsyms knows. Where bpf(2) is not permitted the
 * programs' symbols come from @kallsyms as well, each reaching to the next one, at most to the end
 * of its page.
 *
 * @ret_features, which may be NULL, gets what HEADER_BPF_PROG_INFO and HEADER_BPF_BTF hold. -ENOMEM
 * or the sink's error; programs that come and go meanwhile are no error.
 */
int pev_bpf_progs(struct pev_emit *e, const struct pev_kallsyms *kallsyms,
		  struct pev_bpf_stats *ret, struct pev_bpf_features *ret_features,
		  struct pev_err *err);
