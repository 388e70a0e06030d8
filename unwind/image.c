// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * An image is what libelf says of a file, asked once and checked: libelf trusts a size here and
 * there that a made-up file gives it, so every count is held against the bytes that are there.
 *
 * Happy path: open, stat, elf_begin() (which maps), file header, segments, build-id. Sections are
 * walked when one is asked for, which is a handful of times per image.
 */
#include "unwind/image.h"

#include "base/checked.h"
#include "base/cleanup.h"

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <lzma.h>
#include <string.h>
#include <sys/stat.h>

/* A kernel has a handful of segments, the odd program some dozens. */
#define MAX_LOADS 4096
/* The largest page of the machines we know (aarch64 with 64 KiB pages). */
#define PAGE_MASK 65535ULL
#define MAX_MINI  (256U << 20)
/* zlib cannot pack better than 1032 to 1; a section that says otherwise is there to eat memory. */
#define ZLIB_MAX_RATIO 1040

struct pev_build_id pev_build_id(const void *bytes, size_t size)
{
	struct pev_build_id id = { .size = 0 };

	if (size > sizeof(id.bytes))
		size = sizeof(id.bytes);
	if (size)
		memcpy(id.bytes, bytes, size);
	id.size = (uint8_t)size;
	return id;
}

bool pev_build_id_equal(const struct pev_build_id *a, const struct pev_build_id *b)
{
	const struct pev_build_id *const l = a->size >= b->size ? a : b, *const s = l == a ? b : a;

	if (!s->size || memcmp(a->bytes, b->bytes, s->size) != 0)
		return false;
	for (size_t i = s->size; i < l->size; i++)
		if (l->bytes[i])
			return false;
	return true;
}

const char *pev_build_id_text(const struct pev_build_id *id, char text[PEV_BUILD_ID_TEXT])
{
	static const char hex[] = "0123456789abcdef";
	char *p = text;

	for (size_t i = 0; i < id->size; i++) {
		*p++ = hex[id->bytes[i] >> 4];
		*p++ = hex[id->bytes[i] & 15];
	}
	*p = 0;
	return text;
}

struct pev_image *pev_image_free(struct pev_image *image)
{
	if (!image)
		return NULL;
	if (image->elf)
		(void)elf_end(image->elf);
	if (image->fd >= 0)
		(void)close(image->fd);
	free(image->owned);
	free(image->loads);
	free(image->path);
	free(image);
	return NULL;
}

static int load_cmp(const void *pa, const void *pb)
{
	const struct pev_load *const a = pa, *const b = pb;

	return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

static int read_loads(struct pev_image *image)
{
	size_t nr;

	if (elf_getphdrnum(image->elf, &nr) < 0)
		return -EBADMSG;
	if (nr == 0)
		return 0;
	image->loads = calloc(PEV_MIN(nr, (size_t)MAX_LOADS), sizeof(*image->loads));
	if (!image->loads)
		return -ENOMEM;
	for (size_t i = 0; i < nr && image->nr_loads < MAX_LOADS; i++) {
		GElf_Phdr ph;
		uint64_t end;

		if (!gelf_getphdr(image->elf, (int)i, &ph))
			return -EBADMSG;
		if (ph.p_type != PT_LOAD || !pev_add_u64(ph.p_vaddr, ph.p_memsz, &end) ||
		    !pev_add_u64(ph.p_offset, ph.p_filesz, &end))
			continue;
		image->loads[image->nr_loads++] = (struct pev_load){
			.vaddr = ph.p_vaddr,
			.memsz = ph.p_memsz,
			.offset = ph.p_offset,
			.filesz = ph.p_filesz,
			.flags = ph.p_flags,
		};
		if ((ph.p_flags & PF_X) && ph.p_filesz && end <= image->size)
			image->has_code = true;
	}
	qsort(image->loads, image->nr_loads, sizeof(*image->loads), load_cmp);
	return 0;
}

/* Looks at all sections once: what libelf and libdw would later believe is refused here. */
static int check_sections(struct pev_image *image)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(image->elf, scn))) {
		GElf_Shdr sh;
		GElf_Chdr ch;

		if (!gelf_getshdr(scn, &sh))
			return -EBADMSG;
		if (image->type == ET_REL && (sh.sh_flags & SHF_EXECINSTR) &&
		    sh.sh_type == SHT_PROGBITS && sh.sh_size)
			image->has_code = true;
		if (sh.sh_type == SHT_NOBITS || !(sh.sh_flags & SHF_COMPRESSED))
			continue;
		if (!gelf_getchdr(scn, &ch) || ch.ch_size / ZLIB_MAX_RATIO > sh.sh_size)
			return -EBADMSG;
	}
	return 0;
}

