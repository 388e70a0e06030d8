// SPDX-License-Identifier: LGPL-2.1-or-later
#include "symbol_fixtures.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

static void build_ids(void **state)
{
	static const struct {
		const char *a, *b;
		size_t a_size, b_size;
		bool equal;
	} cases[] = {
		{ "", "", 0, 0, false }, /* no id is not the same as no id */
		{ "\x1a\x2b", "", 2, 0, false },
		{ "\x1a\x2b", "\x1a\x2b", 2, 2, true },
		{ "\x1a\x2b", "\x1a\x2c", 2, 2, false },
		{ "\x1a\x2b", "\x1a\x2b\0\0", 2, 4, true },
		{ "\x1a\x2b\0\x01", "\x1a\x2b", 4, 2, false },
	};
	char text[PEV_BUILD_ID_TEXT];
	struct pev_build_id id;

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		const struct pev_build_id a = pev_build_id(cases[i].a, cases[i].a_size);
		const struct pev_build_id b = pev_build_id(cases[i].b, cases[i].b_size);

		assert_int_equal(pev_build_id_equal(&a, &b), cases[i].equal);
		assert_int_equal(pev_build_id_equal(&b, &a), cases[i].equal);
	}
	id = pev_build_id("\x00\x9f\xa0", 3);
	assert_string_equal(pev_build_id_text(&id, text), "009fa0");
	id = pev_build_id(NULL, 0);
	assert_string_equal(pev_build_id_text(&id, text), "");
}

static void what_a_file_is(void **state)
{
	static const struct {
		const char *name, *id;
		uint16_t machine, type;
		bool is_64, has_code;
	} cases[] = {
		{ "tiny.so", "0123456789abcdef0123456789abcdef01234501", EM_X86_64, ET_DYN, true,
		  true },
		{ "plt", "0123456789abcdef0123456789abcdef01234504", EM_X86_64, ET_EXEC, true,
		  true },
		{ "tiny.o", "", EM_X86_64, ET_REL, true, true },
	};

	(void)state;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		struct pev_image *const image = open_fixture(cases[i].name);
		char text[PEV_BUILD_ID_TEXT];

		assert_string_equal(pev_build_id_text(&image->build_id, text), cases[i].id);
		assert_int_equal(image->machine, cases[i].machine);
		assert_int_equal(image->type, cases[i].type);
		assert_int_equal(image->is_64, cases[i].is_64);
		assert_int_equal(image->has_code, cases[i].has_code);
		pev_image_free(image);
	}
}

static void other_machines(void **state)
{
	struct pev_image *image = open_fixture("tiny-aarch64.so");

	(void)state;
	assert_int_equal(image->machine, EM_AARCH64);
	assert_true(image->is_64 && image->has_code);
	pev_image_free(image);
	image = open_fixture("tiny-i386.so");
	assert_int_equal(image->machine, EM_386);
	assert_true(!image->is_64 && image->has_code);
	assert_int_equal(image->build_id.bytes[19], 0x32);
	pev_image_free(image);
}

static void a_debug_file_has_no_code(void **state)
{
	struct pev_image *const image = open_fixture("link/.debug/inl5.debug");
	struct pev_section section;
	const uint8_t *bytes;
	uint64_t vaddr;
	size_t size;

	(void)state;
	assert_false(image->has_code);
	assert_int_equal(image->build_id.bytes[19], 0x11);
	assert_true(pev_image_has(image, ".debug_info"));
	assert_false(pev_image_has(image, ".text"));
	assert_int_equal(pev_image_section(image, ".text", &section), 0);
	assert_int_equal(section.type, SHT_NOBITS);
	assert_int_equal(pev_image_section_bytes(image, &section, &bytes, &size), -ENODATA);
	assert_int_equal(pev_image_offset_to_vaddr(image, 0x1000000, &vaddr), -ENXIO);
	pev_image_free(image);
}

