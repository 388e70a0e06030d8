// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "trace_forms.h"

const struct pev_attr form_attr = {
	.type = PEV_TYPE_SOFTWARE,
	.config = PEV_SW_CPU_CLOCK,
	.sample_period = 4000,
	.sample_type = PEV_SAMPLE_IP | PEV_SAMPLE_TID | PEV_SAMPLE_TIME | PEV_SAMPLE_ID,
	.flags = PEV_ATTR_FREQ | PEV_ATTR_COMM | PEV_ATTR_SAMPLE_ID_ALL | PEV_ATTR_INHERIT,
};

void form_hdr(struct maker *m, uint32_t type, uint16_t misc, size_t size)
{
	make_u32(m, type);
	make_u16(m, misc);
	make_u16(m, (uint16_t)size);
}

void form_sample(struct maker *m, uint64_t ip, uint64_t id)
{
	form_hdr(m, PEV_REC_SAMPLE, PEV_MISC_USER, 8 + 4 * 8);
	make_u64(m, ip);
	make_u32(m, 11);
	make_u32(m, 12);
	make_u64(m, 1000 + ip);
	make_u64(m, id);
}

void form_comm(struct maker *m, uint64_t id)
{
	form_hdr(m, PEV_REC_COMM, 0, 8 + 8 + 8 + 24);
	make_u32(m, 11);
	make_u32(m, 12);
	pev_buf_put(m->buf, "other\0\0", 8);
	make_u32(m, 11);
	make_u32(m, 12);
	make_u64(m, 1);
	make_u64(m, id);
}

uint64_t form_id(unsigned int event, unsigned int i)
{
	return 100 * (event + 1) + i;
}

static void put_magic(struct maker *m, const struct form *form, uint64_t size)
{
	const uint64_t v1 = PEV_MAGIC_V1;

	if (form->v1)
		pev_buf_put(m->buf, &v1, sizeof(v1));
	else
		make_u64(m, PEV_MAGIC);
	make_u64(m, size);
}

static struct pev_attr attr_of(const struct form *form, unsigned int event)
{
	struct pev_attr attr = form_attr;

	attr.size = form->attr_size;
	attr.config = event;
	return attr;
}

void form_pipe_head(struct maker *m, const struct form *form)
{
	put_magic(m, form, 16);
	for (unsigned int e = 0; e < form->events + !form->events; e++) {
		const struct pev_attr attr = attr_of(form, e);

		form_hdr(m, PEV_REC_HEADER_ATTR, 0, 8 + form->attr_size + 8 * IDS_PER_EVENT);
		make_attr_bytes(m, &attr, form->attr_size);
		for (unsigned int i = 0; i < IDS_PER_EVENT; i++)
			make_u64(m, form_id(e, i));
	}
}

static void form_section(struct maker *m, uint64_t offset, uint64_t size)
{
	make_u64(m, offset);
	make_u64(m, size);
}

void make_form(const struct form *form, const struct pev_buf *data, struct pev_buf *ret)
{
	struct maker m = { .buf = ret, .swap = form->swap };
	const uint64_t header = form->header_size ? form->header_size : 104;
	const unsigned int events = form->events + !form->events;
	const uint64_t entry = form->attr_size + 16, ids = 8 * IDS_PER_EVENT;
	const uint64_t data_at = header + events * (ids + entry);

	pev_buf_reset(ret);
	if (form->pipe) {
		form_pipe_head(&m, form);
		pev_buf_put(ret, data->data, data->size);
		return;
	}
	put_magic(&m, form, header);
	make_u64(&m, entry);
	form_section(&m, header + events * ids, events * entry);
	form_section(&m, data_at, form->no_size ? 0 : data->size);
	form_section(&m, 0, 0);
	if (header > 72)
		make_u64(&m, 1ULL << PEV_FEAT_HOSTNAME);
	pev_buf_zero(ret, header - ret->size);
	for (unsigned int e = 0; e < events; e++)
		for (unsigned int i = 0; i < IDS_PER_EVENT; i++)
			make_u64(&m, form_id(e, i));
	for (unsigned int e = 0; e < events; e++) {
		const struct pev_attr attr = attr_of(form, e);

		make_attr_bytes(&m, &attr, form->attr_size);
		form_section(&m, header + e * ids, ids);
	}
	assert_int_equal(ret->size, data_at);
	pev_buf_put(ret, data->data, data->size);
	if (header > 72 && !form->no_size) {
		form_section(&m, data_at + data->size + 16, 68);
		make_str(&m, "elsewhere");
	}
}

const struct form trace_forms[] = {
	{ "today", .attr_size = 136 },
	{ "perf 6.1", .attr_size = 128 },
	{ "attr of 120", .attr_size = 120 },
	{ "attr of 112", .attr_size = 112 },
	{ "attr of 104", .attr_size = 104 },
	{ "attr of 96", .attr_size = 96 },
	{ "attr of 80", .attr_size = 80 },
	{ "attr of 72", .attr_size = 72 },
	{ "attr of 64", .attr_size = 64 },
	{ "attr of tomorrow", .attr_size = 200 },
	{ "header without features", .attr_size = 64, .header_size = 72 },
	{ "header of tomorrow", .attr_size = 128, .header_size = 112 },
	{ "killed", .attr_size = 128, .no_size = true },
	{ "two events", .attr_size = 128, .events = 2 },
	{ "version 1", .attr_size = 72, .v1 = true },
	{ "version 1 other byte order", .attr_size = 72, .v1 = true, .swap = true },
	{ "other byte order", .attr_size = 128, .swap = true },
	{ "other byte order two events", .attr_size = 112, .swap = true, .events = 2 },
	{ "pipe", .attr_size = 128, .pipe = true },
	{ "pipe attr of 64", .attr_size = 64, .pipe = true },
	{ "pipe attr of tomorrow", .attr_size = 200, .pipe = true },
	{ "pipe two events", .attr_size = 136, .pipe = true, .events = 2 },
	{ "pipe other byte order", .attr_size = 128, .pipe = true, .swap = true },
};

const size_t nr_trace_forms = PEV_ARRAY_SIZE(trace_forms);
