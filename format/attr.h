/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The attributes of an event as files of any age and byte order hold them, and as perf prints them.
 */
#pragma once

#include "base/buf.h"
#include "base/cursor.h"
#include "base/err.h"
#include "format/abi.h"

#include <stddef.h>
#include <stdio.h>

/*
 * Reads an attr that takes @size bytes in the file (header.attr_size - 16, or the size word of
 * EVENT_DESC), which may be older and shorter or newer and longer than struct pev_attr: what the
 * file does not have is 0, what this ABI does not know is dropped. Always moves past @size bytes.
 * With c->swap the fields are turned to host byte order, the flag word included.
 *
 * ->size stays as the file has it, except for 0, which means PEV_ATTR_SIZE_VER0 as it does for
 * perf_event_open(2). 0; -ENODATA when fewer than @size bytes are left; -EBADMSG when @size or
 * ->size is below PEV_ATTR_SIZE_VER0. *ret is untouched on failure.
 */
int pev_attr_decode(struct pev_cursor *c, size_t size, struct pev_attr *ret, struct pev_err *err);

/* Appends @size bytes of attr: a longer one is filled up with zeros, a shorter one loses its tail.
 */
void pev_attr_encode(struct pev_buf *buf, const struct pev_attr *attr, size_t size);

/*
 * Prints what is not 0 of @attr as perf does: names and values with @equals between them, joined by
 * ", ", no newline. With ": " this is what `perf evlist -v` shows after the name of the event, with
 * " = " what the "# event" lines of the header show. Types and configs stay numbers, as in perf
 * 6.1: later ones, 6.12 among them, add names that depend on the machine that reads.
 */
void pev_attr_print(const struct pev_attr *attr, const char *equals, FILE *out);
