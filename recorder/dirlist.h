/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names in a directory, all at once, for the small directories of sysfs and tracefs. */
#pragma once

#include "base/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

struct pev_dirlist {
	struct dirent **entries; /* owned */
	int nr;
};

static inline void pev_dirlist_done(struct pev_dirlist *list)
{
	for (int i = 0; i < list->nr; i++)
		free(list->entries[i]);
	free(list->entries);
	*list = (struct pev_dirlist){ 0 };
}
#define _cleanup_dirlist_ _cleanup_(pev_dirlist_done)

static inline int pev_dirlist_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static inline int pev_dirlist_by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Fills @ret with the names of @path that do not begin with a dot, in byte order, or in the order
 * of the directory itself with @as_is. Returns 0 or a negative errno. */
static inline int pev_dirlist_read(const char *path, int as_is, struct pev_dirlist *ret)
{
	struct pev_dirlist list = { 0 };

	list.nr = scandir(path, &list.entries, pev_dirlist_visible,
			  as_is ? NULL : pev_dirlist_by_name);
	if (list.nr < 0)
		return -errno;
	*ret = list;
	return 0;
}
