// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * libiberty does the work; here is the cache, and the fence around it. libiberty prints through a
 * callback, piece by piece, and has no way to be told to stop: the callback jumps out of it once a
 * name has grown absurd. It may be left like that, since on this path it keeps what it has on the
 * stack; the one exception, the letters of a Rust identifier in punycode, is some bytes lost.
 */
#include "unwind/demangle.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "unwind/strings.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEMANGLED 65536
/* D has no callback to jump out of; its names get a limit that leaves it little to repeat. */
#define MAX_MANGLED_D 4096

struct name {
	const char *raw; /* in ->pool; NULL: free slot */
	const char *readable;
};

struct pev_demangler {
	enum pev_demangle_style style;
	struct pev_strings pool;
	struct name *names; /* by the address of ->raw, open addressing, a power of two of them */
	size_t nr_slots, nr;

	/* What the name that is being demangled has become so far. */
	size_t size;
	jmp_buf out_of_here;
	char text[MAX_DEMANGLED];
};

struct pev_demangler *pev_demangler_new(enum pev_demangle_style style)
{
	struct pev_demangler *const d = calloc(1, sizeof(*d));

	if (d)
		d->style = style;
	return d;
}

struct pev_demangler *pev_demangler_free(struct pev_demangler *d)
{
	if (d) {
		pev_strings_done(&d->pool);
		free(d->names);
		free(d);
	}
	return NULL;
}

static void append(const char *text, size_t n, void *arg)
{
	struct pev_demangler *const d = arg;

	if (n > sizeof(d->text) - d->size)
		longjmp(d->out_of_here, 1);
	memcpy(d->text + d->size, text, n);
	d->size += n;
}

static bool demangle_d(struct pev_demangler *d, const char *raw)
{
	_cleanup_free_ char *text = NULL;

	if (strnlen(raw, MAX_MANGLED_D) == MAX_MANGLED_D)
		return false;
	text = dlang_demangle(raw, DMGL_NO_OPTS);
	if (!text || strlen(text) > sizeof(d->text))
		return false;
	d->size = strlen(text);
	memcpy(d->text, text, d->size);
	return true;
}

/* True when @raw was mangled: its readable form is then in ->text. */
static bool demangle(struct pev_demangler *d, const char *raw)
{
	const int options = d->style == PEV_DEMANGLE_FULL ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS;

	d->size = 0;
	if (setjmp(d->out_of_here))
		return false;
	/* Rust first: a legacy Rust name is a valid C++ name too. */
	if (rust_demangle_callback(raw, DMGL_NO_OPTS, append, d))
		return true;
	d->size = 0;
	if (raw[1] == 'D')
		return demangle_d(d, raw);
	return cplus_demangle_v3_callback(raw, options, append, d);
}

/* "_Z", "_R", "_D" and "_GLOBAL_" are all that is ever mangled; most names of C start otherwise. */
static bool may_be_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R' || name[1] == 'D' ||
				  strncmp(name, "_GLOBAL_", 8) == 0);
}

/*
 * Where the mangled name ends and something else begins: at an '@' (a version, a PLT stub), and for
 * Rust at the '.' of what LLVM appends, which libiberty would drop. C++ keeps its ".cold" and
 * ".isra.0": libiberty turns them into "[clone .cold]".
 */
static const char *tail_of(const char *raw)
{
	const char *end = raw + strcspn(raw, "@");
	const char *dot = NULL;

	if (raw[1] == 'R') {
		dot = memchr(raw, '.', (size_t)(end - raw));
	} else {
		/* Legacy Rust has dots inside; its end is "17h", 16 hex digits and "E". */
		const char *p = raw;

		while (!dot && (p = strstr(p, "17h")) && p < end) {
			p += 3;
			if (strspn(p, "0123456789abcdef") == 16 && p[16] == 'E' && p[17] == '.')
				dot = p + 17;
		}
	}
	return dot && dot < end ? dot : end;
}

static const char *readable(struct pev_demangler *d, const char *raw)
{
	const char *tail;
	_cleanup_free_ char *front = NULL;
	size_t n;

	if (d->style == PEV_DEMANGLE_OFF || !may_be_mangled(raw))
		return raw;
	tail = tail_of(raw);
	if (*tail) {
		front = strndup(raw, (size_t)(tail - raw));
		if (!front)
			return raw;
	}
	if (!demangle(d, front ? front : raw))
		return raw;
	/* The hash of a local symbol that LLVM made global says nothing to anybody. */
	if (strncmp(tail, ".llvm.", 6) == 0)
		tail += strcspn(tail, "@");
	n = strlen(tail);
	if (n > sizeof(d->text) - d->size)
		return raw;
	memcpy(d->text + d->size, tail, n);
	d->size += n;
	return pev_strings_put(&d->pool, d->text, strnlen(d->text, d->size));
}

static size_t slot_of(const struct pev_demangler *d, const char *raw)
{
	size_t i = pev_hash_u64((uintptr_t)raw) & (d->nr_slots - 1);

	while (d->names[i].raw && d->names[i].raw != raw)
		i = (i + 1) & (d->nr_slots - 1);
	return i;
}

static bool grow(struct pev_demangler *d)
{
	const size_t old_nr = d->nr_slots;
	_cleanup_free_ struct name *old = d->names;

	d->names = calloc(old_nr ? old_nr * 2 : 256, sizeof(*d->names));
	if (!d->names) {
		d->names = TAKE_PTR(old);
		return false;
	}
	d->nr_slots = old_nr ? old_nr * 2 : 256;
	for (size_t i = 0; i < old_nr; i++)
		if (old[i].raw)
			d->names[slot_of(d, old[i].raw)] = old[i];
	return true;
}

const char *pev_demangle(struct pev_demangler *d, const char *name)
{
	const char *const raw = pev_strings_put(&d->pool, name, strlen(name));
	const char *text;
	struct name *slot;

	if (!raw || (d->nr >= d->nr_slots / 4 * 3 && !grow(d)))
		return name;
	slot = &d->names[slot_of(d, raw)];
	if (slot->raw)
		return slot->readable;
	text = readable(d, raw);
	*slot = (struct name){ .raw = raw, .readable = text ? text : raw };
	d->nr++;
	return slot->readable;
}
