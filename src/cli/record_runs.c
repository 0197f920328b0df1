#include "cli/record_runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/executable.h"
#include "cli/open_profile.h"
#include "cli/output.h"
#include "cli/record_once.h"
#include "cli/run_once.h"
#include "cli/say.h"
#include "cli/shell_words.h"
#include "cli/terminal.h"
#include "profile/compare.h"
#include "profile/group.h"
#include "profile/info.h"
#include "profile/profile.h"
#include "profile/runs.h"
#include "report/compared.h"
#include "report/runs_text.h"
#include "report/style.h"

#define MARGIN       0.05
#define FOLDERS_MOST 1000

struct side {
	char *const *command;
	const char *title; /* part of its files' names: "before" */
	char **paths;
	struct profile **profiles;
	double *total_ns, *elapsed_ns;
	double warm_up_ns;
	size_t count;
};

struct runs {
	struct record_settings *settings;
	struct side sides[2];
	size_t side_count;
	char *folder;
	bool is_clear;
	bool shows_progress;
	struct run_signals signals;
};

static void runs_done(struct runs *runs)
{
	for (size_t i = 0; i < runs->side_count; i++) {
		struct side *side = &runs->sides[i];

		for (size_t run = 0; run < side->count; run++) {
			profile_free(side->profiles[run]);
			free(side->paths[run]);
		}
		free(side->profiles);
		free(side->paths);
		free(side->total_ns);
		free(side->elapsed_ns);
	}
	free(runs->folder);
}

static void side_init(struct side *side, char *const *command, const char *title, size_t most)
{
	*side = (struct side){
		.command = command,
		.title = title,
		.paths = xzalloc(most * sizeof *side->paths),
		.profiles = xzalloc(most * sizeof *side->profiles),
		.total_ns = xzalloc(most * sizeof *side->total_ns),
		.elapsed_ns = xzalloc(most * sizeof *side->elapsed_ns),
	};
}

/*
 * Creates the requested folder, which must be new; else the first free one named profile.runs.
 */
static int make_folder(const char *path, char **out_folder, struct error *err)
{
	for (int i = 1; i <= FOLDERS_MOST; i++) {
		CLEANUP(freep)
		char *folder = path     ? xstrdup(path)
			       : i == 1 ? xstrdup("profile.runs")
					: xasprintf("profile.runs.%d", i);

		if (mkdir(folder, 0777) == 0) {
			*out_folder = folder;
			folder = NULL; /* now the caller's */
			return 0;
		}
		if (errno == EEXIST && !path)
			continue;
		return errno == EEXIST
			       ? error_set(err, -EEXIST,
					   "%s is there already; the recordings of --runs go "
					   "to a new folder",
					   folder)
			       : error_errno(err, -errno, "cannot make the folder %s", folder);
	}
	return error_set(err, -EEXIST,
			 "there are %d folders profile.runs already; name another with -o",
			 FOLDERS_MOST);
}

static void show_progress(const struct runs *runs, const struct side *side, size_t run)
{
	CLEANUP(text_done) struct text line = { 0 };

	if (!runs->shows_progress)
		return;
	if (!side)
		text_add(&line, "\r\033[K");
	else if (run == 0)
		text_addf(&line, "\rwarming up: %s\033[K", side->title);
	else
		text_addf(&line, "\rrun %zu of %u: %s\033[K", run, runs->settings->runs,
			  side->title);
	output_write(STDERR_FILENO, "standard error", line.data, line.len, NULL);
}

/* The total of a run, as in reports. */
static double total_of(const struct profile *profile)
{
	struct groups groups;

	groups_make(profile, GROUP_BY_MODULE, NULL, &groups);
	const double ns = (double)groups.ns;

	groups_done(&groups);
	return ns;
}

static void say_failed(const struct side *side, size_t run, int exit_code)
{
	CLEANUP(freep)
	char *which = run == 0 ? xstrdup("the warm-up") : xasprintf("run %zu", run);

	if (exit_code > EXIT_CODE_SIGNAL)
		say("%s of %s was ended by signal %d (%s): nothing is compared", which,
		    side->command[0], exit_code - EXIT_CODE_SIGNAL,
		    strsignal(exit_code - EXIT_CODE_SIGNAL));
	else
		say("%s of %s failed with exit code %d: nothing is compared; where that "
		    "is meant, run sh -c '…; true'",
		    which, side->command[0], exit_code);
}

