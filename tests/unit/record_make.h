/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attributes and records of random values, for the tests of the record layer; the same in every
 * run. */
#pragma once

#include "format/record.h"

#include <stdint.h>

/* A record, and the memory that it points into. */
struct made_record {
	struct pev_record rec;
	uint8_t arena[16384];
	size_t used;
};

/* An event with this sample_type, and with random values for what else shapes its records. */
void make_attr(uint64_t *random, uint64_t sample_type, struct pev_attr *ret);

/* A record of the kernel's @type as @attr shapes it; hdr.size is left for the encoder. */
void make_record(uint64_t *random, const struct pev_attr *attr, uint32_t type,
		 struct made_record *ret);

/* Fails the test unless both say the same, hdr.size and what the decoder adds aside. */
void assert_same_record(const struct pev_record *a, const struct pev_record *b);

/* Turns every integer of a record, made on this host by an event like @attr, into the other byte
 * order, by a description of the layouts that is independent of the decoder's. */
void swap_record(const struct pev_attr *attr, uint8_t *bytes, size_t size);
