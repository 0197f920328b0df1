/*
 * fathom - a profiler for native, Python and Ruby programs.
 */
#include <fcntl.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/say.h"

/*
 * Opens descriptors below 3 that are closed; else the first opened file would get that number,
 * and messages would be written into it. The substitutes can be neither read nor written, and
 * are closed again in the recorded command.
 */
static void occupy_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null",
			     (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

static int print_overview(int fd, const char *name)
{
	struct text overview = { 0 };

	command_add_overview(&overview);
	output_write(fd, name, overview.data, overview.len, NULL);
	text_done(&overview);
	return fd == STDOUT_FILENO ? EXIT_CODE_OK : EXIT_CODE_USAGE;
}

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, "");
	occupy_standard_descriptors();
	if (argc < 2)
		return print_overview(STDERR_FILENO, "standard error");

	const char *name = argv[1];

	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		return print_overview(STDOUT_FILENO, "standard output");
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
		name = "version";

	const struct command *command = command_find(name);

	if (!command) {
		command_say_unknown(name);
		return EXIT_CODE_USAGE;
	}
	return command->run(command, argv + 2);
}
