/* fathom diff: shows what became slower, and whether that is more than chance. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/diff_limits.h"
#include "cli/diff_picture.h"
#include "cli/open_profile.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/pager.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "profile/compare.h"
#include "profile/group.h"
#include "profile/profile.h"
#include "profile/states.h"
#include "report/compared.h"
#include "report/report_options.h"

struct settings {
	enum group_by by;
	double margin_percent;
	size_t max_rows;
	struct diff_limits limits;
	struct open_options open;
	bool is_json;
	const char *picture; /* path of the flame graph; NULL: none */
	enum difference_side widths;
	enum color_choice color;
};

static int set_by(const struct option *option, void *place, const char *value,
		  struct error *err)
{
	static const char *const words[] = { "function", "line", "module", "package", NULL };
	static const enum group_by groups[] = { GROUP_BY_FUNCTION, GROUP_BY_LINE,
						GROUP_BY_MODULE, GROUP_BY_PACKAGE };
	const int word = option_find_word(option, words, value, err);

	if (word < 0)
		return word;
	*(enum group_by *)place = groups[word];
	return 0;
}

static int set_widths(const struct option *option, void *place, const char *value,
		      struct error *err)
{
	static const char *const words[] = {
		[DIFFERENCE_BEFORE] = "before", [DIFFERENCE_AFTER] = "after", NULL
	};
	const int word = option_find_word(option, words, value, err);

	if (word < 0)
		return word;
	*(enum difference_side *)place = (enum difference_side)word;
	return 0;
}

static int set_limit(const struct option *option, void *place, const char *value,
		     struct error *err)
{
	(void)option;
	return diff_limits_add(place, value, err);
}

static int set_margin(const struct option *option, void *place, const char *value,
		      struct error *err)
{
	char *end;
	const double percent = strtod(value, &end);

	if (end == value || (*end && strcmp(end, "%") != 0) || !(percent > 0 && percent <= 100))
		return error_set(err, -EINVAL,
				 "option '--%s' takes a percentage above 0 and up to 100, not "
				 "'%s'",
				 option->name, value);
	*(double *)place = percent;
	return 0;
}

static int set_rows(const struct option *option, void *place, const char *value,
		    struct error *err)
{
	unsigned long number;
	const int rc = option_read_number(option, value, 0, 1000000, &number, err);

	if (rc == 0)
		*(size_t *)place = number > 0 ? number : REPORT_ALL_ROWS;
	return rc;
}

static const struct option options[] = {
	{ "by", 0, "WHAT", "rows: function, line, module or package", set_by,
	  offsetof(struct settings, by) },
	{ "fail-if", 0, "LIMIT", "exit with 1 if a change exceeds it: 'NAME>+20%', 'total>+5%'",
	  set_limit, offsetof(struct settings, limits) },
	{ "strict", 0, NULL, "exit with 1 if that cannot be decided, too", option_set_flag,
	  offsetof(struct settings, limits.is_strict) },
	{ "margin", 0, "PCT", "changes within it count as unchanged (default 5)", set_margin,
	  offsetof(struct settings, margin_percent) },
	{ "output", 'o', "FILE", "a flame graph of what changed, too: x.html, x.svg",
	  option_set_string, offsetof(struct settings, picture) },
	{ "widths", 0, "SIDE", "of an image: the time before or after (the default)",
	  set_widths, offsetof(struct settings, widths) },
	{ "rows", 'n', "COUNT", "show so many rows; 0: all, unchanged ones, too", set_rows,
	  offsetof(struct settings, max_rows) },
	{ "native", 0, NULL, "an interpreter's own frames, too, where its language's stand",
	  option_set_flag, offsetof(struct settings, open.shows_plumbing) },
	{ "json", 0, NULL, "as JSON, for scripts", option_set_flag,
	  offsetof(struct settings, is_json) },
	{ "color", 0, "WHEN", "auto (on a terminal), always or never", option_set_color,
	  offsetof(struct settings, color) },
	{ 0 },
};

/* The recordings of both sides, and their profiles. */
struct sides {
	char **paths[2];
	size_t counts[2];
	struct profile **profiles[2];
};

static void sides_done(struct sides *sides)
{
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; sides->profiles[side] && i < sides->counts[side]; i++)
			profile_free(sides->profiles[side][i]);
		free(sides->profiles[side]);
	}
}

/* What a recording's times are of; of one command they differ by more than it became slower. */
static const char *times_of(const struct profile *profile)
{
	if (profile_is_trace(profile))
		return "a trace";
	return profile_is_wall(profile) ? "of threads' lives (--clock wall)"
					: "of samples of CPU time";
}

static int check_times(const struct sides *sides)
{
	const char *times = times_of(sides->profiles[0][0]);

	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < sides->counts[side]; i++) {
			const char *others = times_of(sides->profiles[side][i]);

			if (strcmp(others, times) == 0)
				continue;
			say("diff: %s is %s and %s is %s: they cannot be compared",
			    sides->paths[0][0], times, sides->paths[side][i], others);
			return -EINVAL;
		}
	}
	return 0;
}

