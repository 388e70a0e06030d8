// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/slice_head.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/hash.h"

#include <errno.h>
#include <string.h>

/* What describes records that a slice does not have, or a file that it is not. */
static const enum pev_feat left_out[] = { PEV_FEAT_AUXTRACE, PEV_FEAT_STAT, PEV_FEAT_DIR_FORMAT };

void pev_slice_head_done(struct pev_slice_head *h)
{
	for (uint32_t i = 0; i < h->nr_events; i++) {
		free((void *)(uintptr_t)h->events[i].event.ids);
		free((void *)(uintptr_t)h->events[i].event.name);
	}
	free(h->events);
	free(h->list);
	free(h->known);
	pev_index_done(&h->ids);
	pev_features_done(&h->features);
	*h = (struct pev_slice_head){ 0 };
}

static bool is_same(const struct pev_trace_event *a, const struct pev_trace_event *b)
{
	struct pev_attr x = a->attr, y = b->attr;

	/* How long it was in the file is no difference. */
	x.size = y.size = 0;
	return memcmp(&x, &y, sizeof(x)) == 0 &&
	       !strcmp(a->name ? a->name : "", b->name ? b->name : "");
}

static uint32_t owner_of_id(const struct pev_slice_head *h, uint64_t id)
{
	struct pev_probe at = pev_index_probe(&h->ids, pev_hash_u64(id));

	while (pev_index_next(&h->ids, &at)) {
		const struct pev_trace_event *const e = &h->events[at.found].event;

		for (size_t i = 0; i < e->nr_ids; i++)
			if (e->ids[i] == id)
				return at.found;
	}
	return UINT32_MAX;
}

static int add_id(struct pev_slice_head *h, uint32_t number, uint64_t id, const char *path,
		  struct pev_err *err)
{
	struct pev_slice_event *const e = &h->events[number];
	const uint32_t owner = owner_of_id(h, id);
	uint64_t *ids = (uint64_t *)(uintptr_t)e->event.ids;
	int r;

	if (owner == number)
		return 0;
	if (owner != UINT32_MAX)
		return pev_err_set(err, -EINVAL,
				   "the events of %s have the same ids as other events of the "
				   "traces before it: export these traces one by one",
				   path);
	r = PEV_ARRAY_ROOM(ids, (uint32_t)e->event.nr_ids, e->cap_ids);
	if (r == 0) {
		e->event.ids = ids;
		r = pev_index_add(&h->ids, pev_hash_u64(id), number);
	}
	if (r < 0)
		return pev_err_set(err, r, "no memory for the ids of events");
	ids[e->event.nr_ids++] = id;
	return 0;
}

static int add_event(struct pev_slice_head *h, uint32_t trace, const struct pev_trace_event *from,
		     const char *path, struct pev_err *err)
{
	uint32_t at = 0;
	int r = 0;

	/* Two events of one trace stay two, whatever they look like. */
	while (at < h->nr_events &&
	       (h->events[at].last_trace == trace || !is_same(&h->events[at].event, from)))
		at++;
	if (at == h->nr_events) {
		r = PEV_ARRAY_ROOM(h->events, h->nr_events, h->cap_events);
		if (r < 0)
			return pev_err_set(err, r, "no memory for the events");
		h->events[at] = (struct pev_slice_event){ .event = *from };
		h->events[at].event.ids = NULL;
		h->events[at].event.nr_ids = 0;
		h->events[at].event.name = strdup(from->name ? from->name : "unknown");
		h->nr_events++;
		if (!h->events[at].event.name)
			return pev_err_set(err, -ENOMEM, "no memory for the events");
	}
	h->events[at].last_trace = trace;
	for (size_t i = 0; r == 0 && i < from->nr_ids; i++)
		r = add_id(h, at, from->ids[i], path, err);
	return r;
}

/* Records of several events are told apart by an id that all of them have in the same place. */
static int check_ids(const struct pev_slice_head *h, size_t nr_traces, struct pev_err *err)
{
	if (nr_traces < 2 || h->nr_events < 2)
		return 0;
	for (uint32_t i = 0; i < h->nr_events; i++)
		if (!(h->events[i].event.attr.sample_type & PEV_SAMPLE_IDENTIFIER))
			return pev_err_set(err, -EINVAL,
					   "the traces have different events, and their records do "
					   "not say which one they are of (%s has no identifier): "
					   "export these traces one by one",
					   h->events[i].event.name);
	return 0;
}

static int check_host(const struct pev_reader *reader, size_t trace, struct pev_err *err)
{
	const struct pev_features *const a = pev_reader_head(reader, 0).features;
	const struct pev_features *const b = pev_reader_head(reader, trace).features;

	if (pev_features_has(a, PEV_FEAT_HOSTNAME) && pev_features_has(b, PEV_FEAT_HOSTNAME) &&
	    strcmp(a->hostname, b->hostname) != 0)
		return pev_err_set(err, -EINVAL,
				   "%s was recorded on %s and %s on %s: one perf.data cannot tell "
				   "of two machines",
				   pev_reader_path(reader, 0), a->hostname,
				   pev_reader_path(reader, trace), b->hostname);
	return 0;
}

