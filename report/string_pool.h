/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Distinct strings, numbered. */
#pragma once

#include "report/index.h"

#include <stdint.h>

/* Zero-initialise to start. A failure stays, so that it can be looked at once at the end. */
struct pev_string_pool {
	char **v; /* owned, each of them */
	uint32_t nr, cap;
	struct pev_index index;
	int failed; /* 0, or -ENOMEM, -E2BIG */
};

void pev_string_pool_done(struct pev_string_pool *p);

/* The number of @s, which is copied when it is new; 0 on failure. */
uint32_t pev_string_pool_add(struct pev_string_pool *p, const char *s);
