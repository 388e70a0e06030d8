// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/cmd.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "record", cmd_record, "Record the machine, processes or a command into a trace" },
	{ "report", cmd_report, "Show where the samples of traces were" },
	{ "diff", cmd_diff, "Show what grew and what shrank from one trace to another" },
	{ "script", cmd_script, "Print each sample of traces as text" },
	{ "export", cmd_export, "Write traces in a form that other programs read" },
	{ "info", cmd_info, "Show what a trace says about its machine, its events and itself" },
	{ "flamegraph", cmd_flamegraph, "Draw traces as a flame graph, a page of HTML" },
	{ "verify", cmd_verify, "Check traces, and turn unfinished ones into regular files" },
};

static void usage(FILE *out)
{
	(void)fputs("Usage: pevrec COMMAND [OPTION...]\n"
		    "An always-on CPU profiler; every trace it writes opens in perf.\n\n"
		    "Commands:\n",
		    out);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		(void)fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
	(void)fputs("\n'pevrec COMMAND --help' tells more of each.\n", out);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return PEV_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		(void)puts("pevrec " PEVREC_VERSION);
		return 0;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	cmd_say("'%s' is not a pevrec command; 'pevrec --help' lists them", argv[1]);
	return PEV_EXIT_USAGE;
}
