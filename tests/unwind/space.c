// SPDX-License-Identifier: LGPL-2.1-or-later
#include "space.h"

#include "base/cleanup.h"

#include <err.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <string.h>
#include <sys/auxv.h>

void space_done(struct space *space)
{
	struct space_module *m = space->modules, *next;

	for (; m; m = next) {
		next = m->next;
		pev_cfi_free(m->cfi);
		elf_end(m->elf);
		if (strcmp(m->file, m->path) != 0)
			(void)unlink(m->file);
		free(m->file);
		free(m->path);
		free(m);
	}
	free(space->maps);
	*space = (struct space){ 0 };
}

static void *must(void *p)
{
	if (!p)
		err(1, "out of memory");
	return p;
}

/* libdwfl wants files, so the vdso's bytes are put into one. */
static char *copy_of_vdso(pid_t pid, uint64_t start, uint64_t end)
{
	const size_t size = end - start;
	_cleanup_free_ uint8_t *bytes = must(malloc(size));
	_cleanup_free_ char *mem = NULL;
	_cleanup_close_ int from = -1, to = -1;
	char *file = must(strdup("/tmp/pevrec-vdso-XXXXXX"));

	if (!pid)
		start = getauxval(AT_SYSINFO_EHDR);
	if (asprintf(&mem, "/proc/%d/mem", pid ? (int)pid : (int)getpid()) < 0)
		err(1, "out of memory");
	from = open(mem, O_RDONLY | O_CLOEXEC);
	to = mkstemp(file);
	if (from < 0 || to < 0 || pread(from, bytes, size, (off_t)start) < 0 ||
	    write(to, bytes, size) < 0)
		err(1, "copying the vdso");
	return file;
}

static void open_module(struct space_module *m)
{
	struct pev_cfi_sections sections;
	struct pev_err e = PEV_ERR_INIT;
	int fd;

	fd = open(m->file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	m->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	/* Now that it is mapped, libelf does without the descriptor. */
	if (m->elf && elf_cntl(m->elf, ELF_C_FDREAD) < 0)
		errx(1, "%s: %s", m->file, elf_errmsg(-1));
	(void)close(fd);
	if (elf_kind(m->elf) != ELF_K_ELF) {
		elf_end(m->elf);
		m->elf = NULL;
		return;
	}
	if (pev_cfi_sections_of_elf(m->elf, NULL, &sections, &e) < 0 ||
	    pev_cfi_new(&sections, &m->cfi, &e) < 0)
		errx(1, "%s: %s", m->path, e.msg);
}

static struct space_module *module_of(struct space *space, const char *path, pid_t vdso_pid,
				      uint64_t start, uint64_t end)
{
	struct space_module *m;

	for (m = space->modules; m; m = m->next)
		if (!strcmp(m->path, path))
			return m;
	(void)elf_version(EV_CURRENT);
	m = must(calloc(1, sizeof(*m)));
	m->path = must(strdup(path));
	m->file = !strcmp(path, "[vdso]") ? copy_of_vdso(vdso_pid, start, end) : must(strdup(path));
	open_module(m);
	m->next = space->modules;
	space->modules = m;
	return m;
}

/* What the file calls the first byte of the mapping, from the segment that it is part of. */
static uint64_t bias_of(Elf *elf, uint64_t start, uint64_t pgoff)
{
	size_t nr = 0;
	GElf_Phdr ph;

	if (elf)
		(void)elf_getphdrnum(elf, &nr);
	for (size_t i = 0; i < nr; i++)
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD && (ph.p_flags & PF_X) &&
		    pgoff + 4096 > ph.p_offset && pgoff < ph.p_offset + ph.p_filesz)
			return start - (pgoff + ph.p_vaddr - ph.p_offset);
	return start - pgoff;
}

void space_add(struct space *space, const struct space_map *map, uint64_t pgoff, const char *path,
	       pid_t vdso_pid)
{
	struct space_module *const m = module_of(space, path, vdso_pid, map->start, map->end);
	struct space_map *added;

	space->maps = must(reallocarray(space->maps, space->nr + 1, sizeof(*space->maps)));
	added = &space->maps[space->nr++];
	*added = *map;
	added->bias = bias_of(m->elf, map->start, pgoff);
	added->module = m;
}

void space_add_process(struct space *space, pid_t pid)
{
	_cleanup_free_ char *name = NULL, *line = NULL;
	_cleanup_fclose_ FILE *f = NULL;
	size_t cap = 0;

	if (asprintf(&name, "/proc/%d/maps", (int)pid) < 0)
		err(1, "out of memory");
	f = fopen(name, "re");
	if (!f)
		err(1, "%s", name);
	while (getline(&line, &cap, f) > 0) {
		uint64_t start, end, pgoff;
		char perms[5], path[256] = "";

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %255[^\n]",
			   &start, &end, perms, &pgoff, path) >= 4 &&
		    perms[2] == 'x' && path[0] && strcmp(path, "[vsyscall]") != 0)
			space_add(
				space,
				&(struct space_map){ .start = start, .end = end, .is_code = true },
				pgoff, path, pid);
	}
}

const struct space_map *space_find(const struct space *space, uint64_t pc)
{
	for (size_t i = space->nr; i-- > 0;)
		if (pc - space->maps[i].start < space->maps[i].end - space->maps[i].start)
			return &space->maps[i];
	return NULL;
}

bool space_find_map(void *space, uint64_t pc, struct pev_unwind_map *ret)
{
	const struct space_map *const map = space_find(space, pc);

	if (!map)
		return false;
	*ret = (struct pev_unwind_map){
		.start = map->start, .end = map->end, .bias = map->bias, .cfi = map->module->cfi
	};
	return true;
}

static const char *symbol_in(Elf *elf, uint64_t vaddr)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	GElf_Sym sym;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data;

		if (!gelf_getshdr(scn, &shdr) ||
		    (shdr.sh_type != SHT_SYMTAB && shdr.sh_type != SHT_DYNSYM) || !shdr.sh_entsize)
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 0; data && gelf_getsym(data, i, &sym); i++)
			if (GELF_ST_TYPE(sym.st_info) == STT_FUNC &&
			    vaddr - sym.st_value < sym.st_size)
				return elf_strptr(elf, shdr.sh_link, sym.st_name);
	}
	return NULL;
}

const char *space_symbol(const struct space *space, uint64_t pc)
{
	const struct space_map *const map = space_find(space, pc);
	const char *name = NULL;

	if (map && map->module->elf)
		name = symbol_in(map->module->elf, pc - map->bias);
	return name ? name : "?";
}
