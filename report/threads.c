// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/threads.h"

#include <errno.h>
#include <stdlib.h>

void pev_threads_done(struct pev_threads *t)
{
	free(t->cells);
	free(t->v);
	*t = (struct pev_threads){ 0 };
}

static int compare_threads(const struct pev_profile_key *a, const struct pev_profile_key *b)
{
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	if (a->trace != b->trace)
		return a->trace < b->trace ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

static int compare_cells(const void *va, const void *vb, void *data)
{
	const struct pev_profile_data *const d = data;
	const uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	const struct pev_profile_key *const ka = &d->keys[d->cells[a].key];
	const struct pev_profile_key *const kb = &d->keys[d->cells[b].key];
	const int by_thread = compare_threads(ka, kb);

	if (by_thread)
		return by_thread;
	if (ka->slice != kb->slice)
		return ka->slice < kb->slice ? -1 : 1;
	/* First seen, first told. */
	return a < b ? -1 : a > b;
}

/* Processes are called as their first thread is, if that was seen. Threads of one process follow
 * one another. */
static void name_processes(struct pev_threads *t)
{
	for (uint32_t first = 0, end; first < t->nr; first = end) {
		const char *name = t->v[first].comm;

		for (end = first;
		     end < t->nr && t->v[end].event == t->v[first].event &&
		     t->v[end].trace == t->v[first].trace && t->v[end].pid == t->v[first].pid;
		     end++)
			if (t->v[end].pid == t->v[end].tid)
				name = t->v[end].comm;
		for (uint32_t i = first; i < end; i++)
			t->v[i].process = name;
	}
}

int pev_threads_make(struct pev_threads *t, const struct pev_profile_data *d)
{
	uint32_t nr = 0;

	*t = (struct pev_threads){ .cells = calloc(d->nr_cells + 1UL, sizeof(*t->cells)),
				   .v = calloc(d->nr_keys + 1UL, sizeof(*t->v)) };
	if (!t->cells || !t->v) {
		pev_threads_done(t);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < d->nr_cells; i++)
		if (d->cells[i].samples)
			t->cells[nr++] = i;
	qsort_r(t->cells, nr, sizeof(*t->cells), compare_cells, (void *)(uintptr_t)d);
	for (uint32_t i = 0; i < nr; i++) {
		const struct pev_profile_key *const key = &d->keys[d->cells[t->cells[i]].key];
		struct pev_thread *thread = t->nr ? &t->v[t->nr - 1] : NULL;

		if (!thread || thread->event != key->event || thread->trace != key->trace ||
		    thread->pid != key->pid || thread->tid != key->tid) {
			thread = &t->v[t->nr++];
			*thread = (struct pev_thread){ .event = key->event,
						       .trace = key->trace,
						       .pid = key->pid,
						       .tid = key->tid,
						       .first_cell = i };
		}
		thread->comm = key->comm ? key->comm : "[unknown]";
		thread->nr++;
	}
	name_processes(t);
	return 0;
}