/* The first and last byte of each segment, there and back. */
static void offsets_and_addresses(void **state)
{
	static const char *const names[] = { "tiny.so", "plt" };

	(void)state;
	for (size_t n = 0; n < PEV_ARRAY_SIZE(names); n++) {
		struct pev_image *const image = open_fixture(names[n]);
		uint64_t v;

		assert_true(image->nr_loads >= 2);
		for (size_t i = 0; i < image->nr_loads; i++) {
			const struct pev_load *const l = &image->loads[i];
			const uint64_t ats[] = { 0, l->filesz - 1 };

			assert_true(i == 0 || image->loads[i - 1].vaddr <= l->vaddr);
			for (size_t k = 0; k < 2; k++) {
				assert_int_equal(
					pev_image_vaddr_to_offset(image, l->vaddr + ats[k], &v), 0);
				assert_int_equal(v, l->offset + ats[k]);
				assert_int_equal(pev_image_offset_to_vaddr(image, v, &v), 0);
				assert_int_equal(v, l->vaddr + ats[k]);
			}
		}
		assert_int_equal(pev_image_vaddr_to_offset(image, 1ULL << 60, &v), -ENXIO);
		assert_int_equal(pev_image_offset_to_vaddr(image, 1ULL << 60, &v), -ENXIO);
		assert_int_equal(pev_image_offset_to_vaddr(image, UINT64_MAX, &v), -ENXIO);
		pev_image_free(image);
	}
}

static void sections_are_decompressed(void **state)
{
	struct pev_image *const plain = open_fixture("tiny-dwarf.so");
	struct pev_image *const packed = open_fixture("tiny-zlib.so");
	struct pev_section a, b;
	const uint8_t *a_bytes, *b_bytes;
	size_t a_size, b_size;

	(void)state;
	assert_int_equal(pev_image_section(plain, ".debug_info", &a), 0);
	assert_int_equal(pev_image_section(packed, ".debug_info", &b), 0);
	assert_int_equal(pev_image_section_bytes(plain, &a, &a_bytes, &a_size), 0);
	/* Twice: the second time it is decompressed already. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pev_image_section_bytes(packed, &b, &b_bytes, &b_size), 0);
		assert_int_equal(a_size, b_size);
		assert_memory_equal(a_bytes, b_bytes, a_size);
	}
	assert_int_equal(pev_image_section(plain, ".no_such", &a), -ENOENT);
	assert_int_equal(pev_image_section_at(plain, 9999, &a), -ENOENT);
	pev_image_free(plain);
	pev_image_free(packed);
}

static void debuglinks(void **state)
{
	struct pev_image *image = open_fixture("link/inl5");
	size_t size, at = 0;
	uint8_t *const bytes = read_fixture("link/inl5", &size);
	const char *name;
	uint32_t crc;

	(void)state;
	assert_int_equal(pev_image_debuglink(image, &name, &crc), 0);
	assert_string_equal(name, "inl5.debug");
	assert_true(crc != 0);
	pev_image_free(image);

	/* A name that leads elsewhere is refused. */
	while (at + 10 < size && memcmp(bytes + at, "inl5.debug", 10) != 0)
		at++;
	assert_true(at + 10 < size);
	bytes[at + 4] = '/';
	assert_int_equal(pev_image_open_bytes(bytes, size, "patched", &image, NULL), 0);
	assert_int_equal(pev_image_debuglink(image, &name, &crc), -EBADMSG);
	pev_image_free(image);

	image = open_fixture("tiny.so");
	assert_int_equal(pev_image_debuglink(image, &name, &crc), -ENOENT);
	pev_image_free(image);
}

static void altlinks(void **state)
{
	struct pev_image *const image = open_fixture("dwz/one");
	struct pev_build_id id;
	const char *path;

	(void)state;
	assert_int_equal(pev_image_debugaltlink(image, &path, &id), 0);
	assert_string_equal(path, "common");
	assert_true(id.size > 0);
	pev_image_free(image);
}

static void mini_debuginfo(void **state)
{
	struct pev_image *image = open_fixture("mini/inl5"), *mini = NULL;
	struct pev_err err = PEV_ERR_INIT;
	struct pev_section section;
	uint8_t *bytes;
	size_t size;

	(void)state;
	assert_false(pev_image_has(image, ".symtab"));
	assert_int_equal(pev_image_open_mini(image, &mini, &err), 0);
	assert_true(pev_image_has(mini, ".symtab"));
	assert_non_null(strstr(mini->path, "(.gnu_debugdata)"));
	assert_int_equal(pev_image_section(image, ".gnu_debugdata", &section), 0);
	pev_image_free(mini);
	mini = NULL;
	pev_image_free(image);

	bytes = read_fixture("mini/inl5", &size);
	bytes[section.offset + section.size / 2] ^= 0xff;
	assert_int_equal(pev_image_open_bytes(bytes, size, "patched", &image, &err), 0);
	assert_int_equal(pev_image_open_mini(image, &mini, &err), -EBADMSG);
	assert_non_null(strstr(err.msg, "patched(.gnu_debugdata) does not unpack"));
	pev_image_free(image);

	image = open_fixture("tiny.so");
	assert_int_equal(pev_image_open_mini(image, &mini, &err), -ENOENT);
	pev_image_free(image);
}

