// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From an address to its row, in three steps that each remember their answer:
 *
 *   cache    address -> row     a direct-mapped table of the rows found last; a row says itself
 *                               which addresses it is good for, so a slot needs no key
 *   index    address -> FDE     the table of .eh_frame_hdr as it lies in the file; without it, an
 *                               array of all FDEs, made at the first question
 *   rows     FDE -> its rows    compiled at the first question, kept in a slot beside the index
 *
 * Index, rows and cache entries are immutable once another thread can see them: they are put in
 * place by one atomic exchange and stay until pev_cfi_free(). The loser of a race frees its copy.
 *
 * An FDE that cannot be read is remembered as such; want of memory is not. An .eh_frame_hdr without
 * a table that can be searched is treated as if there were none.
 */
#include "unwind/cfi.h"

#include "base/buf.h"
#include "base/checked.h"
#include "base/cleanup.h"
#include "unwind/cfi_entry.h"

#include <dwarf.h>
#include <errno.h>
#include <stdatomic.h>
#include <sys/types.h>

#define HDR_TABLE_ENC   (DW_EH_PE_datarel | DW_EH_PE_sdata4) /* what every linker writes */
#define HDR_ENTRY_BYTES 8
#define TYPICAL_FDE     64 /* bytes of .eh_frame per function */
#define MAX_GROWTH      64 /* bytes of rows per byte of the section; 13 were seen */
#define MAX_SAME_START  8  /* entries of functions without code, and the one with */
#define MIN_CACHE_BITS  6
#define MAX_CACHE_BITS  14

struct fde_ref {
	uint64_t start, end;
	uint64_t offset;
};

/* Where the FDEs of a section are, by address. */
struct index {
	size_t nr;
	const uint8_t *hdr;   /* {i32 start, i32 FDE}, both relative to .eh_frame_hdr, or NULL */
	struct fde_ref *refs; /* without ->hdr; owned */
	_Atomic(struct pev_cfi_rows *) rows[]; /* owned, but for &unreadable */
};

struct finder {
	struct pev_cfi_table table;
	_Atomic(struct index *) index;
};

struct pev_cfi {
	struct pev_cfi_sections sections;
	struct finder eh, debug;
	atomic_uint_fast64_t functions, rows, bytes, bad_functions;
	unsigned cache_shift;
	_Atomic(const struct pev_cfi_row *) cache[];
};

/* Stands for the rows of an FDE that cannot be read. */
static struct pev_cfi_rows unreadable;

static int check_section(const struct pev_cfi_section *s, const char *name, struct pev_err *err)
{
	if (s->size > UINT32_MAX)
		return pev_err_set(err, -E2BIG,
				   "%s has %zu bytes; sections of 4 GiB and more are not read",
				   name, s->size);
	return 0;
}

static unsigned cache_bits(const struct pev_cfi_sections *s)
{
	const size_t functions = (s->eh_frame.size + s->debug_frame.size) / TYPICAL_FDE;
	unsigned bits = MIN_CACHE_BITS;

	while (bits < MAX_CACHE_BITS && (size_t)1 << bits < functions)
		bits++;
	return bits;
}

int pev_cfi_new(const struct pev_cfi_sections *sections, struct pev_cfi **ret, struct pev_err *err)
{
	const unsigned bits = cache_bits(sections);
	struct pev_cfi *cfi;
	int r;

	r = check_section(&sections->eh_frame, ".eh_frame", err);
	if (!r)
		r = check_section(&sections->eh_frame_hdr, ".eh_frame_hdr", err);
	if (!r)
		r = check_section(&sections->debug_frame, ".debug_frame", err);
	if (r)
		return r;
	/* A big cache is pages of zeros, which cost nothing before they are touched. */
	cfi = calloc(1, sizeof(*cfi) + (sizeof(cfi->cache[0]) << bits));
	if (!cfi)
		return pev_err_set(err, -ENOMEM, "No memory for call frame information");
	cfi->sections = *sections;
	cfi->cache_shift = 64 - bits;
	cfi->eh.table =
		(struct pev_cfi_table){ .of = &cfi->sections, .section = &cfi->sections.eh_frame };
	cfi->debug.table = (struct pev_cfi_table){ .of = &cfi->sections,
						   .section = &cfi->sections.debug_frame,
						   .debug = true };
	*ret = cfi;
	return 0;
}

static void index_free(struct index *index)
{
	if (!index)
		return;
	for (size_t i = 0; i < index->nr; i++) {
		struct pev_cfi_rows *const rows = atomic_load(&index->rows[i]);

		if (rows != &unreadable)
			free(rows);
	}
	free(index->refs);
	free(index);
}

void pev_cfi_free(struct pev_cfi *cfi)
{
	if (!cfi)
		return;
	index_free(atomic_load(&cfi->eh.index));
	index_free(atomic_load(&cfi->debug.index));
	free(cfi);
}

