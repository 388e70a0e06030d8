// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The format is told in docs-developer/processed-profile-format.md and in the types of the
 * profiler (github.com/firefox-devtools/profiler). Tables are objects of columns. Each thread has
 * tables of its own, so what a thread uses is numbered anew for it: stacks, which are nodes of the
 * tree, their frames (a line of a function), functions, files of code ("resources"), strings.
 */
#include "report/firefox.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "report/flame_tree.h"
#include "report/json.h"
#include "report/string_pool.h"
#include "report/threads.h"
#include "report/tree.h"

#include <errno.h>
#include <inttypes.h>

#define NONE UINT32_MAX

/* Categories, by kinds of frames; the first one is the default. */
static const char categories[] =
	"[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Inlined\",\"color\":\"green\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"JIT\",\"color\":\"purple\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Unknown\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}]";

/* What one thread uses of a table of the whole profile. */
struct used {
	uint32_t *number; /* owned; by place in the whole: its number here; NONE */
	uint32_t *places; /* owned; by number here */
	uint32_t nr;
};

static int used_init(struct used *u, uint32_t nr)
{
	u->number = malloc((nr + 1UL) * sizeof(*u->number));
	u->places = malloc((nr + 1UL) * sizeof(*u->places));
	if (!u->number || !u->places)
		return -ENOMEM;
	for (uint32_t i = 0; i <= nr; i++)
		u->number[i] = NONE;
	u->nr = 0;
	return 0;
}

static void used_done(struct used *u)
{
	free(u->number);
	free(u->places);
}

/* For the next thread. */
static void used_clear(struct used *u)
{
	while (u->nr > 0)
		u->number[u->places[--u->nr]] = NONE;
}

static uint32_t use(struct used *u, uint32_t place)
{
	if (u->number[place] == NONE) {
		u->places[u->nr] = place;
		u->number[place] = u->nr++;
	}
	return u->number[place];
}

struct writer {
	const struct pev_profile_data *d;
	FILE *out;
	struct pev_labels lines, names; /* frames, and the functions they are in */
	struct pev_tree tree;           /* of ->lines */
	struct pev_threads threads;
	const struct pev_frame **frames; /* owned; by line label: one that has it */
	uint32_t *functions;             /* owned; by line label: name label */
	const struct pev_frame **bodies; /* owned; by name label: one that has it */
	struct pev_string_pool dsos, strings;
	uint32_t *function_dso; /* owned; by name label: in ->dsos */
	struct used stack, frame, function, dso, string;
};

static void writer_done(struct writer *w)
{
	pev_labels_done(&w->lines);
	pev_labels_done(&w->names);
	pev_tree_done(&w->tree);
	pev_threads_done(&w->threads);
	free((void *)w->frames);
	free(w->functions);
	free((void *)w->bodies);
	pev_string_pool_done(&w->dsos);
	pev_string_pool_done(&w->strings);
	free(w->function_dso);
	used_done(&w->stack);
	used_done(&w->frame);
	used_done(&w->function);
	used_done(&w->dso);
	used_done(&w->string);
}

static const char *name_of(const struct pev_frame *f)
{
	return f->name ? f->name : "[unknown]";
}

/* All strings there can be are known before the first thread is written. */
static void pool_strings(struct writer *w)
{
	for (uint32_t i = 0; i < w->names.nr; i++) {
		const char *const dso = w->bodies[i]->dso ? w->bodies[i]->dso : "[unknown]";

		w->function_dso[i] = pev_string_pool_add(&w->dsos, dso);
		(void)pev_string_pool_add(&w->strings, dso);
		(void)pev_string_pool_add(&w->strings, name_of(w->bodies[i]));
		if (w->bodies[i]->file)
			(void)pev_string_pool_add(&w->strings, w->bodies[i]->file);
	}
}

