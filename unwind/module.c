// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unwind/module.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "unwind/cfi.h"
#include "unwind/demangle.h"
#include "unwind/inlines.h"
#include "unwind/kernel.h"
#include "unwind/ksyms.h"
#include "unwind/perf_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* A copy of @s, or NULL for NULL; false without memory. */
static bool keep(struct pev_modules *ms, const char *s, const char **ret)
{
	*ret = s ? pev_strings_put(&ms->strings, s, strlen(s)) : NULL;
	return !s || *ret;
}

static bool keep_options(struct pev_modules *ms, const struct pev_resolver_options *o)
{
	struct utsname own;

	ms->no_inline = o->no_inline;
	ms->as_perf = o->as_perf;
	ms->locate.debuginfod = o->debuginfod;
	ms->debug_dirs = calloc(o->nr_debug_dirs + 1, sizeof(char *));
	if (!ms->debug_dirs)
		return false;
	for (size_t i = 0; i < o->nr_debug_dirs; i++)
		if (!keep(ms, o->debug_dirs[i], &ms->debug_dirs[i]))
			return false;
	ms->locate.debug_dirs = ms->debug_dirs;
	ms->locate.nr_debug_dirs = o->nr_debug_dirs;
	if (uname(&own) == 0 &&
	    (!keep(ms, own.release, &ms->own_release) || !keep(ms, own.nodename, &ms->own_host)))
		return false;
	return keep(ms, o->symfs, &ms->locate.symfs) && keep(ms, o->kallsyms, &ms->kallsyms) &&
	       keep(ms, o->vmlinux, &ms->vmlinux) && keep(ms, o->jit_dir, &ms->jit_dir);
}

int pev_modules_init(struct pev_modules *ms, const struct pev_resolver_options *options,
		     struct pev_err *err)
{
	ms->demangler =
		pev_demangler_new(options->no_demangle ? PEV_DEMANGLE_OFF : PEV_DEMANGLE_FULL);
	if (!ms->demangler || !keep_options(ms, options))
		return pev_err_set(err, -ENOMEM, "No memory to resolve addresses");
	ms->own_kernel = pev_kernel_own_build_id();
	return 0;
}

static void module_free(struct pev_module *m)
{
	struct pev_jit_code *code;

	for (size_t i = 0; (code = pev_table_next(&m->jit_codes, &i));)
		free(code);
	pev_table_done(&m->jit_codes);
	pev_table_done(&m->renamed);
	(void)pev_inlines_free(m->inlines);
	(void)pev_symtab_free(m->symtab);
	pev_cfi_free(m->cfi);
	pev_located_done(&m->located);
	(void)pev_perf_map_free(m->perf_map);
	(void)pev_jitdump_free(m->jitdump);
	pev_buf_done(&m->text);
	pev_buf_done(&m->dump);
	free(m);
}

void pev_modules_done(struct pev_modules *ms)
{
	void *names;

	for (size_t i = 0; i < ms->nr; i++)
		module_free(ms->v[i]);
	free(ms->v);
	while (ms->ksyms) {
		struct pev_ksyms_file *const f = ms->ksyms;

		ms->ksyms = f->next;
		(void)pev_ksyms_free(f->ksyms);
		pev_buf_done(&f->text);
		free(f->path);
		free(f);
	}
	for (size_t i = 0; (names = pev_table_next(&ms->names, &i));)
		free(names);
	pev_table_done(&ms->names);
	pev_table_done(&ms->by_hash);
	(void)pev_demangler_free(ms->demangler);
	free(ms->debug_dirs);
	pev_strings_done(&ms->strings);
	*ms = (struct pev_modules){ 0 };
}

static bool starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* The lists are those of tools/perf/util/map.c: is_anon_memory(), is_no_dso_memory() and
 * is_vdso_map(). */
enum pev_module_kind pev_module_kind_of(const char *path, bool exec, bool huge)
{
	if (strcmp(path, "[vdso]") == 0 || strcmp(path, "[vdso32]") == 0 ||
	    strcmp(path, "[vdsox32]") == 0)
		return PEV_MODULE_VDSO;
	if (huge || strcmp(path, "//anon") == 0 || starts_with(path, "/dev/zero") ||
	    starts_with(path, "/anon_hugepage"))
		return exec ? PEV_MODULE_JIT : PEV_MODULE_NAMELESS;
	if (starts_with(path, "[stack") || starts_with(path, "/SYSV") ||
	    strcmp(path, "[heap]") == 0)
		return PEV_MODULE_NAMELESS;
	return PEV_MODULE_FILE;
}

