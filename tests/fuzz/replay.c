// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The main() of a fuzz target where there is no libFuzzer: replay_READER FOLDER feeds it every file
 * of its corpus, every prefix of that file, every single-bit flip, and some thousand mutations that
 * are the same in every run. The input lies in memory of its exact size, so that AddressSanitizer
 * sees a read beyond it.
 */
#include "base/checked.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"
#include "tests/fuzz/fuzz.h"

#include <inttypes.h>
#include <string.h>

#define MAX_INPUT_BYTES (1 << 20)
/* Large inputs are not walked byte by byte: at most this many prefixes, flips and mutations each.
 */
#define MAX_STEPS 4000

static uint64_t random_state;

static uint64_t next_random(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static void run(const uint8_t *bytes, size_t size)
{
	_cleanup_free_ uint8_t *exact = malloc(size ? size : 1);

	if (!exact)
		abort();
	if (size)
		memcpy(exact, bytes, size);
	(void)LLVMFuzzerTestOneInput(exact, size);
}

static void prefixes(const uint8_t *bytes, size_t size)
{
	const size_t step = size / MAX_STEPS + 1;

	for (size_t n = 0; n < size; n += step)
		run(bytes, n);
}

static void flips(uint8_t *bytes, size_t size)
{
	const size_t bits = 8 * size, step = bits / MAX_STEPS + 1;

	for (size_t bit = 0; bit < bits; bit += step) {
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		run(bytes, size);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

/* One to four wounds: a byte, a word of the values that counts go wrong at, a hole, a repetition.
 */
static size_t mutate(uint8_t *bytes, size_t size)
{
	static const uint64_t odd[] = { 0,          1,          0x7fffffff, 0xffffffff,
					UINT64_MAX, 1ULL << 63, 0xffff,     8 };
	const unsigned int wounds = 1 + next_random() % 4;

	for (unsigned int i = 0; i < wounds && size; i++) {
		const size_t at = next_random() % size;
		const size_t width = (size_t)1 << next_random() % 4, n = PEV_MIN(size - at, width);

		switch (next_random() % 4) {
		case 0:
			bytes[at] = (uint8_t)next_random();
			break;
		case 1:
			memcpy(bytes + at, &odd[next_random() % PEV_ARRAY_SIZE(odd)], n);
			break;
		case 2:
			memmove(bytes + at, bytes + at + n, size - at - n);
			size -= n;
			break;
		default:
			memmove(bytes + at, bytes + next_random() % (size - n + 1), n);
		}
	}
	return size;
}

static void mutations(const uint8_t *bytes, size_t size)
{
	_cleanup_free_ uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	for (int i = 0; i < MAX_STEPS && size; i++) {
		memcpy(copy, bytes, size);
		run(copy, mutate(copy, size));
	}
}

static int replay(const char *folder, const char *name)
{
	_cleanup_buf_ struct pev_buf buf = { 0 };
	_cleanup_free_ char *path = NULL;
	int r;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return -1;
	r = pev_read_path(path, MAX_INPUT_BYTES, &buf);
	if (r < 0) {
		fprintf(stderr, "%s: %s\n", path, pev_errno_str(r));
		return -1;
	}
	printf("%s\n", path); /* the last line, when it crashes */
	(void)fflush(stdout);
	/* Each file has its own sequence, which adding another file does not change. */
	random_state = buf.size;
	run(buf.data, buf.size);
	prefixes(buf.data, buf.size);
	flips(buf.data, buf.size);
	mutations(buf.data, buf.size);
	return 0;
}

int main(int argc, char **argv)
{
	_cleanup_closedir_ DIR *dir = NULL;
	const struct dirent *entry;
	int files = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	dir = opendir(argv[1]);
	if (!dir) {
		perror(argv[1]);
		return 1;
	}
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		if (replay(argv[1], entry->d_name) < 0)
			return 1;
		files++;
	}
	printf("%d files replayed\n", files);
	return files ? 0 : 1;
}
