// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test.h"

#include "trace_make.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "format/writer.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

PEV_DEFINE_CLEANUP(struct pev_writer *, pev_writer_free);
PEV_DEFINE_CLEANUP(struct pev_block *, pev_block_free);

void test_folder_init(struct test_folder *folder)
{
	const char *tmp = getenv("TMPDIR");

	/* In memory, if there is a place: a disk would sync every file that is renamed over
	 * another. */
	if (!tmp)
		tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	(void)snprintf(folder->path, sizeof(folder->path), "%.40s/pevrec-unit.XXXXXX", tmp);
	assert_non_null(mkdtemp(folder->path));
}

void test_folder_done(struct test_folder *folder)
{
	_cleanup_closedir_ DIR *dir = opendir(folder->path);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (unlinkat(dirfd(dir), entry->d_name, 0) < 0)
			(void)unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	(void)rmdir(folder->path);
}

const char *test_path(const struct test_folder *folder, const char *name)
{
	static char paths[8][128];
	static unsigned int next;
	char *const path = paths[next++ % PEV_ARRAY_SIZE(paths)];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", folder->path, name);
	return path;
}

void test_write_file(const char *path, const void *bytes, size_t size)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pev_write_all(fd, bytes, size), 0);
}

void test_read_file(const char *path, struct pev_buf *ret)
{
	pev_buf_reset(ret);
	assert_int_equal(pev_read_path(path, SIZE_MAX / 2, ret), 0);
}

unsigned int test_count_files(const struct test_folder *folder)
{
	_cleanup_closedir_ DIR *dir = opendir(folder->path);
	const struct dirent *entry;
	unsigned int nr = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		nr += entry->d_name[0] != '.';
	return nr;
}

struct test_file test_file(const void *bytes, size_t size)
{
	struct test_file f = { .fd = memfd_create("test", MFD_CLOEXEC) };

	assert_true(f.fd >= 0);
	assert_int_equal(pev_write_all(f.fd, bytes, size), 0);
	(void)snprintf(f.path, sizeof(f.path), "/proc/self/fd/%d", f.fd);
	return f;
}

void test_file_done(struct test_file *f)
{
	(void)close(f->fd);
}

#define SAMPLE_TYPE                                                                 \
	(PEV_SAMPLE_IDENTIFIER | PEV_SAMPLE_IP | PEV_SAMPLE_TID | PEV_SAMPLE_TIME | \
	 PEV_SAMPLE_CPU | PEV_SAMPLE_PERIOD)
#define FLAGS (PEV_ATTR_SAMPLE_ID_ALL | PEV_ATTR_FREQ)

#define IDS(event)                                                                              \
	(const uint64_t[])                                                                      \
	{                                                                                       \
		0x1000 * ((event) + 1), 0x1000 * ((event) + 1) + 1, 0x1000 * ((event) + 1) + 2, \
			0x1000 * ((event) + 1) + 3                                              \
	}

const struct pev_trace_event made_events[MADE_EVENTS] = {
	[MADE_CLOCK] = {
		.attr = {
			.type = PEV_TYPE_SOFTWARE,
			.size = PEV_ATTR_SIZE_VER7,
			.config = PEV_SW_CPU_CLOCK,
			.sample_period = 4000,
			.sample_type = SAMPLE_TYPE,
			.flags = FLAGS | PEV_ATTR_MMAP | PEV_ATTR_MMAP2 | PEV_ATTR_COMM |
				 PEV_ATTR_BUILD_ID,
		},
		.ids = IDS(MADE_CLOCK),
		.nr_ids = 4,
		.name = "cpu-clock",
		.unit = "msec",
		.scale = 1e-6,
	},
	[MADE_TRACEPOINT] = {
		.attr = {
			.type = PEV_TYPE_TRACEPOINT,
			.size = PEV_ATTR_SIZE_VER7,
			.config = 123,
			.sample_period = 1,
			.sample_type = SAMPLE_TYPE | PEV_SAMPLE_RAW,
			.flags = PEV_ATTR_SAMPLE_ID_ALL,
		},
		.ids = IDS(MADE_TRACEPOINT),
		.nr_ids = 4,
		.name = "sched:sched_switch",
	},
	[MADE_DUMMY] = {
		.attr = {
			.type = PEV_TYPE_SOFTWARE,
			.size = PEV_ATTR_SIZE_VER7,
			.config = PEV_SW_DUMMY,
			.sample_type = SAMPLE_TYPE,
			.flags = FLAGS | PEV_ATTR_MMAP | PEV_ATTR_MMAP2 | PEV_ATTR_COMM |
				 PEV_ATTR_BUILD_ID,
		},
		.ids = IDS(MADE_DUMMY),
		.nr_ids = 4,
		.name = "dummy",
	},
};

