/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a recording wants from /proc/kallsyms, in one pass over it: where the kernel's text lies,
 * and the code that BPF has made. */
#pragma once

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pev_bpf_symbol {
	uint64_t addr;
	size_t name; /* offset of the name in ->names */
};

/* Addresses are 0 where the symbol is not there. */
struct pev_kallsyms {
	uint64_t text, stext;       /* _text, _stext */
	uint64_t etext, edata;      /* _etext; _edata is there with CONFIG_KALLSYMS_ALL only */
	bool hidden;                /* all addresses read 0: kptr_restrict, or no CAP_SYSLOG */
	struct pev_bpf_symbol *bpf; /* owned; sorted by address: the symbols of "module" [bpf] */
	size_t nr_bpf;
	struct pev_buf names; /* NUL-terminated */
};

/*
 * Reads @path, usually "/proc/kallsyms" (lines of "address type name [module]", address order
 * within the kernel, then modules, then BPF). Without @want_bpf reading stops where the kernel's
 * own symbols end, which is a good part of the time. A negative errno of open(2) or read(2),
 * -EBADMSG for a file of another kind, -ENOMEM.
 */
int pev_kallsyms_read(const char *path, bool want_bpf, struct pev_kallsyms *ret,
		      struct pev_err *err);

void pev_kallsyms_done(struct pev_kallsyms *k);
