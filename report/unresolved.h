/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What could not be named, and why: the end of every report. */
#pragma once

#include "base/buf.h"
#include "report/profile.h"

#include <stddef.h>
#include <stdint.h>

/* A file, or what stands for one, whose code some samples were in that got no name. */
struct pev_unresolved {
	struct pev_module *module; /* NULL: nothing was mapped there */
	const char *dso;
	bool kernel;
	uint64_t samples;
};

struct pev_unresolved_list {
	struct pev_unresolved *v; /* owned; most samples first */
	size_t nr;
	uint64_t user, kernel; /* samples in all, with a name or without */
};

void pev_unresolved_done(struct pev_unresolved_list *l);

/* -ENOMEM. */
int pev_unresolved_find(struct pev_unresolved_list *l, const struct pev_profile_data *d);

/* Appends a sentence without a full stop: "12 % of user samples have no symbols: /app (...)". */
void pev_unresolved_explain(const struct pev_unresolved_list *l, size_t i, struct pev_buf *text);
