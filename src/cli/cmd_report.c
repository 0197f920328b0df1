/* fathom report: shows where the time of a recording went. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/debian_package.h"
#include "cli/open_profile.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/pager.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "profile/group.h"
#include "profile/profile.h"
#include "profile/states.h"
#include "report/report.h"

struct settings {
	struct report_options report;
	struct open_options open;
	bool is_json;
	bool has_no_pager;
	bool has_full_names;
	enum color_choice color;
};

static int set_by(const struct option *option, void *place, const char *value,
		  struct error *err)
{
	const char *words[GROUP_BY_COUNT + 1] = { 0 };

	struct report_options *report = place;

	report->has_by = true;
	if (group_by_parse(value, &report->by))
		return 0;
	for (int by = 0; by < GROUP_BY_COUNT; by++)
		words[by] = group_by_name((enum group_by)by);
	return option_refuse_word(option, words, value, err);
}

static int set_sort(const struct option *option, void *place, const char *value,
		    struct error *err)
{
	static const char *const words[] = { "self", "total", "calls", NULL };
	struct report_options *report = place;

	report->has_sort = true;
	return report_sort_parse(value, &report->sort)
		       ? 0
		       : option_refuse_word(option, words, value, err);
}

static int set_min(const struct option *option, void *place, const char *value,
		   struct error *err)
{
	struct report_options *report = place;
	char *end = NULL;
	double percent = strtod(value, &end);

	if (end != value && *end == '%')
		end++;
	if (end == value || *end || !(percent >= 0 && percent <= 100))
		return error_set(err, -EINVAL,
				 "option '--%s' takes a percentage from 0 to 100, not '%s'",
				 option->name, value);
	report->has_min_percent = true;
	report->min_percent = percent;
	return 0;
}

static int set_rows(const struct option *option, void *place, const char *value,
		    struct error *err)
{
	unsigned long rows = 0;
	int rc = option_read_number(option, value, 0, SIZE_MAX, &rows, err);

	if (rc == 0)
		*(size_t *)place = rows ? rows : REPORT_ALL_ROWS;
	return rc;
}

#define AT(field) .offset = offsetof(struct settings, field)
static const struct option options[] = {
	{ "by", 0, "WHAT",
	  "rows: function, line, module, package, region, state, thread, process or program",
	  set_by, AT(report) },
	{ "tree", 0, NULL, "the call tree, from the outermost function inwards",
	  option_set_flag, AT(report.has_tree) },
	{ "callers", 0, "FUNCTION", "what calls FUNCTION, and how much of its time is theirs",
	  option_set_string, AT(report.callers) },
	{ "callees", 0, "FUNCTION", "what FUNCTION calls, and how much of its time goes there",
	  option_set_string, AT(report.callees) },
	{ "lines", 0, "FUNCTION", "the source of FUNCTION, with the time of each line",
	  option_set_string, AT(report.lines) },
	{ "blame", 0, NULL,
	  "what made threads wait, and what both did meanwhile, on the wall clock",
	  option_set_flag, AT(report.has_blame) },
	{ "idle", 0, NULL,
	  "threads, too, that only waited for something to do; by thread: each of them",
	  option_set_flag, AT(report.has_idle) },
	{ "native", 0, NULL, "an interpreter's own frames, too, where its language's stand",
	  option_set_flag, AT(open.shows_plumbing) },
	{ "min-max", 0, NULL, "the shortest and the longest of the calls of a trace",
	  option_set_flag, AT(report.has_extremes) },
	{ "raw", 0, NULL, "times of traced calls as they were measured", option_set_flag,
	  AT(open.has_raw_times) },
	{ "sort", 0, "WHAT", "by self (the default) or total time, or by calls", set_sort,
	  AT(report) },
	{ "state", 0, "STATE,…",
	  "only time in these states, like io,lock; waiting: all but running",
	  option_set_string, AT(report.state) },
	{ "process", 0, "PROCESS", "only this process: its pid or its name", option_set_string,
	  AT(report.process) },
	{ "thread", 0, "THREAD", "only this thread: its id or its name", option_set_string,
	  AT(report.thread) },
	{ "module", 0, "MODULE", "only time in this program or library", option_set_string,
	  AT(report.module) },
	{ "package", 0, "PACKAGE", "only time in this package; own: in your own code",
	  option_set_string, AT(report.package) },
	{ "own", 0, "PART,…",
	  "what is your own code: files and modules with PART in their path", option_set_string,
	  AT(report.own) },
	{ "all", 0, NULL, "hot paths of all code, not of your own", option_set_flag,
	  AT(report.is_all_own) },
	{ "min", 0, "PERCENT", "leave out rows below this share", set_min, AT(report) },
	{ "rows", 'n', "N", "at most N rows; 0: all of them", set_rows, AT(report.max_rows) },
	{ "full-names", 0, NULL, "names as they are, however wide the rows get",
	  option_set_flag, AT(has_full_names) },
	{ "no-debuginfod", 0, NULL, "ask no server for debug files", option_set_flag,
	  AT(open.asks_no_servers) },
	{ "json", 0, NULL, "for scripts: see docs/report-json.md", option_set_flag,
	  AT(is_json) },
	{ "color", 0, "WHEN", "auto (on a terminal), always or never", option_set_color,
	  AT(color) },
	{ "no-pager", 0, NULL, "do not show it page by page", option_set_flag,
	  AT(has_no_pager) },
	{ 0 },
};
#undef AT

static int make_report(const struct profile *profile, const struct settings *settings,
		       struct text *out, struct error *err)
{
	if (settings->is_json)
		return report_json(profile, &settings->report, out, err);
	return report_text(profile, &settings->report, out, err);
}

static int show(const struct settings *settings, const struct text *text, struct error *err)
{
	if (settings->is_json || settings->has_no_pager)
		return output_write(STDOUT_FILENO, "standard output", text->data, text->len,
				    err);
	return pager_show(text->data, text->len, err);
}

/* Refuses table options without a table; for JSON the manual lists the options that apply. */
static int check(const struct settings *settings, struct error *err)
{
	const struct report_options *report = &settings->report;
	const bool has_table = !report->has_tree && !report->callers && !report->callees &&
			       !report->lines && !report->has_blame;

	if (settings->is_json)
		return 0;
	if (report->has_sort && !has_table)
		return error_set(
			err, -EINVAL,
			"'--sort' is for the rows of tables: trees are in the order of "
			"total time, and lines in that of their source");
	if (report->by != GROUP_BY_FUNCTION && !has_table)
		return error_set(
			err, -EINVAL,
			"'--by' is for the rows of tables: trees are of functions, and "
			"'--lines' shows those of one");
	if (report->has_extremes && (!has_table || report->by != GROUP_BY_FUNCTION))
		return error_set(err, -EINVAL,
				 "'--min-max' is for the table of functions: no other has the "
				 "shortest and the longest calls");
	return 0;
}

