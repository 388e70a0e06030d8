// SPDX-License-Identifier: LGPL-2.1-or-later
/* The drain between a ring whose kernel is the test and a file that is read back. */
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "fake_ring.h"
#include "format/trace.h"
#include "recorder/drain.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define RING_BYTES (256 * 1024)
#define SAMPLE_ID  11
#define DWARF_ID   12
#define TRACK_ID   13

#define COMMON (PEV_SAMPLE_IDENTIFIER | PEV_SAMPLE_TID | PEV_SAMPLE_TIME | PEV_SAMPLE_CPU)

static struct pev_event events[] = {
	{ .attr = { .sample_type = COMMON | PEV_SAMPLE_IP | PEV_SAMPLE_CALLCHAIN,
		    .flags = PEV_ATTR_SAMPLE_ID_ALL } },
	{ .attr = { .sample_type = COMMON | PEV_SAMPLE_STACK_USER | PEV_SAMPLE_WEIGHT,
		    .flags = PEV_ATTR_SAMPLE_ID_ALL },
	  .leader = 1 },
	{ .attr = { .sample_type = COMMON, .flags = PEV_ATTR_SAMPLE_ID_ALL },
	  .leader = 2,
	  .tracking = true },
};

struct world {
	struct pev_evlist list;
	struct fake_ring fake;
	struct pev_counters counters;
	struct pev_block *block;
	struct pev_writer *writer;
	struct pev_drain drain;
	char path[64];
	struct pev_buf made; /* the record being made */
	uint64_t states;
};

static void see_state(void *userdata, const struct pev_record *rec)
{
	struct world *const w = userdata;

	(void)rec;
	w->states++;
}

static void setup_world(struct world *w)
{
	static const uint64_t ids[] = { SAMPLE_ID, DWARF_ID, TRACK_ID };
	struct pev_trace_event trace_events[3] = { 0 };
	int fd;

	*w = (struct world){ .list = { .events = events, .nr = PEV_ARRAY_SIZE(events) } };
	(void)strcpy(w->path, "/tmp/pevrec-test-drain.XXXXXX");
	fd = mkstemp(w->path);
	assert_true(fd >= 0);
	(void)close(fd);
	(void)unlink(w->path);
	fake_ring_init(&w->fake, RING_BYTES);
	w->counters.rings = &w->fake.ring;
	w->counters.nr_rings = 1;
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(pev_ids_add(&w->counters.ids, ids[i], i, 0), 0);
		trace_events[i].attr = events[i].attr;
		trace_events[i].ids = &ids[i];
		trace_events[i].nr_ids = 1;
	}
	assert_int_equal(pev_block_new(1, &w->block), 0);
	assert_int_equal(pev_writer_open(w->path, -1, trace_events, 3, NULL, 0, &w->writer, NULL),
			 0);
	w->drain = (struct pev_drain){ .events = &w->list,
				       .counters = &w->counters,
				       .block = w->block,
				       .writer = w->writer,
				       .on_state = see_state,
				       .userdata = w };
	assert_int_equal(pev_drain_init(&w->drain), 0);
}

static void teardown_world(struct world *w)
{
	pev_drain_done(&w->drain);
	pev_writer_free(w->writer);
	pev_block_free(w->block);
	pev_ids_done(&w->counters.ids);
	fake_ring_done(&w->fake);
	pev_buf_done(&w->made);
	(void)unlink(w->path);
}

/* The kernel writes @rec of event @event, @extra bytes too large. */
static void kernel_writes(struct world *w, size_t event, const struct pev_record *rec, size_t extra)
{
	uint16_t size;

	pev_buf_reset(&w->made);
	assert_int_equal(pev_record_encode(&events[event].attr, rec, &w->made), 0);
	for (size_t i = 0; i < extra; i++)
		pev_buf_u8(&w->made, 0xa5);
	size = (uint16_t)w->made.size;
	memcpy(w->made.data + offsetof(struct pev_rec_hdr, size), &size, sizeof(size));
	fake_ring_write(&w->fake, w->made.data, w->made.size);
}

static void sample(struct world *w, uint64_t time, uint32_t cpu)
{
	static const uint64_t chain[] = { PEV_CONTEXT_USER, 0x401000, 0x402000 };
	const struct pev_record rec = {
		.hdr.type = PEV_REC_SAMPLE,
		.id = { .id = SAMPLE_ID, .time = time, .cpu = cpu, .pid = 7, .tid = 8 },
		.sample = { .ip = 0x401000, .callchain = { (const uint8_t *)chain, 3, false } },
	};

	kernel_writes(w, 0, &rec, 0);
}

/* Everything drained so far, read back from the file; calls @look for each record of a kernel type.
 * Returns how many rounds were finished. */
