// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * demo [SECONDS]: a program to look at with a profiler. It pretends to be a web shop that
 * compresses its pages: what burns the CPU should be read off the profile, not from here.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAGE_BYTES 4096

/* Functions that a profile shall show by their names. */
#ifdef __clang__
#define SHOWN __attribute__((noinline))
#else
#define SHOWN __attribute__((noinline, noclone))
#endif

/* gcc keeps no frame pointer in functions that call nothing, whatever -fno-omit-frame-pointer says,
 * and then the chain lacks their caller. Asking for the frame's address keeps it. */
#define KEEP_FRAME __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

static char page[PAGE_BYTES], escaped[6 * PAGE_BYTES];
static uint64_t served_bytes;

SHOWN static uint32_t parse_request(const char *request)
{
	uint32_t hash = 2166136261U;

	KEEP_FRAME;
	for (int field = 0; field < 60; field++)
		for (const char *c = request; *c; c++)
			hash = (hash ^ (uint8_t)*c) * 16777619U;
	return hash;
}

SHOWN static size_t escape_html(const char *text, size_t size, char *ret)
{
	char *const start = ret;

	KEEP_FRAME;
	for (size_t i = 0; i < size; i++) {
		switch (text[i]) {
		case '<':
			memcpy(ret, "&lt;", 4);
			ret += 4;
			break;
		case '&':
			memcpy(ret, "&amp;", 5);
			ret += 5;
			break;
		default:
			*ret++ = text[i];
		}
	}
	return (size_t)(ret - start);
}

SHOWN static size_t render_page(uint32_t seed)
{
	for (size_t i = 0; i < sizeof(page); i++) {
		seed = seed * 1664525U + 1013904223U;
		page[i] = "<&abcdefghijkl"[seed >> 24 & 7];
	}
	return escape_html(page, sizeof(page), escaped);
}

SHOWN static size_t find_longest_match(const char *text, size_t at, size_t size)
{
	const size_t window = at < 8 ? at : 8;
	size_t longest = 0;

	KEEP_FRAME;
	for (size_t back = 1; back <= window; back++) {
		size_t length = 0;

		while (at + length < size && text[at + length] == text[at + length - back])
			length++;
		if (length > longest)
			longest = length;
	}
	return longest;
}

SHOWN static size_t compress_page(const char *text, size_t size)
{
	size_t tokens = 0;

	for (size_t at = 0; at < size; tokens++) {
		const size_t length = find_longest_match(text, at, size);

		at += length > 2 ? length : 1;
	}
	return tokens;
}

SHOWN static void serve_request(const char *request)
{
	served_bytes += compress_page(escaped, render_page(parse_request(request)));
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? strtod(argv[1], NULL) : 5;
	struct timespec start, now;
	unsigned int request = 0;
	char line[64];

	(void)clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		(void)snprintf(line, sizeof(line), "GET /product/%u HTTP/1.1", request++);
		serve_request(line);
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9 <
		 seconds);
	printf("%u pages served, %llu bytes\n", request, (unsigned long long)served_bytes);
	return 0;
}
