// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * All in the byte order of the machine that wrote it:
 *
 *   "JiTD" u32, version u32, header bytes u32, ELF machine u32, 0 u32, pid u32, time u64, flags u64
 *
 * then records, each: type u32, bytes u32 (of all of it), time u64, and
 *
 *   0 LOAD       pid u32, tid u32, vma u64, address u64, size u64, index u64, name NUL, code
 *   1 MOVE       pid u32, tid u32, vma u64, old address u64, new address u64, size u64, index u64
 *   2 DEBUG_INFO address u64, nr u64, nr x { address u64, line u32, discriminator u32, file NUL }
 *   3 CLOSE
 *   4 UNWINDING  unwinding size u64, .eh_frame_hdr size u64, mapped size u64, the tables
 *
 * DEBUG_INFO and UNWINDING come before the LOAD that they are about. A file name "\xff" means the
 * one of the line before.
 *
 * Code comes and goes at the same addresses, so entries overlap, and the time tells which one is
 * meant: the entries are sorted by address as an interval tree, in which all that hold an address
 * are found, and the latest of them counts.
 */
#include "unwind/jitdump.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/hash.h"
#include "unwind/radix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC          0x4A695444U
#define HEADER_BYTES   40
#define PREFIX_BYTES   16
#define FLAG_ARCH_TIME 1
/* V8 counts line addresses from the ELF header that "perf inject" puts in front of the code. */
#define V8_ELF_HEADER 0x40

enum {
	JIT_LOAD,
	JIT_MOVE,
	JIT_DEBUG_INFO,
	JIT_CLOSE,
	JIT_UNWINDING,
};

struct line {
	uint64_t addr; /* where the code was when it was loaded */
	const char *file;
	uint32_t line;
};

struct entry {
	uint64_t start, size;
	uint64_t since, until; /* [since, until) */
	uint64_t index;
	uint64_t loaded_at; /* the address that its lines are about */
	const char *name;
	const uint8_t *code;
	const uint8_t *unwinding; /* the whole record of it */
	uint32_t pid, tid;
	uint32_t first_line, nr_lines;
};

/* The latest entry of an index, for moves. */
struct slot {
	uint64_t index;
	uint32_t entry; /* counted from 1; 0: free */
};

struct pev_jitdump {
	struct pev_jitdump_header header;
	struct pev_jitdump_counters counters;
	struct entry *entries; /* in the order of the dump */
	size_t nr, cap;
	struct line *lines;
	size_t nr_lines, cap_lines;

	/* The tree: entry numbers by ->start. The root of [lo, hi) is in the middle. */
	uint32_t *tree;
	uint64_t *max_end; /* of the subtree that is rooted there */
};

struct parser {
	struct pev_jitdump *j;
	struct slot *slots; /* open addressing, a power of two of them */
	size_t nr_slots;
	struct pev_cursor debug; /* of the last DEBUG_INFO, after its header */
	uint64_t debug_addr, debug_nr;
	const uint8_t *unwinding; /* the last UNWINDING, after its prefix */
};

struct pev_jitdump *pev_jitdump_free(struct pev_jitdump *j)
{
	if (j) {
		free(j->entries);
		free(j->lines);
		free(j->tree);
		free(j->max_end);
		free(j);
	}
	return NULL;
}

static void parser_done(struct parser *p)
{
	free(p->slots);
}

static struct slot *find_slot(const struct parser *p, uint64_t index)
{
	size_t i = pev_hash_u64(index) & (p->nr_slots - 1);

	while (p->slots[i].entry && p->slots[i].index != index)
		i = (i + 1) & (p->nr_slots - 1);
	return &p->slots[i];
}

