/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A resolver with files of its own, and records for it, for the tests of the resolver. */
#pragma once

#include "symbol_fixtures.h"

#include "unwind/resolver.h"

/* The process of all samples. */
#define PID 10

struct world {
	struct pev_resolver *r;
	struct pev_chain chain;
	char dir[64];
};

int world_setup(void **state);
int world_teardown(void **state);

#define WORLD_TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

/* Creates file @name in ->dir. */
void world_write(const struct world *w, const char *name, const char *text);

/* Starts with @options, and what every test has: the file "kallsyms" of ->dir, which is there, as
 * kallsyms, and ->dir in place of /tmp. */
void world_start(struct world *w, struct pev_resolver_options options);

void world_see(struct world *w, struct pev_record rec);

/* Executable memory of PID, as MMAP2 tells it; and memory of the kernel, as MMAP does. */
struct pev_record world_mmap2(uint64_t start, uint64_t len, uint64_t pgoff, const char *name);
struct pev_record world_kernel_map(uint64_t start, uint64_t len, uint64_t pgoff, const char *name);

struct pev_u64s world_words(const uint64_t *v, size_t nr);

/* The chain of a sample of PID with that callchain. */
extern const struct pev_attr world_fp_attr;
void world_chain(struct world *w, const struct pev_attr *attr, const uint64_t *ips, size_t nr);

/* What is at @address, as "name+offset (dso)" with "; " between inlined functions. The text is
 * there until the next call. */
const char *world_name(struct world *w, uint32_t pid, uint8_t mode, uint64_t address);
const char *world_user_name(struct world *w, uint64_t address);
const char *world_kernel_name(struct world *w, uint64_t address);
