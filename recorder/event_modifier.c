// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recorder/event_modifier.h"

#include "base/checked.h"

#include <errno.h>
#include <string.h>

#define LETTERS "ukhGHpPISDe"

/* "u" alone means: nothing but user space. So the first letter of a set excludes the others, and
 * each letter then lets its own in. */
static const struct {
	char letter;
	uint64_t set;
	uint64_t lets_in;
} domains[] = {
#define RING (PEV_ATTR_EXCLUDE_USER | PEV_ATTR_EXCLUDE_KERNEL | PEV_ATTR_EXCLUDE_HV)
#define SIDE (PEV_ATTR_EXCLUDE_HOST | PEV_ATTR_EXCLUDE_GUEST)
	{ 'u', RING, PEV_ATTR_EXCLUDE_USER }, { 'k', RING, PEV_ATTR_EXCLUDE_KERNEL },
	{ 'h', RING, PEV_ATTR_EXCLUDE_HV },   { 'G', SIDE, PEV_ATTR_EXCLUDE_GUEST },
	{ 'H', SIDE, PEV_ATTR_EXCLUDE_HOST },
};

static void apply_domains(const char *letters, struct pev_attr *attr)
{
	uint64_t begun = 0;

	for (const char *p = letters; *p; p++)
		for (size_t i = 0; i < PEV_ARRAY_SIZE(domains); i++) {
			if (domains[i].letter != *p)
				continue;
			/* "ukh" excludes nothing again, and must not start over. */
			if (!(attr->flags & domains[i].set) && !(begun & domains[i].set))
				attr->flags |= domains[i].set;
			begun |= domains[i].set;
			attr->flags &= ~domains[i].lets_in;
		}
}

static int check(const char *letters, struct pev_err *err)
{
	for (const char *p = letters; *p; p++) {
		if (!strchr(LETTERS, *p))
			return pev_err_set(
				err, -EINVAL,
				*p == 'W'   ? "the modifier 'W' (weak group) is not known: leave "
					      "the braces out, so that each event counts by itself"
				: *p == 'b' ? "the modifier 'b' counts inside a BPF program and "
					      "cannot sample: leave it out"
					    : "unknown modifier '%c': there are u k h G H p P I S "
					      "D and e, see perf-list(1)",
				*p);
		if (*p != 'p' && strchr(p + 1, *p))
			return pev_err_set(err, -EINVAL,
					   "the modifier '%c' is given twice: leave one out", *p);
	}
	return 0;
}

int pev_modifiers_apply(const char *letters, bool member, struct pev_event *event,
			struct pev_err *err)
{
	struct pev_attr *const attr = &event->attr;
	const bool max = event->precise_max || strchr(letters, 'P');
	uint64_t precise = (attr->flags & PEV_ATTR_PRECISE_IP_MASK) >> PEV_ATTR_PRECISE_IP_SHIFT;
	int r;

	r = check(letters, err);
	if (r < 0)
		return r;
	if (event->precise_max)
		precise = 0;
	for (const char *p = letters; *p; p++)
		precise += *p == 'p';
	if (precise > 3)
		return pev_err_set(err, -EINVAL,
				   "precise_ip goes up to 3 (ppp), but the modifiers ask for %u: "
				   "leave some p out, or write P for the best there is",
				   (unsigned)precise);
	apply_domains(letters, attr);
	attr->flags &= ~PEV_ATTR_PRECISE_IP_MASK;
	attr->flags |= (max ? 3 : precise) << PEV_ATTR_PRECISE_IP_SHIFT;
	event->precise_max = max;
	if (strchr(letters, 'I'))
		attr->flags |= PEV_ATTR_EXCLUDE_IDLE;
	if (strchr(letters, 'S'))
		event->sample_read = true;
	if (strchr(letters, 'D') && !member)
		attr->flags |= PEV_ATTR_PINNED;
	if (strchr(letters, 'e') && !member)
		attr->flags |= PEV_ATTR_EXCLUSIVE;
	return 0;
}

bool pev_modifiers_possible(const char *text)
{
	return text[strspn(text, LETTERS "Wb")] == '\0';
}
