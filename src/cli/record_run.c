#include "cli/record_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/record_once.h"
#include "cli/record_runs.h"
#include "cli/say.h"
#include "collect/system/own_limits.h"

/* Refuses options that cannot be combined with attaching. */
static bool fits_attached(const struct record_settings *settings)
{
	const struct session_options *session = &settings->session;
	const char *option = settings->runs > 0                  ? "--runs"
			     : session->no_children              ? "--no-children"
			     : session->wait                     ? "--wait"
			     : session->is_paused                ? "--paused"
			     : session->trigger == TRIGGER_TIMER ? "--trigger timer"
								 : NULL;

	if (option)
		say("record: %s is for a command that fathom starts, not for -p", option);
	return !option;
}

int record_set_overhead(const struct option *option, void *place, const char *value,
			struct error *err)
{
	char *end = NULL;
	const double percent = strtod(value, &end);

	if (end == value || (*end != '\0' && strcmp(end, "%") != 0) || !(percent >= 0.1) ||
	    percent > 50)
		return error_set(err, -EINVAL,
				 "option '--%s' takes a percentage from 0.1 to 50, like 1%%, "
				 "not '%s'",
				 option->name, value);
	*(double *)place = percent / 100;
	return 0;
}

/* Refuses options with which a budget cannot be kept. */
static bool fits_overhead(const struct command *command, const struct session_options *session)
{
	const char *other = session->rate_hz > 0                 ? "--rate"
			    : session->clock == CLOCK_KIND_WALL  ? "--clock wall"
			    : session->trigger == TRIGGER_COPIED ? "--trigger copied"
								 : NULL;

	if (other)
		say("%s: --overhead chooses the rate by what samples of CPU time cost: it does "
		    "not go with %s",
		    command->name, other);
	return !other;
}

/* Takes a command, or running processes; false, with an error printed, for none or both. */
static bool find_target(const struct command *command, char **operands,
			struct record_settings *settings)
{
	struct session_options *session = &settings->session;
	const bool is_attached = settings->pids.count > 0;

	if (is_attached && operands[0]) {
		say("%s: -p records a process that runs already: there can be no command "
		    "beside "
		    "it",
		    command->name);
		return false;
	}
	if (!is_attached && (session->with_children || session->duration_ns > 0)) {
		say("%s: %s goes with -p PID", command->name,
		    session->with_children ? "--children" : "-d");
		return false;
	}
	if (!is_attached && !operands[0]) {
		say("%s: it needs a command to run: fathom %s -- COMMAND%s", command->name,
		    command->name,
		    session->is_trace ? "" : "; or -p PID, a process that runs already");
		return false;
	}
	if (session->overhead > 0 && !session->is_trace && !fits_overhead(command, session))
		return false;
	if (settings->against && settings->runs == 0) {
		say("%s: --against goes with --runs N", command->name);
		return false;
	}
	session->argv = is_attached ? NULL : operands;
	session->pids = settings->pids.pids;
	session->pid_count = settings->pids.count;
	return !is_attached || fits_attached(settings);
}

int record_run(const struct command *command, char **arguments,
	       struct record_settings *settings)
{
	struct own_limits allowance;
	char **operands;
	int exit_code;

	if (!command_parse(command, arguments, settings, &operands, &exit_code))
		return exit_code;
	own_limits_raise(&allowance);
	settings->session.allowance = &allowance;
	exit_code = EXIT_CODE_NOT_STARTED;
	if (find_target(command, operands, settings))
		exit_code = settings->runs > 0 ? record_runs(command, settings)
					       : record_once(settings);
	free(operands);
	return exit_code;
}
