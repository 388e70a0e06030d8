// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "unwind/jitdump.h"

#include <errno.h>
#include <string.h>

/* Writes a dump, in the byte order of this machine or the other one. */
struct writer {
	struct pev_buf buf;
	bool swap;
	size_t record; /* where the record that is being written starts */
};

static void put32(struct writer *w, uint32_t v)
{
	pev_buf_u32(&w->buf, w->swap ? __builtin_bswap32(v) : v);
}

static void put64(struct writer *w, uint64_t v)
{
	pev_buf_u64(&w->buf, w->swap ? __builtin_bswap64(v) : v);
}

static void put_str(struct writer *w, const char *s)
{
	pev_buf_put(&w->buf, s, strlen(s) + 1);
}

static void header(struct writer *w, uint64_t flags)
{
	put32(w, 0x4A695444);
	put32(w, 1);
	put32(w, 48); /* 8 bytes more than is known */
	put32(w, 62);
	put32(w, 0);
	put32(w, 4242);
	put64(w, 1000);
	put64(w, flags);
	put64(w, 0);
}

static void begin(struct writer *w, uint32_t type, uint64_t time)
{
	w->record = w->buf.size;
	put32(w, type);
	put32(w, 0);
	put64(w, time);
}

static void end(struct writer *w)
{
	uint32_t size = (uint32_t)(w->buf.size - w->record);

	size = w->swap ? __builtin_bswap32(size) : size;
	memcpy(w->buf.data + w->record + 4, &size, sizeof(size));
}

static void load(struct writer *w, uint64_t time, uint64_t addr, uint64_t size, uint64_t index,
		 const char *name)
{
	begin(w, 0, time);
	put32(w, 4242);
	put32(w, 4243);
	put64(w, addr);
	put64(w, addr);
	put64(w, size);
	put64(w, index);
	put_str(w, name);
	for (uint64_t i = 0; i < size; i++)
		pev_buf_u8(&w->buf, (uint8_t)index);
	end(w);
}

static void move(struct writer *w, uint64_t time, uint64_t from, uint64_t to, uint64_t size,
		 uint64_t index)
{
	begin(w, 1, time);
	put32(w, 4242);
	put32(w, 4243);
	put64(w, to);
	put64(w, from);
	put64(w, to);
	put64(w, size);
	put64(w, index);
	end(w);
}

static void whole_dump(struct writer *w)
{
	header(w, 0);
	begin(w, 2, 2000);
	put64(w, 0x1000);
	put64(w, 3);
	put64(w, 0x1000);
	put32(w, 10);
	put32(w, 0);
	put_str(w, "/srv/App.java");
	put64(w, 0x1010);
	put32(w, 12);
	put32(w, 0);
	put_str(w, "\xff");
	put64(w, 0x1020);
	put32(w, 3);
	put32(w, 0);
	put_str(w, "/srv/Inlined.java");
	end(w);
	begin(w, 4, 2000);
	put64(w, 12);
	put64(w, 4);
	put64(w, 64);
	pev_buf_put(&w->buf, "hdr.ehframe.", 12);
	pev_buf_put(&w->buf, "\0\0\0\0", 4);
	end(w);
	load(w, 2000, 0x1000, 0x40, 1, "first");
	load(w, 3000, 0x1020, 0x40, 2, "over the end of first");
	load(w, 4000, 0x5000, 0x20, 3, "JS:*fib /srv/app.js:1:13");
	move(w, 5000, 0x1000, 0x9000, 0x40, 1);
	move(w, 5000, 0x1000, 0x9000, 0x40, 77); /* never loaded */
	begin(w, 99, 6000);
	put64(w, 0);
	end(w);
	load(w, 7000, 0x1000, 0x10, 4, "where first was");
	begin(w, 3, 8000);
	end(w);
}

static struct pev_jitdump *parse(const void *bytes, size_t size)
{
	struct pev_err err = PEV_ERR_INIT;
	struct pev_jitdump *j = NULL;

	if (pev_jitdump_new(bytes, size, &j, &err) < 0)
		fail_msg("%s", err.msg);
	return j;
}

static void assert_code(const struct pev_jitdump *j, uint64_t addr, uint64_t time, const char *name)
{
	struct pev_jit_code code;

	if (pev_jitdump_find(j, addr, time, &code) != (name != NULL))
		fail_msg("%#lx at %lu: wrong to be %s", addr, time, name ? "missing" : "there");
	if (name)
		assert_string_equal(code.name, name);
}

