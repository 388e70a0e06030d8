// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Attributes in files. On a machine of the same byte order the file holds struct pev_attr itself,
 * cut at some size; on the other one each field is turned on its own, and the flag word, a
 * bit-field for the kernel, in a way of its own.
 */
#include "format/attr.h"

#include "base/checked.h"

#include <errno.h>
#include <inttypes.h>

static uint8_t reverse_bits(uint8_t byte)
{
	uint8_t reversed = 0;

	for (unsigned int i = 0; i < 8; i++)
		reversed = (uint8_t)(reversed | ((byte >> i & 1) << (7 - i)));
	return reversed;
}

/*
 * Bit-fields are laid out from the first byte on by every ABI, from the lowest bit of a byte where
 * the order is little-endian and from the highest where it is big-endian: bytes stay where they
 * are, bits turn within them.
 */
static void swap_bit_field(void *word, size_t size)
{
	uint8_t *const bytes = word;

	for (size_t i = 0; i < size; i++)
		bytes[i] = reverse_bits(bytes[i]);
}

static void swap_flags(uint64_t *flags)
{
	uint64_t precise;

	swap_bit_field(flags, sizeof(*flags));
	/* The only field of two bits: turned as a row of bits its halves have changed places. (perf
	 * overlooks that, and shows a precise_ip of 1 from the other byte order as 2.) */
	precise = *flags >> PEV_ATTR_PRECISE_IP_SHIFT & 3;
	precise = (precise & 1) << 1 | precise >> 1;
	*flags = (*flags & ~PEV_ATTR_PRECISE_IP_MASK) | precise << PEV_ATTR_PRECISE_IP_SHIFT;
}

static void swap_attr(struct pev_attr *attr)
{
	uint64_t *const words[] = {
		&attr->config,
		&attr->sample_period,
		&attr->sample_type,
		&attr->read_format,
		&attr->config1,
		&attr->config2,
		&attr->branch_sample_type,
		&attr->sample_regs_user,
		&attr->sample_regs_intr,
		&attr->sig_data,
		&attr->config3,
		&attr->config4,
	};
	uint32_t *const halves[] = {
		&attr->type,
		&attr->size,
		&attr->wakeup,
		&attr->bp_type,
		&attr->sample_stack_user,
		&attr->aux_watermark,
		&attr->aux_sample_size,
	};

	for (size_t i = 0; i < PEV_ARRAY_SIZE(words); i++)
		*words[i] = __builtin_bswap64(*words[i]);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(halves); i++)
		*halves[i] = __builtin_bswap32(*halves[i]);
	attr->clockid = (int32_t)__builtin_bswap32((uint32_t)attr->clockid);
	attr->sample_max_stack = __builtin_bswap16(attr->sample_max_stack);
	attr->reserved_2 = __builtin_bswap16(attr->reserved_2);
	swap_flags(&attr->flags);
	swap_bit_field(&attr->aux_action, sizeof(attr->aux_action));
}

int pev_attr_decode(struct pev_cursor *c, size_t size, struct pev_attr *ret, struct pev_err *err)
{
	const size_t left = pev_cursor_left(c);
	struct pev_attr attr = { 0 };
	const uint8_t *p;

	if (size < PEV_ATTR_SIZE_VER0)
		return pev_err_set(err, -EBADMSG,
				   "event attributes take %zu bytes, but never less than %d", size,
				   PEV_ATTR_SIZE_VER0);
	p = pev_cursor_bytes(c, size);
	if (!p)
		return pev_err_set(err, -ENODATA,
				   "event attributes take %zu bytes, but only %zu are left", size,
				   left);
	memcpy(&attr, p, PEV_MIN(size, sizeof(attr)));
	if (c->swap)
		swap_attr(&attr);
	if (attr.size == 0)
		attr.size = PEV_ATTR_SIZE_VER0;
	if (attr.size < PEV_ATTR_SIZE_VER0)
		return pev_err_set(err, -EBADMSG,
				   "event attributes claim a size of %" PRIu32
				   ", but it is never less than %d",
				   attr.size, PEV_ATTR_SIZE_VER0);
	*ret = attr;
	return 0;
}

void pev_attr_encode(struct pev_buf *buf, const struct pev_attr *attr, size_t size)
{
	const size_t known = PEV_MIN(size, sizeof(*attr));

	pev_buf_put(buf, attr, known);
	pev_buf_zero(buf, size - known);
}

struct bit_name {
	uint64_t bit;
	const char *name;
};

