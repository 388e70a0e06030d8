// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unwind/kernel.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/io.h"
#include "unwind/ksyms.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define KALLSYMS_MAX ((size_t)256 << 20)
#define NOTES_MAX    ((size_t)64 << 10)

#define NOTE_BUILD_ID 3 /* NT_GNU_BUILD_ID, elf(5) */

/* The build-id among notes: name size, size, type, name, contents, both padded to 4 bytes. */
static struct pev_build_id find_note(const void *bytes, size_t size)
{
	struct pev_cursor c = pev_cursor(bytes, size);

	while (pev_cursor_left(&c)) {
		const uint32_t name_size = pev_cursor_u32(&c);
		const uint32_t desc_size = pev_cursor_u32(&c);
		const uint32_t type = pev_cursor_u32(&c);
		const uint8_t *const name = pev_cursor_bytes(&c, (name_size + 3UL) & ~3UL);
		const uint8_t *const desc = pev_cursor_bytes(&c, (desc_size + 3UL) & ~3UL);

		if (c.failed)
			break;
		if (type == NOTE_BUILD_ID && name_size == 4 && memcmp(name, "GNU", 4) == 0)
			return pev_build_id(desc, desc_size);
	}
	return (struct pev_build_id){ 0 };
}

struct pev_build_id pev_kernel_own_build_id(void)
{
	_cleanup_buf_ struct pev_buf notes = { 0 };

	if (pev_read_path("/sys/kernel/notes", NOTES_MAX, &notes) < 0)
		return (struct pev_build_id){ 0 };
	return find_note(notes.data, notes.size);
}

/* Where a table has all addresses 0, kernel.kptr_restrict hides them from who asks. */
static bool has_addresses(const struct pev_ksyms *k)
{
	return pev_ksyms_counters(k)->kept > 0;
}

static struct pev_ksyms_file *find_ksyms(const struct pev_modules *ms, const char *path)
{
	struct pev_ksyms_file *f = ms->ksyms;

	while (f && strcmp(f->path, path) != 0)
		f = f->next;
	return f;
}

/* The symbols in a file, which is read once. -ENOMEM. */
static int get_ksyms(struct pev_modules *ms, const char *path, struct pev_ksyms **ret)
{
	struct pev_ksyms_file *f = find_ksyms(ms, path);
	int r;

	if (f) {
		*ret = f->ksyms;
		return 0;
	}
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->next = ms->ksyms;
	ms->ksyms = f;
	f->path = strdup(path);
	if (!f->path)
		return -ENOMEM;
	r = pev_read_path(path, KALLSYMS_MAX, &f->text);
	if (r == 0)
		r = pev_ksyms_new(f->text.data, f->text.size, &f->ksyms, NULL);
	if (r == 0 && !has_addresses(f->ksyms))
		f->ksyms = pev_ksyms_free(f->ksyms);
	*ret = f->ksyms;
	return r == -ENOMEM ? r : 0;
}

/* 1 when the names are in the kallsyms at @path, 0 when not. */
static int try_kallsyms(struct pev_module *m, const char *path)
{
	struct pev_ksyms *k;
	uint64_t addr;
	int r;

	if (!path)
		return 0;
	r = get_ksyms(m->all, path, &k);
	if (r < 0 || !k)
		return r;
	/* Another boot of the same kernel: it was loaded somewhere else (KASLR). */
	if (m->ref_name && pev_ksyms_address(k, m->ref_name, &addr) == 0)
		m->delta = addr - m->ref_addr;
	m->ksyms = k;
	m->info.path = pev_strings_put(&m->all->strings, path, strlen(path));
	return m->info.path ? 1 : -ENOMEM;
}

static bool find_symbol(const struct pev_symtab *t, const char *name, uint64_t *ret)
{
	struct pev_symbol s;

	for (size_t i = 0; i < pev_symtab_count(t); i++) {
		pev_symtab_at(t, i, &s);
		if (strcmp(s.name, name) == 0) {
			*ret = s.start;
			return true;
		}
	}
	return false;
}

/* Takes ->located.main as the vmlinux of @m. */
static int take_vmlinux(struct pev_module *m)
{
	uint64_t addr;
	int r;

	r = pev_symtab_new(m->located.main, m->located.debug, NULL, m->all->demangler, &m->symtab,
			   NULL);
	if (r < 0)
		return r;
	m->has_symtab = true;
	if (m->ref_name && find_symbol(m->symtab, m->ref_name, &addr))
		m->delta = addr - m->ref_addr;
	return 1;
}

