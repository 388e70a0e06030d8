// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * As perf draws it: frames that all chains share stand below each other, and where they part there
 *is a branch for each:
 *
 *	            |
 *	            ---main
 *	               work
 *	               |
 *	               |--60.00%--read
 *	               |
 *	                --40.00%--write
 */
#include "report/graph_text.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <inttypes.h>
#include <string.h>

struct printer {
	const struct pev_graph_text *t;
	const struct pev_graph_node *nodes;
	size_t margin;
	struct pev_buf lines; /* by depth: whether a line goes on down there */
	bool any;
	FILE *out;
};

static void print_margin(const struct printer *p)
{
	(void)fprintf(p->out, "%*s", (int)(12 + p->margin), "");
}

static void print_name(const struct printer *p, const struct pev_graph_node *n)
{
	const struct pev_profile_code *const code = &p->t->data->codes[n->code];
	const struct pev_frame *const f = &code->frames[n->frame];

	if (f->name)
		(void)fprintf(p->out, "%s%s\n", f->name, f->inlined ? " (inlined)" : "");
	else
		(void)fprintf(p->out, "0x%" PRIx64 "\n", code->code.ip);
}

/* The next frame that all chains through @n have, 0 when they part or end here. */
static uint32_t only_child(const struct printer *p, uint32_t n)
{
	return p->nodes[n].nr_children == 1 && !p->nodes[n].own ? p->nodes[n].first : 0;
}

static void print_empty(const struct printer *p, size_t depth)
{
	print_margin(p);
	for (size_t i = 0; i < depth; i++)
		(void)fputs(p->lines.data[i] ? "|          " : "           ", p->out);
	(void)fputc('\n', p->out);
}

/* The lines in front of a frame; of the first one of a branch with what the branch costs. */
static void print_branch(const struct printer *p, size_t depth, bool first, double percent)
{
	print_margin(p);
	for (size_t i = 0; i < depth; i++) {
		(void)fputc(p->lines.data[i] ? '|' : ' ', p->out);
		if (first && i == depth - 1)
			(void)fprintf(p->out, "--%.2f%%--", percent);
		else
			(void)fputs("          ", p->out);
	}
}

static double percent_of(uint64_t part, uint64_t total)
{
	return total ? 100.0 * (double)part / (double)total : 0.0;
}

/* A node whose children are being printed. */
struct level {
	uint32_t next;      /* child to come */
	uint64_t total;     /* that percentages of the children are of */
	uint64_t remaining; /* of it: what no child had so far */
};

/* What costs too little to be shown, at the end of a level. */
static void print_remainder(struct printer *p, size_t depth, const struct level *l)
{
	if (!p->t->relative || !l->remaining || l->remaining == l->total)
		return;
	p->lines.data[depth - 1] = 0;
	print_branch(p, depth, true, percent_of(l->remaining, l->total));
	(void)fputs("[...]\n", p->out);
	p->any = true;
}

/* One child with all the frames it shares; returns the last of them. */
static uint32_t print_child(struct printer *p, size_t depth, struct level *l)
{
	const struct pev_graph_node *const child = &p->nodes[l->next];
	const double percent = percent_of(child->total, l->total);
	uint32_t n = l->next, next;

	print_empty(p, depth);
	l->remaining -= child->total < l->remaining ? child->total : l->remaining;
	/* The line of this level ends with its last branch. */
	if (!child->next && (!p->t->relative || !l->remaining))
		p->lines.data[depth - 1] = 0;
	print_branch(p, depth, true, percent);
	print_name(p, child);
	while ((next = only_child(p, n))) {
		n = next;
		print_branch(p, depth, false, 0);
		print_name(p, &p->nodes[n]);
	}
	l->next = child->next;
	p->any = true;
	return n;
}

static uint64_t total_below(const struct printer *p, uint32_t n)
{
	return p->t->relative ? p->nodes[n].total - p->nodes[n].own : p->t->total;
}

/* All branches below @n, which may be deep: the levels are on a heap. */
static int print_levels(struct printer *p, uint32_t n)
{
	_cleanup_buf_ struct pev_buf levels = { 0 };
	struct level l = { .next = p->nodes[n].first };

	l.total = l.remaining = p->t->relative ? p->t->row_total : p->t->total;
	pev_buf_put(&levels, &l, sizeof(l));
	pev_buf_u8(&p->lines, 1);
	while (levels.size && pev_buf_status(&levels) == 0 && pev_buf_status(&p->lines) == 0) {
		const size_t depth = levels.size / sizeof(l);
		struct level *const top = (struct level *)levels.data + depth - 1;

		if (!top->next) {
			print_remainder(p, depth, top);
			levels.size -= sizeof(l);
			p->lines.size--;
			continue;
		}
		n = print_child(p, depth, top);
		l.next = p->nodes[n].first;
		l.total = l.remaining = total_below(p, n);
		pev_buf_put(&levels, &l, sizeof(l));
		pev_buf_u8(&p->lines, 1);
	}
	return pev_buf_status(&levels) < 0 ? pev_buf_status(&levels) : pev_buf_status(&p->lines);
}

/* The frames that all chains of the row share; returns the last of them. */
static uint32_t print_stem(struct printer *p)
{
	uint32_t n = p->nodes[0].first, last = 0;
	bool first = true;

	for (; n; n = only_child(p, n)) {
		last = n;
		if (first && p->t->skip_first) {
			first = false;
			continue;
		}
		print_margin(p);
		if (!p->any) {
			(void)fputs("|\n", p->out);
			print_margin(p);
			(void)fputs("---", p->out);
			p->margin += 3;
			p->any = true;
		}
		print_name(p, &p->nodes[n]);
		first = false;
	}
	return last;
}

int pev_graph_print(const struct pev_graph_text *t, FILE *out)
{
	struct printer p = { .t = t, .nodes = t->graph->nodes, .margin = t->margin, .out = out };
	uint32_t n = 0;
	int r;

	if (!t->graph->nr || !p.nodes[0].first)
		return 0;
	/* One branch that has everything is none. */
	if (!p.nodes[p.nodes[0].first].next && p.nodes[p.nodes[0].first].total == t->row_total)
		n = print_stem(&p);
	r = print_levels(&p, n);
	if (p.any)
		(void)fputc('\n', out);
	pev_buf_done(&p.lines);
	return r;
}
