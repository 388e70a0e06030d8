// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recorder/event.h"

#include "base/checked.h"
#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

struct pev_event *pev_evlist_add(struct pev_evlist *list)
{
	struct pev_event *e;

	if (list->nr == list->cap) {
		const size_t cap = list->cap ? 2 * list->cap : 8;
		size_t bytes;

		if (!pev_mul_size(cap, sizeof(*e), &bytes))
			return NULL;
		e = realloc(list->events, bytes);
		if (!e)
			return NULL;
		list->events = e;
		list->cap = cap;
	}
	e = &list->events[list->nr];
	*e = (struct pev_event){
		.attr.size = PEV_ATTR_SIZE_VER7,
		.leader = list->nr,
		.scale = 1.0,
	};
	list->nr++;
	return e;
}

static void event_done(struct pev_event *e)
{
	free(e->name);
	free(e->group_name);
	free(e->filter);
	free(e->pmu);
	free(e->cpus);
	free(e->path);
	free(e->unit);
}

void pev_evlist_truncate(struct pev_evlist *list, size_t nr)
{
	while (list->nr > nr)
		event_done(&list->events[--list->nr]);
}

void pev_evlist_done(struct pev_evlist *list)
{
	pev_evlist_truncate(list, 0);
	free(list->events);
	*list = (struct pev_evlist){ 0 };
}

/* Replaces @event's filter by one that asks for the old and the new. */
static int narrow(struct pev_event *event, const char *filter)
{
	char *both;

	if (!event->filter)
		both = strdup(filter);
	else if (asprintf(&both, "(%s) && (%s)", event->filter, filter) < 0)
		both = NULL;
	if (!both)
		return -ENOMEM;
	free(event->filter);
	event->filter = both;
	return 0;
}

int pev_evlist_filter(struct pev_evlist *list, const char *filter, struct pev_err *err)
{
	size_t tracepoints = 0;

	for (size_t i = list->last; i < list->nr; i++)
		tracepoints += list->events[i].attr.type == PEV_TYPE_TRACEPOINT;
	if (!tracepoints)
		return pev_err_set(err, -EINVAL,
				   "filter '%s' has no tracepoint to filter: put --filter right "
				   "behind the -e that names one, as in -e sched:sched_switch "
				   "--filter 'prev_pid > 0'",
				   filter);
	if (!filter[strspn(filter, " \t\n")])
		return pev_err_set(err, -EINVAL,
				   "the filter behind '%s' is empty: give a condition over the "
				   "fields of the tracepoint, or leave --filter out",
				   list->events[list->last].name);
	for (size_t i = list->last; i < list->nr; i++) {
		struct pev_event *const e = &list->events[i];

		if (e->attr.type == PEV_TYPE_TRACEPOINT && narrow(e, filter) < 0)
			return pev_err_set(err, -ENOMEM, "no memory for filter '%s'", filter);
	}
	return 0;
}
