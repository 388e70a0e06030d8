// SPDX-License-Identifier: LGPL-2.1-or-later
/* The terms that mean the same whatever the PMU is: a table, and a setter for each kind. */
#include "recorder/event_term.h"

#include "base/checked.h"
#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

uint64_t *pev_attr_config(struct pev_attr *attr, unsigned word)
{
	switch (word) {
	case 0:
		return &attr->config;
	case 1:
		return &attr->config1;
	case 2:
		return &attr->config2;
	case 3:
		attr->size = PEV_MAX(attr->size, PEV_ATTR_SIZE_VER8);
		return &attr->config3;
	default:
		attr->size = PEV_MAX(attr->size, PEV_ATTR_SIZE_VER9);
		return &attr->config4;
	}
}

/* What the setters work on. */
struct setting {
	const struct pev_term *term;
	struct pev_event *event;
	struct pev_err *err;
	uint64_t number; /* the value of a VALUE_NUMBER */
};

static int set_config(const struct setting *s, unsigned word)
{
	*pev_attr_config(&s->event->attr, word) = s->number;
	return 0;
}

static int set_name(const struct setting *s, unsigned unused)
{
	char *name;

	(void)unused;
	if (!*s->term->value)
		return pev_err_set(s->err, -EINVAL,
				   "the name is empty: give one, or leave name= out");
	if (s->event->attr.type == PEV_TYPE_TRACEPOINT)
		return pev_err_set(
			s->err, -EINVAL,
			"a tracepoint cannot be renamed, since readers of the trace find "
			"its fields by its name: leave name= out");
	name = strdup(s->term->value);
	if (!name)
		return pev_err_set(s->err, -ENOMEM, "no memory for a name");
	free(s->event->name);
	s->event->name = name;
	return 0;
}

static int set_rate(const struct setting *s, unsigned is_freq)
{
	struct pev_attr *const attr = &s->event->attr;

	if (!s->number || s->number > INT64_MAX)
		return pev_err_set(s->err, -EINVAL,
				   "%s=%s takes no samples: give at least 1 and less than 2^63",
				   s->term->key, s->term->value);
	attr->sample_period = s->number;
	attr->flags &= ~PEV_ATTR_FREQ;
	if (is_freq)
		attr->flags |= PEV_ATTR_FREQ;
	s->event->has_period = true;
	return 0;
}

/* Blocks are found by the times of their samples, so none goes without. */
static int set_time(const struct setting *s, unsigned unused)
{
	(void)unused;
	if (s->number != 1)
		return pev_err_set(
			s->err, -EINVAL,
			"time=%s cannot be honoured, since every sample carries its time: "
			"leave it out",
			s->term->value);
	return 0;
}

static int set_inherit(const struct setting *s, unsigned choice)
{
	s->event->want_inherit = choice;
	return 0;
}

static int set_max_stack(const struct setting *s, unsigned unused)
{
	(void)unused;
	if (!s->number || s->number > UINT16_MAX)
		return pev_err_set(s->err, -EINVAL, "max-stack=%s is not from 1 to %d frames",
				   s->term->value, UINT16_MAX);
	s->event->attr.sample_max_stack = (uint16_t)s->number;
	return 0;
}

static int set_stack_size(const struct setting *s, unsigned unused)
{
	(void)unused;
	if (!s->number || s->number > PEV_MAX_STACK_BYTES)
		return pev_err_set(s->err, -EINVAL, "stack-size=%s is not from 8 to %d bytes",
				   s->term->value, PEV_MAX_STACK_BYTES);
	s->event->stack_bytes = (uint32_t)pev_align8((size_t)s->number);
	return 0;
}

static int set_callgraph(const struct setting *s, unsigned unused)
{
	static const struct {
		const char *word;
		enum pev_callgraph callgraph;
	} words[] = {
		{ "no", PEV_CALLGRAPH_NONE },
		{ "fp", PEV_CALLGRAPH_FP },
		{ "dwarf", PEV_CALLGRAPH_DWARF },
		{ "lbr", PEV_CALLGRAPH_LBR },
	};

	(void)unused;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(words); i++)
		if (!strcmp(s->term->value, words[i].word)) {
			s->event->has_callgraph = true;
			s->event->callgraph = words[i].callgraph;
			return 0;
		}
	return pev_err_set(s->err, -EINVAL, "call-graph=%s is none of no, fp, dwarf and lbr",
			   s->term->value);
}

/* The file of a uprobe. The kernel looks it up when the event is opened, from wherever we are then,
 * so the path is made absolute here. */
static int set_path(const struct setting *s, unsigned unused)
{
	char *const path = realpath(s->term->value, NULL);
	const int r = -errno;

	(void)unused;
	if (!path)
		return pev_err_set(s->err, r,
				   "cannot probe '%s': %s: give the path of a program or library, "
				   "in quotes if it holds a comma",
				   s->term->value, pev_errno_str(r));
	free(s->event->path);
	s->event->path = path;
	return 0;
}