static int writer_init(struct writer *w)
{
	const struct pev_profile_data *const d = w->d;
	int r = pev_labels_make(&w->lines, d, PEV_LABEL_LINE);

	if (r == 0)
		r = pev_labels_make(&w->names, d, PEV_LABEL_NAME);
	if (r == 0)
		r = pev_tree_make(&w->tree, d, &w->lines, false);
	if (r == 0)
		r = pev_threads_make(&w->threads, d);
	if (r < 0)
		return r;
	w->frames = calloc(w->lines.nr + 1UL, sizeof(*w->frames));
	w->functions = calloc(w->lines.nr + 1UL, sizeof(*w->functions));
	w->bodies = calloc(w->names.nr + 1UL, sizeof(*w->bodies));
	w->function_dso = calloc(w->names.nr + 1UL, sizeof(*w->function_dso));
	if (!w->frames || !w->functions || !w->bodies || !w->function_dso)
		return -ENOMEM;
	for (uint32_t c = 0; c < d->nr_codes; c++)
		for (uint32_t i = 0; i < d->codes[c].nr_frames; i++) {
			const uint32_t line = w->lines.of[w->lines.first[c] + i];
			const uint32_t name = w->names.of[w->names.first[c] + i];

			w->frames[line] = w->bodies[name] = &d->codes[c].frames[i];
			w->functions[line] = name;
		}
	pool_strings(w);
	r = w->strings.failed ? w->strings.failed : w->dsos.failed;
	if (r < 0 || used_init(&w->stack, w->tree.nr_nodes) < 0 ||
	    used_init(&w->frame, w->lines.nr) < 0 || used_init(&w->function, w->names.nr) < 0 ||
	    used_init(&w->dso, w->dsos.nr) < 0 || used_init(&w->string, w->strings.nr) < 0)
		return -ENOMEM;
	return 0;
}

static uint32_t use_string(struct writer *w, const char *s)
{
	return use(&w->string, pev_string_pool_add(&w->strings, s));
}

/* Marks the nodes from the root to @leaf, callers first as the format wants them. */
static void use_stack(struct writer *w, uint32_t leaf, uint32_t *path)
{
	uint32_t n = 0;

	for (uint32_t i = leaf; i && w->stack.number[i] == NONE; i = w->tree.nodes[i].parent)
		path[n++] = i;
	while (n > 0)
		(void)use(&w->stack, path[--n]);
}

/* One column: @value of each of @nr rows; -1 is null. */
static void write_column(struct writer *w, const char *name, uint32_t nr,
			 int64_t (*value)(struct writer *w, uint32_t row))
{
	(void)fprintf(w->out, ",\"%s\":[", name);
	for (uint32_t i = 0; i < nr; i++) {
		const int64_t v = value ? value(w, i) : -1;

		(void)fputs(i ? "," : "", w->out);
		if (v < 0)
			(void)fputs("null", w->out);
		else
			(void)fprintf(w->out, "%" PRId64, v);
	}
	(void)fputc(']', w->out);
}

/* A column that says the same everywhere. */
static void write_constant(struct writer *w, const char *name, uint32_t nr, const char *value)
{
	(void)fprintf(w->out, ",\"%s\":[", name);
	for (uint32_t i = 0; i < nr; i++)
		(void)fprintf(w->out, "%s%s", i ? "," : "", value);
	(void)fputc(']', w->out);
}

static const struct pev_tree_node *node_of(struct writer *w, uint32_t row)
{
	return &w->tree.nodes[w->stack.places[row]];
}

static int64_t stack_prefix(struct writer *w, uint32_t row)
{
	const uint32_t parent = node_of(w, row)->parent;

	return parent ? (int64_t)w->stack.number[parent] : -1;
}

static int64_t stack_frame(struct writer *w, uint32_t row)
{
	return use(&w->frame, node_of(w, row)->label);
}

static int64_t stack_category(struct writer *w, uint32_t row)
{
	return pev_flame_kind_of(w->frames[node_of(w, row)->label]);
}

static int64_t frame_function(struct writer *w, uint32_t row)
{
	return use(&w->function, w->functions[w->frame.places[row]]);
}

static int64_t frame_category(struct writer *w, uint32_t row)
{
	return pev_flame_kind_of(w->frames[w->frame.places[row]]);
}

static int64_t frame_depth(struct writer *w, uint32_t row)
{
	return w->frames[w->frame.places[row]]->inlined;
}

static int64_t frame_line(struct writer *w, uint32_t row)
{
	const uint32_t line = w->frames[w->frame.places[row]]->line;

	return line ? (int64_t)line : -1;
}

static int64_t function_name(struct writer *w, uint32_t row)
{
	return use_string(w, name_of(w->bodies[w->function.places[row]]));
}

static int64_t function_resource(struct writer *w, uint32_t row)
{
	return use(&w->dso, w->function_dso[w->function.places[row]]);
}

static int64_t function_file(struct writer *w, uint32_t row)
{
	const char *const file = w->bodies[w->function.places[row]]->file;

	return file ? (int64_t)use_string(w, file) : -1;
}

static int64_t resource_lib(struct writer *w, uint32_t row)
{
	return w->dso.places[row];
}