#define BIT_NAME(prefix, name)               \
	{                                    \
		PEV_##prefix##_##name, #name \
	}

/* In perf's order. It has no name for TRANSACTION and prints nothing for it; nor do we. */
static const struct bit_name sample_types[] = {
	BIT_NAME(SAMPLE, IP),
	BIT_NAME(SAMPLE, TID),
	BIT_NAME(SAMPLE, TIME),
	BIT_NAME(SAMPLE, ADDR),
	BIT_NAME(SAMPLE, READ),
	BIT_NAME(SAMPLE, CALLCHAIN),
	BIT_NAME(SAMPLE, ID),
	BIT_NAME(SAMPLE, CPU),
	BIT_NAME(SAMPLE, PERIOD),
	BIT_NAME(SAMPLE, STREAM_ID),
	BIT_NAME(SAMPLE, RAW),
	BIT_NAME(SAMPLE, BRANCH_STACK),
	BIT_NAME(SAMPLE, REGS_USER),
	BIT_NAME(SAMPLE, STACK_USER),
	BIT_NAME(SAMPLE, IDENTIFIER),
	BIT_NAME(SAMPLE, REGS_INTR),
	BIT_NAME(SAMPLE, DATA_SRC),
	BIT_NAME(SAMPLE, WEIGHT),
	BIT_NAME(SAMPLE, PHYS_ADDR),
	BIT_NAME(SAMPLE, AUX),
	BIT_NAME(SAMPLE, CGROUP),
	BIT_NAME(SAMPLE, DATA_PAGE_SIZE),
	BIT_NAME(SAMPLE, CODE_PAGE_SIZE),
	BIT_NAME(SAMPLE, WEIGHT_STRUCT),
	{ PEV_SAMPLE_TRANSACTION, NULL },
	{ 0, NULL },
};

static const struct bit_name read_formats[] = {
	BIT_NAME(FORMAT, TOTAL_TIME_ENABLED),
	BIT_NAME(FORMAT, TOTAL_TIME_RUNNING),
	BIT_NAME(FORMAT, ID),
	BIT_NAME(FORMAT, GROUP),
	BIT_NAME(FORMAT, LOST),
	{ 0, NULL },
};

static const struct bit_name branch_types[] = {
	BIT_NAME(BRANCH, USER),      BIT_NAME(BRANCH, KERNEL),    BIT_NAME(BRANCH, HV),
	BIT_NAME(BRANCH, ANY),       BIT_NAME(BRANCH, ANY_CALL),  BIT_NAME(BRANCH, ANY_RETURN),
	BIT_NAME(BRANCH, IND_CALL),  BIT_NAME(BRANCH, ABORT_TX),  BIT_NAME(BRANCH, IN_TX),
	BIT_NAME(BRANCH, NO_TX),     BIT_NAME(BRANCH, COND),      BIT_NAME(BRANCH, CALL_STACK),
	BIT_NAME(BRANCH, IND_JUMP),  BIT_NAME(BRANCH, CALL),      BIT_NAME(BRANCH, NO_FLAGS),
	BIT_NAME(BRANCH, NO_CYCLES), BIT_NAME(BRANCH, TYPE_SAVE), BIT_NAME(BRANCH, HW_INDEX),
	BIT_NAME(BRANCH, PRIV_SAVE), BIT_NAME(BRANCH, COUNTERS),  { 0, NULL },
};

struct flag_name {
	unsigned int shift, width;
	const char *name;
};

/* By bit, with the kernel's names. */
static const struct flag_name flag_names[] = {
	{ 0, 1, "disabled" },
	{ 1, 1, "inherit" },
	{ 2, 1, "pinned" },
	{ 3, 1, "exclusive" },
	{ 4, 1, "exclude_user" },
	{ 5, 1, "exclude_kernel" },
	{ 6, 1, "exclude_hv" },
	{ 7, 1, "exclude_idle" },
	{ 8, 1, "mmap" },
	{ 9, 1, "comm" },
	{ 10, 1, "freq" },
	{ 11, 1, "inherit_stat" },
	{ 12, 1, "enable_on_exec" },
	{ 13, 1, "task" },
	{ 14, 1, "watermark" },
	{ PEV_ATTR_PRECISE_IP_SHIFT, 2, "precise_ip" },
	{ 17, 1, "mmap_data" },
	{ 18, 1, "sample_id_all" },
	{ 19, 1, "exclude_host" },
	{ 20, 1, "exclude_guest" },
	{ 21, 1, "exclude_callchain_kernel" },
	{ 22, 1, "exclude_callchain_user" },
	{ 23, 1, "mmap2" },
	{ 24, 1, "comm_exec" },
	{ 25, 1, "use_clockid" },
	{ 26, 1, "context_switch" },
	{ 27, 1, "write_backward" },
	{ 28, 1, "namespaces" },
	{ 29, 1, "ksymbol" },
	{ 30, 1, "bpf_event" },
	{ 31, 1, "aux_output" },
	{ 32, 1, "cgroup" },
	{ 33, 1, "text_poke" },
	{ 34, 1, "build_id" },
	{ 35, 1, "inherit_thread" },
	{ 36, 1, "remove_on_exec" },
	{ 37, 1, "sigtrap" },
	{ 38, 1, "defer_callchain" },
	{ 39, 1, "defer_output" },
};

