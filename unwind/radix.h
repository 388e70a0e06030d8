/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sorting of many 64-bit keys that differ in few bits, as the addresses of a module do. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * The order that sorts @keys ascending and keeps equal ones as they are: (*ret)[i] is the index of
 * the key that comes @i-th. @nr is below 2^32. *ret is from malloc(). -ENOMEM.
 */
int pev_radix_order(const uint64_t *keys, size_t nr, uint32_t **ret);
