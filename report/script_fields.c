// SPDX-License-Identifier: LGPL-2.1-or-later
/* The rules are those of perf's builtin-script.c: parse_output_fields(), evsel__check_attr(),
 * perf_session__check_output_opt() for files and process_attr() for pipes. */
#include "report/script_fields.h"

#include "base/buf.h"
#include "base/checked.h"
#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

#define HEAD_FIELDS \
	(PEV_SCRIPT_COMM | PEV_SCRIPT_TID | PEV_SCRIPT_CPU | PEV_SCRIPT_TIME | PEV_SCRIPT_EVENT)
#define CODE_FIELDS (PEV_SCRIPT_IP | PEV_SCRIPT_SYM | PEV_SCRIPT_SYMOFF | PEV_SCRIPT_DSO)

static const struct {
	const char *name;
	uint64_t field;
} names[] = {
	{ "comm", PEV_SCRIPT_COMM },
	{ "tid", PEV_SCRIPT_TID },
	{ "pid", PEV_SCRIPT_PID },
	{ "time", PEV_SCRIPT_TIME },
	{ "cpu", PEV_SCRIPT_CPU },
	{ "event", PEV_SCRIPT_EVENT },
	{ "trace", PEV_SCRIPT_TRACE },
	{ "ip", PEV_SCRIPT_IP },
	{ "sym", PEV_SCRIPT_SYM },
	{ "dso", PEV_SCRIPT_DSO },
	{ "dsoff", PEV_SCRIPT_DSOFF },
	{ "addr", PEV_SCRIPT_ADDR },
	{ "symoff", PEV_SCRIPT_SYMOFF },
	{ "srcline", PEV_SCRIPT_SRCLINE },
	{ "period", PEV_SCRIPT_PERIOD },
	{ "iregs", PEV_SCRIPT_IREGS },
	{ "uregs", PEV_SCRIPT_UREGS },
	{ "brstack", PEV_SCRIPT_BRSTACK },
	{ "brstacksym", PEV_SCRIPT_BRSTACKSYM },
	{ "brstackoff", PEV_SCRIPT_BRSTACKOFF },
	{ "data_src", PEV_SCRIPT_DATA_SRC },
	{ "weight", PEV_SCRIPT_WEIGHT },
	{ "bpf-output", PEV_SCRIPT_BPF_OUTPUT },
	{ "phys_addr", PEV_SCRIPT_PHYS_ADDR },
	{ "misc", PEV_SCRIPT_MISC },
	{ "tod", PEV_SCRIPT_TOD },
	{ "data_page_size", PEV_SCRIPT_DATA_PAGE_SIZE },
	{ "code_page_size", PEV_SCRIPT_CODE_PAGE_SIZE },
	{ "ins_lat", PEV_SCRIPT_INS_LAT },
	{ "retire_lat", PEV_SCRIPT_RETIRE_LAT },
	{ "cgroup", PEV_SCRIPT_CGROUP },
	{ "flags", PEV_SCRIPT_FLAGS },
	{ "callindent", PEV_SCRIPT_NOTHING },
	{ "synth", PEV_SCRIPT_NOTHING },
	{ "ipc", PEV_SCRIPT_NOTHING },
	{ "machine_pid", PEV_SCRIPT_NOTHING },
	{ "vcpu", PEV_SCRIPT_NOTHING },
};

/* The types as they are named in front of a colon. */
static const struct {
	const char *name;
	unsigned int type;
} type_names[] = {
	{ "hw", PEV_TYPE_HARDWARE },      { "sw", PEV_TYPE_SOFTWARE },
	{ "trace", PEV_TYPE_TRACEPOINT }, { "raw", PEV_TYPE_RAW },
	{ "break", PEV_TYPE_BREAKPOINT },
};

/* Fields that events of a type cannot have. */
static uint64_t invalid_fields(unsigned int type)
{
	switch (type) {
	case PEV_TYPE_SOFTWARE:
		return PEV_SCRIPT_TRACE;
	case PEV_TYPE_TRACEPOINT:
		return 0;
	default:
		return PEV_SCRIPT_TRACE | PEV_SCRIPT_BPF_OUTPUT;
	}
}

