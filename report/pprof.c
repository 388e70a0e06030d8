// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * profile.proto (github.com/google/pprof, proto/profile.proto) says what the fields mean; their
 * numbers are below. Code is a Location, its module a Mapping, functions are told by name and file.
 *
 * The address of a Location is an offset in the file of its module where that has one, and so its
 * Mapping begins at 0: that pprof can look a source line up again does not need more, and where
 * each process had it mapped is not the same for two of them anyway.
 *
 * Messages are written one by one; the strings come last, when they are all known.
 */
#include "report/pprof.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "report/gzip.h"
#include "report/index.h"
#include "report/proto.h"
#include "report/string_pool.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,

	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2,

	SAMPLE_LOCATIONS = 1,
	SAMPLE_VALUES = 2,
	SAMPLE_LABEL = 3,

	LABEL_KEY = 1,
	LABEL_STR = 2,
	LABEL_NUM = 3,

	MAPPING_ID = 1,
	MAPPING_LIMIT = 3,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINES = 9,
	MAPPING_HAS_INLINES = 10,

	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,

	LINE_FUNCTION = 1,
	LINE_LINE = 2,

	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
};

struct mapping {
	const struct pev_module *module;
	const char *dso;
	uint64_t limit, samples; /* samples that were in it */
	bool user, functions, lines, inlines;
};

struct function {
	const char *name, *mangled, *file;
};

struct writer {
	const struct pev_profile_data *d;
	unsigned int key;
	struct pev_gzip *gzip;
	struct pev_buf top;             /* fields of the Profile, to be compressed */
	struct pev_buf msg, inner;      /* a message of it being made, and one in that */
	struct pev_buf text;            /* for a name that is made here */
	struct pev_string_pool strings; /* 0: the empty one */
	struct pev_index mapping_index, function_index;
	struct mapping *mappings;
	struct function *functions;
	uint32_t *code_mapping; /* by code: number of its mapping, 1 and up; 0: none */
	uint32_t nr_mappings, cap_mappings, nr_functions, cap_functions;
	int r; /* the first failure to remember something */
};

static void writer_done(struct writer *w)
{
	pev_string_pool_done(&w->strings);
	free(w->mappings);
	free(w->functions);
	free(w->code_mapping);
	pev_buf_done(&w->top);
	pev_buf_done(&w->msg);
	pev_buf_done(&w->inner);
	pev_buf_done(&w->text);
	pev_index_done(&w->mapping_index);
	pev_index_done(&w->function_index);
	(void)pev_gzip_free(w->gzip);
}

static uint64_t string(struct writer *w, const char *s)
{
	return pev_string_pool_add(&w->strings, s);
}

static uint64_t function(struct writer *w, const struct pev_frame *f)
{
	const uint64_t hash = pev_hash_u64((uintptr_t)f->name ^ pev_hash_u64((uintptr_t)f->file));
	struct pev_probe at = pev_index_probe(&w->function_index, hash);

	while (pev_index_next(&w->function_index, &at)) {
		const struct function *const have = &w->functions[at.found];

		if (have->name == f->name && have->file == f->file && have->mangled == f->mangled)
			return at.found + 1ULL;
	}
	if (PEV_ARRAY_ROOM(w->functions, w->nr_functions, w->cap_functions) < 0 ||
	    pev_index_add(&w->function_index, hash, w->nr_functions) < 0) {
		w->r = -ENOMEM;
		return 0;
	}
	w->functions[w->nr_functions++] = (struct function){ f->name, f->mangled, f->file };
	return w->nr_functions;
}

static uint32_t mapping(struct writer *w, const struct pev_profile_code *c)
{
	const struct pev_module *const module = c->code.module;
	const uint64_t hash = pev_hash_u64((uintptr_t)module);
	struct pev_probe at = pev_index_probe(&w->mapping_index, hash);

	if (!module)
		return 0;
	while (pev_index_next(&w->mapping_index, &at))
		if (w->mappings[at.found].module == module)
			return at.found + 1;
	if (PEV_ARRAY_ROOM(w->mappings, w->nr_mappings, w->cap_mappings) < 0 ||
	    pev_index_add(&w->mapping_index, hash, w->nr_mappings) < 0) {
		w->r = -ENOMEM;
		return 0;
	}
	w->mappings[w->nr_mappings++] =
		(struct mapping){ .module = module,
				  .user = c->nr_frames && !c->frames[c->nr_frames - 1].kernel,
				  .dso = c->nr_frames ? c->frames[0].dso : NULL };
	return w->nr_mappings;
}