/* Room for one more index. There are at most as many as entries. */
static int grow_slots(struct parser *p)
{
	const size_t old_nr = p->nr_slots;
	_cleanup_free_ struct slot *old = NULL;
	struct slot *slots;

	if (p->j->nr + 1 < old_nr / 2)
		return 0;
	slots = calloc(old_nr ? old_nr * 2 : 64, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	old = p->slots;
	p->slots = slots;
	p->nr_slots = old_nr ? old_nr * 2 : 64;
	for (size_t i = 0; i < old_nr; i++)
		if (old[i].entry)
			*find_slot(p, old[i].index) = old[i];
	return 0;
}

static int add_entry(struct parser *p, const struct entry *entry)
{
	struct pev_jitdump *const j = p->j;
	const int r = grow_slots(p);

	if (r < 0)
		return r;
	if (j->nr == UINT32_MAX - 1)
		return -E2BIG;
	if (j->nr == j->cap) {
		const size_t cap = j->cap ? j->cap * 2 : 256;
		struct entry *const q = reallocarray(j->entries, cap, sizeof(*q));

		if (!q)
			return -ENOMEM;
		j->entries = q;
		j->cap = cap;
	}
	j->entries[j->nr++] = *entry;
	*find_slot(p, entry->index) = (struct slot){ entry->index, (uint32_t)j->nr };
	return 0;
}

static bool is_v8(const char *name)
{
	static const char *const kinds[] = { "JS:", "LazyCompile:", "Function:", "Script:",
					     "Eval:" };

	for (size_t i = 0; i < PEV_ARRAY_SIZE(kinds); i++)
		if (strncmp(name, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return false;
}

static int line_cmp(const void *pa, const void *pb)
{
	const struct line *const a = pa, *const b = pb;

	return (a->addr > b->addr) - (a->addr < b->addr);
}

/* Takes the lines of the last DEBUG_INFO for @entry. */
static int take_lines(struct parser *p, struct entry *entry)
{
	struct pev_jitdump *const j = p->j;
	struct pev_cursor c = p->debug;
	const uint64_t shift = is_v8(entry->name) ? V8_ELF_HEADER : 0;
	const char *file = NULL;
	bool sorted = true;

	entry->first_line = (uint32_t)j->nr_lines;
	for (uint64_t i = 0; i < p->debug_nr && j->nr_lines < UINT32_MAX; i++) {
		struct line line = { .addr = pev_cursor_u64(&c) - shift };
		const uint8_t *name, *end;

		line.line = pev_cursor_u32(&c);
		(void)pev_cursor_u32(&c);
		end = c.failed ? NULL : memchr(c.p, 0, pev_cursor_left(&c));
		if (!end || line.addr - entry->start >= entry->size) {
			j->counters.bad_lines += p->debug_nr - i;
			break;
		}
		name = pev_cursor_bytes(&c, (size_t)(end - c.p) + 1);
		if (name[0] != 0xff || name[1] != 0)
			file = (const char *)name;
		line.file = file;
		if (j->nr_lines == j->cap_lines) {
			const size_t cap = j->cap_lines ? j->cap_lines * 2 : 256;
			struct line *const q = reallocarray(j->lines, cap, sizeof(*q));

			if (!q)
				return -ENOMEM;
			j->lines = q;
			j->cap_lines = cap;
		}
		if (entry->nr_lines++ && line.addr < j->lines[j->nr_lines - 1].addr)
			sorted = false;
		j->lines[j->nr_lines++] = line;
	}
	if (!sorted)
		qsort(j->lines + entry->first_line, entry->nr_lines, sizeof(*j->lines), line_cmp);
	return 0;
}

static int read_load(struct parser *p, struct pev_cursor c, uint64_t time)
{
	struct entry entry = { .since = time, .until = UINT64_MAX };
	const uint8_t *name_end;
	int r;

	entry.pid = pev_cursor_u32(&c);
	entry.tid = pev_cursor_u32(&c);
	(void)pev_cursor_u64(&c);
	entry.start = entry.loaded_at = pev_cursor_u64(&c);
	entry.size = pev_cursor_u64(&c);
	entry.index = pev_cursor_u64(&c);
	name_end = c.failed ? NULL : memchr(c.p, 0, pev_cursor_left(&c));
	if (!name_end || entry.size > UINT64_MAX - entry.start)
		return -EBADMSG;
	entry.name = (const char *)pev_cursor_bytes(&c, (size_t)(name_end - c.p) + 1);
	/* The code ends the record. Some runtimes leave it out. */
	if (entry.size <= pev_cursor_left(&c))
		entry.code = c.end - entry.size;
	entry.unwinding = p->unwinding;
	p->unwinding = NULL;
	if (p->debug_nr && p->debug_addr == entry.start) {
		r = take_lines(p, &entry);
		if (r < 0)
			return r;
	}
	p->debug_nr = 0;
	p->j->counters.loads++;
	return entry.size ? add_entry(p, &entry) : 0;
}

static int read_move(struct parser *p, struct pev_cursor c, uint64_t time)
{
	struct pev_jitdump *const j = p->j;
	struct entry entry;
	uint64_t to, size, index;
	uint32_t pid, tid, old;

	pid = pev_cursor_u32(&c);
	tid = pev_cursor_u32(&c);
	(void)pev_cursor_u64(&c);
	(void)pev_cursor_u64(&c);
	to = pev_cursor_u64(&c);
	size = pev_cursor_u64(&c);
	index = pev_cursor_u64(&c);
	if (c.failed || size > UINT64_MAX - to)
		return -EBADMSG;
	j->counters.moves++;
	old = p->nr_slots ? find_slot(p, index)->entry : 0;
	if (!old || !size) {
		j->counters.unknown_moves++;
		return 0;
	}
	entry = j->entries[old - 1];
	j->entries[old - 1].until = time;
	if (size > entry.size)
		entry.code = NULL;
	entry.start = to;
	entry.size = size;
	entry.since = time;
	entry.pid = pid;
	entry.tid = tid;
	return add_entry(p, &entry);
}

static int read_debug_info(struct parser *p, struct pev_cursor c)
{
	p->debug_addr = pev_cursor_u64(&c);
	p->debug_nr = pev_cursor_u64(&c);
	p->debug = c;
	/* Address, line, discriminator and the NUL of an empty name. */
	if (c.failed || p->debug_nr > pev_cursor_left(&c) / 17) {
		p->debug_nr = 0;
		return -EBADMSG;
	}
	return 0;
}

static int read_unwinding(struct parser *p, struct pev_cursor c)
{
	const uint8_t *const start = c.p;
	uint64_t size, header_size;

	size = pev_cursor_u64(&c);
	header_size = pev_cursor_u64(&c);
	(void)pev_cursor_u64(&c);
	if (c.failed || size > pev_cursor_left(&c) || header_size > size)
		return -EBADMSG;
	p->unwinding = start;
	return 0;
}

static int read_record(struct parser *p, uint32_t type, uint64_t time, struct pev_cursor c)
{
	switch (type) {
	case JIT_LOAD:
		return read_load(p, c, time);
	case JIT_MOVE:
		return read_move(p, c, time);
	case JIT_DEBUG_INFO:
		return read_debug_info(p, c);
	case JIT_CLOSE:
		p->j->counters.closed++;
		return 0;
	case JIT_UNWINDING:
		return read_unwinding(p, c);
	default:
		p->j->counters.unknown++;
		return 0;
	}
}

static int read_records(struct parser *p, struct pev_cursor c)
{
	struct pev_jitdump_counters *const counters = &p->j->counters;

	while (pev_cursor_left(&c)) {
		const size_t left = pev_cursor_left(&c);
		struct pev_cursor record = c;
		const uint32_t type = pev_cursor_u32(&record);
		const uint32_t size = pev_cursor_u32(&record);
		const uint64_t time = pev_cursor_u64(&record);
		int r;

		if (record.failed || size < PREFIX_BYTES || size > left) {
			counters->cut_bytes = left;
			return 0;
		}
		record.end = c.p + size;
		r = read_record(p, type, time, record);
		if (r == -ENOMEM || r == -E2BIG)
			return r;
		counters->records++;
		counters->bad += r == -EBADMSG;
		(void)pev_cursor_bytes(&c, size);
	}
	return 0;
}

/* The largest end of the subtree [lo, hi), and of all subtrees in it. The depth is log2 of nr. */
static uint64_t fill_max_end(struct pev_jitdump *j, size_t lo, size_t hi)
{
	const size_t mid = lo + (hi - lo) / 2;
	uint64_t max;

	if (lo >= hi)
		return 0;
	max = j->entries[j->tree[mid]].start + j->entries[j->tree[mid]].size;
	max = PEV_MAX(max, fill_max_end(j, lo, mid));
	max = PEV_MAX(max, fill_max_end(j, mid + 1, hi));
	j->max_end[mid] = max;
	return max;
}

static int make_tree(struct pev_jitdump *j)
{
	_cleanup_free_ uint64_t *starts = calloc(j->nr + 1, sizeof(*starts));
	int r;

	j->max_end = calloc(j->nr + 1, sizeof(*j->max_end));
	if (!starts || !j->max_end)
		return -ENOMEM;
	for (size_t i = 0; i < j->nr; i++)
		starts[i] = j->entries[i].start;
	r = pev_radix_order(starts, j->nr, &j->tree);
	if (r < 0)
		return r;
	(void)fill_max_end(j, 0, j->nr);
	return 0;
}

static int read_header(struct pev_jitdump *j, struct pev_cursor *c, struct pev_err *err)
{
	const uint8_t *const start = c->p;
	uint32_t magic, size;
	uint64_t flags;

	magic = pev_cursor_u32(c);
	c->swap = magic == __builtin_bswap32(MAGIC);
	if (!c->failed && magic != MAGIC && !c->swap)
		return pev_err_set(err, -EBADMSG, "Not a jitdump: it starts with %#x", magic);
	j->header.swapped = c->swap;
	j->header.version = pev_cursor_u32(c);
	size = pev_cursor_u32(c);
	j->header.machine = pev_cursor_u32(c);
	(void)pev_cursor_u32(c);
	j->header.pid = pev_cursor_u32(c);
	j->header.time = pev_cursor_u64(c);
	flags = pev_cursor_u64(c);
	j->header.arch_time = flags & FLAG_ARCH_TIME;
	if (c->failed)
		return pev_err_set(err, -ENODATA, "The jitdump ends within its header");
	if (j->header.version != 1)
		return pev_err_set(err, -EPROTONOSUPPORT,
				   "The jitdump is of version %u; only 1 is known",
				   j->header.version);
	if (size < HEADER_BYTES)
		return pev_err_set(err, -EBADMSG, "The jitdump's header says it has %u bytes of %d",
				   size, HEADER_BYTES);
	c->p = start;
	if (!pev_cursor_bytes(c, size))
		return pev_err_set(err, -ENODATA, "The jitdump ends within its header");
	return 0;
}

int pev_jitdump_new(const void *bytes, size_t size, struct pev_jitdump **ret, struct pev_err *err)
{
	_cleanup_(pev_jitdump_freep) struct pev_jitdump *j = calloc(1, sizeof(*j));
	_cleanup_(parser_done) struct parser p = { .j = j };
	struct pev_cursor c = pev_cursor(bytes, size);
	int r;

	if (!j)
		return pev_err_set(err, -ENOMEM, "No memory for the jitdump");
	r = read_header(j, &c, err);
	if (r < 0)
		return r;
	r = read_records(&p, c);
	if (r == 0)
		r = make_tree(j);
	if (r < 0)
		return pev_err_set(err, r, "Cannot keep the code of the jitdump: %s",
				   pev_errno_str(r));
	*ret = TAKE_PTR(j);
	return 0;
}

/* The latest entry of the subtree [lo, hi) that holds @addr at @time, or @best if that is later. */
static const struct entry *find_latest(const struct pev_jitdump *j, size_t lo, size_t hi,
				       uint64_t addr, uint64_t time, const struct entry *best)
{
	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;
		const struct entry *const e = &j->entries[j->tree[mid]];

		if (j->max_end[mid] <= addr)
			return best;
		best = find_latest(j, lo, mid, addr, time, best);
		if (e->start > addr)
			return best;
		if (addr - e->start < e->size && e->since <= time &&
		    (time < e->until || e->until == UINT64_MAX) &&
		    (!best || e->since > best->since || (e->since == best->since && e > best)))
			best = e;
		lo = mid + 1;
	}
	return best;
}

bool pev_jitdump_find(const struct pev_jitdump *j, uint64_t addr, uint64_t time,
		      struct pev_jit_code *ret)
{
	const struct entry *const e = find_latest(j, 0, j->nr, addr, time, NULL);

	if (!e)
		return false;
	*ret = (struct pev_jit_code){
		.name = e->name,
		.start = e->start,
		.size = e->size,
		.index = e->index,
		.time = e->since,
		.pid = e->pid,
		.tid = e->tid,
		.code = e->code,
		.code_size = e->code ? e->size : 0,
		.entry = (uint32_t)(e - j->entries),
	};
	if (e->unwinding) {
		/* Checked when it was read. */
		struct pev_cursor c = pev_cursor(e->unwinding, 24);

		c.swap = j->header.swapped;
		ret->unwinding = e->unwinding + 24;
		ret->unwinding_size = pev_cursor_u64(&c);
		ret->eh_frame_hdr_size = pev_cursor_u64(&c);
		ret->mapped_size = pev_cursor_u64(&c);
	}
	return true;
}

bool pev_jitdump_line(const struct pev_jitdump *j, const struct pev_jit_code *code, uint64_t addr,
		      const char **ret_file, uint32_t *ret_line)
{
	const struct entry *const e = &j->entries[code->entry];
	const uint64_t at = addr - e->start + e->loaded_at;
	size_t lo = e->first_line, hi = lo + e->nr_lines;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (j->lines[mid].addr <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == e->first_line || !j->lines[lo - 1].file)
		return false;
	*ret_file = j->lines[lo - 1].file;
	*ret_line = j->lines[lo - 1].line;
	return true;
}

const struct pev_jitdump_header *pev_jitdump_header(const struct pev_jitdump *j)
{
	return &j->header;
}

const struct pev_jitdump_counters *pev_jitdump_counters(const struct pev_jitdump *j)
{
	return &j->counters;
}
