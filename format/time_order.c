// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Order by merging, not by sorting. A recorder drains ring after ring, and each ring is nearly
 * sorted: so what comes is a few rising sequences, one for each CPU, cut into pieces and shuffled.
 * Each record is appended to the run whose last time is the latest that is not after its own
 * (patience sorting, which makes the fewest runs possible), mostly the run that the record before
 * went to. A heap of the runs by their first record gives the order back.
 *
 * Input that is no such thing, a hostile or a reversed one, would make a run of every record. So
 * when there are RUNS_MAX of them the rest goes to the bin, a heap of single entries.
 *
 * The bytes are copied to slabs, which start at a multiple of their size, so that the address of a
 * record tells its slab. A slab is used again when all its records were taken.
 */
#include "format/time_order.h"

#include "base/checked.h"
#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_MAX  1024
#define SLAB_SIZE ((size_t)256 << 10) /* a power of two; holds several of the largest records */

struct slab {
	struct slab *next;      /* of all of them */
	struct slab *next_free; /* of those that hold nothing */
	size_t used;            /* bytes, this head included */
	size_t pins;            /* records that wait in it; being filled; being read */
};

/* In a slab, in front of the bytes of a record. */
struct head {
	uint64_t offset;
	uint32_t size;
	uint32_t tag;
};

struct entry {
	uint64_t time;
	uint64_t seq; /* of all that were put: breaks ties */
	const struct head *head;
};

/* Entries of rising time, of which [first, end) wait. */
struct run {
	struct entry *entries;
	size_t first, end, cap;
};

struct pev_time_order {
	/* Those that are not empty, by the time of their last entry, the latest first. */
	struct run *runs[RUNS_MAX];
	size_t nr_runs;
	size_t hint; /* index of the run that was appended to last */
	struct run *spare[RUNS_MAX];
	size_t nr_spare;
	struct run bin; /* not among ->runs: its entries are a heap, the earliest first */

	/* A turn: its runs, the one with the earliest entry on top. */
	struct run *heap[RUNS_MAX + 1];
	size_t nr_heap;
	bool turn;
	uint64_t limit; /* of the turn: the last time that is part of it */
	uint64_t round; /* the limit of the next one */

	uint64_t latest, seq;
	struct slab *slabs, *free_slabs;
	struct slab *filling, *reading;
	uint64_t bytes, max_bytes;
};

int pev_time_order_new(struct pev_time_order **ret)
{
	struct pev_time_order *const o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	*ret = o;
	return 0;
}

static void free_runs(struct run *const *runs, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(runs[i]->entries);
		free(runs[i]);
	}
}

struct pev_time_order *pev_time_order_free(struct pev_time_order *o)
{
	if (!o)
		return NULL;
	free_runs(o->runs, o->nr_runs);
	free_runs(o->spare, o->nr_spare);
	free(o->bin.entries);
	while (o->slabs) {
		struct slab *const next = o->slabs->next;

		free(o->slabs);
		o->slabs = next;
	}
	free(o);
	return NULL;
}

static void unpin(struct pev_time_order *o, struct slab *slab)
{
	if (!slab || --slab->pins)
		return;
	slab->next_free = o->free_slabs;
	o->free_slabs = slab;
}

static int next_slab(struct pev_time_order *o)
{
	struct slab *slab = o->free_slabs;

	if (slab) {
		o->free_slabs = slab->next_free;
	} else {
		slab = aligned_alloc(SLAB_SIZE, SLAB_SIZE);
		if (!slab)
			return -ENOMEM;
		slab->next = o->slabs;
		o->slabs = slab;
	}
	slab->used = sizeof(*slab);
	slab->pins = 1;
	unpin(o, o->filling);
	o->filling = slab;
	return 0;
}

static size_t room_for(uint32_t size)
{
	return sizeof(struct head) + pev_align8(size);
}

/* Copies @rec to a slab, which it pins. NULL without memory. */
static const struct head *keep(struct pev_time_order *o, const struct pev_waiting *rec)
{
	const size_t room = room_for(rec->size);
	struct head *head;

	if (!o->filling || room > SLAB_SIZE - o->filling->used)
		if (next_slab(o) < 0)
			return NULL;
	head = (struct head *)(void *)((char *)o->filling + o->filling->used);
	*head = (struct head){ .offset = rec->offset, .size = rec->size, .tag = rec->tag };
	memcpy(head + 1, rec->bytes, rec->size);
	o->filling->used += room;
	o->filling->pins++;
	return head;
}

static int make_room(struct run *run)
{
	const size_t waiting = run->end - run->first;
	const size_t cap = run->cap ? run->cap * 2 : 64;
	struct entry *p;

	if (run->first && run->first >= run->cap / 2) {
		memmove(run->entries, run->entries + run->first, waiting * sizeof(*run->entries));
		run->first = 0;
		run->end = waiting;
		return 0;
	}
	p = realloc(run->entries, cap * sizeof(*p));
	if (!p)
		return -ENOMEM;
	run->entries = p;
	run->cap = cap;
	return 0;
}

static uint64_t last_time(const struct run *run)
{
	return run->entries[run->end - 1].time;
}

