// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/report_args.h"

#include "base/cleanup.h"
#include "cli/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* perf's callchain_param: branches below this are not drawn. */
#define GRAPH_PERCENT 0.5

enum key {
	KEY_CHILDREN = 0x2000,
	KEY_NO_CHILDREN,
	KEY_TOTAL_PERIOD,
	KEY_PERCENT_LIMIT,
	KEY_PERCENTAGE,
	KEY_JSON,
	KEY_STDIO,
};

static const struct argp_option options[] = {
	{ 0, 0, 0, 0, "What is shown:", 3 },
	{ "sort", 's', "KEY,...", 0,
	  "What rows are told apart by (default comm,dso,sym); '+KEY' for one more", 0 },
	{ "fields", 'F', "KEY,...", 0, "The columns, instead", 0 },
	{ "children", KEY_CHILDREN, 0, 0,
	  "Count what was called in, too (the default with call chains)", 0 },
	{ "no-children", KEY_NO_CHILDREN, 0, 0, "Do not", 0 },
	{ "call-graph", 'g', "HOW", OPTION_ARG_OPTIONAL,
	  "Draw calls: caller, callee, or none; graph (percentages of all) or fractal (of the "
	  "caller); a number is the least percentage (default 0.5)",
	  0 },
	{ "inverted", 'G', 0, 0, "Draw calls from the caller in", 0 },
	{ "show-nr-samples", 'n', 0, 0, "A column with the number of samples", 0 },
	{ "show-total-period", KEY_TOTAL_PERIOD, 0, 0, "A column with the sum of the periods", 0 },
	{ "percent-limit", KEY_PERCENT_LIMIT, "PERCENT", 0, "Leave out what is below", 0 },
	{ "percentage", KEY_PERCENTAGE, "relative|absolute", 0,
	  "Percentages of what the filters leave, or of everything (default)", 0 },
	{ "json", KEY_JSON, 0, 0, "One JSON object instead of a table", 0 },
	{ "stdio", KEY_STDIO, 0, 0, "Is always so; for those who are used to say it", 0 },
	{ "quiet", 'q', 0, 0, "No heads and no remarks", 0 },
	{ "comms", 'c', "NAME,...", OPTION_HIDDEN, 0, 0 },
	{ "dsos", 'd', "FILE,...", OPTION_HIDDEN, 0, 0 },
	{ "vmlinux", 'k', "FILE", OPTION_HIDDEN, 0, 0 },
	{ "force", 'f', 0, OPTION_HIDDEN, 0, 0 },
	{ 0 },
};

static double parse_percent(const char *arg, struct argp_state *state)
{
	char *end;
	const double v = strtod(arg, &end);

	if (end == arg || (*end && strcmp(end, "%") != 0) || !(v >= 0 && v <= 100))
		argp_error(state, "'%s' is no percentage", arg);
	return v;
}

static void parse_percentage(struct report_args *a, const char *arg, struct argp_state *state)
{
	a->relative = !strcmp(arg, "relative");
	if (!a->relative && strcmp(arg, "absolute") != 0)
		argp_error(state, "'%s' is neither relative nor absolute", arg);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct report_args *const a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->view;
		break;
	case 's':
		a->sort = arg;
		break;
	case 'F':
		a->field_order = arg;
		break;
	case KEY_CHILDREN:
	case KEY_NO_CHILDREN:
		a->children_wanted = key == KEY_CHILDREN;
		break;
	case 'g':
		a->call_graph = arg ? arg : "";
		break;
	case 'G':
		a->caller_wanted = true;
		break;
	case 'n':
		a->samples = true;
		break;
	case KEY_TOTAL_PERIOD:
		a->total_period = true;
		break;
	case KEY_PERCENT_LIMIT:
		a->min_percent = parse_percent(arg, state);
		a->min_percent_given = true;
		break;
	case KEY_PERCENTAGE:
		parse_percentage(a, arg, state);
		break;
	case KEY_JSON:
		a->json = true;
		break;
	case 'q':
		a->quiet = true;
		break;
	case 'c':
		return view_add_names(&a->view.comms, arg) ? 0 : ENOMEM;
	case 'd':
		return view_add_names(&a->view.dsos, arg) ? 0 : ENOMEM;
	case 'k':
		a->view.vmlinux = arg;
		break;
	case 'f':
	case KEY_STDIO:
		break;
	case ARGP_KEY_ARG:
		return view_add_path(&a->view, arg) ? 0 : ENOMEM;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* One word of -g; false when it is none. */
static bool parse_graph_word(struct pev_graph_options *g, const char *word, size_t n)
{
	static const struct {
		const char *word;
		int mode;   /* -1: says nothing of it */
		int caller; /* -1 */
	} words[] = {
		{ "graph", PEV_GRAPH_ABSOLUTE, -1 },
		{ "fractal", PEV_GRAPH_RELATIVE, -1 },
		{ "none", PEV_GRAPH_NONE, -1 },
		{ "caller", -1, 1 },
		{ "callee", -1, 0 },
		/* What is the case anyway. */
		{ "function", -1, -1 },
		{ "percent", -1, -1 },
	};
	char *end;
	double v;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].word) == n && !strncmp(words[i].word, word, n)) {
			if (words[i].mode >= 0)
				g->mode = (enum pev_graph_mode)words[i].mode;
			if (words[i].caller >= 0)
				g->caller = words[i].caller;
			return true;
		}
	v = strtod(word, &end);
	if (end != word + n || !(v >= 0 && v <= 100))
		return false;
	g->min_percent = v;
	return true;
}

