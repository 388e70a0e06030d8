// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format/bpf_info.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "format/btf.h"

#include <inttypes.h>
#include <linux/bpf.h>

/* Which of the arrays of struct bpf_prog_info came along: the bits of an entry's arrays. */
#define ARRAY_JITED_KSYMS     (1ULL << 3)
#define ARRAY_JITED_FUNC_LENS (1ULL << 4)
#define ARRAY_FUNC_INFO       (1ULL << 5)
#define ARRAY_PROG_TAGS       (1ULL << 8)

/* The kernel takes programs of up to 256 functions (BPF_MAX_SUBPROGS in bpf_verifier.h). */
#define MAX_FUNCTIONS 1024

struct prog {
	struct bpf_prog_info info;
	uint64_t arrays;
	const uint8_t *data;
	size_t size;
};

/* False at the end of the entries and where they are damaged. */
static bool next_prog(struct pev_cursor *c, struct prog *ret)
{
	const uint32_t info_len = pev_cursor_u32(c), data_len = pev_cursor_u32(c);
	const uint8_t *info;

	*ret = (struct prog){ .arrays = pev_cursor_u64(c), .size = data_len };
	info = pev_cursor_bytes(c, info_len);
	ret->data = pev_cursor_bytes(c, data_len);
	if (!ret->data)
		return false;
	memcpy(&ret->info, info, PEV_MIN(info_len, sizeof(ret->info)));
	return true;
}

/* Element @i, of @size bytes, of the array @which that starts at @offset; NULL when it is not
 * there.
 */
static const uint8_t *element(const struct prog *p, uint64_t which, uint64_t offset, uint32_t i,
			      uint32_t size)
{
	const uint64_t at = (uint64_t)i * size;

	if (!(p->arrays & which) || offset > p->size || at > p->size - offset ||
	    size > p->size - offset - at)
		return NULL;
	return p->data + offset + at;
}

/* Indexes the BTF with this id: empty when it is not there, or damaged. */
static struct pev_btf find_btf(const struct pev_feat_bpf *btfs, uint32_t id)
{
	struct pev_cursor c = pev_cursor(btfs->entries, btfs->size);
	struct pev_btf btf = { 0 };

	for (uint32_t i = 0; i < btfs->nr && !c.failed; i++) {
		const uint32_t btf_id = pev_cursor_u32(&c), size = pev_cursor_u32(&c);
		const uint8_t *const bytes = pev_cursor_bytes(&c, size);

		if (bytes && btf_id == id) {
			(void)pev_btf_index(bytes, size, &btf);
			break;
		}
	}
	return btf;
}

/* The name that the kernel gives function @i of the program in /proc/kallsyms. */
static void print_name(const struct prog *p, const struct pev_btf *btf, uint32_t i, FILE *out)
{
	const uint8_t *const tag = element(p, ARRAY_PROG_TAGS, p->info.prog_tags, i, BPF_TAG_SIZE);
	const uint32_t size = p->info.func_info_rec_size;
	const uint8_t *func = NULL;
	struct bpf_func_info f;
	const char *name;

	fputs("bpf_prog_", out);
	for (size_t k = 0; tag && k < BPF_TAG_SIZE; k++)
		fprintf(out, "%02x", tag[k]);
	if (btf->nr && size >= sizeof(f))
		func = element(p, ARRAY_FUNC_INFO, p->info.func_info, i, size);
	if (func) {
		memcpy(&f, func, sizeof(f));
		name = pev_btf_name(btf, f.type_id);
		fprintf(out, "_%s", name ? name : "");
	} else if (p->info.nr_jited_ksyms > 1) {
		fputs("_F", out);
	} else if (p->info.name[0]) {
		fprintf(out, "_%.*s", BPF_OBJ_NAME_LEN, p->info.name);
	}
}

static void print_function(const struct prog *p, const struct pev_btf *btf, uint32_t i, FILE *out)
{
	const uint8_t *const addr =
		element(p, ARRAY_JITED_KSYMS, p->info.jited_ksyms, i, sizeof(uint64_t));
	const uint8_t *const len =
		element(p, ARRAY_JITED_FUNC_LENS, p->info.jited_func_lens, i, sizeof(uint32_t));
	uint64_t at = 0;
	uint32_t size = 0;

	if (addr)
		memcpy(&at, addr, sizeof(at));
	if (len)
		memcpy(&size, len, sizeof(size));
	print_name(p, btf, i, out);
	fprintf(out, " addr 0x%" PRIx64 " size %" PRIu32 "\n", at, size);
}

static void print_prog(const struct prog *p, const struct pev_features *f, FILE *out)
{
	_cleanup_(pev_btf_done) struct pev_btf btf = { 0 };
	const uint32_t nr = p->info.nr_jited_ksyms;

	if (nr != p->info.nr_prog_tags || nr != p->info.nr_jited_func_lens || nr > MAX_FUNCTIONS)
		return;
	if (p->info.btf_id)
		btf = find_btf(&f->bpf_btf, p->info.btf_id);
	fprintf(out, "# bpf_prog_info %" PRIu32 ":%s", p->info.id, nr == 1 ? " " : "\n");
	for (uint32_t i = 0; i < nr; i++) {
		if (nr > 1)
			fprintf(out, "# \tsub_prog %" PRIu32 ": ", i);
		print_function(p, &btf, i, out);
	}
}

void pev_bpf_prog_info_print(const struct pev_features *f, FILE *out)
{
	struct pev_cursor c = pev_cursor(f->bpf_prog_info.entries, f->bpf_prog_info.size);
	struct prog p;

	for (uint32_t i = 0; i < f->bpf_prog_info.nr && next_prog(&c, &p); i++)
		print_prog(&p, f, out);
}

void pev_bpf_btf_print(const struct pev_features *f, FILE *out)
{
	struct pev_cursor c = pev_cursor(f->bpf_btf.entries, f->bpf_btf.size);

	for (uint32_t i = 0; i < f->bpf_btf.nr; i++) {
		const uint32_t id = pev_cursor_u32(&c), size = pev_cursor_u32(&c);

		if (!pev_cursor_bytes(&c, size))
			break;
		fprintf(out, "# btf info of id %" PRIu32 "\n", id);
	}
}
