// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Nothing of an ELF file is believed here but its header, its program headers and its notes, and
 * those only as far as they lie within the file and below the limits. Linkers put all three into
 * the first page.
 */
#include "recorder/buildid.h"

#include "base/checked.h"
#include "base/cursor.h"
#include "base/hash.h"
#include "base/io.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#define HEAD_BYTES      4096
#define PHDRS_MAX_BYTES (64 * 1024) /* a thousand program headers */
#define NOTES_MAX_BYTES (64 * 1024) /* per segment: build-id, ABI tag, properties are small */

/* An ELF file of which the first ->head_size bytes are in memory; the rest comes from ->fd. */
struct source {
	const uint8_t *head;
	size_t head_size;
	int fd;           /* -1: there is no more */
	uint8_t *scratch; /* NOTES_MAX_BYTES of it, with ->fd */
};

static_assert(PHDRS_MAX_BYTES <= NOTES_MAX_BYTES, "both go through one scratch buffer");

/* The bytes at @offset, or as many of them as the file has. */
static int source_at(const struct source *s, uint64_t offset, size_t size, bool swap,
		     struct pev_cursor *ret)
{
	ssize_t n;

	if (offset > INT64_MAX - size)
		return -EBADMSG;
	if (s->fd < 0 || offset + size <= s->head_size) {
		if (offset >= s->head_size)
			return -ENODATA;
		*ret = pev_cursor(s->head + offset, PEV_MIN(size, s->head_size - (size_t)offset));
		ret->swap = swap;
		return 0;
	}
	n = pev_pread_all(s->fd, s->scratch, size, (off_t)offset);
	if (n < 0)
		return (int)n;
	*ret = pev_cursor(s->scratch, (size_t)n);
	ret->swap = swap;
	return 0;
}

/* What of the header leads to the program headers. */
struct elf_info {
	bool is64, swap;
	uint64_t phoff;
	uint16_t phentsize, phnum;
};

struct segment {
	uint32_t type;
	uint64_t offset, filesz, align;
};

static uint64_t read_word(struct pev_cursor *c, bool is64)
{
	return is64 ? pev_cursor_u64(c) : pev_cursor_u32(c);
}

