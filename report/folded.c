// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lines can be many and long, so none is made before it is written. They are sorted without it: the
 * labels of frames are ranked once, a walk over the tree in the order of the ranks numbers its
 * nodes, and lines are sorted by two numbers, that of the thread's name and that of the node.
 *
 * A line sorts as its text: "a;b" comes after "a b", since ';' is more than ' ', but "a" before
 * both. So each label has two ranks: one for where it ends the line, one for where ';' follows.
 */
#include "report/folded.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "report/folded_names.h"
#include "report/index.h"
#include "report/tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Distinct texts, by their number. */
struct texts {
	struct pev_buf bytes; /* each with a NUL behind it */
	uint32_t *at;         /* offset in ->bytes */
	uint32_t nr, cap;
	struct pev_index index;
	uint32_t *ends, *goes_on; /* ranks, see above */
};

static void texts_done(struct texts *t)
{
	pev_buf_done(&t->bytes);
	pev_index_done(&t->index);
	free(t->at);
	free(t->ends);
	free(t->goes_on);
}

static const char *text_at(const struct texts *t, uint32_t i)
{
	return (const char *)t->bytes.data + t->at[i];
}

/* Keeps the text that was appended to ->bytes at @start, unless it is there already. */
static int keep_text(struct texts *t, size_t start, uint32_t *ret)
{
	const char *const s = (const char *)t->bytes.data + start;
	const uint64_t hash = pev_hash_bytes(s, strlen(s), 0);
	struct pev_probe at = pev_index_probe(&t->index, hash);
	int r;

	while (pev_index_next(&t->index, &at))
		if (!strcmp(text_at(t, at.found), s)) {
			t->bytes.size = start;
			*ret = at.found;
			return 0;
		}
	if (t->bytes.size > UINT32_MAX)
		return -E2BIG;
	r = PEV_ARRAY_ROOM(t->at, t->nr, t->cap);
	if (r == 0)
		r = pev_index_add(&t->index, hash, t->nr);
	if (r < 0)
		return r;
	t->at[t->nr] = (uint32_t)start;
	*ret = t->nr++;
	return 0;
}

struct rank {
	const char *s;
	uint32_t text;
	bool goes_on;
};

static int by_text(const void *a, const void *b)
{
	const struct rank *const x = a, *const y = b;
	const unsigned char *s = (const unsigned char *)x->s, *t = (const unsigned char *)y->s;
	int c, d;

	while (*s && *s == *t) {
		s++;
		t++;
	}
	/* Texts hold no ';', so that only the ends need a second look. */
	c = *s ? *s : x->goes_on ? ';' : 0;
	d = *t ? *t : y->goes_on ? ';' : 0;
	return c - d;
}

static int rank_texts(struct texts *t)
{
	_cleanup_free_ struct rank *ranks = calloc(t->nr * 2ULL + 1, sizeof(*ranks));

	t->ends = calloc(t->nr + 1ULL, sizeof(*t->ends));
	t->goes_on = calloc(t->nr + 1ULL, sizeof(*t->goes_on));
	if (!ranks || !t->ends || !t->goes_on)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nr * 2ULL; i++)
		ranks[i] = (struct rank){ text_at(t, i / 2), i / 2, i % 2 };
	qsort(ranks, t->nr * 2ULL, sizeof(*ranks), by_text);
	for (uint32_t i = 0; i < t->nr * 2ULL; i++)
		(ranks[i].goes_on ? t->goes_on : t->ends)[ranks[i].text] = i;
	return 0;
}

/* The stacks as the threads of one kind see them: Java's names are written otherwise. */
struct view {
	struct texts texts;
	struct pev_labels labels;
	struct pev_tree tree;
	uint32_t *order; /* by node: its place among all lines */
};

static void view_done(struct view *v)
{
	texts_done(&v->texts);
	pev_labels_done(&v->labels);
	pev_tree_done(&v->tree);
	free(v->order);
}

