// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recorder/header.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "format/feature.h"
#include "recorder/host.h"
#include "recorder/tracing_data.h"

#include <errno.h>
#include <string.h>
#include <time.h>

struct pev_header {
	struct pev_features features;
	struct pev_buf tracing_data;
	struct pev_trace_event *events; /* borrows ids and names from ->features */
	size_t nr_events;
};

PEV_DEFINE_CLEANUP(struct pev_header *, pev_header_free);

struct pev_header *pev_header_free(struct pev_header *h)
{
	if (!h)
		return NULL;
	free(h->events);
	pev_buf_done(&h->tracing_data);
	pev_features_done(&h->features);
	free(h);
	return NULL;
}

static int set_events(struct pev_header *h, const struct pev_trace_event *events, size_t nr)
{
	struct pev_feat_event *const v = pev_features_alloc(&h->features, nr, sizeof(*v));

	h->events = calloc(nr, sizeof(*h->events));
	if (!v || !h->events)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		v[i].attr = events[i].attr;
		v[i].nr_ids = (uint32_t)events[i].nr_ids;
		v[i].ids = pev_features_copy(&h->features, events[i].ids,
					     events[i].nr_ids * sizeof(uint64_t));
		v[i].name = pev_features_str(&h->features, events[i].name, strlen(events[i].name));
		if (!v[i].ids || !v[i].name)
			return -ENOMEM;
		h->events[i] = events[i];
		h->events[i].ids = v[i].ids;
		h->events[i].name = v[i].name;
		if (events[i].unit)
			h->events[i].unit = pev_features_str(&h->features, events[i].unit,
							     strlen(events[i].unit));
	}
	h->nr_events = nr;
	h->features.event_desc.events = v;
	h->features.event_desc.nr = (uint32_t)nr;
	h->features.event_desc.attr_size = PEV_ATTR_SIZE_VER7;
	pev_features_set(&h->features, PEV_FEAT_EVENT_DESC);
	return 0;
}

/* Members follow their leader in the list, as the grammar of {groups} has them. */
static int set_groups(struct pev_header *h, const struct pev_evlist *list)
{
	struct pev_feat_group *const v = pev_features_alloc(&h->features, list->nr, sizeof(*v));
	uint32_t nr = 0;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < list->nr; i++) {
		uint32_t members = 0;

		for (size_t j = 0; j < list->nr; j++)
			members += list->events[j].leader == i;
		if (members < 2)
			continue;
		v[nr] = (struct pev_feat_group){ .name = PEV_GROUP_ANON,
						 .leader = (uint32_t)i,
						 .nr_members = members };
		if (list->events[i].group_name)
			v[nr].name = pev_features_str(&h->features, list->events[i].group_name,
						      strlen(list->events[i].group_name));
		nr++;
	}
	h->features.groups.v = v;
	h->features.groups.nr = nr;
	if (nr)
		pev_features_set(&h->features, PEV_FEAT_GROUP_DESC);
	return 0;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts = { 0 };

	(void)clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * PEV_NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* CLOCKID and CLOCK_DATA: what turns the times of the samples into times of day. */
static void set_clock(struct pev_header *h, const struct pev_record_opts *opts)
{
	struct timespec res = { 0 };

	if (!opts->has_clockid)
		return;
	(void)clock_getres(opts->clockid, &res);
	h->features.clockid_res_ns =
		(uint64_t)res.tv_sec * PEV_NSEC_PER_SEC + (uint64_t)res.tv_nsec;
	pev_features_set(&h->features, PEV_FEAT_CLOCKID);
	h->features.clock_data.clockid = (uint32_t)opts->clockid;
	h->features.clock_data.tod_ns = clock_ns(CLOCK_REALTIME);
	h->features.clock_data.clockid_ns = clock_ns(opts->clockid);
	pev_features_set(&h->features, PEV_FEAT_CLOCK_DATA);
}

static void set_compressed(struct pev_header *h, int level, uint32_t ratio)
{
	h->features.compressed.type = PEV_COMP_ZSTD;
	h->features.compressed.level = (uint32_t)level;
	h->features.compressed.ratio = ratio;
	h->features.compressed.mmap_len = PEV_BLOCK_RAW_MAX;
	pev_features_set(&h->features, PEV_FEAT_COMPRESSED);
}

