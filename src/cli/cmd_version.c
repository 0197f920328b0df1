#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/say.h"

static const struct option options[] = { { 0 } };

static int run(const struct command *command, char **arguments)
{
	static const char version[] = "fathom " FATHOM_VERSION "\n";
	char **operands;
	struct error err;
	int exit_code;

	signal(SIGPIPE, SIG_IGN);
	if (!command_parse(command, arguments, NULL, &operands, &exit_code))
		return exit_code;
	free(operands);
	if (output_write(STDOUT_FILENO, "standard output", version, sizeof version - 1, &err) <
	    0) {
		say_error(&err);
		return EXIT_CODE_FAILED;
	}
	return EXIT_CODE_OK;
}

const struct command cmd_version = {
	.name = "version",
	.usage = "",
	.summary = "Prints fathom's version",
	.options = options,
	.usage_exit_code = EXIT_CODE_USAGE,
	.run = run,
};
