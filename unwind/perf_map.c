// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The lines become entries, the entries disjoint pieces of the address space that each belong to
 * the latest entry there. A sweep over the sorted starts finds them: a heap holds the entries that
 * reach over the current address, the latest on top; whenever an entry starts or the top one ends,
 * a piece is finished. n entries make fewer than 2n pieces.
 */
#include "unwind/perf_map.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "unwind/radix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct entry {
	uint64_t start, end;
	uint32_t name, name_size; /* offset in the text, bytes */
};

struct piece {
	uint64_t start, end;
	uint32_t entry;
};

struct pev_perf_map {
	const char *text;
	struct entry *entries; /* in the order of the text */
	size_t nr_entries, cap_entries;
	struct piece *pieces; /* sorted, disjoint */
	size_t nr_pieces;
	struct pev_perf_map_counters counters;
};

struct pev_perf_map *pev_perf_map_free(struct pev_perf_map *m)
{
	if (m) {
		free(m->entries);
		free(m->pieces);
		free(m);
	}
	return NULL;
}

/* A hexadecimal number, with or without 0x, and the blanks behind it. */
static bool take_number(struct pev_cursor *line, uint64_t *ret)
{
	uint64_t v = 0;
	unsigned digits = 0;

	if (pev_cursor_left(line) > 2 && line->p[0] == '0' && (line->p[1] | 32) == 'x')
		(void)pev_cursor_bytes(line, 2);
	for (;; digits++) {
		const uint8_t c = pev_cursor_u8(line);

		if (c == ' ' || c == '\t')
			break;
		if (c >= '0' && c <= '9')
			v = v << 4 | (uint64_t)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			v = v << 4 | (uint64_t)((c | 32) - 'a' + 10);
		else
			return false;
		if (digits == 16)
			return false;
	}
	while (pev_cursor_left(line) && (*line->p == ' ' || *line->p == '\t'))
		(void)pev_cursor_bytes(line, 1);
	*ret = v;
	return digits > 0;
}

static int read_line(struct pev_perf_map *m, struct pev_cursor line)
{
	struct entry entry;
	uint64_t size;

	if (!take_number(&line, &entry.start) || !take_number(&line, &size))
		return -EBADMSG;
	while (pev_cursor_left(&line) && line.end[-1] == '\r')
		line.end--;
	if (!pev_cursor_left(&line) || !pev_add_u64(entry.start, size, &entry.end))
		return -EBADMSG;
	if (!size) {
		m->counters.empty++;
		return 0;
	}
	entry.name = (uint32_t)((const char *)line.p - m->text);
	entry.name_size = (uint32_t)pev_cursor_left(&line);
	if (m->nr_entries == m->cap_entries) {
		const size_t cap = m->cap_entries ? m->cap_entries * 2 : 1024;
		struct entry *const p = reallocarray(m->entries, cap, sizeof(*p));

		if (!p)
			return -ENOMEM;
		m->entries = p;
		m->cap_entries = cap;
	}
	m->entries[m->nr_entries++] = entry;
	m->counters.kept++;
	return 0;
}

static int read_lines(struct pev_perf_map *m, size_t size)
{
	struct pev_cursor c = pev_cursor(m->text, size);

	while (pev_cursor_left(&c)) {
		const uint8_t *const end = memchr(c.p, '\n', pev_cursor_left(&c));
		const size_t n = end ? (size_t)(end - c.p) : pev_cursor_left(&c);
		const int r = read_line(m, pev_cursor(c.p, n));

		m->counters.lines++;
		m->counters.bad += r == -EBADMSG;
		if (r == -ENOMEM)
			return r;
		(void)pev_cursor_bytes(&c, end ? n + 1 : n);
	}
	return 0;
}

/* The largest index on top. */
struct heap {
	uint32_t *items;
	size_t nr;
};

static void heap_push(struct heap *h, uint32_t item)
{
	size_t i = h->nr++;

	for (; i > 0 && h->items[(i - 1) / 2] < item; i = (i - 1) / 2)
		h->items[i] = h->items[(i - 1) / 2];
	h->items[i] = item;
}

