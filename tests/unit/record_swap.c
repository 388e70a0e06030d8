// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What every record type looks like, written down a second time: one line of widths per type, and
 * the sample as the kernel's perf_output_sample() puts it out. A record that the encoder shaped in
 * another way does not end where the walk ends.
 */
#include "test.h"

#include "record_make.h"

#include <string.h>

struct walk {
	uint8_t *p, *end;
};

static uint8_t *pass(struct walk *w, uint64_t n)
{
	uint8_t *const p = w->p;

	assert_true(n <= (uint64_t)(w->end - w->p));
	w->p += n;
	return p;
}

/* Swaps the next integer of @width bytes; returns what it was. */
static uint64_t swap(struct walk *w, unsigned int width)
{
	uint8_t *const p = pass(w, width);
	uint64_t value = 0;

	for (unsigned int i = 0; i < width; i++) {
		const unsigned int at =
			__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? i : width - 1 - i;

		value |= (uint64_t)p[at] << 8 * i;
	}
	for (unsigned int i = 0; i < width / 2; i++) {
		const uint8_t byte = p[i];

		p[i] = p[width - 1 - i];
		p[width - 1 - i] = byte;
	}
	return value;
}

static void swap_n(struct walk *w, uint64_t nr, unsigned int width)
{
	for (uint64_t i = 0; i < nr; i++)
		(void)swap(w, width);
}

/* "448": two u32 and a u64; "s": the rest is a string or bytes; "2": a u16; "1": a byte. */
static void swap_fields(struct walk *w, const char *widths)
{
	for (; *widths; widths++) {
		if (*widths == 's')
			w->p = w->end;
		else
			(void)swap(w, (unsigned int)(*widths - '0'));
	}
}

static void swap_read_format(struct walk *w, uint64_t format)
{
	const uint64_t times = (format & PEV_FORMAT_TOTAL_TIME_ENABLED ? 1U : 0) +
			       (format & PEV_FORMAT_TOTAL_TIME_RUNNING ? 1U : 0);
	const uint64_t extras =
		(format & PEV_FORMAT_ID ? 1U : 0) + (format & PEV_FORMAT_LOST ? 1U : 0);
	const uint64_t first = swap(w, 8);

	swap_n(w, times, 8);
	swap_n(w, format & PEV_FORMAT_GROUP ? first * (1 + extras) : extras, 8);
}

static void swap_regs(struct walk *w, uint64_t mask)
{
	if (swap(w, 8) != PEV_REGS_ABI_NONE)
		swap_n(w, (uint64_t)__builtin_popcountll(mask), 8);
}

static void swap_sample(const struct pev_attr *attr, struct walk *w)
{
	/* Of the fields up to the read values: one character is the width of one integer. */
	static const struct {
		uint64_t bit;
		const char *widths;
	} first[] = {
		{ PEV_SAMPLE_IDENTIFIER, "8" }, { PEV_SAMPLE_IP, "8" },	  { PEV_SAMPLE_TID, "44" },
		{ PEV_SAMPLE_TIME, "8" },	{ PEV_SAMPLE_ADDR, "8" }, { PEV_SAMPLE_ID, "8" },
		{ PEV_SAMPLE_STREAM_ID, "8" },	{ PEV_SAMPLE_CPU, "44" }, { PEV_SAMPLE_PERIOD, "8" },
	}, last[] = {
		{ PEV_SAMPLE_PHYS_ADDR, "8" }, { PEV_SAMPLE_CGROUP, "8" },
		{ PEV_SAMPLE_DATA_PAGE_SIZE, "8" }, { PEV_SAMPLE_CODE_PAGE_SIZE, "8" },
	};
	const uint64_t type = attr->sample_type, branch = attr->branch_sample_type;

	for (size_t i = 0; i < PEV_ARRAY_SIZE(first); i++)
		if (type & first[i].bit)
			swap_fields(w, first[i].widths);
	if (type & PEV_SAMPLE_READ)
		swap_read_format(w, attr->read_format);
	if (type & PEV_SAMPLE_CALLCHAIN)
		swap_n(w, swap(w, 8), 8);
	if (type & PEV_SAMPLE_RAW)
		(void)pass(w, swap(w, 4));
	if (type & PEV_SAMPLE_BRANCH_STACK) {
		const uint64_t nr = swap(w, 8);

		swap_n(w, branch & PEV_BRANCH_HW_INDEX ? 1 : 0, 8);
		swap_n(w, 3 * nr, 8);
		swap_n(w, branch & PEV_BRANCH_COUNTERS ? nr : 0, 8);
	}
	if (type & PEV_SAMPLE_REGS_USER)
		swap_regs(w, attr->sample_regs_user);
	if (type & PEV_SAMPLE_STACK_USER) {
		const uint64_t size = swap(w, 8);

		(void)pass(w, size);
		swap_n(w, size ? 1 : 0, 8);
	}
	if (type & (PEV_SAMPLE_WEIGHT | PEV_SAMPLE_WEIGHT_STRUCT))
		(void)swap(w, 8);
	if (type & PEV_SAMPLE_DATA_SRC)
		(void)swap(w, 8);
	if (type & PEV_SAMPLE_TRANSACTION)
		(void)swap(w, 8);
	if (type & PEV_SAMPLE_REGS_INTR)
		swap_regs(w, attr->sample_regs_intr);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(last); i++)
		if (type & last[i].bit)
			swap_fields(w, last[i].widths);
	if (type & PEV_SAMPLE_AUX)
		(void)pass(w, swap(w, 8));
}