static int read_header(struct pev_image *image, struct pev_err *err)
{
	GElf_Ehdr eh;
	const void *id;
	ssize_t n;
	char *raw;
	int r;

	if (elf_kind(image->elf) != ELF_K_ELF || !gelf_getehdr(image->elf, &eh))
		return pev_err_set(err, -ENOEXEC, "%s is not an ELF file", image->path);
	image->machine = eh.e_machine;
	image->type = eh.e_type;
	image->is_64 = gelf_getclass(image->elf) == ELFCLASS64;
	raw = elf_rawfile(image->elf, &image->size);
	if (!raw)
		return pev_err_set(err, -ENOMEM, "Cannot map %s: %s", image->path, elf_errmsg(-1));
	image->bytes = (const uint8_t *)raw;
	r = read_loads(image);
	if (r == 0)
		r = check_sections(image);
	if (r < 0)
		return pev_err_set(err, r, "The segments or sections of %s are damaged",
				   image->path);
	n = dwelf_elf_gnu_build_id(image->elf, &id);
	if (n > 0)
		image->build_id = pev_build_id(id, (size_t)n);
	return 0;
}

static struct pev_image *image_new(const char *path)
{
	struct pev_image *const image = calloc(1, sizeof(*image));

	if (!image)
		return NULL;
	image->fd = -1;
	image->path = strdup(path);
	if (!image->path)
		return pev_image_free(image);
	return image;
}

