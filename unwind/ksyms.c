// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Some 200,000 lines, read in one pass, without a copy:
 *
 *   ffffffff81001870 t __do_sys_foo
 *   ffffffffc0201000 t e1000_probe	[e1000]
 *
 * The kernel's own come sorted, those of modules and BPF programs do not.
 */
#include "unwind/ksyms.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "unwind/radix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE        4096
#define TOP_BIT     (1ULL << 63)
#define MAX_MODULES 65535

struct entry {
	uint64_t start;
	uint32_t name; /* offset in the text; its type is the byte two before */
	uint16_t name_size;
	uint16_t module; /* index in ->modules */
};

struct module {
	uint32_t name; /* offset in the text */
	uint32_t name_size;
};

struct pev_ksyms {
	const char *text;
	struct entry *entries; /* by ->start, equal ones as in the text */
	size_t nr, cap;
	struct module *modules; /* number 0 is the kernel */
	size_t nr_modules, cap_modules;
	struct pev_ksyms_counters counters;
};

struct pev_ksyms *pev_ksyms_free(struct pev_ksyms *k)
{
	if (k) {
		free(k->entries);
		free(k->modules);
		free(k);
	}
	return NULL;
}

static bool is_kept_type(char type)
{
	return type && strchr("TtWwDdBbuN1", type);
}

/* The number of the module whose name is @size bytes at @at. Lines of a module follow each other,
 * so only the one before is looked at: a module may have several numbers. */
static int module_number(struct pev_ksyms *k, uint32_t at, uint32_t size, uint16_t *ret)
{
	const struct module *const last = &k->modules[k->nr_modules - 1];

	if (last->name_size == size && memcmp(k->text + last->name, k->text + at, size) == 0) {
		*ret = (uint16_t)(k->nr_modules - 1);
		return 0;
	}
	if (k->nr_modules == MAX_MODULES)
		return -E2BIG;
	if (k->nr_modules == k->cap_modules) {
		struct module *const p = reallocarray(k->modules, k->cap_modules * 2, sizeof(*p));

		if (!p)
			return -ENOMEM;
		k->modules = p;
		k->cap_modules *= 2;
	}
	k->modules[k->nr_modules] = (struct module){ .name = at, .name_size = size };
	*ret = (uint16_t)k->nr_modules++;
	return 0;
}

static int add(struct pev_ksyms *k, const struct entry *entry)
{
	if (k->nr == k->cap) {
		const size_t cap = k->cap ? k->cap * 2 : 4096;
		struct entry *const p = reallocarray(k->entries, cap, sizeof(*p));

		if (!p)
			return -ENOMEM;
		k->entries = p;
		k->cap = cap;
	}
	k->entries[k->nr++] = *entry;
	return 0;
}

/* Up to 16 hexadecimal digits and the blank behind them. */
static bool take_address(struct pev_cursor *line, uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned digits = 0;; digits++) {
		const uint8_t c = pev_cursor_u8(line);
		unsigned digit;

		if (c == ' ' && digits > 0) {
			*ret = v;
			return true;
		}
		if (c >= '0' && c <= '9')
			digit = c - '0';
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			digit = (c | 32) - 'a' + 10U;
		else
			return false;
		if (digits == 16)
			return false;
		v = v << 4 | digit;
	}
}

/* -EBADMSG for a line that is none; 0 when it was kept or is not wanted. */
static int read_line(struct pev_ksyms *k, struct pev_cursor line)
{
	struct entry entry = { 0 };
	const uint8_t *name, *tab;
	size_t size, name_size;
	char type;

	if (!take_address(&line, &entry.start))
		return -EBADMSG;
	type = (char)pev_cursor_u8(&line);
	if (pev_cursor_u8(&line) != ' ' || pev_cursor_left(&line) == 0)
		return -EBADMSG;
	size = pev_cursor_left(&line);
	name = pev_cursor_bytes(&line, size);
	tab = memchr(name, '\t', size);
	name_size = tab ? (size_t)(tab - name) : size;
	if (name_size == 0 || name_size > UINT16_MAX)
		return -EBADMSG;
	entry.name = (uint32_t)((const char *)name - k->text);
	entry.name_size = (uint16_t)name_size;
	if (tab) {
		const uint8_t *const end = name + size;
		int r;

		if (end - tab < 4 || tab[1] != '[' || end[-1] != ']')
			return -EBADMSG;
		r = module_number(k, (uint32_t)((const char *)tab + 2 - k->text),
				  (uint32_t)(end - tab - 3), &entry.module);
		if (r < 0)
			return r == -E2BIG ? -EBADMSG : r;
	}
	if (entry.start == 0) {
		k->counters.zero++;
		return 0;
	}
	if (!is_kept_type(type) || name[0] == '$') {
		k->counters.other_types++;
		return 0;
	}
	return add(k, &entry);
}