struct printer {
	FILE *out;
	const char *equals;
	bool any; /* something was printed: the next one needs a comma */
};

static void print_name(struct printer *p, const char *name)
{
	fprintf(p->out, "%s%s%s", p->any ? ", " : "", name, p->equals);
	p->any = true;
}

static void print_unsigned(struct printer *p, const char *name, uint64_t value)
{
	if (!value)
		return;
	print_name(p, name);
	fprintf(p->out, "%" PRIu64, value);
}

static void print_hex(struct printer *p, const char *name, uint64_t value)
{
	if (!value)
		return;
	print_name(p, name);
	fprintf(p->out, "%#" PRIx64, value);
}

/* The names of the bits, and in hex what has none: bits of a newer kernel. */
static void print_bits(struct printer *p, const char *name, uint64_t value,
		       const struct bit_name *names)
{
	const char *bar = "";
	uint64_t unknown = value;

	if (!value)
		return;
	print_name(p, name);
	for (; names->bit; names++) {
		unknown &= ~names->bit;
		if (!(value & names->bit) || !names->name)
			continue;
		fprintf(p->out, "%s%s", bar, names->name);
		bar = "|";
	}
	if (unknown)
		fprintf(p->out, "%s%#" PRIx64, bar, unknown);
}

static void print_flags(struct printer *p, uint64_t flags)
{
	for (size_t i = 0; i < PEV_ARRAY_SIZE(flag_names); i++) {
		const struct flag_name *const flag = &flag_names[i];

		print_unsigned(p, flag->name, flags >> flag->shift & ((1U << flag->width) - 1));
	}
}

void pev_attr_print(const struct pev_attr *attr, const char *equals, FILE *out)
{
	struct printer p = { .out = out, .equals = equals };

	print_unsigned(&p, "type", attr->type);
	print_unsigned(&p, "size", attr->size);
	print_hex(&p, "config", attr->config);
	print_unsigned(&p, "{ sample_period, sample_freq }", attr->sample_period);
	print_bits(&p, "sample_type", attr->sample_type, sample_types);
	print_bits(&p, "read_format", attr->read_format, read_formats);
	print_flags(&p, attr->flags);
	print_unsigned(&p, "{ wakeup_events, wakeup_watermark }", attr->wakeup);
	print_unsigned(&p, "bp_type", attr->bp_type);
	print_hex(&p, "{ bp_addr, config1 }", attr->config1);
	print_hex(&p, "{ bp_len, config2 }", attr->config2);
	print_bits(&p, "branch_sample_type", attr->branch_sample_type, branch_types);
	print_hex(&p, "sample_regs_user", attr->sample_regs_user);
	print_unsigned(&p, "sample_stack_user", attr->sample_stack_user);
	if (attr->clockid) {
		print_name(&p, "clockid");
		fprintf(out, "%" PRId32, attr->clockid);
	}
	print_hex(&p, "sample_regs_intr", attr->sample_regs_intr);
	print_unsigned(&p, "aux_watermark", attr->aux_watermark);
	print_unsigned(&p, "sample_max_stack", attr->sample_max_stack);
	print_unsigned(&p, "aux_sample_size", attr->aux_sample_size);
	print_unsigned(&p, "sig_data", attr->sig_data);
	print_unsigned(&p, "aux_start_paused", !!(attr->aux_action & PEV_AUX_START_PAUSED));
	print_unsigned(&p, "aux_pause", !!(attr->aux_action & PEV_AUX_PAUSE));
	print_unsigned(&p, "aux_resume", !!(attr->aux_action & PEV_AUX_RESUME));
}