int pev_image_open_fd(int fd, const char *path, struct pev_image **ret, struct pev_err *err)
{
	_cleanup_close_ int owned = fd;
	_cleanup_(pev_image_freep) struct pev_image *image = image_new(path);
	int r;

	if (!image || elf_version(EV_CURRENT) == EV_NONE)
		return pev_err_set(err, -ENOMEM, "No memory to open %s", path);
	image->fd = TAKE_FD(owned);
	image->elf = elf_begin(image->fd, ELF_C_READ_MMAP, NULL);
	if (!image->elf)
		return pev_err_set(err, -ENOEXEC, "%s is not an ELF file", path);
	r = read_header(image, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(image);
	return 0;
}

int pev_image_open(const char *path, struct pev_image **ret, struct pev_err *err)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	/* Look before opening: a trace may name a FIFO, or a device that does things when opened.
	 */
	if (stat(path, &st) < 0)
		return pev_err_set(err, -errno, "Cannot open %s: %s", path, pev_errno_str(errno));
	if (!S_ISREG(st.st_mode))
		return pev_err_set(err, -ENOEXEC, "%s is not a regular file", path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return pev_err_set(err, -errno, "Cannot open %s: %s", path, pev_errno_str(errno));
	return pev_image_open_fd(TAKE_FD(fd), path, ret, err);
}

int pev_image_open_bytes(void *bytes, size_t size, const char *path, struct pev_image **ret,
			 struct pev_err *err)
{
	_cleanup_free_ void *owned = bytes;
	_cleanup_(pev_image_freep) struct pev_image *image = image_new(path);
	int r;

	if (!image || elf_version(EV_CURRENT) == EV_NONE)
		return pev_err_set(err, -ENOMEM, "No memory to open %s", path);
	image->owned = TAKE_PTR(owned);
	image->elf = elf_memory(image->owned, size);
	if (!image->elf)
		return pev_err_set(err, -ENOEXEC, "%s is not an ELF file", path);
	r = read_header(image, err);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(image);
	return 0;
}

int pev_image_offset_to_vaddr(const struct pev_image *image, uint64_t offset, uint64_t *ret)
{
	const struct pev_load *found = NULL;
	unsigned found_rank = 0;

	if (image->type == ET_REL) {
		*ret = offset;
		return 0;
	}
	for (size_t i = 0; i < image->nr_loads; i++) {
		const struct pev_load *const l = &image->loads[i];
		unsigned rank;

		if (!l->filesz || (offset | PAGE_MASK) < l->offset ||
		    (offset & ~PAGE_MASK) > l->offset + l->filesz - 1)
			continue;
		rank = 1 + ((l->flags & PF_X) != 0);
		if (offset >= l->offset && offset - l->offset < l->filesz)
			rank += 2;
		if (rank > found_rank) {
			found = l;
			found_rank = rank;
		}
	}
	if (!found)
		return -ENXIO;
	*ret = offset - found->offset + found->vaddr;
	return 0;
}

int pev_image_vaddr_to_offset(const struct pev_image *image, uint64_t vaddr, uint64_t *ret)
{
	if (image->type == ET_REL) {
		*ret = vaddr;
		return 0;
	}
	for (size_t i = 0; i < image->nr_loads; i++) {
		const struct pev_load *const l = &image->loads[i];

		if (vaddr < l->vaddr || vaddr - l->vaddr >= l->filesz)
			continue;
		*ret = vaddr - l->vaddr + l->offset;
		return 0;
	}
	return -ENXIO;
}

static int section_of(const struct pev_image *image, Elf_Scn *scn, struct pev_section *ret)
{
	GElf_Shdr sh;
	size_t names;
	const char *name;

	if (!scn || !gelf_getshdr(scn, &sh) || elf_getshdrstrndx(image->elf, &names) < 0)
		return -ENOENT;
	name = elf_strptr(image->elf, names, sh.sh_name);
	*ret = (struct pev_section){
		.name = name ? name : "",
		.index = (uint32_t)elf_ndxscn(scn),
		.type = sh.sh_type,
		.link = sh.sh_link,
		.info = sh.sh_info,
		.flags = sh.sh_flags,
		.addr = sh.sh_addr,
		.offset = sh.sh_offset,
		.size = sh.sh_size,
		.entsize = sh.sh_entsize,
		.addralign = sh.sh_addralign,
	};
	return 0;
}

int pev_image_section_at(const struct pev_image *image, uint32_t index, struct pev_section *ret)
{
	return section_of(image, elf_getscn(image->elf, index), ret);
}

int pev_image_section(const struct pev_image *image, const char *name, struct pev_section *ret)
{
	struct pev_section section;
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(image->elf, scn))) {
		if (section_of(image, scn, &section) < 0 || strcmp(section.name, name) != 0)
			continue;
		*ret = section;
		return 0;
	}
	return -ENOENT;
}

bool pev_image_has(const struct pev_image *image, const char *name)
{
	struct pev_section section;

	return pev_image_section(image, name, &section) == 0 && section.type != SHT_NOBITS &&
	       section.size > 0;
}

int pev_image_section_bytes(struct pev_image *image, const struct pev_section *section,
			    const uint8_t **ret_bytes, size_t *ret_size)
{
	Elf_Scn *const scn = elf_getscn(image->elf, section->index);
	const Elf_Data *data;
	GElf_Shdr sh;

	if (!scn || !gelf_getshdr(scn, &sh))
		return -EBADMSG;
	if (sh.sh_type == SHT_NOBITS)
		return -ENODATA;
	/* The flag goes away once a section is decompressed, by us or by libdw. */
	if ((sh.sh_flags & SHF_COMPRESSED) && elf_compress(scn, 0, 0) < 0)
		return -EBADMSG;
	data = elf_rawdata(scn, NULL);
	if (!data || (data->d_size && !data->d_buf))
		return -EBADMSG;
	*ret_bytes = data->d_buf ? data->d_buf : (const uint8_t *)"";
	*ret_size = data->d_size;
	return 0;
}