/* 1 when there is a vmlinux at @path with the recorded build-id, or with any when @trusted. */
static int try_vmlinux(struct pev_module *m, const char *path, bool trusted)
{
	_cleanup_(pev_image_freep) struct pev_image *image = NULL;
	int r;

	r = pev_image_open(path, &image, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (!trusted && !pev_build_id_equal(&image->build_id, &m->key.id))
		return 0;
	m->located.main = TAKE_PTR(image);
	return take_vmlinux(m);
}

/* Where distributions and perf look for it, by release. */
static int try_vmlinux_paths(struct pev_module *m)
{
	static const struct {
		const char *before, *after;
	} paths[] = {
		{ "/boot/vmlinux-", "" },
		{ "/usr/lib/debug/boot/vmlinux-", "" },
		{ "/usr/lib/debug/lib/modules/", "/vmlinux" },
		{ "/lib/modules/", "/build/vmlinux" },
	};
	const char *const symfs = m->all->locate.symfs ? m->all->locate.symfs : "";
	char path[PATH_MAX];
	int r;

	if (!m->key.id.size || !m->release)
		return 0;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(paths); i++) {
		if (snprintf(path, sizeof(path), "%s%s%s%s", symfs, paths[i].before, m->release,
			     paths[i].after) >= (int)sizeof(path))
			continue;
		r = try_vmlinux(m, path, false);
		if (r != 0)
			return r;
	}
	return 0;
}

/* By build-id, in the places for all modules. */
static int locate_vmlinux(struct pev_module *m, bool debuginfod)
{
	struct pev_modules *const ms = m->all;
	struct pev_locate_options options = ms->locate;
	int r;

	if (!m->key.id.size || (debuginfod && !options.debuginfod))
		return 0;
	if (!debuginfod)
		options.debuginfod = NULL;
	pev_located_done(&m->located);
	r = pev_locate(&options, m->dso, &m->key.id, &m->located, &ms->located, NULL);
	if (r < 0)
		return r;
	if (!m->located.main && !m->located.debug)
		return 0;
	return take_vmlinux(m);
}

/*
 * The kernel that runs here has the names, if it is the one. A trace without build-ids is believed
 * to be of this boot when its reference symbol is where ours is, which is random for each boot.
 */
static int try_own(struct pev_module *m)
{
	static const char path[] = "/proc/kallsyms";
	struct pev_ksyms *k;
	uint64_t addr;
	int r;

	if (m->key.guest)
		return 0;
	if (m->key.id.size)
		return pev_build_id_equal(&m->key.id, &m->all->own_kernel) ? try_kallsyms(m, path)
									   : 0;
	r = get_ksyms(m->all, path, &k);
	if (r < 0 || !k || !m->ref_name || !m->ref_addr)
		return r;
	if (pev_ksyms_address(k, m->ref_name, &addr) < 0 || addr != m->ref_addr)
		return 0;
	return try_kallsyms(m, path);
}

static int try_perf_cache(struct pev_module *m)
{
	const char *const home = getenv("HOME");
	char path[PATH_MAX], hex[PEV_BUILD_ID_TEXT];

	if (!home || !m->key.id.size)
		return 0;
	(void)pev_build_id_text(&m->key.id, hex);
	if (snprintf(path, sizeof(path), "%s/.debug/%s/%s/kallsyms", home, m->dso, hex) >=
	    (int)sizeof(path))
		return 0;
	return try_kallsyms(m, path);
}

int pev_kernel_open(struct pev_module *m)
{
	const struct pev_modules *const ms = m->all;
	int r = 0;

	if (ms->vmlinux && !m->key.guest)
		r = try_vmlinux(m, ms->vmlinux, true);
	if (r == 0 && !m->key.guest)
		r = try_kallsyms(m, ms->kallsyms);
	if (r == 0)
		r = try_kallsyms(m, m->kallsyms);
	if (r == 0)
		r = try_vmlinux_paths(m);
	if (r == 0)
		r = locate_vmlinux(m, false);
	if (r == 0)
		r = try_own(m);
	if (r == 0)
		r = try_perf_cache(m);
	if (r == 0)
		r = locate_vmlinux(m, true);
	return r < 0 ? r : 0;
}

int pev_kernel_holds(struct pev_module *m, uint64_t address, bool *ret)
{
	struct pev_symtab *symtab;
	struct pev_symbol symbol;
	struct pev_ksym ksym;
	int r;

	r = pev_module_symtab(m, &symtab);
	if (r < 0)
		return r;
	if (m->ksyms)
		*ret = pev_ksyms_find(m->ksyms, address + m->delta, &ksym) && !ksym.module;
	else
		*ret = symtab && pev_symtab_find(symtab, address + m->delta, &symbol);
	return 0;
}