static const char *base_name(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "[name]" of "/lib/modules/6.1/kernel/fs/na-me.ko.xz", as lsmod(8) calls it. */
static const char *kmod_name(struct pev_modules *ms, const char *path)
{
	char name[256];
	int n;

	if (path[0] == '[')
		return pev_strings_put(&ms->strings, path, strlen(path));
	n = snprintf(name, sizeof(name), "[%.*s]", (int)strcspn(base_name(path), "."),
		     base_name(path));
	if (n >= (int)sizeof(name))
		return pev_strings_put(&ms->strings, path, strlen(path));
	for (int i = 0; i < n; i++)
		if (name[i] == '-')
			name[i] = '_';
	return pev_strings_put(&ms->strings, name, (size_t)n);
}

static const char *kernel_name(struct pev_modules *ms, const char *path)
{
	/* "[kernel.kallsyms]_text": the symbol is no part of the name. */
	const char *const end = strchr(path, ']');

	return pev_strings_put(&ms->strings, path, end ? (size_t)(end + 1 - path) : strlen(path));
}

static const char *jit_short_name(struct pev_modules *ms, const char *path)
{
	const char *const base = base_name(path);
	unsigned int pid;
	char name[32];

	if (sscanf(base, "perf-%u.map", &pid) != 1)
		return pev_strings_put(&ms->strings, base, strlen(base));
	return pev_strings_put(&ms->strings, name,
			       (size_t)snprintf(name, sizeof(name), "[JIT] tid %u", pid));
}

/* Fills the names that perf has for it. */
static bool name_module(struct pev_module *m)
{
	struct pev_modules *const ms = m->all;
	const char *const path = m->key.path;

	switch (m->key.kind) {
	case PEV_MODULE_KERNEL:
		m->dso = m->short_name = kernel_name(ms, path);
		if (strstr(path, "vmlinux"))
			m->short_name = pev_strings_put(&ms->strings, "[kernel.vmlinux]", 16);
		break;
	case PEV_MODULE_KMOD:
		m->dso = m->short_name = kmod_name(ms, path);
		break;
	case PEV_MODULE_JIT:
		m->dso = path;
		m->short_name = jit_short_name(ms, path);
		break;
	default:
		m->dso = path;
		m->short_name =
			pev_strings_put(&ms->strings, base_name(path), strlen(base_name(path)));
		break;
	}
	return m->dso && m->short_name;
}

static void fill_info(struct pev_module *m)
{
	m->info.dso = m->dso;
	m->info.short_name = m->short_name;
	m->info.kernel = pev_module_is_kernel(m);
	m->info.build_id_size = (uint8_t)PEV_MIN(m->key.id.size, (uint8_t)PEV_BUILD_ID_MAX);
	memcpy(m->info.build_id, m->key.id.bytes, m->info.build_id_size);
}

static bool same_key(const struct pev_module_key *a, const struct pev_module_key *b)
{
	return a->kind == b->kind && a->guest == b->guest && strcmp(a->path, b->path) == 0 &&
	       a->id.size == b->id.size && memcmp(a->id.bytes, b->id.bytes, a->id.size) == 0 &&
	       a->dev == b->dev && a->ino == b->ino && a->ino_generation == b->ino_generation &&
	       a->start == b->start;
}

static uint64_t hash_key(const struct pev_module_key *k)
{
	const uint64_t words[] = { k->kind, k->guest, k->dev, k->ino, k->ino_generation, k->start };
	uint64_t h = pev_hash_bytes(words, sizeof(words), 0);

	h = pev_hash_bytes(k->id.bytes, k->id.size, h);
	return pev_hash_bytes(k->path, strlen(k->path), h);
}

static int add_module(struct pev_modules *ms, struct pev_module *m, uint64_t hash)
{
	if (ms->nr == 0 || pev_is_pow2(ms->nr)) {
		struct pev_module **const v =
			reallocarray(ms->v, ms->nr ? ms->nr * 2 : 1, sizeof(struct pev_module *));

		if (!v)
			return -ENOMEM;
		ms->v = v;
	}
	m->next = pev_table_get(&ms->by_hash, hash, 0);
	if (pev_table_put(&ms->by_hash, hash, 0, m) < 0)
		return -ENOMEM;
	ms->v[ms->nr++] = m;
	return 0;
}

struct pev_module *pev_modules_get(struct pev_modules *ms, const struct pev_module_key *key)
{
	const uint64_t hash = hash_key(key);
	struct pev_module *m;

	for (m = pev_table_get(&ms->by_hash, hash, 0); m; m = m->next)
		if (same_key(&m->key, key))
			return m;
	m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->all = ms;
	m->key = *key;
	m->key.path = pev_strings_put(&ms->strings, key->path, strlen(key->path));
	if (!m->key.path || !name_module(m) || add_module(ms, m, hash) < 0) {
		free(m);
		return NULL;
	}
	fill_info(m);
	return m;
}

void pev_module_info(const struct pev_module *m, struct pev_module_info *ret)
{
	*ret = m->info;
}