static void addresses_and_times(void **state)
{
	for (int swap = 0; swap < 2; swap++) {
		struct writer w = { .swap = swap };
		const struct pev_jitdump_counters *n;
		struct pev_jit_code code;
		struct pev_jitdump *j;

		(void)state;
		whole_dump(&w);
		j = parse(w.buf.data, w.buf.size);
		n = pev_jitdump_counters(j);
		assert_int_equal(pev_jitdump_header(j)->pid, 4242);
		assert_int_equal(pev_jitdump_header(j)->machine, 62);
		assert_int_equal(pev_jitdump_header(j)->swapped, swap);
		assert_false(pev_jitdump_header(j)->arch_time);
		assert_code(j, 0x1000, 1999, NULL);
		assert_code(j, 0x1000, 2000, "first");
		assert_code(j, 0x1020, 2999, "first");
		assert_code(j, 0x1020, 3000, "over the end of first");
		assert_code(j, 0x101f, 3000, "first");
		assert_code(j, 0x105f, 3000, "over the end of first");
		assert_code(j, 0x1060, 3000, NULL);
		/* Moved away, and something else put there later. */
		assert_code(j, 0x1000, 5000, NULL);
		assert_code(j, 0x9000, 4999, NULL);
		assert_code(j, 0x903f, 5000, "first");
		assert_code(j, 0x1000, 7000, "where first was");
		assert_code(j, 0x1010, 7000, NULL);
		assert_code(j, 0x1000, PEV_JITDUMP_LATEST, "where first was");
		assert_code(j, 0x9000, PEV_JITDUMP_LATEST, "first");

		assert_true(pev_jitdump_find(j, 0x9000, 5000, &code));
		assert_int_equal(code.time, 5000);
		assert_int_equal(code.code_size, 0x40);
		assert_int_equal(code.code[0x3f], 1);
		assert_int_equal(code.unwinding_size, 12);
		assert_int_equal(code.eh_frame_hdr_size, 4);
		assert_int_equal(code.mapped_size, 64);
		assert_memory_equal(code.unwinding, "hdr.ehframe.", 12);

		assert_int_equal(n->records, 10);
		assert_int_equal(n->loads, 4);
		assert_int_equal(n->moves, 2);
		assert_int_equal(n->unknown_moves, 1);
		assert_int_equal(n->unknown, 1);
		assert_int_equal(n->closed, 1);
		assert_int_equal(n->bad + n->bad_lines + n->cut_bytes, 0);
		pev_jitdump_free(j);
		pev_buf_done(&w.buf);
	}
}

static void lines(void **state)
{
	static const struct {
		uint64_t time, addr;
		const char *file;
		uint32_t line;
	} cases[] = {
		{ 2000, 0x1000, "/srv/App.java", 10 },
		{ 2000, 0x100f, "/srv/App.java", 10 },
		{ 2000, 0x1010, "/srv/App.java", 12 },
		{ 2000, 0x103f, "/srv/Inlined.java", 3 },
		{ 5000, 0x9012, "/srv/App.java", 12 }, /* they move along */
		{ 4000, 0x5000, NULL, 0 },
	};
	_cleanup_(pev_jitdump_freep) struct pev_jitdump *j = NULL;
	struct writer w = { 0 };

	(void)state;
	whole_dump(&w);
	j = parse(w.buf.data, w.buf.size);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		struct pev_jit_code code;
		const char *file;
		uint32_t line;

		assert_true(pev_jitdump_find(j, cases[i].addr, cases[i].time, &code));
		assert_int_equal(pev_jitdump_line(j, &code, cases[i].addr, &file, &line),
				 cases[i].file != NULL);
		if (cases[i].file) {
			assert_string_equal(file, cases[i].file);
			assert_int_equal(line, cases[i].line);
		}
	}
	pev_buf_done(&w.buf);
}

/* V8 counts from an ELF header that is not there, and has been seen to write rubbish. */
static void lines_of_v8(void **state)
{
	_cleanup_(pev_jitdump_freep) struct pev_jitdump *j = NULL;
	struct writer w = { 0 };
	struct pev_jit_code code;
	const char *file;
	uint32_t line;

	(void)state;
	header(&w, 1);
	begin(&w, 2, 1);
	put64(&w, 0x1000);
	put64(&w, 3);
	put64(&w, 0x1040);
	put32(&w, 7);
	put32(&w, 0);
	put_str(&w, "app.js");
	put64(&w, 0xdeadbeef);
	put32(&w, 7);
	put32(&w, 0);
	put_str(&w, "");
	put64(&w, 0x1044);
	put32(&w, 8);
	put32(&w, 0);
	put_str(&w, "app.js");
	end(&w);
	load(&w, 1, 0x1000, 0x10, 1, "JS:*fib app.js:7:1");
	j = parse(w.buf.data, w.buf.size);
	assert_true(pev_jitdump_header(j)->arch_time);
	assert_int_equal(pev_jitdump_counters(j)->bad_lines, 2);
	assert_true(pev_jitdump_find(j, 0x1004, 1, &code));
	assert_true(pev_jitdump_line(j, &code, 0x1004, &file, &line));
	assert_string_equal(file, "app.js");
	assert_int_equal(line, 7);
	pev_buf_done(&w.buf);
}

