/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A block: records gathered, compressed together, and written as one COMPRESSED record that says
 * what is in it. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "format/abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * On disk, in the byte order of the file, a multiple of 8 bytes long, at most 65528:
 *
 *     0  pev_rec_hdr     type 81 (COMPRESSED), misc 0, size of all this
 *     8  u32 u32         zstd skippable frame: magic 0x184D2A5E, bytes that follow up to the data
 * frame 16  pev_block_head  what is in the block 72  0 to 7 zeros    so that the record ends on a
 * multiple of 8 zstd frame      whole records, decompressing to at most PEV_BLOCK_RAW_MAX bytes
 *
 * Every zstd decoder passes over the skippable frame. See doc/FORMAT.md.
 */
#define PEV_BLOCK_SKIP_MAGIC 0x184D2A5EU
#define PEV_BLOCK_MAGIC      0x42564550U /* "PEVB" */
#define PEV_BLOCK_VERSION    1

/* Bytes of raw records in one block: what HEADER_COMPRESSED promises as mmap_len. */
#define PEV_BLOCK_RAW_MAX (1U << 20)
#define PEV_BLOCK_MAX     65528 /* the largest multiple of 8 that header.size can say */

struct pev_block_head {
	uint32_t magic;
	uint32_t version;
	uint64_t first_ns; /* times of the records, in the clock of the trace; both 0 when none has
			      one */
	uint64_t last_ns;
	uint64_t cpus;     /* bit (cpu % 64) for each CPU that a SAMPLE is from */
	uint32_t records;  /* all of them */
	uint32_t samples;  /* of these SAMPLE */
	uint32_t states;   /* of these MMAP, COMM, FORK and so on: a reader that hops over them
			      forgets something */
	uint32_t losses;   /* of these LOST, LOST_SAMPLES, THROTTLE, UNTHROTTLE */
	uint32_t raw_size; /* of the records */
	uint32_t crc; /* CRC-32 (as zlib's crc32()) of this head with crc = 0, then the padding and
			 the zstd frame */
};
static_assert(sizeof(struct pev_block_head) == 56, "pev_block_head");

#define PEV_BLOCK_OVERHEAD (sizeof(struct pev_rec_hdr) + 8 + sizeof(struct pev_block_head))

/* True for the types that a reader needs to make sense of later samples. */
bool pev_rec_is_state(uint32_t type);

/*
 * Gathers records and turns them into blocks. Not thread-safe. The buffers are allocated once, in
 * _new(); nothing allocates after that.
 */
struct pev_block;

/* @level: zstd's, 1 to 22 or negative. -ENOMEM, -EINVAL for a level that zstd does not have. */
int pev_block_new(int level, struct pev_block **ret);
struct pev_block *pev_block_free(struct pev_block *b);

/*
 * Room for one record of up to @max bytes, at most PEV_REC_MAX_SIZE, to be filled and then
 * committed. NULL when a block is complete: take it first. May compress what was gathered.
 */
uint8_t *pev_block_reserve(struct pev_block *b, size_t max);

/* The record just written to the reserved room: its @hdr, its time (0: none), its CPU when it is a
 * SAMPLE (else ignored). */
void pev_block_commit(struct pev_block *b, const struct pev_rec_hdr *hdr, uint64_t time_ns,
		      uint32_t cpu);

/* True when nothing is gathered. */
bool pev_block_empty(const struct pev_block *b);

/*
 * The next record to be written to the file: *ret_bytes and *ret_size are a COMPRESSED record, or,
 * for a record that does not compress below 64 KiB, that record as it is; they are borrowed until
 * the next call. With @all everything that was gathered comes out, otherwise only what is complete.
 * 1; 0 when there is none; -EIO when zstd failed.
 */
int pev_block_take(struct pev_block *b, bool all, const void **ret_bytes, size_t *ret_size);

/*
 * The head of a COMPRESSED record of ours at @bytes (whole, @size bytes). 1 and *ret filled; 0 when
 * the record is another writer's: not an error; -EBADMSG when it is ours and wrong, with @check_crc
 * by its checksum.
 */
int pev_block_head_read(const void *bytes, size_t size, bool check_crc, struct pev_block_head *ret);
