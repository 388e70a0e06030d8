// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/table.h"

#include "base/buf.h"
#include "base/checked.h"
#include "base/cleanup.h"
#include "report/graph_text.h"

#include <inttypes.h>
#include <string.h>

#define RED   "\033[31m"
#define GREEN "\033[32m"
#define RESET "\033[m"

/* perf's columns of numbers. */
#define PERCENT_WIDTH 8
#define COUNT_WIDTH   12

static double percent(uint64_t part, uint64_t total)
{
	return total ? 100.0 * (double)part / (double)total : 0.0;
}

static uint64_t number_of(const struct pev_row *row, enum pev_field field)
{
	switch (field) {
	case PEV_FIELD_OVERHEAD_SYS:
		return row->period_by[0];
	case PEV_FIELD_OVERHEAD_US:
		return row->period_by[1];
	case PEV_FIELD_OVERHEAD_GUEST_SYS:
		return row->period_by[2];
	case PEV_FIELD_OVERHEAD_GUEST_US:
		return row->period_by[3];
	case PEV_FIELD_CHILDREN:
		return row->children;
	case PEV_FIELD_SAMPLES:
		return row->samples;
	default:
		return row->period;
	}
}

static bool is_percent(enum pev_field field)
{
	return field <= PEV_FIELD_CHILDREN;
}

static void print_symbol(const struct pev_code *code, const struct pev_frame *f,
			 struct pev_buf *text)
{
	pev_buf_printf(text, "[%c] ", pev_code_level(code));
	if (f->name)
		pev_buf_printf(text, "%s%s", f->name, f->inlined ? " (inlined)" : "");
	else
		pev_buf_printf(text, "0x%016" PRIx64, code->address);
}

static void print_line(const struct pev_code *code, const struct pev_frame *f, struct pev_buf *text)
{
	if (f->file)
		pev_buf_printf(text, "%s:%" PRIu32, basename(f->file), f->line);
	else if (f->name)
		pev_buf_printf(text, "%s+%" PRIu64, f->name, f->offset);
	else
		pev_buf_printf(text, "%s[%" PRIx64 "]", pev_frame_short_dso(f), code->address);
}

static void print_cgroup(const struct pev_profile_key *key, struct pev_buf *text)
{
	pev_buf_printf(text, "%s", key->cgroup ? key->cgroup : key->cgroup_id ? "unknown" : "N/A");
}

void pev_field_print(const struct pev_hist *h, const struct pev_profile_data *d,
		     const struct pev_row *row, enum pev_field field, struct pev_buf *text)
{
	const struct pev_profile_key *const key = &d->keys[row->key];
	const struct pev_code *const code = &d->codes[row->code].code;
	const struct pev_frame *const f = pev_row_frame(d, row);

	switch (field) {
	case PEV_FIELD_SAMPLES:
	case PEV_FIELD_PERIOD:
		pev_buf_printf(text, "%*" PRIu64, COUNT_WIDTH, number_of(row, field));
		break;
	case PEV_FIELD_PID:
		pev_buf_printf(text, "%7d:%s", (int)key->tid, key->comm);
		break;
	case PEV_FIELD_TGID:
		pev_buf_printf(text, "%7d:%s", (int)key->pid, key->comm);
		break;
	case PEV_FIELD_COMM:
		pev_buf_printf(text, "%s", key->comm);
		break;
	case PEV_FIELD_CPU:
		pev_buf_printf(text, "%.3d", (int)key->cpu);
		break;
	case PEV_FIELD_CGROUP:
		print_cgroup(key, text);
		break;
	case PEV_FIELD_CGROUP_ID:
		pev_buf_printf(text, "%" PRIu64, key->cgroup_id);
		break;
	case PEV_FIELD_DSO:
		pev_buf_printf(text, "%s", pev_frame_short_dso(f));
		break;
	case PEV_FIELD_SYM:
		print_symbol(code, f, text);
		break;
	case PEV_FIELD_SRCLINE:
		print_line(code, f, text);
		break;
	case PEV_FIELD_SRCFILE:
		pev_buf_printf(text, "%s", f->file ? basename(f->file) : "");
		break;
	default:
		pev_buf_printf(text, "%*.2f%%", PERCENT_WIDTH - 1,
			       percent(number_of(row, field), h->total));
	}
}