/* Appends the labels of a frame to ->of, the last piece first since it is the innermost. */
static int label_frame(struct view *v, const struct pev_frame *frame, bool java, uint32_t *cap)
{
	struct pev_labels *const l = &v->labels;
	_cleanup_buf_ struct pev_buf pieces = { 0 };
	const uint32_t start = l->nr;
	size_t nr = pev_folded_frame(frame, java, &pieces), done = 0;
	int r = pev_buf_status(&pieces);

	for (const char *s = (const char *)pieces.data; done < nr && r == 0;
	     s += strlen(s) + 1, done++) {
		const size_t at = v->texts.bytes.size;

		pev_buf_put(&v->texts.bytes, s, strlen(s) + 1);
		r = pev_buf_status(&v->texts.bytes);
		if (r == 0)
			r = PEV_ARRAY_ROOM(l->of, l->nr, *cap);
		if (r == 0)
			r = keep_text(&v->texts, at, &l->of[l->nr]);
		l->nr += r == 0;
	}
	for (uint32_t i = start, j = l->nr; r == 0 && i + 1 < j; i++) {
		const uint32_t last = l->of[--j];

		l->of[j] = l->of[i];
		l->of[i] = last;
	}
	return r;
}

static int label(struct view *v, const struct pev_profile_data *d, bool java)
{
	struct pev_labels *const l = &v->labels;
	uint32_t cap = 0;
	int r = 0;

	l->first = calloc(d->nr_codes + 1ULL, sizeof(*l->first));
	if (!l->first)
		return -ENOMEM;
	for (uint32_t c = 0; c < d->nr_codes && r == 0; c++) {
		for (uint32_t f = 0; f < d->codes[c].nr_frames && r == 0; f++)
			r = label_frame(v, &d->codes[c].frames[f], java, &cap);
		l->first[c + 1] = l->nr;
	}
	return r;
}

/* What the walk over the tree meets below a node, in order: the line of a child, or all that is
 * below it. */
struct step {
	uint64_t key; /* parent << 32 | rank of the label */
	uint32_t node;
	bool goes_on;
};

