/* fathom help: shows the manual page of a command, or its options. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/executable.h"
#include "cli/options.h"

static const struct option options[] = { { 0 } };

/* Executes man(1) if there is a terminal and the page is found; else returns. */
static void try_man_page(const char *command)
{
	CLEANUP(freep) char *in_tree = xasprintf("../../../docs/man/fathom-%s.1", command);
	CLEANUP(freep) char *moved = xasprintf("../share/man/man1/fathom-%s.1", command);
	CLEANUP(freep)
	char *installed = xasprintf("%s/fathom-%s.1", FATHOM_MAN_FOLDER, command);
	const char *candidates[] = { in_tree, moved, installed, NULL };

	if (!isatty(STDOUT_FILENO) || executable_check("man", NULL) < 0)
		return;
	CLEANUP(freep) char *path = executable_find_beside(candidates);

	if (!path)
		return;
	signal(SIGPIPE, SIG_DFL);
	execlp("man", "man", path, (char *)NULL);
	signal(SIGPIPE, SIG_IGN);
}

static int print(const struct command *about)
{
	struct text text = { 0 };

	if (about)
		command_add_usage(about, &text);
	else
		command_add_overview(&text);
	return command_print(&text);
}

static int run(const struct command *command, char **arguments)
{
	char **operands;
	int exit_code;

	signal(SIGPIPE, SIG_IGN);
	if (!command_parse(command, arguments, NULL, &operands, &exit_code))
		return exit_code;
	const char *name = operands[0];

	free(operands);
	if (!name)
		return print(NULL);
	const struct command *about = command_find(name);

	if (!about) {
		command_say_unknown(name);
		return EXIT_CODE_USAGE;
	}
	try_man_page(name);
	return print(about);
}

const struct command cmd_help = {
	.name = "help",
	.usage = "[COMMAND]",
	.summary = "Shows the manual page of a command, or its options",
	.options = options,
	.usage_exit_code = EXIT_CODE_USAGE,
	.run = run,
};