/* The width of each column, which is that of its widest entry or title. */
static int measure(const struct pev_hist *h, const struct pev_profile_data *d,
		   const struct pev_fields *fields, size_t widths[PEV_FIELDS_MAX])
{
	_cleanup_buf_ struct pev_buf text = { 0 };

	for (size_t c = 0; c < fields->nr; c++) {
		const enum pev_field field = fields->v[c];

		widths[c] = strlen(pev_field_title(field));
		if (pev_field_is_number(field)) {
			widths[c] = PEV_MAX(widths[c], (size_t)(is_percent(field) ? PERCENT_WIDTH
										  : COUNT_WIDTH));
			continue;
		}
		for (size_t i = 0; i < h->nr; i++) {
			pev_buf_reset(&text);
			pev_field_print(h, d, &h->rows[i], field, &text);
			widths[c] = PEV_MAX(widths[c], text.size);
		}
	}
	return pev_buf_status(&text);
}

static void print_head(const struct pev_fields *fields, const size_t widths[PEV_FIELDS_MAX],
		       FILE *out)
{
	(void)fputs("# ", out);
	for (size_t c = 0; c < fields->nr; c++) {
		const int width = (int)widths[c];

		(void)fprintf(out, pev_field_is_number(fields->v[c]) ? "%s%*s" : "%s%-*s",
			      c ? "  " : "", width, pev_field_title(fields->v[c]));
	}
	(void)fputs("\n# ", out);
	for (size_t c = 0; c < fields->nr; c++) {
		(void)fputs(c ? "  " : "", out);
		for (size_t i = 0; i < widths[c]; i++)
			(void)fputc('.', out);
	}
	(void)fputs("\n#\n", out);
}

static const char *color_of(const struct pev_hist *h, const struct pev_row *row,
			    enum pev_field field)
{
	const double p = percent(number_of(row, field), h->total);

	return p >= 5 ? RED : p >= 0.5 ? GREEN : NULL;
}

static void print_row(const struct pev_hist *h, const struct pev_profile_data *d,
		      const struct pev_row *row, const struct pev_table_options *o,
		      const size_t widths[PEV_FIELDS_MAX], struct pev_buf *text, FILE *out)
{
	for (size_t c = 0; c < o->fields->nr; c++) {
		const enum pev_field field = o->fields->v[c];
		const char *const color =
			o->color && is_percent(field) ? color_of(h, row, field) : NULL;

		pev_buf_reset(text);
		pev_field_print(h, d, row, field, text);
		/* Nothing is behind the last column but the end of the line. */
		(void)fprintf(out, "  %s%.*s%s", color ? color : "", (int)text->size,
			      (const char *)text->data, color ? RESET : "");
		if (c + 1 < o->fields->nr)
			(void)fprintf(out, "%*s", (int)(widths[c] - PEV_MIN(widths[c], text->size)),
				      "");
	}
	(void)fputc('\n', out);
}

static size_t longest_comm(const struct pev_hist *h, const struct pev_profile_data *d)
{
	size_t n = 0;

	for (size_t i = 0; i < h->nr; i++)
		n = PEV_MAX(n, strlen(d->keys[h->rows[i].key].comm));
	return n;
}

int pev_table_print(const struct pev_hist *h, const struct pev_profile_data *d,
		    const struct pev_table_options *o, FILE *out)
{
	_cleanup_buf_ struct pev_buf text = { 0 };
	/* A graph hangs on the end of the thread's name. */
	const size_t comm = o->indent ? longest_comm(h, d) : 0;
	size_t widths[PEV_FIELDS_MAX];
	int r = measure(h, d, o->fields, widths);

	if (r < 0)
		return r;
	print_head(o->fields, widths, out);
	for (size_t i = 0; i < h->nr && r == 0; i++) {
		const struct pev_row *const row = &h->rows[i];
		const struct pev_graph_text how = {
			.graph = &row->graph,
			.data = d,
			.relative = o->graph.mode == PEV_GRAPH_RELATIVE,
			.total = h->total,
			.row_total = o->children ? row->children : row->period,
			.skip_first = o->skip_first,
			.margin = comm ? comm - strlen(d->keys[row->key].comm) : 0,
		};

		print_row(h, d, row, o, widths, &text, out);
		r = pev_buf_status(&text);
		if (r == 0 && o->graph.mode != PEV_GRAPH_NONE)
			r = pev_graph_print(&how, out);
	}
	return r;
}
