// SPDX-License-Identifier: LGPL-2.1-or-later
/* jansson takes what it is given even when an allocation in it failed, and says so: the first
 * failure is remembered, and the rest done as if nothing were. */
#include "report/report_json.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "report/json_text.h"

#include <errno.h>

struct maker {
	const struct pev_report_json *r;
	bool failed;
};

static void set(struct maker *m, json_t *object, const char *key, json_t *value)
{
	m->failed |= json_object_set_new(object, key, value) < 0;
}

static void set_number(struct maker *m, json_t *object, const char *key, uint64_t n)
{
	set(m, object, key, json_integer((json_int_t)n));
}

static void append(struct maker *m, json_t *array, json_t *value)
{
	m->failed |= json_array_append_new(array, value) < 0;
}

/* The calls below a node of the graph; children come after their parents. */
static json_t *make_calls(struct maker *m, const struct pev_graph *g)
{
	json_t **const arrays = calloc(g->nr, sizeof(json_t *));
	json_t *root;

	if (!arrays)
		return NULL;
	root = arrays[0] = json_array();
	for (uint32_t i = 1; i < g->nr; i++) {
		const struct pev_graph_node *const n = &g->nodes[i];
		const struct pev_frame *const f = &m->r->data->codes[n->code].frames[n->frame];
		json_t *const call = json_object();

		set(m, call, "symbol", pev_json_text(f->name));
		set(m, call, "dso", pev_json_text(f->dso));
		set_number(m, call, "period", n->total);
		if (n->first) {
			arrays[i] = json_array();
			set(m, call, "calls", arrays[i]);
		}
		append(m, arrays[n->parent], call);
	}
	free(arrays);
	return root;
}

static double percent(uint64_t part, uint64_t total)
{
	return total ? 100.0 * (double)part / (double)total : 0.0;
}

static json_t *make_symbol(const struct pev_profile_code *code, const struct pev_frame *f)
{
	char address[32];

	if (f->name)
		return pev_json_text(f->name);
	(void)snprintf(address, sizeof(address), "0x%016llx",
		       (unsigned long long)code->code.address);
	return json_string(address);
}

static json_t *make_field(struct maker *m, const struct pev_hist *h, const struct pev_row *row,
			  enum pev_field field)
{
	const struct pev_profile_key *const key = &m->r->data->keys[row->key];
	const struct pev_frame *const f = pev_row_frame(m->r->data, row);
	json_t *line;

	switch (field) {
	case PEV_FIELD_OVERHEAD:
		return json_real(percent(row->period, h->total));
	case PEV_FIELD_OVERHEAD_SYS:
		return json_real(percent(row->period_by[0], h->total));
	case PEV_FIELD_OVERHEAD_US:
		return json_real(percent(row->period_by[1], h->total));
	case PEV_FIELD_OVERHEAD_GUEST_SYS:
		return json_real(percent(row->period_by[2], h->total));
	case PEV_FIELD_OVERHEAD_GUEST_US:
		return json_real(percent(row->period_by[3], h->total));
	case PEV_FIELD_CHILDREN:
		return json_real(percent(row->children, h->total));
	case PEV_FIELD_SAMPLES:
		return json_integer((json_int_t)row->samples);
	case PEV_FIELD_PERIOD:
		return json_integer((json_int_t)row->period);
	case PEV_FIELD_PID:
		return json_integer((int32_t)key->tid);
	case PEV_FIELD_TGID:
		return json_integer((int32_t)key->pid);
	case PEV_FIELD_COMM:
		return pev_json_text(key->comm);
	case PEV_FIELD_CPU:
		return json_integer((int32_t)key->cpu);
	case PEV_FIELD_CGROUP:
		return pev_json_text(key->cgroup);
	case PEV_FIELD_CGROUP_ID:
		return json_integer((json_int_t)key->cgroup_id);
	case PEV_FIELD_DSO:
		return pev_json_text(pev_frame_short_dso(f));
	case PEV_FIELD_SYM:
		return make_symbol(&m->r->data->codes[row->code], f);
	case PEV_FIELD_SRCFILE:
		return pev_json_text(f->file);
	case PEV_FIELD_SRCLINE:
		if (!f->file)
			return json_null();
		line = json_object();
		set(m, line, "file", pev_json_text(f->file));
		set_number(m, line, "line", f->line);
		return line;
	case PEV_NR_FIELDS:
		break;
	}
	return json_null();
}

