#include "doctor/found.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "doctor/checks.h"
#include "doctor/output_of.h"
#include "target/python.h"
#include "target/ruby.h"

#define GROUP "interpreters"

#if defined(__x86_64__)
#define DYNAMIC_LINKER "/lib64/ld-linux-x86-64.so.2"
#elif defined(__aarch64__)
#define DYNAMIC_LINKER "/lib/ld-linux-aarch64.so.1"
#endif

struct found {
	char **paths; /* real paths, so that each program is listed once */
	size_t count, capacity;
};

/* "python", "python3", "python3.11", "ruby3.1", and nothing longer. */
static bool is_interpreter_name(const char *name)
{
	static const char *const names[] = { "python", "ruby" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const size_t len = strlen(names[i]);

		if (strncmp(name, names[i], len) != 0)
			continue;
		for (name += len; isdigit((unsigned char)*name) || *name == '.';)
			name++;
		return *name == '\0';
	}
	return false;
}

/* Only plain files are opened: a pipe might block forever. */
static bool is_program(const char *path)
{
	struct stat about;

	return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

static void found_add(struct found *found, const char *folder, const char *name)
{
	CLEANUP(freep) char *path = xasprintf("%s/%s", folder, name);
	CLEANUP(freep) char *real = is_program(path) ? realpath(path, NULL) : NULL;

	for (size_t i = 0; real && i < found->count; i++) {
		if (strcmp(found->paths[i], real) == 0)
			return;
	}
	if (!real)
		return;
	found->paths =
		array_grow(found->paths, found->count, &found->capacity, sizeof *found->paths);
	found->paths[found->count++] = real;
	real = NULL; /* now owned by the list */
}

static void search_folder(struct found *found, const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)) != NULL) {
		if (is_interpreter_name(entry->d_name))
			found_add(found, path, entry->d_name);
	}
	if (folder)
		closedir(folder);
}

static void search_path(struct found *found)
{
	CLEANUP(freep) char *path = xstrdup(getenv("PATH") ? getenv("PATH") : "/bin:/usr/bin");
	char *rest = path;

	for (char *folder; (folder = strsep(&rest, ":")) != NULL;) {
		if (*folder == '/')
			search_folder(found, folder);
	}
}

/* Checks whether the file at path contains an interpreter; false: none. */
static bool check_file(struct checks *checks, const char *program, const char *path)
{
	struct python_image *python = NULL;
	struct ruby_image *ruby = NULL;
	const char *language = NULL, *version = NULL, *why_not = NULL;
	struct error err;

	if (python_image_read(path, &python, &err) == 0) {
		language = "CPython";
		version = python_image_version(python);
		why_not = python_image_why_not(python);
	} else if (ruby_image_read(path, &ruby, &err) == 0) {
		language = "CRuby";
		version = ruby_image_version(ruby);
		why_not = ruby_image_why_not(ruby);
	}
	if (language)
		checks_add(checks, GROUP, program, why_not ? CHECK_LIMITED : CHECK_OK,
			   "%s %s: %s%s", language, version,
			   why_not ? "native frames only, " : "its frames are in the stacks",
			   why_not ? why_not : "");
	python_image_free(python);
	ruby_image_free(ruby);
	return language != NULL;
}

/* The path in " libpython3.11.so.1.0 => /usr/lib/libpython3.11.so.1.0 (0x7f…)", or NULL. */
static char *library_of_line(char *line)
{
	char *path = strstr(line, "=> /");

	if (!path || !(strstr(line, "libpython") || strstr(line, "libruby")))
		return NULL;
	path += strlen("=> ");
	path[strcspn(path, " \n")] = '\0';
	return path;
}

/* For programs whose interpreter is in a shared library. */
static void check_libraries(struct checks *checks, const char *program)
{
	char *const arguments[] = { (char *)DYNAMIC_LINKER, (char *)"--list", (char *)program,
				    NULL };
	char *const environment[] = { (char *)"LC_ALL=C", NULL };
	struct output_of output;
	char line[PATH_MAX + 256];
	bool is_found = false;

	if (output_of_start(arguments, environment, false, &output) < 0)
		return;
	while (output.lines && fgets(line, sizeof line, output.lines)) {
		const char *path = is_found ? NULL : library_of_line(line);

		is_found = is_found || (path && check_file(checks, program, path));
	}
	output_of_end(&output);
}

void found_check(struct checks *checks)
{
	struct found found = { 0 };

	search_path(&found);
	for (size_t i = 0; i < found.count; i++) {
		/*
		 * Neither: a script that starts an interpreter (pyenv, rbenv), or another
		 * implementation.
		 */
		if (!check_file(checks, found.paths[i], found.paths[i]))
			check_libraries(checks, found.paths[i]);
		free(found.paths[i]);
	}
	free(found.paths);
}
