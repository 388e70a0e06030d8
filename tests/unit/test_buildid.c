// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "alloc.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "recorder/buildid.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>

static const uint8_t id20[PEV_BUILD_ID_MAX] = { 0xde, 0xad, 0xbe, 0xef, 5,  6,  7,  8,  9,  10,
						11,   12,   13,   14,   15, 16, 17, 18, 19, 20 };

/* A hand-made ELF file of either class and byte order. */
struct image {
	struct pev_buf buf;
	bool is64, big;
};

static void put(struct image *im, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		pev_buf_u8(&im->buf, (uint8_t)(v >> 8 * (im->big ? bytes - 1 - i : i)));
}

static void put_word(struct image *im, uint64_t v)
{
	put(im, v, im->is64 ? 8 : 4);
}

static void pad_from(struct image *im, size_t start, size_t align)
{
	while ((im->buf.size - start) % align)
		pev_buf_u8(&im->buf, 0);
}

static void put_note(struct image *im, uint32_t type, const char *name, const void *desc,
		     uint32_t descsz, size_t align)
{
	const size_t start = im->buf.size;

	put(im, strlen(name) + 1, 4);
	put(im, descsz, 4);
	put(im, type, 4);
	pev_buf_put(&im->buf, name, strlen(name) + 1);
	pad_from(im, start, align);
	pev_buf_put(&im->buf, desc, descsz);
	pad_from(im, start, align);
}

static void put_header(struct image *im, uint16_t phnum, uint64_t phoff)
{
	const uint8_t ident[EI_NIDENT] = { 0x7f,
					   'E',
					   'L',
					   'F',
					   im->is64 ? ELFCLASS64 : ELFCLASS32,
					   im->big ? ELFDATA2MSB : ELFDATA2LSB,
					   EV_CURRENT };

	pev_buf_put(&im->buf, ident, sizeof(ident));
	put(im, ET_DYN, 2);
	put(im, EM_NONE, 2);
	put(im, EV_CURRENT, 4);
	put_word(im, 0);
	put_word(im, phoff);
	put_word(im, 0);
	put(im, 0, 4);
	put(im, im->is64 ? 64 : 52, 2);
	put(im, im->is64 ? 56 : 32, 2); /* e_phentsize */
	put(im, phnum, 2);
	put(im, 0, 6);
}

static void put_phdr(struct image *im, uint32_t type, uint64_t offset, uint64_t filesz,
		     uint64_t align)
{
	put(im, type, 4);
	if (im->is64)
		put(im, PF_R, 4);
	put_word(im, offset);
	put_word(im, 0);
	put_word(im, 0);
	put_word(im, filesz);
	put_word(im, filesz);
	if (!im->is64)
		put(im, PF_R, 4);
	put_word(im, align);
}

/* A loadable segment, a note segment without the build-id, one with it behind another note. */
static void make(struct image *im, bool is64, bool big, size_t align, uint64_t gap)
{
	struct image first = { .is64 = is64, .big = big }, second = first;
	const size_t head = is64 ? 64 + 3 * 56 : 52 + 3 * 32;

	*im = first;
	put_note(&first, NT_GNU_ABI_TAG, "GNU", "0123456789abcdef", 16, 4);
	put_note(&second, NT_GNU_BUILD_ID, "Other", "no", 2, align);
	put_note(&second, NT_GNU_BUILD_ID, "GNU", id20, sizeof(id20), align);
	put_header(im, 3, is64 ? 64 : 52);
	put_phdr(im, PT_LOAD, 0, 0x1000, 0x1000);
	put_phdr(im, PT_NOTE, head, first.buf.size, 4);
	put_phdr(im, PT_NOTE, head + first.buf.size + gap, second.buf.size, align);
	assert_int_equal(im->buf.size, head);
	pev_buf_put(&im->buf, first.buf.data, first.buf.size);
	pev_buf_zero(&im->buf, gap);
	pev_buf_put(&im->buf, second.buf.data, second.buf.size);
	pev_buf_done(&first.buf);
	pev_buf_done(&second.buf);
	assert_int_equal(pev_buf_status(&im->buf), 0);
}

/* Reads @size bytes that lie in memory of exactly that size. */
static int read_image(const uint8_t *bytes, size_t size, struct pev_buildid *ret)
{
	_cleanup_free_ uint8_t *copy = malloc(size + !size);

	assert_non_null(copy);
	if (size)
		memcpy(copy, bytes, size);
	return pev_buildid_from_image(copy, size, ret);
}

