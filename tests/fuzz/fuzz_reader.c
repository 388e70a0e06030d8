// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The reader of whole traces. The input is
 *
 *   0  u8  bit 0: only samples of times in the middle, 1: only CPU 1, 2: groups as they are, 3: the
 *          trace is read twice at once
 *   1  the trace
 *
 * What was read was counted, an error has words, and whatever a record points to is there.
 */
#include "base/cleanup.h"
#include "base/io.h"
#include "format/reader.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>
#include <sys/mman.h>

PEV_DEFINE_CLEANUP(struct pev_reader *, pev_reader_free);

static volatile uint64_t touched; /* so that the reads are not optimised away */

static void check(bool ok)
{
	if (!ok)
		abort();
}

static uint64_t touch_sample(const struct pev_sample *s)
{
	uint64_t sum = s->ip;

	for (uint64_t i = 0; i < s->callchain.nr; i++)
		sum += pev_u64s_at(&s->callchain, i);
	for (uint64_t i = 0; i < s->branch_stack.nr; i++)
		sum += pev_branch_at(&s->branch_stack, i).to;
	for (uint64_t i = 0; i < s->stack_user.data.size; i++)
		sum += s->stack_user.data.p[i];
	return sum;
}

static void touch(const struct pev_reader_record *rec)
{
	const uint32_t type = rec->rec.hdr.type;

	for (size_t i = 0; i < rec->size; i++)
		touched += rec->bytes[i];
	if (rec->event)
		touched += strlen(rec->event->name ? rec->event->name : "");
	if (type == PEV_REC_SAMPLE)
		touched += touch_sample(&rec->rec.sample);
	else if (type == PEV_REC_MMAP || type == PEV_REC_MMAP2)
		touched += strlen(rec->rec.mmap.filename);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t cpus[] = { 1 };
	_cleanup_close_ int fd = memfd_create("fuzz", MFD_CLOEXEC);
	_cleanup_(pev_reader_freep) struct pev_reader *r = NULL;
	struct pev_reader_options options = { 0 };
	struct pev_err err = PEV_ERR_INIT;
	struct pev_reader_record rec;
	const char *paths[2];
	uint64_t records = 0;
	char path[32];
	int n;

	if (!size || fd < 0 || pev_write_all(fd, data + 1, size - 1) < 0)
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	paths[0] = paths[1] = path;
	options.keep_groups = *data & 4;
	if (*data & 2) {
		options.cpus = cpus;
		options.nr_cpus = 1;
	}
	n = pev_reader_open(paths, *data & 8 ? 2 : 1, &options, &r, &err);
	check((n == 0) == (err.msg[0] == 0));
	if (n < 0)
		return 0;
	if (*data & 1)
		pev_reader_set_time(r, 105, 1100);
	while ((n = pev_reader_next(r, &rec, &err)) > 0) {
		touch(&rec);
		records += rec.rec.hdr.type != PEV_READER_TRACE_END;
	}
	check(n == 0 || err.msg[0]);
	check(pev_reader_stats(r).records == records);
	for (size_t i = 0; i < pev_reader_nr_traces(r); i++)
		if (pev_reader_damage_words(r, i, &err))
			check(err.msg[0]);
	return 0;
}