/* The function of a kprobe. */
static int set_func(const struct setting *s, unsigned unused)
{
	char *const func = strdup(s->term->value);

	(void)unused;
	if (!func)
		return pev_err_set(s->err, -ENOMEM, "no memory for a name");
	free(s->event->path);
	s->event->path = func;
	return 0;
}

enum value {
	VALUE_NONE,
	VALUE_NUMBER, /* 1 when left out, as with perf */
	VALUE_TEXT,
};

static const struct general {
	const char *key;
	const char *pmu; /* only where the PMU has this name; "": any PMU, NULL: any event */
	enum value value;
	int (*set)(const struct setting *s, unsigned arg);
	unsigned arg;
} generals[] = {
	{ "config", "", VALUE_NUMBER, set_config, 0 },
	{ "config1", "", VALUE_NUMBER, set_config, 1 },
	{ "config2", "", VALUE_NUMBER, set_config, 2 },
	{ "config3", "", VALUE_NUMBER, set_config, 3 },
	{ "config4", "", VALUE_NUMBER, set_config, 4 },
	{ "name", NULL, VALUE_TEXT, set_name, 0 },
	{ "period", NULL, VALUE_NUMBER, set_rate, 0 },
	{ "freq", NULL, VALUE_NUMBER, set_rate, 1 },
	{ "time", NULL, VALUE_NUMBER, set_time, 0 },
	{ "inherit", NULL, VALUE_NONE, set_inherit, PEV_CHOICE_YES },
	{ "no-inherit", NULL, VALUE_NONE, set_inherit, PEV_CHOICE_NO },
	{ "max-stack", NULL, VALUE_NUMBER, set_max_stack, 0 },
	{ "stack-size", NULL, VALUE_NUMBER, set_stack_size, 0 },
	{ "call-graph", NULL, VALUE_TEXT, set_callgraph, 0 },
	{ "path", "uprobe", VALUE_TEXT, set_path, 0 },
	{ "offset", "uprobe", VALUE_NUMBER, set_config, 2 },
	{ "func", "kprobe", VALUE_TEXT, set_func, 0 },
	{ "addr", "kprobe", VALUE_NUMBER, set_config, 2 },
	{ "offset", "kprobe", VALUE_NUMBER, set_config, 2 },
};

/* Terms that perf knows and a recording cannot honour. */
static const struct {
	const char *key;
	const char *why;
} refused[] = {
	{ "branch_type", "branch stacks are chosen for the whole session" },
	{ "overwrite", "rings are never overwritten here" },
	{ "no-overwrite", "rings are never overwritten here" },
	{ "nr", "it ends perf trace after so many events" },
	{ "percore", "it adds up the counts of perf stat" },
	{ "metric-id", "it belongs to the metrics of perf stat" },
	{ "aux-output", "AUX areas are not recorded" },
	{ "aux-action", "AUX areas are not recorded" },
	{ "aux-sample-size", "AUX areas are not recorded" },
};

static const struct general *find_general(const char *key, const struct pev_pmu *pmu)
{
	for (size_t i = 0; i < PEV_ARRAY_SIZE(generals); i++) {
		const char *const only = generals[i].pmu;

		if (!strcmp(generals[i].key, key) &&
		    (!only || (pmu && (!*only || !strcmp(only, pmu->name)))))
			return &generals[i];
	}
	return NULL;
}

static const char *why_refused(const char *key)
{
	for (size_t i = 0; i < PEV_ARRAY_SIZE(refused); i++)
		if (!strcmp(refused[i].key, key))
			return refused[i].why;
	return NULL;
}

bool pev_term_is_general(const char *key, const struct pev_pmu *pmu)
{
	return find_general(key, pmu) || why_refused(key);
}

int pev_term_general(const struct pev_term *term, const struct pev_pmu *pmu,
		     struct pev_event *event, struct pev_err *err)
{
	const struct general *const g = find_general(term->key, pmu);
	struct setting s = { .term = term, .event = event, .err = err, .number = 1 };

	if (!g)
		return pev_err_set(err, -EINVAL,
				   "the term '%s' cannot be honoured: %s: leave it out", term->key,
				   why_refused(term->key));
	if (g->value == VALUE_NONE && term->value)
		return pev_err_set(err, -EINVAL, "the term '%s' takes no value: leave '=%s' out",
				   term->key, term->value);
	if (g->value == VALUE_TEXT && !term->value)
		return pev_err_set(err, -EINVAL, "the term '%s' needs a value: %s=...", term->key,
				   term->key);
	if (g->value == VALUE_NUMBER && term->value && !pev_term_number(term->value, &s.number))
		return pev_term_not_a_number(term, err);
	return g->set(&s, g->arg);
}

void pev_term_offer_general(const struct pev_pmu *pmu, struct pev_near *near)
{
	for (size_t i = 0; i < PEV_ARRAY_SIZE(generals); i++)
		if (find_general(generals[i].key, pmu))
			pev_near_offer(near, generals[i].key);
}