/* Many versions of code at random places, against a look at all of them. */
static void like_looking_at_all(void **state)
{
	enum {
		NR = 300
	};
	_cleanup_(pev_jitdump_freep) struct pev_jitdump *j = NULL;
	uint64_t start[NR], size[NR], seed = 5;
	struct writer w = { 0 };

	(void)state;
	header(&w, 0);
	for (unsigned i = 0; i < NR; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		start[i] = seed >> 50;
		size[i] = 1 + (seed >> 30) % 900;
		load(&w, 100 + i / 2, start[i], size[i], i, "x");
	}
	j = parse(w.buf.data, w.buf.size);
	for (uint64_t addr = 0; addr < 17500; addr += 13)
		for (uint64_t time = 99; time < 260; time += 23) {
			struct pev_jit_code code;
			int want = -1;

			for (int i = 0; i < NR; i++)
				if (addr - start[i] < size[i] && 100 + (uint64_t)i / 2 <= time)
					want = i;
			if (pev_jitdump_find(j, addr, time, &code) != (want >= 0))
				fail_msg("%lu at %lu", addr, time);
			if (want >= 0)
				assert_int_equal(code.index, want);
		}
	pev_buf_done(&w.buf);
}

static void touch_all(const struct pev_jitdump *j)
{
	for (uint64_t addr = 0x1000; addr < 0x9040; addr += 0x18) {
		struct pev_jit_code code;
		const char *file;
		uint32_t line;
		size_t sum = 0;

		if (!pev_jitdump_find(j, addr, 5500, &code))
			continue;
		sum += strlen(code.name);
		for (uint64_t i = 0; i < code.code_size; i++)
			sum += code.code[i];
		for (uint64_t i = 0; i < code.unwinding_size; i++)
			sum += code.unwinding[i];
		if (pev_jitdump_line(j, &code, addr, &file, &line))
			sum += strlen(file);
		assert_true(sum < SIZE_MAX);
	}
}

/* Every prefix and every flipped bit, in memory that ends where the bytes end. */
static void damaged_bytes(void **state)
{
	struct writer w = { 0 };
	size_t size;

	(void)state;
	whole_dump(&w);
	size = w.buf.size;
	for (size_t i = 0; i <= size + 8 * size; i++) {
		const size_t n = i <= size ? i : size;
		uint8_t *const copy = malloc(n ? n : 1);
		struct pev_err err = PEV_ERR_INIT;
		struct pev_jitdump *j = NULL;
		int r;

		assert_non_null(copy);
		memcpy(copy, w.buf.data, n);
		if (i > size)
			copy[(i - size - 1) / 8] ^= (uint8_t)(1 << (i - size - 1) % 8);
		r = pev_jitdump_new(copy, n, &j, &err);
		if (r == 0) {
			touch_all(j);
		} else {
			assert_null(j);
			assert_int_equal(err.code, r);
		}
		if (i < 48)
			assert_int_equal(r, -ENODATA);
		else if (i <= size)
			assert_int_equal(r, 0);
		pev_jitdump_free(j);
		free(copy);
	}
	pev_buf_done(&w.buf);
}

static void errors_are_said(void **state)
{
	static const struct {
		uint32_t magic, version, size;
		int code;
		const char *words;
	} cases[] = {
		{ 0x12345678, 1, 40, -EBADMSG, "Not a jitdump" },
		{ 0x4A695444, 2, 40, -EPROTONOSUPPORT, "version 2" },
		{ 0x4A695444, 1, 39, -EBADMSG, "39 bytes" },
		{ 0x4A695444, 1, 41, -ENODATA, "within its header" },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		uint32_t bytes[10] = { cases[i].magic, cases[i].version, cases[i].size };
		struct pev_err err = PEV_ERR_INIT;
		struct pev_jitdump *j = NULL;

		assert_int_equal(pev_jitdump_new(bytes, sizeof(bytes), &j, &err), cases[i].code);
		assert_non_null(strstr(err.msg, cases[i].words));
	}
}

static void a_cut_tail_is_counted(void **state)
{
	struct writer w = { 0 };
	struct pev_jitdump *j;

	(void)state;
	whole_dump(&w);
	j = parse(w.buf.data, w.buf.size - 20);
	/* The CLOSE of 16 bytes is gone, and the last LOAD is not whole. */
	assert_int_equal(pev_jitdump_counters(j)->loads, 3);
	assert_true(pev_jitdump_counters(j)->cut_bytes > 0);
	assert_code(j, 0x1000, 7000, NULL);
	assert_code(j, 0x9000, 7000, "first");
	pev_jitdump_free(j);
	pev_buf_done(&w.buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_and_times),   cmocka_unit_test(lines),
		cmocka_unit_test(lines_of_v8),           cmocka_unit_test(like_looking_at_all),
		cmocka_unit_test(damaged_bytes),         cmocka_unit_test(errors_are_said),
		cmocka_unit_test(a_cut_tail_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
