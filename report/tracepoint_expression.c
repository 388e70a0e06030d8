// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Expressions of C, as the kernel's TP_printk() has them after the preprocessor: what is in ring
 * buffers is reached through REC, and through some functions of include/trace/stages/. Precedence
 * climbing; what is not known here is refused, and then nothing of the format is used.
 */
#include "report/tracepoint_part.h"

#include "base/checked.h"
#include "report/index.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More than the kernel's, whose flags of allocations are parentheses forty deep; a made-up format
 * must neither eat the stack nor the memory. */
#define DEPTH_MAX 400
#define NODES_MAX 20000

static void skip_blanks(struct tp_parser *p)
{
	while (p->rest.n && isspace((unsigned char)*p->rest.p)) {
		p->rest.p++;
		p->rest.n--;
	}
}

bool tp_skip(struct tp_parser *p, char c)
{
	skip_blanks(p);
	if (!p->rest.n || *p->rest.p != c)
		return false;
	p->rest.p++;
	p->rest.n--;
	return true;
}

static bool skip_word(struct tp_parser *p, const char *s)
{
	const size_t n = strlen(s);

	skip_blanks(p);
	if (p->rest.n < n || memcmp(p->rest.p, s, n) != 0)
		return false;
	p->rest.p += n;
	p->rest.n -= n;
	return true;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static struct tp_text next_word(struct tp_parser *p)
{
	struct tp_text word;

	skip_blanks(p);
	word = (struct tp_text){ p->rest.p, 0 };
	while (p->rest.n && is_word(*p->rest.p)) {
		p->rest.p++;
		p->rest.n--;
		word.n++;
	}
	return word;
}

static uint32_t depth_below(const struct pev_tracepoint *t, const struct tp_node *n)
{
	uint32_t depth = 0;

	/* Those that a type does not use are 0: a node that is there, and in the way of nobody. */
	if (t->nr_nodes) {
		depth = PEV_MAX(t->nodes[n->a].depth, t->nodes[n->b].depth);
		depth = PEV_MAX(depth, t->nodes[n->c].depth);
	}
	return depth + 1;
}

static int put(struct tp_parser *p, const struct tp_node *node, uint32_t *ret)
{
	struct pev_tracepoint *const t = p->t;
	const uint32_t depth = depth_below(t, node);
	int r;

	if (t->nr_nodes >= NODES_MAX || depth > DEPTH_MAX)
		return -EBADMSG;
	r = PEV_ARRAY_ROOM(t->nodes, t->nr_nodes, t->cap_nodes);
	if (r < 0)
		return r;
	t->nodes[t->nr_nodes] = *node;
	t->nodes[t->nr_nodes].depth = depth;
	*ret = t->nr_nodes++;
	return 0;
}

static bool is_number(const struct tp_parser *p, uint32_t node)
{
	return p->t->nodes[node].type == TP_NUMBER;
}

/* What has only numbers below is one itself. */
static int put_folded(struct tp_parser *p, const struct tp_node *node, uint32_t *ret)
{
	static const struct pev_bytes nothing = { 0 };
	const struct tp_record r = { .t = p->t, .raw = &nothing };
	int code = put(p, node, ret);

	if (code == 0 && is_number(p, node->a) &&
	    (node->type != TP_BINARY || is_number(p, node->b)))
		p->t->nodes[*ret] = (struct tp_node){ .type = TP_NUMBER,
						      .value = tp_eval(&r, *ret),
						      .depth = 1 };
	return code;
}

/* What an escape in a literal stands for. */
static char unescape(char c)
{
	switch (c) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case 'r':
		return '\r';
	default:
		return c;
	}
}

int tp_parse_string(struct tp_parser *p, struct tp_text *ret)
{
	struct pev_buf *const all = &p->t->strings;
	const size_t start = all->size;

	if (!tp_skip(p, '"'))
		return -EBADMSG;
	do {
		while (p->rest.n && *p->rest.p != '"') {
			char c = *p->rest.p++;

			p->rest.n--;
			if (c == '\\' && p->rest.n) {
				c = unescape(*p->rest.p++);
				p->rest.n--;
			}
			pev_buf_u8(all, (uint8_t)c);
		}
		if (!p->rest.n)
			return -EBADMSG;
		p->rest.p++;
		p->rest.n--;
	} while (tp_skip(p, '"'));
	/* The buffer may not move any more when texts point into it: it is as large as the file. */
	if (pev_buf_status(all) < 0)
		return -ENOMEM;
	*ret = (struct tp_text){ (const char *)all->data + start, all->size - start };
	return 0;
}

