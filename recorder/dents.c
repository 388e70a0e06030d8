// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recorder/dents.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>

static bool is_dot(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

int pev_dents_next(struct pev_dents *d, const struct dirent64 **ret)
{
	for (;;) {
		const struct dirent64 *entry;

		if (d->pos == d->len) {
			const ssize_t n = getdents64(d->fd, d->buf, sizeof(d->buf));

			if (n < 0)
				return -errno;
			if (n == 0)
				return 0;
			d->pos = 0;
			d->len = (size_t)n;
		}
		entry = (const struct dirent64 *)(const void *)(d->buf + d->pos);
		d->pos += entry->d_reclen;
		if (is_dot(entry->d_name))
			continue;
		*ret = entry;
		return 1;
	}
}

static bool parse_pid(const char *name, pid_t *ret)
{
	pid_t pid = 0;

	if (!*name)
		return false;
	for (; *name; name++) {
		if (*name < '0' || *name > '9' || pid > (INT_MAX - 9) / 10)
			return false;
		pid = pid * 10 + (*name - '0');
	}
	*ret = pid;
	return true;
}

int pev_dents_next_pid(struct pev_dents *d, pid_t *ret)
{
	const struct dirent64 *entry = NULL;
	int r;

	do
		r = pev_dents_next(d, &entry);
	while (r > 0 && !parse_pid(entry->d_name, ret));
	return r;
}
