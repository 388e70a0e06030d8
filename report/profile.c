// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading: a record goes to the resolver; a sample that passes the filter gets its chain, and with
 * it the number of its stack (report/stacks.c) and of its cell (report/cells.c). Naming: each code
 * once, in the order of modules and addresses, which is how debug information likes to be read.
 */
#include "report/profile.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "report/cells.h"
#include "report/events.h"
#include "report/feed.h"
#include "report/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLICE_NS PEV_NSEC_PER_MSEC
#define MAX_SLICES     1024

struct pev_profile {
	struct pev_profile_options options;
	struct pev_filter filter;
	struct pev_resolver *resolver;
	struct pev_stacks stacks;
	struct pev_cells cells;
	struct pev_events events;
	struct pev_chain chain; /* of the sample at hand */
	struct pev_profile_data data;
};

/* Arrays move while they grow. */
static void publish(struct pev_profile *p)
{
	struct pev_profile_data *const d = &p->data;

	d->events = p->events.events;
	d->nr_events = p->events.nr;
	d->codes = p->stacks.codes;
	d->nr_codes = p->stacks.nr_codes;
	d->nodes = p->stacks.nodes;
	d->nr_nodes = p->stacks.nr_nodes;
	d->stacks = p->stacks.stacks;
	d->nr_stacks = p->stacks.nr_stacks;
	d->keys = p->cells.keys;
	d->nr_keys = p->cells.nr_keys;
	d->cells = p->cells.cells;
	d->nr_cells = p->cells.nr_cells;
}

int pev_profile_new(const struct pev_profile_options *options, struct pev_resolver *resolver,
		    struct pev_profile **ret, struct pev_err *err)
{
	_cleanup_(pev_profile_freep) struct pev_profile *p = calloc(1, sizeof(*p));

	if (!p || pev_stacks_init(&p->stacks) < 0)
		return pev_err_set(err, -ENOMEM, "no memory to count stacks");
	p->options = *options;
	if (!p->options.max_slices)
		p->options.max_slices = MAX_SLICES;
	if (options->filter)
		p->filter = *options->filter;
	p->resolver = resolver;
	p->data.slice_ns = FIRST_SLICE_NS;
	publish(p);
	*ret = TAKE_PTR(p);
	return 0;
}

struct pev_profile *pev_profile_free(struct pev_profile *p)
{
	if (!p)
		return NULL;
	pev_stacks_done(&p->stacks);
	pev_cells_done(&p->cells);
	pev_events_done(&p->events);
	pev_chain_done(&p->chain);
	free(p);
	return NULL;
}

/* The slice that a time is in; makes slices longer when there would be too many. */
static int slice_of(struct pev_profile *p, uint64_t time_ns, uint32_t *ret)
{
	struct pev_profile_data *const d = &p->data;
	uint64_t slice;

	if (!d->first_slice_ns)
		d->first_slice_ns = time_ns;
	/* Those that come late and are older than the first one are in the first slice. */
	slice = time_ns > d->first_slice_ns ? (time_ns - d->first_slice_ns) / d->slice_ns : 0;
	while (slice >= p->options.max_slices) {
		const int r = pev_cells_halve_slices(&p->cells);

		if (r < 0)
			return r;
		d->slice_ns *= 2;
		slice /= 2;
	}
	*ret = (uint32_t)slice;
	return 0;
}

static int make_key(struct pev_profile *p, const struct pev_reader_record *rec, uint32_t event,
		    struct pev_profile_key *key)
{
	const struct pev_sample_id *const id = &rec->rec.id;
	const uint32_t trace = p->options.first_trace + rec->trace;
	const unsigned int want = p->options.key;

