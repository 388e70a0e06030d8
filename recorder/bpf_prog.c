// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * bpf(2) hands out program ids in rising order, a descriptor for an id, and for a descriptor first
 * how much there is to tell, then the arrays themselves. What is read for the records is also, with
 * its pointers turned into offsets, what a HEADER_BPF_PROG_INFO entry is (struct perf_bpil of
 * perf's util/bpf-utils.h):
 *
 *   u32 info_len      bytes of info
 *   u32 data_len      bytes of data, a multiple of 8
 *   u64 arrays        bit i: array i of the table below is in data
 *   info              struct bpf_prog_info, pointers as offsets into data
 *   data              the arrays, each padded to 8
 *
 * A program can be unloaded, or another loaded, at any moment; what vanishes is left out.
 */
#include "recorder/bpf_prog.h"

#include "base/checked.h"
#include "base/cleanup.h"
#include "format/btf.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>

/* A perf refuses a whole feature when info is bigger than it knows; this much all know (Linux 5.1).
 */
#define INFO_BYTES (offsetof(struct bpf_prog_info, run_cnt) + sizeof(uint64_t))
static_assert(INFO_BYTES == 208, "bpf_prog_info up to run_cnt");

#define DATA_MAX_BYTES (64U << 20) /* of one program or one BTF object */
#define KSYM_NAME_MAX  512         /* include/linux/kallsyms.h: KSYM_NAME_LEN */

/* The arrays of bpf_prog_info, in the order of the bits of perf_bpil.arrays. */
#define FIELD(name) offsetof(struct bpf_prog_info, name)
static const struct array {
	size_t pointer, count;
	size_t rec_size_at; /* where info says the size of an element, or 0 */
	uint32_t rec_size;  /* its size when info does not say */
	bool for_records;   /* needed even when no feature is wanted */
	bool for_feature;
} arrays[] = {
	{ FIELD(jited_prog_insns), FIELD(jited_prog_len), 0, 1, false, true },
	{ FIELD(xlated_prog_insns), FIELD(xlated_prog_len), 0, 1, false, false },
	{ FIELD(map_ids), FIELD(nr_map_ids), 0, 4, false, false },
	{ FIELD(jited_ksyms), FIELD(nr_jited_ksyms), 0, 8, true, true },
	{ FIELD(jited_func_lens), FIELD(nr_jited_func_lens), 0, 4, true, true },
	{ FIELD(func_info), FIELD(nr_func_info), FIELD(func_info_rec_size), 0, true, true },
	{ FIELD(line_info), FIELD(nr_line_info), FIELD(line_info_rec_size), 0, false, true },
	{ FIELD(jited_line_info), FIELD(nr_jited_line_info), FIELD(jited_line_info_rec_size), 0,
	  false, true },
	{ FIELD(prog_tags), FIELD(nr_prog_tags), 0, BPF_TAG_SIZE, true, true },
};

struct btf_object {
	uint32_t id;
	uint8_t *bytes; /* owned */
	struct pev_btf index;
};

struct walk {
	struct pev_emit *emit;
	const struct pev_kallsyms *kallsyms;
	struct pev_bpf_stats stats;
	struct pev_bpf_features *features; /* or NULL */
	uint32_t nr_prog_info, nr_btf;     /* entries put into them */
	struct pev_buf data;               /* the arrays of the program at hand */
	struct btf_object *btfs;           /* owned: objects are shared by programs */
	size_t nr_btfs, cap_btfs;
};

static void walk_done(struct walk *w)
{
	pev_buf_done(&w->data);
	for (size_t i = 0; i < w->nr_btfs; i++) {
		pev_btf_done(&w->btfs[i].index);
		free(w->btfs[i].bytes);
	}
	free(w->btfs);
}

/*
 * bpf(2).
 */

static int bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	const long r = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return r < 0 ? -errno : (int)r;
}