const struct pev_cfi_sections *pev_cfi_sections(const struct pev_cfi *cfi)
{
	return &cfi->sections;
}

static struct index *index_new(size_t nr)
{
	struct index *const index = calloc(1, sizeof(*index) + nr * sizeof(index->rows[0]));

	if (index)
		index->nr = nr;
	return index;
}

/*
 * .eh_frame_hdr (LSB, "The .eh_frame_hdr section"): u8 version, u8 encoding of the pointer to
 * .eh_frame, u8 encoding of the count, u8 encoding of the table; then these three. *ret_nr is 0
 * when there is no table that can be searched.
 */
static const uint8_t *find_hdr_table(const struct pev_cfi_sections *s, size_t *ret_nr)
{
	const struct pev_cfi_section *const hdr = &s->eh_frame_hdr;
	uint8_t version, ptr_enc, count_enc, table_enc;
	struct pev_cursor c;
	uint64_t count;

	*ret_nr = 0;
	if (!hdr->size)
		return NULL;
	c = pev_cursor(hdr->data, hdr->size);
	c.swap = s->swap;
	version = pev_cursor_u8(&c);
	ptr_enc = pev_cursor_u8(&c);
	count_enc = pev_cursor_u8(&c);
	table_enc = pev_cursor_u8(&c);
	if (c.failed || version != 1 || table_enc != HDR_TABLE_ENC || ptr_enc == DW_EH_PE_omit ||
	    count_enc == DW_EH_PE_omit)
		return NULL;
	(void)pev_cursor_encoded(&c, s, hdr, hdr->vaddr, ptr_enc, s->ptr_size);
	count = pev_cursor_encoded(&c, s, hdr, hdr->vaddr, count_enc, s->ptr_size);
	if (c.failed || !count || count > pev_cursor_left(&c) / HDR_ENTRY_BYTES)
		return NULL;
	*ret_nr = (size_t)count;
	return c.p;
}

static int compare_refs(const void *va, const void *vb)
{
	const struct fde_ref *const a = va, *const b = vb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

/* Collects every FDE of the section; what cannot be read is left out. */
static void collect(const struct pev_cfi_table *t, struct pev_buf *refs)
{
	size_t cie_offset = SIZE_MAX;
	struct pev_entry entry;
	struct pev_fde fde;
	int cie_status = -EBADMSG;

	for (size_t at = 0; pev_entry_read(t, at, &entry) >= 0; at = entry.next) {
		if (entry.is_cie)
			continue;
		if (entry.cie_offset != cie_offset) {
			cie_offset = entry.cie_offset;
			cie_status = pev_cie_read(t, cie_offset, &fde.cie);
		}
		if (cie_status < 0 || pev_fde_read_body(t, &entry, &fde) < 0 ||
		    fde.start == fde.end)
			continue;
		pev_buf_put(refs,
			    &(struct fde_ref){ .start = fde.start, .end = fde.end, .offset = at },
			    sizeof(struct fde_ref));
	}
}

static int index_make(const struct pev_cfi_table *t, struct index **ret)
{
	_cleanup_buf_ struct pev_buf refs = { 0 };
	const uint8_t *hdr = NULL;
	struct index *index;
	size_t nr = 0;

	if (!t->debug)
		hdr = find_hdr_table(t->of, &nr);
	if (!hdr) {
		collect(t, &refs);
		if (pev_buf_status(&refs))
			return -ENOMEM;
		nr = refs.size / sizeof(struct fde_ref);
		if (nr)
			qsort(refs.data, nr, sizeof(struct fde_ref), compare_refs);
	}
	index = index_new(nr);
	if (!index)
		return -ENOMEM;
	index->hdr = hdr;
	index->refs = (struct fde_ref *)(void *)refs.data;
	refs = (struct pev_buf){ 0 };
	*ret = index;
	return 0;
}

static int index_get(struct finder *f, struct index **ret)
{
	struct index *index = atomic_load_explicit(&f->index, memory_order_acquire);
	struct index *seen = NULL;
	int r;

	if (!index) {
		r = index_make(&f->table, &index);
		if (r < 0)
			return r;
		if (!atomic_compare_exchange_strong(&f->index, &seen, index)) {
			index_free(index);
			index = seen;
		}
	}
	*ret = index;
	return 0;
}

static int32_t hdr_word(const struct finder *f, const struct index *index, size_t i, unsigned which)
{
	uint32_t v;

	memcpy(&v, index->hdr + i * HDR_ENTRY_BYTES + which * 4, sizeof(v));
	return (int32_t)(f->table.of->swap ? __builtin_bswap32(v) : v);
}

/* The last entry that starts at or before @vaddr: its number, or -1. */
static ssize_t index_search(const struct finder *f, const struct index *index, uint64_t vaddr)
{
	const int64_t relative = (int64_t)(vaddr - f->table.of->eh_frame_hdr.vaddr);
	size_t low = 0, high = index->nr;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const bool after = index->hdr ? hdr_word(f, index, mid, 0) > relative
					      : index->refs[mid].start > vaddr;

		if (after)
			high = mid;
		else
			low = mid + 1;
	}
	return (ssize_t)low - 1;
}

