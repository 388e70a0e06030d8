// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/events.h"

#include "base/cleanup.h"
#include "report/index.h"

#include <errno.h>
#include <string.h>

void pev_events_next_reader(struct pev_events *e)
{
	for (size_t i = 0; i < e->nr_maps; i++)
		free(e->maps[i].of);
	free(e->maps);
	e->maps = NULL;
	e->nr_maps = 0;
}

void pev_events_done(struct pev_events *e)
{
	pev_events_next_reader(e);
	for (uint32_t i = 0; i < e->nr; i++)
		free((void *)(uintptr_t)e->events[i].name);
	free(e->events);
	*e = (struct pev_events){ 0 };
}

/* Number @nth event of that name; made when it is not there. */
static int find(struct pev_events *e, const char *name, unsigned int nth,
		const struct pev_attr *attr, uint32_t *ret)
{
	_cleanup_free_ char *owned = NULL;
	int r;

	for (uint32_t i = 0; i < e->nr; i++)
		if (!strcmp(e->events[i].name, name) && nth-- == 0) {
			*ret = i;
			return 0;
		}
	owned = strdup(name);
	r = owned ? PEV_ARRAY_ROOM(e->events, e->nr, e->cap) : -ENOMEM;
	if (r < 0)
		return r;
	e->events[e->nr] = (struct pev_profile_event){ .name = TAKE_PTR(owned), .attr = *attr };
	*ret = e->nr++;
	return 0;
}

/* An event without a name is one whose name found no memory. */
static const char *name_of(const struct pev_trace_event *event)
{
	return event->name ? event->name : "unknown";
}

static int meet(struct pev_events *e, const struct pev_reader *reader,
		const struct pev_reader_record *rec, uint32_t *ret)
{
	const struct pev_trace_head head = pev_reader_head(reader, rec->trace);
	const char *const name = name_of(rec->event);
	unsigned int nth = 0;

	for (size_t i = 0; i < rec->event_index; i++)
		nth += !strcmp(name_of(&head.events[i]), name);
	return find(e, name, nth, &rec->event->attr, ret);
}

static int room(struct pev_events_map *map, size_t index)
{
	uint32_t *const of = reallocarray(map->of, index + 1, sizeof(*of));

	if (!of)
		return -ENOMEM;
	while (map->nr <= index)
		of[map->nr++] = UINT32_MAX;
	map->of = of;
	return 0;
}

int pev_events_of(struct pev_events *e, const struct pev_reader *reader,
		  const struct pev_reader_record *rec, uint32_t *ret)
{
	struct pev_events_map *map;
	int r;

	if (!e->maps) {
		e->maps = calloc(pev_reader_nr_traces(reader), sizeof(*e->maps));
		if (!e->maps)
			return -ENOMEM;
		e->nr_maps = pev_reader_nr_traces(reader);
	}
	map = &e->maps[rec->trace];
	if (rec->event_index >= map->nr) {
		r = room(map, rec->event_index);
		if (r < 0)
			return r;
	}
	if (map->of[rec->event_index] == UINT32_MAX) {
		r = meet(e, reader, rec, &map->of[rec->event_index]);
		if (r < 0)
			return r;
	}
	*ret = map->of[rec->event_index];
	return 0;
}
