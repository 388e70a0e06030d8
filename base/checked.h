/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arithmetic that says when it does not fit, and the few numeric helpers every room uses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PEV_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define PEV_MIN(a, b)     ((a) < (b) ? (a) : (b))
#define PEV_MAX(a, b)     ((a) > (b) ? (a) : (b))

#define PEV_NSEC_PER_SEC  UINT64_C(1000000000)
#define PEV_NSEC_PER_MSEC UINT64_C(1000000)

/* True when the result fits, which is then in *ret; otherwise *ret is untouched. */
static inline bool pev_add_size(size_t a, size_t b, size_t *ret)
{
	size_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return false;
	*ret = sum;
	return true;
}

static inline bool pev_mul_size(size_t a, size_t b, size_t *ret)
{
	size_t product;

	if (__builtin_mul_overflow(a, b, &product))
		return false;
	*ret = product;
	return true;
}

static inline bool pev_add_u64(uint64_t a, uint64_t b, uint64_t *ret)
{
	uint64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return false;
	*ret = sum;
	return true;
}

/* Rounds up to a multiple of 8; the caller knows that @n is at least 7 below its type's limit. */
static inline size_t pev_align8(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

static inline bool pev_is_pow2(uint64_t n)
{
	return n && !(n & (n - 1));
}
