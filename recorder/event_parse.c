// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The grammar of -e: what lies between commas, braces and slashes. What an event means is for
 * event_resolve.c.
 *
 *   list   = item *( "," item )
 *   item   = event / [ NAME [ ":" ] ] "{" event *( "," event ) "}" [ ":" MODIFIERS ]
 *   event  = BASE [ "/" [ TERMS ] "/" [ ":" ] [ MODIFIERS ] ]
 *
 * BASE holds no comma, brace or slash, but for the one of mem:ADDR/LEN.
 */
#include "recorder/event.h"

#include "base/cleanup.h"
#include "recorder/event_modifier.h"
#include "recorder/event_resolve.h"
#include "recorder/event_term.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define SPEC_BYTES_MAX 65536
#define BLANKS         " \t\n"

struct parser {
	struct pev_resolver resolver;
	struct pev_evlist *list;
	struct pev_err *err;
	const char *spec; /* all of it, for messages */
	char *p;          /* what is left, in a copy that belongs to pev_evlist_parse_from() */
};

static void skip_blanks(struct parser *ps)
{
	ps->p += strspn(ps->p, BLANKS);
}

/* A copy of the @n bytes at @text without blanks at either end. */
static char *trimmed(const char *text, size_t n)
{
	while (n && strchr(BLANKS, text[n - 1]))
		n--;
	while (n && strchr(BLANKS, *text)) {
		text++;
		n--;
	}
	return strndup(text, n);
}

static int no_memory(const struct parser *ps)
{
	return pev_err_set(ps->err, -ENOMEM, "no memory to read the events '%s'", ps->spec);
}

static int missing(const struct parser *ps)
{
	if (!*ps->p)
		return pev_err_set(ps->err, -EINVAL,
				   "in '%s' an event is missing at the end: put one there, or take "
				   "the comma or brace away",
				   ps->spec);
	return pev_err_set(ps->err, -EINVAL,
			   "in '%s' an event is missing before '%s': put one there, or take the "
			   "comma or brace away",
			   ps->spec, ps->p);
}

/* Where the base at @p ends: at what comes next in the grammar. */
static char *base_end(char *p)
{
	const bool is_breakpoint = !strncmp(p, "mem:", 4);

	p += strcspn(p, ",{}/");
	if (is_breakpoint && *p == '/' && isdigit((unsigned char)p[1]))
		p += 1 + strcspn(p + 1, ",{}/");
	return p;
}

static int parse_event(struct parser *ps)
{
	_cleanup_free_ char *name = NULL, *base = NULL, *terms = NULL, *modifiers = NULL;
	char *const start = ps->p, *const slash = base_end(start);
	char *close = NULL, *end = slash;

	if (*slash == '/') {
		close = pev_terms_end(slash + 1);
		if (!close)
			return pev_err_set(ps->err, -EINVAL,
					   "event '%s' lacks the slash that ends its terms: write "
					   "PMU/TERM,TERM/MODIFIERS",
					   start);
		end = close + 1 + strcspn(close + 1, ",{}/");
		terms = strndup(slash + 1, (size_t)(close - slash - 1));
		close += 1 + strspn(close + 1, ":");
	}
	name = trimmed(start, (size_t)(end - start));
	base = trimmed(start, (size_t)(slash - start));
	modifiers = close ? trimmed(close, close < end ? (size_t)(end - close) : 0) : strdup("");
	if (!name || !base || !modifiers || (close && !terms))
		return no_memory(ps);
	if (!*base)
		return missing(ps);
	if (*end == '/')
		return pev_err_set(ps->err, -EINVAL,
				   "event '%s' has a third slash behind it: put all its terms "
				   "between the first two, and a path that holds slashes in quotes",
				   name);
	ps->p = end;
	return pev_resolve(&ps->resolver,
			   &(struct pev_spelling){
				   .name = name,
				   .base = base,
				   .terms = terms,
				   .modifiers = modifiers,
			   },
			   ps->list, ps->err);
}

/* The kind of CPU that @event is for, @otherwise when it is for any. */
static int kind_of(const struct parser *ps, const struct pev_event *event, int otherwise)
{
	const int kind = pev_resolver_cpu_kind(&ps->resolver, event);

	return kind < 0 ? otherwise : kind;
}

/*
 * The kernel counts a group on one PMU. Where "cycles" became one event for each kind of CPU, so
 * must its group: the events from @first on are put in the order of the kinds, those for any CPU
 * with the first one, and each kind becomes a group.
 */
static void form_groups(struct parser *ps, size_t first)
{
	struct pev_event *const events = ps->list->events;
	const size_t nr = ps->list->nr;
	int lowest = -1;

	for (size_t i = first; i < nr; i++) {
		const int kind = kind_of(ps, &events[i], -1);

		if (kind >= 0 && (lowest < 0 || kind < lowest))
			lowest = kind;
	}
	for (size_t i = first + 1; i < nr; i++) {
		const struct pev_event e = events[i];
		size_t at = i;

		while (at > first &&
		       kind_of(ps, &events[at - 1], lowest) > kind_of(ps, &e, lowest)) {
			events[at] = events[at - 1];
			at--;
		}
		events[at] = e;
	}
	for (size_t i = first; i < nr; i++)
		events[i].leader = i > first && kind_of(ps, &events[i], lowest) ==
							   kind_of(ps, &events[i - 1], lowest)
					   ? events[i - 1].leader
					   : i;
}

