// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevrec info: the header as perf prints it, then the blocks. */
#include "base/checked.h"
#include "base/cleanup.h"
#include "cli/cmd.h"
#include "format/trace.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

PEV_DEFINE_CLEANUP(struct pev_trace *, pev_trace_free);

struct args {
	const char *path;
	bool full, no_blocks;
};

static const struct argp_option options[] = {
	{ "input", 'i', "FILE", 0, "The trace (default perf.data)", 0 },
	{ "header-full", 'I', 0, 0, "CPU and NUMA topology in full, as perf report -I has them",
	  0 },
	{ "no-blocks", 'n', 0, 0, "Only the header", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct args *const a = state->input;

	switch (key) {
	case 'I':
		a->full = true;
		break;
	case 'n':
		a->no_blocks = true;
		break;
	case 'i':
	case ARGP_KEY_ARG:
		if (key != 'i' && state->arg_num > 0)
			argp_error(state, "one trace at a time");
		a->path = arg;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void print_header(const char *path, const struct pev_trace_head *head, bool full)
{
	const struct pev_features_print how = { .full = full, .pipe = head->pipe, .nr_known = 32 };
	struct stat st;

	(void)puts("# ========");
	if (strcmp(path, "-") != 0 && stat(path, &st) == 0) {
		char when[64] = "";

		(void)ctime_r(&st.st_mtime, when);
		(void)printf("# captured on    : %s", when);
	}
	(void)printf("# header version : %d\n", head->version == 1 ? 0 : 1);
	(void)printf("# data offset    : %" PRIu64 "\n", head->data_offset);
	(void)printf("# data size      : %" PRIu64 "\n", head->data_size);
	(void)printf("# feat offset    : %" PRIu64 "\n",
		     head->pipe ? 0 : head->data_offset + head->data_size);
	pev_features_print(head->features, &how, stdout);
	(void)puts("# ========\n#");
}

static void print_block(const struct pev_trace_record *rec, const struct pev_block_head *b)
{
	const double s = 1e9;

	(void)printf("%12" PRIu64 " %7zu %8u %6.2f %9u %9u %7u %7u  %14.6f %14.6f\n", rec->offset,
		     rec->size, b->raw_size, (double)b->raw_size / (double)rec->size, b->records,
		     b->samples, b->states, b->losses, (double)b->first_ns / s,
		     (double)b->last_ns / s);
}

/* Blocks by their heads alone: nothing is unpacked. */
static int print_blocks(struct pev_trace *t, struct pev_err *err)
{
	uint64_t ours = 0, others = 0, plain = 0, size = 0, raw = 0;
	char a[32], b[32];

	for (;;) {
		struct pev_trace_record rec;
		struct pev_block_head head;
		const int r = pev_trace_next(t, &rec, err);

		if (r < 0)
			return r;
		if (r == 0)
			break;
		if (rec.hdr.type != PEV_REC_COMPRESSED && rec.hdr.type != PEV_REC_COMPRESSED2) {
			plain++;
			continue;
		}
		size += rec.size;
		if (pev_block_head_read(rec.bytes, rec.size, false, &head) <= 0) {
			others++;
			continue;
		}
		if (!ours++)
			(void)printf("#     offset    size      raw  ratio   records   samples  "
				     "states  losses  %14s %14s\n",
				     "first", "last");
		raw += head.raw_size;
		print_block(&rec, &head);
	}
	(void)printf("# %" PRIu64 " blocks", ours);
	if (ours)
		(void)printf(" of %s, %s of records", cmd_bytes(size, a), cmd_bytes(raw, b));
	if (others)
		(void)printf(", %" PRIu64 " compressed records of another writer", others);
	(void)printf(", %" PRIu64 " plain records\n", plain);
	return 0;
}

/* An end that was none is said, but is no failure here: pevrec verify is for that. */
static void say_damage(const char *path, const struct pev_trace *t)
{
	const struct pev_trace_damage d = pev_trace_damage(t);

	if (d.cut_bytes || d.missing_bytes || d.tail_bytes)
		cmd_say("%s is cut short at offset %" PRIu64 "; 'pevrec verify' tells more", path,
			d.first_offset);
}

int cmd_info(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.args_doc = "[FILE]",
		.doc = "Show what a trace says about its machine, its events and itself.",
	};
	static char name[] = "pevrec info";
	const struct pev_trace_options how = { .raw = true };
	_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
	struct pev_err err = PEV_ERR_INIT;
	struct args a = { .path = "perf.data" };
	struct pev_trace_head head;

	argp_err_exit_status = PEV_EXIT_USAGE;
	argv[0] = name;
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return PEV_EXIT_USAGE;
	if (pev_trace_open(a.path, &how, &t, &err) < 0)
		return cmd_fail(&err);
	head = pev_trace_head(t);
	print_header(a.path, &head, a.full);
	if (!a.no_blocks && print_blocks(t, &err) < 0)
		return cmd_fail(&err);
	say_damage(a.path, t);
	return 0;
}