/* Whether no option selects a view. */
static bool is_summary(const struct report_options *report)
{
	return !report->has_by && !report->has_sort && !report->has_tree && !report->callers &&
	       !report->callees && !report->lines && !report->has_extremes &&
	       !report->has_blame && !report->has_min_percent && report->max_rows == 0;
}

/* Whether the definition of own code affects this view. */
static bool has_own(const struct report_options *report, const struct profile *profile)
{
	const bool is_of_threads = report->by != GROUP_BY_FUNCTION &&
				   report->by != GROUP_BY_LINE && report->by != GROUP_BY_MODULE;

	if (report->own && (report->package || report->by == GROUP_BY_PACKAGE))
		return true;
	return report->is_summary ||
	       (is_of_threads && report->by != GROUP_BY_PACKAGE && profile_is_wall(profile));
}

static int check_own(const struct settings *settings, const struct profile *profile,
		     struct error *err)
{
	const struct report_options *report = &settings->report;

	if ((!report->own && !report->is_all_own) || settings->is_json ||
	    has_own(report, profile))
		return 0;
	return error_set(err, -EINVAL,
			 "'--%s' says what is your own code, and this view shows all code "
			 "alike: it is for the first screen%s",
			 report->own ? "own" : "all",
			 report->own ? ", '--by package' and '--package own'" : "");
}

static struct profile *open_wanted(const char *path, struct settings *settings)
{
	settings->open.wants_blame = settings->report.has_blame;
	settings->open.own = settings->report.own;
	return open_profile(path, &settings->open, NULL);
}

static int report(const char *path, struct settings *settings)
{
	CLEANUP(profile_freep)
	struct profile *profile = open_wanted(path, settings);
	CLEANUP(text_done) struct text text = { 0 };
	struct error err;

	if (!profile)
		return EXIT_CODE_FAILED;
	settings->report.is_summary = is_summary(&settings->report);
	settings->report.path = path;
	settings->report.package_of = debian_package_of;
	settings->report.width = settings->has_full_names ? 0 : terminal_width(STDOUT_FILENO);
	settings->report.height = terminal_height(STDOUT_FILENO);
	settings->report.has_color = terminal_has_color(STDOUT_FILENO, settings->color);
	int rc = check_own(settings, profile, &err);

	if (rc < 0) {
		say_error(&err);
		return EXIT_CODE_USAGE;
	}
	rc = make_report(profile, settings, &text, &err);
	if (rc == 0)
		rc = show(settings, &text, &err);
	if (rc == 0 || rc == -EPIPE)
		return EXIT_CODE_OK;
	say_error(&err);
	return EXIT_CODE_FAILED;
}

static int run(const struct command *command, char **arguments)
{
	struct settings settings = { 0 };
	const char *path;
	struct error err;
	int exit_code;

	signal(SIGPIPE, SIG_IGN);
	if (!command_parse_recording(command, arguments, &settings, &path, &exit_code))
		return exit_code;
	if (check(&settings, &err) == 0)
		return report(path, &settings);
	say_error(&err);
	return EXIT_CODE_USAGE;
}

const struct command cmd_report = {
	.name = "report",
	.usage = "[OPTION…] [FILE]",
	.summary = "Shows where the time of a recording went",
	.options = options,
	.usage_exit_code = EXIT_CODE_USAGE,
	.run = run,
};