static int next_prog_id(uint32_t after, uint32_t *ret)
{
	union bpf_attr attr;
	int r;

	memset(&attr, 0, sizeof(attr));
	attr.start_id = after;
	r = bpf(BPF_PROG_GET_NEXT_ID, &attr);
	if (r >= 0)
		*ret = attr.next_id;
	return r;
}

static int open_id(enum bpf_cmd cmd, uint32_t id)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_id = id; /* shares its place with btf_id */
	return bpf(cmd, &attr);
}

static int get_info(int fd, void *info, size_t size)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = (uint32_t)size;
	attr.info.info = (uintptr_t)info;
	return bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

bool pev_bpf_any(void)
{
	uint32_t id;

	return next_prog_id(0, &id) != -ENOENT;
}

/*
 * BTF objects.
 */

static int read_btf(uint32_t id, uint8_t **ret_bytes, uint32_t *ret_size)
{
	struct bpf_btf_info info = { .btf_size = 0 };
	_cleanup_free_ uint8_t *bytes = NULL;
	_cleanup_close_ int fd = -1;
	uint32_t size;
	int r;

	fd = open_id(BPF_BTF_GET_FD_BY_ID, id);
	if (fd < 0)
		return fd;
	r = get_info(fd, &info, sizeof(info));
	if (r < 0)
		return r;
	size = info.btf_size;
	if (!size || size > DATA_MAX_BYTES)
		return -E2BIG;
	bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	info = (struct bpf_btf_info){ .btf = (uintptr_t)bytes, .btf_size = size };
	r = get_info(fd, &info, sizeof(info));
	if (r < 0)
		return r;
	if (info.btf_size != size)
		return -ESTALE;
	*ret_bytes = TAKE_PTR(bytes);
	*ret_size = size;
	return 0;
}

static void put_btf_feature(struct walk *w, uint32_t id, const uint8_t *bytes, uint32_t size)
{
	if (!w->features)
		return;
	pev_buf_u32(&w->features->btf, id);
	pev_buf_u32(&w->features->btf, size);
	pev_buf_put(&w->features->btf, bytes, size);
	w->nr_btf++;
}

