// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/filter.h"

#include <string.h>

bool pev_filter_has_name(const struct pev_filter_names *list, const char *name)
{
	for (size_t i = 0; i < list->nr; i++)
		if (name && !strcmp(list->v[i], name))
			return true;
	return !list->nr;
}

bool pev_filter_has_number(const struct pev_filter_numbers *list, uint32_t number)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->v[i] == number)
			return true;
	return !list->nr;
}

bool pev_filter_has_time(const struct pev_filter *f, uint64_t time_ns)
{
	for (size_t i = 0; i < f->nr_times; i++)
		if (time_ns >= f->times[i].since_ns && time_ns < f->times[i].until_ns)
			return true;
	return !f->nr_times;
}

static bool is_below(const char *path, const char *parent)
{
	size_t n = strlen(parent);

	while (n && parent[n - 1] == '/')
		n--;
	return !strncmp(path, parent, n) && (!path[n] || path[n] == '/');
}

bool pev_filter_has_cgroup(const struct pev_filter_names *list, const char *path)
{
	for (size_t i = 0; i < list->nr; i++)
		if (path && is_below(path, list->v[i]))
			return true;
	return !list->nr;
}

bool pev_filter_has_dso(const struct pev_filter_names *list, const char *path,
			const char *short_name)
{
	for (size_t i = 0; i < list->nr; i++)
		if ((path && !strcmp(list->v[i], path)) ||
		    (short_name && !strcmp(list->v[i], short_name)))
			return true;
	return !list->nr;
}
