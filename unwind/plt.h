/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stubs through which a program calls into its libraries. They have no symbols of their own;
 * the relocation of the slot that a stub jumps through tells its name. */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pev_image;

struct pev_plt_stub {
	uint64_t vaddr;
	uint32_t size;
	uint32_t name;  /* offset in ->names, of "NAME@plt" or ".plt" */
	uint64_t ifunc; /* when not 0: the stub calls what the IFUNC resolver here chose, and ->name
			   is only what to say when there is no symbol for it */
};

/* Zero-initialise to start, pev_plt_done() to end. */
struct pev_plt {
	struct pev_plt_stub *stubs; /* owned */
	size_t nr;
	struct pev_buf names; /* NUL-terminated strings */
};

void pev_plt_done(struct pev_plt *plt);

/*
 * Decodes .plt, .plt.sec and .plt.got of x86-64 and aarch64; other machines have none here. What
 * is in .plt and belongs to no function is called ".plt", as perf does; a stub whose slot nobody
 * fills is called "offset_0xOFFSET@plt". -ENOMEM only: damaged sections give fewer stubs.
 */
int pev_plt_read(struct pev_image *image, struct pev_plt *ret);