void pev_script_fields_init(struct pev_script_fields *f)
{
	*f = (struct pev_script_fields){ 0 };
	for (unsigned int t = 0; t < PEV_SCRIPT_NR_TYPES; t++)
		f->types[t].fields = HEAD_FIELDS | CODE_FIELDS | PEV_SCRIPT_PERIOD;
	f->types[PEV_TYPE_SOFTWARE].fields |= PEV_SCRIPT_BPF_OUTPUT;
	f->types[PEV_TYPE_TRACEPOINT].fields = HEAD_FIELDS | PEV_SCRIPT_TRACE;
	f->types[PEV_TYPE_RAW].fields |= PEV_SCRIPT_ADDR | PEV_SCRIPT_DATA_SRC | PEV_SCRIPT_WEIGHT |
					 PEV_SCRIPT_PHYS_ADDR | PEV_SCRIPT_DATA_PAGE_SIZE |
					 PEV_SCRIPT_CODE_PAGE_SIZE | PEV_SCRIPT_INS_LAT;
}

static int refuse(const char *name, size_t n, struct pev_err *err)
{
	_cleanup_buf_ struct pev_buf all = { 0 };

	for (size_t i = 0; i < PEV_ARRAY_SIZE(names); i++)
		pev_buf_printf(&all, "%s%s", i ? ", " : "", names[i].name);
	pev_buf_u8(&all, 0);
	return pev_err_set(err, -EINVAL, "there is no field '%.*s'; there are %s", (int)n, name,
			   pev_buf_status(&all) < 0 ? "others" : (const char *)all.data);
}

static void apply(struct pev_script_type *t, uint64_t field, char change)
{
	if (change == '-') {
		t->fields &= ~field;
		t->asked &= ~field;
		t->not_asked |= field;
	} else {
		t->fields |= field;
		t->asked |= field;
		t->not_asked &= ~field;
	}
	t->set = true;
}

static int find_type(const char *name, size_t n, unsigned int *ret, struct pev_err *err)
{
	for (size_t i = 0; i < PEV_ARRAY_SIZE(type_names); i++)
		if (strlen(type_names[i].name) == n && !strncmp(type_names[i].name, name, n)) {
			*ret = type_names[i].type;
			return 0;
		}
	return pev_err_set(err, -EINVAL,
			   "'%.*s:' is no type of events: there are hw, sw, trace, raw and break",
			   (int)n, name);
}

static int find_field(const char *name, size_t n, uint64_t *ret, struct pev_err *err)
{
	for (size_t i = 0; i < PEV_ARRAY_SIZE(names); i++)
		if (strlen(names[i].name) == n && !strncmp(names[i].name, name, n)) {
			*ret = names[i].field;
			return 0;
		}
	return refuse(name, n, err);
}

/* One field for the types from @first up to @last. */
static int apply_field(struct pev_script_fields *f, const char *name, size_t n, char change,
		       unsigned int first, unsigned int last, struct pev_err *err)
{
	uint64_t field = 0;
	const int r = find_field(name, n, &field, err);

	if (r < 0)
		return r;
	for (unsigned int t = first; t <= last; t++) {
		if (!(invalid_fields(t) & field))
			apply(&f->types[t], field, change);
		else if (first == last)
			return pev_err_set(err, -EINVAL, "events of that type have no field '%.*s'",
					   (int)n, name);
		f->types[t].all |= first != last;
	}
	return 0;
}

