// SPDX-License-Identifier: LGPL-2.1-or-later
#include "recorder/kernel_map.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "recorder/buildid.h"

#include <errno.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#define NOTES_MAX_BYTES   (64 * 1024)
#define MODULES_MAX_BYTES (16 << 20)
#define DEP_MAX_BYTES     (64 << 20)
#define MODULE_NAME_MAX   64 /* include/linux/module.h: MODULE_NAME_LEN is less */

struct module {
	char name[MODULE_NAME_MAX]; /* with '_', as the kernel spells it */
	uint64_t start, len;
	const char *path; /* in the text of modules.dep, or NULL */
	int path_len;
};

struct modules {
	struct module *list; /* owned; sorted by name until they are told */
	size_t nr;
	struct pev_buf dep; /* the text of modules.dep */
};

static void modules_done(struct modules *m)
{
	free(m->list);
	pev_buf_done(&m->dep);
}

/* A build-id from a note file of /sys; size 0 when it has none. */
static struct pev_buildid read_note_file(const char *path)
{
	_cleanup_buf_ struct pev_buf notes = { 0 };
	struct pev_buildid id = { .size = 0 };

	if (pev_read_path(path, NOTES_MAX_BYTES, &notes) >= 0)
		(void)pev_buildid_from_notes(notes.data, notes.size, 4, false, &id);
	return id;
}

static int put_mapping(struct pev_emit *e, const char *name, uint64_t start, uint64_t len,
		       uint64_t pgoff, const struct pev_buildid *id,
		       struct pev_kernel_map_stats *stats)
{
	struct pev_record rec = {
		.hdr = { .type = PEV_REC_MMAP, .misc = PEV_MISC_KERNEL },
		.mmap = {
			.pid = UINT32_MAX,
			.start = start,
			.len = len,
			.pgoff = pgoff,
			.filename = name,
		},
	};

	if (id->size) {
		rec.hdr.type = PEV_REC_MMAP2;
		rec.hdr.misc |= PEV_MISC_MMAP_BUILD_ID;
		rec.mmap.build_id_size = id->size;
		memcpy(rec.mmap.build_id, id->bytes, sizeof(id->bytes));
		rec.mmap.prot = PROT_READ | PROT_EXEC;
		rec.mmap.flags = MAP_PRIVATE;
		stats->build_ids++;
	}
	return pev_emit(e, 0, 0, &rec);
}

/*
 * Modules.
 */

/* The next field of a line of /proc/modules, NUL-terminated in place; NULL at the line's end. */
static char *next_field(char **p)
{
	return strsep(p, " ");
}

/* "ext4 1142784 2 - Live 0xffffffffc0123000 (OE)": name, bytes, users, by whom, state, address. */
static bool parse_module(char *line, struct module *ret)
{
	char *const name = next_field(&line);
	char *const size = next_field(&line);
	char *end, *addr = NULL;

	for (int i = 0; i < 4 && line; i++)
		addr = next_field(&line);
	if (!name || !size || !addr || strncmp(addr, "0x", 2) != 0 ||
	    strlen(name) >= MODULE_NAME_MAX || !*name)
		return false;
	*ret = (struct module){ .path = NULL };
	memcpy(ret->name, name, strlen(name));
	ret->len = strtoull(size, &end, 10);
	if (end == size || *end)
		return false;
	ret->start = strtoull(addr, &end, 16);
	return *end == 0;
}

static int compare_name(const void *a, const void *b)
{
	const struct module *const x = a;
	const struct module *const y = b;

	return strcmp(x->name, y->name);
}

