/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's symbols: the text of /proc/kallsyms, or what was saved of it with a trace. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pev_ksyms;

/* Names are borrowed from the text and not terminated. */
struct pev_ksym {
	const char *name;
	size_t name_size;
	const char *module; /* NULL: the kernel itself; "bpf" for BPF programs */
	size_t module_size;
	uint64_t start, end; /* [start, end) */
	char type;           /* as nm prints it */
};

struct pev_ksyms_counters {
	uint64_t lines;
	uint64_t kept;
	uint64_t other_types; /* absolute symbols (per-CPU offsets among them), read-only data, ...
			       */
	uint64_t zero;        /* hidden by kernel.kptr_restrict */
	uint64_t bad;         /* not "ADDRESS TYPE NAME [MODULE]" */
};

/*
 * Parses @size bytes of @text, which is borrowed and must live as long as the table. Kept are
 * symbols of the types T, W, D and B, capital or not, as perf does it, and what Rust in the kernel
 * makes (u, N, 1); not the mapping symbols of ARM ("$x"), and no per-CPU offsets where the kernel's
 * addresses have the top bit set. Lines that do not parse are counted. -E2BIG when @text has 4 GiB,
 * -ENOMEM.
 */
int pev_ksyms_new(const void *text, size_t size, struct pev_ksyms **ret, struct pev_err *err);

/* NULL is fine; returns NULL. */
struct pev_ksyms *pev_ksyms_free(struct pev_ksyms *k);

static inline void pev_ksyms_freep(struct pev_ksyms **k)
{
	*k = pev_ksyms_free(*k);
}

/*
 * The symbol that holds @addr. A symbol reaches up to the next one; the last one of a module, to
 * the end of the page after the one it starts on. Of several at one address it is the last in the
 * text, as in perf. May be called by several threads.
 */
bool pev_ksyms_find(const struct pev_ksyms *k, uint64_t addr, struct pev_ksym *ret);

/* The address of the first kept symbol @name of the kernel itself, for where it was loaded
 * ("_text",
 * "_stext"); -ENOENT. Looks at all symbols. */
int pev_ksyms_address(const struct pev_ksyms *k, const char *name, uint64_t *ret);

const struct pev_ksyms_counters *pev_ksyms_counters(const struct pev_ksyms *k);