/* Takes the trailer off the end of the walk. */
static void swap_trailer(const struct pev_attr *attr, struct walk *w)
{
	static const struct {
		uint64_t bit;
		const char *widths;
	} fields[] = {
		{ PEV_SAMPLE_IDENTIFIER, "8" }, { PEV_SAMPLE_CPU, "44" },
		{ PEV_SAMPLE_STREAM_ID, "8" },  { PEV_SAMPLE_ID, "8" },
		{ PEV_SAMPLE_TIME, "8" },       { PEV_SAMPLE_TID, "44" },
	};

	for (size_t i = 0; i < PEV_ARRAY_SIZE(fields); i++) {
		if (!(attr->sample_type & fields[i].bit))
			continue;
		w->end -= 8;
		swap_fields(&(struct walk){ w->end, w->end + 8 }, fields[i].widths);
	}
}

static void swap_body(const struct pev_attr *attr, uint32_t type, uint64_t misc, struct walk *w)
{
	static const char *const widths[] = {
		[PEV_REC_MMAP] = "44888s",
		[PEV_REC_LOST] = "88",
		[PEV_REC_COMM] = "44s",
		[PEV_REC_EXIT] = "44448",
		[PEV_REC_THROTTLE] = "888",
		[PEV_REC_UNTHROTTLE] = "888",
		[PEV_REC_FORK] = "44448",
		[PEV_REC_READ] = "44",
		[PEV_REC_MMAP2] = "44888448844s",
		[PEV_REC_AUX] = "888",
		[PEV_REC_ITRACE_START] = "44",
		[PEV_REC_LOST_SAMPLES] = "8",
		[PEV_REC_SWITCH] = "",
		[PEV_REC_SWITCH_CPU_WIDE] = "44",
		[PEV_REC_NAMESPACES] = "44",
		[PEV_REC_KSYMBOL] = "8422s",
		[PEV_REC_BPF_EVENT] = "224s",
		[PEV_REC_CGROUP] = "8s",
		[PEV_REC_TEXT_POKE] = "822s",
		[PEV_REC_AUX_OUTPUT_HW_ID] = "8",
		[PEV_REC_CALLCHAIN_DEFERRED] = "8",
	};

	if (type == PEV_REC_MMAP2 && misc & PEV_MISC_MMAP_BUILD_ID) {
		swap_fields(w, "44888");
		(void)pass(w, 4 + PEV_BUILD_ID_MAX);
		swap_fields(w, "44s");
		return;
	}
	swap_fields(w, widths[type]);
	if (type == PEV_REC_READ)
		swap_read_format(w, attr->read_format);
	else if (type == PEV_REC_NAMESPACES)
		swap_n(w, 2 * swap(w, 8), 8);
	else if (type == PEV_REC_CALLCHAIN_DEFERRED)
		swap_n(w, swap(w, 8), 8);
}

void swap_record(const struct pev_attr *attr, uint8_t *bytes, size_t size)
{
	struct walk w = { bytes, bytes + size };
	const uint32_t type = (uint32_t)swap(&w, 4);
	const uint64_t misc = swap(&w, 2);

	assert_int_equal(swap(&w, 2), size);
	if (type == PEV_REC_SAMPLE) {
		swap_sample(attr, &w);
	} else {
		if (attr->flags & PEV_ATTR_SAMPLE_ID_ALL)
			swap_trailer(attr, &w);
		swap_body(attr, type, misc, &w);
	}
	assert_ptr_equal(w.p, w.end);
}