int pev_script_fields_parse(struct pev_script_fields *f, const char *arg, struct pev_err *err)
{
	const char *const colon = strchr(arg, ':');
	unsigned int first = 0, last = PEV_SCRIPT_NR_TYPES - 1;
	char change = 0;

	if (colon) {
		const int r = find_type(arg, (size_t)(colon - arg), &first, err);

		if (r < 0)
			return r;
		last = first;
		arg = colon + 1;
	} else if (!*arg) {
		return pev_err_set(err, -EINVAL, "no field is left to print");
	}
	/* A list without signs takes the place of what there was. */
	for (unsigned int t = first; t <= last && !strpbrk(arg, "+-"); t++)
		f->types[t] = (struct pev_script_type){ .replaced = true,
							.set = true,
							.all = first != last };
	while (*arg) {
		const size_t n = strcspn(arg, ",");
		const bool sign = *arg == '+' || *arg == '-';
		int r;

		if (n && (change == '=' ? sign : change && !sign))
			return pev_err_set(err, -EINVAL,
					   "-F has either fields, or changes (+field, -field)");
		change = sign ? *arg : n ? '=' : change;
		/* "bpf-output" is the one field with a sign in it: the list above took it for one,
		 * and so does perf. */
		r = n ? apply_field(f, arg + sign, n - sign, change, first, last, err) : 0;
		if (r < 0)
			return r;
		arg += n + !!arg[n];
	}
	return 0;
}

/* What a field needs to be in attr.sample_type. @lenient: it may be missing all the same when there
 * is a hardware trace, from which it can be made. */