/* Run 0 is the warm-up. Returns the exit code; 0 for a run that was stopped. */
static int run_side(struct runs *runs, struct side *side, size_t run)
{
	CLEANUP(freep)
	char *path = run == 0 ? xasprintf("%s/warm-up.%s.fathom", runs->folder, side->title)
			      : xasprintf("%s/%s.%zu.fathom", runs->folder, side->title, run);
	struct record_settings settings = *runs->settings;

	settings.path = path;
	settings.session.argv = side->command;
	settings.end.is_quiet = true;
	show_progress(runs, side, run);
	const int exit_code = run_once(&settings, &runs->signals);

	show_progress(runs, NULL, 0);
	if (runs->signals.has_stop) {
		unlink(path);
		return EXIT_CODE_OK;
	}
	if (exit_code != EXIT_CODE_OK) {
		say_failed(side, run, exit_code);
		return exit_code;
	}
	struct profile *profile = open_profile(
		path,
		&(struct open_options){ .asks_no_servers = settings.end.asks_no_servers,
					.shows_plumbing = settings.end.shows_plumbing },
		NULL);

	if (!profile)
		return EXIT_CODE_NOT_STARTED;
	if (run == 0) {
		side->warm_up_ns = total_of(profile);
		profile_free(profile);
		return EXIT_CODE_OK;
	}
	side->paths[side->count] = path;
	path = NULL; /* now the side's */
	side->profiles[side->count] = profile;
	side->total_ns[side->count] = total_of(profile);
	side->elapsed_ns[side->count++] = (double)profile_get_info(profile)->wall_ns;
	return EXIT_CODE_OK;
}

/* Runs each once, in random order. */
static int run_round(struct runs *runs, size_t run)
{
	unsigned char chance = 0;

	(void)!getrandom(&chance, sizeof chance, 0);
	for (size_t i = 0; i < runs->side_count && !runs->signals.has_stop; i++) {
		const size_t which = runs->side_count == 2 ? i ^ (chance & 1) : i;
		const int exit_code = run_side(runs, &runs->sides[which], run);

		if (exit_code != EXIT_CODE_OK)
			return exit_code;
	}
	return EXIT_CODE_OK;
}

static bool are_enough(const struct runs *runs)
{
	const struct side *sides = runs->sides;

	if (runs->side_count < 2 || sides[0].count < RUNS_LEAST)
		return false;
	const struct change change = change_over_runs(
		(const double *const[]){ sides[0].total_ns, sides[1].total_ns },
		(const size_t[]){ sides[0].count, sides[1].count }, MARGIN);

	return runs_are_enough(&change, MARGIN);
}

static int run_all(struct runs *runs)
{
	for (size_t run = 0; run <= runs->settings->runs && !runs->signals.has_stop; run++) {
		const int exit_code = run_round(runs, run);

		if (exit_code != EXIT_CODE_OK)
			return exit_code;
		runs->is_clear = run < runs->settings->runs && are_enough(runs);
		if (runs->is_clear)
			break;
	}
	return EXIT_CODE_OK;
}

static void add_comparison(const struct runs *runs, const struct style *style, struct text *out)
{
	const struct side *sides = runs->sides;
	CLEANUP(comparison_done) struct comparison comparison = { 0 };
	const struct compared_options shown = {
		.by = GROUP_BY_FUNCTION,
		.paths = { (const char *const *)sides[0].paths,
			   (const char *const *)sides[1].paths },
		.width = style->width,
		.has_color = style->has_color,
	};

	comparison_make(
		&(struct compare_terms){
			.profiles = { sides[0].profiles, sides[1].profiles },
			.counts = { sides[0].count, sides[1].count },
			.by = GROUP_BY_FUNCTION,
			.margin = MARGIN,
		},
		&comparison);
	compared_add_text(&comparison, &shown, out);
}