	key->event = event;
	if (want & PEV_KEY_TRACE)
		key->trace = rec->trace;
	if (want & PEV_KEY_PID)
		key->pid = id->pid;
	if (want & PEV_KEY_TID)
		key->tid = id->tid;
	if (want & PEV_KEY_CPU)
		key->cpu = id->has & PEV_SAMPLE_CPU ? id->cpu : UINT32_MAX;
	if (want & PEV_KEY_CGROUP) {
		key->cgroup_id = rec->rec.sample.cgroup;
		key->cgroup = pev_resolver_cgroup(p->resolver, trace, key->cgroup_id);
	}
	if (want & PEV_KEY_COMM) {
		key->comm = pev_resolver_comm(p->resolver, trace, id->pid, id->tid);
		if (!key->comm)
			return -ENOMEM;
	}
	return want & PEV_KEY_TIME ? slice_of(p, rec->time_ns, &key->slice) : 0;
}

/* Whether the sample is of the threads and cgroups that were asked for. */
static bool is_wanted(struct pev_profile *p, const struct pev_reader_record *rec)
{
	const struct pev_filter *const f = &p->filter;
	const struct pev_sample_id *const id = &rec->rec.id;
	const uint32_t trace = p->options.first_trace + rec->trace;

	if (!pev_filter_has_number(&f->pids, id->pid) || !pev_filter_has_number(&f->tids, id->tid))
		return false;
	if (f->comms.nr && !pev_filter_has_name(&f->comms, pev_resolver_comm(p->resolver, trace,
									     id->pid, id->tid)))
		return false;
	return !f->cgroups.nr ||
	       pev_filter_has_cgroup(&f->cgroups, pev_resolver_cgroup(p->resolver, trace,
								      rec->rec.sample.cgroup));
}

/* Whether the sample counts at all. */
static bool is_in(const struct pev_profile *p, const struct pev_reader_record *rec)
{
	const struct pev_filter *const f = &p->filter;
	const struct pev_sample_id *const id = &rec->rec.id;

	return pev_filter_has_time(f, rec->time_ns) &&
	       (!f->cpus.nr ||
		(id->has & PEV_SAMPLE_CPU && pev_filter_has_number(&f->cpus, id->cpu)));
}

static int count(struct pev_profile *p, const struct pev_reader *reader,
		 const struct pev_reader_record *rec, struct pev_err *err)
{
	const uint64_t period = rec->rec.sample.period;
	struct pev_profile_key key = { 0 };
	struct pev_profile_event *e;
	uint32_t event, stack;
	int r;

	if (!is_in(p, rec))
		return 0;
	r = pev_events_of(&p->events, reader, rec, &event);
	if (r < 0)
		return pev_err_set(err, r, "no memory for the events");
	e = &p->events.events[event];
	if (!pev_filter_has_name(&p->filter.events, e->name))
		return 0;
	e->all_samples++;
	e->all_period += period;
	if (!is_wanted(p, rec))
		return 0;
	r = pev_resolver_chain(p->resolver, p->options.first_trace + rec->trace, &rec->event->attr,
			       &rec->rec, &p->chain, err);
	if (r < 0)
		return r;
	e->has_chains |= p->chain.kind != PEV_CHAIN_NONE;
	r = pev_stacks_put(&p->stacks, &p->chain, p->options.no_chains, &stack);
	if (r == 0)
		r = make_key(p, rec, event, &key);
	if (r == 0)
		r = pev_cells_count(&p->cells, stack, &key, 1, period);
	if (r < 0)
		return pev_err_set(err, r, "no memory for %u distinct stacks", p->stacks.nr_stacks);
	if (rec->time_ns && (!p->data.first_ns || rec->time_ns < p->data.first_ns))
		p->data.first_ns = rec->time_ns;
	p->data.last_ns = PEV_MAX(p->data.last_ns, rec->time_ns);
	return 0;
}

int pev_profile_read(struct pev_profile *p, struct pev_reader *reader, struct pev_err *err)
{
	_cleanup_(pev_feed_done) struct pev_feed feed = { 0 };
	struct pev_reader_record rec;
	int r;

	pev_events_next_reader(&p->events);
	r = pev_feed_init(&feed, reader, p->resolver, p->options.first_trace, err);
	while (r >= 0 && (r = pev_feed_next(&feed, &rec, err)) > 0)
		if (rec.rec.hdr.type == PEV_REC_SAMPLE)
			r = count(p, reader, &rec, err);
	publish(p);
	return r;
}

