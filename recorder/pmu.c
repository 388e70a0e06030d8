// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recorder/pmu.h"

#include "base/checked.h"
#include "base/io.h"
#include "recorder/dirlist.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <locale.h>
#include <stdio.h>

#define PMU_PATH_MAX 512

void pev_pmu_done(struct pev_pmu *pmu)
{
	free(pmu->dir);
	free(pmu->name);
	free(pmu->cpus);
	*pmu = (struct pev_pmu){ 0 };
}

void pev_pmus_done(struct pev_pmus *pmus)
{
	for (size_t i = 0; i < pmus->nr; i++)
		pev_pmu_done(&pmus->pmus[i]);
	free(pmus->pmus);
	*pmus = (struct pev_pmus){ 0 };
}

/* DIR/@sub/@name@suffix; false when that is too long, or @name would lead elsewhere. */
static bool path_of(const struct pev_pmu *pmu, const char *sub, const char *name,
		    const char *suffix, char path[static PMU_PATH_MAX])
{
	if (name[0] == '.' || !name[0] || strchr(name, '/'))
		return false;
	return snprintf(path, PMU_PATH_MAX, "%s%s/%s%s", pmu->dir, sub, name, suffix) <
	       PMU_PATH_MAX;
}

static int read_line(const struct pev_pmu *pmu, const char *sub, const char *name,
		     const char *suffix, char **ret)
{
	char path[PMU_PATH_MAX];
	int r;

	if (!path_of(pmu, sub, name, suffix, path))
		return -ENOENT;
	r = pev_read_path_line(path, ret);
	return r == -ENOTDIR || r == -EISDIR ? -ENOENT : r;
}

static int read_pmu(const char *root, const char *name, struct pev_pmu *ret)
{
	_cleanup_pmu_ struct pev_pmu pmu = { 0 };
	char path[PMU_PATH_MAX];
	int64_t type;
	int r;

	pmu.name = strdup(name);
	if (!pmu.name || asprintf(&pmu.dir, "%s/%s", root, name) < 0)
		return -ENOMEM;
	if (!path_of(&pmu, "", "type", "", path))
		return -ENOENT;
	r = pev_read_path_i64(path, &type);
	if (r < 0)
		return r;
	if (type < 0 || type > UINT32_MAX)
		return -EBADMSG;
	pmu.type = (uint32_t)type;
	r = read_line(&pmu, "", "cpus", "", &pmu.cpus);
	pmu.core = r == 0 || !strcmp(name, "cpu");
	if (r == -ENOENT)
		r = read_line(&pmu, "", "cpumask", "", &pmu.cpus);
	if (r < 0 && r != -ENOENT)
		return r;
	*ret = pmu;
	pmu = (struct pev_pmu){ 0 };
	return 0;
}

int pev_pmus_read(const char *root, struct pev_pmus *ret, struct pev_err *err)
{
	_cleanup_dirlist_ struct pev_dirlist names = { 0 };
	_cleanup_pmus_ struct pev_pmus pmus = { 0 };
	size_t cores = 0;
	int r;

	r = pev_dirlist_read(root, 0, &names);
	if (r < 0)
		return pev_err_set(err, r,
				   "cannot read the PMUs of this machine in %s: %s: mount sysfs "
				   "on /sys and let this process read it",
				   root, pev_errno_str(r));
	pmus.pmus = calloc((size_t)names.nr + 1, sizeof(*pmus.pmus));
	if (!pmus.pmus)
		return pev_err_set(err, -ENOMEM, "no memory for the list of PMUs");
	for (int i = 0; i < names.nr; i++) {
		r = read_pmu(root, names.entries[i]->d_name, &pmus.pmus[pmus.nr]);
		if (r == -ENOMEM)
			return pev_err_set(err, r, "no memory for the list of PMUs");
		if (r < 0)
			continue;
		cores += pmus.pmus[pmus.nr].core;
		pmus.nr++;
	}
	for (size_t i = 0; i < pmus.nr; i++)
		pmus.pmus[i].one_of_many = pmus.pmus[i].core && cores > 1;
	*ret = pmus;
	pmus = (struct pev_pmus){ 0 };
	return 0;
}

/* How long @name is without a running number at its end, as "_0". */
static size_t without_number(const char *name)
{
	const size_t n = strlen(name);
	size_t k = n;

	while (k > 0 && isdigit((unsigned char)name[k - 1]))
		k--;
	return k < n && k > 1 && name[k - 1] == '_' ? k - 1 : n;
}

bool pev_pmu_matches(const char *pattern, const char *name)
{
	const size_t skip = strncmp(name, "uncore_", 7) ? 0 : 7;
	char stem[PMU_PATH_MAX];

	(void)snprintf(stem, sizeof(stem), "%.*s", (int)without_number(name), name);
	return !fnmatch(pattern, name, 0) || !fnmatch(pattern, name + skip, 0) ||
	       !fnmatch(pattern, stem, 0) || !fnmatch(pattern, stem + skip, 0);
}