static void put_round(struct pev_buf *buf)
{
	const struct pev_rec_hdr hdr = { .type = PEV_REC_FINISHED_ROUND, .size = sizeof(hdr) };

	pev_buf_put(buf, &hdr, sizeof(hdr));
}

static void fill_mmap2(unsigned int i, struct pev_record *rec)
{
	rec->hdr.type = PEV_REC_MMAP2;
	rec->hdr.misc = PEV_MISC_USER | PEV_MISC_MMAP_BUILD_ID;
	rec->mmap = (struct pev_mmap){
		.pid = 42,
		.tid = 42,
		.start = 0x400000,
		.len = 0x1000,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
		.build_id_size = 20,
		.filename = i % 2 ? "/usr/bin/one" : "/usr/bin/another",
	};
	memset(rec->mmap.build_id, i % 2 ? 0xaa : 0xbb, 20);
}

void make_trace_record(unsigned int i, bool one_event, struct pev_buf *buf)
{
	enum make_trace_event event = one_event ? MADE_CLOCK : (enum make_trace_event)(i % 2);
	struct pev_record rec = { .id = { .pid = 42, .tid = 42 + i % 3, .cpu = i % 4 } };
	uint8_t raw[12] = { (uint8_t)i, 1, 2, 3 };

	rec.id.time = 1000000ULL * (i + 1);
	if (i % 50 == 49) {
		put_round(buf);
		return;
	}
	if (i % 10 >= 3) {
		rec.hdr.type = PEV_REC_SAMPLE;
		rec.hdr.misc = PEV_MISC_USER;
		rec.sample.ip = 0x400000 + i * 16;
		rec.sample.period = 250000;
		rec.sample.raw = (struct pev_bytes){ raw, sizeof(raw) };
	} else {
		event = one_event ? MADE_CLOCK : MADE_DUMMY;
		if (i % 10 == 0) {
			rec.hdr.type = PEV_REC_COMM;
			rec.comm.pid = rec.comm.tid = 42;
			rec.comm.comm = "made";
		} else if (i % 10 == 1) {
			fill_mmap2(i / 10, &rec);
		} else {
			rec.hdr.type = PEV_REC_LOST;
			rec.lost.id = 0x1000;
			rec.lost.lost = i;
		}
	}
	rec.id.id = made_events[event].ids[i % 4];
	assert_int_equal(pev_record_encode(&made_events[event].attr, &rec, buf), 0);
}

size_t make_sections(bool one_event, struct pev_feat_section *sections, size_t max)
{
	static const uint8_t tracing[] = "\x17\x08\x44tracing0.5\0not really";
	struct pev_feat_event events[MADE_EVENTS] = { 0 };
	struct pev_features f = { .hostname = "made", .arch = "x86_64", .nrcpus = { 4, 4 } };
	size_t nr = 0;

	for (size_t i = 0; i < MADE_EVENTS; i++) {
		events[i].attr = made_events[i].attr;
		events[i].name = made_events[i].name;
		events[i].ids = made_events[i].ids;
		events[i].nr_ids = (uint32_t)made_events[i].nr_ids;
	}
	f.event_desc.events = events;
	f.event_desc.nr = one_event ? 1 : MADE_EVENTS;
	f.tracing_data = (struct pev_feat_blob){ tracing, sizeof(tracing) };
	f.compressed.type = PEV_COMP_ZSTD;
	f.compressed.level = 1;
	f.compressed.ratio = 3;
	f.compressed.mmap_len = PEV_BLOCK_RAW_MAX;
	if (!one_event)
		pev_features_set(&f, PEV_FEAT_TRACING_DATA);
	pev_features_set(&f, PEV_FEAT_HOSTNAME);
	pev_features_set(&f, PEV_FEAT_ARCH);
	pev_features_set(&f, PEV_FEAT_NRCPUS);
	pev_features_set(&f, PEV_FEAT_EVENT_DESC);
	pev_features_set(&f, PEV_FEAT_COMPRESSED);
	assert_int_equal(pev_feat_sections_encode(&f, sections, &nr, NULL), 0);
	assert_in_range(nr, 1, max);
	return nr;
}

