/* Writes the example's report: for looking at it, and as input of the schema's test. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "example.h"
#include "profile/group.h"
#include "report/report.h"

static int write_report(const struct profile *profile, const char *kind,
			const struct report_options *options)
{
	struct text text = { 0 };
	struct error err;
	int rc = 0;

	if (strcmp(kind, "info") == 0)
		report_info_text(profile, options, &text);
	else if (strcmp(kind, "json") == 0)
		rc = report_json(profile, options, &text, &err);
	else
		rc = report_text(profile, options, &text, &err);
	if (rc < 0)
		fprintf(stderr, "%s\n", err.text);
	else
		fputs(text_string(&text), stdout);
	text_done(&text);
	return rc < 0;
}

/* usage: show_example PROFILE text|json|info [OPTION VALUE]… */
int main(int argc, char **argv)
{
	struct report_options options = { 0 };
	struct made made;

	setlocale(LC_ALL, "C.UTF-8");
	if (argc < 3)
		return EXIT_FAILURE;
	for (int i = 3; i + 1 < argc; i += 2) {
		const char *name = argv[i];
		const char *value = argv[i + 1];
		if (strcmp(name, "by") == 0)
			group_by_parse(value, &options.by);
		else if (strcmp(name, "sort") == 0)
			report_sort_parse(value, &options.sort);
		else if (strcmp(name, "tree") == 0)
			options.has_tree = true;
		else if (strcmp(name, "callers") == 0)
			options.callers = value;
		else if (strcmp(name, "callees") == 0)
			options.callees = value;
		else if (strcmp(name, "lines") == 0)
			options.lines = value;
		else if (strcmp(name, "thread") == 0)
			options.thread = value;
		else if (strcmp(name, "module") == 0)
			options.module = value;
		else if (strcmp(name, "rows") == 0)
			options.max_rows = strtoul(value, NULL, 10);
		else if (strcmp(name, "width") == 0)
			options.width = (unsigned int)strtoul(value, NULL, 10);
		else if (strcmp(name, "color") == 0)
			options.has_color = true;
		else if (strcmp(name, "min") == 0) {
			options.has_min_percent = true;
			options.min_percent = strtod(value, NULL);
		} else if (strcmp(name, "summary") == 0)
			options.is_summary = true;
	}
	if (strcmp(argv[1], "empty") == 0)
		made = (struct made){ .profile = profile_new() };
	else if (strcmp(argv[1], "hostile") == 0)
		example_init_hostile(&made);
	else if (strcmp(argv[1], "trace") == 0)
		example_init_trace(&made);
	else if (strcmp(argv[1], "waits") == 0)
		example_init_waits(&made);
	else if (strcmp(argv[1], "python") == 0)
		example_init_python(&made, "/srv/app/worker.py");
	else
		example_init(&made);
	int exit_code = write_report(made.profile, argv[2], &options);
	made_done(&made);
	return exit_code;
}
