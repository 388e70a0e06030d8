// SPDX-License-Identifier: LGPL-2.1-or-later
/* The fields are in the order of process_event() in perf's builtin-script.c. */
#include "report/script_part.h"

#include "base/checked.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>

/* Branch Trace Store: branches as samples, one each, which come from sample.ip and go to .addr. */
static bool is_bts(const struct pev_attr *attr)
{
	const uint64_t branch_instructions = 4;

	return attr->type == PEV_TYPE_HARDWARE && attr->config == branch_instructions &&
	       attr->sample_period == 1;
}

/* Whether sample.addr is one of memory, where symbols are. */
static bool has_memory_address(const struct pev_attr *attr)
{
	return is_bts(attr) ||
	       (attr->type == PEV_TYPE_SOFTWARE &&
		(attr->config == PEV_SW_PAGE_FAULTS || attr->config == PEV_SW_PAGE_FAULTS_MIN ||
		 attr->config == PEV_SW_PAGE_FAULTS_MAJ));
}

static int print_addr(struct script *s, const struct pev_reader_record *rec, uint64_t fields)
{
	const uint64_t addr = rec->rec.sample.addr;
	struct pev_code code;
	int r;

	pev_out_hex(&s->out, addr, 16);
	if (!has_memory_address(&rec->event->attr))
		return 0;
	r = script_resolve(s, rec, addr, &code);
	return r == 0 ? script_print_address(s, &code, fields) : r;
}

/* Code: the chain on lines of its own, or where the sample was on this one. */
static int print_code(struct script *s, const struct pev_reader_record *rec, uint64_t fields)
{
	if (s->chains && script_has_chain(&rec->event->attr)) {
		pev_out_char(&s->out, '\n');
		return script_print_chain(s, fields);
	}
	pev_out_char(&s->out, ' ');
	return script_print_code(s, &s->chain.self, fields);
}

/* "4K", "2M"; never less than two of a unit but of bytes. */
static void print_page_size(struct script *s, uint64_t size)
{
	size_t unit = 0;

	for (; size / 1024 > 1 && unit < 3; unit++)
		size /= 1024;
	if (size)
		pev_out_printf(&s->out, " %" PRIu64 "%c", size, "BKMG"[unit]);
	else
		pev_out_str(&s->out, " N/A");
}

/* What a BPF program wrote: as bytes, eight a line, and as a string if it is one. */
static void print_bpf_output(struct script *s, const struct pev_bytes *raw)
{
	const size_t n = raw->size;
	bool printable = true, ended = false;

	pev_out_char(&s->out, '\n');
	for (size_t i = 0; i < n; i += 8) {
		const size_t end = PEV_MIN(i + 8, n);

		pev_out_right(&s->out, i ? "           " : "BPF output:", 17);
		pev_out_printf(&s->out, " %04zx:", i);
		for (size_t j = i; j < i + 8; j++)
			if (j < end)
				pev_out_printf(&s->out, " %02x", raw->p[j]);
			else
				pev_out_put(&s->out, "   ", 3);
		pev_out_put(&s->out, "  ", 2);
		for (size_t j = i; j < end; j++) {
			const unsigned char c = raw->p[j];

			if (ended && c)
				printable = false;
			if (!isprint(c) && printable) {
				ended |= !c;
				printable = !c;
			}
			pev_out_char(&s->out, isprint(c) ? (char)c : '.');
		}
		for (size_t j = end; j < i + 8; j++)
			pev_out_char(&s->out, ' ');
		pev_out_char(&s->out, '\n');
	}
	if (printable && ended)
		pev_out_printf(&s->out, "%17s \"%s\"\n", "BPF string:", (const char *)raw->p);
}

static bool is_bpf_output(const struct pev_attr *attr)
{
	return attr->type == PEV_TYPE_SOFTWARE && attr->config == PEV_SW_BPF_OUTPUT;
}

static bool symbol_at(void *arg, uint64_t address, bool offset, struct pev_buf *text)
{
	struct script *const s = arg;
	const struct pev_frame *frames;
	struct pev_code code;
	int nr;

	if (pev_resolver_at(s->resolver, 0, UINT32_MAX, PEV_MISC_KERNEL, address, &code, NULL) < 0)
		return false;
	nr = pev_resolver_name(s->resolver, &code, &frames, NULL);
	if (nr < 1 || !frames[nr - 1].name)
		return false;
	pev_buf_printf(text, "%s", frames[nr - 1].name);
	if (offset)
		pev_buf_printf(text, "+0x%" PRIx64, frames[nr - 1].offset);
	return true;
}

/* The formats are read when the first tracepoint is met. */
static int print_tracepoint(struct script *s, const struct pev_reader_record *rec,
			    struct script_trace *trace)
{
	const struct pev_tracepoint_names names = { .symbol = symbol_at, .arg = s };
	const struct pev_bytes *const raw = &rec->rec.sample.raw;
	const struct pev_tracepoint *t;

	if (!trace->tracepoints_known) {
		const struct pev_trace_head head = pev_reader_head(s->reader, rec->trace);

		trace->tracepoints_known = true;
		if (pev_features_has(head.features, PEV_FEAT_TRACING_DATA)) {
			const int r = pev_tracepoints_new(&head.features->tracing_data,
							  &trace->tracepoints, s->err);

			if (r < 0)
				return r;
		}
	}
	if (!trace->tracepoints || !raw->size)
		return 0;
	t = pev_tracepoints_find(trace->tracepoints, rec->event->attr.config);
	if (t)
		pev_tracepoint_print(t, raw, &names, &s->out.buf);
	return 0;
}