/* The BTF object @id, or NULL when it cannot be had. Borrowed until the next one is found. */
static int find_btf(struct walk *w, uint32_t id, const struct pev_btf **ret)
{
	struct btf_object object = { .id = id };
	uint32_t size;
	int r;

	*ret = NULL;
	for (size_t i = 0; i < w->nr_btfs; i++) {
		if (w->btfs[i].id == id) {
			*ret = &w->btfs[i].index;
			return 0;
		}
	}
	if (w->nr_btfs == w->cap_btfs) {
		const size_t more = w->cap_btfs ? w->cap_btfs * 2 : 16;
		struct btf_object *const bigger = realloc(w->btfs, more * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		w->btfs = bigger;
		w->cap_btfs = more;
	}
	r = read_btf(id, &object.bytes, &size);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	put_btf_feature(w, id, object.bytes, size);
	/* One that cannot be indexed stays empty: its names are not known, its bytes are kept. */
	r = pev_btf_index(object.bytes, size, &object.index);
	if (r == -ENOMEM) {
		free(object.bytes);
		return r;
	}
	w->btfs[w->nr_btfs++] = object;
	*ret = &w->btfs[w->nr_btfs - 1].index;
	return 0;
}

/*
 * One program.
 */

static uint32_t get_u32(const struct bpf_prog_info *info, size_t offset)
{
	uint32_t v;

	memcpy(&v, (const uint8_t *)info + offset, sizeof(v));
	return v;
}

static void set_u32(struct bpf_prog_info *info, size_t offset, uint32_t v)
{
	memcpy((uint8_t *)info + offset, &v, sizeof(v));
}

static uint64_t get_pointer(const struct bpf_prog_info *info, const struct array *a)
{
	uint64_t v;

	memcpy(&v, (const uint8_t *)info + a->pointer, sizeof(v));
	return v;
}

static void set_pointer(struct bpf_prog_info *info, const struct array *a, uint64_t v)
{
	memcpy((uint8_t *)info + a->pointer, &v, sizeof(v));
}

static uint64_t array_bytes(const struct bpf_prog_info *info, const struct array *a)
{
	const uint64_t rec_size = a->rec_size_at ? get_u32(info, a->rec_size_at) : a->rec_size;

	return get_u32(info, a->count) * rec_size;
}

/* Where the wanted arrays of a program go within walk.data. */
struct layout {
	uint64_t have; /* bit i: array i is there */
	size_t offsets[PEV_ARRAY_SIZE(arrays)];
	size_t total;
};

/* Makes room for the arrays whose sizes @sizes tells, and asks for them in *info. */
static int plan_arrays(struct walk *w, const struct bpf_prog_info *sizes, struct layout *layout,
		       struct bpf_prog_info *info)
{
	uint8_t *p;

	for (size_t i = 0; i < PEV_ARRAY_SIZE(arrays); i++) {
		const struct array *const a = &arrays[i];
		const uint64_t bytes = array_bytes(sizes, a);

		if (!bytes || !(a->for_records || (w->features && a->for_feature)))
			continue;
		if (bytes > DATA_MAX_BYTES - layout->total)
			return -E2BIG;
		layout->have |= 1ULL << i;
		layout->offsets[i] = layout->total;
		layout->total += pev_align8((size_t)bytes);
	}
	pev_buf_reset(&w->data);
	pev_buf_zero(&w->data, layout->total);
	if (pev_buf_status(&w->data) < 0)
		return -ENOMEM;
	p = w->data.data;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(arrays); i++) {
		const struct array *const a = &arrays[i];

		if (!(layout->have >> i & 1))
			continue;
		set_u32(info, a->count, get_u32(sizes, a->count));
		if (a->rec_size_at)
			set_u32(info, a->rec_size_at, get_u32(sizes, a->rec_size_at));
		set_pointer(info, a, (uintptr_t)(p + layout->offsets[i]));
	}
	return 0;
}

/* Fills *info and w->data. 0 or what bpf(2) said; -ESTALE when the sizes have changed since they
 * were told. */
static int read_prog(struct walk *w, int fd, struct layout *layout, struct bpf_prog_info *info)
{
	struct bpf_prog_info sizes = { .type = 0 };
	int r;

	r = get_info(fd, &sizes, INFO_BYTES);
	if (r >= 0)
		r = plan_arrays(w, &sizes, layout, info);
	if (r >= 0)
		r = get_info(fd, info, INFO_BYTES);
	if (r < 0)
		return r;
	for (size_t i = 0; i < PEV_ARRAY_SIZE(arrays); i++) {
		const struct array *const a = &arrays[i];

		if (!(layout->have >> i & 1))
			continue;
		if (array_bytes(info, a) != array_bytes(&sizes, a))
			return -ESTALE;
		/* The kernel takes back the pointer to what it does not show to us. */
		if (!get_pointer(info, a))
			layout->have &= ~(1ULL << i);
	}
	return 0;
}

static int put_ksymbol(struct walk *w, uint64_t addr, uint32_t len, const char *name)
{
	struct pev_record rec = {
		.hdr = { .type = PEV_REC_KSYMBOL },
		.ksymbol = {
			.addr = addr,
			.len = len,
			.type = PEV_KSYMBOL_TYPE_BPF,
			.name = name,
		},
	};

	w->stats.symbols++;
	return pev_emit(w->emit, 0, 0, &rec);
}

