/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whole reads and writes of files: no short counts, no EINTR. */
#pragma once

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Write all @n bytes or return a negative errno; on failure some of the bytes may be written. */
int pev_write_all(int fd, const void *bytes, size_t n);
int pev_pwrite_all(int fd, const void *bytes, size_t n, off_t offset);

/* Reads up to @n bytes at @offset, fewer only at the end of the file. Returns the count or a
 * negative errno. */
ssize_t pev_pread_all(int fd, void *bytes, size_t n, off_t offset);

/*
 * Appends the rest of the file behind @fd, or the file at @path, to @buf; -E2BIG when it holds more
 * than @max bytes. On failure the bytes of @buf stay as they were. Works on /proc and /sys files,
 * which have no size. pev_read_path() puts a NUL after the text that is not counted in ->size.
 */
int pev_read_fd(int fd, size_t max, struct pev_buf *buf);
int pev_read_path(const char *path, size_t max, struct pev_buf *buf);

/* The one number (base 0) that a /proc or /sys file holds; -EBADMSG when it holds something else.
 */
int pev_read_path_i64(const char *path, int64_t *ret);

/* The first line of a file without its newline, heap-allocated. */
int pev_read_path_line(const char *path, char **ret);
