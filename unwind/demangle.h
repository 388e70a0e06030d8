/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mangled names into the names that people wrote: C++, Rust (legacy and v0) and D. */
#pragma once

#include <stddef.h>

enum pev_demangle_style {
	/* "app::run(int) const", as perf prints from 6.3 on; and "void app::sort<int>(int*)" */
	PEV_DEMANGLE_FULL,
	/* "app::run", as perf printed before; neither parameters nor the result */
	PEV_DEMANGLE_SHORT,
	/* Names stay as they are (perf's --no-demangle). */
	PEV_DEMANGLE_OFF,
};

struct pev_demangler;

/* NULL without memory. One thread at a time. */
struct pev_demangler *pev_demangler_new(enum pev_demangle_style style);

/* NULL is fine; returns NULL. */
struct pev_demangler *pev_demangler_free(struct pev_demangler *d);

static inline void pev_demangler_freep(struct pev_demangler **d)
{
	*d = pev_demangler_free(*d);
}

/*
 * The readable form of @name, or @name itself when it is not mangled, or when what it stands for is
 * longer than 64 KiB (a made-up name of a hundred bytes can stand for gigabytes). The hash that
 * Rust puts at the end is dropped. What follows an '@' stays: "foo@plt", "foo@@GLIBC_2.34".
 *
 * Each name is demangled once. The result lives as long as @d, and results that are equal as
 * strings are equal as pointers. Without memory the result is @name.
 */
const char *pev_demangle(struct pev_demangler *d, const char *name);
