/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What code is called: each address of a module is named once. */
#pragma once

#include "unwind/module.h"

/*
 * The frames at @address (of struct pev_code) of @m, or with NULL, of what is not mapped. They live
 * as long as @ms. Returns how many, at least 1, or -ENOMEM.
 */
int pev_names_get(struct pev_modules *ms, struct pev_module *m, uint64_t address,
		  const struct pev_frame **ret_frames);