static int64_t resource_name(struct writer *w, uint32_t row)
{
	return use_string(w, w->dsos.v[w->dso.places[row]]);
}

/* Each table fills those that it points into, so their order matters. */
static void write_tables(struct writer *w)
{
	(void)fprintf(w->out, ",\"stackTable\":{\"length\":%" PRIu32, w->stack.nr);
	write_column(w, "prefix", w->stack.nr, stack_prefix);
	write_column(w, "frame", w->stack.nr, stack_frame);
	write_column(w, "category", w->stack.nr, stack_category);
	write_constant(w, "subcategory", w->stack.nr, "0");
	(void)fprintf(w->out, "},\"frameTable\":{\"length\":%" PRIu32, w->frame.nr);
	write_constant(w, "address", w->frame.nr, "-1");
	write_column(w, "inlineDepth", w->frame.nr, frame_depth);
	write_column(w, "category", w->frame.nr, frame_category);
	write_constant(w, "subcategory", w->frame.nr, "0");
	write_column(w, "func", w->frame.nr, frame_function);
	write_column(w, "nativeSymbol", w->frame.nr, NULL);
	write_column(w, "innerWindowID", w->frame.nr, NULL);
	write_column(w, "implementation", w->frame.nr, NULL);
	write_column(w, "line", w->frame.nr, frame_line);
	write_column(w, "column", w->frame.nr, NULL);
	(void)fprintf(w->out, "},\"funcTable\":{\"length\":%" PRIu32, w->function.nr);
	write_column(w, "name", w->function.nr, function_name);
	write_constant(w, "isJS", w->function.nr, "false");
	write_constant(w, "relevantForJS", w->function.nr, "false");
	write_column(w, "resource", w->function.nr, function_resource);
	write_column(w, "fileName", w->function.nr, function_file);
	write_column(w, "lineNumber", w->function.nr, NULL);
	write_column(w, "columnNumber", w->function.nr, NULL);
	(void)fprintf(w->out, "},\"resourceTable\":{\"length\":%" PRIu32, w->dso.nr);
	write_column(w, "lib", w->dso.nr, resource_lib);
	write_column(w, "name", w->dso.nr, resource_name);
	write_column(w, "host", w->dso.nr, NULL);
	write_constant(w, "type", w->dso.nr, "1"); /* a library */
	(void)fputs("},\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],\"name\":[],"
		    "\"functionSize\":[]},\"markers\":{\"length\":0,\"category\":[],\"data\":[],"
		    "\"endTime\":[],\"name\":[],\"phase\":[],\"startTime\":[]},\"stringArray\":[",
		    w->out);
	for (uint32_t i = 0; i < w->string.nr; i++) {
		(void)fputs(i ? "," : "", w->out);
		pev_json_string(w->strings.v[w->string.places[i]], w->out);
	}
	(void)fputc(']', w->out);
}

static double time_ms(const struct pev_profile_data *d, uint32_t slice)
{
	return (double)slice * (double)d->slice_ns / (double)PEV_NSEC_PER_MSEC;
}

static void write_samples(struct writer *w, const struct pev_thread *t)
{
	const struct pev_profile_data *const d = w->d;
	const uint32_t *const order = &w->threads.cells[t->first_cell];

	(void)fprintf(w->out, ",\"samples\":{\"length\":%" PRIu32 ",\"stack\":[", t->nr);
	for (uint32_t i = 0; i < t->nr; i++) {
		const uint32_t leaf = w->tree.leaves[d->cells[order[i]].stack];

		if (leaf)
			(void)fprintf(w->out, "%s%" PRIu32, i ? "," : "", w->stack.number[leaf]);
		else
			(void)fprintf(w->out, "%snull", i ? "," : "");
	}
	(void)fputs("],\"time\":[", w->out);
	for (uint32_t i = 0; i < t->nr; i++)
		(void)fprintf(w->out, "%s%.6f", i ? "," : "",
			      time_ms(d, d->keys[d->cells[order[i]].key].slice));
	(void)fputs("],\"weight\":[", w->out);
	for (uint32_t i = 0; i < t->nr; i++)
		(void)fprintf(w->out, "%s%" PRIu64, i ? "," : "", d->cells[order[i]].samples);
	(void)fputs("],\"weightType\":\"samples\"}", w->out);
}

