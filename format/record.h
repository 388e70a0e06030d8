/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One perf record, decoded or to be encoded: every type and every sample field of the ABI. */
#pragma once

#include "base/buf.h"
#include "base/cursor.h"
#include "base/err.h"
#include "format/abi.h"

#include <stdbool.h>
#include <stdint.h>

/* u64 values in place in a record: not aligned, maybe of the other byte order. */
struct pev_u64s {
	const uint8_t *p;
	uint64_t nr;
	bool swap;
};

/* Value @i, which must be below ->nr. */
static inline uint64_t pev_u64s_at(const struct pev_u64s *a, uint64_t i)
{
	uint64_t v;

	memcpy(&v, a->p + i * 8, sizeof(v));
	return a->swap ? __builtin_bswap64(v) : v;
}

struct pev_bytes {
	const uint8_t *p;
	uint64_t size;
};

/*
 * When and where: from the fields of a SAMPLE, or from the sample_id trailer of any other kernel
 * record. ->has tells which of the PEV_SAMPLE_{TID,TIME,ID,STREAM_ID,CPU,IDENTIFIER} were there;
 * the others are 0. ->id is filled from either ID or IDENTIFIER.
 */
struct pev_sample_id {
	uint64_t has;
	uint32_t pid, tid;
	uint64_t time;
	uint64_t id;
	uint64_t stream_id;
	uint32_t cpu, cpu_res;
};

struct pev_read_value {
	uint64_t value, id, lost; /* id and lost are 0 where the format has none */
};

/* struct read_format: one counter, or with PEV_FORMAT_GROUP all of a group. */
struct pev_read_values {
	bool group;
	bool has_id, has_lost;
	uint64_t nr;
	uint64_t time_enabled, time_running;
	struct pev_read_value one; /* without ->group */
	struct pev_u64s words;     /* with ->group: value, [id], [lost] of each counter */
};

/* Counter @i of @values, which must be below ->nr. */
struct pev_read_value pev_read_values_at(const struct pev_read_values *values, uint64_t i);

struct pev_regs {
	uint64_t abi;  /* PEV_REGS_ABI_*; with NONE there are no values */
	uint64_t mask; /* attr.sample_regs_*: which registers, lowest bit first */
	struct pev_u64s values;
};

struct pev_branch_stack {
	uint64_t nr;
	uint64_t hw_idx;          /* with PEV_BRANCH_HW_INDEX; 0 where Linux left it out */
	struct pev_u64s entries;  /* 3 words each: from, to, flags; use pev_branch_at() */
	struct pev_u64s counters; /* a word each, with PEV_BRANCH_COUNTERS */
};

/* struct perf_branch_entry */
struct pev_branch {
	uint64_t from, to;
	bool mispred, predicted, in_tx, abort;
	uint16_t cycles;                    /* since the branch before */
	uint8_t type, spec, new_type, priv; /* PERF_BR_* */
};

/* Branch @i of @b, which must be below ->nr; 0 is the latest. */
struct pev_branch pev_branch_at(const struct pev_branch_stack *b, uint64_t i);

struct pev_stack_user {
	struct pev_bytes data; /* as dumped; what lies beyond ->dyn_size is rubbish */
	uint64_t dyn_size;     /* bytes that are stack; 0 when ->data is empty */
	size_t offset;         /* of the u64 size word within the record */
};

/* The fields that are not in attr.sample_type are 0. */
struct pev_sample {
	uint64_t ip;
	uint64_t addr;
	uint64_t period;
	struct pev_read_values read;
	struct pev_u64s callchain;
	struct pev_bytes raw;
	struct pev_branch_stack branch_stack;
	struct pev_regs regs_user;
	struct pev_stack_user stack_user;
	uint64_t weight; /* WEIGHT, or the union perf_sample_weight of WEIGHT_STRUCT */
	uint64_t data_src;
	uint64_t transaction;
	struct pev_regs regs_intr;
	uint64_t phys_addr;
	uint64_t cgroup;
	uint64_t data_page_size;
	uint64_t code_page_size;
	struct pev_bytes aux;
};

struct pev_mmap {
	uint32_t pid, tid;
	uint64_t start, len, pgoff;
	/* MMAP2 only; identity is the build-id with PEV_MISC_MMAP_BUILD_ID in the decoded misc,
	 * which may lack the bit where the bytes have it: Linux sets it for some that hold an
	 * inode. */
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags; /* 0 where the kernel was too old to tell */
	uint8_t build_id_size;
	uint8_t build_id[PEV_BUILD_ID_MAX];
	const char *filename;
};

