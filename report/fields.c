// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/fields.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "report/profile.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *name, *alias; /* ->alias may be NULL */
	const char *title;
	unsigned int key;
} table[PEV_NR_FIELDS] = {
	[PEV_FIELD_OVERHEAD] = { "overhead", NULL, "Overhead", 0 },
	[PEV_FIELD_OVERHEAD_SYS] = { "overhead_sys", NULL, "sys", 0 },
	[PEV_FIELD_OVERHEAD_US] = { "overhead_us", NULL, "usr", 0 },
	[PEV_FIELD_OVERHEAD_GUEST_SYS] = { "overhead_guest_sys", NULL, "guest sys", 0 },
	[PEV_FIELD_OVERHEAD_GUEST_US] = { "overhead_guest_us", NULL, "guest usr", 0 },
	[PEV_FIELD_CHILDREN] = { "overhead_children", NULL, "Children", 0 },
	[PEV_FIELD_SAMPLES] = { "sample", "samples", "Samples", 0 },
	[PEV_FIELD_PERIOD] = { "period", NULL, "Period", 0 },
	[PEV_FIELD_PID] = { "pid", "tid", "    Pid:Command", PEV_KEY_TID | PEV_KEY_COMM },
	[PEV_FIELD_TGID] = { "tgid", NULL, "   Tgid:Command", PEV_KEY_PID | PEV_KEY_COMM },
	[PEV_FIELD_COMM] = { "comm", NULL, "Command", PEV_KEY_COMM },
	[PEV_FIELD_CPU] = { "cpu", NULL, "CPU", PEV_KEY_CPU },
	[PEV_FIELD_CGROUP] = { "cgroup", NULL, "Cgroup", PEV_KEY_CGROUP },
	[PEV_FIELD_CGROUP_ID] = { "cgroup_id", NULL, "Cgroup id", PEV_KEY_CGROUP },
	[PEV_FIELD_DSO] = { "dso", NULL, "Shared Object", 0 },
	[PEV_FIELD_SYM] = { "symbol", "sym", "Symbol", 0 },
	[PEV_FIELD_SRCLINE] = { "srcline", NULL, "Source:Line", 0 },
	[PEV_FIELD_SRCFILE] = { "srcfile", NULL, "Source File", 0 },
};

const char *pev_field_name(enum pev_field f)
{
	return table[f].name;
}

const char *pev_field_title(enum pev_field f)
{
	return table[f].title;
}

bool pev_fields_has(const struct pev_fields *f, enum pev_field field)
{
	for (size_t i = 0; i < f->nr; i++)
		if (f->v[i] == field)
			return true;
	return false;
}

unsigned int pev_fields_key(const struct pev_fields *f)
{
	unsigned int key = 0;

	for (size_t i = 0; i < f->nr; i++)
		key |= table[f->v[i]].key;
	return key;
}

/* Each column once: the first mention counts. */
static void add(struct pev_fields *f, enum pev_field field)
{
	if (!pev_fields_has(f, field))
		f->v[f->nr++] = field;
}

static int refuse(const char *name, size_t n, struct pev_err *err)
{
	_cleanup_buf_ struct pev_buf all = { 0 };

	for (size_t i = 0; i < PEV_NR_FIELDS; i++)
		pev_buf_printf(&all, "%s%s", i ? ", " : "", table[i].name);
	pev_buf_u8(&all, 0);
	return pev_err_set(err, -EINVAL, "there is no column '%.*s'; there are %s", (int)n, name,
			   pev_buf_status(&all) < 0 ? "others" : (const char *)all.data);
}

static bool is_named(const char *have, const char *name, size_t n)
{
	return have && strlen(have) == n && !strncmp(have, name, n);
}

static int add_list(struct pev_fields *f, const char *list, struct pev_err *err)
{
	while (*list) {
		const size_t n = strcspn(list, ", ");
		size_t i = 0;

		while (i < PEV_NR_FIELDS && !is_named(table[i].name, list, n) &&
		       !is_named(table[i].alias, list, n))
			i++;
		if (n && i == PEV_NR_FIELDS)
			return refuse(list, n, err);
		if (n)
			add(f, (enum pev_field)i);
		list += n + !!list[n];
	}
	return 0;
}

static void add_numbers(struct pev_fields *f, const struct pev_fields_options *how)
{
	if (how->children)
		add(f, PEV_FIELD_CHILDREN);
	add(f, PEV_FIELD_OVERHEAD);
	if (how->samples)
		add(f, PEV_FIELD_SAMPLES);
	if (how->period)
		add(f, PEV_FIELD_PERIOD);
}

int pev_fields_parse(struct pev_fields *f, const struct pev_fields_options *how,
		     struct pev_err *err)
{
	const char *sort = how->sort ? how->sort : "comm,dso,symbol";
	int r = 0;

	*f = (struct pev_fields){ 0 };
	if (how->fields && *how->fields != '+') {
		r = add_list(f, how->fields, err);
		return r == 0 && how->sort ? add_list(f, how->sort + (*sort == '+'), err) : r;
	}
	add_numbers(f, how);
	if (*sort == '+') {
		r = add_list(f, "comm,dso,symbol", err);
		sort++;
	}
	if (r == 0)
		r = add_list(f, sort, err);
	return r == 0 && how->fields ? add_list(f, how->fields + 1, err) : r;
}
