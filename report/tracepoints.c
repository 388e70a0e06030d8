// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * TRACING_DATA, as perf's util/trace-event-info.c writes it in its own byte order:
 *
 *	magic of 10 bytes, version NUL, u8 is big-endian, u8 size of long, u32 size of a page
 *	"header_page" NUL, u64 size and that much; "header_event" NUL, the same
 *	u32 number of ftrace's own events, each u64 size and a format file
 *	u32 number of systems, each a name NUL, u32 number of events, each like that
 */
#include "report/tracepoints.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "report/index.h"
#include "report/tracepoint_part.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* There are some thousands. */
#define TRACEPOINTS_MAX 100000

struct pev_tracepoints {
	uint8_t *bytes;            /* the section; texts point into it */
	struct pev_tracepoint **v; /* each owned: they are given out */
	uint32_t nr, cap;
};

static void tracepoint_free(struct pev_tracepoint *t)
{
	free(t->fields);
	free(t->nodes);
	free(t->pairs);
	free(t->pieces);
	pev_buf_done(&t->strings);
	free(t);
}

struct pev_tracepoints *pev_tracepoints_free(struct pev_tracepoints *t)
{
	if (!t)
		return NULL;
	for (uint32_t i = 0; i < t->nr; i++)
		tracepoint_free(t->v[i]);
	free((void *)t->v);
	free(t->bytes);
	free(t);
	return NULL;
}

PEV_DEFINE_CLEANUP(struct pev_tracepoints *, pev_tracepoints_free);

static const char *next_str(struct pev_cursor *c)
{
	const size_t left = pev_cursor_left(c);

	return pev_cursor_str(c, PEV_MIN(strnlen((const char *)c->p, left) + 1, left));
}

static struct tp_text next_file(struct pev_cursor *c)
{
	const uint64_t size = pev_cursor_u64(c);
	const uint8_t *const p = pev_cursor_bytes(c, size);

	return (struct tp_text){ (const char *)p, p ? size : 0 };
}

/* "ID: 314" */
static bool read_id(struct tp_text file, uint64_t *ret)
{
	const char *p = file.n ? memmem(file.p, file.n, "\nID: ", 5) : NULL;
	uint64_t id = 0;

	if (!p)
		return false;
	for (p += 5; p < file.p + file.n && isdigit((unsigned char)*p); p++)
		id = id * 10 + (uint64_t)(*p - '0');
	*ret = id;
	return true;
}

/* The rest is read when the first record of it comes. */
static int add(struct pev_tracepoints *all, struct tp_text file, bool swap, unsigned int long_size)
{
	struct pev_tracepoint *t;
	uint64_t id;
	int r;

	if (!read_id(file, &id))
		return 0;
	if (all->nr >= TRACEPOINTS_MAX)
		return -E2BIG;
	r = PEV_ARRAY_ROOM(all->v, all->nr, all->cap);
	if (r < 0)
		return r;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->id = id;
	t->file = file;
	t->swap = swap;
	t->long_size = long_size;
	all->v[all->nr++] = t;
	return 0;
}

static int read_files(struct pev_tracepoints *t, struct pev_cursor *c, uint32_t nr,
		      unsigned int long_size)
{
	int r = 0;

	for (uint32_t i = 0; i < nr && r == 0 && !c->failed; i++) {
		const struct tp_text file = next_file(c);

		if (!c->failed)
			r = add(t, file, c->swap, long_size);
	}
	return r;
}

static int read_all(struct pev_tracepoints *t, struct pev_cursor *c)
{
	static const uint8_t magic[] = { 23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g' };
	const bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	const uint8_t *const start = pev_cursor_bytes(c, sizeof(magic));
	unsigned int long_size;
	uint32_t nr;
	int r;

	if (!start)
		return -ENODATA;
	if (memcmp(start, magic, sizeof(magic)) != 0)
		return -EBADMSG;
	(void)next_str(c);
	c->swap = (pev_cursor_u8(c) != 0) != host_is_big;
	long_size = pev_cursor_u8(c);
	(void)pev_cursor_u32(c);
	for (int i = 0; i < 2; i++) {
		(void)next_str(c);
		(void)next_file(c);
	}
	r = read_files(t, c, pev_cursor_u32(c), long_size);
	nr = pev_cursor_u32(c);
	for (uint32_t i = 0; i < nr && r == 0 && !c->failed; i++) {
		(void)next_str(c);
		r = read_files(t, c, pev_cursor_u32(c), long_size);
	}
	return r < 0 ? r : c->failed ? -ENODATA : 0;
}

static int by_id(const void *a, const void *b)
{
	const struct pev_tracepoint *const *const x = a, *const *const y = b;

	return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

int pev_tracepoints_new(const struct pev_feat_blob *tracing_data, struct pev_tracepoints **ret,
			struct pev_err *err)
{
	_cleanup_(pev_tracepoints_freep) struct pev_tracepoints *t = calloc(1, sizeof(*t));
	struct pev_cursor c;
	int r;

	if (t)
		t->bytes = malloc(tracing_data->size + 1);
	if (!t || !t->bytes)
		return pev_err_set(err, -ENOMEM, "no memory for the formats of tracepoints");
	memcpy(t->bytes, tracing_data->p, tracing_data->size);
	c = pev_cursor(t->bytes, tracing_data->size);
	r = read_all(t, &c);
	if (r < 0)
		return pev_err_set(err, r, "the formats of tracepoints (TRACING_DATA) are %s",
				   r == -ENODATA ? "cut short" : "damaged");
	qsort((void *)t->v, t->nr, sizeof(struct pev_tracepoint *), by_id);
	*ret = TAKE_PTR(t);
	return 0;
}

const struct pev_tracepoint *pev_tracepoints_find(const struct pev_tracepoints *t, uint64_t id)
{
	uint32_t low = 0, high = t->nr;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		struct pev_tracepoint *const at = t->v[middle];

		if (at->id == id) {
			if (!at->parsed) {
				at->parsed = true;
				at->failed = tp_parse_fields(at) < 0 || tp_parse_print(at) < 0;
			}
			return at;
		}
		if (at->id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}
