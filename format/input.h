/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bytes of a file or a pipe, in order, through a window; and anywhere, where the file can seek. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pev_input {
	int fd; /* owned */
	char *name;
	bool seekable;
	uint64_t size;   /* of a seekable file when it was opened; else UINT64_MAX */
	uint64_t offset; /* of the first byte of the window */
	uint8_t *window; /* bytes that were read and not passed yet */
	size_t have, start, cap;
	bool eof;
};

/* A window that holds more than this is refused. */
#define PEV_INPUT_WINDOW_MAX (256U << 20)

/* Opens @path; "-" is standard input. A sentence on failure. */
int pev_input_open(const char *path, struct pev_input *ret, struct pev_err *err);
void pev_input_close(struct pev_input *in);

/*
 * The next @n bytes, without passing them: *ret_have tells how many there are, fewer than @n only
 * at the end. Borrowed until the next call. NULL with *ret_have 0 on an error of read(2) (in *err)
 * or without memory.
 */
const uint8_t *pev_input_peek(struct pev_input *in, size_t n, size_t *ret_have,
			      struct pev_err *err);

/* Passes @n bytes, which need not be in the window. Fewer when the input ends before; returns how
 * many. */
uint64_t pev_input_skip(struct pev_input *in, uint64_t n);

/* Goes on reading at @offset; only of a seekable input. */
void pev_input_seek(struct pev_input *in, uint64_t offset);

/* Gives back the memory of the window, if what was in it can be read again. */
void pev_input_rest(struct pev_input *in);
