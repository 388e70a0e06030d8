// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The body of PERF_RECORD_SAMPLE, read and written in the order of the kernel's
 * perf_output_sample(), which is not the order of the bits.
 */
#include "format/sample.h"

static unsigned int words_per_value(const struct pev_read_values *values)
{
	return 1U + values->has_id + values->has_lost;
}

struct pev_read_value pev_read_values_at(const struct pev_read_values *values, uint64_t i)
{
	uint64_t w = i * words_per_value(values);
	struct pev_read_value v = { 0 };

	if (!values->group)
		return values->one;
	v.value = pev_u64s_at(&values->words, w++);
	if (values->has_id)
		v.id = pev_u64s_at(&values->words, w++);
	if (values->has_lost)
		v.lost = pev_u64s_at(&values->words, w);
	return v;
}

struct pev_branch pev_branch_at(const struct pev_branch_stack *b, uint64_t i)
{
	static const uint8_t widths[] = { 1, 1, 1, 1, 16, 4, 2, 4, 3 };
	const bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	const bool big = host_is_big != b->entries.swap;
	const uint64_t flags = pev_u64s_at(&b->entries, 3 * i + 2);
	uint64_t v[sizeof(widths)];
	unsigned int at = 0;

	/* A bit-field, whose first member is at the lowest bit of the word for one byte order and
	 * at the highest for the other. */
	for (size_t k = 0; k < sizeof(widths); at += widths[k++])
		v[k] = flags >> (big ? 64 - at - widths[k] : at) & ((1U << widths[k]) - 1);
	return (struct pev_branch){
		.from = pev_u64s_at(&b->entries, 3 * i),
		.to = pev_u64s_at(&b->entries, 3 * i + 1),
		.mispred = v[0],
		.predicted = v[1],
		.in_tx = v[2],
		.abort = v[3],
		.cycles = (uint16_t)v[4],
		.type = (uint8_t)v[5],
		.spec = (uint8_t)v[6],
		.new_type = (uint8_t)v[7],
		.priv = (uint8_t)v[8],
	};
}

/*
 * single: value [time_enabled] [time_running] [id] [lost]
 * group:  nr [time_enabled] [time_running] { value [id] [lost] } * nr
 */
void pev_read_values_decode(struct pev_cursor *c, uint64_t read_format, struct pev_read_values *ret)
{
	uint64_t first;

	*ret = (struct pev_read_values){
		.group = read_format & PEV_FORMAT_GROUP,
		.has_id = read_format & PEV_FORMAT_ID,
		.has_lost = read_format & PEV_FORMAT_LOST,
	};
	first = pev_cursor_u64(c);
	if (read_format & PEV_FORMAT_TOTAL_TIME_ENABLED)
		ret->time_enabled = pev_cursor_u64(c);
	if (read_format & PEV_FORMAT_TOTAL_TIME_RUNNING)
		ret->time_running = pev_cursor_u64(c);
	if (ret->group) {
		if (first > pev_cursor_left(c) / 8) {
			c->failed = true;
			return;
		}
		ret->nr = first;
		ret->words = pev_cursor_u64s(c, first * words_per_value(ret));
		return;
	}
	ret->nr = 1;
	ret->one.value = first;
	if (ret->has_id)
		ret->one.id = pev_cursor_u64(c);
	if (ret->has_lost)
		ret->one.lost = pev_cursor_u64(c);
}

void pev_read_values_encode(struct pev_buf *buf, uint64_t read_format,
			    const struct pev_read_values *values)
{
	const bool group = read_format & PEV_FORMAT_GROUP;

	pev_buf_u64(buf, group ? values->nr : values->one.value);
	if (read_format & PEV_FORMAT_TOTAL_TIME_ENABLED)
		pev_buf_u64(buf, values->time_enabled);
	if (read_format & PEV_FORMAT_TOTAL_TIME_RUNNING)
		pev_buf_u64(buf, values->time_running);
	for (uint64_t i = 0; i < (group ? values->nr : 1); i++) {
		const struct pev_read_value v = pev_read_values_at(values, i);

		if (group)
			pev_buf_u64(buf, v.value);
		if (read_format & PEV_FORMAT_ID)
			pev_buf_u64(buf, v.id);
		if (read_format & PEV_FORMAT_LOST)
			pev_buf_u64(buf, v.lost);
	}
}

