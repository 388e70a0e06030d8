/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between the files that print samples; others use report/script.h. */
#pragma once

#include "format/reader.h"
#include "report/index.h"
#include "report/out.h"
#include "report/script.h"
#include "report/tracepoints.h"
#include "unwind/demangle.h"

/* A text that was made once, and where it is. */
struct script_text {
	struct pev_code code;
	uint64_t how; /* fields that it has */
	bool chain;   /* a frame of a chain, else what stands behind the sample on its line */
	size_t at, size;
};

struct script_texts {
	struct script_text *v;
	uint32_t nr, cap;
	struct pev_index index;
	struct pev_buf bytes;
};

/* What is known of an event of a trace. */
struct script_event {
	const struct pev_script_type *type; /* what is printed of it */
	const struct pev_tracepoint *tracepoint;
	bool tracepoint_known; /* it was looked for */
};

struct script_trace {
	bool ready; /* the fields were fitted to it */
	struct pev_script_fields fields;
	struct pev_tracepoints *tracepoints; /* owned; NULL: there are none */
	bool tracepoints_known;
	size_t name_width; /* of the longest name of its events */
	const char *arch;
	uint64_t wall_offset; /* from its clock to CLOCK_REALTIME */
	bool has_wall;
};

struct script {
	const struct pev_script_options *options;
	struct pev_filter filter;
	struct pev_reader *reader;
	struct pev_resolver *resolver;
	struct pev_out out;
	struct pev_chain chain;
	struct script_texts texts;
	struct pev_demangler *demangler; /* of the style's names; NULL: those of the resolver */
	struct script_trace *traces;
	size_t nr_traces;
	bool chains;                    /* printed where there are some */
	uint64_t first_time, last_time; /* that were printed */
	size_t data_src_width;          /* of the longest so far */
	struct pev_err *err;
};

/* script_head.c: what every line starts with. */
void script_print_head(struct script *s, const struct pev_reader_record *rec,
		       const struct script_trace *trace, const struct pev_sample_id *id,
		       const char *comm, const struct pev_attr *attr, uint64_t fields);

/* script_code.c: the names of code. */
int script_print_chain(struct script *s, uint64_t fields);
int script_print_code(struct script *s, const struct pev_code *code, uint64_t fields);
/* Only "sym+0xoff (dso)", what the fields have of it; behind a blank. */
int script_print_address(struct script *s, const struct pev_code *code, uint64_t fields);
int script_print_symbol(struct script *s, const struct pev_code *code, bool offset);
int script_print_dso(struct script *s, const struct pev_code *code);
/* What is at an address of data or code that a sample tells of, beside its own. */
int script_resolve(struct script *s, const struct pev_reader_record *rec, uint64_t address,
		   struct pev_code *ret);
void script_texts_done(struct script_texts *t);

/* script_sample.c */
int script_print_sample(struct script *s, const struct pev_reader_record *rec,
			struct script_trace *trace);

/* script_record.c: a record that is no sample. */
void script_print_record(struct script *s, const struct pev_reader_record *rec,
			 struct script_trace *trace);

/* script_memory.c */
void script_print_data_src(struct script *s, uint64_t data_src);

/* script_branch.c */
int script_print_branches(struct script *s, const struct pev_reader_record *rec, uint64_t fields);

/* script_regs.c */
void script_print_regs(struct script *s, const struct pev_regs *regs, const char *arch);

static inline bool script_has_chain(const struct pev_attr *attr)
{
	return attr->sample_type & PEV_SAMPLE_CALLCHAIN;
}
