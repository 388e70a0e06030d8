/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The code of one process for tests of the unwinder: its mappings, with the CFI of their files. */
#pragma once

#include "unwind/cfi.h"
#include "unwind/unwinder.h"

#include <libelf.h>
#include <sys/types.h>

struct space_module {
	char *path;          /* of the file */
	char *file;          /* where its bytes are: the same, or a copy of the vdso */
	Elf *elf;            /* NULL when it cannot be read */
	struct pev_cfi *cfi; /* NULL when there is none */
	struct space_module *next;
};

struct space_map {
	uint64_t start, end, bias;
	bool is_code; /* mapped executable; others may become it, which perf.data does not tell */
	struct space_module *module;
};

/* Zero-initialise to start. A later map hides earlier ones. Fails the program on errors. */
struct space {
	struct space_map *maps;
	size_t nr;
	struct space_module *modules;
};

void space_done(struct space *space);

/* Adds @map (its start, end and is_code) of the file @path from @pgoff on. The vdso is asked of
 * @vdso_pid, or of this process with 0. */
void space_add(struct space *space, const struct space_map *map, uint64_t pgoff, const char *path,
	       pid_t vdso_pid);

/* Adds every executable mapping that /proc shows of @pid. */
void space_add_process(struct space *space, pid_t pid);

/* The mapping at @pc, or NULL. */
const struct space_map *space_find(const struct space *space, uint64_t pc);

/* A pev_unwind_find_map with a struct space as its argument. */
bool space_find_map(void *space, uint64_t pc, struct pev_unwind_map *ret);

/* The name of the function at @pc by .symtab and .dynsym, or "?". */
const char *space_symbol(const struct space *space, uint64_t pc);
