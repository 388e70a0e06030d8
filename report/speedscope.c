// SPDX-License-Identifier: LGPL-2.1-or-later
/* Frames are functions; a sample is the list of them, outermost first. */
#include "report/speedscope.h"

#include "base/cleanup.h"
#include "report/json.h"
#include "report/threads.h"
#include "report/tree.h"

#include <errno.h>
#include <inttypes.h>

struct writer {
	const struct pev_profile_data *d;
	FILE *out;
	struct pev_labels labels;
	struct pev_tree tree;
	struct pev_threads threads;
};

static void writer_done(struct writer *w)
{
	pev_labels_done(&w->labels);
	pev_tree_done(&w->tree);
	pev_threads_done(&w->threads);
}

static int write_frames(struct writer *w)
{
	_cleanup_free_ const struct pev_frame **frames =
		calloc(w->labels.nr + 1UL, sizeof(*frames));

	if (!frames)
		return -ENOMEM;
	for (uint32_t c = 0; c < w->d->nr_codes; c++)
		for (uint32_t i = 0; i < w->d->codes[c].nr_frames; i++)
			frames[w->labels.of[w->labels.first[c] + i]] = &w->d->codes[c].frames[i];
	for (uint32_t i = 0; i < w->labels.nr; i++) {
		const struct pev_frame *const f = frames[i];

		(void)fputs(i ? ",{\"name\":" : "{\"name\":", w->out);
		pev_json_string(f->name ? f->name : f->dso ? f->dso : "[unknown]", w->out);
		if (f->file || f->dso) {
			(void)fputs(",\"file\":", w->out);
			pev_json_string(f->file ? f->file : f->dso, w->out);
		}
		(void)fputc('}', w->out);
	}
	return 0;
}

static void write_stack(struct writer *w, uint32_t stack, uint32_t *path)
{
	uint32_t n = 0;

	for (uint32_t i = w->tree.leaves[stack]; i; i = w->tree.nodes[i].parent)
		path[n++] = w->tree.nodes[i].label;
	(void)fputc('[', w->out);
	for (; n > 0; n--)
		(void)fprintf(w->out, "%" PRIu32 "%s", path[n - 1], n > 1 ? "," : "");
	(void)fputc(']', w->out);
}

static bool is_clock(const struct pev_profile_event *e)
{
	return e->attr.type == PEV_TYPE_SOFTWARE &&
	       (e->attr.config == PEV_SW_CPU_CLOCK || e->attr.config == PEV_SW_TASK_CLOCK);
}

static void write_thread(struct writer *w, const struct pev_thread *t, uint32_t *path)
{
	const struct pev_profile_event *const e = &w->d->events[t->event];
	const struct pev_profile_cell *const cells = w->d->cells;
	const uint32_t *const order = &w->threads.cells[t->first_cell];
	uint64_t sum = 0;
	char name[256];

	(void)snprintf(name, sizeof(name), "%s (pid %" PRIu32 ", tid %" PRIu32 ")%s%s", t->comm,
		       t->pid, t->tid, w->d->nr_events > 1 ? " " : "",
		       w->d->nr_events > 1 ? e->name : "");
	(void)fputs("{\"type\":\"sampled\",\"name\":", w->out);
	pev_json_string(name, w->out);
	(void)fprintf(w->out, ",\"unit\":\"%s\",\"startValue\":0,\"samples\":[",
		      is_clock(e) ? "nanoseconds" : "none");
	for (uint32_t i = 0; i < t->nr; i++) {
		(void)fputs(i ? "," : "", w->out);
		write_stack(w, cells[order[i]].stack, path);
	}
	(void)fputs("],\"weights\":[", w->out);
	for (uint32_t i = 0; i < t->nr; i++) {
		(void)fprintf(w->out, "%s%" PRIu64, i ? "," : "", cells[order[i]].period);
		sum += cells[order[i]].period;
	}
	(void)fprintf(w->out, "],\"endValue\":%" PRIu64 "}", sum);
}

static int write_all(struct writer *w, const char *title)
{
	_cleanup_free_ uint32_t *path = calloc(w->tree.nr_nodes + 1UL, sizeof(*path));
	int r;

	if (!path)
		return -ENOMEM;
	(void)fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		    "\"exporter\":\"pevrec\",\"activeProfileIndex\":0,\"name\":",
		    w->out);
	pev_json_string(title, w->out);
	(void)fputs(",\"shared\":{\"frames\":[", w->out);
	r = write_frames(w);
	(void)fputs("]},\"profiles\":[", w->out);
	for (uint32_t i = 0; r == 0 && i < w->threads.nr; i++) {
		(void)fputs(i ? "," : "", w->out);
		write_thread(w, &w->threads.v[i], path);
	}
	(void)fputs("]}\n", w->out);
	errno = 0;
	if (r == 0 && (fflush(w->out) || ferror(w->out)))
		r = errno ? -errno : -EIO;
	return r;
}

int pev_speedscope_write(const struct pev_profile_data *d, const char *title, FILE *out,
			 struct pev_err *err)
{
	_cleanup_(writer_done) struct writer w = { .d = d, .out = out };
	int r = pev_labels_make(&w.labels, d, PEV_LABEL_NAME);

	if (r == 0)
		r = pev_tree_make(&w.tree, d, &w.labels, false);
	if (r == 0)
		r = pev_threads_make(&w.threads, d);
	if (r == 0)
		r = write_all(&w, title);
	return r < 0 ? pev_err_set(err, r, "cannot write the profile: %s", pev_errno_str(r)) : 0;
}
