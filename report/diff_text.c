// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/diff.h"

#include "base/checked.h"
#include "report/json_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define RED   "\033[31m"
#define GREEN "\033[32m"
#define RESET "\033[m"

#define BASELINE_WIDTH 8
#define PERIOD_WIDTH   14

/* The column of what is compared, by enum pev_diff_by. */
static const struct {
	const char *title, *name;
	int width;
} columns[] = {
	[PEV_DIFF_DELTA_ABS] = { "Delta Abs", "delta", 9 },
	[PEV_DIFF_DELTA] = { "Delta", "delta", 7 },
	[PEV_DIFF_RATIO] = { "Ratio", "ratio", 14 },
	[PEV_DIFF_WDIFF] = { "Weighted diff", "wdiff", 14 },
};

static bool is_delta(enum pev_diff_by by)
{
	return by == PEV_DIFF_DELTA || by == PEV_DIFF_DELTA_ABS;
}

static const char *text_of(const struct pev_diff_row *row, size_t field)
{
	const char *s = row->key;

	while (field--)
		s += strlen(s) + 1;
	return s;
}

static void measure(const struct pev_diff *d, const struct pev_diff_options *o,
		    size_t widths[PEV_FIELDS_MAX])
{
	for (size_t f = 0; f < o->fields->nr; f++) {
		widths[f] = strlen(pev_field_title(o->fields->v[f]));
		for (uint32_t i = 0; i < d->nr; i++)
			widths[f] = PEV_MAX(widths[f], strlen(text_of(&d->rows[i], f)));
	}
}

static void put_dots(size_t n, const char *before, FILE *out)
{
	(void)fputs(before, out);
	while (n--)
		(void)fputc('.', out);
}

static void print_head(const struct pev_diff *d, const struct pev_diff_options *o,
		       const size_t widths[PEV_FIELDS_MAX], FILE *out)
{
	const int width = columns[o->by].width;

	(void)fprintf(out, "# Event '%s'\n#\n# Baseline", d->event);
	if (o->period)
		(void)fprintf(out, "  %*s", PERIOD_WIDTH, "Base period");
	(void)fprintf(out, "  %*s", width, columns[o->by].title);
	if (o->period)
		(void)fprintf(out, "  %*s", PERIOD_WIDTH, "Period");
	for (size_t f = 0; f < o->fields->nr; f++)
		(void)fprintf(out, "  %-*s", (int)widths[f], pev_field_title(o->fields->v[f]));
	(void)fputc('\n', out);
	put_dots(BASELINE_WIDTH, "# ", out);
	if (o->period)
		put_dots(PERIOD_WIDTH, "  ", out);
	put_dots((size_t)width, "  ", out);
	if (o->period)
		put_dots(PERIOD_WIDTH, "  ", out);
	for (size_t f = 0; f < o->fields->nr; f++)
		put_dots(widths[f], "  ", out);
	(void)fputs("\n#\n", out);
}

static double percent(uint64_t part, uint64_t total)
{
	return total ? 100.0 * (double)part / (double)total : 0.0;
}

static void print_period(bool there, uint64_t period, FILE *out)
{
	if (there)
		(void)fprintf(out, "  %*" PRIu64, PERIOD_WIDTH, period);
	else
		(void)fprintf(out, "  %*s", PERIOD_WIDTH, "");
}

/* perf's colours: what grew is red, what shrank green, when it is worth a look. */
static const char *color_of(double delta)
{
	return delta >= 0.5 ? RED : delta <= -0.5 ? GREEN : NULL;
}

static void print_value(const struct pev_diff_row *row, const struct pev_diff_options *o,
			bool use_color, FILE *out)
{
	const int width = columns[o->by].width;
	const char *const color = use_color && is_delta(o->by) ? color_of(row->value) : NULL;

	(void)fputs("  ", out);
	if (!row->has_after) {
		(void)fprintf(out, "%*s", width, "");
	} else if (is_delta(o->by)) {
		(void)fprintf(out, "%s%+*.2f%%%s", color ? color : "", width - 1, row->value,
			      color ? RESET : "");
	} else if (!row->has_before) {
		(void)fprintf(out, "%*s", width, "N/A");
	} else if (o->by == PEV_DIFF_RATIO) {
		(void)fprintf(out, "%*.6f", width, row->value);
	} else {
		(void)fprintf(out, "%*.0f", width, row->value);
	}
}

static void print_row(const struct pev_diff *d, const struct pev_diff_row *row,
		      const struct pev_diff_options *o, bool color,
		      const size_t widths[PEV_FIELDS_MAX], FILE *out)
{
	if (row->has_before)
		(void)fprintf(out, "  %*.2f%%", BASELINE_WIDTH - 1,
			      percent(row->before, d->total_baseline));
	else
		(void)fprintf(out, "  %*s", BASELINE_WIDTH, "");
	if (o->period)
		print_period(row->has_before, row->before, out);
	print_value(row, o, color, out);
	if (o->period)
		print_period(row->has_after, row->after, out);
	for (size_t f = 0; f < o->fields->nr; f++)
		(void)fprintf(out, "  %-*s", f + 1 < o->fields->nr ? (int)widths[f] : 0,
			      text_of(row, f));
	(void)fputc('\n', out);
}

void pev_diff_print(const struct pev_diff *d, const struct pev_diff_options *o, bool color,
		    FILE *out)
{
	size_t widths[PEV_FIELDS_MAX];

	measure(d, o, widths);
	print_head(d, o, widths, out);
	for (uint32_t i = 0; i < d->nr; i++)
		print_row(d, &d->rows[i], o, color, widths, out);
}

static json_t *make_row(const struct pev_diff *d, const struct pev_diff_row *row,
			const struct pev_diff_options *o, bool *failed)
{
	json_t *const j = json_object();
	const bool value = row->has_after && (row->has_before || is_delta(o->by));
	int r = 0;

	r |= json_object_set_new(
		j, "baseline",
		row->has_before ? json_real(percent(row->before, d->total_baseline)) : json_null());
	r |= json_object_set_new(j, columns[o->by].name,
				 value ? json_real(row->value) : json_null());
	r |= json_object_set_new(j, "period_before", json_integer((json_int_t)row->before));
	r |= json_object_set_new(j, "period_after", json_integer((json_int_t)row->after));
	for (size_t f = 0; f < o->fields->nr; f++)
		r |= json_object_set_new(j, pev_field_name(o->fields->v[f]),
					 pev_json_text(text_of(row, f)));
	*failed |= r < 0;
	return j;
}

int pev_diff_json(const struct pev_diff *d, const struct pev_diff_options *o, FILE *out)
{
	json_t *const top = json_object(), *const rows = json_array();
	bool failed = false;
	int r = 0;

	for (uint32_t i = 0; i < d->nr; i++)
		failed |= json_array_append_new(rows, make_row(d, &d->rows[i], o, &failed)) < 0;
	failed |= json_object_set_new(top, "event", pev_json_text(d->event)) < 0;
	failed |= json_object_set_new(top, "rows", rows) < 0;
	if (failed)
		r = -ENOMEM;
	else if (json_dumpf(top, out, JSON_COMPACT | JSON_REAL_PRECISION(6)) < 0)
		r = -EIO;
	else
		(void)fputc('\n', out);
	json_decref(top);
	return r;
}
