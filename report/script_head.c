// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/script_part.h"

#include "base/checked.h"

#include <time.h>

/* Six columns: in which mode, and what the record says of itself. */
static void print_misc(struct script *s, const struct pev_rec_hdr *hdr)
{
	const unsigned int misc = hdr->misc;
	char text[16];
	size_t n = 0;

	/* perf tests the bits of the mode, which is a number: what is a guest's, or a hypervisor's,
	 * has more letters than one. */
	if ((misc & PEV_MISC_KERNEL) == PEV_MISC_KERNEL)
		text[n++] = 'K';
	if ((misc & PEV_MISC_USER) == PEV_MISC_USER)
		text[n++] = 'U';
	if ((misc & PEV_MISC_HYPERVISOR) == PEV_MISC_HYPERVISOR)
		text[n++] = 'H';
	if ((misc & PEV_MISC_GUEST_KERNEL) == PEV_MISC_GUEST_KERNEL)
		text[n++] = 'G';
	if ((misc & PEV_MISC_GUEST_USER) == PEV_MISC_GUEST_USER)
		text[n++] = 'g';
	switch (hdr->type) {
	case PEV_REC_MMAP:
	case PEV_REC_MMAP2:
		if (misc & PEV_MISC_MMAP_DATA)
			text[n++] = 'M';
		break;
	case PEV_REC_COMM:
		if (misc & PEV_MISC_COMM_EXEC)
			text[n++] = 'E';
		break;
	case PEV_REC_SWITCH:
	case PEV_REC_SWITCH_CPU_WIDE:
		if (misc & PEV_MISC_SWITCH_OUT)
			text[n++] = 'S';
		if (misc & PEV_MISC_SWITCH_OUT && misc & PEV_MISC_SWITCH_OUT_PREEMPT)
			text[n++] = 'p';
		break;
	default:
		break;
	}
	pev_out_put(&s->out, text, n);
	pev_out_right(&s->out, " ", n < 6 ? 6 - n : 1);
}

/* The time of day; local time. */
static void print_tod(struct script *s, const struct script_trace *trace, uint64_t time_ns)
{
	const uint64_t ns = time_ns + trace->wall_offset;
	const time_t t = (time_t)(ns / PEV_NSEC_PER_SEC);
	char text[64] = "";
	struct tm tm;

	if (!trace->has_wall) {
		pev_out_str(&s->out, "disabled ");
		return;
	}
	if (localtime_r(&t, &tm))
		(void)strftime(text, sizeof(text), "%F %H:%M:%S", &tm);
	pev_out_str(&s->out, text);
	pev_out_char(&s->out, '.');
	if (s->options->nanoseconds)
		pev_out_zeros(&s->out, ns % PEV_NSEC_PER_SEC, 9);
	else
		pev_out_zeros(&s->out, ns % PEV_NSEC_PER_SEC / 1000, 6);
	pev_out_char(&s->out, ' ');
}

static void print_time(struct script *s, uint64_t time_ns)
{
	uint64_t t = time_ns;

	if (s->options->relative_time) {
		if (!s->first_time)
			s->first_time = time_ns;
		t -= s->first_time;
	} else if (s->options->delta_time) {
		t = s->last_time ? t - s->last_time : 0;
		s->last_time = time_ns;
	}
	/* "%5lu.%09llu: ", and "%12s: " of what has six decimals. */
	pev_out_dec(&s->out, t / PEV_NSEC_PER_SEC, 5);
	pev_out_char(&s->out, '.');
	if (s->options->nanoseconds)
		pev_out_zeros(&s->out, t % PEV_NSEC_PER_SEC, 9);
	else
		pev_out_zeros(&s->out, t % PEV_NSEC_PER_SEC / 1000, 6);
	pev_out_put(&s->out, ": ", 2);
}

static void print_ids(struct script *s, const struct pev_sample_id *id, uint64_t fields)
{
	const size_t width = s->options->style == PEV_SCRIPT_PERF_6_1 ? 5 : 7;

	if (fields & PEV_SCRIPT_PID)
		pev_out_int(&s->out, (int32_t)id->pid, width);
	if (fields & PEV_SCRIPT_PID && fields & PEV_SCRIPT_TID) {
		pev_out_char(&s->out, '/');
		pev_out_int_left(&s->out, (int32_t)id->tid, width);
	} else if (fields & PEV_SCRIPT_TID) {
		pev_out_int(&s->out, (int32_t)id->tid, width);
	}
	if (fields & (PEV_SCRIPT_PID | PEV_SCRIPT_TID))
		pev_out_char(&s->out, ' ');
}

static void print_cpu(struct script *s, const struct pev_sample_id *id)
{
	/* What does not tell its CPU is printed as perf's (u32)-1. */
	const int32_t cpu = id->has & PEV_SAMPLE_CPU ? (int32_t)id->cpu : -1;

	if (s->options->latency)
		pev_out_int(&s->out, cpu, 3);
	else if (cpu < 0)
		pev_out_printf(&s->out, "[%03d]", (int)cpu);
	else {
		pev_out_char(&s->out, '[');
		pev_out_zeros(&s->out, (uint64_t)cpu, 3);
		pev_out_char(&s->out, ']');
	}
	pev_out_char(&s->out, ' ');
}

void script_print_head(struct script *s, const struct pev_reader_record *rec,
		       const struct script_trace *trace, const struct pev_sample_id *id,
		       const char *comm, const struct pev_attr *attr, uint64_t fields)
{
	if (fields & PEV_SCRIPT_COMM) {
		if (s->options->latency)
			pev_out_printf(&s->out, "%8.8s", comm);
		else if (fields & PEV_SCRIPT_IP && script_has_chain(attr) && s->chains)
			pev_out_str(&s->out, comm);
		else
			pev_out_right(&s->out, comm, 16);
		pev_out_char(&s->out, ' ');
	}
	print_ids(s, id, fields);
	if (fields & PEV_SCRIPT_CPU)
		print_cpu(s, id);
	if (fields & PEV_SCRIPT_MISC)
		print_misc(s, &rec->rec.hdr);
	if (fields & PEV_SCRIPT_TOD)
		print_tod(s, trace, id->time);
	if (fields & PEV_SCRIPT_TIME)
		print_time(s, id->time);
}
