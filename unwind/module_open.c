// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the files of a module say, read the first time that somebody asks. */
#include "unwind/module.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "unwind/cfi.h"
#include "unwind/demangle.h"
#include "unwind/inlines.h"
#include "unwind/kernel.h"
#include "unwind/perf_map.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Perf maps and jitdumps are read whole; those of long-lived runtimes have some 100 MB. */
#define JIT_FILE_MAX ((size_t)4 << 30)

static bool ends_with(const char *s, const char *suffix)
{
	const size_t n = strlen(s), m = strlen(suffix);

	return n >= m && strcmp(s + n - m, suffix) == 0;
}

static bool is_stale(const struct pev_located *l)
{
	for (size_t i = 0; i < l->nr_tried; i++)
		if (l->tried[i].code == -ESTALE)
			return true;
	return false;
}

static int locate(struct pev_module *m)
{
	struct pev_modules *const ms = m->all;

	/* What has taken the place of a deleted file is another file. */
	if (!m->key.id.size && ends_with(m->key.path, " (deleted)"))
		return 0;
	return pev_locate(&ms->locate, m->key.path, &m->key.id, &m->located, &ms->located, NULL);
}

/* The bytes of the vdso of this process. */
static int copy_own_vdso(void **ret, size_t *ret_size)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 128];
	unsigned long start, end;

	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "[vdso]") || sscanf(line, "%lx-%lx", &start, &end) != 2)
			continue;
		*ret = malloc(end - start);
		if (!*ret)
			return -ENOMEM;
		*ret_size = end - start;
		/* The kernel gives the address as a number. */
		memcpy(*ret, (const void *)(uintptr_t)start, end - start);
		return 0;
	}
	return -ENOENT;
}

static int open_vdso(struct pev_module *m)
{
	_cleanup_(pev_image_freep) struct pev_image *image = NULL;
	const struct pev_build_id *const id = &m->key.id;
	size_t size;
	void *bytes;
	int r;

	if (id->size) {
		r = locate(m);
		if (r < 0 || m->located.main)
			return r;
	} else if (m->key.start == 0) {
		return 0;
	}
	r = copy_own_vdso(&bytes, &size);
	if (r == 0)
		r = pev_image_open_bytes(bytes, size, "[vdso]", &image, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	if (id->size && !pev_build_id_equal(id, &image->build_id))
		return 0;
	m->located.main = TAKE_PTR(image);
	return 0;
}

/*
 * The names of the code of another user are believed no more than the code itself, so a file in
 * /tmp must be of root or of who asks, as for perf.
 */
static int read_jit_file(const char *path, struct pev_buf *ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || (st.st_uid && st.st_uid != geteuid()))
		return -EACCES;
	return pev_read_fd(fd, JIT_FILE_MAX, ret);
}

/* The number of a process within the innermost of its pid namespaces. */
static unsigned int inner_pid(unsigned int pid)
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[64], line[512];

	(void)snprintf(path, sizeof(path), "/proc/%u/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "NStgid:", 7) != 0)
			continue;
		return (unsigned int)strtoul(strrchr(line, '\t'), NULL, 10);
	}
	return pid;
}

/*
 * A process in a container writes its files below its own root and under its own number, where they
 * can be found as long as it lives. True when there is another place to look at.
 */
static bool container_path(const struct pev_module *m, unsigned int pid, const char *dir,
			   char ret[PATH_MAX])
{
	struct stat own, other;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%u/ns/mnt", pid);
	if (!m->mnt_ns || stat("/proc/self/ns/mnt", &own) < 0 || stat(path, &other) < 0 ||
	    other.st_ino != m->mnt_ns || other.st_ino == own.st_ino)
		return false;
	(void)snprintf(ret, PATH_MAX, "/proc/%u/root%s/perf-%u.map", pid, dir, inner_pid(pid));
	return true;
}

