/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ELF files that tests/unit/fixtures/make.sh made, and small helpers around them. */
#pragma once

#include "test.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/io.h"
#include "unwind/image.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The path of fixture @name; the test is skipped when a tool to make it was missing. */
static inline const char *fixture(const char *name)
{
	static char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", FIXTURES_DIR, name);
	if (access(path, R_OK) < 0) {
		print_message("%s could not be made here\n", path);
		skip();
	}
	return path;
}

static inline struct pev_image *open_image(const char *path)
{
	struct pev_err err = PEV_ERR_INIT;
	struct pev_image *image = NULL;

	if (pev_image_open(path, &image, &err) < 0)
		fail_msg("%s", err.msg);
	return image;
}

static inline struct pev_image *open_fixture(const char *name)
{
	return open_image(fixture(name));
}

/* A copy in memory from malloc(), to be damaged. */
static inline uint8_t *read_fixture(const char *name, size_t *ret_size)
{
	struct pev_buf buf = { 0 };

	assert_int_equal(pev_read_path(fixture(name), 1 << 24, &buf), 0);
	*ret_size = buf.size;
	return buf.data;
}

static inline uint8_t *copy_of(const uint8_t *bytes, size_t size)
{
	uint8_t *const p = malloc(size + 1);

	assert_non_null(p);
	memcpy(p, bytes, size);
	return p;
}
