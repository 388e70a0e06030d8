/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names as stackcollapse-perf.pl leaves them. */
#pragma once

#include "base/buf.h"
#include "unwind/resolver.h"

#include <stdbool.h>
#include <stddef.h>

/* Appends the name of a thread and a NUL. */
void pev_folded_comm(const char *comm, struct pev_buf *text);

/*
 * Appends what stands for @frame, pieces with a NUL behind each, caller first: mostly one, none for
 * a name that begins with a parenthesis, and several for one with "->" in it. With @java (the
 * thread's name begins so) classes lose the L in front of them. Returns how many.
 */
size_t pev_folded_frame(const struct pev_frame *frame, bool java, struct pev_buf *text);