static void add_result(const struct runs *runs, const struct style *style, struct text *out)
{
	struct runs_shown shown = {
		.side_count = runs->side_count,
		.most = runs->settings->runs,
		.is_clear = runs->is_clear,
		.margin = MARGIN,
	};

	for (size_t i = 0; i < runs->side_count; i++) {
		const struct side *side = &runs->sides[i];

		shown.sides[i] = (struct runs_side){
			.title = runs->side_count == 2 ? side->title : NULL,
			.command = (const char *const *)side->command,
			.paths = (const char *const *)side->paths,
			.total_ns = side->total_ns,
			.elapsed_ns = side->elapsed_ns,
			.count = side->count,
			.warm_up_ns = side->warm_up_ns,
		};
	}
	runs_add_head(&shown, style, out);
	if (runs->side_count == 2)
		add_comparison(runs, style, out);
	runs_add_end(&shown, style, out);
}

/* Shows the results so far, even if stopped: at least one run of each is needed. */
static int show(const struct runs *runs)
{
	CLEANUP(text_done) struct text text = { 0 };
	const struct style style = {
		terminal_width(STDOUT_FILENO),
		terminal_has_color(STDOUT_FILENO, runs->settings->end.color),
	};
	struct error err;

	for (size_t i = 0; i < runs->side_count; i++) {
		if (runs->sides[i].count > 0)
			continue;
		say("record: stopped before there was a run of %s to count",
		    runs->sides[i].command[0]);
		return 0;
	}
	if (runs->settings->end.is_quiet)
		return 0;
	add_result(runs, &style, &text);
	const int rc =
		output_write(STDOUT_FILENO, "standard output", text.data, text.len, &err);

	if (rc < 0 && rc != -EPIPE)
		say_error(&err);
	return rc == -EPIPE ? 0 : rc;
}

/* Checks that both commands can be run, and creates the folder; returns the exit code. */
static int prepare(struct runs *runs, char *const *against)
{
	struct record_settings *settings = runs->settings;
	const bool is_pair = against != NULL;
	struct error err;

	for (int i = 0; i < (is_pair ? 2 : 1); i++) {
		char *const *command = i == 0 ? settings->session.argv : against;
		const int rc = executable_check(command[0], &err);

		if (rc < 0) {
			say_error(&err);
			return rc == -ENOENT ? EXIT_CODE_NOT_FOUND : EXIT_CODE_NOT_EXECUTABLE;
		}
	}
	if (make_folder(settings->path, &runs->folder, &err) < 0) {
		say_error(&err);
		return EXIT_CODE_NOT_STARTED;
	}
	runs->side_count = is_pair ? 2 : 1;
	if (is_pair)
		side_init(&runs->sides[0], against, "before", settings->runs);
	side_init(&runs->sides[is_pair], settings->session.argv, is_pair ? "after" : "run",
		  settings->runs);
	return EXIT_CODE_OK;
}

int record_runs(const struct command *command, struct record_settings *settings)
{
	CLEANUP(runs_done)
	struct runs runs = { .settings = settings,
			     .shows_progress =
				     !settings->end.is_quiet && isatty(STDERR_FILENO) };
	CLEANUP(freep) char **against = NULL;
	struct error err;

	if (settings->against) {
		against = shell_words_split(settings->against, &err);
		if (!against) {
			say("%s: --against %s", command->name, err.text);
			return EXIT_CODE_NOT_STARTED;
		}
	}
	int exit_code = prepare(&runs, against);

	if (exit_code != EXIT_CODE_OK)
		return exit_code;
	signal(SIGPIPE, SIG_IGN);
	run_signals_hold(&runs.signals);
	exit_code = run_all(&runs);
	run_signals_release(&runs.signals);
	if (exit_code != EXIT_CODE_OK)
		return exit_code;
	if (show(&runs) < 0)
		exit_code = EXIT_CODE_NOT_STARTED;
	return runs.signals.has_stop ? EXIT_CODE_SIGNAL + runs.signals.stop : exit_code;
}
