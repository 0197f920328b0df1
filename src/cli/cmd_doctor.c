/* fathom doctor: shows what this machine allows, and whether profiles can be trusted here. */
#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "doctor/checks.h"
#include "doctor/found.h"
#include "doctor/machine.h"
#include "doctor/trial.h"
#include "report/json.h"
#include "report/style.h"

#define VERDICT_COLUMNS 10
#define NAME_COLUMNS    12
#define SENTENCE_INDENT (VERDICT_COLUMNS + NAME_COLUMNS + 2)

struct settings {
	enum color_choice color;
	bool is_json;
	unsigned long rate_hz, seconds, rounds;
	const char *trigger;
};

static int set_rate(const struct option *option, void *place, const char *value,
		    struct error *err)
{
	return option_read_number(option, value, 1, 50000, place, err);
}

static int set_seconds(const struct option *option, void *place, const char *value,
		       struct error *err)
{
	return option_read_number(option, value, 0, 600, place, err);
}

static int set_rounds(const struct option *option, void *place, const char *value,
		      struct error *err)
{
	return option_read_number(option, value, 1, 1000000, place, err);
}

static int set_trigger(const struct option *option, void *place, const char *value,
		       struct error *err)
{
	static const char *const words[] = { "auto", "sigtrap", "timer", "copied", NULL };

	const int found = option_find_word(option, words, value, err);

	if (found >= 0)
		*(const char **)place = words[found];
	return found < 0 ? found : 0;
}

static const struct option options[] = {
	{ "rate", 'r', "HZ", "samples per second of CPU time, 1 to 50000; 1000 by default",
	  set_rate, offsetof(struct settings, rate_hz) },
	{ "trigger", 0, "TRIGGER", "what takes samples: auto, sigtrap, timer or copied",
	  set_trigger, offsetof(struct settings, trigger) },
	{ "seconds", 's', "S", "of known work; 3 by default, 0: none is run", set_seconds,
	  offsetof(struct settings, seconds) },
	{ "json", 0, NULL, "one JSON object for scripts", option_set_flag,
	  offsetof(struct settings, is_json) },
	{ "work", 0, "ROUNDS", "run the known work and nothing else", set_rounds,
	  offsetof(struct settings, rounds) },
	{ "color", 0, "WHEN", "auto (on a terminal), always or never", option_set_color,
	  offsetof(struct settings, color) },
	{ 0 },
};

static int work(unsigned rounds)
{
	struct work_times times;
	struct text line = { 0 };
	char figures[128];

	work_run(rounds, &times);
	work_format(&times, figures, sizeof figures);
	text_add(&line, figures);
	return command_print(&line);
}

/* ^C ends the workload; it ends us only after the trial's folder was removed. */
static int try(const struct trial_options *known, struct trial *trial, struct error *err)
{
	sigset_t ending, before;

	sigemptyset(&ending);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGHUP);
	sigprocmask(SIG_BLOCK, &ending, &before);
	const int rc = trial_run(known, trial, err);

	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static void run_trial(const struct settings *settings, struct checks *checks)
{
	char self[PATH_MAX];
	const ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
	struct trial_options trial_options = {
		.rate_hz = (uint32_t)settings->rate_hz,
		.seconds = (unsigned)settings->seconds,
		.trigger = settings->trigger,
		.self = self,
	};
	struct trial trial;
	struct error err;

	if (len < 0) {
		checks_add(checks, "trial", "recording", CHECK_WRONG,
			   "/proc/self/exe cannot be read: %s", strerror(errno));
		checks_add_remedy(checks, "fathom needs /proc");
		return;
	}
	self[len] = '\0';
	if (try(&trial_options, &trial, &err) < 0)
		checks_add(checks, "trial", "recording", CHECK_WRONG, "%s", err.text);
	else
		trial_check(&trial_options, &trial, checks);
}

