/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One ELF file, opened read-only: who it is, where its bytes are loaded, where its sections are. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer than any linker makes by itself (sha1: 20, blake3: 32); --build-id=0x... may be longer,
 * and is then cut. */
#define PEV_IMAGE_BUILD_ID_MAX 64

struct pev_build_id {
	uint8_t size; /* 0: there is none */
	uint8_t bytes[PEV_IMAGE_BUILD_ID_MAX];
};

/* A build-id as hexadecimal text, with its NUL. */
#define PEV_BUILD_ID_TEXT (2 * PEV_IMAGE_BUILD_ID_MAX + 1)

struct pev_build_id pev_build_id(const void *bytes, size_t size);

/*
 * True when both are there and the same. Old traces know no size and pad with zeros to 20 bytes,
 * so a shorter id equals a longer one that goes on with zeros only.
 */
bool pev_build_id_equal(const struct pev_build_id *a, const struct pev_build_id *b);

/* Writes the text to @text and returns it; "" for none. */
const char *pev_build_id_text(const struct pev_build_id *id, char text[PEV_BUILD_ID_TEXT]);

/* A PT_LOAD segment. In a separate debug file ->offset and ->filesz mean nothing: the contents were
 * left out. */
struct pev_load {
	uint64_t vaddr, memsz;
	uint64_t offset, filesz;
	uint32_t flags; /* PF_R, PF_W, PF_X */
};

struct pev_section {
	const char *name; /* borrowed from the image */
	uint32_t index;
	uint32_t type; /* SHT_*; SHT_NOBITS in a separate debug file: the contents were left out */
	uint32_t link, info;
	uint64_t flags, addr, offset, size, entsize, addralign;
};

struct Elf;

/*
 * Read the fields, change none. Names and bytes given out live as long as the image. libelf keeps
 * state behind ->elf: one thread at a time per image.
 *
 * The file is mapped, not read: who cuts it short while it is open kills the reader with SIGBUS, as
 * it kills every program that runs the file.
 */
struct pev_image {
	char *path; /* of the file, or what its bytes were said to be */
	struct pev_build_id build_id;
	uint16_t machine; /* EM_X86_64, EM_AARCH64, EM_386, ... */
	uint16_t type;    /* ET_EXEC, ET_DYN, ET_REL, ... */
	bool is_64;
	bool has_code;          /* an executable segment or section has its bytes in this file */
	struct pev_load *loads; /* by vaddr */
	size_t nr_loads;
	const uint8_t *bytes; /* the whole file */
	size_t size;

	struct Elf *elf;
	int fd;      /* -1 when made from memory */
	void *owned; /* bytes that go away with the image, or NULL */
};

/*
 * -ENOENT, -EACCES and so on as open() gives them; -ENOEXEC when it is no ELF file (nor a regular
 * file); -EBADMSG when it is one and its tables lie. Devices are never opened.
 */
int pev_image_open(const char *path, struct pev_image **ret, struct pev_err *err);

/* The same for an open file. Takes @fd, also on failure. */
int pev_image_open_fd(int fd, const char *path, struct pev_image **ret, struct pev_err *err);

/* The same for bytes in memory. Takes @bytes (from malloc()), also on failure. */
int pev_image_open_bytes(void *bytes, size_t size, const char *path, struct pev_image **ret,
			 struct pev_err *err);

/* NULL is fine; returns NULL. */
struct pev_image *pev_image_free(struct pev_image *image);

static inline void pev_image_freep(struct pev_image **image)
{
	*image = pev_image_free(*image);
}

/*
 * From an offset in the file, which is what a mapping knows, to the virtual address that symbols
 * and DWARF use. Where segments share it, the executable one counts. A mapping is made of whole
 * pages, so what is on the pages of a segment counts as part of it when no other segment holds it.
 * -ENXIO when none does, as in a separate debug file. A relocatable file (ET_REL: a kernel module)
 * has no addresses yet; there, a virtual address is an offset in the file.
 */
int pev_image_offset_to_vaddr(const struct pev_image *image, uint64_t offset, uint64_t *ret);

/* The other way; -ENXIO when no byte of the file is loaded there. */
int pev_image_vaddr_to_offset(const struct pev_image *image, uint64_t vaddr, uint64_t *ret);

/* Section @name, the first of that name; -ENOENT without it. */
int pev_image_section(const struct pev_image *image, const char *name, struct pev_section *ret);

/* Section number @index; -ENOENT without it. */
int pev_image_section_at(const struct pev_image *image, uint32_t index, struct pev_section *ret);

/* The contents of a section, decompressed where they are compressed (SHF_COMPRESSED). -ENODATA
 * when they are not in this file, -EBADMSG when they lie outside of it. */
int pev_image_section_bytes(struct pev_image *image, const struct pev_section *section,
			    const uint8_t **ret_bytes, size_t *ret_size);

/* True when section @name is there with contents. */
bool pev_image_has(const struct pev_image *image, const char *name);

/*
 * .gnu_debuglink: the file name of the separate debug file, without a directory, and the CRC-32 of
 * its bytes. -ENOENT without the section, -EBADMSG when the name is not a plain file name.
 */
int pev_image_debuglink(struct pev_image *image, const char **ret_name, uint32_t *ret_crc);

/* .gnu_debugaltlink: path and build-id of the file of what dwz found in several debug files.
 * -ENOENT without it. */
int pev_image_debugaltlink(struct pev_image *image, const char **ret_path,
			   struct pev_build_id *ret_id);

/*
 * Mini-debuginfo: the ELF file, xz-compressed in .gnu_debugdata, that holds the .symtab of a
 * stripped program (Fedora does this). -ENOENT without it, -E2BIG when it unpacks to more than
 * 256 MiB, -EBADMSG when it does not unpack.
 */
int pev_image_open_mini(struct pev_image *image, struct pev_image **ret, struct pev_err *err);
