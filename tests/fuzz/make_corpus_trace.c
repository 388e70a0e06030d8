// SPDX-License-Identifier: LGPL-2.1-or-later
/* The recipe of corpus/trace: make_corpus_trace FOLDER writes small traces of ours, and files as
 * other writers make them. */
#include "tests/unit/test.h"

#include "base/cleanup.h"
#include "tests/unit/trace_forms.h"
#include "tests/unit/trace_make.h"

#include <string.h>
#include <zstd.h>

static const char *folder;

static void write_file(const char *name, const struct pev_buf *buf)
{
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	for (char *p = path + strlen(folder) + 1; *p; p++)
		if (*p == ' ')
			*p = '-';
	test_write_file(path, buf->data, buf->size);
}

static void write_ours(const char *name, struct make_trace how)
{
	_cleanup_buf_ struct pev_buf buf = { 0 };

	make_trace_bytes(&how, &buf);
	write_file(name, &buf);
}

/* Some records, plain or as perf compresses them. */
static void write_form(const struct form *form, uint32_t compressed)
{
	_cleanup_buf_ struct pev_buf raw = { 0 }, data = { 0 }, file = { 0 };
	struct maker m = { .buf = &raw, .swap = form->swap };
	uint8_t zstd[2048];
	char name[64];

	form_comm(&m, form_id(0, 0));
	for (unsigned int i = 0; i < 4; i++)
		form_sample(&m, i, form_id(0, i % 2));
	if (compressed) {
		const size_t size = ZSTD_compress(zstd, sizeof(zstd), raw.data, raw.size, 1);

		m.buf = &data;
		if (compressed == PEV_REC_COMPRESSED) {
			form_hdr(&m, compressed, 0, 8 + size);
		} else {
			form_hdr(&m, compressed, 0, pev_align8(16 + size));
			make_u64(&m, size);
		}
		pev_buf_put(&data, zstd, size);
		if (compressed != PEV_REC_COMPRESSED)
			pev_buf_zero(&data, -(16 + size) & 7);
	} else {
		pev_buf_put(&data, raw.data, raw.size);
	}
	make_form(form, &data, &file);
	(void)snprintf(name, sizeof(name), "%s %u", form->name, compressed);
	write_file(name, &file);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	folder = argv[1];
	write_ours("ours", (struct make_trace){ .records = 20, .per_block = 7 });
	write_ours("ours sealed",
		   (struct make_trace){ .records = 20, .per_block = 7, .sealed = true });
	write_ours("ours plain", (struct make_trace){ .records = 6, .one_event = true });
	write_ours("ours plain sealed",
		   (struct make_trace){ .records = 6, .one_event = true, .sealed = true });
	for (size_t i = 0; i < nr_trace_forms; i++)
		if (i % 3 == 0 || i == FORM_PIPE)
			write_form(&trace_forms[i], 0);
	write_form(&trace_forms[FORM_PERF_6_1], PEV_REC_COMPRESSED);
	write_form(&trace_forms[FORM_PERF_6_1], PEV_REC_COMPRESSED2);
	write_form(&trace_forms[FORM_PIPE], PEV_REC_COMPRESSED2);
	return 0;
}
