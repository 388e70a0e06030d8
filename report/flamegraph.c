// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The page is a frame made when pevrec is built (report/flamegraph/, joined by
 * report/flamegraph/join.cmake) around one JSON object:
 *
 *	title, notes, diff
 *	names, dsos	strings; a function is a number, that of its name in names
 *	label_dsos	~ per function: its file, in dsos
 *	nr_nodes, nodes	~ per node but the root, in the order of a walk: how many levels to go up
 *			from the child of the node before it; 8 * function + kind
 *	events		name, samples; after and before:
 *			~ per node with samples of its own: nodes since the last such one, how many
 *			slices follow; per slice: slices since the last one, samples
 *	time		null, or slices, slice_ms, span_ms, and wall_ms, the time of day at the
 *			start in ms since 1970 or null
 *
 * where ~ is a string of base64 of unsigned LEB128 numbers: a tenth of what JSON numbers need.
 * Nothing that comes from a trace can end the script element that the object is in: "<" is escaped.
 */
#include "report/flamegraph.h"

#include "base/buf.h"
#include "base/checked.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "report/flame_tree.h"
#include "report/flamegraph_page.h"
#include "report/json.h"
#include "report/proto.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Writes @b as a string, and empties it. */
static void write_numbers(const char *key, struct pev_buf *b, FILE *out)
{
	(void)fprintf(out, "\"%s\":\"", key);
	pev_json_base64(b->data, b->size, out);
	(void)fputs("\",", out);
	pev_buf_reset(b);
}

/* Numbers of the distinct files of all functions, which write_dsos() writes as it finds them. */
static int write_dsos(const struct pev_flame_tree *t, FILE *out, struct pev_buf *ret)
{
	_cleanup_free_ const char **seen = calloc(t->nr_labels + 1UL, sizeof(*seen));
	struct pev_index index = { 0 };
	uint32_t nr = 0;
	int r = seen ? 0 : -ENOMEM;

	(void)fputs("\"dsos\":[", out);
	for (uint32_t i = 0; r == 0 && i < t->nr_labels; i++) {
		const char *const dso = t->labels[i].dso;
		const uint64_t hash = pev_hash_bytes(dso, strlen(dso), 0);
		struct pev_probe at = pev_index_probe(&index, hash);
		uint32_t number = nr;

		while (number == nr && pev_index_next(&index, &at))
			if (!strcmp(seen[at.found], dso))
				number = at.found;
		if (number == nr) {
			r = pev_index_add(&index, hash, nr);
			seen[nr++] = dso;
			(void)fputs(number ? "," : "", out);
			pev_json_string(dso, out);
		}
		pev_proto_varint(ret, number);
	}
	(void)fputs("],", out);
	pev_index_done(&index);
	return r;
}

static int write_labels(const struct pev_flame_tree *t, FILE *out)
{
	_cleanup_buf_ struct pev_buf b = { 0 };
	int r;

	(void)fputs("\"names\":[", out);
	for (uint32_t i = 0; i < t->nr_labels; i++) {
		(void)fputs(i ? "," : "", out);
		pev_json_string(t->labels[i].name, out);
	}
	(void)fputs("],", out);
	r = write_dsos(t, out, &b);
	if (r == 0)
		r = pev_buf_status(&b);
	write_numbers("label_dsos", &b, out);
	return r;
}

static int write_nodes(const struct pev_flame_tree *t, FILE *out)
{
	_cleanup_free_ uint32_t *depth = calloc(t->nr_nodes + 1UL, sizeof(*depth));
	_cleanup_buf_ struct pev_buf b = { 0 };

	if (!depth)
		return -ENOMEM;
	for (uint32_t i = 1; i < t->nr_nodes; i++) {
		const struct pev_flame_node *const n = &t->nodes[i];

		depth[i] = depth[n->parent] + 1;
		pev_proto_varint(&b, depth[i - 1] + 1 - depth[i]);
		pev_proto_varint(&b, (uint64_t)n->label * 8 + n->kind);
	}
	if (pev_buf_status(&b) < 0)
		return -ENOMEM;
	(void)fprintf(out, "\"nr_nodes\":%" PRIu32 ",", t->nr_nodes);
	write_numbers("nodes", &b, out);
	return 0;
}

