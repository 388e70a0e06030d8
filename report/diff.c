// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Both sides are rows as of a report (report/hist.c). They are matched by what they show and not by
 * address, since the two traces may be of different builds of a program.
 */
#include "report/diff.h"

#include "base/buf.h"
#include "base/checked.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "report/hist.h"
#include "report/index.h"
#include "report/table.h"

#include <errno.h>
#include <math.h>
#include <string.h>

void pev_diff_done(struct pev_diff *d)
{
	for (uint32_t i = 0; i < d->nr; i++)
		free(d->rows[i].key);
	free(d->rows);
	*d = (struct pev_diff){ 0 };
}

/* What a row shows for each field, a NUL behind each. */
static int make_key(const struct pev_hist *h, const struct pev_profile_data *d,
		    const struct pev_row *row, const struct pev_fields *fields, struct pev_buf *key)
{
	pev_buf_reset(key);
	for (size_t i = 0; i < fields->nr; i++) {
		pev_field_print(h, d, row, fields->v[i], key);
		pev_buf_u8(key, 0);
	}
	return pev_buf_status(key);
}

/* The row of @key; made when it is not there. */
static int find(struct pev_diff *d, struct pev_index *index, const struct pev_buf *key,
		struct pev_diff_row **ret)
{
	const uint64_t hash = pev_hash_bytes(key->data, key->size, 0);
	struct pev_probe at = pev_index_probe(index, hash);
	struct pev_diff_row *row;
	int r;

	while (pev_index_next(index, &at)) {
		row = &d->rows[at.found];
		if (row->key_size == key->size && !memcmp(row->key, key->data, key->size)) {
			*ret = row;
			return 0;
		}
	}
	r = PEV_ARRAY_ROOM(d->rows, d->nr, d->cap);
	if (r == 0)
		r = pev_index_add(index, hash, d->nr);
	if (r < 0)
		return r;
	row = &d->rows[d->nr];
	*row = (struct pev_diff_row){ .key = malloc(key->size), .key_size = key->size };
	if (!row->key)
		return -ENOMEM;
	memcpy(row->key, key->data, key->size);
	d->nr++;
	*ret = row;
	return 0;
}

static int add_side(struct pev_diff *d, struct pev_index *index,
		    const struct pev_profile_data *data, uint32_t event, bool after,
		    const struct pev_diff_options *o, struct pev_err *err)
{
	const struct pev_hist_options how = { .fields = o->fields };
	_cleanup_(pev_hist_done) struct pev_hist h = { 0 };
	_cleanup_buf_ struct pev_buf key = { 0 };
	int r = pev_hist_make(&h, data, event, &how, err);

	if (r < 0)
		return r;
	*(after ? &d->total_after : &d->total_before) = h.total;
	for (size_t i = 0; i < h.nr && r == 0; i++) {
		struct pev_diff_row *row = NULL;

		r = make_key(&h, data, &h.rows[i], o->fields, &key);
		if (r == 0)
			r = find(d, index, &key, &row);
		if (r < 0)
			break;
		*(after ? &row->after : &row->before) += h.rows[i].period;
		*(after ? &row->has_after : &row->has_before) = true;
	}
	return r < 0 ? pev_err_set(err, r, "no memory to compare") : 0;
}

static double percent(uint64_t part, uint64_t total)
{
	return total ? 100.0 * (double)part / (double)total : 0.0;
}

static double compute(const struct pev_diff *d, const struct pev_diff_row *row,
		      const struct pev_diff_options *o)
{
	switch (o->by) {
	case PEV_DIFF_RATIO:
		return row->before ? (double)row->after / (double)row->before : 0;
	case PEV_DIFF_WDIFF:
		return (double)row->after * (double)o->weight_after -
		       (double)row->before * (double)o->weight_before;
	default:
		return percent(row->after, d->total_after) - percent(row->before, d->total_before);
	}
}

/* Whether there is a value to show: what is gone has none, and without a baseline only deltas do.
 */
static bool has_value(const struct pev_diff_row *row, const struct pev_diff_options *o)
{
	return row->has_after &&
	       (row->has_before || o->by == PEV_DIFF_DELTA || o->by == PEV_DIFF_DELTA_ABS);
}

static int by_value(const void *pa, const void *pb, void *arg)
{
	const struct pev_diff_options *const o = arg;
	const struct pev_diff_row *const a = pa, *const b = pb;
	const double x = o->by == PEV_DIFF_DELTA_ABS ? fabs(a->value) : a->value;
	const double y = o->by == PEV_DIFF_DELTA_ABS ? fabs(b->value) : b->value;
	const size_t n = PEV_MIN(a->key_size, b->key_size);

	/* What is gone comes last, before it what has nothing to be compared with. */
	if (a->has_after != b->has_after)
		return a->has_after ? -1 : 1;
	if (has_value(a, o) != has_value(b, o))
		return has_value(a, o) ? -1 : 1;
	if (has_value(a, o) && x != y)
		return x > y ? -1 : 1;
	if (a->before != b->before)
		return a->before > b->before ? -1 : 1;
	return memcmp(a->key, b->key, n);
}

/* The event of that name, or that counts the same: modifiers may be written or not. */
static int find_event(const struct pev_profile_data *d, const struct pev_profile_event *event,
		      uint32_t *ret)
{
	for (uint32_t i = 0; i < d->nr_events; i++)
		if (!strcmp(d->events[i].name, event->name)) {
			*ret = i;
			return 0;
		}
	for (uint32_t i = 0; i < d->nr_events; i++)
		if (d->events[i].attr.type == event->attr.type &&
		    d->events[i].attr.config == event->attr.config) {
			*ret = i;
			return 0;
		}
	return -ENOENT;
}

/* Baselines are percentages of what is shown. */
static void keep_common(struct pev_diff *d)
{
	uint32_t kept = 0;

	d->total_baseline = 0;
	for (uint32_t i = 0; i < d->nr; i++)
		if (d->rows[i].has_before && d->rows[i].has_after) {
			d->total_baseline += d->rows[i].before;
			d->rows[kept++] = d->rows[i];
		} else {
			free(d->rows[i].key);
		}
	d->nr = kept;
}

int pev_diff_make(struct pev_diff *d, const struct pev_profile_data *before,
		  const struct pev_profile_data *after, uint32_t event,
		  const struct pev_diff_options *o, struct pev_err *err)
{
	_cleanup_(pev_index_done) struct pev_index index = { 0 };
	uint32_t other;
	int r;

	*d = (struct pev_diff){ .event = before->events[event].name };
	r = find_event(after, &before->events[event], &other);
	if (r < 0)
		return pev_err_set(err, r, "the second trace has no event %s", d->event);
	r = add_side(d, &index, before, event, false, o, err);
	if (r == 0)
		r = add_side(d, &index, after, other, true, o, err);
	if (r < 0) {
		pev_diff_done(d);
		return r;
	}
	for (uint32_t i = 0; i < d->nr; i++)
		d->rows[i].value = compute(d, &d->rows[i], o);
	d->total_baseline = d->total_before;
	if (o->common_only)
		keep_common(d);
	if (d->nr)
		qsort_r(d->rows, d->nr, sizeof(*d->rows), by_value, (void *)(uintptr_t)o);
	return 0;
}