static int open_perf_map(struct pev_module *m)
{
	const char *const dir = m->all->jit_dir ? m->all->jit_dir : "/tmp";
	char path[PATH_MAX];
	unsigned int pid;
	int r = -ENOENT;

	if (sscanf(m->key.path, "/tmp/perf-%u.map", &pid) != 1)
		return 0;
	if (container_path(m, pid, dir, path))
		r = read_jit_file(path, &m->text);
	if (r < 0 && r != -ENOMEM) {
		(void)snprintf(path, sizeof(path), "%s/perf-%u.map", dir, pid);
		r = read_jit_file(path, &m->text);
	}
	if (r == 0)
		r = pev_perf_map_new(m->text.data, m->text.size, &m->perf_map, NULL);
	if (r == 0) {
		m->info.path = pev_strings_put(&m->all->strings, path, strlen(path));
		return m->info.path ? 0 : -ENOMEM;
	}
	return r == -ENOMEM ? r : 0;
}

static int open_jitdump(struct pev_module *m)
{
	int r;

	if (!m->jitdump_path)
		return 0;
	r = read_jit_file(m->jitdump_path, &m->dump);
	if (r == 0)
		r = pev_jitdump_new(m->dump.data, m->dump.size, &m->jitdump, NULL);
	return r == -ENOMEM ? r : 0;
}

static int open_jit(struct pev_module *m)
{
	const int r = open_jitdump(m);

	return r < 0 ? r : open_perf_map(m);
}

static void note_located(struct pev_module *m)
{
	struct pev_module_info *const info = &m->info;
	const struct pev_located *const l = &m->located;
	const struct pev_image *const image = l->debug ? l->debug : l->main;

	info->unverified = l->unverified;
	if (image) {
		info->path = image->path;
		info->stripped = !pev_image_has(image, ".symtab") && !l->mini;
		info->no_lines = !pev_image_has(image, ".debug_info") &&
				 (!l->main || !pev_image_has(l->main, ".debug_info"));
	} else if (m->key.kind != PEV_MODULE_NAMELESS && m->key.kind != PEV_MODULE_KSYM) {
		info->not_found = !info->path;
		info->stale = is_stale(l);
		info->no_lines = true;
	}
}

int pev_module_open(struct pev_module *m)
{
	int r = 0;

	if (m->opened)
		return 0;
	switch (m->key.kind) {
	case PEV_MODULE_FILE:
	case PEV_MODULE_KMOD:
		r = locate(m);
		break;
	case PEV_MODULE_VDSO:
		r = open_vdso(m);
		break;
	case PEV_MODULE_JIT:
		r = open_jit(m);
		break;
	case PEV_MODULE_KERNEL:
		r = pev_kernel_open(m);
		break;
	case PEV_MODULE_NAMELESS:
	case PEV_MODULE_KSYM:
		break;
	}
	if (r < 0)
		return r;
	m->opened = true;
	m->info.used = true;
	note_located(m);
	return 0;
}

/* The load address of the first text section, which is where the kernel tells that it put a module.
 */
static uint64_t kmod_text(const struct pev_image *image)
{
	struct pev_section text;

	return pev_image_section(image, ".text", &text) < 0 ? 0 : text.offset;
}

uint64_t pev_module_vaddr(const struct pev_module *m, uint64_t address)
{
	const struct pev_image *const main = m->located.main;
	const struct pev_image *const any = main ? main : m->located.debug;
	uint64_t vaddr;

	switch (m->key.kind) {
	case PEV_MODULE_KERNEL:
		return address + m->delta;
	case PEV_MODULE_KMOD:
		return any ? address - m->key.start + kmod_text(any) : address;
	case PEV_MODULE_FILE:
	case PEV_MODULE_VDSO:
		if (main && pev_image_offset_to_vaddr(main, address, &vaddr) == 0)
			return vaddr;
		/*
		 * A debug file does not tell where the program had its bytes. Most linkers put
		 * them at offsets that are the addresses, but for where all of it starts.
		 */
		return any && any->nr_loads && any->type == ET_EXEC
			       ? address + (any->loads[0].vaddr & ~UINT64_C(0xfff))
			       : address;
	default:
		return address;
	}
}

static bool has_cfi(const struct pev_cfi_sections *s)
{
	return s->eh_frame.size || s->debug_frame.size;
}

