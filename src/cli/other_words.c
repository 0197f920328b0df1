#include "cli/other_words.h"

#include <stddef.h>
#include <string.h>

struct other_word {
	const char *typed;
	const char *here;
};

/* Of perf, py-spy, rbspy, samply, pprof and pyinstrument. */
static const struct other_word commands[] = {
	{ "attach", "fathom record -p PID" },
	{ "annotate", "fathom report --lines FUNCTION" },
	{ "collapsed", "fathom export --format folded -o FILE" },
	{ "flamegraph", "fathom export --format flamegraph -o FILE.html" },
	{ "folded", "fathom export --format folded -o FILE" },
	{ "html", "fathom export --format flamegraph -o FILE.html" },
	{ "load", "fathom report FILE" },
	{ "open", "fathom export --format flamegraph -o FILE.html" },
	{ "run", "fathom record -- COMMAND" },
	{ "script", "fathom export --format folded -o FILE" },
	{ "snapshot", "fathom dump PID" },
	{ "stat", "fathom record -- COMMAND, and fathom info" },
	{ "svg", "fathom export --format flamegraph -o FILE.html" },
};
static const struct other_word options[] = {
	{ "-F", "--rate HZ" },
	{ "-g", "no option: stacks are always recorded" },
	{ "--call-graph", "no option: stacks are always recorded" },
	{ "--freq", "--rate HZ" },
	{ "--function", "fathom report --by function" },
	{ "--gil", "fathom dump PID, which says what holds the GIL" },
	{ "--interval", "--rate HZ, the samples in a second of CPU time" },
	{ "--nonblocking", "no option: no thread is stopped for a sample" },
	{ "--subprocesses", "no option with a command; with -p, --children" },
	{ "-s", "--sort WHAT for reports; --children for child processes of a PID" },
	{ "-V", "fathom --version" },
};

static const char *find(const struct other_word *words, size_t count, const char *typed)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(words[i].typed, typed) == 0)
			return words[i].here;
	}
	return NULL;
}

const char *other_word_of_command(const char *name)
{
	return find(commands, sizeof commands / sizeof *commands, name);
}

const char *other_word_of_option(const char *option)
{
	return find(options, sizeof options / sizeof *options, option);
}
