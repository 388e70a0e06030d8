/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hashing for tables in memory. Never written to a file: the functions may change. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A well-mixed 64-bit value of a 64-bit one (the finaliser of splitmix64). */
static inline uint64_t pev_hash_u64(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ULL;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebULL;
	x ^= x >> 31;
	return x;
}

/* Chains: pev_hash_bytes(b, nb, pev_hash_bytes(a, na, 0)). */
static inline uint64_t pev_hash_bytes(const void *bytes, size_t n, uint64_t seed)
{
	const uint8_t *p = bytes;
	uint64_t h = seed ^ (n * 0x9e3779b97f4a7c15ULL), w;

	for (; n >= sizeof(w); n -= sizeof(w), p += sizeof(w)) {
		memcpy(&w, p, sizeof(w));
		h = pev_hash_u64(h ^ w);
	}
	w = 0;
	if (n) /* memcpy() wants a pointer even for nothing */
		memcpy(&w, p, n);
	return pev_hash_u64(h ^ w);
}