/*
 * What Linux leaves out of a branch stack where the branch_sample_type promises it
 * (perf_output_sample()): of a sample that was taken without one everything but nr; and the
 * counters of a PMU that has none.
 */
enum branch_quirk {
	AS_PROMISED,
	EMPTY_HAS_NO_HW_INDEX,
	NO_COUNTERS,
	BRANCH_QUIRKS,
};

static void decode_branch_stack(struct pev_cursor *c, uint64_t branch_sample_type,
				enum branch_quirk quirk, struct pev_branch_stack *b)
{
	b->nr = pev_cursor_u64(c);
	if (branch_sample_type & PEV_BRANCH_HW_INDEX && (b->nr || quirk != EMPTY_HAS_NO_HW_INDEX))
		b->hw_idx = pev_cursor_u64(c);
	if (b->nr > pev_cursor_left(c) / 24) {
		c->failed = true;
		return;
	}
	b->entries = pev_cursor_u64s(c, 3 * b->nr);
	if (branch_sample_type & PEV_BRANCH_COUNTERS && quirk != NO_COUNTERS)
		b->counters = pev_cursor_u64s(c, b->nr);
}

static void decode_regs(struct pev_cursor *c, uint64_t mask, struct pev_regs *regs)
{
	regs->mask = mask;
	regs->abi = pev_cursor_u64(c);
	if (regs->abi != PEV_REGS_ABI_NONE)
		regs->values = pev_cursor_u64s(c, (uint64_t)__builtin_popcountll(mask));
}

static struct pev_bytes decode_bytes(struct pev_cursor *c, uint64_t size)
{
	const uint8_t *const p = pev_cursor_bytes(c, size);

	return (struct pev_bytes){ .p = p, .size = p ? size : 0 };
}

static void decode_stack_user(struct pev_cursor *c, const uint8_t *record,
			      struct pev_stack_user *stack)
{
	uint64_t size;

	stack->offset = (size_t)(c->p - record);
	size = pev_cursor_u64(c);
	if (!size) /* then the kernel leaves dyn_size out as well */
		return;
	stack->data = decode_bytes(c, size);
	stack->dyn_size = pev_cursor_u64(c);
	if (stack->dyn_size > size)
		c->failed = true;
}

/* The fields that come before any of variable length. */
static void decode_fixed(struct pev_cursor *c, const struct pev_attr *attr, struct pev_record *ret)
{
	const uint64_t type = attr->sample_type;
	struct pev_sample *const s = &ret->sample;
	struct pev_sample_id *const id = &ret->id;

	memset(id, 0, sizeof(*id));
	memset(s, 0, sizeof(*s));
	id->has = type & PEV_SAMPLE_ID_BITS;
	if (type & PEV_SAMPLE_IDENTIFIER)
		id->id = pev_cursor_u64(c);
	if (type & PEV_SAMPLE_IP)
		s->ip = pev_cursor_u64(c);
	if (type & PEV_SAMPLE_TID) {
		id->pid = pev_cursor_u32(c);
		id->tid = pev_cursor_u32(c);
	}
	if (type & PEV_SAMPLE_TIME)
		id->time = pev_cursor_u64(c);
	if (type & PEV_SAMPLE_ADDR)
		s->addr = pev_cursor_u64(c);
	if (type & PEV_SAMPLE_ID)
		id->id = pev_cursor_u64(c);
	if (type & PEV_SAMPLE_STREAM_ID)
		id->stream_id = pev_cursor_u64(c);
	if (type & PEV_SAMPLE_CPU) {
		id->cpu = pev_cursor_u32(c);
		id->cpu_res = pev_cursor_u32(c);
	}
	if (type & PEV_SAMPLE_PERIOD)
		s->period = pev_cursor_u64(c);
}

