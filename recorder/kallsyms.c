// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The file has some hundred thousand lines of which a handful are wanted, and the kernel takes tens
 * of milliseconds to write them: so it is read in one pass, in chunks, and a line is looked at no
 * further than it takes to see that it is not wanted.
 */
#include "recorder/kallsyms.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/cursor.h"

#include <errno.h>
#include <fcntl.h>

#define CHUNK_BYTES (64 * 1024)
#define BPF_MAX     1000000U /* symbols: a limit for sanity, far above what can be loaded */

struct line {
	uint64_t addr;
	const char *name;
	size_t name_len;
	const char *module; /* without the brackets; NULL: the kernel itself */
	size_t module_len;
};

/* "ffffffff81000000 T _text" or "ffffffffc0000000 t init_once\t[fuse]" */
static bool parse_line(const char *p, const char *end, struct line *ret)
{
	struct line line = { .addr = 0 };
	const char *tab, *start = p;

	for (; p < end && *p != ' '; p++) {
		const char c = *p;

		if (line.addr >> 60)
			return false;
		if (c >= '0' && c <= '9')
			line.addr = line.addr << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			line.addr = line.addr << 4 | (uint64_t)(c - 'a' + 10);
		else
			return false;
	}
	if (p == start || end - p < 4 || p[2] != ' ')
		return false;
	line.name = p + 3;
	tab = memchr(line.name, '\t', (size_t)(end - line.name));
	line.name_len = (size_t)((tab ? tab : end) - line.name);
	if (tab) {
		if (end - tab < 4 || tab[1] != '[' || end[-1] != ']')
			return false;
		line.module = tab + 2;
		line.module_len = (size_t)(end - 1 - line.module);
	}
	*ret = line;
	return true;
}

static bool is(const char *s, size_t len, const char *what)
{
	return len == strlen(what) && memcmp(s, what, len) == 0;
}

static int add_bpf(struct pev_kallsyms *k, size_t *cap, const struct line *line)
{
	const size_t name = k->names.size;

	if (k->nr_bpf == *cap) {
		const size_t more = *cap ? *cap * 2 : 64;
		struct pev_bpf_symbol *const bigger = realloc(k->bpf, more * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		k->bpf = bigger;
		*cap = more;
	}
	pev_buf_put(&k->names, line->name, line->name_len);
	pev_buf_u8(&k->names, 0);
	k->bpf[k->nr_bpf++] = (struct pev_bpf_symbol){ .addr = line->addr, .name = name };
	return pev_buf_status(&k->names);
}

struct reading {
	struct pev_kallsyms *k;
	size_t cap; /* of k->bpf */
	uint64_t lines;
	bool want_bpf;
	bool any_addr;
	bool done;
};

static int take_line(struct reading *rd, const struct line *line)
{
	struct pev_kallsyms *const k = rd->k;

	if (line->addr)
		rd->any_addr = true;
	if (line->module) {
		if (!rd->want_bpf)
			rd->done = true;
		else if (line->addr && is(line->module, line->module_len, "bpf") &&
			 k->nr_bpf < BPF_MAX)
			return add_bpf(k, &rd->cap, line);
	} else if (line->name[0] == '_') {
		if (is(line->name, line->name_len, "_text"))
			k->text = line->addr;
		else if (is(line->name, line->name_len, "_stext"))
			k->stext = line->addr;
		else if (is(line->name, line->name_len, "_etext"))
			k->etext = line->addr;
		else if (is(line->name, line->name_len, "_edata"))
			k->edata = line->addr;
	}
	return 0;
}

/* Takes the whole lines of @text and tells how many bytes they are. */
static int take_lines(struct reading *rd, const char *text, size_t size, size_t *ret_used)
{
	const char *p = text;
	const char *end;

	while (!rd->done && (end = memchr(p, '\n', size - (size_t)(p - text)))) {
		struct line line;
		int r;

		if (!parse_line(p, end, &line))
			return -EBADMSG;
		rd->lines++;
		r = take_line(rd, &line);
		if (r < 0)
			return r;
		p = end + 1;
	}
	*ret_used = (size_t)(p - text);
	return 0;
}

static int read_lines(int fd, struct reading *rd)
{
	_cleanup_free_ char *chunk = malloc(CHUNK_BYTES);
	size_t have = 0;

	if (!chunk)
		return -ENOMEM;
	while (!rd->done) {
		const ssize_t n = read(fd, chunk + have, CHUNK_BYTES - have);
		size_t used;
		int r;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return have ? -EBADMSG : 0;
		have += (size_t)n;
		r = take_lines(rd, chunk, have, &used);
		if (r < 0)
			return r;
		if (!used && have == CHUNK_BYTES)
			return -EBADMSG; /* a line as long as that is none */
		have -= used;
		memmove(chunk, chunk + used, have);
	}
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct pev_bpf_symbol *const x = a;
	const struct pev_bpf_symbol *const y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

int pev_kallsyms_read(const char *path, bool want_bpf, struct pev_kallsyms *ret,
		      struct pev_err *err)
{
	_cleanup_(pev_kallsyms_done) struct pev_kallsyms k = { 0 };
	struct reading rd = { .k = &k, .want_bpf = want_bpf };
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return pev_err_set(err, -errno, "cannot open %s: %s", path, pev_errno_str(errno));
	r = read_lines(fd, &rd);
	if (r == -EBADMSG)
		return pev_err_set(err, r, "%s: line %llu is not \"address type name\"", path,
				   (unsigned long long)rd.lines + 1);
	if (r < 0)
		return pev_err_set(err, r, "cannot read %s: %s", path, pev_errno_str(r));
	k.hidden = rd.lines && !rd.any_addr;
	if (k.nr_bpf)
		qsort(k.bpf, k.nr_bpf, sizeof(*k.bpf), compare);
	*ret = k;
	k = (struct pev_kallsyms){ 0 };
	return 0;
}

void pev_kallsyms_done(struct pev_kallsyms *k)
{
	free(k->bpf);
	pev_buf_done(&k->names);
	*k = (struct pev_kallsyms){ 0 };
}
