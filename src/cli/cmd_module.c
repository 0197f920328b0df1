/* fathom module: prints the folder of the module with which programs mark regions. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/executable.h"
#include "cli/options.h"
#include "cli/say.h"

static const struct option options[] = { { 0 } };

/* Where our modules for interpreters and headers for compilers are. */
static const struct language {
	const char *name;
	const char *moved; /* relative to the program's folder: an installation may be moved */
	const char *installed;
	const char *file;
} languages[] = {
	{ "python", "../share/fathom/python", FATHOM_SHARE_FOLDER "/python", "fathom.py" },
	{ "ruby", "../share/fathom/ruby", FATHOM_SHARE_FOLDER "/ruby", "fathom.rb" },
	{ "c", "../include", FATHOM_INCLUDE_FOLDER, "fathom.h" },
};

static const struct language *find(const char *name)
{
	for (size_t i = 0; name && i < sizeof languages / sizeof *languages; i++) {
		if (strcmp(languages[i].name, name) == 0)
			return &languages[i];
	}
	return NULL;
}

static char *find_folder(const struct language *language)
{
	CLEANUP(freep) char *built = xasprintf("../../share/%s", language->file);
	CLEANUP(freep) char *moved = xasprintf("%s/%s", language->moved, language->file);
	CLEANUP(freep)
	char *installed = xasprintf("%s/%s", language->installed, language->file);
	const char *candidates[] = { built, moved, installed, NULL };
	CLEANUP(freep) char *path = executable_find_beside(candidates);

	if (!path)
		return NULL;
	*strrchr(path, '/') = '\0';
	return realpath(path, NULL);
}

static int print(const struct language *language)
{
	CLEANUP(freep) char *folder = find_folder(language);
	struct text line = { 0 };

	if (!folder) {
		say("%s is not in the folders that fathom was installed to; install it again",
		    language->file);
		return EXIT_CODE_FAILED;
	}
	text_addf(&line, "%s\n", folder);
	return command_print(&line);
}

static int run(const struct command *command, char **arguments)
{
	char **operands;
	int exit_code;

	signal(SIGPIPE, SIG_IGN);
	if (!command_parse(command, arguments, NULL, &operands, &exit_code))
		return exit_code;
	const struct language *language = find(operands[0]);

	if (!language)
		say("fathom module takes python, ruby or c");
	free(operands);
	return language ? print(language) : EXIT_CODE_USAGE;
}

const struct command cmd_module = {
	.name = "module",
	.usage = "python|ruby|c",
	.summary = "Prints the folder of the module by which programs mark regions",
	.options = options,
	.usage_exit_code = EXIT_CODE_USAGE,
	.run = run,
};