static void decode_sample(struct pev_cursor *c, const struct pev_attr *attr, const uint8_t *record,
			  enum branch_quirk quirk, struct pev_record *ret)
{
	const uint64_t type = attr->sample_type;
	struct pev_sample *const s = &ret->sample;

	decode_fixed(c, attr, ret);
	if (type & PEV_SAMPLE_READ)
		pev_read_values_decode(c, attr->read_format, &s->read);
	if (type & PEV_SAMPLE_CALLCHAIN) {
		const uint64_t nr = pev_cursor_u64(c);

		s->callchain = pev_cursor_u64s(c, nr);
	}
	if (type & PEV_SAMPLE_RAW) {
		/* The size is such that with its own four bytes it is a multiple of 8. */
		const uint32_t size = pev_cursor_u32(c);

		s->raw = decode_bytes(c, size);
	}
	if (type & PEV_SAMPLE_BRANCH_STACK)
		decode_branch_stack(c, attr->branch_sample_type, quirk, &s->branch_stack);
	if (type & PEV_SAMPLE_REGS_USER)
		decode_regs(c, attr->sample_regs_user, &s->regs_user);
	if (type & PEV_SAMPLE_STACK_USER)
		decode_stack_user(c, record, &s->stack_user);
	if (type & (PEV_SAMPLE_WEIGHT | PEV_SAMPLE_WEIGHT_STRUCT))
		s->weight = pev_cursor_u64(c);
	if (type & PEV_SAMPLE_DATA_SRC)
		s->data_src = pev_cursor_u64(c);
	if (type & PEV_SAMPLE_TRANSACTION)
		s->transaction = pev_cursor_u64(c);
	if (type & PEV_SAMPLE_REGS_INTR)
		decode_regs(c, attr->sample_regs_intr, &s->regs_intr);
	if (type & PEV_SAMPLE_PHYS_ADDR)
		s->phys_addr = pev_cursor_u64(c);
	if (type & PEV_SAMPLE_CGROUP)
		s->cgroup = pev_cursor_u64(c);
	if (type & PEV_SAMPLE_DATA_PAGE_SIZE)
		s->data_page_size = pev_cursor_u64(c);
	if (type & PEV_SAMPLE_CODE_PAGE_SIZE)
		s->code_page_size = pev_cursor_u64(c);
	if (type & PEV_SAMPLE_AUX) {
		const uint64_t size = pev_cursor_u64(c);

		s->aux = decode_bytes(c, size);
	}
}

void pev_sample_decode(struct pev_cursor *c, const struct pev_attr *attr, const uint8_t *record,
		       struct pev_record *ret)
{
	const struct pev_cursor start = *c;

	decode_sample(c, attr, record, AS_PROMISED, ret);
	if (!(attr->sample_type & PEV_SAMPLE_BRANCH_STACK) || (!c->failed && !pev_cursor_left(c)))
		return;
	for (enum branch_quirk quirk = AS_PROMISED + 1; quirk < BRANCH_QUIRKS; quirk++) {
		*c = start;
		decode_sample(c, attr, record, quirk, ret);
		if (!c->failed && !pev_cursor_left(c))
			return;
	}
	*c = start;
	decode_sample(c, attr, record, AS_PROMISED, ret);
}

static void encode_u64s(struct pev_buf *buf, const struct pev_u64s *a)
{
	for (uint64_t i = 0; i < a->nr; i++)
		pev_buf_u64(buf, pev_u64s_at(a, i));
}

static void encode_regs(struct pev_buf *buf, const struct pev_regs *regs)
{
	pev_buf_u64(buf, regs->abi);
	if (regs->abi != PEV_REGS_ABI_NONE)
		encode_u64s(buf, &regs->values);
}

