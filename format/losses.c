// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format/losses.h"

#include "base/checked.h"
#include "base/cursor.h"

#include <errno.h>
#include <stdlib.h>

/* More than any machine has CPUs times events; a hostile trace may claim any number. */
#define LOSSES_MAX 16384

void pev_losses_done(struct pev_losses *l)
{
	free(l->v);
	*l = (struct pev_losses){ 0 };
}

static int compare(const struct pev_loss *a, const struct pev_loss *b)
{
	if (a->trace != b->trace)
		return a->trace < b->trace ? -1 : 1;
	if (a->event != b->event)
		return a->event < b->event ? -1 : 1;
	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

/* The entry for @key, made when there is none; NULL without memory. */
static struct pev_loss *entry_for(struct pev_losses *l, struct pev_loss key)
{
	size_t low = 0, high = l->nr;

	while (low < high) {
		const size_t middle = (low + high) / 2;
		const int c = compare(&l->v[middle], &key);

		if (c == 0)
			return &l->v[middle];
		if (c < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (l->nr >= LOSSES_MAX && key.cpu != PEV_CPU_UNKNOWN) {
		key.cpu = PEV_CPU_UNKNOWN;
		return entry_for(l, key);
	}
	if (l->nr == l->cap) {
		const size_t cap = l->cap ? l->cap * 2 : 16;
		struct pev_loss *const v = realloc(l->v, cap * sizeof(*v));

		if (!v)
			return NULL;
		l->v = v;
		l->cap = cap;
	}
	memmove(&l->v[low + 1], &l->v[low], (l->nr - low) * sizeof(*l->v));
	l->v[low] = key;
	l->nr++;
	return &l->v[low];
}

int pev_losses_see(struct pev_losses *l, uint32_t trace, uint32_t event, uint32_t cpu,
		   const struct pev_record *rec)
{
	struct pev_loss *e;

	if (rec->hdr.type != PEV_REC_LOST && rec->hdr.type != PEV_REC_LOST_SAMPLES &&
	    rec->hdr.type != PEV_REC_THROTTLE)
		return 0;
	e = entry_for(l, (struct pev_loss){ .trace = trace, .event = event, .cpu = cpu });
	if (!e)
		return -ENOMEM;
	if (rec->hdr.type == PEV_REC_LOST)
		e->lost += rec->lost.lost;
	else if (rec->hdr.type == PEV_REC_THROTTLE)
		e->throttles++;
	else if (rec->hdr.misc & PEV_MISC_LOST_SAMPLES_BPF)
		e->filtered += rec->lost_samples.lost;
	else
		e->lost_samples += rec->lost_samples.lost;
	return 0;
}

uint32_t pev_losses_cpu(const struct pev_record *rec, const struct pev_ids *cpus)
{
	const uint64_t known = rec->id.time ? rec->id.has & PEV_SAMPLE_CPU : 0;
	const struct pev_id *const id = known ? NULL : pev_ids_find(cpus, rec->id.id);

	if (known)
		return rec->id.cpu;
	return id ? id->ring : PEV_CPU_UNKNOWN;
}

/* {hdr, u64 nr, {u64 id, idx, cpu, tid} * nr}, then maybe more about guests. */
int pev_losses_learn(struct pev_ids *cpus, const uint8_t *bytes, size_t size, bool swap)
{
	struct pev_cursor c = pev_cursor(bytes, size);
	uint64_t nr;

	c.swap = swap;
	(void)pev_cursor_bytes(&c, sizeof(struct pev_rec_hdr));
	nr = pev_cursor_u64(&c);
	for (uint64_t i = 0; i < nr && pev_cursor_left(&c) >= 32; i++) {
		const uint64_t id = pev_cursor_u64(&c);
		uint64_t cpu;

		(void)pev_cursor_u64(&c);
		cpu = pev_cursor_u64(&c);
		(void)pev_cursor_u64(&c);
		/* A counter that follows a thread over all CPUs has -1 there. */
		if (id && cpu < UINT32_MAX && pev_ids_add(cpus, id, 0, (uint32_t)cpu) < 0)
			return -ENOMEM;
	}
	return 0;
}
