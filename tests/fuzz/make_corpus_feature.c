// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The recipe of corpus/feature: make_corpus_feature FOLDER writes every section of
 * tests/unit/feature_make.c, in both byte orders, in the form that fuzz_feature.c reads.
 */
#include "tests/unit/test.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "tests/unit/feature_make.h"

#include <fcntl.h>
#include <string.h>

static void write_case(const char *folder, const struct feature_case *c, bool swap)
{
	_cleanup_buf_ struct pev_buf buf = { 0 };
	_cleanup_close_ int fd = -1;
	struct maker m = { .buf = &buf, .swap = swap };
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/%s%s", folder, c->name, swap ? "-swapped" : "");
	for (char *s = path + strlen(folder) + 1; *s; s++)
		if (*s == ' ' || *s == ',')
			*s = '-';
	pev_buf_u8(&buf, (uint8_t)c->feat);
	pev_buf_u8(&buf, swap);
	pev_buf_u16(&buf, 3);
	c->make(&m);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || pev_buf_status(&buf) < 0 || pev_write_all(fd, buf.data, buf.size) < 0) {
		perror(path);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		(void)fprintf(stderr, "usage: make_corpus_feature FOLDER\n");
		return 2;
	}
	for (size_t i = 0; i < nr_feature_cases; i++) {
		write_case(argv[1], &feature_cases[i], false);
		if (!feature_cases[i].native_only)
			write_case(argv[1], &feature_cases[i], true);
	}
	return 0;
}