/* The fields that come before any of variable length. */
static void encode_fixed(struct pev_buf *buf, uint64_t type, const struct pev_record *rec)
{
	if (type & PEV_SAMPLE_IDENTIFIER)
		pev_buf_u64(buf, rec->id.id);
	if (type & PEV_SAMPLE_IP)
		pev_buf_u64(buf, rec->sample.ip);
	if (type & PEV_SAMPLE_TID) {
		pev_buf_u32(buf, rec->id.pid);
		pev_buf_u32(buf, rec->id.tid);
	}
	if (type & PEV_SAMPLE_TIME)
		pev_buf_u64(buf, rec->id.time);
	if (type & PEV_SAMPLE_ADDR)
		pev_buf_u64(buf, rec->sample.addr);
	if (type & PEV_SAMPLE_ID)
		pev_buf_u64(buf, rec->id.id);
	if (type & PEV_SAMPLE_STREAM_ID)
		pev_buf_u64(buf, rec->id.stream_id);
	if (type & PEV_SAMPLE_CPU) {
		pev_buf_u32(buf, rec->id.cpu);
		pev_buf_u32(buf, rec->id.cpu_res);
	}
	if (type & PEV_SAMPLE_PERIOD)
		pev_buf_u64(buf, rec->sample.period);
}

void pev_sample_encode(struct pev_buf *buf, const struct pev_attr *attr,
		       const struct pev_record *rec)
{
	const uint64_t type = attr->sample_type;
	const struct pev_sample *const s = &rec->sample;

	encode_fixed(buf, type, rec);
	if (type & PEV_SAMPLE_READ)
		pev_read_values_encode(buf, attr->read_format, &s->read);
	if (type & PEV_SAMPLE_CALLCHAIN) {
		pev_buf_u64(buf, s->callchain.nr);
		encode_u64s(buf, &s->callchain);
	}
	if (type & PEV_SAMPLE_RAW) {
		pev_buf_u32(buf, (uint32_t)s->raw.size);
		pev_buf_put(buf, s->raw.p, s->raw.size);
	}
	if (type & PEV_SAMPLE_BRANCH_STACK) {
		pev_buf_u64(buf, s->branch_stack.nr);
		if (attr->branch_sample_type & PEV_BRANCH_HW_INDEX)
			pev_buf_u64(buf, s->branch_stack.hw_idx);
		encode_u64s(buf, &s->branch_stack.entries);
		encode_u64s(buf, &s->branch_stack.counters);
	}
	if (type & PEV_SAMPLE_REGS_USER)
		encode_regs(buf, &s->regs_user);
	if (type & PEV_SAMPLE_STACK_USER) {
		pev_buf_u64(buf, s->stack_user.data.size);
		pev_buf_put(buf, s->stack_user.data.p, s->stack_user.data.size);
		if (s->stack_user.data.size)
			pev_buf_u64(buf, s->stack_user.dyn_size);
	}
	if (type & (PEV_SAMPLE_WEIGHT | PEV_SAMPLE_WEIGHT_STRUCT))
		pev_buf_u64(buf, s->weight);
	if (type & PEV_SAMPLE_DATA_SRC)
		pev_buf_u64(buf, s->data_src);
	if (type & PEV_SAMPLE_TRANSACTION)
		pev_buf_u64(buf, s->transaction);
	if (type & PEV_SAMPLE_REGS_INTR)
		encode_regs(buf, &s->regs_intr);
	if (type & PEV_SAMPLE_PHYS_ADDR)
		pev_buf_u64(buf, s->phys_addr);
	if (type & PEV_SAMPLE_CGROUP)
		pev_buf_u64(buf, s->cgroup);
	if (type & PEV_SAMPLE_DATA_PAGE_SIZE)
		pev_buf_u64(buf, s->data_page_size);
	if (type & PEV_SAMPLE_CODE_PAGE_SIZE)
		pev_buf_u64(buf, s->code_page_size);
	if (type & PEV_SAMPLE_AUX) {
		pev_buf_u64(buf, s->aux.size);
		pev_buf_put(buf, s->aux.p, s->aux.size);
	}
}