/* What is known of each mapping by the code in it. */
static int find_mappings(struct writer *w)
{
	const struct pev_profile_data *const d = w->d;

	w->code_mapping = calloc(d->nr_codes + 1UL, sizeof(*w->code_mapping));
	if (!w->code_mapping)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->nr_codes; i++) {
		const struct pev_profile_code *const c = &d->codes[i];
		const uint32_t number = mapping(w, c);
		struct mapping *const m = number ? &w->mappings[number - 1] : NULL;

		w->code_mapping[i] = number;
		for (uint32_t f = 0; m && f < c->nr_frames; f++) {
			m->functions |= c->frames[f].name != NULL;
			m->lines |= c->frames[f].line != 0;
			m->inlines |= c->frames[f].inlined;
		}
		if (m)
			m->limit = PEV_MAX(m->limit, c->code.address);
	}
	for (uint32_t i = 0; i < d->nr_cells; i++) {
		const uint32_t self = d->stacks[d->cells[i].stack].self;

		if (self < d->nr_codes && w->code_mapping[self])
			w->mappings[w->code_mapping[self] - 1].samples += d->cells[i].samples;
	}
	return w->r;
}

static void put_mapping(struct writer *w, uint32_t i)
{
	const struct mapping *const m = &w->mappings[i];
	struct pev_module_info info;
	char build_id[2 * PEV_BUILD_ID_MAX + 1] = "";

	pev_module_info(m->module, &info);
	for (size_t b = 0; b < info.build_id_size; b++)
		(void)snprintf(build_id + 2 * b, 3, "%02x", info.build_id[b]);
	pev_proto_uint(&w->msg, MAPPING_ID, i + 1ULL);
	/* Page by page, and nothing wraps: the kernel is at the very end. */
	pev_proto_uint(&w->msg, MAPPING_LIMIT, PEV_MAX(m->limit, m->limit + 4096) & ~4095ULL);
	pev_proto_uint(&w->msg, MAPPING_FILENAME,
		       string(w, m->dso     ? m->dso
				 : info.dso ? info.dso
					    : ""));
	pev_proto_uint(&w->msg, MAPPING_BUILD_ID, string(w, build_id));
	pev_proto_uint(&w->msg, MAPPING_HAS_FUNCTIONS, m->functions);
	pev_proto_uint(&w->msg, MAPPING_HAS_FILENAMES, m->lines);
	pev_proto_uint(&w->msg, MAPPING_HAS_LINES, m->lines);
	pev_proto_uint(&w->msg, MAPPING_HAS_INLINES, m->inlines);
	pev_proto_message(&w->top, PROFILE_MAPPING, &w->msg);
}

/* pprof takes the first one for the program: the file of the users' with the most samples. */
static void put_mappings(struct writer *w)
{
	uint32_t main = 0;

	for (uint32_t i = 0; i < w->nr_mappings; i++)
		if (w->mappings[i].user &&
		    (!w->mappings[main].user || w->mappings[i].samples > w->mappings[main].samples))
			main = i;
	if (w->nr_mappings)
		put_mapping(w, main);
	for (uint32_t i = 0; i < w->nr_mappings; i++)
		if (i != main)
			put_mapping(w, i);
}

/* Hands what is gathered to the compressor when it is worth it, or with @all. */
static int flush(struct writer *w, bool all, struct pev_err *err)
{
	int r = w->r ? w->r : w->strings.failed ? w->strings.failed : pev_buf_status(&w->top);

	if (r < 0)
		return pev_err_set(err, r, "cannot write the profile: %s", pev_errno_str(r));
	if (!all && w->top.size < 256 << 10)
		return 0;
	r = pev_gzip_write(w->gzip, w->top.data, w->top.size, err);
	pev_buf_reset(&w->top);
	return r;
}