/* A bit number below 64 at *p, which moves behind it. */
static bool read_bit(const char **p, unsigned *ret)
{
	unsigned v = 0;

	if (!isdigit((unsigned char)**p))
		return false;
	for (; isdigit((unsigned char)**p); (*p)++) {
		v = v * 10 + (unsigned)(**p - '0');
		if (v > 63)
			return false;
	}
	*ret = v;
	return true;
}

int pev_pmu_field_parse(const char *text, struct pev_pmu_field *ret)
{
	struct pev_pmu_field field = { 0 };
	const char *p = text;

	if (strncmp(p, "config", 6))
		return -EBADMSG;
	p += 6;
	if (*p >= '1' && *p <= '4')
		field.word = (unsigned)(*p++ - '0');
	if (*p++ != ':')
		return -EBADMSG;
	for (;;) {
		unsigned low, high;

		if (!read_bit(&p, &low))
			return -EBADMSG;
		high = low;
		if (*p == '-') {
			p++;
			if (!read_bit(&p, &high) || high < low)
				return -EBADMSG;
		}
		field.mask |= (UINT64_MAX >> (63 - (high - low))) << low;
		if (*p != ',')
			break;
		p++;
	}
	if (*p)
		return -EBADMSG;
	*ret = field;
	return 0;
}

int pev_pmu_field(const struct pev_pmu *pmu, const char *name, struct pev_pmu_field *ret)
{
	_cleanup_free_ char *text = NULL;
	int r;

	r = read_line(pmu, "/format", name, "", &text);
	if (r < 0)
		return r;
	return pev_pmu_field_parse(text, ret);
}

uint64_t pev_pmu_deposit(uint64_t value, uint64_t mask)
{
	uint64_t v = 0;

	for (; mask; mask &= mask - 1, value >>= 1)
		if (value & 1)
			v |= mask & -mask;
	return v;
}

/* Files beside an event that are not events. */
static bool is_annotation(const char *name)
{
	static const char *const suffixes[] = { ".unit", ".scale", ".per-pkg", ".snapshot" };
	const size_t n = strlen(name);

	for (size_t i = 0; i < PEV_ARRAY_SIZE(suffixes); i++) {
		const size_t k = strlen(suffixes[i]);

		if (n > k && !strcmp(name + n - k, suffixes[i]))
			return true;
	}
	return false;
}

bool pev_pmu_has_event(const struct pev_pmu *pmu, const char *name)
{
	char path[PMU_PATH_MAX];

	return !is_annotation(name) && path_of(pmu, "/events", name, "", path) &&
	       access(path, F_OK) == 0;
}

int pev_pmu_alias(const struct pev_pmu *pmu, const char *name, char **ret_terms)
{
	if (is_annotation(name))
		return -ENOENT;
	return read_line(pmu, "/events", name, "", ret_terms);
}

/* The kernel writes a point whatever the user's locale says. */
static double parse_scale(const char *text)
{
	const locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	double v;
	char *end;

	if (c == (locale_t)0)
		return 1.0;
	v = strtod_l(text, &end, c);
	freelocale(c);
	return end == text ? 1.0 : v;
}

int pev_pmu_alias_unit(const struct pev_pmu *pmu, const char *name, char **ret_unit,
		       double *ret_scale)
{
	_cleanup_free_ char *unit = NULL, *scale = NULL;
	int r;

	r = read_line(pmu, "/events", name, ".unit", &unit);
	if (r < 0 && r != -ENOENT)
		return r;
	r = read_line(pmu, "/events", name, ".scale", &scale);
	if (r < 0 && r != -ENOENT)
		return r;
	*ret_unit = TAKE_PTR(unit);
	*ret_scale = scale ? parse_scale(scale) : 1.0;
	return 0;
}

static void offer_files(const struct pev_pmu *pmu, const char *sub, struct pev_near *near)
{
	_cleanup_dirlist_ struct pev_dirlist names = { 0 };
	char path[PMU_PATH_MAX];

	if (!path_of(pmu, "", sub, "", path) || pev_dirlist_read(path, 0, &names) < 0)
		return;
	for (int i = 0; i < names.nr; i++)
		if (!is_annotation(names.entries[i]->d_name))
			pev_near_offer(near, names.entries[i]->d_name);
}

void pev_pmu_offer_events(const struct pev_pmu *pmu, struct pev_near *near)
{
	offer_files(pmu, "events", near);
}

void pev_pmu_offer_fields(const struct pev_pmu *pmu, struct pev_near *near)
{
	offer_files(pmu, "format", near);
}

char *pev_pmu_field_names(const struct pev_pmu *pmu, char *buf, size_t size)
{
	_cleanup_dirlist_ struct pev_dirlist names = { 0 };
	char path[PMU_PATH_MAX];
	size_t n = 0;

	buf[0] = '\0';
	if (!path_of(pmu, "", "format", "", path) || pev_dirlist_read(path, 0, &names) < 0)
		return buf;
	for (int i = 0; i < names.nr; i++) {
		const char *const name = names.entries[i]->d_name;

		if (n + strlen(name) + 3 > size)
			break;
		n += (size_t)snprintf(buf + n, size - n, "%s%s", i ? ", " : "", name);
	}
	return buf;
}