static uint64_t fde_offset(const struct finder *f, const struct index *index, size_t i)
{
	const struct pev_cfi_sections *const s = f->table.of;

	if (index->refs)
		return index->refs[i].offset;
	/* One that points before the section wraps to an offset far beyond its end. */
	return s->eh_frame_hdr.vaddr + (uint64_t)hdr_word(f, index, i, 1) - s->eh_frame.vaddr;
}

static int rows_get(struct pev_cfi *cfi, struct finder *f, struct index *index, size_t i,
		    struct pev_cfi_rows **ret)
{
	struct pev_cfi_rows *rows = atomic_load_explicit(&index->rows[i], memory_order_acquire);
	struct pev_cfi_rows *seen = NULL;
	int r;

	if (rows) {
		*ret = rows;
		return 0;
	}
	/* Only entries that lie over each other can grow like that. */
	if (cfi->bytes / MAX_GROWTH > cfi->sections.eh_frame.size + cfi->sections.debug_frame.size)
		r = -E2BIG;
	else
		r = pev_cfi_compile(&f->table, fde_offset(f, index, i), &rows);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		rows = &unreadable;
	if (!atomic_compare_exchange_strong(&index->rows[i], &seen, rows)) {
		if (rows != &unreadable)
			free(rows);
		rows = seen;
	} else if (rows == &unreadable) {
		cfi->bad_functions++;
	} else {
		cfi->functions++;
		cfi->rows += rows->nr;
		cfi->bytes += rows->bytes;
	}
	*ret = rows;
	return 0;
}

static int row_search(const struct pev_cfi_rows *rows, uint64_t vaddr,
		      const struct pev_cfi_row **ret)
{
	const struct pev_cfi_row *row;
	size_t low = 0, high = rows->nr;

	if (rows == &unreadable)
		return -EBADMSG;
	if (!rows->nr)
		return -ENOENT;
	while (high - low > 1) {
		const size_t mid = low + (high - low) / 2;

		if (rows->row[mid].start > vaddr)
			high = mid;
		else
			low = mid;
	}
	row = &rows->row[low];
	if (vaddr - row->start >= row->size)
		return -ENOENT;
	if (row->flags & PEV_CFI_BAD)
		return -EBADMSG;
	*ret = row;
	return 0;
}

static uint64_t fde_start(const struct finder *f, const struct index *index, size_t i)
{
	return index->refs ? index->refs[i].start : (uint64_t)hdr_word(f, index, i, 0);
}

static int find_in(struct pev_cfi *cfi, struct finder *f, uint64_t vaddr,
		   const struct pev_cfi_row **ret)
{
	struct pev_cfi_rows *rows;
	struct index *index;
	ssize_t i;
	int r;

	if (!f->table.section->size)
		return -ENOENT;
	r = index_get(f, &index);
	if (r < 0)
		return r;
	i = index_search(f, index, vaddr);
	if (i < 0)
		return -ENOENT;
	/* Functions without code share their address with the next one. */
	for (unsigned tries = 0; tries < MAX_SAME_START; tries++, i--) {
		r = rows_get(cfi, f, index, (size_t)i, &rows);
		if (!r)
			r = row_search(rows, vaddr, ret);
		if (r != -ENOENT || !i ||
		    fde_start(f, index, (size_t)i) != fde_start(f, index, (size_t)i - 1))
			break;
	}
	return r;
}

static bool covers(const struct pev_cfi_row *row, uint64_t vaddr)
{
	return vaddr - row->start < row->size;
}

int pev_cfi_find(struct pev_cfi *cfi, uint64_t vaddr, const struct pev_cfi_row **ret)
{
	_Atomic(const struct pev_cfi_row *) *const slot =
		&cfi->cache[vaddr * 0x9e3779b97f4a7c15ULL >> cfi->cache_shift];
	const struct pev_cfi_row *row = atomic_load_explicit(slot, memory_order_acquire);
	int r, r_debug;

	if (row && covers(row, vaddr)) {
		*ret = row;
		return 0;
	}
	r = find_in(cfi, &cfi->eh, vaddr, &row);
	if (r == -ENOENT || r == -EBADMSG) {
		r_debug = find_in(cfi, &cfi->debug, vaddr, &row);
		if (r_debug != -ENOENT)
			r = r_debug;
	}
	if (r < 0)
		return r;
	atomic_store_explicit(slot, row, memory_order_release);
	*ret = row;
	return 0;
}

void pev_cfi_stats(const struct pev_cfi *cfi, struct pev_cfi_stats *ret)
{
	*ret = (struct pev_cfi_stats){
		.functions = cfi->functions,
		.rows = cfi->rows,
		.bytes = cfi->bytes,
		.bad_functions = cfi->bad_functions,
	};
}