static int section_bytes_by_name(struct pev_image *image, const char *name,
				 const uint8_t **ret_bytes, size_t *ret_size)
{
	struct pev_section section;
	int r;

	r = pev_image_section(image, name, &section);
	if (r < 0)
		return r;
	r = pev_image_section_bytes(image, &section, ret_bytes, ret_size);
	return r == -ENODATA ? -ENOENT : r;
}

/* A file name, a NUL, zeros up to a multiple of 4, the CRC in the file's byte order. */
int pev_image_debuglink(struct pev_image *image, const char **ret_name, uint32_t *ret_crc)
{
	const uint8_t *bytes;
	size_t size, n;
	uint32_t crc;
	int r;

	r = section_bytes_by_name(image, ".gnu_debuglink", &bytes, &size);
	if (r < 0)
		return r;
	n = strnlen((const char *)bytes, size);
	if (n == 0 || size < 8 || n > size - 5 || (n + 4) / 4 * 4 > size - 4)
		return -EBADMSG;
	if (memchr(bytes, '/', n) || (n <= 2 && bytes[0] == '.'))
		return -EBADMSG;
	memcpy(&crc, bytes + (n + 4) / 4 * 4, sizeof(crc));
	if ((image->bytes[EI_DATA] == ELFDATA2MSB) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
		crc = __builtin_bswap32(crc);
	*ret_name = (const char *)bytes;
	*ret_crc = crc;
	return 0;
}

/* A path, a NUL, then the build-id up to the end of the section. */
int pev_image_debugaltlink(struct pev_image *image, const char **ret_path,
			   struct pev_build_id *ret_id)
{
	const uint8_t *bytes;
	size_t size, n;
	int r;

	r = section_bytes_by_name(image, ".gnu_debugaltlink", &bytes, &size);
	if (r < 0)
		return r;
	n = strnlen((const char *)bytes, size);
	if (n == 0 || size - n < 2)
		return -EBADMSG;
	*ret_path = (const char *)bytes;
	*ret_id = pev_build_id(bytes + n + 1, size - n - 1);
	return 0;
}

/* Unpacks all of one .xz stream into memory from malloc(). */
static int unxz(const uint8_t *in, size_t in_size, void **ret, size_t *ret_size)
{
	size_t cap = PEV_MAX(in_size, (size_t)4096);

	for (;;) {
		_cleanup_free_ uint8_t *out = NULL;
		uint64_t memory = MAX_MINI;
		size_t in_pos = 0, out_pos = 0;
		lzma_ret lr;

		cap = PEV_MIN(cap * 4, (size_t)MAX_MINI);
		out = malloc(cap);
		if (!out)
			return -ENOMEM;
		lr = lzma_stream_buffer_decode(&memory, 0, NULL, in, &in_pos, in_size, out,
					       &out_pos, cap);
		if (lr == LZMA_OK) {
			*ret = TAKE_PTR(out);
			*ret_size = out_pos;
			return 0;
		}
		if (lr == LZMA_MEM_ERROR)
			return -ENOMEM;
		if (lr != LZMA_BUF_ERROR)
			return -EBADMSG;
		if (cap == MAX_MINI)
			return -E2BIG;
	}
}

int pev_image_open_mini(struct pev_image *image, struct pev_image **ret, struct pev_err *err)
{
	_cleanup_free_ char *path = NULL;
	const uint8_t *packed;
	void *bytes = NULL;
	size_t packed_size, size = 0;
	int r;

	r = section_bytes_by_name(image, ".gnu_debugdata", &packed, &packed_size);
	if (r == -ENOENT)
		return r;
	if (asprintf(&path, "%s(.gnu_debugdata)", image->path) < 0) {
		path = NULL;
		return pev_err_set(err, -ENOMEM, "No memory to open %s", image->path);
	}
	if (r == 0)
		r = unxz(packed, packed_size, &bytes, &size);
	if (r == -E2BIG)
		return pev_err_set(err, r, "%s unpacks to more than %u MiB; it is not used", path,
				   MAX_MINI >> 20);
	if (r < 0)
		return pev_err_set(err, r, "%s does not unpack: %s", path, pev_errno_str(r));
	return pev_image_open_bytes(bytes, size, path, ret, err);
}
