// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Cells are sorted into groups whose keys have the same fields of the sample; what a group's rows
 * are is the business of report/hist_group.c. Rows of all groups are sorted at the end.
 */
#include "report/hist.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "report/hist_part.h"
#include "report/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct pev_frame *pev_row_frame(const struct pev_profile_data *d, const struct pev_row *row)
{
	return &d->codes[row->code].frames[row->frame];
}

const char *pev_frame_short_dso(const struct pev_frame *frame)
{
	struct pev_module_info info = { 0 };

	if (frame->module)
		pev_module_info(frame->module, &info);
	return info.short_name ? info.short_name : frame->dso;
}

char pev_code_level(const struct pev_code *code)
{
	switch (code->mode) {
	case PEV_MISC_KERNEL:
		return 'k';
	case PEV_MISC_GUEST_KERNEL:
		return 'g';
	case PEV_MISC_GUEST_USER:
		return 'u';
	case PEV_MISC_HYPERVISOR:
		return 'H';
	default:
		return '.';
	}
}

void pev_hist_done(struct pev_hist *h)
{
	for (size_t i = 0; i < h->nr; i++)
		free(h->rows[i].graph.nodes);
	free(h->rows);
	*h = (struct pev_hist){ 0 };
}

/* What groups are told apart by; compared as bytes. */
struct group_id {
	uint64_t cgroup_id;
	const char *comm;
	uint32_t pid, tid, cpu, zero;
};

static struct group_id group_id_of(const struct pev_fields *fields,
				   const struct pev_profile_key *key)
{
	struct group_id id = { 0 };

	for (size_t i = 0; i < fields->nr; i++)
		switch (fields->v[i]) {
		case PEV_FIELD_PID:
			id.tid = key->tid;
			break;
		case PEV_FIELD_TGID:
			id.pid = key->pid;
			break;
		case PEV_FIELD_COMM:
			id.comm = key->comm;
			break;
		case PEV_FIELD_CPU:
			id.cpu = key->cpu;
			break;
		case PEV_FIELD_CGROUP:
		case PEV_FIELD_CGROUP_ID:
			id.cgroup_id = key->cgroup_id;
			break;
		default:
			break;
		}
	return id;
}

/* Groups of keys: by key its group, and by group the last key that is in it, whose thread has its
 * last name. */
struct groups {
	uint32_t *of;
	uint32_t *key;
	uint32_t nr;
};

static void groups_done(struct groups *g)
{
	free(g->of);
	free(g->key);
}

static int make_groups(struct groups *g, const struct pev_profile_data *d, uint32_t event,
		       const struct pev_fields *fields)
{
	_cleanup_free_ struct group_id *ids = calloc(d->nr_keys + 1ULL, sizeof(*ids));
	_cleanup_(pev_index_done) struct pev_index index = { 0 };

	g->of = calloc(d->nr_keys + 1ULL, sizeof(*g->of));
	g->key = calloc(d->nr_keys + 1ULL, sizeof(*g->key));
	if (!ids || !g->of || !g->key)
		return -ENOMEM;
	for (uint32_t k = 0; k < d->nr_keys; k++) {
		const struct group_id id = group_id_of(fields, &d->keys[k]);
		const uint64_t hash = pev_hash_bytes(&id, sizeof(id), 0);
		struct pev_probe at = pev_index_probe(&index, hash);
		bool found = false;

		if (d->keys[k].event != event)
			continue;
		while (!found && pev_index_next(&index, &at))
			found = !memcmp(&ids[at.found], &id, sizeof(id));
		if (!found) {
			if (pev_index_add(&index, hash, g->nr) < 0)
				return -ENOMEM;
			ids[g->nr] = id;
			at.found = g->nr++;
		}
		g->of[k] = at.found;
		g->key[at.found] = k;
	}
	return 0;
}

static void build_done(struct hist_build *b)
{
	hist_labels_done(&b->labels);
	pev_tree_done(&b->tree);
	free(b->place);
	free(b->rows);
	free(b->group.nodes);
	free(b->group.cells);
}

static int build_init(struct hist_build *b)
{
	int r = hist_labels_make(&b->labels, b->d, b->options->fields);

	if (r == 0)
		r = pev_tree_make(&b->tree, b->d, &b->labels.labels, false);
	if (r < 0)
		return r;
	b->place = calloc(b->tree.nr_nodes, sizeof(*b->place));
	b->rows = calloc(b->labels.nr_rows + 1ULL, sizeof(*b->rows));
	return b->place && b->rows ? 0 : -ENOMEM;
}

static int put_cell(struct hist_group *g, const struct pev_profile_data *d,
		    const struct pev_tree *tree, const struct pev_profile_cell *cell)
{
	const struct pev_profile_stack *const stack = &d->stacks[cell->stack];
	const int r = PEV_ARRAY_ROOM(g->cells, g->nr_cells, g->cap_cells);

	if (r < 0)
		return r;
	g->cells[g->nr_cells++] = (struct hist_cell){
		.period = cell->period,
		.samples = cell->samples,
		.code = stack->self,
		.leaf = tree->leaves[cell->stack],
	};
	return 0;
}

/* Cells of @event by their groups: those of group g are order[first[g]] to order[first[g + 1] - 1].
 */