static void assert_id20(const struct pev_buildid *id)
{
	assert_int_equal(id->size, sizeof(id20));
	assert_memory_equal(id->bytes, id20, sizeof(id20));
}

static int read_as_file(const void *bytes, size_t size, struct pev_buildid *ret)
{
	_cleanup_close_ int fd = memfd_create("elf", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(pev_write_all(fd, bytes, size), 0);
	return pev_buildid_from_file(fd, ret);
}

static void test_all_shapes(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 16; i++) {
		struct pev_buildid id = { .size = 0 };
		struct image im;

		/* A gap puts the notes beyond what the first read of a file brings. */
		make(&im, i & 1, i & 2, i & 4 ? 8 : 4, i & 8 ? 100000 : 0);
		assert_int_equal(read_image(im.buf.data, im.buf.size, &id), 0);
		assert_id20(&id);
		id.size = 0;
		assert_int_equal(read_as_file(im.buf.data, im.buf.size, &id), 0);
		assert_id20(&id);
		pev_buf_done(&im.buf);
	}
}

static void test_prefixes_and_flips(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 8; i++) {
		struct pev_buildid id = { .size = 0 };
		struct image im;

		make(&im, i & 1, i & 2, i & 4 ? 8 : 4, 0);
		for (size_t n = 0; n < im.buf.size; n++) {
			const int r = read_image(im.buf.data, n, &id);

			/* The last note's own padding may be missing. */
			if (n >= im.buf.size - 4 && r == 0)
				assert_id20(&id);
			else
				assert_int_equal(r, -ENODATA);
		}
		for (size_t bit = 0; bit < im.buf.size * 8; bit++) {
			int r;

			im.buf.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
			r = read_image(im.buf.data, im.buf.size, &id);
			assert_true(r == 0 || r == -ENOENT || r == -ENODATA || r == -EBADMSG ||
				    r == -ENOEXEC || r == -E2BIG);
			if (r == 0)
				assert_in_range(id.size, 1, PEV_BUILD_ID_MAX);
			im.buf.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		pev_buf_done(&im.buf);
	}
}

static void test_refusals(void **state)
{
	static const char script[] =
		"#!/bin/sh\n: this is no ELF file, though longer than the header of one\n";
	struct pev_buildid id = { .size = 77 };
	struct image im;

	(void)state;
	assert_int_equal(read_as_file(script, sizeof(script), &id), -ENOEXEC);
	assert_int_equal(read_as_file("", 0, &id), -ENODATA);
	assert_int_equal(pev_buildid_from_file(-1, &id), -EBADF);

	make(&im, true, false, 4, 0);
	im.buf.data[EI_CLASS] = 3;
	assert_int_equal(read_image(im.buf.data, im.buf.size, &id), -EBADMSG);
	im.buf.data[EI_CLASS] = ELFCLASS64;
	im.buf.data[54] = 55; /* e_phentsize */
	assert_int_equal(read_image(im.buf.data, im.buf.size, &id), -EBADMSG);
	im.buf.data[54] = 56;
	memset(im.buf.data + 32, 0xff, 8); /* e_phoff */
	assert_int_equal(read_image(im.buf.data, im.buf.size, &id), -EBADMSG);
	memset(im.buf.data + 32, 0, 8);
	im.buf.data[32] = 64;
	im.buf.data[56] = 0; /* e_phnum */
	assert_int_equal(read_image(im.buf.data, im.buf.size, &id), -ENOENT);
	im.buf.data[56] = im.buf.data[57] = 0xff;
	pev_buf_zero(&im.buf, 4 << 20);
	memset(im.buf.data + 64, 0, 3 * 56);
	assert_int_equal(read_image(im.buf.data, im.buf.size, &id), -E2BIG);
	pev_buf_done(&im.buf);
	assert_int_equal(id.size, 77);
}