static int compare_start(const void *a, const void *b)
{
	const struct module *const x = a;
	const struct module *const y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int read_modules(const char *path, struct modules *ret)
{
	_cleanup_buf_ struct pev_buf text = { 0 };
	char *p, *line;
	size_t lines = 0;
	int r;

	r = pev_read_path(path, MODULES_MAX_BYTES, &text);
	if (r < 0)
		return r == -ENOMEM ? r : 0; /* a kernel without modules has no such file */
	for (size_t i = 0; i < text.size; i++)
		lines += text.data[i] == '\n';
	ret->list = calloc(lines + 1, sizeof(*ret->list));
	if (!ret->list)
		return -ENOMEM;
	p = (char *)text.data;
	while (ret->nr < lines && (line = strsep(&p, "\n")))
		if (parse_module(line, &ret->list[ret->nr]))
			ret->nr++;
	qsort(ret->list, ret->nr, sizeof(*ret->list), compare_name);
	return 0;
}

/* Gives the module of the file @path (".../snd-hda-intel.ko.zst") that path. */
static void take_path(struct modules *m, const char *path, size_t len)
{
	const char *const slash = memrchr(path, '/', len);
	const char *const base = slash ? slash + 1 : path;
	const char *const ko = memmem(base, len - (size_t)(base - path), ".ko", 3);
	struct module key = { .path = NULL };
	struct module *found;

	if (!ko || ko - base >= MODULE_NAME_MAX || len > PATH_MAX)
		return;
	for (const char *c = base; c < ko; c++)
		key.name[c - base] = *c == '-' ? '_' : *c;
	found = bsearch(&key, m->list, m->nr, sizeof(*m->list), compare_name);
	if (found) {
		found->path = path;
		found->path_len = (int)len;
	}
}

/* modules.dep(5): each line is the path of a module file, ':' and those that it needs. */
static int find_paths(struct modules *m, const char *lib_modules)
{
	char path[PATH_MAX];
	const char *p, *end, *newline;
	int r;

	(void)snprintf(path, sizeof(path), "%s/modules.dep", lib_modules);
	r = pev_read_path(path, DEP_MAX_BYTES, &m->dep);
	if (r < 0) {
		pev_buf_reset(&m->dep);
		return r == -ENOMEM ? r : 0;
	}
	p = (const char *)m->dep.data;
	end = p + m->dep.size;
	for (; p < end && (newline = memchr(p, '\n', (size_t)(end - p))); p = newline + 1) {
		const char *const colon = memchr(p, ':', (size_t)(newline - p));

		if (colon)
			take_path(m, p, (size_t)(colon - p));
	}
	return 0;
}

static int put_module(struct pev_emit *e, const struct module *m, bool build_ids,
		      const struct pev_kernel_paths *paths, struct pev_kernel_map_stats *stats)
{
	struct pev_buildid id = { .size = 0 };
	char name[2 * PATH_MAX], note[PATH_MAX];

	if (m->path && m->path[0] == '/')
		(void)snprintf(name, sizeof(name), "%.*s", m->path_len, m->path);
	else if (m->path)
		(void)snprintf(name, sizeof(name), "%s/%.*s", paths->lib_modules, m->path_len,
			       m->path);
	else
		(void)snprintf(name, sizeof(name), "[%s]", m->name);
	if (build_ids) {
		(void)snprintf(note, sizeof(note), "%s/%s/notes/.note.gnu.build-id",
			       paths->sys_module, m->name);
		id = read_note_file(note);
	}
	stats->modules++;
	return put_mapping(e, name, m->start, m->len, 0, &id, stats);
}

static int put_modules(struct pev_emit *e, struct modules *m, bool build_ids,
		       const struct pev_kernel_paths *paths, struct pev_kernel_map_stats *stats)
{
	for (size_t i = 0; i < m->nr; i++) {
		int r;

		/* Unloading, or hidden from us. */
		if (!m->list[i].start || !m->list[i].len)
			continue;
		r = put_module(e, &m->list[i], build_ids, paths, stats);
		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * The kernel itself.
 */

static int put_kernel(struct pev_emit *e, const struct pev_kallsyms *k, const struct modules *m,
		      bool build_ids, const char *notes, struct pev_kernel_map_stats *stats)
{
	const uint64_t start = k->text ? k->text : k->stext;
	const char *const name = k->text ? "[kernel.kallsyms]_text" : "[kernel.kallsyms]_stext";
	uint64_t end = k->edata > start ? k->edata : k->etext;
	const struct pev_buildid id =
		build_ids ? read_note_file(notes) : (struct pev_buildid){ .size = 0 };

	if (!start)
		return 0;
	/* Without an end the kernel reaches to the first module above it. */
	if (end <= start) {
		end = UINT64_MAX;
		for (size_t i = 0; i < m->nr && end == UINT64_MAX; i++)
			if (m->list[i].start > start)
				end = m->list[i].start;
	}
	stats->kernels++;
	return put_mapping(e, name, start, end - start, start, &id, stats);
}

int pev_kernel_map(struct pev_emit *e, const struct pev_kallsyms *kallsyms, bool build_ids,
		   const struct pev_kernel_paths *paths, struct pev_kernel_map_stats *ret,
		   struct pev_err *err)
{
	_cleanup_(modules_done) struct modules m = { 0 };
	struct pev_kernel_map_stats stats = { .hidden = kallsyms->hidden };
	char lib_modules[PATH_MAX];
	const struct pev_kernel_paths running = {
		.notes = "/sys/kernel/notes",
		.modules = "/proc/modules",
		.sys_module = "/sys/module",
		.lib_modules = lib_modules,
	};
	struct utsname uts;
	int r;

	if (!paths) {
		if (uname(&uts) < 0)
			return pev_err_set(err, -errno, "uname: %s", pev_errno_str(errno));
		(void)snprintf(lib_modules, sizeof(lib_modules), "/lib/modules/%s", uts.release);
		paths = &running;
	}
	r = read_modules(paths->modules, &m);
	if (r >= 0 && m.nr)
		r = find_paths(&m, paths->lib_modules);
	if (m.nr)
		qsort(m.list, m.nr, sizeof(*m.list), compare_start);
	if (r >= 0)
		r = put_kernel(e, kallsyms, &m, build_ids, paths->notes, &stats);
	if (r >= 0)
		r = put_modules(e, &m, build_ids, paths, &stats);
	if (r < 0)
		return pev_err_set(err, r, "cannot tell the kernel's mappings to the trace: %s",
				   pev_errno_str(r));
	*ret = stats;
	return 0;
}
