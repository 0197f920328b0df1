/* fathom top: shows live what is hot in a process or a command. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "cli/top_loop.h"
#include "cli/top_recorder.h"
#include "cli/top_terminal.h"
#include "collect/system/process_stat.h"
#include "remote/refusal.h"

#define ROWS        10
#define ROWS_MOST   10000
#define SECOND_NS   1000000000ULL
#define SECONDS_MAX 3600.0
#define FIXED       12
/* Limits on a process's command line, as much as a terminal can show. */
#define TITLE_BYTES 1024
#define TITLE_WORDS 64

struct settings {
	const char *rate, *trigger, *output;
	bool is_wall;
	bool with_children, shows_plumbing;
	uint64_t interval_ns;
	unsigned long rows;
	enum color_choice color;
};

static int set_interval(const struct option *option, void *place, const char *value,
			struct error *err)
{
	char *end = NULL;
	const double seconds = strtod(value, &end);

	if (end == value || *end != '\0' || !(seconds >= 0.1) || seconds > SECONDS_MAX)
		return error_set(err, -EINVAL,
				 "option '--%s' takes seconds, from 0.1 to 3600, not '%s'",
				 option->name, value);
	*(uint64_t *)place = (uint64_t)(seconds * 1e9);
	return 0;
}

static int set_rows(const struct option *option, void *place, const char *value,
		    struct error *err)
{
	return option_read_number(option, value, 1, ROWS_MOST, place, err);
}

static int set_clock(const struct option *option, void *place, const char *value,
		     struct error *err)
{
	static const char *const words[] = { "cpu", "wall", NULL };

	if (strcmp(value, words[0]) != 0 && strcmp(value, words[1]) != 0)
		return option_refuse_word(option, words, value, err);
	*(bool *)place = strcmp(value, "wall") == 0;
	return 0;
}

#define AT(field) .offset = offsetof(struct settings, field)
static const struct option options[] = {
	{ "clock", 0, "CLOCK", "what is measured: cpu, or wall: waits, too, by state",
	  set_clock, AT(is_wall) },
	{ "rate", 'r', "HZ",
	  "samples per second of CPU time; 1000 by default, of wall time 100",
	  option_set_string, AT(rate) },
	{ "trigger", 0, "TRIGGER", "what takes samples: auto, sigtrap, timer or copied",
	  option_set_string, AT(trigger) },
	{ "children", 0, NULL, "of a process: those that descend from it, too", option_set_flag,
	  AT(with_children) },
	{ "interval", 'i', "SECONDS", "how often it is read anew; 1 by default", set_interval,
	  AT(interval_ns) },
	{ "rows", 'n', "ROWS", "without a terminal: rows each time; 10 by default", set_rows,
	  AT(rows) },
	{ "native", 0, NULL, "an interpreter's own frames, too", option_set_flag,
	  AT(shows_plumbing) },
	{ "output", 'o', "FILE", "keep the recording, for 'fathom report FILE'",
	  option_set_string, AT(output) },
	{ "color", 0, "WHEN", "auto (on a terminal), always or never", option_set_color,
	  AT(color) },
	{ 0 },
};
#undef AT

static bool is_number(const char *word)
{
	return *word != '\0' && word[strspn(word, "0123456789")] == '\0';
}

/* Linux, include/linux/threads.h. */
#define PID_MOST 4194304

static bool is_possible_pid(const char *digits)
{
	const long pid = strtol(digits, NULL, 10);

	return pid >= 1 && pid <= PID_MOST;
}

/* After "--", even a number is a command. */
static bool has_dashes(char *const *arguments)
{
	while (*arguments && strcmp(*arguments, "--") != 0)
		arguments++;
	return *arguments != NULL;
}

static bool is_pid(char *const *operands, char *const *arguments)
{
	return operands[0] && !operands[1] && is_number(operands[0]) && !has_dashes(arguments);
}

/*
 * The recorder's arguments: its options, and the process or the command. The caller frees it.
 */
static char **recorder_arguments(const struct settings *settings, char **operands, bool has_pid)
{
	size_t count = 0, operand_count = 0;

	while (operands[operand_count])
		operand_count++;
	char **all = xreallocarray(NULL, FIXED + operand_count + 1, sizeof *all);

	if (settings->rate) {
		all[count++] = (char *)"--rate";
		all[count++] = (char *)settings->rate;
	}
	if (settings->is_wall) {
		all[count++] = (char *)"--clock";
		all[count++] = (char *)"wall";
	}
	if (settings->trigger) {
		all[count++] = (char *)"--trigger";
		all[count++] = (char *)settings->trigger;
	}
	if (settings->with_children)
		all[count++] = (char *)"--children";
	all[count++] = (char *)(has_pid ? "-p" : "--");
	memcpy(all + count, operands, (operand_count + 1) * sizeof *all);
	return all;
}