/* Index of the first run whose last entry is not later than @time; ->nr_runs when there is none. */
static size_t find_run(const struct pev_time_order *o, uint64_t time)
{
	const size_t hint = o->hint;
	size_t low = 0, high = o->nr_runs;

	if (hint < high && last_time(o->runs[hint]) <= time &&
	    (!hint || last_time(o->runs[hint - 1]) > time))
		return hint;
	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (last_time(o->runs[middle]) <= time)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The run to append an entry of @time to, with room for it; NULL without memory. */
static struct run *run_for(struct pev_time_order *o, uint64_t time)
{
	const size_t i = find_run(o, time);
	struct run *run = i < o->nr_runs ? o->runs[i] : NULL;

	if (!run && o->nr_runs == RUNS_MAX) {
		run = &o->bin;
	} else if (!run) {
		run = o->nr_spare ? o->spare[--o->nr_spare] : calloc(1, sizeof(*run));
		if (!run)
			return NULL;
		if (!run->cap && make_room(run) < 0) {
			free(run);
			return NULL;
		}
		/* Earlier than the last of all others. It is never empty for long: the caller
		 * fills it. */
		o->runs[o->nr_runs++] = run;
	}
	o->hint = i;
	return run->end == run->cap && make_room(run) < 0 ? NULL : run;
}

static bool earlier(const struct entry *a, const struct entry *b)
{
	return a->time < b->time || (a->time == b->time && a->seq < b->seq);
}

static void bin_push(struct entry *heap, size_t i, struct entry e)
{
	while (i && earlier(&e, &heap[(i - 1) / 2])) {
		heap[i] = heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap[i] = e;
}

static void bin_pop(struct entry *heap, size_t nr)
{
	const struct entry e = heap[nr - 1];
	size_t i = 0, child;

	for (; (child = 2 * i + 1) < nr; i = child) {
		if (child + 1 < nr && earlier(&heap[child + 1], &heap[child]))
			child++;
		if (!earlier(&heap[child], &e))
			break;
		heap[i] = heap[child];
	}
	heap[i] = e;
}

int pev_time_order_put(struct pev_time_order *o, const struct pev_waiting *rec)
{
	const struct head *const head = keep(o, rec);
	struct run *run;
	struct entry e;

	if (!head)
		return -ENOMEM;
	run = run_for(o, rec->time);
	if (!run) {
		o->filling->pins--;
		return -ENOMEM;
	}
	e = (struct entry){ .time = rec->time, .seq = o->seq++, .head = head };
	if (run == &o->bin)
		bin_push(run->entries, run->end++, e);
	else
		run->entries[run->end++] = e;
	if (rec->time > o->latest)
		o->latest = rec->time;
	o->bytes += room_for(rec->size) + sizeof(struct entry);
	o->max_bytes = PEV_MAX(o->max_bytes, o->bytes);
	return 0;
}

static bool before(const struct run *a, const struct run *b)
{
	return earlier(&a->entries[a->first], &b->entries[b->first]);
}

static void sift_down(struct pev_time_order *o, size_t i)
{
	struct run *const run = o->heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= o->nr_heap)
			break;
		if (child + 1 < o->nr_heap && before(o->heap[child + 1], o->heap[child]))
			child++;
		if (!before(o->heap[child], run))
			break;
		o->heap[i] = o->heap[child];
		i = child;
	}
	o->heap[i] = run;
}

static void begin_turn(struct pev_time_order *o, uint64_t limit)
{
	o->limit = limit;
	o->turn = true;
	o->nr_heap = 0;
	for (size_t i = 0; i < o->nr_runs; i++)
		o->heap[o->nr_heap++] = o->runs[i];
	if (o->bin.end)
		o->heap[o->nr_heap++] = &o->bin;
	for (size_t i = o->nr_heap / 2; i-- > 0;)
		sift_down(o, i);
}

void pev_time_order_round(struct pev_time_order *o)
{
	begin_turn(o, o->round);
	o->round = o->latest;
}

void pev_time_order_end(struct pev_time_order *o)
{
	begin_turn(o, UINT64_MAX);
}

bool pev_time_order_peek(struct pev_time_order *o, uint64_t *ret_time)
{
	const struct run *run;

	if (!o->turn)
		return false;
	run = o->nr_heap ? o->heap[0] : NULL;
	if (!run || run->entries[run->first].time > o->limit) {
		o->turn = false;
		return false;
	}
	*ret_time = run->entries[run->first].time;
	return true;
}

/* Takes an empty run off the top of the heap and out of the list. */
static void retire(struct pev_time_order *o, struct run *run)
{
	run->first = run->end = 0;
	o->heap[0] = o->heap[--o->nr_heap];
	if (run == &o->bin)
		return;
	for (size_t i = 0; i < o->nr_runs; i++) {
		if (o->runs[i] != run)
			continue;
		o->nr_runs--;
		memmove(&o->runs[i], &o->runs[i + 1], (o->nr_runs - i) * sizeof(o->runs[0]));
		break;
	}
	o->spare[o->nr_spare++] = run;
}

bool pev_time_order_take(struct pev_time_order *o, struct pev_waiting *ret)
{
	const struct head *head;
	struct run *run;
	uint64_t time;

	unpin(o, o->reading);
	o->reading = NULL;
	if (!pev_time_order_peek(o, &time))
		return false;
	run = o->heap[0];
	head = run->entries[run->first].head;
	if (run == &o->bin)
		bin_pop(run->entries, run->end--);
	else
		run->first++;
	if (run->first == run->end)
		retire(o, run);
	if (o->nr_heap > 1)
		sift_down(o, 0);
	/* The pin of the one that waited is now that of the one being read. */
	o->reading = (struct slab *)((uintptr_t)head & ~(uintptr_t)(SLAB_SIZE - 1));
	o->bytes -= room_for(head->size) + sizeof(struct entry);
	*ret = (struct pev_waiting){
		.bytes = (const uint8_t *)(head + 1),
		.size = head->size,
		.tag = head->tag,
		.time = time,
		.offset = head->offset,
	};
	return true;
}

uint64_t pev_time_order_max_bytes(const struct pev_time_order *o)
{
	return o->max_bytes;
}
