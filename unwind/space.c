// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unwind/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A sorted array in pieces. Whatever may fail for want of memory (chunks made this space's own, a
 * full one split) comes first and changes nothing that can be seen; then comes the change itself.
 */
#define CHUNK_MAX 128

struct pev_space_chunk {
	unsigned int refs; /* spaces that have it */
	unsigned int nr;
	struct pev_mapping v[CHUNK_MAX];
};

static void chunk_put(struct pev_space_chunk *c)
{
	if (--c->refs == 0)
		free(c);
}

void pev_space_done(struct pev_space *s)
{
	for (size_t i = 0; i < s->nr_chunks; i++)
		chunk_put(s->chunks[i]);
	free(s->chunks);
	*s = (struct pev_space){ 0 };
}

/* The last chunk that starts at or below @addr; number 0 when none does. */
static size_t find_chunk(const struct pev_space *s, uint64_t addr)
{
	size_t lo = 0, hi = s->nr_chunks;

	while (hi - lo > 1) {
		const size_t mid = lo + (hi - lo) / 2;

		if (s->chunks[mid]->v[0].start <= addr)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

/* How many mappings of @c start below @addr. */
static unsigned int count_below(const struct pev_space_chunk *c, uint64_t addr)
{
	unsigned int lo = 0, hi = c->nr;

	while (lo < hi) {
		const unsigned int mid = lo + (hi - lo) / 2;

		if (c->v[mid].start < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct pev_mapping *pev_space_find(struct pev_space *s, uint64_t addr)
{
	const struct pev_mapping *m = s->last;
	const struct pev_space_chunk *c;
	unsigned int n;

	if (m && addr >= m->start && addr < m->end)
		return m;
	if (!s->nr_chunks)
		return NULL;
	c = s->chunks[find_chunk(s, addr)];
	n = count_below(c, addr);
	if (n < c->nr && c->v[n].start == addr)
		m = &c->v[n];
	else if (n && addr < c->v[n - 1].end)
		m = &c->v[n - 1];
	else
		return NULL;
	s->last = m;
	return m;
}

/* Makes chunk @i one that no other space has. */
static int own_chunk(struct pev_space *s, size_t i)
{
	struct pev_space_chunk *const c = s->chunks[i];
	struct pev_space_chunk *copy;

	if (c->refs == 1)
		return 0;
	copy = malloc(sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	copy->refs = 1;
	copy->nr = c->nr;
	memcpy(copy->v, c->v, c->nr * sizeof(c->v[0]));
	c->refs--;
	s->chunks[i] = copy;
	return 0;
}

/* Room for @n more pointers to chunks. */
static int reserve_chunks(struct pev_space *s, size_t n)
{
	struct pev_space_chunk **chunks;
	size_t cap = s->cap;

	if (n <= s->cap - s->nr_chunks)
		return 0;
	cap = cap ? cap * 2 : 4;
	chunks = realloc(s->chunks, cap * sizeof(struct pev_space_chunk *));
	if (!chunks)
		return -ENOMEM;
	s->chunks = chunks;
	s->cap = cap;
	return 0;
}

/* A new chunk behind chunk @i, or as the first when there is none; the room is there. */
static struct pev_space_chunk *add_chunk(struct pev_space *s, size_t i)
{
	struct pev_space_chunk *const c = malloc(sizeof(*c));
	const size_t at = s->nr_chunks ? i + 1 : 0;

	if (!c)
		return NULL;
	c->refs = 1;
	c->nr = 0;
	memmove(&s->chunks[at + 1], &s->chunks[at],
		(s->nr_chunks - at) * sizeof(struct pev_space_chunk *));
	s->chunks[at] = c;
	s->nr_chunks++;
	return c;
}

/*
 * Makes chunk @i this space's own, with room for two more mappings, since a mapping in the middle
 * of another one leaves three where one was. A full chunk is split in the middle.
 */
static int make_room(struct pev_space *s, size_t i)
{
	struct pev_space_chunk *c, *right;
	int r;

	r = own_chunk(s, i);
	if (r < 0)
		return r;
	c = s->chunks[i];
	if (c->nr + 2 <= CHUNK_MAX)
		return 0;
	right = add_chunk(s, i);
	if (!right)
		return -ENOMEM;
	right->nr = c->nr / 2;
	c->nr -= right->nr;
	memcpy(right->v, &c->v[c->nr], right->nr * sizeof(c->v[0]));
	return 0;
}

static void drop_chunks(struct pev_space *s, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		chunk_put(s->chunks[i]);
	memmove(&s->chunks[from], &s->chunks[to],
		(s->nr_chunks - to) * sizeof(struct pev_space_chunk *));
	s->nr_chunks -= to - from;
}

/* Opens a gap of @n mappings at @at in @c, which has the room. */
static void open_gap(struct pev_space_chunk *c, unsigned int at, unsigned int n)
{
	memmove(&c->v[at + n], &c->v[at], (c->nr - at) * sizeof(c->v[0]));
	c->nr += n;
}

/* Cuts [start, end) out of @c, which is owned and has room for one more mapping. */
static void cut_chunk(struct pev_space_chunk *c, uint64_t start, uint64_t end)
{
	unsigned int first = count_below(c, start), last;
	struct pev_mapping *m;

	if (first && c->v[first - 1].end > start) {
		m = &c->v[first - 1];
		if (m->end > end) {
			open_gap(c, first, 1);
			m[1] = m[0];
			m[1].pgoff += end - m->start;
			m[1].start = end;
		}
		m->end = start;
	}
	for (last = first; last < c->nr && c->v[last].start < end; last++) {
		m = &c->v[last];
		if (m->end > end) {
			m->pgoff += end - m->start;
			m->start = end;
			break;
		}
	}
	memmove(&c->v[first], &c->v[last], (c->nr - last) * sizeof(c->v[0]));
	c->nr -= last - first;
}

/*
 * Cuts [start, end) out of a space that has chunks. *ret_chunk is where a mapping at @start goes,
 * which has room for one, and may have been left empty.
 */
static int clear_range(struct pev_space *s, uint64_t start, uint64_t end, size_t *ret_chunk)
{
	size_t first, last;
	int r;

	s->last = NULL;
	r = reserve_chunks(s, 1);
	if (r < 0)
		return r;
	r = make_room(s, find_chunk(s, start));
	if (r < 0)
		return r;
	/* Only now: make_room() may have split the chunk. */
	first = find_chunk(s, start);
	last = find_chunk(s, end - 1);
	r = own_chunk(s, last);
	if (r < 0)
		return r;
	cut_chunk(s->chunks[first], start, end);
	if (last > first) {
		/* What reaches beyond @end is a single mapping, and the last that overlaps. */
		cut_chunk(s->chunks[last], start, end);
		drop_chunks(s, first + 1, s->chunks[last]->nr ? last : last + 1);
	}
	*ret_chunk = first;
	return 0;
}

int pev_space_unmap(struct pev_space *s, uint64_t start, uint64_t end)
{
	size_t at;
	int r;

	if (start >= end)
		return -EINVAL;
	if (!s->nr_chunks)
		return 0;
	r = clear_range(s, start, end, &at);
	if (r < 0)
		return r;
	if (s->chunks[at]->nr == 0)
		drop_chunks(s, at, at + 1);
	return 0;
}

int pev_space_map(struct pev_space *s, const struct pev_mapping *m)
{
	struct pev_space_chunk *c;
	unsigned int n;
	size_t at = 0;
	int r;

	if (m->start >= m->end)
		return -EINVAL;
	if (s->nr_chunks) {
		r = clear_range(s, m->start, m->end, &at);
		if (r < 0)
			return r;
	} else {
		r = reserve_chunks(s, 1);
		if (r < 0)
			return r;
		if (!add_chunk(s, 0))
			return -ENOMEM;
	}
	c = s->chunks[at];
	n = count_below(c, m->start);
	open_gap(c, n, 1);
	c->v[n] = *m;
	return 0;
}

int pev_space_copy(struct pev_space *to, const struct pev_space *from)
{
	struct pev_space copy = { .nr_chunks = from->nr_chunks, .cap = from->nr_chunks };

	if (to == from)
		return 0;
	if (from->nr_chunks) {
		copy.chunks = calloc(from->nr_chunks, sizeof(struct pev_space_chunk *));
		if (!copy.chunks)
			return -ENOMEM;
	}
	for (size_t i = 0; i < from->nr_chunks; i++) {
		copy.chunks[i] = from->chunks[i];
		copy.chunks[i]->refs++;
	}
	pev_space_done(to);
	*to = copy;
	return 0;
}

size_t pev_space_count(const struct pev_space *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nr_chunks; i++)
		n += s->chunks[i]->nr;
	return n;
}

const struct pev_mapping *pev_space_at(const struct pev_space *s, size_t i)
{
	size_t at = 0;

	for (; i >= s->chunks[at]->nr; at++)
		i -= s->chunks[at]->nr;
	return &s->chunks[at]->v[i];
}
