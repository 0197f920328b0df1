#include "cli/other_words.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Commands of perf, py-spy, rbspy, samply, pprof, cProfile and pyinstrument. */
struct other_command {
	const char *typed;
	const char *answer;
};

static const struct other_command commands[] = {
	{ "--", "use 'fathom record -- COMMAND'" },
	{ "annotate", "use 'fathom report --lines FUNCTION'" },
	{ "attach", "use 'fathom record -p PID'" },
	{ "collapsed", "use 'fathom export --format folded -o FILE'" },
	{ "compare", "use 'fathom diff OLD -- NEW'" },
	{ "convert", "use 'fathom export --format FORMAT -o FILE'" },
	{ "flame", "use 'fathom open', or 'fathom export -o FILE.html'" },
	{ "flamegraph", "use 'fathom open', or 'fathom export -o FILE.html'" },
	{ "folded", "use 'fathom export --format folded -o FILE'" },
	{ "html", "use 'fathom open', or 'fathom export -o FILE.html'" },
	{ "import", "use 'fathom report FILE'" },
	{ "json", "use 'fathom report --json'" },
	{ "list", "use 'fathom report --lines FUNCTION'" },
	{ "load", "use 'fathom report FILE'" },
	{ "peek", "use 'fathom report --callers FUNCTION', and '--callees'" },
	{ "pprof", "use 'fathom export -o FILE.pb.gz'" },
	{ "run", "use 'fathom record -- COMMAND'" },
	{ "script", "use 'fathom export --format folded -o FILE'" },
	{ "show", "use 'fathom report'" },
	{ "snapshot", "use 'fathom dump PID'" },
	{ "speedscope", "use 'fathom export --format speedscope -o FILE'" },
	{ "stat", "use 'fathom record -- COMMAND', and 'fathom info'" },
	{ "stats", "use 'fathom report'" },
	{ "svg", "use 'fathom export -o FILE.svg'" },
	{ "text", "use 'fathom report'" },
	{ "timeline", "use 'fathom open', whose strip shows what was hot when" },
	{ "tree", "use 'fathom report --tree'" },
	{ "view", "use 'fathom open'" },
	{ "web", "use 'fathom open'" },
};

struct other_option {
	const char *of; /* commands it applies to, between spaces; NULL: any */
	const char *typed;
	const char *answer;
};

#define RECORDING " record trace top "
#define READING   " report diff open export info "