static void set_cmdline(struct pev_header *h, char *const *cmdline)
{
	uint32_t nr = 0;

	while (cmdline[nr])
		nr++;
	h->features.cmdline.v = (const char *const *)cmdline;
	h->features.cmdline.nr = nr;
	pev_features_set(&h->features, PEV_FEAT_CMDLINE);
}

static int set_tracing_data(struct pev_header *h, const struct pev_evlist *list,
			    struct pev_err *err)
{
	bool any = false;
	int r;

	for (size_t i = 0; i < list->nr; i++)
		any |= list->events[i].attr.type == PEV_TYPE_TRACEPOINT;
	if (!any)
		return 0;
	r = pev_tracing_data_build(list, &h->tracing_data, err);
	if (r < 0)
		return r;
	h->features.tracing_data.p = h->tracing_data.data;
	h->features.tracing_data.size = h->tracing_data.size;
	pev_features_set(&h->features, PEV_FEAT_TRACING_DATA);
	return 0;
}

int pev_header_new(const struct pev_evlist *list, const struct pev_trace_event *events,
		   const struct pev_record_opts *opts, struct pev_header **ret, struct pev_err *err)
{
	_cleanup_(pev_header_freep) struct pev_header *h = calloc(1, sizeof(*h));
	int r;

	if (!h)
		return pev_err_set(err, -ENOMEM, "no memory for the header");
	r = pev_host_gather(&h->features);
	if (r == 0)
		r = set_events(h, events, list->nr);
	if (r == 0)
		r = set_groups(h, list);
	if (r < 0)
		return pev_err_set(err, r, "cannot gather the header features: %s",
				   pev_errno_str(r));
	set_clock(h, opts);
	set_compressed(h, opts->level, 1);
	set_cmdline(h, opts->cmdline);
	for (size_t i = 0; i < list->nr; i++)
		if (events[i].attr.branch_sample_type)
			pev_features_set(&h->features, PEV_FEAT_BRANCH_STACK);
	r = set_tracing_data(h, list, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(h);
	return 0;
}

int pev_header_set_bpf(struct pev_header *h, const struct pev_bpf_features *bpf,
		       struct pev_err *err)
{
	const struct {
		enum pev_feat feat;
		const struct pev_buf *section;
	} parts[] = {
		{ PEV_FEAT_BPF_PROG_INFO, &bpf->prog_info },
		{ PEV_FEAT_BPF_BTF, &bpf->btf },
	};

	for (size_t i = 0; i < PEV_ARRAY_SIZE(parts); i++) {
		int r;

		if (!parts[i].section->size)
			continue;
		r = pev_feature_decode(&h->features, parts[i].feat, parts[i].section->data,
				       parts[i].section->size, false, err);
		if (r < 0)
			return pev_err_wrap(err, "BPF programs");
	}
	return 0;
}

int pev_header_write_open(const struct pev_header *h, const char *path, int fd,
			  struct pev_writer **ret, struct pev_err *err)
{
	struct pev_feat_section sections[PEV_FEAT_MAX] = { 0 };
	size_t nr;
	int r;

	r = pev_feat_sections_encode(&h->features, sections, &nr, err);
	if (r < 0)
		return r;
	r = pev_writer_open(path, fd, h->events, h->nr_events, sections, nr, ret, err);
	pev_feat_sections_done(sections, nr);
	return r;
}

int pev_header_write_seal(struct pev_header *h, struct pev_writer *w,
			  const struct pev_drain_stats *stats,
			  const struct pev_build_ids *build_ids, struct pev_err *err)
{
	const struct pev_writer_stats written = pev_writer_stats(w);
	struct pev_feat_section sections[PEV_FEAT_MAX] = { 0 };
	size_t nr;
	int r;

	h->features.sample_time.first_ns = stats->first_sample_ns;
	h->features.sample_time.last_ns = stats->last_sample_ns;
	pev_features_set(&h->features, PEV_FEAT_SAMPLE_TIME);
	set_compressed(
		h, (int)h->features.compressed.level,
		(uint32_t)((written.raw_bytes + written.bytes / 2) / PEV_MAX(written.bytes, 1U)));
	h->features.build_ids.v = build_ids->v;
	h->features.build_ids.nr = (uint32_t)build_ids->nr;
	if (build_ids->nr)
		pev_features_set(&h->features, PEV_FEAT_BUILD_ID);
	r = pev_feat_sections_encode(&h->features, sections, &nr, err);
	if (r < 0)
		return r;
	r = pev_writer_seal(w, sections, nr, NULL, err);
	pev_feat_sections_done(sections, nr);
	return r;
}