static void what_is_no_elf_file(void **state)
{
	char dir[] = "/tmp/pevrec-image-XXXXXX", fifo[64], empty[64];
	const struct {
		const char *path;
		int code;
		const char *words;
	} cases[] = {
		{ "/no/such/file", -ENOENT, "No such file" },
		{ dir, -ENOEXEC, "not a regular file" },
		{ fifo, -ENOEXEC, "not a regular file" }, /* and does not hang */
		{ "/dev/null", -ENOEXEC, "not a regular file" },
		{ empty, -ENOEXEC, "not an ELF file" },
		{ FIXTURES_SOURCE "/make.sh", -ENOEXEC, "not an ELF file" },
	};
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	(void)snprintf(empty, sizeof(empty), "%s/empty", dir);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	fd = open(empty, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	(void)close(fd);
	for (size_t i = 0; i < PEV_ARRAY_SIZE(cases); i++) {
		struct pev_err err = PEV_ERR_INIT;
		struct pev_image *image = NULL;

		assert_int_equal(pev_image_open(cases[i].path, &image, &err), cases[i].code);
		assert_int_equal(err.code, cases[i].code);
		assert_non_null(strstr(err.msg, cases[i].words));
		assert_non_null(strstr(err.msg, cases[i].path));
		assert_null(image);
	}
	(void)unlink(fifo);
	(void)unlink(empty);
	(void)rmdir(dir);
}

/* Asks for everything, as a reader of a strange file would. */
static void touch_all(struct pev_image *image)
{
	struct pev_section section;
	struct pev_image *mini = NULL;
	struct pev_build_id id;
	const uint8_t *bytes;
	const char *name;
	size_t size, sum = 0;
	uint32_t crc;
	uint64_t v;

	for (uint32_t i = 0; pev_image_section_at(image, i, &section) == 0 && i < 100; i++) {
		sum += strlen(section.name);
		if (pev_image_section_bytes(image, &section, &bytes, &size) == 0)
			for (size_t k = 0; k < size; k++)
				sum += bytes[k];
	}
	for (uint64_t at = 0; at < 0x20000; at += 0x333) {
		(void)pev_image_offset_to_vaddr(image, at, &v);
		(void)pev_image_vaddr_to_offset(image, at, &v);
	}
	(void)pev_image_debuglink(image, &name, &crc);
	(void)pev_image_debugaltlink(image, &name, &id);
	if (pev_image_open_mini(image, &mini, NULL) == 0)
		pev_image_free(mini);
	assert_true(sum < SIZE_MAX);
}

static void damaged_files(void **state)
{
	size_t size;
	uint8_t *const bytes = read_fixture("tiny-zlib.so", &size);

	(void)state;
	for (size_t i = 0; i <= size + 8 * size; i++) {
		const size_t n = i <= size ? i : size;
		uint8_t *const copy = copy_of(bytes, n);
		struct pev_err err = PEV_ERR_INIT;
		struct pev_image *image = NULL;

		if (i > size)
			copy[(i - size - 1) / 8] ^= (uint8_t)(1 << (i - size - 1) % 8);
		if (pev_image_open_bytes(copy, n, "damaged", &image, &err) == 0) {
			touch_all(image);
		} else {
			assert_true(err.code < 0);
			assert_non_null(strstr(err.msg, "damaged"));
		}
		pev_image_free(image);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(build_ids),
		cmocka_unit_test(what_a_file_is),
		cmocka_unit_test(other_machines),
		cmocka_unit_test(a_debug_file_has_no_code),
		cmocka_unit_test(offsets_and_addresses),
		cmocka_unit_test(sections_are_decompressed),
		cmocka_unit_test(debuglinks),
		cmocka_unit_test(altlinks),
		cmocka_unit_test(mini_debuginfo),
		cmocka_unit_test(what_is_no_elf_file),
		cmocka_unit_test(damaged_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