static const struct other_option options[] = {
	{ RECORDING, "-a", "name the command, or each process by '-p PID'" },
	{ RECORDING, "--all-cpus", "name the command, or each process by '-p PID'" },
	{ NULL, "--annotate", "use 'fathom report --lines FUNCTION'" },
	{ READING, "--bottom-up", "use 'fathom report --callers FUNCTION', or 'fathom open'" },
	{ RECORDING, "-c", "use '--rate HZ'" },
	{ RECORDING, "--call-graph", "stacks are always recorded" },
	{ READING, "--children",
	  "'total %' is with what a function calls, 'self %' is without" },
	{ READING, "--clock", "it is chosen before: 'fathom record --clock wall'" },
	{ READING, "--comm", "use '--process PROCESS'" },
	{ RECORDING, "--count", "use '--rate HZ'" },
	{ READING, "-d", "use '--module MODULE'" },
	{ " top ", "-d", "use '--interval SECONDS'" },
	{ READING, "--dso", "use '--module MODULE'" },
	{ READING, "--dsos", "use '--module MODULE'" },
	{ RECORDING, "-e", "CPU time is sampled, or with '--clock wall' all time" },
	{ RECORDING, "--event", "CPU time is sampled, or with '--clock wall' all time" },
	{ NULL, "-F", "use 'fathom record --rate HZ'" },
	{ RECORDING, "-f", "the name says the format: '-o x.html', .svg, .pb.gz, .folded" },
	{ " report ", "-f", "use 'fathom export --format FORMAT -o FILE', or 'fathom open'" },
	{ RECORDING, "--file", "use '-o FILE'" },
	{ RECORDING, "--format",
	  "the name says the format: '-o x.html', .svg, .pb.gz, .folded" },
	{ " report ", "--format",
	  "use 'fathom export --format FORMAT -o FILE', or 'fathom open'" },
	{ READING, "--flat", "use 'fathom report --by function'" },
	{ NULL, "--freq", "use 'fathom record --rate HZ'" },
	{ NULL, "--function", "use 'fathom report --by function'" },
	{ READING, "-g", "use 'fathom report --tree', or '--callers FUNCTION'" },
	{ NULL, "-g", "stacks are always recorded" },
	{ NULL, "--gil", "use 'fathom dump PID', which says what holds the GIL" },
	{ READING, "--graph", "use 'fathom report --tree', or 'fathom open'" },
	{ READING, "--hierarchy", "use 'fathom report --tree'" },
	{ NULL, "--html", "use 'fathom open', or 'fathom export -o FILE.html'" },
	{ " report ", "--http", "use 'fathom open'" },
	{ READING, "-i", "name the file alone, as in 'fathom report FILE'" },
	{ RECORDING, "--idle", "use '--clock wall', which has waits, too" },
	{ RECORDING, "-i", "name recordings when they are read: 'fathom report FILE'" },
	{ READING, "--input", "name the file alone, as in 'fathom report FILE'" },
	{ RECORDING, "--interval", "use '--rate HZ', the samples in a second of CPU time" },
	{ READING, "--inverted", "use 'fathom report --callers FUNCTION', or 'fathom open'" },
	{ READING, "--limit", "use '-n ROWS'" },
	{ READING, "-list", "use 'fathom report --lines FUNCTION'" },
	{ READING, "--list", "use 'fathom report --lines FUNCTION'" },
	{ RECORDING, "--locals", "use 'fathom dump --locals PID'" },
	{ RECORDING, "-m", "use '-- python3 -m MODULE'" },
	{ READING, "--max-stack", "use 'fathom report --tree -n ROWS'" },
	{ RECORDING, "-n", "native functions are always recorded" },
	{ READING, "--no-children",
	  "'total %' is with what a function calls, 'self %' is without" },
	{ NULL, "--nolineno", "use 'fathom report --by function'" },
	{ NULL, "--nonblocking", "no thread is stopped for a sample" },
	{ " report ", "-o", "use 'fathom export -o FILE', or redirect what is printed" },
	{ " report ", "--output", "use 'fathom export -o FILE', or redirect what is printed" },
	{ RECORDING, "--overhead", "use 'fathom record --overhead PCT', or 'fathom trace'" },
	{ " dump ", "-p", "name the process alone: 'fathom dump PID'" },
	{ " trace ", "-p",
	  "calls are counted from a program's start: 'fathom trace -- COMMAND'" },
	{ " top ", "-p", "name the process alone: 'fathom top PID'" },
	{ READING, "-p", "use '--process PROCESS'" },
	{ READING, "-peek", "use 'fathom report --callers FUNCTION', and '--callees'" },
	{ READING, "--peek", "use 'fathom report --callers FUNCTION', and '--callees'" },
	{ READING, "--percent-limit", "use '--min PERCENT'" },
	{ " dump ", "--pid", "name the process alone: 'fathom dump PID'" },
	{ " trace ", "--pid",
	  "calls are counted from a program's start: 'fathom trace -- COMMAND'" },
	{ " top ", "--pid", "name the process alone: 'fathom top PID'" },
	{ READING, "--pid", "use '--process PROCESS'" },
	{ " report ", "-r", "use 'fathom export --format FORMAT -o FILE', or 'fathom open'" },
	{ RECORDING, "--raw-file", "use '-o FILE'" },
	{ RECORDING, "-s",
	  "child processes of a command are recorded; with '-p PID', use '--children'" },
	{ READING, "-s", "use 'fathom report --sort WHAT'" },
	{ RECORDING, "--save-only", "nothing is opened before 'fathom open'" },
	{ " report ", "--show-all", "use '--all' for libraries, '--native' for interpreters" },
	{ " report ", "--stdio", "reports are text; use '--no-pager' for no pages" },
	{ RECORDING, "--subprocesses",
	  "child processes of a command are recorded; with '-p PID', use '--children'" },
	{ " report ", "--svg", "use 'fathom export -o FILE.svg'" },
	{ READING, "-t", "use '--thread THREAD'" },
	{ RECORDING, "-t", "all threads are recorded: 'fathom report --by thread'" },
	{ " report ", "--text", "reports are text; use '--no-pager' for no pages" },
	{ RECORDING, "--threads", "all threads are recorded: 'fathom report --by thread'" },
	{ READING, "--tid", "use '--thread THREAD'" },
	{ " report ", "-top", "use '-n ROWS'" },
	{ " report ", "--top", "use '-n ROWS'" },
	{ " report ", "--tui", "use 'fathom open', a page in the browser" },
	{ NULL, "-V", "use 'fathom --version'" },
	{ NULL, "--version", "use 'fathom --version'" },
	{ RECORDING, "-w", "use '--clock wall'" },
	{ RECORDING, "--wall", "use '--clock wall'" },
	{ READING, "--wall", "it is chosen before: 'fathom record --clock wall'" },
	{ " report ", "-web", "use 'fathom open'" },
	{ " report ", "--web", "use 'fathom open'" },
};

/* The keys of perf's --sort, and the sort orders of pprof and pstats. */
static const struct other_option values[] = {
	{ " by ", "comm", "--by program" },      { " sort ", "comm", "--by program" },
	{ " sort ", "cum", "--sort total" },     { " by ", "dso", "--by module" },
	{ " sort ", "dso", "--by module" },      { " sort ", "flat", "--sort self" },
	{ " sort ", "overhead", "--sort self" }, { " by ", "pid", "--by process" },
	{ " sort ", "pid", "--by process" },     { " by ", "srcline", "--by line" },
	{ " sort ", "srcline", "--by line" },    { " by ", "sym", "--by function" },
	{ " by ", "symbol", "--by function" },   { " sort ", "sym", "--by function" },
	{ " sort ", "symbol", "--by function" }, { " by ", "tid", "--by thread" },
	{ " sort ", "tid", "--by thread" },
};

const char *other_word_of_command(const char *name)
{
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (strcmp(commands[i].typed, name) == 0)
			return commands[i].answer;
	return NULL;
}

/* list: like " report diff ". */
static bool is_in(const char *list, const char *word)
{
	const size_t len = strlen(word);

	for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
		if (at > list && at[-1] == ' ' && at[len] == ' ')
			return true;
	return false;
}

const char *other_word_of_option(const char *command, const char *option)
{
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (strcmp(options[i].typed, option) == 0 &&
		    (!options[i].of || is_in(options[i].of, command)))
			return options[i].answer;
	return NULL;
}

const char *other_word_of_value(const char *option, const char *value)
{
	/* Of "comm,dso", the first key decides the rows. */
	const size_t len = strcspn(value, ",");

	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		if (strlen(values[i].typed) == len &&
		    strncmp(values[i].typed, value, len) == 0 && is_in(values[i].of, option))
			return values[i].answer;
	return NULL;
}