/* What the kernel calls the function at @addr, if kallsyms shows it. */
static const char *kernel_name(const struct pev_kallsyms *k, uint64_t addr)
{
	size_t low = 0, high = k->nr_bpf;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (k->bpf[mid].addr < addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < k->nr_bpf && k->bpf[low].addr == addr
		       ? (const char *)k->names.data + k->bpf[low].name
		       : NULL;
}

/* The name of function @i where the kernel keeps it to itself (net.core.bpf_jit_kallsyms is 0, or
 * the program was loaded without privilege), made as bpf_get_prog_name() of kernel/bpf/core.c does.
 */
static void make_name(const struct bpf_prog_info *info, const struct pev_btf *btf, uint32_t i,
		      char ret[KSYM_NAME_MAX])
{
	const uint8_t *const tag =
		(const uint8_t *)(uintptr_t)info->prog_tags + (size_t)i * BPF_TAG_SIZE;
	const char *name = NULL;

	if (btf && info->func_info && i < info->nr_func_info && info->func_info_rec_size >= 8) {
		uint32_t type_id;

		/* struct bpf_func_info: insn_off, type_id */
		memcpy(&type_id,
		       (const uint8_t *)(uintptr_t)info->func_info +
			       (size_t)i * info->func_info_rec_size + 4,
		       sizeof(type_id));
		name = pev_btf_name(btf, type_id);
	}
	if (!name && info->nr_jited_ksyms == 1 && info->name[0])
		name = info->name;
	else if (!name && info->nr_jited_ksyms > 1)
		name = "F";
	(void)snprintf(ret, KSYM_NAME_MAX, "bpf_prog_%02x%02x%02x%02x%02x%02x%02x%02x%s%s", tag[0],
		       tag[1], tag[2], tag[3], tag[4], tag[5], tag[6], tag[7], name ? "_" : "",
		       name ? name : "");
}

static int put_function(struct walk *w, const struct bpf_prog_info *info, const struct pev_btf *btf,
			uint32_t i)
{
	const char *name;
	char made[KSYM_NAME_MAX];
	uint64_t addr;
	uint32_t len;

	memcpy(&addr, (const uint8_t *)(uintptr_t)info->jited_ksyms + (size_t)i * sizeof(addr),
	       sizeof(addr));
	memcpy(&len, (const uint8_t *)(uintptr_t)info->jited_func_lens + (size_t)i * sizeof(len),
	       sizeof(len));
	if (!addr || !len)
		return 0;
	name = kernel_name(w->kallsyms, addr);
	if (!name) {
		make_name(info, btf, i, made);
		name = made;
	}
	return put_ksymbol(w, addr, len, name);
}

static int put_bpf_event(struct walk *w, const struct bpf_prog_info *info)
{
	struct pev_record rec = {
		.hdr = { .type = PEV_REC_BPF_EVENT },
		.bpf_event = { .type = PEV_BPF_EVENT_PROG_LOAD, .prog_id = info->id },
	};

	memcpy(rec.bpf_event.tag, info->tag, sizeof(rec.bpf_event.tag));
	w->stats.programs++;
	return pev_emit(w->emit, 0, 0, &rec);
}

static void put_prog_feature(struct walk *w, struct bpf_prog_info *info,
			     const struct layout *layout)
{
	struct pev_buf *const out = &w->features->prog_info;

	for (size_t i = 0; i < PEV_ARRAY_SIZE(arrays); i++)
		set_pointer(info, &arrays[i], layout->have >> i & 1 ? layout->offsets[i] : 0);
	pev_buf_u32(out, (uint32_t)INFO_BYTES);
	pev_buf_u32(out, (uint32_t)w->data.size);
	pev_buf_u64(out, layout->have);
	pev_buf_put(out, info, INFO_BYTES);
	pev_buf_put(out, w->data.data, w->data.size);
	w->nr_prog_info++;
}

/* False where addresses are withheld (kernel.kptr_restrict), and for programs that are not JITed.
 */
static bool has_functions(const struct bpf_prog_info *info)
{
	return info->jited_ksyms && info->jited_func_lens && info->prog_tags &&
	       info->nr_jited_func_lens == info->nr_jited_ksyms &&
	       info->nr_prog_tags == info->nr_jited_ksyms;
}

static int put_prog(struct walk *w, uint32_t id)
{
	struct layout layout = { .have = 0 };
	struct bpf_prog_info info = { .type = 0 };
	const struct pev_btf *btf = NULL;
	_cleanup_close_ int fd = open_id(BPF_PROG_GET_FD_BY_ID, id);
	int r = fd < 0 ? fd : read_prog(w, fd, &layout, &info);

	if (r < 0)
		return r == -ENOMEM || r == -EMFILE || r == -ENFILE ? r : 0;
	if (info.btf_id)
		r = find_btf(w, info.btf_id, &btf);
	if (has_functions(&info))
		for (uint32_t i = 0; i < info.nr_jited_ksyms && r >= 0; i++)
			r = put_function(w, &info, btf, i);
	if (r >= 0)
		r = put_bpf_event(w, &info);
	if (r >= 0 && w->features)
		put_prog_feature(w, &info, &layout);
	return r;
}

/*
 * All of them.
 */

static int put_progs(struct walk *w)
{
	uint32_t id = 0;
	int r;

	while ((r = next_prog_id(id, &id)) >= 0) {
		r = put_prog(w, id);
		if (r < 0)
			return r;
	}
	if (r != -ENOENT)
		w->stats.hidden = true;
	return 0;
}

/* Where the symbol may end at the latest: at the next one, or at the end of its page. */
static uint32_t guess_len(const struct pev_kallsyms *k, size_t i)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t addr = k->bpf[i].addr;
	uint64_t end = (addr / page + 1) * page;

	for (size_t next = i + 1; next < k->nr_bpf; next++) {
		if (k->bpf[next].addr > addr) {
			end = PEV_MIN(end, k->bpf[next].addr);
			break;
		}
	}
	return (uint32_t)(end - addr);
}