static int parse_number(struct tp_parser *p, uint32_t *ret)
{
	struct tp_node node = { .type = TP_NUMBER };
	const struct tp_text word = next_word(p);
	char text[32];
	char *end;

	if (word.n >= sizeof(text))
		return -EBADMSG;
	memcpy(text, word.p, word.n);
	text[word.n] = 0;
	node.value = strtoull(text, &end, 0);
	/* 1UL, 0x10ULL */
	return end[strspn(end, "uUlL")] ? -EBADMSG : put(p, &node, ret);
}

/* The number that a name stands for which the kernel left as it was; as libtraceevent, which knows
 * a few of them, and takes all others for -1. */
static int64_t value_of_name(struct tp_text name)
{
	static const struct {
		const char *name;
		int64_t value;
	} known[] = {
		{ "HI_SOFTIRQ", 0 },      { "TIMER_SOFTIRQ", 1 },     { "NET_TX_SOFTIRQ", 2 },
		{ "NET_RX_SOFTIRQ", 3 },  { "BLOCK_SOFTIRQ", 4 },     { "IRQ_POLL_SOFTIRQ", 5 },
		{ "TASKLET_SOFTIRQ", 6 }, { "SCHED_SOFTIRQ", 7 },     { "HRTIMER_SOFTIRQ", 8 },
		{ "RCU_SOFTIRQ", 9 },     { "HRTIMER_NORESTART", 0 }, { "HRTIMER_RESTART", 1 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (tp_is(name, known[i].name))
			return known[i].value;
	return -1;
}

/* The value of a constant expression, as a pair has it. */
static int64_t constant(const struct tp_parser *p, uint32_t node)
{
	const struct tp_node *const n = &p->t->nodes[node];

	if (n->type == TP_NAME)
		return value_of_name(n->text);
	return n->type == TP_NUMBER ? (int64_t)n->value : -1;
}

/* A literal; some lists end with { 0, ((void *)0) }. */
static int parse_pair_text(struct tp_parser *p, struct tp_text *ret)
{
	uint32_t node;

	skip_blanks(p);
	if (p->rest.n && *p->rest.p == '"')
		return tp_parse_string(p, ret);
	*ret = (struct tp_text){ 0 };
	return tp_parse_expression(p, &node);
}

/* { 1, "a" }, { 2, "b" } up to the parenthesis. */
static int parse_pairs(struct tp_parser *p, struct tp_node *node)
{
	struct pev_tracepoint *const t = p->t;

	node->first_pair = t->nr_pairs;
	while (tp_skip(p, ',')) {
		struct tp_pair pair;
		uint32_t value;
		int r;

		/* Some lists end with a comma. */
		if (!tp_skip(p, '{'))
			break;
		r = tp_parse_expression(p, &value);
		if (r == 0 && !tp_skip(p, ','))
			r = -EBADMSG;
		if (r == 0)
			r = parse_pair_text(p, &pair.text);
		if (r == 0 && !tp_skip(p, '}'))
			r = -EBADMSG;
		if (r == 0)
			r = PEV_ARRAY_ROOM(t->pairs, t->nr_pairs, t->cap_pairs);
		if (r < 0)
			return r;
		pair.value = constant(p, value);
		t->pairs[t->nr_pairs++] = pair;
	}
	node->nr_pairs = t->nr_pairs - node->first_pair;
	return 0;
}

static int parse_arguments(struct tp_parser *p, struct tp_node *node, unsigned int nr)
{
	uint32_t *const args[] = { &node->a, &node->b, &node->c };
	int r = 0;

	for (unsigned int i = 0; i < nr && r == 0; i++) {
		if (i && !tp_skip(p, ','))
			return -EBADMSG;
		r = tp_parse_expression(p, args[i]);
	}
	return r;
}

static int parse_flags(struct tp_parser *p, struct tp_node *node)
{
	int r = parse_arguments(p, node, 1);

	if (r == 0 && !tp_skip(p, ','))
		r = -EBADMSG;
	if (r == 0)
		r = tp_parse_string(p, &node->text);
	return r == 0 ? parse_pairs(p, node) : r;
}

static int parse_symbolic(struct tp_parser *p, struct tp_node *node)
{
	const int r = parse_arguments(p, node, 1);

	return r == 0 ? parse_pairs(p, node) : r;
}

static int parse_field_name(struct tp_parser *p, struct tp_node *node)
{
	node->field = tp_find_field(p->t, next_word(p));
	return node->field == TP_NONE ? -EBADMSG : 0;
}

static int parse_two(struct tp_parser *p, struct tp_node *node)
{
	return parse_arguments(p, node, 2);
}

static int parse_three(struct tp_parser *p, struct tp_node *node)
{
	return parse_arguments(p, node, 3);
}

static const struct {
	const char *name;
	enum tp_node_type type;
	int (*parse)(struct tp_parser *p, struct tp_node *node);
} functions[] = {
	{ "__print_flags", TP_FLAGS, parse_flags },
	{ "__print_symbolic", TP_SYMBOLIC, parse_symbolic },
	{ "__print_hex", TP_HEX, parse_two },
	{ "__print_hex_str", TP_HEX_STR, parse_two },
	{ "__print_array", TP_ARRAY, parse_three },
	{ "__get_str", TP_GET_STR, parse_field_name },
	{ "__get_rel_str", TP_GET_STR, parse_field_name },
	{ "__get_bitmask", TP_BITMASK, parse_field_name },
	{ "__get_rel_bitmask", TP_BITMASK, parse_field_name },
	{ "__get_cpumask", TP_BITMASK, parse_field_name },
	{ "__get_rel_cpumask", TP_BITMASK, parse_field_name },
	{ "__get_dynamic_array", TP_DYNAMIC, parse_field_name },
	{ "__get_rel_dynamic_array", TP_DYNAMIC, parse_field_name },
	{ "__get_dynamic_array_len", TP_DYNAMIC_LENGTH, parse_field_name },
	{ "__get_rel_dynamic_array_len", TP_DYNAMIC_LENGTH, parse_field_name },
};

static int parse_function(struct tp_parser *p, struct tp_text name, uint32_t *ret)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		struct tp_node node = { .type = functions[i].type };
		int r;

		if (!tp_is(name, functions[i].name))
			continue;
		r = functions[i].parse(p, &node);
		if (r == 0 && !tp_skip(p, ')'))
			r = -EBADMSG;
		return r == 0 ? put(p, &node, ret) : r;
	}
	/* The compiler's hint is what it is about. */
	if (tp_is(name, "__builtin_expect")) {
		uint32_t hint;
		int r = tp_parse_expression(p, ret);

		if (r == 0)
			r = tp_skip(p, ',') ? tp_parse_expression(p, &hint) : -EBADMSG;
		return r == 0 && !tp_skip(p, ')') ? -EBADMSG : r;
	}
	return -EBADMSG;
}