static int open_sides(struct sides *sides, const struct settings *settings)
{
	for (int side = 0; side < 2; side++) {
		sides->profiles[side] =
			xzalloc((sides->counts[side] + 1) * sizeof *sides->profiles[side]);
		for (size_t i = 0; i < sides->counts[side]; i++) {
			sides->profiles[side][i] =
				open_profile(sides->paths[side][i], &settings->open, NULL);
			if (!sides->profiles[side][i])
				return -EINVAL;
		}
	}
	return check_times(sides);
}

static int show(const struct comparison *comparison, const struct sides *sides,
		const struct settings *settings, struct error *err)
{
	CLEANUP(text_done) struct text text = { 0 };
	const struct compared_options shown = {
		.by = settings->by,
		.paths = { (const char *const *)sides->paths[0],
			   (const char *const *)sides->paths[1] },
		.max_rows = settings->max_rows,
		.width = terminal_width(STDOUT_FILENO),
		.has_color = terminal_has_color(STDOUT_FILENO, settings->color),
	};

	if (settings->is_json) {
		compared_add_json(comparison, &shown, &text);
		return output_write(STDOUT_FILENO, "standard output", text.data, text.len, err);
	}
	compared_add_text(comparison, &shown, &text);
	return pager_show(text.data, text.len, err);
}

/* The picture needs a comparison by function, whatever the rows are. */
static int draw(const struct sides *sides, const struct settings *settings,
		const struct comparison *comparison, struct error *err)
{
	CLEANUP(comparison_done) struct comparison functions = { 0 };

	if (settings->by != GROUP_BY_FUNCTION) {
		comparison_make(
			&(struct compare_terms){
				.profiles = { sides->profiles[0], sides->profiles[1] },
				.counts = { sides->counts[0], sides->counts[1] },
				.by = GROUP_BY_FUNCTION,
				.margin = settings->margin_percent / 100,
			},
			&functions);
		comparison = &functions;
	}
	return diff_picture_write(
		settings->picture,
		&(struct difference_terms){
			.profiles = { sides->profiles[0], sides->profiles[1] },
			.counts = { sides->counts[0], sides->counts[1] },
			.comparison = comparison,
			.titles = { sides->paths[0][0], sides->paths[1][0] },
		},
		settings->widths, err);
}

static int diff(struct sides *sides, const struct settings *settings)
{
	CLEANUP(comparison_done) struct comparison comparison = { 0 };
	struct error err;

	if (settings->picture && diff_picture_check(settings->picture, &err) < 0) {
		say_error(&err);
		return EXIT_CODE_USAGE;
	}
	if (open_sides(sides, settings) < 0)
		return EXIT_CODE_USAGE;
	comparison_make(
		&(struct compare_terms){
			.profiles = { sides->profiles[0], sides->profiles[1] },
			.counts = { sides->counts[0], sides->counts[1] },
			.by = settings->by,
			.margin = settings->margin_percent / 100,
		},
		&comparison);
	int rc = settings->picture ? draw(sides, settings, &comparison, &err) : 0;

	if (rc == 0)
		rc = show(&comparison, sides, settings, &err);
	if (rc < 0 && rc != -EPIPE) {
		say_error(&err);
		return EXIT_CODE_USAGE;
	}
	return diff_limits_check(&settings->limits, &comparison);
}

static size_t count_of(char **list)
{
	size_t count = 0;

	while (list[count])
		count++;
	return count;
}

/* Splits "OLD… -- NEW…", or one of each; newer is NULL without --. */
static int split(char **operands, char **newer, struct sides *sides)
{
	const size_t count = count_of(operands);

	if (newer) {
		*sides = (struct sides){ { operands, newer },
					 { count, count_of(newer) },
					 { 0 } };
	} else if (count == 2) {
		*sides = (struct sides){ { operands, operands + 1 }, { 1, 1 }, { 0 } };
	} else {
		say("diff: it takes recordings of before and after, with -- between them: "
		    "fathom diff OLD… -- NEW…");
		return -EINVAL;
	}
	if (sides->counts[0] > 0 && sides->counts[1] > 0)
		return 0;
	say("diff: there is no recording %s --",
	    sides->counts[0] > 0 ? "behind" : "in front of");
	return -EINVAL;
}

static int run(const struct command *command, char **arguments)
{
	struct settings settings = { .margin_percent = 5, .widths = DIFFERENCE_AFTER };
	CLEANUP(sides_done) struct sides sides = { 0 };
	CLEANUP(freep) char **operands = NULL, **newer = NULL;
	char **behind = NULL;
	int exit_code;

	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; arguments[i] && !behind; i++) {
		if (strcmp(arguments[i], "--") == 0) {
			arguments[i] = NULL;
			behind = arguments + i + 1;
		}
	}
	if (!command_parse(command, arguments, &settings, &operands, &exit_code) ||
	    (behind && !command_parse(command, behind, &settings, &newer, &exit_code)))
		return exit_code;
	if (split(operands, newer, &sides) < 0)
		return EXIT_CODE_USAGE;
	return diff(&sides, &settings);
}

const struct command cmd_diff = {
	.name = "diff",
	.usage = "[OPTION…] OLD… -- NEW…",
	.summary = "Says what became slower, and whether it is more than chance",
	.options = options,
	.usage_exit_code = EXIT_CODE_USAGE,
	.run = run,
};