static void heap_pop(struct heap *h)
{
	const uint32_t item = h->items[--h->nr];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= h->nr)
			break;
		if (child + 1 < h->nr && h->items[child + 1] > h->items[child])
			child++;
		if (h->items[child] <= item)
			break;
		h->items[i] = h->items[child];
		i = child;
	}
	h->items[i] = item;
}

static void add_piece(struct pev_perf_map *m, uint64_t start, uint64_t end, uint32_t entry)
{
	struct piece *const last = m->nr_pieces ? &m->pieces[m->nr_pieces - 1] : NULL;

	if (last && last->entry == entry && last->end == start)
		last->end = end;
	else
		m->pieces[m->nr_pieces++] = (struct piece){ start, end, entry };
}

static int make_pieces(struct pev_perf_map *m)
{
	_cleanup_free_ uint64_t *starts = calloc(m->nr_entries + 1, sizeof(*starts));
	_cleanup_free_ uint32_t *items = calloc(m->nr_entries + 1, sizeof(*items));
	_cleanup_free_ uint32_t *order = NULL;
	struct heap heap = { .items = items };
	struct piece *fitted;
	uint64_t at = 0;
	size_t i = 0;
	int r;

	m->pieces = reallocarray(NULL, 2 * m->nr_entries + 1, sizeof(*m->pieces));
	if (!starts || !items || !m->pieces)
		return -ENOMEM;
	for (size_t k = 0; k < m->nr_entries; k++)
		starts[k] = m->entries[k].start;
	r = pev_radix_order(starts, m->nr_entries, &order);
	if (r < 0)
		return r;
	for (;;) {
		uint64_t end;

		while (heap.nr && m->entries[heap.items[0]].end <= at)
			heap_pop(&heap);
		if (!heap.nr) {
			if (i == m->nr_entries)
				break;
			at = m->entries[order[i]].start;
		}
		while (i < m->nr_entries && m->entries[order[i]].start <= at)
			heap_push(&heap, order[i++]);
		end = m->entries[heap.items[0]].end;
		if (i < m->nr_entries)
			end = PEV_MIN(end, m->entries[order[i]].start);
		add_piece(m, at, end, heap.items[0]);
		at = end;
	}
	fitted = reallocarray(m->pieces, m->nr_pieces + 1, sizeof(*m->pieces));
	m->pieces = fitted ? fitted : m->pieces;
	return 0;
}

int pev_perf_map_new(const void *text, size_t size, struct pev_perf_map **ret, struct pev_err *err)
{
	_cleanup_(pev_perf_map_freep) struct pev_perf_map *m = NULL;
	int r;

	if (size >= UINT32_MAX)
		return pev_err_set(err, -E2BIG, "The perf map has %zu bytes; 4 GiB are the limit",
				   size);
	m = calloc(1, sizeof(*m));
	if (!m)
		return pev_err_set(err, -ENOMEM, "No memory for the perf map");
	m->text = text;
	r = read_lines(m, size);
	if (r == 0)
		r = make_pieces(m);
	if (r < 0)
		return pev_err_set(err, r, "No memory for the perf map");
	*ret = TAKE_PTR(m);
	return 0;
}

bool pev_perf_map_find(const struct pev_perf_map *m, uint64_t addr, struct pev_perf_map_symbol *ret)
{
	size_t lo = 0, hi = m->nr_pieces;
	const struct entry *e;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (m->pieces[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0 || addr >= m->pieces[lo - 1].end)
		return false;
	e = &m->entries[m->pieces[lo - 1].entry];
	*ret = (struct pev_perf_map_symbol){
		.name = m->text + e->name,
		.name_size = e->name_size,
		.start = e->start,
		.end = e->end,
	};
	return true;
}

const struct pev_perf_map_counters *pev_perf_map_counters(const struct pev_perf_map *m)
{
	return &m->counters;
}
