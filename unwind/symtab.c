// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The table is two arrays, sorted by address: the addresses, which a search touches, and what
 * belongs to them, which only a hit does; 20 bytes per symbol. Names are offsets in the string
 * tables of the mapped files.
 *
 * Happy path: read each symbol table in the order of the file, sort (stably: the order among
 * aliases counts), give sizes to those without. The choice among aliases is made when an address
 * is looked up, since it may need their demangled names, and most are never asked for.
 */
#include "unwind/symtab.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "unwind/demangle.h"
#include "unwind/image.h"
#include "unwind/plt.h"
#include "unwind/radix.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>

/* The biggest programs there are have some millions. */
#define MAX_SYMBOLS 100000000
/* How many symbols before the last one that starts below an address may still reach over it. */
#define LOOK_BACK 32
/* The last symbol of a module, when it has no size, reaches to the end of the next page. */
#define LAST_PAGE 4096

enum source {
	SOURCE_SYMTAB,
	SOURCE_DYNSYM,
	SOURCE_PLT,
	NR_SOURCES
};

struct entry {
	uint32_t size; /* UINT32_MAX for what is bigger */
	uint32_t name; /* offset in the names of ->source */
	uint8_t source;
	uint8_t info;    /* st_info: binding and type */
	uint8_t is_best; /* found to be the best of the symbols at its address, and put last */
};

struct pev_symtab {
	uint64_t *starts;
	struct entry *entries;
	size_t nr;
	struct {
		const char *names; /* ends with a NUL */
		size_t size;
	} sources[NR_SOURCES];
	struct pev_buf plt_names;
	struct pev_demangler *demangler;
};

/* Symbols as they come, before they are sorted. */
struct gather {
	uint64_t *starts;
	struct entry *entries;
	size_t nr, cap;
};

static void gather_done(struct gather *g)
{
	free(g->starts);
	free(g->entries);
}