static void add_json(const struct checks *checks, struct text *out)
{
	struct json_writer writer = { .out = out };

	json_writer_begin(&writer, NULL, '{');
	json_writer_add(&writer, "fathom_version", json_new_string(FATHOM_VERSION));
	json_writer_add(&writer, "verdict",
			json_new_string(checks_have_wrong(checks) ? "wrong" : "ok"));
	json_writer_begin(&writer, "checks", '[');
	for (size_t i = 0; i < checks->count; i++) {
		const struct check *check = &checks->rows[i];
		struct json_object *row = json_object_new_object();

		json_add_string(row, "group", check->group);
		json_add_string(row, "name", check->name);
		json_add_string(row, "verdict", check_verdict_name(check->verdict));
		json_add_string(row, "text", check->text);
		json_add_string(row, "remedy", check->remedy);
		json_writer_add(&writer, NULL, row);
	}
	json_writer_end(&writer, ']');
	json_writer_end(&writer, '}');
	text_add(out, "\n");
}

static const char *color_of(enum check_verdict verdict)
{
	static const char *const colors[] = {
		[CHECK_OK] = "\033[32m",
		[CHECK_LIMITED] = "\033[33m",
		[CHECK_WRONG] = "\033[31m",
	};

	return colors[verdict];
}

/* Adds the sentence, made printable and wrapped with this indentation. */
static void add_sentence(struct text *out, const struct style *style, unsigned indent,
			 const char *sentence)
{
	CLEANUP(text_done) struct text shown = { 0 };

	text_add_printable(&shown, sentence, strlen(sentence));
	style_add_wrapped(out, style, indent, text_string(&shown));
	text_add(out, "\n");
}

static void add_check(const struct check *check, const struct style *style, struct text *out)
{
	const size_t len = strlen(check->name);

	text_addf(out, "  %s%-8s%s", style->has_color ? color_of(check->verdict) : "",
		  check_verdict_name(check->verdict), style->has_color ? "\033[0m" : "");
	text_add_printable(out, check->name, len);
	/* After a long name, as a path, the sentence goes on a line of its own. */
	if (len > NAME_COLUMNS)
		text_addf(out, "\n%*s", SENTENCE_INDENT, "");
	else
		text_addf(out, "%*s  ", NAME_COLUMNS - (int)len, "");
	add_sentence(out, style, SENTENCE_INDENT, check->text);
	if (check->remedy) {
		text_addf(out, "%*s-> ", VERDICT_COLUMNS, "");
		add_sentence(out, style, VERDICT_COLUMNS + 3, check->remedy);
	}
}

static void add_text(const struct checks *checks, const struct style *style, struct text *out)
{
	const char *group = "";

	text_add(out, "fathom " FATHOM_VERSION "\n");
	for (size_t i = 0; i < checks->count; i++) {
		if (strcmp(group, checks->rows[i].group) != 0) {
			group = checks->rows[i].group;
			text_addf(out, "\n%s\n", group);
		}
		add_check(&checks->rows[i], style, out);
	}
	text_add(out, checks_have_wrong(checks)
			      ? "\nProfiles are not right here: see what is wrong above.\n"
			      : "\nProfiles can be trusted here.\n");
}

static int examine(const struct settings *settings)
{
	struct checks checks = { 0 };
	struct text out = { 0 };

	machine_check(&checks);
	found_check(&checks);
	if (settings->seconds)
		run_trial(settings, &checks);
	if (settings->is_json)
		add_json(&checks, &out);
	else
		add_text(
			&checks,
			&(struct style){
				.width = terminal_width(STDOUT_FILENO),
				.has_color = terminal_has_color(STDOUT_FILENO, settings->color),
			},
			&out);
	const int exit_code = command_print(&out);
	const bool is_wrong = checks_have_wrong(&checks);

	checks_done(&checks);
	return exit_code == EXIT_CODE_OK && is_wrong ? EXIT_CODE_FAILED : exit_code;
}

static int run(const struct command *command, char **arguments)
{
	struct settings settings = { .rate_hz = 1000, .seconds = 3, .trigger = "auto" };
	CLEANUP(freep) char **operands = NULL;
	int exit_code;

	signal(SIGPIPE, SIG_IGN);
	if (!command_parse(command, arguments, &settings, &operands, &exit_code))
		return exit_code;
	if (operands[0]) {
		say("doctor: it takes no argument, and '%s' is one", operands[0]);
		return command->usage_exit_code;
	}
	return settings.rounds ? work((unsigned)settings.rounds) : examine(&settings);
}

const struct command cmd_doctor = {
	.name = "doctor",
	.usage = "[OPTION…]",
	.summary = "Says what this machine allows, and whether profiles can be trusted here",
	.options = options,
	.usage_exit_code = EXIT_CODE_USAGE,
	.run = run,
};