static void put_block(struct pev_writer *w, struct pev_block *b, const struct pev_buf *records)
{
	struct pev_rec_hdr hdr;

	for (size_t at = 0; at < records->size; at += hdr.size) {
		const uint8_t *const p = records->data + at;
		uint8_t *room;

		memcpy(&hdr, p, sizeof(hdr));
		room = pev_block_reserve(b, hdr.size);
		assert_non_null(room);
		memcpy(room, p, hdr.size);
		/* Times and CPUs are no matter of these tests. */
		pev_block_commit(b, &hdr, 0, 0);
	}
	assert_int_equal(pev_writer_block(w, b, true, NULL), 0);
}

void make_trace(const struct make_trace *how, const char *path)
{
	_cleanup_(pev_writer_freep) struct pev_writer *w = NULL;
	_cleanup_(pev_block_freep) struct pev_block *b = NULL;
	_cleanup_buf_ struct pev_buf buf = { 0 };
	struct pev_feat_section sections[8] = { 0 };
	const size_t nr = make_sections(how->one_event, sections, PEV_ARRAY_SIZE(sections));
	const size_t events = how->one_event ? 1 : MADE_EVENTS;

	assert_int_equal(pev_block_new(1, &b), 0);
	assert_int_equal(pev_writer_open(path, -1, made_events, events, sections, nr, &w, NULL), 0);
	for (unsigned int i = 0; i < how->records; i++) {
		make_trace_record(i, how->one_event, &buf);
		if (i + 1 < how->records && how->per_block && (i + 1) % how->per_block)
			continue;
		if (how->per_block)
			put_block(w, b, &buf);
		else
			assert_int_equal(pev_writer_put(w, buf.data, buf.size, NULL), 0);
		pev_buf_reset(&buf);
	}
	if (how->sealed)
		assert_int_equal(pev_writer_seal(w, sections, nr, NULL, NULL), 0);
	pev_feat_sections_done(sections, nr);
}

void make_trace_bytes(const struct make_trace *how, struct pev_buf *ret)
{
	_cleanup_folder_ struct test_folder folder;

	test_folder_init(&folder);
	make_trace(how, test_path(&folder, "trace"));
	test_read_file(test_path(&folder, "trace"), ret);
}

static bool is_head_record(uint32_t type)
{
	return type == PEV_REC_HEADER_ATTR || type == PEV_REC_HEADER_EVENT_TYPE ||
	       type == PEV_REC_EVENT_UPDATE || type == PEV_REC_HEADER_FEATURE ||
	       type == PEV_REC_HEADER_TRACING_DATA;
}

struct walked walk_trace(const uint8_t *bytes, size_t size)
{
	struct walked walked = { .data_offset = 16, .data_end = size };
	uint64_t at = 16, header_size;

	if (size < 16)
		return walked;
	memcpy(&header_size, bytes + 8, sizeof(header_size));
	if (header_size == 104) {
		if (size < 104)
			return walked;
		memcpy(&at, bytes + 40, sizeof(at));
		memcpy(&walked.data_end, bytes + 48, sizeof(walked.data_end));
		walked.data_end += at;
		walked.data_offset = at;
	}
	walked.whole_end = at;
	for (const uint64_t end = PEV_MIN(walked.data_end, size); at + 8 <= end;) {
		struct pev_block_head head;
		struct pev_rec_hdr hdr;
		uint32_t payload = 0;

		memcpy(&hdr, bytes + at, sizeof(hdr));
		if (hdr.type == PEV_REC_HEADER_TRACING_DATA && at + 12 <= end)
			memcpy(&payload, bytes + at + 8, sizeof(payload));
		if (hdr.size < 8 || hdr.size + payload > end - at)
			break;
		if (is_head_record(hdr.type)) {
			walked.data_offset = at + hdr.size + payload;
		} else if (hdr.type == PEV_REC_COMPRESSED) {
			assert_int_equal(pev_block_head_read(bytes + at, hdr.size, true, &head), 1);
			walked.records += head.records;
			walked.samples += head.samples;
			walked.blocks++;
		} else {
			walked.records++;
			walked.samples += hdr.type == PEV_REC_SAMPLE;
		}
		at += hdr.size + payload;
		walked.whole_end = at;
	}
	return walked;
}
