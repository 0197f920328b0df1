/* fathom record: runs a command, or attaches to a process, and samples it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/record_once.h"
#include "cli/record_run.h"
#include "cli/terminal.h"

#define RATE_MAX_HZ     50000
#define PID_MOST        4194304UL /* Linux, PID_MAX_LIMIT */
#define RUNS_MOST       1000
#define DURATION_MOST_S 1e9

static int set_clock(const struct option *option, void *place, const char *value,
		     struct error *err)
{
	static const char *const words[] = {
		[CLOCK_KIND_CPU] = "cpu",
		[CLOCK_KIND_USER] = "user",
		[CLOCK_KIND_WALL] = "wall",
		NULL,
	};

	const int found = option_find_word(option, words, value, err);

	if (found >= 0)
		*(enum clock_kind *)place = (enum clock_kind)found;
	return found < 0 ? found : 0;
}

static int set_trigger(const struct option *option, void *place, const char *value,
		       struct error *err)
{
	static const char *const words[] = {
		[TRIGGER_AUTO] = "auto",
		[TRIGGER_SIGTRAP] = "sigtrap",
		[TRIGGER_TIMER] = "timer",
		[TRIGGER_COPIED] = "copied",
		NULL,
	};

	const int found = option_find_word(option, words, value, err);

	if (found >= 0)
		*(enum trigger_kind *)place = (enum trigger_kind)found;
	return found < 0 ? found : 0;
}

static int set_rate(const struct option *option, void *place, const char *value,
		    struct error *err)
{
	unsigned long rate_hz = 0;
	int rc = option_read_number(option, value, 1, RATE_MAX_HZ, &rate_hz, err);

	if (rc == 0)
		*(uint32_t *)place = (uint32_t)rate_hz;
	return rc;
}

static int add_pid(const struct option *option, void *place, const char *value,
		   struct error *err)
{
	struct record_pids *pids = place;
	unsigned long pid = 0;
	const int rc = option_read_number(option, value, 1, PID_MOST, &pid, err);

	if (rc < 0)
		return rc;
	if (pids->count == RECORD_PIDS_MAX)
		return error_set(err, -EINVAL, "option '--%s' can be given %d times at most",
				 option->name, RECORD_PIDS_MAX);
	pids->pids[pids->count++] = (pid_t)pid;
	return 0;
}

static int set_runs(const struct option *option, void *place, const char *value,
		    struct error *err)
{
	unsigned long runs = 0;
	const int rc = option_read_number(option, value, 2, RUNS_MOST, &runs, err);

	if (rc == 0)
		*(unsigned int *)place = (unsigned int)runs;
	return rc;
}

static int set_duration(const struct option *option, void *place, const char *value,
			struct error *err)
{
	char *end = NULL;
	const double seconds = strtod(value, &end);

	if (end == value || *end != '\0' || !(seconds > 0) || seconds > DURATION_MOST_S)
		return error_set(err, -EINVAL,
				 "option '--%s' takes seconds, like 10 or 0.5, not '%s'",
				 option->name, value);
	*(uint64_t *)place = (uint64_t)(seconds * 1e9);
	return 0;
}

#define AT(field) .offset = offsetof(struct record_settings, field)
static const struct option options[] = {
	{ "clock", 0, "CLOCK",
	  "cpu (user and system time, the default), user, or wall: waits, too", set_clock,
	  AT(session.clock) },
	{ "rate", 'r', "HZ",
	  "samples per second, 1 to 50000; 1000 by default, of wall time 100", set_rate,
	  AT(session.rate_hz) },
	{ "overhead", 0, "PCT", "in place of a rate: what sampling may take, like 1%",
	  record_set_overhead, AT(session.overhead) },
	{ "output", 'o', "FILE", "the recording; profile.fathom by default", option_set_string,
	  AT(path) },
	{ "max-size", 0, "SIZE", "the recording ends at it, like 500M; the program runs on",
	  option_set_size, AT(session.max_bytes) },
	{ "pid", 'p', "PID", "record a process that runs already; may be given again", add_pid,
	  AT(pids) },
	{ "children", 0, NULL, "with -p: the processes that descend from it, too",
	  option_set_flag, AT(session.with_children) },
	{ "duration", 'd', "SECONDS", "with -p: end after that; else at ^C or with the process",
	  set_duration, AT(session.duration_ns) },
	{ "runs", 0, "N",
	  "run it N times at most, each into a recording of the folder -o names", set_runs,
	  AT(runs) },
	{ "against", 0, "COMMAND", "with --runs: in turn with this one, to be compared",
	  option_set_string, AT(against) },
	{ "no-children", 0, NULL, "sample the command's own process only", option_set_flag,
	  AT(session.no_children) },
	{ "wait", 0, NULL, "follow descendants that outlive the command", option_set_flag,
	  AT(session.wait) },
	{ "quiet", 'q', NULL, "no report at the end: stderr is the command's alone",
	  option_set_flag, AT(end.is_quiet) },
	{ "native", 0, NULL, "in the report at the end: an interpreter's own frames, too",
	  option_set_flag, AT(end.shows_plumbing) },
	{ "paused", 0, NULL, "begin when the program asks for it: fathom-module(1)",
	  option_set_flag, AT(session.is_paused) },
	{ "trigger", 0, "TRIGGER", "what takes samples: auto, sigtrap, timer or copied",
	  set_trigger, AT(session.trigger) },
	{ "no-debuginfod", 0, NULL, "ask no server for debug files", option_set_flag,
	  AT(end.asks_no_servers) },
	{ "color", 0, "WHEN", "auto (on a terminal), always or never", option_set_color,
	  AT(end.color) },
	{ 0 },
};
#undef AT

static int run(const struct command *command, char **arguments)
{
	struct record_settings settings = { 0 };

	return record_run(command, arguments, &settings);
}

const struct command cmd_record = {
	.name = "record",
	.usage = "[OPTION…] [--] COMMAND [ARGUMENT…]\n       fathom record [OPTION…] -p PID "
		 "[-p PID…]\n       fathom record [OPTION…] --runs N [--against COMMAND] [--] "
		 "COMMAND [ARGUMENT…]",
	.summary = "Runs a command, or attaches to a process, and records where its time goes",
	.options = options,
	.usage_exit_code = EXIT_CODE_NOT_STARTED,
	.stops_at_operand = true,
	.run = run,
};