static unsigned int
read_back(struct world *w, void (*look)(void *userdata, const struct pev_record *), void *userdata)
{
	unsigned int rounds = 0;
	struct pev_trace_record rec;
	struct pev_trace *t;
	int r;

	assert_int_equal(pev_drain_flush(&w->drain, 0, 0, NULL), 0);
	assert_int_equal(pev_trace_open(w->path, NULL, &t, NULL), 0);
	while ((r = pev_trace_next(t, &rec, NULL)) > 0) {
		struct pev_record decoded;

		rounds += rec.hdr.type == PEV_REC_FINISHED_ROUND;
		if (rec.hdr.type >= PEV_REC_USER_START)
			continue;
		assert_non_null(rec.event);
		assert_int_equal(pev_record_decode(&rec.event->attr, rec.bytes, rec.size, false,
						   &decoded, NULL),
				 0);
		assert_int_equal(decoded.rest, 0);
		look(userdata, &decoded);
	}
	assert_int_equal(r, 0);
	pev_trace_free(t);
	return rounds;
}

static void count(void *userdata, const struct pev_record *rec)
{
	(void)rec;
	(*(uint64_t *)userdata)++;
}

static void test_samples_come_through(void **state)
{
	uint64_t seen = 0;
	struct world w;

	(void)state;
	setup_world(&w);
	for (uint64_t i = 0; i < 1000; i++)
		sample(&w, 1000 + i, (uint32_t)(i % 4));
	assert_int_equal(pev_drain_all(&w.drain, NULL), 0);
	assert_int_equal(pev_drain_all(&w.drain, NULL), 0); /* nothing new: no second round */
	assert_int_equal(w.drain.stats.samples, 1000);
	assert_int_equal(w.drain.stats.first_sample_ns, 1000);
	assert_int_equal(w.drain.stats.last_sample_ns, 1999);
	assert_int_equal(w.drain.event_loss[0].samples, 1000);
	assert_int_equal(w.drain.ring_loss[0].samples, 1000);
	assert_int_equal(read_back(&w, count, &seen), 1);
	assert_int_equal(seen, 1000);
	teardown_world(&w);
}

/* The point of STYLE and of the design: a steady state without a single allocation. */
static void test_allocates_nothing(void **state)
{
	struct world w;

	(void)state;
	setup_world(&w);
	sample(&w, 1, 0); /* the test's own buffer has its size now */
	alloc_fail_at(1);
	for (unsigned int round = 0; round < 50; round++) {
		for (uint64_t i = 0; i < 1000; i++)
			sample(&w, 1000 + i, 0);
		assert_int_equal(pev_drain_all(&w.drain, NULL), 0);
	}
	assert_int_equal(pev_drain_flush(&w.drain, 0, 0, NULL), 0);
	assert_false(alloc_fail_end());
	teardown_world(&w);
}

struct stacks {
	size_t nr;
	uint64_t sizes[16], dyn[16], weights[16];
	uint8_t first[16], last[16];
};

static void look_at_stack(void *userdata, const struct pev_record *rec)
{
	struct stacks *const s = userdata;
	const struct pev_stack_user *const stack = &rec->sample.stack_user;

	s->sizes[s->nr] = stack->data.size;
	s->dyn[s->nr] = stack->dyn_size;
	s->weights[s->nr] = rec->sample.weight;
	if (stack->data.size) {
		s->first[s->nr] = stack->data.p[0];
		s->last[s->nr] = stack->data.p[stack->dyn_size - 1];
	}
	s->nr++;
}

static void test_stacks_are_trimmed(void **state)
{
	static const struct {
		uint64_t dyn, size;
	} cases[] = {
		{ 8192, 8192 }, { 8191, 8192 }, { 4097, 4104 }, { 8, 8 }, { 1, 8 }, { 0, 0 }
	};
	static uint8_t dump[8192];
	struct stacks stacks = { 0 };
	uint64_t trimmed = 0;
	struct world w;

	(void)state;
	setup_world(&w);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		const struct pev_record rec = {
			.hdr.type = PEV_REC_SAMPLE,
			.id = { .id = DWARF_ID, .time = i + 1 },
			.sample = { .stack_user = { .data = { dump, sizeof(dump) },
						    .dyn_size = cases[i].dyn },
				    .weight = 100 + i },
		};

		memset(dump, 0xff, sizeof(dump));
		for (size_t k = 0; k < cases[i].dyn; k++)
			dump[k] = (uint8_t)k;
		kernel_writes(&w, 1, &rec, 0);
		trimmed += sizeof(dump) - cases[i].size + (cases[i].size ? 0 : 8);
	}
	assert_int_equal(pev_drain_all(&w.drain, NULL), 0);
	assert_int_equal(w.drain.stats.trimmed_bytes, trimmed);
	(void)read_back(&w, look_at_stack, &stacks);
	assert_int_equal(stacks.nr, PEV_ARRAY_SIZE(cases));
	for (size_t i = 0; i < stacks.nr; i++) {
		assert_int_equal(stacks.sizes[i], cases[i].size);
		assert_int_equal(stacks.dyn[i], cases[i].dyn);
		assert_int_equal(stacks.weights[i], 100 + i);
		if (!cases[i].dyn)
			continue;
		assert_int_equal(stacks.first[i], 0);
		assert_int_equal(stacks.last[i], (uint8_t)(cases[i].dyn - 1));
	}
	teardown_world(&w);
}

