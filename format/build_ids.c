// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format/build_ids.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The kernel's mapping is named for its reference symbol; perf's table wants it without
 * (build_id__mark_dso_hit()). */
#define KERNEL_MAP  "[kernel.kallsyms]_"
#define KERNEL_NAME "[kernel.kallsyms]"

void pev_build_ids_done(struct pev_build_ids *t)
{
	for (size_t i = 0; i < t->nr; i++)
		free((void *)(uintptr_t)t->v[i].name);
	free(t->v);
	free(t->slots);
	*t = (struct pev_build_ids){ 0 };
}

static uint64_t hash_of(const char *name, const uint8_t *id, size_t size)
{
	return pev_hash_bytes(id, size, pev_hash_bytes(name, strlen(name), 0));
}

static void place(struct pev_build_ids *t, uint32_t index)
{
	const struct pev_feat_build_id *const b = &t->v[index];
	size_t i = hash_of(b->name, b->id, b->size) & (t->nr_slots - 1);

	while (t->slots[i])
		i = (i + 1) & (t->nr_slots - 1);
	t->slots[i] = index + 1;
}

/* Room for one more entry, at most half of the slots used. */
static bool grow(struct pev_build_ids *t)
{
	if (t->nr == t->cap) {
		const size_t cap = t->cap ? t->cap * 2 : 64;
		struct pev_feat_build_id *const v = realloc(t->v, cap * sizeof(*v));

		if (!v)
			return false;
		t->v = v;
		t->cap = cap;
	}
	if (t->nr * 2 >= t->nr_slots) {
		const size_t nr_slots = t->nr_slots ? t->nr_slots * 2 : 128;
		uint32_t *const slots = calloc(nr_slots, sizeof(*slots));

		if (!slots)
			return false;
		free(t->slots);
		t->slots = slots;
		t->nr_slots = nr_slots;
		for (size_t i = 0; i < t->nr; i++)
			place(t, (uint32_t)i);
	}
	return true;
}

static bool known(const struct pev_build_ids *t, const char *name, const struct pev_mmap *m)
{
	size_t i;

	if (!t->nr_slots)
		return false;
	i = hash_of(name, m->build_id, m->build_id_size) & (t->nr_slots - 1);
	for (; t->slots[i]; i = (i + 1) & (t->nr_slots - 1)) {
		const struct pev_feat_build_id *const b = &t->v[t->slots[i] - 1];

		if (b->size == m->build_id_size && !memcmp(b->id, m->build_id, b->size) &&
		    !strcmp(b->name, name))
			return true;
	}
	return false;
}

void pev_build_ids_see(struct pev_build_ids *t, const struct pev_record *rec)
{
	const struct pev_mmap *const m = &rec->mmap;
	const char *name = m->filename;
	struct pev_feat_build_id *b;
	char *copy;

	if (rec->hdr.type != PEV_REC_MMAP2 || !(rec->hdr.misc & PEV_MISC_MMAP_BUILD_ID) ||
	    !(m->prot & PROT_EXEC) || !m->build_id_size)
		return;
	if (!strncmp(name, KERNEL_MAP, strlen(KERNEL_MAP)))
		name = KERNEL_NAME;
	if (known(t, name, m))
		return;
	copy = t->nr < PEV_BUILD_IDS_MAX && grow(t) ? strdup(name) : NULL;
	if (!copy) {
		t->dropped++;
		return;
	}
	b = &t->v[t->nr++];
	*b = (struct pev_feat_build_id){
		.misc = (uint16_t)((rec->hdr.misc & PEV_MISC_CPUMODE_MASK) |
				   PEV_MISC_BUILD_ID_SIZE),
		.size = m->build_id_size,
		.pid = -1,
		.name = copy,
	};
	memcpy(b->id, m->build_id, m->build_id_size);
	place(t, (uint32_t)(t->nr - 1));
}