static int parse_word(struct tp_parser *p, uint32_t *ret)
{
	const struct tp_text word = next_word(p);
	struct tp_node node = { .type = TP_NAME, .text = word };

	if (!word.n)
		return -EBADMSG;
	if (tp_is(word, "REC") && skip_word(p, "->")) {
		node.type = TP_FIELD;
		return parse_field_name(p, &node) < 0 ? -EBADMSG : put(p, &node, ret);
	}
	if (tp_skip(p, '('))
		return parse_function(p, word, ret);
	return put(p, &node, ret);
}

/* The bits that a cast leaves; libtraceevent knows nothing of signs here. */
static uint64_t mask_of_type(struct tp_text type)
{
	static const char *const bytes[] = { "u8", "s8", "char", "unsigned char" };
	static const char *const halves[] = { "u16", "s16", "short", "unsigned short" };
	static const char *const words[] = { "u32", "s32", "int", "unsigned int" };

	for (size_t i = 0; i < 4; i++) {
		if (tp_is(type, bytes[i]))
			return 0xff;
		if (tp_is(type, halves[i]))
			return 0xffff;
		if (tp_is(type, words[i]))
			return 0xffffffff;
	}
	return UINT64_MAX;
}

/*
 * "(unsigned long)" in front of something: only words and stars between the parentheses, and behind
 * them what a value can begin with. Passes it, and tells the type.
 */
static bool skip_cast(struct tp_parser *p, struct tp_text *ret_type)
{
	const struct tp_text before = p->rest;
	struct tp_text word = next_word(p);
	bool any = false;

	*ret_type = (struct tp_text){ word.p, 0 };
	while (word.n) {
		if (isdigit((unsigned char)*word.p) || tp_is(word, "REC"))
			goto none;
		any = true;
		ret_type->n = (size_t)(word.p + word.n - ret_type->p);
		word = next_word(p);
	}
	while (any && tp_skip(p, '*'))
		ret_type->n = (size_t)(p->rest.p - ret_type->p);
	if (!any || !tp_skip(p, ')'))
		goto none;
	skip_blanks(p);
	if (p->rest.n && (is_word(*p->rest.p) || *p->rest.p == '(' || *p->rest.p == '"'))
		return true;
none:
	p->rest = before;
	return false;
}

static int parse_unary(struct tp_parser *p, uint32_t *ret);