/* A record. Pointers point into the bytes that were decoded and live as long as those. */
struct pev_record {
	struct pev_rec_hdr hdr; /* in host byte order */
	struct pev_sample_id id;
	union {
		struct pev_mmap mmap; /* MMAP, MMAP2 */
		struct {
			uint64_t id, lost;
		} lost;
		struct {
			uint32_t pid, tid;
			const char *comm;
		} comm;
		struct {
			uint32_t pid, ppid, tid, ptid;
			uint64_t time;
		} task; /* FORK, EXIT */
		struct {
			uint64_t time, id, stream_id;
		} throttle; /* THROTTLE, UNTHROTTLE */
		struct {
			uint32_t pid, tid;
			struct pev_read_values values;
		} read;
		struct pev_sample sample;
		struct {
			uint64_t offset, size, flags;
		} aux;
		struct {
			uint32_t pid, tid;
		} itrace_start;
		struct {
			uint64_t lost;
		} lost_samples;
		struct {
			uint32_t pid, tid; /* next on the way out, previous on the way in */
		} switch_cpu_wide;
		struct {
			uint32_t pid, tid;
			uint64_t nr;
			struct pev_u64s links; /* 2 words each: device, inode */
		} namespaces;
		struct {
			uint64_t addr;
			uint32_t len;
			uint16_t type, flags;
			const char *name;
		} ksymbol;
		struct {
			uint16_t type, flags;
			uint32_t prog_id;
			uint8_t tag[PEV_BPF_TAG_SIZE];
		} bpf_event;
		struct {
			uint64_t id;
			const char *path;
		} cgroup;
		struct {
			uint64_t addr;
			struct pev_bytes old_code, new_code;
		} text_poke;
		struct {
			uint64_t hw_id;
		} aux_output_hw_id;
		struct {
			uint64_t cookie;
			struct pev_u64s callchain;
		} callchain_deferred;
	};
	size_t rest; /* bytes that the known fields left over */
};

/*
 * Decodes one record of the kernel (type below PEV_REC_USER_START) that lies at @bytes, @size bytes
 * of it being there, written by an event with the attributes @attr. A SAMPLE is read by
 * attr->sample_type and the fields that steer it; any other record by its type, with the trailer
 * found from its end when sample_id_all is set. @swap: the bytes are of the other byte order.
 *
 * 0; -ENODATA when fewer than header.size bytes are there; -EBADMSG when the record contradicts
 * itself; -EPROTONOSUPPORT for a type that this ABI does not have (->hdr is filled). On failure
 * *ret is otherwise unspecified.
 */
int pev_record_decode(const struct pev_attr *attr, const void *bytes, size_t size, bool swap,
		      struct pev_record *ret, struct pev_err *err);

/*
 * Appends the record to @buf: the body from the union, then the trailer from ->id, as @attr asks.
 * hdr.size is computed, hdr.type and hdr.misc are taken; strings are padded to 8 bytes. The inverse
 * of pev_record_decode(). -E2BIG when it would not fit a u16 size, -ENOMEM, -EPROTONOSUPPORT for a
 * type that this ABI does not have; then the bytes of @buf are as they were.
 */
int pev_record_encode(const struct pev_attr *attr, const struct pev_record *rec,
		      struct pev_buf *buf);

/*
 * KSYMBOL, BPF_EVENT and TEXT_POKE: the kernel hands one record to every event that wants it and
 * adds the size of each one's trailer to the same header.size, so that those after the first are
 * too large: the trailer comes right behind the body, then rubbish from the ring (seen with
 * Linux 6.18; perf_event_ksymbol_output() and its like lack what perf_event_comm_output() does to
 * restore the size). The identifier is not their last word. What is too much is ->rest after
 * pev_record_decode().
 */
static inline bool pev_rec_may_be_oversized(uint32_t type)
{
	return type == PEV_REC_KSYMBOL || type == PEV_REC_BPF_EVENT || type == PEV_REC_TEXT_POKE;
}

/* Bytes of the sample_id trailer that records of this event end with; 0 without sample_id_all. */
size_t pev_sample_id_size(const struct pev_attr *attr);

/*
 * The event id of a record that lies whole at @bytes, without decoding it: IDENTIFIER is the first
 * word of a SAMPLE and the last of any other record (perf_event_open(2), PERF_SAMPLE_IDENTIFIER),
 * unless that is oversized (above). Only for events that have it and sample_id_all. 0 when the
 * record is too short.
 */
static inline uint64_t pev_record_identifier(const uint8_t *bytes, bool swap)
{
	struct pev_rec_hdr hdr;
	uint64_t id;

	memcpy(&hdr, bytes, sizeof(hdr));
	if (swap) {
		hdr.type = __builtin_bswap32(hdr.type);
		hdr.size = __builtin_bswap16(hdr.size);
	}
	if (hdr.size < sizeof(hdr) + sizeof(id))
		return 0;
	memcpy(&id,
	       hdr.type == PEV_REC_SAMPLE ? bytes + sizeof(hdr) : bytes + hdr.size - sizeof(id),
	       sizeof(id));
	return swap ? __builtin_bswap64(id) : id;
}

/* "MMAP2" and so on, as perf script spells them after PERF_RECORD_; NULL for a type no ABI has. */
const char *pev_rec_type_name(uint32_t type);
