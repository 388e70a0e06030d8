// SPDX-License-Identifier: LGPL-2.1-or-later
#include "format/bpf_info.h"

#include "base/checked.h"
#include "base/cursor.h"

#include <inttypes.h>
#include <linux/bpf.h>
#include <linux/btf.h>

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

/* The BTF with this id; an empty cursor when it is not there. */
static struct pev_cursor find_btf(const struct pev_feat_bpf *btfs, uint32_t id)
{
	struct pev_cursor c = pev_cursor(btfs->entries, btfs->size);

	for (uint32_t i = 0; i < btfs->nr; i++) {
		const uint32_t btf_id = pev_cursor_u32(&c), size = pev_cursor_u32(&c);
		const uint8_t *const btf = pev_cursor_bytes(&c, size);

		if (!btf)
			break;
		if (btf_id == id)
			return pev_cursor(btf, size);
	}
	return (struct pev_cursor){ 0 };
}

/* Kinds that <linux/btf.h> of some distributions is too old for. */
#define KIND_DECL_TAG 17
#define KIND_ENUM64   19

/* Bytes that follow the struct btf_type of this kind. */
static size_t btf_tail(uint32_t info)
{
	const size_t nr = BTF_INFO_VLEN(info);

	switch (BTF_INFO_KIND(info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case KIND_DECL_TAG:
		return sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return nr * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return nr * sizeof(struct btf_enum);
	case BTF_KIND_FUNC_PROTO:
		return nr * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return nr * sizeof(struct btf_var_secinfo);
	case KIND_ENUM64:
		return nr * 3 * sizeof(uint32_t);
	default:
		return 0;
	}
}

/* A part of BTF after its header; fails @c when it is not all there. */
static struct pev_cursor btf_part(struct pev_cursor *c, uint32_t offset, uint32_t size)
{
	struct pev_cursor part = *c;

	(void)pev_cursor_bytes(&part, offset);
	part = pev_cursor(pev_cursor_bytes(&part, size), 0);
	if (part.p)
		part.end = part.p + size;
	else
		part.failed = true;
	return part;
}

/* The name of type @type_id; NULL when the BTF does not have it. */
static const char *btf_name(struct pev_cursor btf, uint32_t type_id)
{
	struct btf_header hdr;
	struct btf_type type;
	struct pev_cursor types, strings;
	const uint8_t *p = pev_cursor_bytes(&btf, sizeof(hdr));

	if (!p)
		return NULL;
	memcpy(&hdr, p, sizeof(hdr));
	if (hdr.hdr_len < sizeof(hdr) || !pev_cursor_bytes(&btf, hdr.hdr_len - sizeof(hdr)))
		return NULL;
	types = btf_part(&btf, hdr.type_off, hdr.type_len);
	strings = btf_part(&btf, hdr.str_off, hdr.str_len);
	/* Ids count from 1; 0 is void. */
	for (uint32_t id = 1; (p = pev_cursor_bytes(&types, sizeof(type))); id++) {
		memcpy(&type, p, sizeof(type));
		if (id == type_id) {
			(void)pev_cursor_bytes(&strings, type.name_off);
			return pev_cursor_str(&strings, pev_cursor_left(&strings));
		}
		(void)pev_cursor_bytes(&types, btf_tail(type.info));
	}
	return NULL;
}

/* The name that the kernel gives function @i of the program in /proc/kallsyms. */
static void print_name(const struct prog *p, const struct pev_features *f, uint32_t i, FILE *out)
{
	const uint8_t *const tag = element(p, ARRAY_PROG_TAGS, p->info.prog_tags, i, BPF_TAG_SIZE);
	const struct pev_cursor btf = find_btf(&f->bpf_btf, p->info.btf_id);
	const char *name = NULL;

	fputs("bpf_prog_", out);
	for (size_t k = 0; tag && k < BPF_TAG_SIZE; k++)
		fprintf(out, "%02x", tag[k]);
	if (p->info.btf_id && btf.p) {
		const uint8_t *const info = element(p, ARRAY_FUNC_INFO, p->info.func_info, i,
						    p->info.func_info_rec_size);
		struct bpf_func_info func;

		if (info && p->info.func_info_rec_size >= sizeof(func)) {
			memcpy(&func, info, sizeof(func));
			name = btf_name(btf, func.type_id);
		}
		fprintf(out, "_%s", name ? name : "");
	} else if (p->info.nr_jited_ksyms > 1) {
		fputs("_F", out);
	} else if (p->info.name[0]) {
		fprintf(out, "_%.*s", BPF_OBJ_NAME_LEN, p->info.name);
	}
}

static void print_function(const struct prog *p, const struct pev_features *f, uint32_t i,
			   FILE *out)
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
	print_name(p, f, i, out);
	fprintf(out, " addr 0x%" PRIx64 " size %" PRIu32 "\n", at, size);
}

void pev_bpf_prog_info_print(const struct pev_features *f, FILE *out)
{
	struct pev_cursor c = pev_cursor(f->bpf_prog_info.entries, f->bpf_prog_info.size);
	struct prog p;

	for (uint32_t i = 0; i < f->bpf_prog_info.nr && next_prog(&c, &p); i++) {
		const uint32_t nr = p.info.nr_jited_ksyms;

		if (nr != p.info.nr_prog_tags || nr != p.info.nr_jited_func_lens ||
		    nr > MAX_FUNCTIONS)
			continue;
		fprintf(out, "# bpf_prog_info %" PRIu32 ":%s", p.info.id, nr == 1 ? " " : "\n");
		for (uint32_t k = 0; k < nr; k++) {
			if (nr > 1)
				fprintf(out, "# \tsub_prog %" PRIu32 ": ", k);
			print_function(&p, f, k, out);
		}
	}
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