static int parse_parenthesis(struct tp_parser *p, uint32_t *ret)
{
	struct tp_text type;
	int r;

	if (skip_cast(p, &type)) {
		struct tp_node node = { .type = TP_CAST, .value = mask_of_type(type) };

		r = parse_unary(p, &node.a);
		return r == 0 ? put_folded(p, &node, ret) : r;
	}
	r = tp_parse_expression(p, ret);
	return r == 0 && !tp_skip(p, ')') ? -EBADMSG : r;
}

static int parse_primary(struct tp_parser *p, uint32_t *ret)
{
	struct tp_node node = { .type = TP_STRING };
	int r;

	skip_blanks(p);
	if (!p->rest.n)
		return -EBADMSG;
	if (*p->rest.p == '"') {
		r = tp_parse_string(p, &node.text);
		return r == 0 ? put(p, &node, ret) : r;
	}
	r = isdigit((unsigned char)*p->rest.p) ? parse_number(p, ret)
	    : tp_skip(p, '(')                  ? parse_parenthesis(p, ret)
					       : parse_word(p, ret);
	while (r == 0 && tp_skip(p, '[')) {
		node = (struct tp_node){ .type = TP_INDEX, .a = *ret };
		r = tp_parse_expression(p, &node.b);
		if (r == 0 && !tp_skip(p, ']'))
			r = -EBADMSG;
		if (r == 0)
			r = put(p, &node, ret);
	}
	return r;
}

static int parse_unary(struct tp_parser *p, uint32_t *ret)
{
	static const struct {
		char c;
		enum tp_op op;
	} ops[] = { { '!', TP_NOT }, { '~', TP_INVERT }, { '-', TP_MINUS }, { '+', TP_PLUS } };
	struct tp_node node = { .type = TP_UNARY };
	int r;

	if (++p->depth > DEPTH_MAX)
		return -EBADMSG;
	for (size_t i = 0; i < 4 && !node.op; i++)
		if (tp_skip(p, ops[i].c))
			node.op = ops[i].op;
	if (!node.op) {
		r = parse_primary(p, ret);
	} else {
		r = parse_unary(p, &node.a);
		if (r == 0)
			r = put_folded(p, &node, ret);
	}
	p->depth--;
	return r;
}

/* Longer ones before those that they begin with. */
static const struct {
	const char *text;
	enum tp_op op;
	int precedence;
} binaries[] = {
	{ "||", TP_OR_OR, 1 },      { "&&", TP_AND_AND, 2 },
	{ "==", TP_EQUAL, 6 },      { "!=", TP_UNEQUAL, 6 },
	{ "<<", TP_SHIFT_LEFT, 8 }, { ">>", TP_SHIFT_RIGHT, 8 },
	{ "<=", TP_LESS_EQUAL, 7 }, { ">=", TP_GREATER_EQUAL, 7 },
	{ "<", TP_LESS, 7 },        { ">", TP_GREATER, 7 },
	{ "|", TP_OR, 3 },          { "^", TP_XOR, 4 },
	{ "&", TP_AND, 5 },         { "+", TP_PLUS, 9 },
	{ "-", TP_MINUS, 9 },       { "*", TP_TIMES, 10 },
	{ "/", TP_DIVIDE, 10 },     { "%", TP_MODULO, 10 },
};

static int parse_binary(struct tp_parser *p, int least, uint32_t *ret)
{
	int r = parse_unary(p, ret);

	while (r == 0) {
		const struct tp_text before = p->rest;
		struct tp_node node = { .type = TP_BINARY, .a = *ret };
		size_t i = 0;

		while (i < sizeof(binaries) / sizeof(binaries[0]) &&
		       !skip_word(p, binaries[i].text))
			i++;
		if (i == sizeof(binaries) / sizeof(binaries[0]))
			break;
		if (binaries[i].precedence < least) {
			p->rest = before;
			break;
		}
		node.op = binaries[i].op;
		if (++p->depth > DEPTH_MAX)
			return -EBADMSG;
		r = parse_binary(p, binaries[i].precedence + 1, &node.b);
		p->depth--;
		if (r == 0)
			r = put_folded(p, &node, ret);
	}
	return r;
}

int tp_parse_expression(struct tp_parser *p, uint32_t *ret)
{
	struct tp_node node = { .type = TP_CHOICE };
	int r;

	if (++p->depth > DEPTH_MAX)
		return -EBADMSG;
	r = parse_binary(p, 1, ret);
	if (r == 0 && tp_skip(p, '?')) {
		node.a = *ret;
		r = tp_parse_expression(p, &node.b);
		if (r == 0 && !tp_skip(p, ':'))
			r = -EBADMSG;
		if (r == 0)
			r = tp_parse_expression(p, &node.c);
		if (r == 0)
			r = put(p, &node, ret);
	}
	p->depth--;
	return r;
}
