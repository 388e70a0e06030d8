/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Build-ids: the GNU note that says which build a file is, and a cache of them by file. */
#pragma once

#include "format/abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pev_buildid {
	uint8_t size; /* 1..20; 0: the file has none */
	uint8_t bytes[PEV_BUILD_ID_MAX];
};

/*
 * Finds the first note of type NT_GNU_BUILD_ID (3) and owner "GNU" in @notes, the content of a
 * PT_NOTE segment (gABI, "Note Section"), of /sys/kernel/notes or of a module's note file. @align
 * is the segment's p_align: 8 pads to 8, anything else to 4. @swap: of the other byte order.
 *
 * 0; -ENOENT without such a note; -ENODATA when the notes are cut. A build-id of more than 20 bytes
 * is none, as for the kernel.
 */
int pev_buildid_from_notes(const void *notes, size_t size, uint64_t align, bool swap,
			   struct pev_buildid *ret);

/*
 * The same from an ELF image of 32 or 64 bits in either byte order, of which all or only the first
 * @size bytes are at hand. Also -ENOEXEC when it is no ELF image, -EBADMSG when it contradicts
 * itself, -ENODATA when what is needed lies beyond @size.
 */
int pev_buildid_from_image(const void *image, size_t size, struct pev_buildid *ret);

/* The same from an open file, by pread(2): mostly one call for 4 KiB. Also the errors of that. */
int pev_buildid_from_file(int fd, struct pev_buildid *ret);

/* What makes a mapped file that file, as long as somebody maps it. */
struct pev_buildid_key {
	uint64_t dev, ino;
	uint64_t extra; /* whatever else tells files apart where dev and ino do not */
};

struct pev_buildid_slot;

/*
 * A hash from file to build-id. Zero-initialise to start. Inode numbers are given out anew when
 * files are deleted: let no cache live longer than one walk over the processes.
 */
struct pev_buildid_cache {
	struct pev_buildid_slot *slots; /* owned */
	size_t cap;                     /* 0 or a power of two */
	size_t used;
};

/* The cached build-id (maybe "none"), or NULL. Borrowed until the next put. */
const struct pev_buildid *pev_buildid_cache_get(const struct pev_buildid_cache *cache,
						const struct pev_buildid_key *key);

/* Adds what is not there yet; 0 or -ENOMEM. */
int pev_buildid_cache_put(struct pev_buildid_cache *cache, const struct pev_buildid_key *key,
			  const struct pev_buildid *id);

void pev_buildid_cache_done(struct pev_buildid_cache *cache);