static void add_words(char *const *words, struct text *out)
{
	for (size_t i = 0; words[i]; i++) {
		text_add(out, " ");
		text_add_printable(out, words[i], strlen(words[i]));
	}
}

static void add_title(char *const *operands, bool has_pid, struct text *out)
{
	char bytes[TITLE_BYTES], *words[TITLE_WORDS + 1];

	text_add(out, has_pid ? "fathom top  process" : "fathom top ");
	add_words(operands, out);
	if (has_pid && process_command_read((pid_t)strtol(operands[0], NULL, 10), bytes,
					    sizeof bytes, words, TITLE_WORDS) > 0) {
		text_add(out, " ");
		add_words(words, out);
	}
}

static int exit_code_of(const struct top_recorder *recorder)
{
	const int status = recorder->status;

	if (!recorder->has_ended)
		return EXIT_CODE_OK;
	return WIFSIGNALED(status) ? EXIT_CODE_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

static int watch(const struct settings *settings, struct top_options *top, char **arguments)
{
	struct top_recorder recorder;
	struct error err;
	bool is_quit = false;

	top_loop_prepare();
	if (top_recorder_start(arguments, settings->output, top->has_terminal, &recorder,
			       &err) < 0) {
		say_error(&err);
		top_recorder_done(&recorder);
		return EXIT_CODE_NOT_STARTED;
	}
	/* Not earlier: the command would inherit it. */
	signal(SIGPIPE, SIG_IGN);
	top->has_terminal = top->has_terminal && top_terminal_enter();
	const bool was_shown = top_loop_run(top, &recorder, &is_quit);

	top_terminal_leave();
	top_recorder_stop(&recorder);
	if (!recorder.has_ended)
		say("the recorder, process %d, has not ended yet", (int)recorder.pid);
	top_recorder_show_output(&recorder);
	const int exit_code = is_quit && was_shown ? EXIT_CODE_OK : exit_code_of(&recorder);

	top_recorder_done(&recorder);
	return exit_code;
}

/*
 * Options may also follow the process's number, as for dump; after a command they belong to it.
 */
static bool take_more_options(const struct command *command, struct settings *settings,
			      char **operands, int *out_exit_code)
{
	CLEANUP(freep) char **rest = NULL;

	if (!operands[0] || !is_number(operands[0]) || !operands[1] || operands[1][0] != '-')
		return true;
	if (!command_parse(command, operands + 1, settings, &rest, out_exit_code))
		return false;
	if (rest[0]) {
		say("top takes one process, and not '%s' besides", rest[0]);
		*out_exit_code = EXIT_CODE_NOT_STARTED;
		return false;
	}
	operands[1] = NULL;
	return true;
}

static int run(const struct command *command, char **arguments)
{
	struct settings settings = { .interval_ns = SECOND_NS, .rows = ROWS };
	CLEANUP(text_done) struct text title = { 0 };
	CLEANUP(freep) char **operands = NULL;
	struct error err;
	int exit_code;

	if (!command_parse(command, arguments, &settings, &operands, &exit_code))
		return exit_code;
	if (!has_dashes(arguments) &&
	    !take_more_options(command, &settings, operands, &exit_code))
		return exit_code;
	const bool has_pid = is_pid(operands, arguments);

	if (!operands[0]) {
		say("top needs a process or a command: fathom top PID, fathom top -- COMMAND");
		return EXIT_CODE_NOT_STARTED;
	}
	if (has_pid && !is_possible_pid(operands[0])) {
		say("top takes the number of a process, not '%s'", operands[0]);
		return EXIT_CODE_NOT_STARTED;
	}
	if (!has_pid && settings.with_children) {
		say("top: --children goes with a process: a command's are in it anyway");
		return EXIT_CODE_NOT_STARTED;
	}
	/*
	 * Checked here as well, because the recorder, another process, would not recognise
	 * fathom's own pid.
	 */
	if (has_pid &&
	    refusal_judge(command->name, (pid_t)strtol(operands[0], NULL, 10), &err) < 0) {
		say_error(&err);
		return EXIT_CODE_NOT_STARTED;
	}
	CLEANUP(freep) char **all = recorder_arguments(&settings, operands, has_pid);
	struct top_options top = { .has_terminal = top_terminal_is_there(),
				   .shows_plumbing = settings.shows_plumbing,
				   .is_wall = settings.is_wall,
				   .interval_ns = settings.interval_ns,
				   .rows = settings.rows,
				   .color = settings.color };

	add_title(operands, has_pid, &title);
	top.title = text_string(&title);
	return watch(&settings, &top, all);
}

const struct command cmd_top = {
	.name = "top",
	.usage = "[OPTION…] PID\n       fathom top [OPTION…] -- COMMAND [ARGUMENT…]",
	.summary = "Shows what is hot now, in a process or a command, until q",
	.options = options,
	.usage_exit_code = EXIT_CODE_NOT_STARTED,
	.stops_at_operand = true,
	.run = run,
};