/* A feature goes through its bytes, so that the copy owns all of it. */
static int copy_features(struct pev_features *to, const struct pev_features *from,
			 struct pev_err *err)
{
	for (unsigned int feat = 1; feat < PEV_FEAT_MAX; feat++) {
		_cleanup_buf_ struct pev_buf b = { 0 };
		bool wanted = pev_features_has(from, feat) && feat != PEV_FEAT_BUILD_ID;
		int r;

		for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
			wanted = wanted && feat != left_out[i];
		if (!wanted)
			continue;
		r = pev_feature_encode(from, feat, &b);
		if (r == 0)
			r = pev_feature_decode(to, feat, b.data, b.size, false, err);
		/* What does not survive this is no help to others either. */
		if (r == -ENOMEM)
			return pev_err_set(err, r, "no memory for the features");
	}
	return 0;
}

static bool has_build_id(const struct pev_feat_build_id *v, uint32_t nr,
			 const struct pev_feat_build_id *id)
{
	for (uint32_t i = 0; i < nr; i++)
		if (v[i].size == id->size && v[i].pid == id->pid &&
		    !memcmp(v[i].id, id->id, id->size) && !strcmp(v[i].name, id->name))
			return true;
	return false;
}

static int merge_build_ids(struct pev_features *to, const struct pev_reader *reader,
			   struct pev_err *err)
{
	struct pev_feat_build_id *v;
	size_t max = 0;
	uint32_t nr = 0;

	for (size_t t = 0; t < pev_reader_nr_traces(reader); t++)
		max += pev_reader_head(reader, t).features->build_ids.nr;
	v = pev_features_alloc(to, max + 1, sizeof(*v));
	if (!v)
		return pev_err_set(err, -ENOMEM, "no memory for the build-ids");
	for (size_t t = 0; t < pev_reader_nr_traces(reader); t++) {
		const struct pev_features *const f = pev_reader_head(reader, t).features;

		for (uint32_t i = 0; i < f->build_ids.nr; i++) {
			const struct pev_feat_build_id *const id = &f->build_ids.v[i];

			if (t > 0 && has_build_id(v, nr, id))
				continue;
			v[nr] = *id;
			v[nr].name = pev_features_str(to, id->name, strlen(id->name));
			if (!v[nr++].name)
				return pev_err_set(err, -ENOMEM, "no memory for the build-ids");
		}
	}
	to->build_ids.v = v;
	to->build_ids.nr = nr;
	if (nr)
		pev_features_set(to, PEV_FEAT_BUILD_ID);
	return 0;
}

static int describe_events(struct pev_slice_head *h, struct pev_err *err)
{
	struct pev_feat_event *const v =
		pev_features_alloc(&h->features, h->nr_events + 1UL, sizeof(*v));

	h->list = calloc(h->nr_events + 1UL, sizeof(*h->list));
	if (!v || !h->list)
		return pev_err_set(err, -ENOMEM, "no memory for the events");
	for (uint32_t i = 0; i < h->nr_events; i++) {
		const struct pev_trace_event *const e = &h->events[i].event;

		h->list[i] = *e;
		v[i] = (struct pev_feat_event){ .attr = e->attr,
						.name = e->name,
						.ids = e->ids,
						.nr_ids = (uint32_t)e->nr_ids };
		/* The newest attributes that perf 6.1 takes, as in the attr table. */
		v[i].attr.size = PEV_MIN(v[i].attr.size, PEV_ATTR_SIZE_VER7);
	}
	h->features.event_desc.events = v;
	h->features.event_desc.nr = h->nr_events;
	h->features.event_desc.attr_size = PEV_ATTR_SIZE_VER7;
	pev_features_set(&h->features, PEV_FEAT_EVENT_DESC);
	return 0;
}

int pev_slice_head_make(struct pev_slice_head *h, const struct pev_reader *reader,
			struct pev_err *err)
{
	const size_t nr = pev_reader_nr_traces(reader);
	int r = 0;

	h->known = calloc(nr + 1, sizeof(*h->known));
	if (!h->known)
		return pev_err_set(err, -ENOMEM, "no memory for %zu traces", nr);
	for (size_t t = 0; t < nr; t++) {
		const struct pev_trace_head head = pev_reader_head(reader, t);

		h->known[t] = head.nr_events;
		r = check_host(reader, t, err);
		for (size_t i = 0; r == 0 && i < head.nr_events; i++)
			r = add_event(h, (uint32_t)t, &head.events[i], pev_reader_path(reader, t),
				      err);
		if (r < 0)
			return r;
	}
	r = check_ids(h, nr, err);
	if (r == 0)
		r = copy_features(&h->features, pev_reader_head(reader, 0).features, err);
	if (r == 0)
		r = merge_build_ids(&h->features, reader, err);
	return r == 0 ? describe_events(h, err) : r;
}

bool pev_slice_head_knows(const struct pev_slice_head *h, uint32_t trace, uint32_t index)
{
	return index < h->known[trace];
}