static json_t *make_row(struct maker *m, const struct pev_hist *h, const struct pev_row *row)
{
	const struct pev_fields *const fields = m->r->fields;
	json_t *const j = json_object();

	for (size_t i = 0; i < fields->nr; i++)
		set(m, j, pev_field_name(fields->v[i]), make_field(m, h, row, fields->v[i]));
	if (pev_fields_has(fields, PEV_FIELD_SYM) && pev_row_frame(m->r->data, row)->inlined)
		set(m, j, "inlined", json_true());
	if (row->graph.nr > 1)
		set(m, j, "calls", make_calls(m, &row->graph));
	return j;
}

static json_t *make_events(struct maker *m)
{
	json_t *const events = json_array();

	for (uint32_t e = 0; e < m->r->data->nr_events; e++) {
		const struct pev_profile_event *const event = &m->r->data->events[e];
		const struct pev_hist *const h = &m->r->hists[e];
		json_t *const j = json_object(), *const rows = json_array();

		set(m, j, "name", pev_json_text(event->name));
		set_number(m, j, "samples", event->samples);
		set_number(m, j, "period", event->period);
		for (size_t i = 0; i < h->nr; i++)
			append(m, rows, make_row(m, h, &h->rows[i]));
		set(m, j, "rows", rows);
		append(m, events, j);
	}
	return events;
}

static json_t *make_losses(struct maker *m)
{
	const struct pev_summary *const s = m->r->summary;
	json_t *const losses = json_array();

	for (size_t i = 0; i < s->nr_losses; i++) {
		json_t *const j = json_object();

		set(m, j, "cpu",
		    s->losses[i].cpu == PEV_CPU_UNKNOWN ? json_null()
							: json_integer(s->losses[i].cpu));
		set_number(m, j, "lost", s->losses[i].lost);
		set_number(m, j, "throttled", s->losses[i].throttles);
		append(m, losses, j);
	}
	return losses;
}

static json_t *make_unresolved(struct maker *m)
{
	const struct pev_unresolved_list *const l = m->r->unresolved;
	json_t *const array = json_array();

	for (size_t i = 0; i < l->nr; i++) {
		_cleanup_buf_ struct pev_buf why = { 0 };
		json_t *const j = json_object();

		if (l->v[i].module)
			pev_module_explain(l->v[i].module, &why);
		pev_buf_u8(&why, 0);
		m->failed |= pev_buf_status(&why) < 0;
		set(m, j, "dso", pev_json_text(l->v[i].dso));
		set_number(m, j, "samples", l->v[i].samples);
		set(m, j, "why", pev_json_text(why.data ? (const char *)why.data : ""));
		append(m, array, j);
	}
	return array;
}

static json_t *make_files(struct maker *m)
{
	json_t *const files = json_array();

	for (size_t i = 0; i < pev_reader_nr_traces(m->r->reader); i++)
		append(m, files, pev_json_text(pev_reader_path(m->r->reader, i)));
	return files;
}

int pev_report_json_write(const struct pev_report_json *r, FILE *out, struct pev_err *err)
{
	struct maker m = { .r = r };
	json_t *const top = json_object();
	int code = 0;

	set(&m, top, "files", make_files(&m));
	set_number(&m, top, "samples", r->summary->samples);
	set_number(&m, top, "first_ns", r->summary->first_ns);
	set_number(&m, top, "last_ns", r->summary->last_ns);
	set_number(&m, top, "lost", r->summary->lost);
	set_number(&m, top, "throttled", r->summary->throttles);
	set(&m, top, "losses", make_losses(&m));
	set(&m, top, "events", make_events(&m));
	set(&m, top, "unresolved", make_unresolved(&m));
	if (m.failed)
		code = pev_err_set(err, -ENOMEM, "no memory for the report as JSON");
	else if (json_dumpf(top, out, JSON_COMPACT | JSON_REAL_PRECISION(6)) < 0)
		code = pev_err_set(err, -EIO, "cannot write the report");
	else
		(void)fputc('\n', out);
	json_decref(top);
	return code;
}