static int read_header(const struct source *s, struct elf_info *ret)
{
	struct elf_info info = { .phoff = 0 };
	struct pev_cursor c = { 0 };
	const uint8_t *ident;
	int r;

	r = source_at(s, 0, sizeof(Elf64_Ehdr), false, &c);
	if (r < 0)
		return r;
	ident = pev_cursor_bytes(&c, EI_NIDENT);
	if (!ident)
		return -ENODATA;
	if (memcmp(ident, ELFMAG, SELFMAG) != 0)
		return -ENOEXEC;
	if ((ident[EI_CLASS] != ELFCLASS32 && ident[EI_CLASS] != ELFCLASS64) ||
	    (ident[EI_DATA] != ELFDATA2LSB && ident[EI_DATA] != ELFDATA2MSB))
		return -EBADMSG;
	info.is64 = ident[EI_CLASS] == ELFCLASS64;
	info.swap = (ident[EI_DATA] == ELFDATA2LSB) != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	c.swap = info.swap;
	(void)pev_cursor_bytes(&c, 2 + 2 + 4); /* e_type, e_machine, e_version */
	(void)read_word(&c, info.is64);        /* e_entry */
	info.phoff = read_word(&c, info.is64);
	(void)read_word(&c, info.is64);    /* e_shoff */
	(void)pev_cursor_bytes(&c, 4 + 2); /* e_flags, e_ehsize */
	info.phentsize = pev_cursor_u16(&c);
	info.phnum = pev_cursor_u16(&c);
	if (c.failed)
		return -ENODATA;
	if (info.phnum && info.phentsize < (info.is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
		return -EBADMSG;
	*ret = info;
	return 0;
}

static int read_segment(const struct source *s, const struct elf_info *info, uint16_t i,
			struct segment *ret)
{
	const uint64_t offset = (uint64_t)i * info->phentsize;
	struct pev_cursor c = { 0 };
	uint64_t at;
	int r;

	if (offset > PHDRS_MAX_BYTES)
		return -E2BIG;
	if (!pev_add_u64(info->phoff, offset, &at))
		return -EBADMSG;
	r = source_at(s, at, info->phentsize, info->swap, &c);
	if (r < 0)
		return r;
	ret->type = pev_cursor_u32(&c);
	if (info->is64)
		(void)pev_cursor_u32(&c); /* p_flags */
	ret->offset = read_word(&c, info->is64);
	(void)read_word(&c, info->is64); /* p_vaddr */
	(void)read_word(&c, info->is64); /* p_paddr */
	ret->filesz = read_word(&c, info->is64);
	(void)read_word(&c, info->is64); /* p_memsz */
	if (!info->is64)
		(void)pev_cursor_u32(&c); /* p_flags */
	ret->align = read_word(&c, info->is64);
	return c.failed ? -ENODATA : 0;
}

static int read_notes(const struct source *s, const struct elf_info *info,
		      const struct segment *segment, struct pev_buildid *ret)
{
	const size_t size = (size_t)PEV_MIN(segment->filesz, (uint64_t)NOTES_MAX_BYTES);
	struct pev_cursor c = { 0 };
	int r;

	r = source_at(s, segment->offset, size, info->swap, &c);
	if (r < 0)
		return r;
	r = pev_buildid_from_notes(c.p, pev_cursor_left(&c), segment->align, info->swap, ret);
	return r == -ENOENT && pev_cursor_left(&c) < size ? -ENODATA : r;
}

static int from_source(const struct source *s, struct pev_buildid *ret)
{
	struct elf_info info;
	int r, cut = -ENOENT;

	r = read_header(s, &info);
	if (r < 0)
		return r;
	for (uint16_t i = 0; i < info.phnum; i++) {
		struct segment segment;

		r = read_segment(s, &info, i, &segment);
		if (r < 0)
			return r;
		if (segment.type != PT_NOTE || !segment.filesz)
			continue;
		r = read_notes(s, &info, &segment, ret);
		if (r == 0)
			return 0;
		/* Another note segment may still have it. */
		if (r != -ENOENT)
			cut = r;
	}
	return cut;
}

int pev_buildid_from_image(const void *image, size_t size, struct pev_buildid *ret)
{
	const struct source s = { .head = image, .head_size = size, .fd = -1 };

	return from_source(&s, ret);
}

int pev_buildid_from_file(int fd, struct pev_buildid *ret)
{
	uint8_t head[HEAD_BYTES], scratch[NOTES_MAX_BYTES];
	const ssize_t n = pev_pread_all(fd, head, sizeof(head), 0);
	const struct source s = {
		.head = head,
		.head_size = n < 0 ? 0 : (size_t)n,
		/* A file that ends within the first bytes has nothing behind them. */
		.fd = n == HEAD_BYTES ? fd : -1,
		.scratch = scratch,
	};

	return n < 0 ? (int)n : from_source(&s, ret);
}

/* Moves to the next multiple of @align, counted from @start. */
static void skip_padding(struct pev_cursor *c, const uint8_t *start, size_t align)
{
	const size_t pad = -(size_t)(c->p - start) & (align - 1);

	/* The last note may lack its padding. */
	(void)pev_cursor_bytes(c, PEV_MIN(pad, pev_cursor_left(c)));
}

int pev_buildid_from_notes(const void *notes, size_t size, uint64_t align, bool swap,
			   struct pev_buildid *ret)
{
	const size_t pad_to = align == 8 ? 8 : 4;
	struct pev_cursor c = pev_cursor(notes, size);

	c.swap = swap;
	while (pev_cursor_left(&c)) {
		const uint8_t *const start = c.p;
		const uint32_t namesz = pev_cursor_u32(&c);
		const uint32_t descsz = pev_cursor_u32(&c);
		const uint32_t type = pev_cursor_u32(&c);
		const uint8_t *const name = pev_cursor_bytes(&c, namesz);
		const uint8_t *desc;

		skip_padding(&c, start, pad_to);
		desc = pev_cursor_bytes(&c, descsz);
		if (c.failed)
			return -ENODATA;
		if (type == NT_GNU_BUILD_ID && namesz == sizeof(ELF_NOTE_GNU) &&
		    memcmp(name, ELF_NOTE_GNU, namesz) == 0 && descsz > 0 &&
		    descsz <= PEV_BUILD_ID_MAX) {
			*ret = (struct pev_buildid){ .size = (uint8_t)descsz };
			memcpy(ret->bytes, desc, descsz);
			return 0;
		}
		skip_padding(&c, start, pad_to);
	}
	return -ENOENT;
}

/*
 * The cache: open addressing, never more than half full.
 */

struct pev_buildid_slot {
	struct pev_buildid_key key;
	struct pev_buildid id;
	bool taken;
};

static struct pev_buildid_slot *find_slot(const struct pev_buildid_cache *cache,
					  const struct pev_buildid_key *key)
{
	const uint64_t hash =
		pev_hash_u64(key->dev ^ pev_hash_u64(key->ino ^ pev_hash_u64(key->extra)));
	size_t i = (size_t)hash & (cache->cap - 1);

	for (;; i = (i + 1) & (cache->cap - 1)) {
		struct pev_buildid_slot *const slot = &cache->slots[i];

		if (!slot->taken || (slot->key.ino == key->ino && slot->key.dev == key->dev &&
				     slot->key.extra == key->extra))
			return slot;
	}
}

static int grow(struct pev_buildid_cache *cache)
{
	struct pev_buildid_cache bigger = {
		.cap = cache->cap ? cache->cap * 2 : 1024,
		.used = cache->used,
	};

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < cache->cap; i++)
		if (cache->slots[i].taken)
			*find_slot(&bigger, &cache->slots[i].key) = cache->slots[i];
	free(cache->slots);
	*cache = bigger;
	return 0;
}

const struct pev_buildid *pev_buildid_cache_get(const struct pev_buildid_cache *cache,
						const struct pev_buildid_key *key)
{
	const struct pev_buildid_slot *slot;

	if (!cache->cap)
		return NULL;
	slot = find_slot(cache, key);
	return slot->taken ? &slot->id : NULL;
}

int pev_buildid_cache_put(struct pev_buildid_cache *cache, const struct pev_buildid_key *key,
			  const struct pev_buildid *id)
{
	struct pev_buildid_slot *slot;

	if (cache->used * 2 >= cache->cap) {
		const int r = grow(cache);

		if (r < 0)
			return r;
	}
	slot = find_slot(cache, key);
	if (slot->taken)
		return 0;
	*slot = (struct pev_buildid_slot){ .key = *key, .id = *id, .taken = true };
	cache->used++;
	return 0;
}

void pev_buildid_cache_done(struct pev_buildid_cache *cache)
{
	free(cache->slots);
	*cache = (struct pev_buildid_cache){ 0 };
}
