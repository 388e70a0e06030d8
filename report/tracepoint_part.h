/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between the files that print tracepoints; others use report/tracepoints.h. */
#pragma once

#include "report/tracepoints.h"

#include <stddef.h>
#include <stdint.h>

/* A piece of the format file, which stays in memory. */
struct tp_text {
	const char *p;
	size_t n;
};

/* A field of the record, from a line of the format file. */
struct tp_field {
	struct tp_text name;
	uint32_t offset, size;
	uint32_t element_size; /* of an array */
	bool is_array, is_string, is_pointer, is_signed, is_long;
	/* The field tells where the data is: u16 offset, u16 size; from the start of the record, or
	 * with ->is_relative from behind the field. */
	bool is_dynamic, is_relative;
	bool is_common; /* every tracepoint has it */
};

enum tp_node_type {
	TP_NUMBER,
	TP_NAME,           /* of a constant that the kernel did not turn into a number */
	TP_STRING,         /* a literal */
	TP_FIELD,          /* REC->field */
	TP_CAST,           /* ->value: bits that are left, ->a: of what */
	TP_UNARY,          /* ->op ->a */
	TP_BINARY,         /* ->a ->op ->b */
	TP_CHOICE,         /* ->a ? ->b : ->c */
	TP_INDEX,          /* ->a [ ->b ] */
	TP_FLAGS,          /* __print_flags(->a, ->text, ->pairs) */
	TP_SYMBOLIC,       /* __print_symbolic(->a, ->pairs) */
	TP_HEX,            /* __print_hex(->a, ->b), with blanks between */
	TP_HEX_STR,        /* without */
	TP_ARRAY,          /* __print_array(->a, ->b elements of ->c bytes) */
	TP_GET_STR,        /* __get_str(field) */
	TP_DYNAMIC,        /* __get_dynamic_array(field) */
	TP_DYNAMIC_LENGTH, /* __get_dynamic_array_len(field) */
	TP_BITMASK,        /* __get_bitmask(field) */
};

enum tp_op {
	TP_OP_NONE,
	TP_NOT,
	TP_INVERT,
	TP_OR_OR,
	TP_AND_AND,
	TP_OR,
	TP_XOR,
	TP_AND,
	TP_EQUAL,
	TP_UNEQUAL,
	TP_LESS,
	TP_GREATER,
	TP_LESS_EQUAL,
	TP_GREATER_EQUAL,
	TP_SHIFT_LEFT,
	TP_SHIFT_RIGHT,
	TP_PLUS,
	TP_MINUS,
	TP_TIMES,
	TP_DIVIDE,
	TP_MODULO,
};

#define TP_NONE UINT32_MAX

/* A node of an expression; others by their index. */
struct tp_node {
	enum tp_node_type type;
	enum tp_op op;
	uint32_t a, b, c;
	uint32_t depth; /* of the tree below it: what a walk over it needs of the stack */
	uint32_t field; /* in ->fields */
	uint32_t first_pair, nr_pairs;
	uint64_t value;
	struct tp_text text;
};

/* { 0x1, "READ" } */
struct tp_pair {
	int64_t value;
	struct tp_text text;
};

/* What one % of the format stands for, or the text between two of them. */
struct tp_piece {
	char conversion;     /* 's', 'd', 'p', ...; 0: only ->text */
	struct tp_text text; /* what is printed, or behind 'p' what kind of pointer it is */
	bool left, zero, alternative;
	int width, precision;            /* -1: none */
	bool star_width, star_precision; /* they are in ->length */
	int size;                        /* -2 char, -1 short, 0 int, 1 long, 2 long long */
	uint32_t length;                 /* node, TP_NONE */
	uint32_t arg;                    /* node */
};

struct pev_tracepoint {
	uint64_t id;
	struct tp_text file; /* the format file */
	bool swap;           /* records are of the other byte order */
	unsigned int long_size;
	bool parsed, failed;     /* ->failed: only the fields are known */
	struct tp_field *fields; /* owned, as all of these */
	struct tp_node *nodes;
	struct tp_pair *pairs;
	struct tp_piece *pieces;
	uint32_t nr_fields, nr_nodes, nr_pairs, nr_pieces;
	uint32_t cap_fields, cap_nodes, cap_pairs, cap_pieces;
	struct pev_buf strings; /* literals, without quotes and escapes; does not grow any more when
				   texts point into it */
};

/* tracepoint_format.c: reads the lines of the fields. -EBADMSG, -ENOMEM. */
int tp_parse_fields(struct pev_tracepoint *t);
/* What follows "print fmt: "; empty when there is none. */
struct tp_text tp_print_format(const struct pev_tracepoint *t);
/* TP_NONE when there is none of that name. */
uint32_t tp_find_field(const struct pev_tracepoint *t, struct tp_text name);

/* tracepoint_parse.c: makes ->pieces out of the print format. -EBADMSG for what it does not know.
 */
int tp_parse_print(struct pev_tracepoint *t);

/* tracepoint_expression.c: an expression of C, up to the comma or the end. */
struct tp_parser {
	struct pev_tracepoint *t;
	struct tp_text rest;
	unsigned int depth;
};
int tp_parse_expression(struct tp_parser *p, uint32_t *ret);
/* A string literal, or several after each other. */
int tp_parse_string(struct tp_parser *p, struct tp_text *ret);
/* Passes blanks, then @c if it is next. */
bool tp_skip(struct tp_parser *p, char c);

/* tracepoint_eval.c: the value of a node for a record. */
struct tp_record {
	const struct pev_tracepoint *t;
	const struct pev_bytes *raw;
	const struct pev_tracepoint_names *names;
};
uint64_t tp_eval(const struct tp_record *r, uint32_t node);
/* A number of @size bytes at @offset; 0 where the record has none. */
uint64_t tp_read(const struct tp_record *r, uint64_t offset, uint64_t size);
/* Where the data of a dynamic field, or the field itself, is; cut to what is there. */
struct pev_bytes tp_field_bytes(const struct tp_record *r, const struct tp_field *f);

/* tracepoint_pointer.c: what %p stands for, by the letters behind it. */
void tp_print_pointer(const struct tp_record *r, const struct tp_piece *piece,
		      struct pev_buf *text);

static inline bool tp_is(struct tp_text t, const char *s)
{
	return t.n == strlen(s) && !memcmp(t.p, s, t.n);
}