/* The counts of one event and side, which follow one another from *@at on. */
static int write_counts(const struct pev_flame_tree *t, uint32_t event, enum pev_flame_side side,
			uint32_t *at, FILE *out)
{
	_cleanup_buf_ struct pev_buf b = { 0 };
	uint32_t i = *at, node = 0;

	while (i < t->nr_counts && t->counts[i].event == event && t->counts[i].side == side) {
		const uint32_t first = i;
		uint32_t slice = 0;

		while (i < t->nr_counts && t->counts[i].event == event &&
		       t->counts[i].side == side && t->counts[i].node == t->counts[first].node)
			i++;
		pev_proto_varint(&b, t->counts[first].node - node);
		pev_proto_varint(&b, i - first);
		node = t->counts[first].node;
		for (uint32_t c = first; c < i; c++) {
			pev_proto_varint(&b, t->counts[c].slice - slice);
			pev_proto_varint(&b, t->counts[c].samples);
			slice = t->counts[c].slice;
		}
	}
	*at = i;
	if (pev_buf_status(&b) < 0)
		return -ENOMEM;
	write_numbers(side == PEV_FLAME_AFTER ? "after" : "before", &b, out);
	return 0;
}

static int write_events(const struct pev_flame_tree *t, FILE *out)
{
	uint32_t at = 0;

	(void)fputs("\"events\":[", out);
	for (uint32_t e = 0; e < t->nr_events; e++) {
		int r;

		(void)fputs(e ? ",{" : "{", out);
		r = write_counts(t, e, PEV_FLAME_AFTER, &at, out);
		if (r == 0)
			r = write_counts(t, e, PEV_FLAME_BEFORE, &at, out);
		if (r < 0)
			return r;
		(void)fputs("\"name\":", out);
		pev_json_string(t->events[e].name, out);
		(void)fprintf(out, ",\"samples\":%" PRIu64 "}",
			      t->events[e].samples[PEV_FLAME_AFTER]);
	}
	(void)fputs("],", out);
	return 0;
}

static void write_time(const struct pev_profile_data *d, const struct pev_clock *clock, FILE *out)
{
	const double ms = (double)PEV_NSEC_PER_MSEC;
	uint32_t slices = 0;

	for (uint32_t i = 0; i < d->nr_keys; i++)
		slices = PEV_MAX(slices, d->keys[i].slice + 1);
	if (!d->first_slice_ns || !slices || d->last_ns <= d->first_ns) {
		(void)fputs("\"time\":null,", out);
		return;
	}
	(void)fprintf(out, "\"time\":{\"slices\":%" PRIu32 ",\"slice_ms\":%.6f,\"span_ms\":%.6f,",
		      slices, (double)d->slice_ns / ms, (double)(d->last_ns - d->first_ns) / ms);
	if (clock->has_wall)
		(void)fprintf(out, "\"wall_ms\":%.3f},",
			      (double)pev_clock_to_wall(clock, d->first_slice_ns) / ms);
	else
		(void)fputs("\"wall_ms\":null},", out);
}

static void write_head(const struct pev_flamegraph_options *o, FILE *out)
{
	(void)fputs("{\"title\":", out);
	pev_json_string(o->title, out);
	(void)fputs(",\"notes\":[", out);
	for (size_t i = 0; i < o->nr_notes; i++) {
		(void)fputs(i ? "," : "", out);
		pev_json_string(o->notes[i], out);
	}
	(void)fputs("],", out);
}

int pev_flamegraph_write(const struct pev_profile_data *after,
			 const struct pev_profile_data *before,
			 const struct pev_flamegraph_options *options, FILE *out,
			 struct pev_err *err)
{
	_cleanup_(pev_flame_tree_done) struct pev_flame_tree t = { 0 };
	int r = pev_flame_tree_add(&t, after, PEV_FLAME_AFTER, err);

	if (r == 0 && before)
		r = pev_flame_tree_add(&t, before, PEV_FLAME_BEFORE, err);
	if (r == 0)
		r = pev_flame_tree_sort(&t, err);
	if (r < 0)
		return r;
	if (!t.nr_events)
		return pev_err_set(err, -ENODATA,
				   "there are no samples to draw: nothing was "
				   "recorded, or no sample passes the filters");
	(void)fwrite(pev_flamegraph_head, 1, pev_flamegraph_head_size, out);
	write_head(options, out);
	r = write_labels(&t, out);
	if (r == 0)
		r = write_nodes(&t, out);
	if (r == 0)
		r = write_events(&t, out);
	if (r < 0)
		return pev_err_set(err, r, "cannot write the flame graph: %s", pev_errno_str(r));
	write_time(after, &options->clock, out);
	(void)fprintf(out, "\"diff\":%s}", before ? "true" : "false");
	(void)fwrite(pev_flamegraph_tail, 1, pev_flamegraph_tail_size, out);
	if (fflush(out) || ferror(out)) {
		r = errno ? -errno : -EIO;
		return pev_err_set(err, r, "cannot write the flame graph: %s", pev_errno_str(r));
	}
	return 0;
}
