// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recorder/cpus.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/io.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>

#define ONLINE "/sys/devices/system/cpu/online"

void pev_cpus_done(struct pev_cpus *c)
{
	free(c->cpus);
	*c = (struct pev_cpus){ 0 };
}

/* A decimal number at *p, which moves behind it; -1 when there is none or it is too large. */
static int parse_cpu(const char **p)
{
	int v = 0;

	if (!isdigit((unsigned char)**p))
		return -1;
	for (; isdigit((unsigned char)**p); (*p)++) {
		v = v * 10 + (**p - '0');
		if (v >= PEV_CPUS_MAX)
			return -1;
	}
	return v;
}

/* Marks the CPUs of @text in @set. False when it is no list. */
static bool mark(const char *text, uint8_t *set)
{
	const char *p = text;

	while (*p && *p != '\n') {
		const int first = parse_cpu(&p);
		int last = first;

		if (*p == '-') {
			p++;
			last = parse_cpu(&p);
		}
		if (first < 0 || last < first)
			return false;
		for (int cpu = first; cpu <= last; cpu++)
			set[cpu] = 1;
		if (*p == ',')
			p++;
		else if (*p && *p != '\n')
			return false;
	}
	return true;
}

int pev_cpus_parse(const char *text, struct pev_cpus *ret, struct pev_err *err)
{
	_cleanup_free_ uint8_t *set = calloc(1, PEV_CPUS_MAX);
	struct pev_cpus c = { 0 };

	if (!set)
		return pev_err_set(err, -ENOMEM, "no memory for a set of CPUs");
	if (!mark(text, set))
		return pev_err_set(err, -EINVAL, "'%s' is no list of CPUs: write it like 0-3,8",
				   text);
	for (int cpu = 0; cpu < PEV_CPUS_MAX; cpu++)
		c.nr += set[cpu];
	c.cpus = calloc(c.nr + 1, sizeof(*c.cpus));
	if (!c.cpus)
		return pev_err_set(err, -ENOMEM, "no memory for a set of CPUs");
	c.nr = 0;
	for (int cpu = 0; cpu < PEV_CPUS_MAX; cpu++)
		if (set[cpu])
			c.cpus[c.nr++] = cpu;
	*ret = c;
	return 0;
}

int pev_cpus_online(struct pev_cpus *ret, struct pev_err *err)
{
	_cleanup_free_ char *line = NULL;
	const int r = pev_read_path_line(ONLINE, &line);

	if (r < 0)
		return pev_err_set(err, r, "cannot read %s: %s", ONLINE, pev_errno_str(r));
	return pev_cpus_parse(line, ret, err);
}

bool pev_cpus_has(const struct pev_cpus *c, int cpu)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->cpus[i] == cpu)
			return true;
	return false;
}