int pev_module_cfi(struct pev_module *m, struct pev_cfi **ret)
{
	struct pev_located *const l = &m->located;
	struct pev_cfi_sections sections;
	struct pev_image *image;
	int r;

	r = pev_module_open(m);
	if (r < 0)
		return r;
	image = l->main ? l->main : l->debug;
	if (!m->has_cfi && image && pev_module_is_file(m) &&
	    pev_cfi_sections_of_elf(image->elf, l->debug ? l->debug->elf : NULL, &sections, NULL) ==
		    0 &&
	    has_cfi(&sections)) {
		r = pev_cfi_new(&sections, &m->cfi, NULL);
		if (r == -ENOMEM)
			return r;
	}
	m->has_cfi = true;
	m->info.no_cfi = !m->cfi;
	*ret = m->cfi;
	return 0;
}

int pev_module_symtab(struct pev_module *m, struct pev_symtab **ret)
{
	struct pev_located *const l = &m->located;
	int r;

	r = pev_module_open(m);
	if (r < 0)
		return r;
	if (!m->has_symtab && (l->main || l->debug)) {
		r = pev_symtab_new(l->main, l->debug, l->mini, m->all->demangler, &m->symtab, NULL);
		if (r < 0)
			return r;
	}
	m->has_symtab = true;
	*ret = m->symtab;
	return 0;
}

int pev_module_inlines(struct pev_module *m, struct pev_inlines **ret)
{
	struct pev_located *const l = &m->located;
	struct pev_image *image;
	int r;

	r = pev_module_open(m);
	if (r < 0)
		return r;
	image = l->debug && pev_image_has(l->debug, ".debug_info") ? l->debug : l->main;
	if (!m->has_inlines && image) {
		r = pev_inlines_new(image, l->alt, &m->inlines, NULL);
		if (r == -ENOMEM)
			return r;
	}
	m->has_inlines = true;
	*ret = m->inlines;
	return 0;
}

/* Addresses of processes have the top bit clear, so that a set one marks the number of a piece of
 * code, which has less than 2 GiB. */
#define JIT_CODE       (UINT64_C(1) << 63)
#define JIT_CODE_SHIFT 31

int pev_module_jit_code(struct pev_module *m, uint64_t ip, uint64_t time, uint64_t *ret_address)
{
	struct pev_jit_code code, *copy;
	uint64_t offset;

	if (!m->jitdump || !pev_jitdump_find(m->jitdump, ip, time, &code))
		return 0;
	offset = ip - code.start;
	if (offset >> JIT_CODE_SHIFT)
		return 0;
	if (!pev_table_get(&m->jit_codes, code.entry, 0)) {
		copy = malloc(sizeof(*copy));
		if (!copy)
			return -ENOMEM;
		*copy = code;
		if (pev_table_put(&m->jit_codes, code.entry, 0, copy) < 0) {
			free(copy);
			return -ENOMEM;
		}
	}
	*ret_address = JIT_CODE | (uint64_t)code.entry << JIT_CODE_SHIFT | offset;
	return 0;
}

const struct pev_jit_code *pev_module_jit_code_at(const struct pev_module *m, uint64_t address,
						  uint64_t *ret_offset)
{
	if (!(address & JIT_CODE))
		return NULL;
	*ret_offset = address & ((UINT64_C(1) << JIT_CODE_SHIFT) - 1);
	return pev_table_get(&m->jit_codes, (address & ~JIT_CODE) >> JIT_CODE_SHIFT, 0);
}

void pev_module_explain(const struct pev_module *m, struct pev_buf *text)
{
	if (!m->info.used)
		pev_buf_printf(text, "%s: not looked for", m->dso);
	else if (m->ksyms || m->perf_map)
		pev_buf_printf(text, "%s: names are from %s", m->dso, m->info.path);
	else if (m->jitdump)
		pev_buf_printf(text, "%s: names are from %s", m->dso, m->jitdump_path);
	else if (m->key.kind == PEV_MODULE_JIT)
		pev_buf_printf(text, "%s: its runtime wrote no such file, or it is gone", m->dso);
	else if (m->key.kind == PEV_MODULE_NAMELESS || m->key.kind == PEV_MODULE_KSYM)
		pev_buf_printf(text, "%s: no file", m->dso);
	else if (ends_with(m->key.path, " (deleted)") && !m->key.id.size)
		pev_buf_printf(text, "%s: deleted, and the trace has no build-id to find it by",
			       m->dso);
	else
		pev_located_explain(&m->located, m->dso, &m->key.id, text);
}