static int put_locations(struct writer *w, struct pev_err *err)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < w->d->nr_codes; i++) {
		const struct pev_profile_code *const c = &w->d->codes[i];

		pev_proto_uint(&w->msg, LOCATION_ID, i + 1ULL);
		pev_proto_uint(&w->msg, LOCATION_MAPPING, w->code_mapping[i]);
		pev_proto_uint(&w->msg, LOCATION_ADDRESS, c->code.address);
		for (uint32_t f = 0; f < c->nr_frames; f++) {
			if (!c->frames[f].name)
				continue;
			pev_proto_uint(&w->inner, LINE_FUNCTION, function(w, &c->frames[f]));
			pev_proto_uint(&w->inner, LINE_LINE, c->frames[f].line);
			pev_proto_message(&w->msg, LOCATION_LINE, &w->inner);
		}
		pev_proto_message(&w->top, PROFILE_LOCATION, &w->msg);
		r = flush(w, false, err);
	}
	return r;
}

static int put_functions(struct writer *w, struct pev_err *err)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < w->nr_functions; i++) {
		const struct function *const f = &w->functions[i];

		pev_proto_uint(&w->msg, FUNCTION_ID, i + 1ULL);
		pev_proto_uint(&w->msg, FUNCTION_NAME, string(w, f->name));
		pev_proto_uint(&w->msg, FUNCTION_SYSTEM_NAME,
			       string(w, f->mangled ? f->mangled : f->name));
		pev_proto_uint(&w->msg, FUNCTION_FILENAME, string(w, f->file ? f->file : ""));
		pev_proto_message(&w->top, PROFILE_FUNCTION, &w->msg);
		r = flush(w, false, err);
	}
	return r;
}

static bool is_clock(const struct pev_profile_event *e)
{
	return e->attr.type == PEV_TYPE_SOFTWARE &&
	       (e->attr.config == PEV_SW_CPU_CLOCK || e->attr.config == PEV_SW_TASK_CLOCK);
}

static void put_value_type(struct writer *w, unsigned int field, const char *type, const char *unit)
{
	pev_proto_uint(&w->msg, VALUE_TYPE_TYPE, string(w, type));
	pev_proto_uint(&w->msg, VALUE_TYPE_UNIT, string(w, unit));
	pev_proto_message(&w->top, field, &w->msg);
}

static const char *period_name(const struct pev_profile_event *e)
{
	return is_clock(e) ? "cpu" : e->name;
}

static const char *period_unit(const struct pev_profile_event *e)
{
	return is_clock(e) ? "nanoseconds" : "count";
}

static void put_types(struct writer *w)
{
	const struct pev_profile_data *const d = w->d;
	const struct pev_profile_event *first = NULL;

	for (uint32_t i = 0; i < d->nr_events; i++) {
		const struct pev_profile_event *const e = &d->events[i];

		if (d->nr_events == 1) {
			pev_buf_printf(&w->text, "samples");
		} else {
			pev_buf_printf(&w->text, "samples of %s", e->name);
		}
		pev_buf_u8(&w->text, 0);
		if (pev_buf_status(&w->text) < 0) {
			w->r = -ENOMEM;
			return;
		}
		put_value_type(w, PROFILE_SAMPLE_TYPE, (const char *)w->text.data, "count");
		put_value_type(w, PROFILE_SAMPLE_TYPE, period_name(e), period_unit(e));
		pev_buf_reset(&w->text);
		if (e->samples && !first)
			first = e;
	}
	if (!first)
		return;
	put_value_type(w, PROFILE_PERIOD_TYPE, period_name(first), period_unit(first));
	pev_proto_uint(&w->top, PROFILE_PERIOD,
		       first->samples ? first->period / first->samples : 0);
	pev_proto_uint(&w->top, PROFILE_DEFAULT_SAMPLE_TYPE, string(w, period_name(first)));
}

static void put_text_label(struct writer *w, const char *key, const char *value)
{
	if (!value)
		return;
	pev_proto_uint(&w->inner, LABEL_KEY, string(w, key));
	pev_proto_uint(&w->inner, LABEL_STR, string(w, value));
	pev_proto_message(&w->msg, SAMPLE_LABEL, &w->inner);
}