static int read_lines(struct pev_ksyms *k, size_t size)
{
	struct pev_cursor c = pev_cursor(k->text, size);

	while (pev_cursor_left(&c)) {
		const uint8_t *const end = memchr(c.p, '\n', pev_cursor_left(&c));
		const size_t n = end ? (size_t)(end - c.p) : pev_cursor_left(&c);
		const int r = read_line(k, pev_cursor(c.p, n));

		k->counters.lines++;
		k->counters.bad += r == -EBADMSG;
		if (r == -ENOMEM)
			return r;
		(void)pev_cursor_bytes(&c, end ? n + 1 : n);
	}
	return 0;
}

/* Sorts the symbols, and drops those that are per-CPU offsets rather than addresses. */
static int sort(struct pev_ksyms *k)
{
	_cleanup_free_ uint64_t *starts = calloc(k->nr + 1, sizeof(*starts));
	_cleanup_free_ uint32_t *order = NULL;
	struct entry *sorted;
	size_t first = 0;
	int r;

	if (!starts)
		return -ENOMEM;
	for (size_t i = 0; i < k->nr; i++)
		starts[i] = k->entries[i].start;
	r = pev_radix_order(starts, k->nr, &order);
	if (r < 0)
		return r;
	if (k->nr && starts[order[k->nr - 1]] & TOP_BIT)
		while (!(starts[order[first]] & TOP_BIT))
			first++;
	sorted = calloc(k->nr - first + 1, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (size_t i = first; i < k->nr; i++)
		sorted[i - first] = k->entries[order[i]];
	free(k->entries);
	k->entries = sorted;
	k->nr -= first;
	k->counters.other_types += first;
	k->counters.kept = k->nr;
	return 0;
}

int pev_ksyms_new(const void *text, size_t size, struct pev_ksyms **ret, struct pev_err *err)
{
	_cleanup_(pev_ksyms_freep) struct pev_ksyms *k = NULL;
	int r;

	if (size >= UINT32_MAX)
		return pev_err_set(err, -E2BIG,
				   "The kernel's symbols are %zu bytes of text; "
				   "4 GiB are the limit",
				   size);
	k = calloc(1, sizeof(*k));
	if (!k)
		return pev_err_set(err, -ENOMEM, "No memory for the kernel's symbols");
	k->text = text;
	k->cap_modules = 16;
	k->nr_modules = 1;
	k->modules = calloc(k->cap_modules, sizeof(*k->modules));
	r = k->modules ? read_lines(k, size) : -ENOMEM;
	if (r == 0)
		r = sort(k);
	if (r < 0)
		return pev_err_set(err, r, "No memory for the kernel's symbols");
	*ret = TAKE_PTR(k);
	return 0;
}

static bool is_same_module(const struct pev_ksyms *k, const struct entry *a, const struct entry *b)
{
	const struct module *const x = &k->modules[a->module], *const y = &k->modules[b->module];

	return x->name_size == y->name_size &&
	       memcmp(k->text + x->name, k->text + y->name, x->name_size) == 0;
}

bool pev_ksyms_find(const struct pev_ksyms *k, uint64_t addr, struct pev_ksym *ret)
{
	const struct entry *e, *next;
	size_t lo = 0, hi = k->nr;
	uint64_t end;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (k->entries[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0)
		return false;
	e = &k->entries[lo - 1];
	next = lo < k->nr ? &k->entries[lo] : NULL;
	if (next && is_same_module(k, e, next))
		end = next->start;
	else
		end = ((e->start + PAGE - 1) & ~(uint64_t)(PAGE - 1)) + PAGE;
	if (addr - e->start >= end - e->start)
		return false;
	*ret = (struct pev_ksym){
		.name = k->text + e->name,
		.name_size = e->name_size,
		.module = e->module ? k->text + k->modules[e->module].name : NULL,
		.module_size = k->modules[e->module].name_size,
		.start = e->start,
		.end = end,
		.type = k->text[e->name - 2],
	};
	return true;
}

int pev_ksyms_address(const struct pev_ksyms *k, const char *name, uint64_t *ret)
{
	const size_t n = strlen(name);

	for (size_t i = 0; i < k->nr; i++) {
		const struct entry *const e = &k->entries[i];

		if (e->module || e->name_size != n || memcmp(k->text + e->name, name, n) != 0)
			continue;
		*ret = e->start;
		return 0;
	}
	return -ENOENT;
}

const struct pev_ksyms_counters *pev_ksyms_counters(const struct pev_ksyms *k)
{
	return &k->counters;
}