static int print_bts(struct script *s, const struct pev_reader_record *rec,
		     const struct pev_script_type *type)
{
	int r = 0;

	if (type->fields & PEV_SCRIPT_IP)
		r = print_code(s, rec, type->fields);
	if (r == 0 && (type->fields & PEV_SCRIPT_ADDR ||
		       (rec->event->attr.sample_type & PEV_SAMPLE_ADDR && !type->set))) {
		pev_out_put(&s->out, " => ", 4);
		r = print_addr(s, rec, type->fields);
	}
	pev_out_char(&s->out, '\n');
	return r;
}

/* What the memory system says of a load or a store. */
static void print_memory(struct script *s, const struct pev_reader_record *rec, uint64_t fields)
{
	const bool parts = rec->event->attr.sample_type & PEV_SAMPLE_WEIGHT_STRUCT;
	const uint64_t w = rec->rec.sample.weight;

	if (fields & PEV_SCRIPT_DATA_SRC)
		script_print_data_src(s, rec->rec.sample.data_src);
	/* union perf_sample_weight: u32 latency, u16 of the instruction, u16 of its retirement */
	if (fields & PEV_SCRIPT_WEIGHT)
		pev_out_dec(&s->out, parts ? (uint32_t)w : w, 16);
	if (fields & PEV_SCRIPT_INS_LAT)
		pev_out_dec(&s->out, w >> 32 & 0xffff, 16);
	if (fields & PEV_SCRIPT_RETIRE_LAT)
		pev_out_dec(&s->out, w >> 48, 16);
	if (fields & PEV_SCRIPT_CGROUP) {
		const char *const path =
			pev_resolver_cgroup(s->resolver, rec->trace, rec->rec.sample.cgroup);

		pev_out_char(&s->out, ' ');
		pev_out_str(&s->out, path ? path : "unknown");
	}
}

/* What comes behind the code. */
static int print_rest(struct script *s, const struct pev_reader_record *rec,
		      const struct script_trace *trace, uint64_t fields)
{
	const struct pev_sample *const sample = &rec->rec.sample;
	int r = 0;

	if (fields & PEV_SCRIPT_IREGS)
		script_print_regs(s, &sample->regs_intr, trace->arch);
	if (fields & PEV_SCRIPT_UREGS)
		script_print_regs(s, &sample->regs_user, trace->arch);
	if (fields & (PEV_SCRIPT_BRSTACK | PEV_SCRIPT_BRSTACKSYM | PEV_SCRIPT_BRSTACKOFF))
		r = script_print_branches(s, rec, fields);
	if (fields & PEV_SCRIPT_BPF_OUTPUT && is_bpf_output(&rec->event->attr))
		print_bpf_output(s, &sample->raw);
	if (fields & PEV_SCRIPT_PHYS_ADDR)
		pev_out_hex(&s->out, sample->phys_addr, 16);
	if (fields & PEV_SCRIPT_DATA_PAGE_SIZE)
		print_page_size(s, sample->data_page_size);
	if (fields & PEV_SCRIPT_CODE_PAGE_SIZE)
		print_page_size(s, sample->code_page_size);
	return r;
}

static int print_body(struct script *s, const struct pev_reader_record *rec,
		      struct script_trace *trace, const struct pev_script_type *type)
{
	const uint64_t fields = type->fields;
	int r = 0;

	if (fields & PEV_SCRIPT_PERIOD) {
		pev_out_dec(&s->out, rec->rec.sample.period, 10);
		pev_out_char(&s->out, ' ');
	}
	if (fields & PEV_SCRIPT_EVENT) {
		pev_out_right(&s->out, rec->event->name ? rec->event->name : "[unknown]",
			      trace->name_width);
		pev_out_put(&s->out, ": ", 2);
	}
	/* Only hardware traces have some. */
	if (fields & PEV_SCRIPT_FLAGS)
		pev_out_right(&s->out, "", 24);
	if (is_bts(&rec->event->attr))
		return print_bts(s, rec, type);
	if (fields & PEV_SCRIPT_TRACE)
		r = print_tracepoint(s, rec, trace);
	if (r == 0 && fields & PEV_SCRIPT_ADDR)
		r = print_addr(s, rec, fields);
	print_memory(s, rec, fields);
	if (r == 0 && fields & PEV_SCRIPT_IP)
		r = print_code(s, rec, fields);
	if (r == 0)
		r = print_rest(s, rec, trace, fields);
	pev_out_char(&s->out, '\n');
	return r;
}

int script_print_sample(struct script *s, const struct pev_reader_record *rec,
			struct script_trace *trace)
{
	const struct pev_attr *const attr = &rec->event->attr;
	const struct pev_script_type *const type = pev_script_type_of(&trace->fields, attr);
	struct pev_sample_id id = rec->rec.id;
	const char *comm;

	if (!type->fields)
		return 0;
	comm = pev_resolver_comm(s->resolver, rec->trace, id.pid, id.tid);
	if (!comm)
		return pev_err_set(s->err, -ENOMEM, "no memory for the names of threads");
	if (s->nr_traces > 1)
		id.time = rec->time_ns;
	script_print_head(s, rec, trace, &id, comm, attr, type->fields);
	return print_body(s, rec, trace, type);
}