static void put_number_label(struct writer *w, const char *key, uint64_t value)
{
	pev_proto_uint(&w->inner, LABEL_KEY, string(w, key));
	pev_proto_uint(&w->inner, LABEL_NUM, value);
	pev_proto_message(&w->msg, SAMPLE_LABEL, &w->inner);
}

static void put_labels(struct writer *w, const struct pev_profile_key *key)
{
	if (w->key & PEV_KEY_COMM)
		put_text_label(w, "comm", key->comm);
	if (w->key & PEV_KEY_PID)
		put_number_label(w, "pid", key->pid);
	if (w->key & PEV_KEY_TID)
		put_number_label(w, "tid", key->tid);
	/* As text: to pprof a number of 0 is none, and CPU 0 is one. */
	if (w->key & PEV_KEY_CPU && key->cpu != UINT32_MAX) {
		char cpu[16];

		(void)snprintf(cpu, sizeof(cpu), "%" PRIu32, key->cpu);
		put_text_label(w, "cpu", cpu);
	}
	if (w->key & PEV_KEY_CGROUP)
		put_text_label(w, "cgroup", key->cgroup);
}

static void put_sample(struct writer *w, const struct pev_profile_cell *cell)
{
	const struct pev_profile_data *const d = w->d;
	const struct pev_profile_stack *const s = &d->stacks[cell->stack];
	const struct pev_profile_key *const key = &d->keys[cell->key];

	if (!s->leaf)
		pev_proto_varint(&w->inner, s->self + 1ULL);
	for (uint32_t n = s->leaf; n; n = d->nodes[n].parent)
		pev_proto_varint(&w->inner, d->nodes[n].code + 1ULL);
	pev_proto_message(&w->msg, SAMPLE_LOCATIONS, &w->inner);
	for (uint32_t e = 0; e < d->nr_events; e++) {
		pev_proto_varint(&w->inner, e == key->event ? cell->samples : 0);
		pev_proto_varint(&w->inner, e == key->event ? cell->period : 0);
	}
	pev_proto_message(&w->msg, SAMPLE_VALUES, &w->inner);
	put_labels(w, key);
	pev_proto_message(&w->top, PROFILE_SAMPLE, &w->msg);
}

static int put_samples(struct writer *w, struct pev_err *err)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < w->d->nr_cells; i++) {
		if (!w->d->cells[i].samples)
			continue;
		put_sample(w, &w->d->cells[i]);
		r = flush(w, false, err);
	}
	return r;
}

static void put_time(struct writer *w, const struct pev_clock *clock)
{
	const struct pev_profile_data *const d = w->d;

	if (clock->has_wall)
		pev_proto_uint(&w->top, PROFILE_TIME_NANOS, pev_clock_to_wall(clock, d->first_ns));
	pev_proto_uint(&w->top, PROFILE_DURATION_NANOS, d->last_ns - d->first_ns);
}

static int put_strings(struct writer *w, struct pev_err *err)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < w->strings.nr; i++) {
		pev_proto_bytes(&w->top, PROFILE_STRING, w->strings.v[i], strlen(w->strings.v[i]));
		r = flush(w, false, err);
	}
	return r;
}

int pev_pprof_write(const struct pev_profile_data *d, unsigned int key,
		    const struct pev_clock *clock, FILE *out, struct pev_err *err)
{
	_cleanup_(writer_done) struct writer w = { .d = d, .key = key };
	int r = pev_gzip_new(out, &w.gzip, err);

	if (r < 0)
		return r;
	(void)string(&w, "");
	if (find_mappings(&w) < 0)
		return pev_err_set(err, -ENOMEM, "no memory to write the profile");
	put_types(&w);
	put_mappings(&w);
	put_time(&w, clock);
	r = put_locations(&w, err);
	if (r == 0)
		r = put_functions(&w, err);
	if (r == 0)
		r = put_samples(&w, err);
	if (r == 0)
		r = put_strings(&w, err);
	if (r == 0)
		r = flush(&w, true, err);
	return r == 0 ? pev_gzip_finish(w.gzip, err) : r;
}