static int gather_room(struct gather *g, size_t more)
{
	const size_t need = g->nr + more, cap = PEV_MAX(need, g->cap + g->cap / 2);
	uint64_t *starts;
	struct entry *entries;

	if (need > MAX_SYMBOLS)
		return -E2BIG;
	if (need <= g->cap)
		return 0;
	starts = reallocarray(g->starts, cap, sizeof(*starts));
	if (!starts)
		return -ENOMEM;
	g->starts = starts;
	entries = reallocarray(g->entries, cap, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	g->entries = entries;
	g->cap = cap;
	return 0;
}

struct pev_symtab *pev_symtab_free(struct pev_symtab *t)
{
	if (t) {
		free(t->starts);
		free(t->entries);
		pev_buf_done(&t->plt_names);
		free(t);
	}
	return NULL;
}

/* What of a section matters to the symbols in it, as bits of a byte per section. */
enum {
	SECTION_LOADED = 1,
	SECTION_HAS_LABELS = 2,
};

struct sections {
	uint8_t *bits;
	uint64_t *moves; /* ET_REL only: what to add to a value for its place in the file */
	size_t nr;
};

static void sections_done(struct sections *s)
{
	free(s->bits);
	free(s->moves);
}

static int read_sections(const struct pev_image *image, struct sections *s)
{
	size_t nr;

	if (elf_getshdrnum(image->elf, &nr) < 0 || nr > image->size)
		nr = 0;
	s->bits = calloc(nr + 1, 1);
	s->moves = calloc(image->type == ET_REL ? nr + 1 : 1, sizeof(*s->moves));
	if (!s->bits || !s->moves)
		return -ENOMEM;
	s->nr = nr;
	for (size_t i = 1; i < nr; i++) {
		struct pev_section section;

		if (pev_image_section_at(image, (uint32_t)i, &section) < 0)
			continue;
		if (section.flags & SHF_ALLOC)
			s->bits[i] |= SECTION_LOADED;
		if (strstr(section.name, "text") || strstr(section.name, "data"))
			s->bits[i] |= SECTION_HAS_LABELS;
		if (image->type == ET_REL)
			s->moves[i] = section.offset - section.addr;
	}
	return 0;
}

static bool is_mapping_symbol(const char *name)
{
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
	       (name[2] == 0 || name[2] == '.');
}

static bool counts(const struct pev_image *image, const struct sections *s, const GElf_Sym *sym,
		   const char *name)
{
	const int type = GELF_ST_TYPE(sym->st_info), visibility = GELF_ST_VISIBILITY(sym->st_other);
	const uint8_t bits = sym->st_shndx < s->nr ? s->bits[sym->st_shndx] : 0;

	if (!*name || sym->st_shndx == SHN_UNDEF)
		return false;
	/* With more than 65279 sections the real number is elsewhere; such a file has only code. */
	if (sym->st_shndx != SHN_XINDEX && !(bits & SECTION_LOADED))
		return false;
	if (type == STT_NOTYPE) {
		if (visibility == STV_HIDDEN || visibility == STV_INTERNAL ||
		    !(bits & SECTION_HAS_LABELS))
			return false;
	} else if (type != STT_FUNC && type != STT_OBJECT && type != STT_GNU_IFUNC) {
		return false;
	}
	return (image->machine != EM_ARM && image->machine != EM_AARCH64) ||
	       !is_mapping_symbol(name);
}

/* The symbols of a .symtab or .dynsym; 0 when there are none. */
static int read_table(struct pev_symtab *t, struct gather *g, struct pev_image *image,
		      const char *section_name, uint32_t type, enum source source)
{
	_cleanup_(sections_done) struct sections sections = { 0 };
	struct pev_section section, strings;
	const uint8_t *names, *end;
	size_t names_size, nr;
	Elf_Data *data;
	int r;

	if (pev_image_section(image, section_name, &section) < 0 || section.type != type ||
	    pev_image_section_at(image, section.link, &strings) < 0 ||
	    pev_image_section_bytes(image, &strings, &names, &names_size) < 0)
		return 0;
	data = elf_getdata(elf_getscn(image->elf, section.index), NULL);
	end = names_size ? memrchr(names, 0, names_size) : NULL;
	if (!data || !end)
		return 0;
	names_size = PEV_MIN((size_t)(end - names) + 1, (size_t)UINT32_MAX);
	t->sources[source].names = (const char *)names;
	t->sources[source].size = names_size;
	nr = data->d_size / (image->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
	r = read_sections(image, &sections);
	if (r == 0)
		r = gather_room(g, nr);
	if (r < 0)
		return r;
	for (size_t i = 1; i < nr; i++) {
		GElf_Sym sym;

		if (!gelf_getsym(data, (int)i, &sym) || sym.st_name >= names_size ||
		    !counts(image, &sections, &sym, (const char *)names + sym.st_name))
			continue;
		if (image->type == ET_REL && sym.st_shndx < sections.nr)
			sym.st_value += sections.moves[sym.st_shndx];
		g->starts[g->nr] = sym.st_value;
		g->entries[g->nr++] = (struct entry){
			.size = (uint32_t)PEV_MIN(sym.st_size, (GElf_Xword)UINT32_MAX),
			.name = sym.st_name,
			.source = (uint8_t)source,
			.info = sym.st_info,
		};
	}
	return g->nr > 0;
}

static int read_tables(struct pev_symtab *t, struct gather *g, struct pev_image *main,
		       struct pev_image *debug, struct pev_image *mini)
{
	struct pev_image *const candidates[] = { debug, main, mini };
	struct pev_image *dynamic = main ? main : debug;

	for (size_t i = 0; i < PEV_ARRAY_SIZE(candidates); i++) {
		int r;

		if (!candidates[i])
			continue;
		r = read_table(t, g, candidates[i], ".symtab", SHT_SYMTAB, SOURCE_SYMTAB);
		if (r < 0)
			return r;
		if (r == 0)
			continue;
		/* The names of a separate debug file are all there are: it was made from all. */
		if (candidates[i] != mini)
			dynamic = candidates[i];
		break;
	}
	return dynamic ? read_table(t, g, dynamic, ".dynsym", SHT_DYNSYM, SOURCE_DYNSYM) : 0;
}

static int add_stubs(struct pev_symtab *t, struct gather *g, const struct pev_plt *plt)
{
	const int r = gather_room(g, plt->nr);

	if (r < 0)
		return r;
	for (size_t i = 0; i < plt->nr; i++) {
		g->starts[g->nr] = plt->stubs[i].vaddr;
		g->entries[g->nr++] = (struct entry){
			.size = plt->stubs[i].size,
			.name = plt->stubs[i].name,
			.source = SOURCE_PLT,
			.info = GELF_ST_INFO(STB_GLOBAL, STT_FUNC),
		};
	}
	t->sources[SOURCE_PLT].names = (const char *)t->plt_names.data;
	t->sources[SOURCE_PLT].size = t->plt_names.size;
	return 0;
}

/* Moves what was gathered into the table, sorted by address and without spare room. */
static int sort_into(struct pev_symtab *t, const struct gather *g)
{
	_cleanup_free_ uint32_t *order = NULL;
	int r;

	r = pev_radix_order(g->starts, g->nr, &order);
	if (r < 0)
		return r;
	t->starts = calloc(g->nr + 1, sizeof(*t->starts));
	t->entries = calloc(g->nr + 1, sizeof(*t->entries));
	if (!t->starts || !t->entries)
		return -ENOMEM;
	for (size_t i = 0; i < g->nr; i++) {
		t->starts[i] = g->starts[order[i]];
		t->entries[i] = g->entries[order[i]];
	}
	t->nr = g->nr;
	return 0;
}

/* Of aliases without a size only the last gets one here, and with it the preference: as in perf. */
static void give_sizes(struct pev_symtab *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		uint64_t size;

		if (t->entries[i].size)
			continue;
		if (i + 1 < t->nr)
			size = t->starts[i + 1] - t->starts[i];
		else
			size = LAST_PAGE + (-t->starts[i] & (LAST_PAGE - 1));
		t->entries[i].size = (uint32_t)PEV_MIN(size, (uint64_t)UINT32_MAX);
	}
}

static const char *name_of(const struct pev_symtab *t, const struct entry *e)
{
	return t->sources[e->source].names + e->name;
}

static const char *shown_name(const struct pev_symtab *t, const struct entry *e)
{
	const char *const name = name_of(t, e);

	return t->demangler ? pev_demangle(t->demangler, name) : name;
}

/* True when @b is the better name for the address that it shares with @a. */
static bool is_better(const struct pev_symtab *t, const struct entry *a, const struct entry *b)
{
	const int bind_a = GELF_ST_BIND(a->info), bind_b = GELF_ST_BIND(b->info);
	const int type_a = GELF_ST_TYPE(a->info), type_b = GELF_ST_TYPE(b->info);
	const char *name_a, *name_b;
	size_t under_a, under_b;

	if (!a->size != !b->size)
		return b->size;
	if ((type_a == STT_NOTYPE) != (type_b == STT_NOTYPE))
		return type_a == STT_NOTYPE;
	if ((bind_a == STB_WEAK) != (bind_b == STB_WEAK))
		return bind_a == STB_WEAK;
	if ((bind_a == STB_GLOBAL) != (bind_b == STB_GLOBAL))
		return bind_b == STB_GLOBAL;
	name_a = shown_name(t, a);
	name_b = shown_name(t, b);
	under_a = strspn(name_a, "_");
	under_b = strspn(name_b, "_");
	if (under_a != under_b)
		return under_b < under_a;
	return strlen(name_b) > strlen(name_a);
}

/*
 * The best of the symbols that start where number @last does, which is the last of them. It is put
 * there, so that the thousands of aliases that a linker makes when it folds equal functions are
 * compared once.
 */
static const struct entry *best_alias(struct pev_symtab *t, size_t last)
{
	struct entry *const e = t->entries;
	size_t best, first = last;
	struct entry swap;

	if (e[last].is_best)
		return &e[last];
	while (first > 0 && t->starts[first - 1] == t->starts[last])
		first--;
	best = first;
	for (size_t i = first + 1; i <= last; i++)
		if (is_better(t, &e[best], &e[i]))
			best = i;
	swap = e[best];
	e[best] = e[last];
	e[last] = swap;
	e[last].is_best = true;
	return &e[last];
}

/* How many symbols start at @vaddr or below. */
static size_t count_up_to(const struct pev_symtab *t, uint64_t vaddr)
{
	const uint64_t *base = t->starts;
	size_t n = t->nr;

	if (!n)
		return 0;
	while (n > 1) {
		const size_t half = n / 2;

		base += (size_t)(base[half - 1] <= vaddr) * half;
		n -= half;
	}
	return (size_t)(base - t->starts) + (*base <= vaddr);
}

static void symbol_of(const struct pev_symtab *t, size_t i, struct pev_symbol *ret)
{
	const struct entry *const e = &t->entries[i];

	*ret = (struct pev_symbol){
		.name = name_of(t, e),
		.start = t->starts[i],
		.size = e->size,
		.type = GELF_ST_TYPE(e->info),
		.binding = GELF_ST_BIND(e->info),
		.plt = e->source == SOURCE_PLT,
	};
}

bool pev_symtab_find(struct pev_symtab *t, uint64_t vaddr, struct pev_symbol *ret)
{
	size_t n = count_up_to(t, vaddr);

	for (unsigned tries = 0; n > 0 && tries < LOOK_BACK; tries++) {
		const uint64_t start = t->starts[n - 1];
		const struct entry *const e = best_alias(t, n - 1);

		if (vaddr - start < e->size) {
			symbol_of(t, n - 1, ret);
			return true;
		}
		while (n > 0 && t->starts[n - 1] == start)
			n--;
	}
	return false;
}

size_t pev_symtab_count(const struct pev_symtab *t)
{
	return t->nr;
}

void pev_symtab_at(const struct pev_symtab *t, size_t i, struct pev_symbol *ret)
{
	symbol_of(t, i, ret);
}

size_t pev_symtab_bytes(const struct pev_symtab *t)
{
	return sizeof(*t) + t->nr * (sizeof(*t->starts) + sizeof(*t->entries)) + t->plt_names.cap;
}

/* Names the stub at @vaddr after the IFUNC whose resolver is at @resolver, when that has a symbol.
 */
static void name_ifunc_stub(struct pev_symtab *t, uint64_t vaddr, uint64_t resolver)
{
	const size_t n = count_up_to(t, resolver);
	size_t i = count_up_to(t, vaddr);
	const struct entry *best;
	bool is_ifunc = false;

	if (!n || t->starts[n - 1] != resolver)
		return;
	best = best_alias(t, n - 1);
	for (size_t k = n; k > 0 && t->starts[k - 1] == resolver; k--)
		is_ifunc |= GELF_ST_TYPE(t->entries[k - 1].info) == STT_GNU_IFUNC;
	if (!is_ifunc || best->source == SOURCE_PLT || t->plt_names.size > UINT32_MAX / 2)
		return;
	while (i > 0 && t->starts[i - 1] == vaddr && t->entries[i - 1].source != SOURCE_PLT)
		i--;
	if (i == 0 || t->starts[i - 1] != vaddr)
		return;
	t->entries[i - 1].name = (uint32_t)t->plt_names.size;
	pev_buf_printf(&t->plt_names, "%s@plt", name_of(t, best));
	pev_buf_u8(&t->plt_names, 0);
	t->sources[SOURCE_PLT].names = (const char *)t->plt_names.data;
	t->sources[SOURCE_PLT].size = t->plt_names.size;
}

int pev_symtab_new(struct pev_image *main, struct pev_image *debug, struct pev_image *mini,
		   struct pev_demangler *demangler, struct pev_symtab **ret, struct pev_err *err)
{
	_cleanup_(pev_symtab_freep) struct pev_symtab *t = calloc(1, sizeof(*t));
	_cleanup_(gather_done) struct gather g = { 0 };
	_cleanup_(pev_plt_done) struct pev_plt plt = { 0 };
	const struct pev_image *const named = main ? main : debug ? debug : mini;
	const char *const path = named ? named->path : "a module without files";
	int r;

	if (!t)
		return pev_err_set(err, -ENOMEM, "No memory for the symbols of %s", path);
	t->demangler = demangler;
	r = read_tables(t, &g, main, debug, mini);
	if (r >= 0 && main)
		r = pev_plt_read(main, &plt);
	if (r >= 0) {
		t->plt_names = plt.names;
		plt.names = (struct pev_buf){ 0 };
		r = add_stubs(t, &g, &plt);
	}
	if (r >= 0)
		r = sort_into(t, &g);
	if (r < 0)
		return pev_err_set(err, r, "Cannot read the symbols of %s: %s", path,
				   pev_errno_str(r));
	give_sizes(t);
	for (size_t i = 0; i < plt.nr; i++)
		if (plt.stubs[i].ifunc)
			name_ifunc_stub(t, plt.stubs[i].vaddr, plt.stubs[i].ifunc);
	if (pev_buf_status(&t->plt_names) < 0)
		return pev_err_set(err, -ENOMEM, "No memory for the symbols of %s", path);
	*ret = TAKE_PTR(t);
	return 0;
}
