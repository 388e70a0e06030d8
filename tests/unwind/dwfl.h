/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libdwfl's unwinder over the same registers and stack, to hold ours to. */
#pragma once

#include "space.h"

struct dwfl_oracle;

/* An oracle for samples of @arch in @space, which must have all of its maps by now. */
struct dwfl_oracle *dwfl_oracle_new(const struct pev_arch *arch, const struct space *space);
void dwfl_oracle_free(struct dwfl_oracle *oracle);

/* Like pev_unwind(), but without the reason why it ended. */
size_t dwfl_oracle_unwind(struct dwfl_oracle *oracle, const struct pev_unwind_input *in,
			  uint64_t *ips, size_t max);