static int by_module(const void *a, const void *b, void *arg)
{
	const struct pev_profile_code *const codes = arg;
	const struct pev_code *const x = &codes[*(const uint32_t *)a].code;
	const struct pev_code *const y = &codes[*(const uint32_t *)b].code;

	if (x->module != y->module)
		return (uintptr_t)x->module < (uintptr_t)y->module ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static int name_all(struct pev_profile *p, void (*progress)(void *, uint64_t, uint64_t),
		    void *userdata, struct pev_err *err)
{
	const uint32_t nr = p->stacks.nr_codes;
	_cleanup_free_ uint32_t *order = calloc(nr ? nr : 1, sizeof(*order));

	if (!order)
		return pev_err_set(err, -ENOMEM, "no memory to name %u codes", nr);
	for (uint32_t i = 0; i < nr; i++)
		order[i] = i;
	qsort_r(order, nr, sizeof(*order), by_module, p->stacks.codes);
	for (uint32_t i = 0; i < nr; i++) {
		struct pev_profile_code *const c = &p->stacks.codes[order[i]];
		const int r = pev_resolver_name(p->resolver, &c->code, &c->frames, err);

		if (r < 0)
			return r;
		c->nr_frames = (uint32_t)r;
		if (progress && i % 64 == 0)
			progress(userdata, i, nr);
	}
	return 0;
}

/* By code: whether samples there are wanted. */
static bool *wanted_codes(const struct pev_profile *p)
{
	const struct pev_filter *const f = &p->filter;
	bool *const wanted = calloc(p->stacks.nr_codes ? p->stacks.nr_codes : 1, sizeof(*wanted));

	for (uint32_t i = 0; wanted && i < p->stacks.nr_codes; i++) {
		const struct pev_profile_code *const c = &p->stacks.codes[i];
		const struct pev_frame *const real = &c->frames[c->nr_frames - 1];
		struct pev_module_info info = { 0 };

		if (c->code.module)
			pev_module_info(c->code.module, &info);
		wanted[i] = pev_filter_has_dso(&f->dsos, real->dso, info.short_name) &&
			    pev_filter_has_name(&f->symbols, real->name);
	}
	return wanted;
}

struct keep {
	const struct pev_stacks *stacks;
	const bool *wanted;
};

static bool keep_cell(void *arg, const struct pev_profile_cell *cell)
{
	const struct keep *const k = arg;

	return k->wanted[k->stacks->stacks[cell->stack].self];
}

/* What the cells hold is what the events count. */
static void sum_events(struct pev_profile *p)
{
	for (uint32_t i = 0; i < p->cells.nr_cells; i++) {
		const struct pev_profile_cell *const cell = &p->cells.cells[i];
		struct pev_profile_event *const e =
			&p->events.events[p->cells.keys[cell->key].event];

		e->samples += cell->samples;
		e->period += cell->period;
	}
}

int pev_profile_name(struct pev_profile *p,
		     void (*progress)(void *userdata, uint64_t done, uint64_t total),
		     void *userdata, struct pev_err *err)
{
	int r = name_all(p, progress, userdata, err);

	if (r < 0)
		return r;
	if (p->filter.dsos.nr || p->filter.symbols.nr) {
		_cleanup_free_ bool *wanted = wanted_codes(p);

		if (!wanted)
			return pev_err_set(err, -ENOMEM, "no memory to filter");
		pev_cells_keep(&p->cells, keep_cell,
			       &(struct keep){ .stacks = &p->stacks, .wanted = wanted });
	}
	sum_events(p);
	publish(p);
	return 0;
}

const struct pev_profile_data *pev_profile_data(const struct pev_profile *p)
{
	return &p->data;
}
