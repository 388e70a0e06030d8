// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * union perf_mem_data_src (include/uapi/linux/perf_event.h), from the lowest bit up: op 5, lvl 14,
 * snoop 5, lock 2, dtlb 7, lvl_num 4, remote 1, snoopx 2, blk 3, hops 3. The words are perf's.
 */
#include "report/script_part.h"

#include "base/checked.h"
#include "base/cleanup.h"

#include <inttypes.h>

/* perf cuts what it prints of this field to a buffer of 100 bytes. */
#define TEXT_MAX 99

/* The words of the bits that are set, with " or " between; returns how many. */
static unsigned int put_bits(struct pev_buf *b, uint64_t bits, const char *const *words, size_t nr,
			     unsigned int before)
{
	for (size_t i = 0; i < nr; i++)
		if (bits >> i & 1)
			pev_buf_printf(b, "%s%s", before++ ? " or " : "", words[i]);
	return before;
}

static void put_op(struct pev_buf *b, uint64_t op)
{
	static const char *const words[] = { "N/A", "LOAD", "STORE", "PFETCH", "EXEC" };

	for (size_t i = 0; i < PEV_ARRAY_SIZE(words); i++)
		if (op >> i & 1) {
			pev_buf_printf(b, "%s", words[i]);
			return;
		}
	pev_buf_printf(b, "No");
}

static void put_hit_or_miss(struct pev_buf *b, uint64_t bits)
{
	if (bits & 2)
		pev_buf_printf(b, " hit");
	if (bits & 4)
		pev_buf_printf(b, " miss");
}

static const char *const levels[] = {
	"N/A",
	"HIT",
	"MISS",
	"L1",
	"LFB/MAB",
	"L2",
	"L3",
	"Local RAM",
	"Remote RAM (1 hop)",
	"Remote RAM (2 hops)",
	"Remote Cache (1 hop)",
	"Remote Cache (2 hops)",
	"I/O",
	"Uncached",
};

static const char *const distances[8] = {
	"N/A",    "core, same node", "node, same socket", "socket, same board", "board", "(null)",
	"(null)", "(null)"
};

/* The level as the newer field has it, a number. */
static void put_level_number(struct pev_buf *b, uint64_t num, bool old)
{
	static const char *const names[16] = {
		[5] = "L2 MHB",   [6] = "Memory-side Cache",
		[8] = "Uncached", [9] = "CXL",
		[10] = "I/O",     [11] = "Any cache",
		[12] = "LFB/MAB", [13] = "RAM",
		[14] = "PMEM",    [15] = "N/A",
	};

	if (names[num] && (num > 8 || !old))
		pev_buf_printf(b, "%s", names[num]);
	else
		pev_buf_printf(b, "L%" PRIu64, num);
}

/* perf 6.1: what both fields say, and how often they say the same. */
static void put_old_level(struct pev_buf *b, uint64_t lvl, uint64_t num, bool remote, uint64_t hops)
{
	const size_t start = b->size;
	unsigned int nr = 0;

	if (remote)
		pev_buf_printf(b, "Remote ");
	if (hops)
		pev_buf_printf(b, "%s ", distances[hops]);
	else
		nr = put_bits(b, lvl & ~6ULL, levels, PEV_ARRAY_SIZE(levels), 0);
	if (num) {
		if (nr)
			pev_buf_printf(b, " or ");
		put_level_number(b, num, true);
	}
	if (b->size == start)
		pev_buf_printf(b, "N/A");
	put_hit_or_miss(b, lvl);
}

/* Later ones: the number if there is one, else the bits. */
static void put_level(struct pev_buf *b, uint64_t lvl, uint64_t num, bool remote, uint64_t hops)
{
	const char *const hit = lvl & 2 ? "hit" : lvl & 4 ? "miss" : "";

	if (num && num != 15) {
		if (remote)
			pev_buf_printf(b, "Remote ");
		if (hops)
			pev_buf_printf(b, "%s ", distances[hops]);
		put_level_number(b, num, false);
		pev_buf_printf(b, " %s", hit);
	} else if (put_bits(b, lvl & ~7ULL, levels, PEV_ARRAY_SIZE(levels), 0)) {
		pev_buf_printf(b, " %s", hit);
	} else {
		pev_buf_printf(b, "N/A");
	}
}

static void put_snoop(struct pev_buf *b, uint64_t snoop, uint64_t more)
{
	static const char *const words[] = { "N/A", "None", "Hit", "Miss", "HitM" };
	static const char *const others[] = { "Fwd", "Peer" };
	unsigned int nr = put_bits(b, snoop, words, PEV_ARRAY_SIZE(words), 0);

	nr = put_bits(b, more, others, PEV_ARRAY_SIZE(others), nr);
	if (!nr)
		pev_buf_printf(b, "N/A");
}

static void put_tlb(struct pev_buf *b, uint64_t tlb)
{
	static const char *const words[] = { "N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault" };

	if (!put_bits(b, tlb & ~6ULL, words, PEV_ARRAY_SIZE(words), 0))
		pev_buf_printf(b, "N/A");
	put_hit_or_miss(b, tlb);
}

void script_print_data_src(struct script *s, uint64_t v)
{
	_cleanup_buf_ struct pev_buf b = { 0 };
	const uint64_t lock = v >> 24 & 3, block = v >> 40 & 7;
	size_t n;

	pev_buf_printf(&b, "%16" PRIx64 " |OP ", v);
	put_op(&b, v & 0x1f);
	pev_buf_printf(&b, "|LVL ");
	(s->options->style == PEV_SCRIPT_PERF_6_1 ? put_old_level : put_level)(
		&b, v >> 5 & 0x3fff, v >> 33 & 0xf, v >> 37 & 1, v >> 43 & 7);
	pev_buf_printf(&b, "|SNP ");
	put_snoop(&b, v >> 19 & 0x1f, v >> 38 & 3);
	pev_buf_printf(&b, "|TLB ");
	put_tlb(&b, v >> 26 & 0x7f);
	pev_buf_printf(&b, "|LCK %s|BLK ", lock & 1 ? "N/A" : lock & 2 ? "Yes" : "No");
	if (!block || block & 1)
		pev_buf_printf(&b, " N/A");
	else
		pev_buf_printf(&b, "%s%s", block & 2 ? " Data" : "", block & 4 ? " Addr" : "");
	n = PEV_MIN(b.size, (size_t)TEXT_MAX);
	/* As wide as the widest so far, so that columns come out by and by. */
	s->data_src_width = PEV_MAX(s->data_src_width, n);
	pev_out_put(&s->out, (const char *)b.data, n);
	pev_out_right(&s->out, "", s->data_src_width - n);
}
