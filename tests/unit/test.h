/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cmocka with the headers that it wants before itself, and what several tests share. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/checked.h"

#include <stdio.h>

#define TEST_SKIP 77

/* An error must tell its code and its story. */
#define assert_err(err, expected_code, expected_msg)             \
	do {                                                     \
		assert_int_equal((err)->code, (expected_code));  \
		assert_string_equal((err)->msg, (expected_msg)); \
	} while (0)

/* The next value of a splitmix64 sequence: the same tests on every machine and in every run. */
static inline uint64_t test_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}