static bool parse_graph(struct pev_graph_options *g, const char *text)
{
	while (*text) {
		const size_t n = strcspn(text, ",");

		if (n && !parse_graph_word(g, text, n))
			return false;
		text += n + !!text[n];
	}
	return true;
}

/* "-g caller" is two arguments for perf, too, although there may be none. */
static void join_graph(int *argc, char **argv)
{
	for (int i = 1; i + 1 < *argc; i++) {
		const bool is_short = !strcmp(argv[i], "-g");
		struct pev_graph_options g;
		char *joined;

		if ((!is_short && strcmp(argv[i], "--call-graph") != 0) || !*argv[i + 1] ||
		    !parse_graph(&g, argv[i + 1]))
			continue;
		if (asprintf(&joined, is_short ? "-g%s" : "--call-graph=%s", argv[i + 1]) < 0)
			return;
		/* Lives as long as the program, like its other arguments. */
		argv[i] = joined;
		memmove(&argv[i + 1], &argv[i + 2], (size_t)(*argc - i - 1) * sizeof(*argv));
		(*argc)--;
	}
}

int report_args_parse(int argc, char **argv, struct report_args *a)
{
	static const struct argp_child children[] = { { &view_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		.options = options,
		.parser = parse_option,
		.args_doc = "[FILE...]",
		.doc = "Show where the samples of traces were, by thread, file and function.",
		.children = children,
	};
	static char name[] = "pevrec report";

	argp_err_exit_status = PEV_EXIT_USAGE;
	argv[0] = name;
	a->children_wanted = -1;
	join_graph(&argc, argv);
	return argp_parse(&argp, argc, argv, 0, NULL, a) ? PEV_EXIT_USAGE : 0;
}

void report_args_done(struct report_args *a)
{
	view_done(&a->view);
}

static int parse_fields(const struct report_args *a, bool children, struct pev_fields *f,
			struct pev_err *err)
{
	const struct pev_fields_options how = {
		.sort = a->sort,
		.fields = a->field_order,
		.children = children,
		.samples = a->samples,
		.period = a->total_period,
	};

	return pev_fields_parse(f, &how, err);
}

unsigned int report_args_key(const struct report_args *a)
{
	struct pev_fields f;

	/* What is wrong with them will be said by report_args_finish(). */
	return parse_fields(a, false, &f, NULL) == 0 ? pev_fields_key(&f) : 0;
}

int report_args_finish(struct report_args *a, bool has_chains, struct pev_err *err)
{
	const bool children = has_chains && a->children_wanted != 0;

	a->children = children;
	a->graph = (struct pev_graph_options){
		.mode = has_chains ? PEV_GRAPH_ABSOLUTE : PEV_GRAPH_NONE,
		.caller = children || a->caller_wanted,
		.min_percent = a->min_percent_given ? a->min_percent : GRAPH_PERCENT,
	};
	if (a->call_graph && !parse_graph(&a->graph, a->call_graph))
		return pev_err_set(err, -EINVAL,
				   "-g %s: say graph, fractal or none, caller or callee, and a "
				   "percentage, with commas between",
				   a->call_graph);
	if (!has_chains)
		a->graph.mode = PEV_GRAPH_NONE;
	return parse_fields(a, children, &a->fields, err);
}

bool report_args_sorts_first_by(const struct report_args *a, enum pev_field field)
{
	for (size_t i = 0; i < a->fields.nr; i++)
		if (!pev_field_is_number(a->fields.v[i]))
			return !a->field_order && a->fields.v[i] == field;
	return false;
}