static void write_thread(struct writer *w, const struct pev_thread *t, uint32_t *path)
{
	const struct pev_profile_data *const d = w->d;
	const uint32_t *const order = &w->threads.cells[t->first_cell];
	char name[256];

	used_clear(&w->stack);
	used_clear(&w->frame);
	used_clear(&w->function);
	used_clear(&w->dso);
	used_clear(&w->string);
	for (uint32_t i = 0; i < t->nr; i++)
		use_stack(w, w->tree.leaves[d->cells[order[i]].stack], path);
	(void)snprintf(name, sizeof(name), "%s%s%s", t->comm, d->nr_events > 1 ? ": " : "",
		       d->nr_events > 1 ? d->events[t->event].name : "");
	(void)fputs("{\"name\":", w->out);
	pev_json_string(name, w->out);
	(void)fputs(",\"processName\":", w->out);
	pev_json_string(t->process, w->out);
	(void)fprintf(w->out,
		      ",\"isMainThread\":%s,\"pid\":\"%" PRIu32 "\",\"tid\":%" PRIu32
		      ",\"processType\":\"default\",\"processStartupTime\":0,"
		      "\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
		      "\"pausedRanges\":[],\"showMarkersInTimeline\":false",
		      t->pid == t->tid ? "true" : "false", t->pid, t->tid);
	write_samples(w, t);
	write_tables(w);
	(void)fputc('}', w->out);
}

static void write_libs(struct writer *w)
{
	(void)fputs(",\"libs\":[", w->out);
	for (uint32_t i = 0; i < w->dsos.nr; i++) {
		static const char *const keys[] = { "name", "path", "debugName", "debugPath" };

		(void)fputs(i ? ",{" : "{", w->out);
		for (size_t k = 0; k < PEV_ARRAY_SIZE(keys); k++) {
			(void)fprintf(w->out, "\"%s\":", keys[k]);
			pev_json_string(w->dsos.v[i], w->out);
			(void)fputc(',', w->out);
		}
		(void)fputs("\"arch\":\"\",\"breakpadId\":\"\",\"codeId\":null}", w->out);
	}
	(void)fputc(']', w->out);
}

static void write_meta(struct writer *w, const char *title, const struct pev_clock *clock)
{
	const struct pev_profile_data *const d = w->d;
	const uint64_t start = clock->has_wall && d->first_slice_ns
				       ? pev_clock_to_wall(clock, d->first_slice_ns)
				       : 0;

	(void)fputs("{\"meta\":{\"product\":", w->out);
	pev_json_string(title, w->out);
	(void)fprintf(w->out,
		      ",\"importedFrom\":\"pevrec\",\"categories\":%s,\"debug\":false,"
		      "\"extensions\":{\"baseURL\":[],\"id\":[],\"length\":0,\"name\":[]},"
		      "\"interval\":%.6f,\"preprocessedProfileVersion\":49,\"processType\":0,"
		      "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\","
		      "\"threadCPUDelta\":\"ns\"},\"startTime\":%.3f,\"stackwalk\":1,"
		      "\"symbolicated\":true,\"version\":24,\"usesOnlyOneStackType\":true,"
		      "\"doesNotUseFrameImplementation\":true,\"sourceCodeIsNotOnSearchfox\":true,"
		      "\"markerSchema\":[]}",
		      categories, time_ms(d, 1), (double)start / (double)PEV_NSEC_PER_MSEC);
}

static int write_all(struct writer *w, const char *title, const struct pev_clock *clock)
{
	_cleanup_free_ uint32_t *path = calloc(w->tree.nr_nodes + 1UL, sizeof(*path));

	if (!path)
		return -ENOMEM;
	write_meta(w, title, clock);
	write_libs(w);
	(void)fputs(",\"pages\":[],\"counters\":[],\"profilerOverhead\":[],\"threads\":[", w->out);
	for (uint32_t i = 0; i < w->threads.nr; i++) {
		(void)fputs(i ? "," : "", w->out);
		write_thread(w, &w->threads.v[i], path);
	}
	(void)fputs("]}\n", w->out);
	errno = 0;
	if (fflush(w->out) || ferror(w->out))
		return errno ? -errno : -EIO;
	return 0;
}

int pev_firefox_write(const struct pev_profile_data *d, const char *title,
		      const struct pev_clock *clock, FILE *out, struct pev_err *err)
{
	_cleanup_(writer_done) struct writer w = { .d = d, .out = out };
	int r = writer_init(&w);

	if (r == 0)
		r = write_all(&w, title, clock);
	return r < 0 ? pev_err_set(err, r, "cannot write the profile: %s", pev_errno_str(r)) : 0;
}