static int by_key(const void *a, const void *b)
{
	const struct step *const x = a, *const y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

/* Numbers the nodes in the order of their lines. A parent's steps are next to each other, and
 * first[parent] tells where. */
static int order_nodes(struct view *v)
{
	const uint32_t nr = v->tree.nr_nodes;
	const uint64_t nr_steps = (nr - 1) * 2ULL;
	_cleanup_free_ struct step *steps = calloc(nr_steps + 1, sizeof(*steps));
	_cleanup_free_ uint64_t *next = calloc(nr, sizeof(*next));
	uint32_t node = 0, place = 0;

	v->order = calloc(nr, sizeof(*v->order));
	if (!steps || !next || !v->order)
		return -ENOMEM;
	for (uint32_t i = 1; i < nr; i++) {
		const struct pev_tree_node *const n = &v->tree.nodes[i];
		const uint64_t parent = (uint64_t)n->parent << 32;

		steps[2 * i - 2] = (struct step){ parent | v->texts.ends[n->label], i, false };
		steps[2 * i - 1] = (struct step){ parent | v->texts.goes_on[n->label], i, true };
	}
	qsort(steps, nr_steps, sizeof(*steps), by_key);
	for (uint64_t i = nr_steps; i-- > 0;)
		next[steps[i].key >> 32] = i;
	for (;;) {
		const struct step *const s = &steps[next[node]];

		if (next[node] == nr_steps || s->key >> 32 != node || s->node == 0) {
			if (!node)
				break;
			node = v->tree.nodes[node].parent;
			continue;
		}
		next[node]++;
		if (s->goes_on)
			node = s->node;
		else
			v->order[s->node] = ++place;
	}
	return 0;
}

static int view_make(struct view *v, const struct pev_profile_data *d, bool java)
{
	int r;

	r = label(v, d, java);
	if (r == 0)
		r = rank_texts(&v->texts);
	if (r == 0)
		r = pev_tree_make(&v->tree, d, &v->labels, false);
	return r == 0 ? order_nodes(v) : r;
}

struct line {
	uint64_t key; /* rank of the thread's name << 32 | place of the node */
	uint64_t count;
	uint32_t comm, node;
	bool java;
};

struct lines {
	struct view views[2]; /* [1]: of Java */
	bool made[2];
	struct texts comms;
	uint32_t *comm_of; /* by key of the profile */
	struct line *v;
	size_t nr;
};

static void lines_done(struct lines *l)
{
	view_done(&l->views[0]);
	view_done(&l->views[1]);
	texts_done(&l->comms);
	free(l->comm_of);
	free(l->v);
}

static int label_comms(struct lines *l, const struct pev_profile_data *d)
{
	l->comm_of = calloc(d->nr_keys + 1ULL, sizeof(*l->comm_of));
	if (!l->comm_of)
		return -ENOMEM;
	for (uint32_t k = 0; k < d->nr_keys; k++) {
		const size_t at = l->comms.bytes.size;
		int r;

		pev_folded_comm(d->keys[k].comm, &l->comms.bytes);
		r = pev_buf_status(&l->comms.bytes);
		if (r == 0)
			r = keep_text(&l->comms, at, &l->comm_of[k]);
		if (r < 0)
			return r;
	}
	return rank_texts(&l->comms);
}

/* How much a cell adds to its line: the script takes the period from in front of the event's name,
 * but does not find it where the fields of a tracepoint follow. */
static uint64_t weight(const struct pev_profile_data *d, const struct pev_profile_cell *cell,
		       uint32_t wanted)
{
	const uint32_t event = d->keys[cell->key].event;

	if (d->events[event].attr.type == PEV_TYPE_TRACEPOINT)
		return cell->samples;
	if (event != wanted)
		return 0;
	return cell->period ? cell->period : cell->samples;
}

/* The first event that counts by period; that of the first sample of them. */
static uint32_t first_event(const struct pev_profile_data *d)
{
	uint32_t i = 0;

	while (i < d->nr_events &&
	       (d->events[i].attr.type == PEV_TYPE_TRACEPOINT || !d->events[i].samples))
		i++;
	return i;
}

static int by_line(const void *a, const void *b)
{
	const struct line *const x = a, *const y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static int make_lines(struct lines *l, const struct pev_profile_data *d)
{
	const uint32_t wanted = first_event(d);

	l->v = calloc(d->nr_cells + 1ULL, sizeof(*l->v));
	if (!l->v)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->nr_cells; i++) {
		const struct pev_profile_cell *const cell = &d->cells[i];
		struct line line = { .comm = l->comm_of[cell->key] };
		struct view *view;

		line.count = weight(d, cell, wanted);
		if (!line.count)
			continue;
		line.java = !strncmp(text_at(&l->comms, line.comm), "java", 4);
		view = &l->views[line.java];
		if (!l->made[line.java]) {
			const int r = view_make(view, d, line.java);

			if (r < 0)
				return r;
			l->made[line.java] = true;
		}
		line.node = view->tree.leaves[cell->stack];
		line.key = (uint64_t)(line.node ? l->comms.goes_on : l->comms.ends)[line.comm]
				   << 32 |
			   view->order[line.node];
		l->v[l->nr++] = line;
	}
	qsort(l->v, l->nr, sizeof(*l->v), by_line);
	return 0;
}

/* Writes ";caller;callee" of a node, by way of @path, which holds its labels from the inside out.
 */
static int write_path(const struct view *v, uint32_t node, struct pev_buf *path, FILE *out)
{
	pev_buf_reset(path);
	for (; node; node = v->tree.nodes[node].parent)
		pev_buf_u32(path, v->tree.nodes[node].label);
	if (pev_buf_status(path) < 0)
		return -ENOMEM;
	for (size_t i = path->size / sizeof(uint32_t); i-- > 0;) {
		uint32_t text;

		memcpy(&text, path->data + i * sizeof(text), sizeof(text));
		(void)fputc_unlocked(';', out);
		(void)fputs_unlocked(text_at(&v->texts, text), out);
	}
	return 0;
}

static int write_lines(const struct lines *l, FILE *out)
{
	_cleanup_buf_ struct pev_buf path = { 0 };

	for (size_t i = 0, next; i < l->nr; i = next) {
		const struct line *const line = &l->v[i];
		uint64_t count = 0;
		int r;

		for (next = i; next < l->nr && l->v[next].key == line->key; next++)
			count += l->v[next].count;
		(void)fputs_unlocked(text_at(&l->comms, line->comm), out);
		r = write_path(&l->views[line->java], line->node, &path, out);
		if (r < 0)
			return r;
		(void)fprintf(out, " %" PRIu64 "\n", count);
	}
	return ferror(out) ? -EIO : 0;
}

int pev_folded_write(const struct pev_profile_data *d, FILE *out, struct pev_err *err)
{
	_cleanup_(lines_done) struct lines l = { 0 };
	int r = label_comms(&l, d);

	if (r == 0)
		r = make_lines(&l, d);
	if (r == 0)
		r = write_lines(&l, out);
	return r < 0 ? pev_err_set(err, r, "write folded stacks: %s", pev_errno_str(r)) : 0;
}
