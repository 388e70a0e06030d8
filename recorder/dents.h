/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Directory entries without the allocation that opendir() costs per directory. */
#pragma once

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reused for one directory after the other; big, so keep it out of small stacks. */
struct pev_dents {
	int fd; /* borrowed */
	size_t pos, len;
	_Alignas(8) uint8_t buf[32768];
};

/* Starts at the position of @fd, an open directory that must live as long as it is listed. */
static inline void pev_dents_start(struct pev_dents *d, int fd)
{
	d->fd = fd;
	d->pos = d->len = 0;
}

/* 1 and the next entry (borrowed until the next call), "." and ".." left out; 0 at the end; or a
 * negative errno. */
int pev_dents_next(struct pev_dents *d, const struct dirent64 **ret);

/* The same for a directory of /proc whose numeric names are pids or tids; others are skipped. */
int pev_dents_next_pid(struct pev_dents *d, pid_t *ret);