static int sort_cells(const struct pev_profile_data *d, uint32_t event, const struct groups *g,
		      uint32_t **ret_first, uint32_t **ret_order)
{
	_cleanup_free_ uint32_t *first = calloc(g->nr + 2ULL, sizeof(*first));
	_cleanup_free_ uint32_t *order = calloc(d->nr_cells + 1ULL, sizeof(*order));

	if (!first || !order)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->nr_cells; i++)
		if (d->keys[d->cells[i].key].event == event)
			first[g->of[d->cells[i].key] + 2]++;
	for (uint32_t i = 2; i < g->nr + 2; i++)
		first[i] += first[i - 1];
	/* first[g + 1] walks from the start of group g to its end. */
	for (uint32_t i = 0; i < d->nr_cells; i++)
		if (d->keys[d->cells[i].key].event == event)
			order[first[g->of[d->cells[i].key] + 1]++] = i;
	*ret_first = TAKE_PTR(first);
	*ret_order = TAKE_PTR(order);
	return 0;
}

static int compare_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : !a - !b; /* nothing comes last */
}

static int compare_field(const struct pev_profile_data *d, enum pev_field field,
			 const struct pev_row *a, const struct pev_row *b)
{
	const struct pev_profile_key *const x = &d->keys[a->key], *const y = &d->keys[b->key];
	const struct pev_frame *const f = pev_row_frame(d, a), *const g = pev_row_frame(d, b);

	switch (field) {
	case PEV_FIELD_PID:
		return (x->tid > y->tid) - (x->tid < y->tid);
	case PEV_FIELD_TGID:
		return (x->pid > y->pid) - (x->pid < y->pid);
	case PEV_FIELD_COMM:
		return compare_text(x->comm, y->comm);
	case PEV_FIELD_CPU:
		return (x->cpu > y->cpu) - (x->cpu < y->cpu);
	case PEV_FIELD_CGROUP:
	case PEV_FIELD_CGROUP_ID:
		return compare_text(x->cgroup, y->cgroup);
	case PEV_FIELD_DSO:
		return compare_text(pev_frame_short_dso(f), pev_frame_short_dso(g));
	case PEV_FIELD_SYM:
		return compare_text(f->name, g->name);
	case PEV_FIELD_SRCLINE:
	case PEV_FIELD_SRCFILE: {
		const int c = compare_text(f->file, g->file);

		return c || field == PEV_FIELD_SRCFILE ? c
						       : (f->line > g->line) - (f->line < g->line);
	}
	default:
		return 0;
	}
}

static int more(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

/* What costs most comes first; a caller before what it calls; then by the fields. */
static int by_cost(const void *pa, const void *pb, void *arg)
{
	const struct hist_build *const build = arg;
	const struct pev_hist_options *const o = build->options;
	const struct pev_row *const a = pa, *const b = pb;
	const bool children = o->children && pev_fields_has(o->fields, PEV_FIELD_CHILDREN);
	int c = 0;

	if (children)
		c = more(a->children, b->children);
	if (!c && children && o->graph.mode != PEV_GRAPH_NONE &&
	    build->d->keys[a->key].tid == build->d->keys[b->key].tid)
		c = o->graph.caller ? more(a->depth, b->depth) : more(b->depth, a->depth);
	if (!c)
		c = more(a->period, b->period);
	for (size_t i = 0; !c && i < o->fields->nr; i++)
		c = compare_field(build->d, o->fields->v[i], a, b);
	if (!c)
		c = (a->group > b->group) - (a->group < b->group);
	return c ? c : (a->label > b->label) - (a->label < b->label);
}

static int make(struct hist_build *b, uint32_t event)
{
	_cleanup_(groups_done) struct groups groups = { 0 };
	_cleanup_free_ uint32_t *first = NULL, *order = NULL;
	int r;

	r = build_init(b);
	if (r == 0)
		r = make_groups(&groups, b->d, event, b->options->fields);
	if (r == 0)
		r = sort_cells(b->d, event, &groups, &first, &order);
	for (uint32_t g = 0; g < groups.nr && r == 0; g++) {
		b->group.nr_cells = 0;
		for (uint32_t i = first[g]; i < first[g + 1] && r == 0; i++)
			r = put_cell(&b->group, b->d, &b->tree, &b->d->cells[order[i]]);
		if (r == 0)
			r = hist_group_rows(b, groups.key[g], g);
	}
	if (r == 0)
		qsort_r(b->hist->rows, b->hist->nr, sizeof(*b->hist->rows), by_cost, b);
	return r;
}

int pev_hist_make(struct pev_hist *h, const struct pev_profile_data *d, uint32_t event,
		  const struct pev_hist_options *options, struct pev_err *err)
{
	_cleanup_(build_done) struct hist_build b = { .d = d, .options = options, .hist = h };
	int r;

	*h = (struct pev_hist){ .total = options->relative ? d->events[event].period
							   : d->events[event].all_period };
	r = make(&b, event);
	if (r < 0) {
		pev_hist_done(h);
		return pev_err_set(err, r, "cannot make the rows of %s: %s", d->events[event].name,
				   pev_errno_str(r));
	}
	return 0;
}
