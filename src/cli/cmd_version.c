/* fathom version: prints its version. */
#include <signal.h>
#include <stdlib.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"

static const struct option options[] = { { 0 } };

static int run(const struct command *command, char **arguments)
{
	struct text version = { 0 };
	char **operands;
	int exit_code;

	signal(SIGPIPE, SIG_IGN);
	if (!command_parse(command, arguments, NULL, &operands, &exit_code))
		return exit_code;
	free(operands);
	text_add(&version, "fathom " FATHOM_VERSION "\n");
	return command_print(&version);
}

const struct command cmd_version = {
	.name = "version",
	.usage = "",
	.summary = "Prints fathom's version",
	.options = options,
	.usage_exit_code = EXIT_CODE_USAGE,
	.run = run,
};