/* Trampolines and dispatchers, and programs when nobody else told them. */
static int put_images(struct walk *w)
{
	const struct pev_kallsyms *const k = w->kallsyms;

	for (size_t i = 0; i < k->nr_bpf; i++) {
		const char *const name = (const char *)k->names.data + k->bpf[i].name;
		int r;

		if (strncmp(name, "bpf_trampoline_", 15) != 0 &&
		    strncmp(name, "bpf_dispatcher_", 15) != 0 &&
		    !(w->stats.hidden && strncmp(name, "bpf_prog_", 9) == 0))
			continue;
		r = put_ksymbol(w, k->bpf[i].addr, guess_len(k, i), name);
		if (r < 0)
			return r;
	}
	return 0;
}

int pev_bpf_progs(struct pev_emit *e, const struct pev_kallsyms *kallsyms,
		  struct pev_bpf_stats *ret, struct pev_bpf_features *ret_features,
		  struct pev_err *err)
{
	_cleanup_(pev_bpf_features_done) struct pev_bpf_features features = { 0 };
	_cleanup_(walk_done) struct walk w = {
		.emit = e,
		.kallsyms = kallsyms,
		.features = ret_features ? &features : NULL,
	};
	int r;

	pev_buf_u32(&features.prog_info, 0);
	pev_buf_u32(&features.btf, 0);
	r = put_progs(&w);
	if (r >= 0)
		r = put_images(&w);
	if (r >= 0 &&
	    (pev_buf_status(&features.prog_info) < 0 || pev_buf_status(&features.btf) < 0))
		r = -ENOMEM;
	if (r < 0)
		return pev_err_set(err, r, "cannot tell the loaded BPF programs to the trace: %s",
				   pev_errno_str(r));
	*ret = w.stats;
	if (ret_features) {
		if (w.nr_prog_info)
			memcpy(features.prog_info.data, &w.nr_prog_info, sizeof(uint32_t));
		else
			features.prog_info.size = 0;
		if (w.nr_btf)
			memcpy(features.btf.data, &w.nr_btf, sizeof(uint32_t));
		else
			features.btf.size = 0;
		*ret_features = features;
		features = (struct pev_bpf_features){ 0 };
	}
	return 0;
}

void pev_bpf_features_done(struct pev_bpf_features *f)
{
	pev_buf_done(&f->prog_info);
	pev_buf_done(&f->btf);
}