static const struct {
	uint64_t field, sample;
	const char *what;
	bool lenient;
} needs[] = {
	{ PEV_SCRIPT_IP, PEV_SAMPLE_IP, "IP", false },
	{ PEV_SCRIPT_ADDR, PEV_SAMPLE_ADDR, "ADDR", true },
	{ PEV_SCRIPT_DATA_SRC, PEV_SAMPLE_DATA_SRC, "DATA_SRC", true },
	{ PEV_SCRIPT_WEIGHT, PEV_SAMPLE_WEIGHT | PEV_SAMPLE_WEIGHT_STRUCT, "WEIGHT", true },
	{ PEV_SCRIPT_PID | PEV_SCRIPT_TID, PEV_SAMPLE_TID, "TID", false },
	{ PEV_SCRIPT_TIME, PEV_SAMPLE_TIME, "TIME", false },
	{ PEV_SCRIPT_CPU, PEV_SAMPLE_CPU, "CPU", true },
	{ PEV_SCRIPT_IREGS, PEV_SAMPLE_REGS_INTR, "IREGS", true },
	{ PEV_SCRIPT_UREGS, PEV_SAMPLE_REGS_USER, "UREGS", false },
	{ PEV_SCRIPT_PHYS_ADDR, PEV_SAMPLE_PHYS_ADDR, "PHYS_ADDR", true },
	{ PEV_SCRIPT_DATA_PAGE_SIZE, PEV_SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE", false },
	{ PEV_SCRIPT_CODE_PAGE_SIZE, PEV_SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE", false },
	{ PEV_SCRIPT_INS_LAT, PEV_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT", false },
	{ PEV_SCRIPT_RETIRE_LAT, PEV_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT", false },
	{ PEV_SCRIPT_CGROUP, PEV_SAMPLE_CGROUP, "CGROUP", false },
};

static const char *field_name(uint64_t field)
{
	for (size_t i = 0; i < PEV_ARRAY_SIZE(names); i++)
		if (names[i].field & field)
			return names[i].name;
	return "";
}

static int check_event(struct pev_script_type *t, const struct pev_trace_event *event,
		       const struct pev_features *features, struct pev_err *err)
{
	const bool auxtrace = pev_features_has(features, PEV_FEAT_AUXTRACE);
	const uint64_t sample = event->attr.sample_type;
	const char *const name = event->name ? event->name : "unknown";

	for (size_t i = 0; i < PEV_ARRAY_SIZE(needs); i++) {
		if (!(t->fields & needs[i].field) || sample & needs[i].sample)
			continue;
		if (t->asked & needs[i].field) {
			if (needs[i].lenient && auxtrace)
				continue;
			return pev_err_set(err, -EINVAL,
					   "samples of %s were recorded without %s, so that there "
					   "is no field '%s'",
					   name, needs[i].what,
					   field_name(needs[i].field & t->asked));
		}
		t->fields &= ~needs[i].field;
	}
	if (t->fields & (PEV_SCRIPT_SYM | PEV_SCRIPT_DSO) &&
	    !(sample & (PEV_SAMPLE_IP | PEV_SAMPLE_ADDR)))
		return pev_err_set(err, -EINVAL,
				   "samples of %s have no address that a symbol or a file could be "
				   "found by",
				   name);
	if (t->fields & PEV_SCRIPT_SYMOFF && !(t->fields & PEV_SCRIPT_SYM))
		return pev_err_set(err, -EINVAL, "the field 'symoff' is shown behind 'sym' only");
	if (t->fields & PEV_SCRIPT_SRCLINE && !(t->fields & PEV_SCRIPT_IP))
		return pev_err_set(err, -EINVAL, "the field 'srcline' is shown behind 'ip' only");
	return 0;
}

/* perf asks this of events that record for the sake of their side-band. */
static bool is_dummy(const struct pev_attr *attr)
{
	return attr->type == PEV_TYPE_SOFTWARE && attr->config == PEV_SW_DUMMY;
}

static const struct pev_trace_event *first_of_type(const struct pev_trace_head *head,
						   unsigned int type)
{
	for (size_t i = 0; i < head->nr_events; i++) {
		const struct pev_attr *const attr = &head->events[i].attr;

		if (!is_dummy(attr) && PEV_MIN(attr->type, (uint32_t)PEV_SCRIPT_TYPE_OTHER) == type)
			return &head->events[i];
	}
	return NULL;
}

static bool has_chain(const struct pev_attr *attr)
{
	return attr->sample_type & PEV_SAMPLE_CALLCHAIN;
}

static int check_file(struct pev_script_fields *f, const struct pev_trace_head *head, bool chains,
		      struct pev_err *err)
{
	struct pev_script_type *const trace = &f->types[PEV_TYPE_TRACEPOINT];

	for (unsigned int t = 0; t < PEV_SCRIPT_NR_TYPES; t++) {
		const struct pev_trace_event *const event = first_of_type(head, t);
		struct pev_script_type *const type = &f->types[t];
		int r = 0;

		if (!event && type->set && !type->all)
			return pev_err_set(err, -EINVAL,
					   "there are no events of the type that -F "
					   "names");
		if (event && type->fields)
			r = check_event(type, event, head->features, err);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < head->nr_events && chains && !trace->set; i++)
		if (head->events[i].attr.type == PEV_TYPE_TRACEPOINT &&
		    has_chain(&head->events[i].attr))
			trace->fields |= CODE_FIELDS;
	return 0;
}

static int check_pipe(struct pev_script_fields *f, const struct pev_trace_head *head, bool chains,
		      struct pev_err *err)
{
	bool seen[PEV_SCRIPT_NR_TYPES] = { false };

	for (size_t i = 0; i < head->nr_events; i++) {
		const struct pev_attr *const attr = &head->events[i].attr;
		struct pev_script_type *const type = pev_script_type_of(f, attr);
		int r = 0;

		if (attr->type >= PEV_SCRIPT_TYPE_OTHER || seen[attr->type])
			continue;
		seen[attr->type] = true;
		if (attr->sample_type && !is_dummy(attr))
			r = check_event(type, &head->events[i], head->features, err);
		if (r < 0)
			return r;
		if (chains && attr->sample_type & (PEV_SAMPLE_CALLCHAIN | PEV_SAMPLE_BRANCH_STACK))
			type->fields |= (PEV_SCRIPT_IP | PEV_SCRIPT_SYM) & ~type->not_asked;
	}
	return 0;
}

int pev_script_fields_check(struct pev_script_fields *f, const struct pev_trace_head *head,
			    bool chains, struct pev_err *err)
{
	return head->pipe ? check_pipe(f, head, chains, err) : check_file(f, head, chains, err);
}
