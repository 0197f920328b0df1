/* fathom info: shows what was recorded, how, and how much of it can be trusted. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/open_profile.h"
#include "cli/options.h"
#include "cli/pager.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "profile/profile.h"
#include "report/report.h"

struct settings {
	bool is_accuracy;
	enum color_choice color;
};

static const struct option options[] = {
	{ "accuracy", 0, NULL,
	  "confidence intervals of shares, and how long to record for ±1 point",
	  option_set_flag, offsetof(struct settings, is_accuracy) },
	{ "color", 0, "WHEN", "auto (on a terminal), always or never", option_set_color,
	  offsetof(struct settings, color) },
	{ 0 },
};

static int info(const char *path, const struct settings *settings)
{
	CLEANUP(profile_freep)
	struct profile *profile = open_profile(path, &(struct open_options){ 0 }, NULL);
	CLEANUP(text_done) struct text text = { 0 };
	struct error err;

	if (!profile)
		return EXIT_CODE_FAILED;
	report_info_text(
		profile,
		&(struct report_options){
			.is_accuracy = settings->is_accuracy,
			.width = terminal_width(STDOUT_FILENO),
			.has_color = terminal_has_color(STDOUT_FILENO, settings->color),
		},
		&text);
	int rc = pager_show(text.data, text.len, &err);

	if (rc == 0 || rc == -EPIPE)
		return EXIT_CODE_OK;
	say_error(&err);
	return EXIT_CODE_FAILED;
}

static int run(const struct command *command, char **arguments)
{
	struct settings settings = { 0 };
	const char *path;
	int exit_code;

	signal(SIGPIPE, SIG_IGN);
	if (!command_parse_recording(command, arguments, &settings, &path, &exit_code))
		return exit_code;
	return info(path, &settings);
}

const struct command cmd_info = {
	.name = "info",
	.usage = "[OPTION…] [FILE]",
	.summary = "Shows what was recorded, how, and how much of it can be trusted",
	.options = options,
	.usage_exit_code = EXIT_CODE_USAGE,
	.run = run,
};
