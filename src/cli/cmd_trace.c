/* fathom trace: runs a command and counts and times every call it makes. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/record_once.h"
#include "cli/record_run.h"
#include "cli/terminal.h"

static int set_clock(const struct option *option, void *place, const char *value,
		     struct error *err)
{
	static const char *const words[] = { "wall", "cpu", NULL };

	if (strcmp(value, "wall") != 0 && strcmp(value, "cpu") != 0)
		return option_refuse_word(option, words, value, err);
	*(enum clock_kind *)place =
		strcmp(value, "cpu") == 0 ? CLOCK_KIND_CPU : CLOCK_KIND_WALL;
	return 0;
}

/* Adds a pattern; patterns are stored one after the other (abi/only.h). */
static int add_pattern(const struct option *option, void *place, const char *value,
		       struct error *err)
{
	const size_t size = strlen(value) + 1;
	char *patterns = place;
	size_t used = 0;

	while (patterns[used] != '\0')
		used += strlen(patterns + used) + 1;
	if (size == 1)
		return error_set(err, -EINVAL, "option '--%s' takes a pattern, not ''",
				 option->name);
	if (size >= ONLY_BYTES - used)
		return error_set(err, -EINVAL,
				 "option '--%s': the patterns have more than %u bytes together",
				 option->name, ONLY_BYTES - 2);
	memcpy(patterns + used, value, size);
	return 0;
}

#define AT(field) .offset = offsetof(struct record_settings, field)
static const struct option options[] = {
	{ "clock", 0, "CLOCK", "wall (the default) or cpu: each thread's own CPU time",
	  set_clock, AT(session.clock) },
	{ "no-builtins", 0, NULL, "calls of the program's own functions only, not of C's",
	  option_set_flag, AT(session.no_builtins) },
	{ "blocks", 0, NULL, "Ruby's blocks as well as its methods", option_set_flag,
	  AT(session.has_blocks) },
	{ "only", 0, "GLOB", "only functions whose name or file this matches; may be repeated",
	  add_pattern, AT(session.only) },
	{ "overhead", 0, "PCT",
	  "pauses beyond that share of the CPU time, like 20%, and says so",
	  record_set_overhead, AT(session.overhead) },
	{ "output", 'o', "FILE", "the recording; profile.fathom by default", option_set_string,
	  AT(path) },
	{ "max-size", 0, "SIZE", "the recording ends at it, like 500M; the program runs on",
	  option_set_size, AT(session.max_bytes) },
	{ "no-children", 0, NULL, "trace the command's own process only", option_set_flag,
	  AT(session.no_children) },
	{ "wait", 0, NULL, "follow descendants that outlive the command", option_set_flag,
	  AT(session.wait) },
	{ "quiet", 'q', NULL, "no report at the end: stderr is the command's alone",
	  option_set_flag, AT(end.is_quiet) },
	{ "paused", 0, NULL, "begin when the program asks for it: fathom-module(1)",
	  option_set_flag, AT(session.is_paused) },
	{ "color", 0, "WHEN", "auto (on a terminal), always or never", option_set_color,
	  AT(end.color) },
	{ 0 },
};
#undef AT

static int run(const struct command *command, char **arguments)
{
	struct record_settings settings = { .session.is_trace = true,
					    .session.clock = CLOCK_KIND_WALL };

	return record_run(command, arguments, &settings);
}

const struct command cmd_trace = {
	.name = "trace",
	.usage = "[OPTION…] [--] COMMAND [ARGUMENT…]",
	.summary = "Runs a command and counts and times every call it makes",
	.options = options,
	.usage_exit_code = EXIT_CODE_NOT_STARTED,
	.stops_at_operand = true,
	.run = run,
};