/* Names the groups made of the events from @first on, and lays @modifiers over all in them. */
static int finish_groups(struct parser *ps, size_t first, const char *name, const char *modifiers)
{
	for (size_t i = first; i < ps->list->nr; i++) {
		struct pev_event *const e = &ps->list->events[i];
		const bool leads = e->leader == i;
		int r;

		if (!leads && (e->attr.flags & (PEV_ATTR_PINNED | PEV_ATTR_EXCLUSIVE)))
			return pev_err_set(ps->err, -EINVAL,
					   "event '%s' does not lead its group, so the kernel will "
					   "not pin it (D) or count it alone (e): put that behind "
					   "the brace, as in {...}:D",
					   e->name);
		r = pev_modifiers_apply(modifiers, !leads, e, ps->err);
		if (r < 0) {
			(void)pev_err_wrap(ps->err, "event '%s' in a group", e->name);
			return r;
		}
		if (leads && *name) {
			e->group_name = strdup(name);
			if (!e->group_name)
				return no_memory(ps);
		}
	}
	return 0;
}

/* What stands behind the closing brace: ":MODIFIERS" or nothing, up to the next comma. */
static int parse_group_modifiers(struct parser *ps, char **ret)
{
	const size_t n = strcspn(ps->p, ",{}/");
	_cleanup_free_ char *text = trimmed(ps->p, n);
	char *modifiers;

	if (!text)
		return no_memory(ps);
	if ((*text && *text != ':') || (ps->p[n] && ps->p[n] != ','))
		return pev_err_set(
			ps->err, -EINVAL,
			"in '%s' the group is followed by '%s': only a comma, or ':' and "
			"modifiers, can stand there",
			ps->spec, ps->p);
	modifiers = *text ? trimmed(text + 1, strlen(text + 1)) : strdup("");
	if (!modifiers)
		return no_memory(ps);
	ps->p += n;
	*ret = modifiers;
	return 0;
}

static int parse_group(struct parser *ps, size_t name_bytes)
{
	_cleanup_free_ char *name = trimmed(ps->p, name_bytes), *modifiers = NULL;
	const size_t first = ps->list->nr;
	int r;

	if (!name)
		return no_memory(ps);
	if (*name && name[strlen(name) - 1] == ':')
		name[strlen(name) - 1] = '\0';
	ps->p += name_bytes;
	do {
		ps->p++;
		skip_blanks(ps);
		if (*base_end(ps->p) == '{')
			return pev_err_set(ps->err, -EINVAL,
					   "in '%s' there is a group in a group: the kernel has "
					   "only one level, so write {a,b,c}",
					   ps->spec);
		r = parse_event(ps);
		if (r < 0)
			return r;
	} while (*ps->p == ',');
	if (*ps->p != '}')
		return pev_err_set(ps->err, -EINVAL, "in '%s' the group is not closed: add a '}'",
				   ps->spec);
	ps->p++;
	r = parse_group_modifiers(ps, &modifiers);
	if (r < 0)
		return r;
	form_groups(ps, first);
	return finish_groups(ps, first, name, modifiers);
}

static int parse_list(struct parser *ps)
{
	for (;;) {
		const char *end;
		int r;

		skip_blanks(ps);
		end = base_end(ps->p);
		r = *end == '{' ? parse_group(ps, (size_t)(end - ps->p)) : parse_event(ps);
		if (r < 0)
			return r;
		if (!*ps->p)
			return 0;
		if (*ps->p != ',')
			return pev_err_set(
				ps->err, -EINVAL,
				"in '%s' there is a '%c' too many before '%s': events are "
				"separated by commas and grouped by one pair of braces",
				ps->spec, *ps->p, ps->p);
		ps->p++;
	}
}

int pev_evlist_parse_from(struct pev_evlist *list, const char *spec,
			  const struct pev_event_sources *sources, struct pev_err *err)
{
	struct parser ps = { .list = list, .err = err, .spec = spec };
	_cleanup_free_ char *copy = NULL;
	const size_t first = list->nr;
	int r;

	if (strnlen(spec, SPEC_BYTES_MAX + 1) > SPEC_BYTES_MAX)
		return pev_err_set(err, -E2BIG,
				   "the list of events is longer than %d bytes: use globs, as in "
				   "'sched:*', or fewer events",
				   SPEC_BYTES_MAX);
	copy = strdup(spec);
	if (!copy)
		return no_memory(&ps);
	ps.p = copy;
	ps.resolver.sources = *sources;
	r = parse_list(&ps);
	pev_resolver_done(&ps.resolver);
	if (r < 0) {
		pev_evlist_truncate(list, first);
		return r;
	}
	list->last = first;
	return 0;
}

int pev_evlist_parse(struct pev_evlist *list, const char *spec, struct pev_err *err)
{
	return pev_evlist_parse_from(list, spec, &PEV_EVENT_SOURCES_DEFAULT, err);
}
