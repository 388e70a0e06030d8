// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/string_pool.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

void pev_string_pool_done(struct pev_string_pool *p)
{
	for (uint32_t i = 0; i < p->nr; i++)
		free(p->v[i]);
	free(p->v);
	pev_index_done(&p->index);
	*p = (struct pev_string_pool){ 0 };
}

uint32_t pev_string_pool_add(struct pev_string_pool *p, const char *s)
{
	const uint64_t hash = pev_hash_bytes(s, strlen(s), 0);
	struct pev_probe at = pev_index_probe(&p->index, hash);
	char *copy;
	int r;

	while (pev_index_next(&p->index, &at))
		if (!strcmp(p->v[at.found], s))
			return at.found;
	r = PEV_ARRAY_ROOM(p->v, p->nr, p->cap);
	copy = r == 0 ? strdup(s) : NULL;
	if (r == 0)
		r = copy ? pev_index_add(&p->index, hash, p->nr) : -ENOMEM;
	if (r < 0) {
		free(copy);
		p->failed = r;
		return 0;
	}
	p->v[p->nr] = copy;
	return p->nr++;
}