static void look_at_ksymbol(void *userdata, const struct pev_record *rec)
{
	assert_int_equal(rec->hdr.type, PEV_REC_KSYMBOL);
	assert_string_equal(rec->ksymbol.name, "bpf_prog_1234_main");
	assert_int_equal(rec->id.id, TRACK_ID);
	assert_int_equal(rec->id.time, 77);
	(*(uint64_t *)userdata)++;
}

/* Linux adds up the trailers of all events that get a KSYMBOL. */
static void test_oversized_records_are_cut_to_size(void **state)
{
	const struct pev_record rec = {
		.hdr.type = PEV_REC_KSYMBOL,
		.id = { .id = TRACK_ID, .time = 77 },
		.ksymbol = { .addr = 0xffffffffc0000000,
			     .len = 64,
			     .type = 1,
			     .name = "bpf_prog_1234_main" },
	};
	uint64_t seen = 0;
	struct world w;

	(void)state;
	setup_world(&w);
	kernel_writes(&w, 2, &rec, 0);
	kernel_writes(&w, 2, &rec, 32);
	kernel_writes(&w, 2, &rec, 24);
	assert_int_equal(pev_drain_all(&w.drain, NULL), 0);
	assert_int_equal(w.states, 3);
	(void)read_back(&w, look_at_ksymbol, &seen);
	assert_int_equal(seen, 3);
	assert_int_equal(w.drain.stats.unknown + w.drain.stats.undecodable, 0);
	teardown_world(&w);
}

/* perf refuses a file with an id it does not know; and nobody can read a record that contradicts
 * itself. */
static void test_drops_and_counts_what_nobody_could_read(void **state)
{
	const uint64_t stranger[] = { 9 | 48ULL << 48, 999, 1, 2, 3, 4 };
	uint64_t broken[8] = { 9 | 64ULL << 48, SAMPLE_ID, 1, 2, 3, 4, 1000, 5 };
	const uint64_t newer[] = { 40 | 48ULL << 48, 0, 0, 0, 0, SAMPLE_ID };
	uint64_t seen = 0;
	struct world w;

	(void)state;
	setup_world(&w);
	sample(&w, 5, 0);
	fake_ring_write(&w.fake, stranger, sizeof(stranger));
	fake_ring_write(&w.fake, broken, sizeof(broken));
	fake_ring_write(&w.fake, newer, sizeof(newer));
	sample(&w, 6, 0);
	assert_int_equal(pev_drain_all(&w.drain, NULL), 0);
	assert_int_equal(w.drain.stats.unknown, 2);
	assert_int_equal(w.drain.stats.undecodable, 1);
	assert_int_equal(w.drain.stats.samples, 2);
	(void)read_back(&w, count, &seen);
	assert_int_equal(seen, 2);
	teardown_world(&w);
}

static void test_counts_losses_by_ring_and_event(void **state)
{
	const struct pev_record lost = { .hdr.type = PEV_REC_LOST,
					 .id = { .id = DWARF_ID, .time = 3 },
					 .lost = { .id = DWARF_ID, .lost = 41 } };
	const struct pev_record throttle = { .hdr.type = PEV_REC_THROTTLE,
					     .id = { .id = SAMPLE_ID, .time = 4 } };
	struct world w;

	(void)state;
	setup_world(&w);
	kernel_writes(&w, 1, &lost, 0);
	kernel_writes(&w, 0, &throttle, 0);
	assert_int_equal(pev_drain_all(&w.drain, NULL), 0);
	assert_int_equal(w.drain.stats.lost_records, 41);
	assert_int_equal(w.drain.ring_loss[0].lost_records, 41);
	assert_int_equal(w.drain.event_loss[1].lost_records, 41);
	assert_int_equal(w.drain.event_loss[0].lost_records, 0);
	assert_int_equal(w.drain.stats.throttles, 1);
	teardown_world(&w);
}

/* A block waits for more, but not for ever. */
static void test_flushes_by_age(void **state)
{
	struct world w;
	uint64_t before;

	(void)state;
	setup_world(&w);
	before = pev_writer_stats(w.writer).bytes;
	sample(&w, 5, 0);
	assert_int_equal(pev_drain_all(&w.drain, NULL), 0);
	assert_int_equal(pev_drain_flush(&w.drain, w.drain.block_since_ns + 999, 1000, NULL), 0);
	assert_int_equal(pev_writer_stats(w.writer).bytes, before);
	assert_int_equal(pev_drain_flush(&w.drain, w.drain.block_since_ns + 1000, 1000, NULL), 0);
	assert_true(pev_writer_stats(w.writer).bytes > before);
	teardown_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_come_through),
		cmocka_unit_test(test_allocates_nothing),
		cmocka_unit_test(test_stacks_are_trimmed),
		cmocka_unit_test(test_oversized_records_are_cut_to_size),
		cmocka_unit_test(test_drops_and_counts_what_nobody_could_read),
		cmocka_unit_test(test_counts_losses_by_ring_and_event),
		cmocka_unit_test(test_flushes_by_age),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
