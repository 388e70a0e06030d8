// SPDX-License-Identifier: LGPL-2.1-or-later
/* pevrec verify: one line per trace, and an exit code that scripts can go by. */
#include "base/cleanup.h"
#include "cli/cmd.h"
#include "format/seal.h"
#include "report/json.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

PEV_DEFINE_CLEANUP(struct pev_trace *, pev_trace_free);

enum {
	KEY_JSON = 256
};

struct args {
	bool seal, quiet, json;
	char **files;
	int nr_files;
};

static const struct argp_option options[] = {
	{ "seal", 's', 0, 0,
	  "Turn unfinished, cut and damaged traces into regular files, keeping all that is whole",
	  0 },
	{ "quiet", 'q', 0, 0, "Say nothing of traces that are whole", 0 },
	{ "json", KEY_JSON, 0, 0, "One JSON object per trace and line", 0 },
	{ 0 },
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct args *const a = state->input;

	(void)arg;
	switch (key) {
	case 's':
		a->seal = true;
		break;
	case 'q':
		a->quiet = true;
		break;
	case KEY_JSON:
		a->json = true;
		break;
	case ARGP_KEY_ARGS:
		a->files = state->argv + state->next;
		a->nr_files = state->argc - state->next;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "name the traces to verify");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void show_progress(void *userdata, uint64_t offset)
{
	char bytes[32];

	(void)fprintf(stderr, "\r\033[K%s: %s", (const char *)userdata, cmd_bytes(offset, bytes));
}

static int verify(char *path, struct pev_verify *ret, struct pev_err *err)
{
	const struct pev_trace_options how = { .check = true };
	_cleanup_(pev_trace_freep) struct pev_trace *t = NULL;
	const bool terminal = isatty(STDERR_FILENO);
	int r;

	r = pev_trace_open(path, &how, &t, err);
	if (r == 0)
		r = pev_verify_run(t, terminal ? show_progress : NULL, path, ret, err);
	if (terminal)
		(void)fputs("\r\033[K", stderr);
	return r;
}

static void print_json(const char *path, const struct pev_verify *v)
{
	static const char *const words[] = {
		[PEV_WHOLE] = "whole",
		[PEV_UNFINISHED] = "unfinished",
		[PEV_CUT] = "cut",
		[PEV_DAMAGED] = "damaged",
	};
	const struct pev_verify_stats *const s = &v->stats;

	(void)fputs("{\"file\":", stdout);
	pev_json_string(path, stdout);
	(void)printf(",\"verdict\":\"%s\",\"records\":%" PRIu64 ",\"samples\":%" PRIu64
		     ",\"blocks\":%" PRIu64 ",\"raw_bytes\":%" PRIu64 ",\"lost\":%" PRIu64
		     ",\"lost_samples\":%" PRIu64 ",\"first_ns\":%" PRIu64 ",\"last_ns\":%" PRIu64,
		     words[v->verdict], s->records, s->samples, s->blocks, s->raw_bytes, s->lost,
		     s->lost_samples, s->first_ns, s->last_ns);
	(void)printf(",\"undecodable\":%" PRIu64 ",\"no_event\":%" PRIu64 ",\"unknown\":%" PRIu64
		     ",\"damaged_blocks\":%zu,\"damage\":",
		     s->undecodable, s->no_event, s->unknown, v->nr_bad_blocks);
	if (v->first.code)
		pev_json_string(v->first.msg, stdout);
	else
		(void)fputs("null", stdout);
	(void)puts("}");
}

static void say_verdict(const char *path, const struct pev_verify *v, bool quiet)
{
	static const char *const words[] = {
		[PEV_WHOLE] = "whole",
		[PEV_UNFINISHED] = "whole, but never finished (--seal makes a regular file of it)",
		[PEV_CUT] = "CUT",
		[PEV_DAMAGED] = "DAMAGED",
	};
	const struct pev_verify_stats *const s = &v->stats;

	if (!quiet || v->verdict > PEV_UNFINISHED)
		(void)printf("%s: %s: %" PRIu64 " records, %" PRIu64 " of them samples, in %" PRIu64
			     " blocks\n",
			     path, words[v->verdict], s->records, s->samples, s->blocks);
	if (v->first.code)
		(void)printf("%s: first damage %s\n", path, v->first.msg);
	if (v->nr_bad_blocks)
		(void)printf("%s: %zu damaged blocks of %" PRIu64 " bytes are lost\n", path,
			     v->nr_bad_blocks, v->damage.block_bytes);
	if (s->undecodable + s->no_event)
		(void)printf("%s: %" PRIu64 " records contradict themselves, %" PRIu64
			     " belong to no event\n",
			     path, s->undecodable, s->no_event);
	if (s->unknown && !quiet)
		(void)printf("%s: %" PRIu64 " records are of types this version does not know\n",
			     path, s->unknown);
}

/* 0 when the trace is whole, or has been made so. */
static int verify_one(char *path, const struct args *a)
{
	_cleanup_(pev_verify_done) struct pev_verify v = { 0 };
	struct pev_err err = PEV_ERR_INIT;
	struct pev_seal_result sealed;

	if (verify(path, &v, &err) < 0)
		return cmd_fail(&err);
	if (a->json)
		print_json(path, &v);
	else
		say_verdict(path, &v, a->quiet);
	if (!a->seal)
		return v.verdict > PEV_UNFINISHED ? PEV_EXIT_FAILURE : 0;
	if (v.verdict == PEV_WHOLE)
		return 0;
	if (pev_seal(path, &v, &sealed, &err) < 0)
		return cmd_fail(&err);
	if (!a->quiet && !a->json)
		(void)printf("%s: sealed: a regular file now, with %" PRIu64 " samples\n", path,
			     v.stats.samples);
	/* Records that contradict themselves are inside of blocks that are otherwise fine, and stay
	 * there. */
	return v.stats.undecodable + v.stats.no_event ? PEV_EXIT_FAILURE : 0;
}

int cmd_verify(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.args_doc = "FILE...",
		.doc = "Check every record and block of traces.\v"
		       "Exits with 0 when all are whole (or could be sealed), with 1 when one is "
		       "cut or damaged.",
	};
	static char name[] = "pevrec verify";
	struct args a = { 0 };
	int code = 0;

	argp_err_exit_status = PEV_EXIT_USAGE;
	argv[0] = name;
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		return PEV_EXIT_USAGE;
	for (int i = 0; i < a.nr_files; i++) {
		const int c = verify_one(a.files[i], &a);

		code = c > code ? c : code;
	}
	return code;
}