static void test_notes(void **state)
{
	static const uint8_t id21[21] = { 1 };
	struct image im = { .is64 = true };
	struct pev_buildid id = { .size = 0 };

	(void)state;
	assert_int_equal(pev_buildid_from_notes("", 0, 4, false, &id), -ENOENT);
	put_note(&im, NT_GNU_BUILD_ID, "GNU", id21, sizeof(id21), 4);
	put_note(&im, NT_GNU_BUILD_ID, "GNU", "", 0, 4);
	assert_int_equal(pev_buildid_from_notes(im.buf.data, im.buf.size, 4, false, &id), -ENOENT);
	put_note(&im, NT_GNU_BUILD_ID, "GNU", "\x12\x34", 2, 4);
	assert_int_equal(pev_buildid_from_notes(im.buf.data, im.buf.size, 4, false, &id), 0);
	assert_int_equal(id.size, 2);
	assert_memory_equal(id.bytes, "\x12\x34\0\0", 4);
	pev_buf_done(&im.buf);
}

/* What readelf -n says of @path, as hex digits; false when it says nothing. */
static bool ask_readelf(const char *path, char ret[64])
{
	char command[PATH_MAX + 64], line[512];
	bool found = false;
	FILE *out;

	(void)snprintf(command, sizeof(command), "readelf -n '%s' 2>/dev/null", path);
	out = popen(command, "r");
	while (out && fgets(line, sizeof(line), out))
		found = found || sscanf(line, " Build ID: %63[0-9a-f]", ret) == 1;
	if (out)
		(void)pclose(out);
	return found;
}

static void test_real_files(void **state)
{
	static const char *const paths[] = { "/proc/self/exe", "/bin/sh", "/usr/bin/readelf",
					     "/usr/bin/cmake", "/lib64/ld-linux-x86-64.so.2" };
	size_t seen = 0;

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(paths); i++) {
		_cleanup_close_ int fd = -1;
		struct pev_buildid id = { .size = 0 };
		char real[PATH_MAX], want[64], got[64] = "";

		if (!realpath(paths[i], real) || !ask_readelf(real, want))
			continue;
		fd = open(real, O_RDONLY);
		assert_int_equal(pev_buildid_from_file(fd, &id), 0);
		for (int b = 0; b < id.size; b++)
			(void)snprintf(got + 2 * b, 3, "%02x", id.bytes[b]);
		assert_string_equal(got, want);
		seen++;
	}
	if (!seen)
		skip(); /* no readelf here */
}

static void test_cache(void **state)
{
	struct pev_buildid_cache cache = { .cap = 0 };
	const size_t count = 5000;

	(void)state;
	for (size_t i = 0; i < count; i++) {
		const struct pev_buildid_key key = { .dev = i % 7, .ino = i / 7, .extra = i % 3 };
		const struct pev_buildid id = { .size = 2,
						.bytes = { (uint8_t)i, (uint8_t)(i >> 8) } };

		assert_null(pev_buildid_cache_get(&cache, &key));
		assert_int_equal(pev_buildid_cache_put(&cache, &key, &id), 0);
	}
	for (size_t i = 0; i < count; i++) {
		const struct pev_buildid_key key = { .dev = i % 7, .ino = i / 7, .extra = i % 3 };
		const struct pev_buildid *const id = pev_buildid_cache_get(&cache, &key);
		const struct pev_buildid other = { .size = 9 };

		assert_non_null(id);
		assert_int_equal(id->bytes[0] | id->bytes[1] << 8, i);
		assert_int_equal(pev_buildid_cache_put(&cache, &key, &other), 0);
		assert_int_equal(pev_buildid_cache_get(&cache, &key)->size, 2);
	}
	assert_int_equal(cache.used, count);
	pev_buildid_cache_done(&cache);
	pev_buildid_cache_done(&cache);
}

static void test_cache_without_memory(void **state)
{
	struct pev_buildid_cache cache = { .cap = 0 };
	const struct pev_buildid id = { .size = 1 };
	int r = 0;

	(void)state;
	alloc_fail_at(2); /* the first growth */
	for (uint64_t i = 0; i < 100000 && r == 0; i++)
		r = pev_buildid_cache_put(&cache, &(struct pev_buildid_key){ .ino = i }, &id);
	assert_true(alloc_fail_end());
	assert_int_equal(r, -ENOMEM);
	/* What was there still is. */
	assert_non_null(pev_buildid_cache_get(&cache, &(struct pev_buildid_key){ .ino = 0 }));
	pev_buildid_cache_done(&cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_shapes),
		cmocka_unit_test(test_prefixes_and_flips),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_real_files),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_cache_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
