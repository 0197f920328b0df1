#include "doctor/found.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "doctor/checks.h"
#include "target/python.h"
#include "target/ruby.h"

#define GROUP "interpreters"

/* More than a PATH of many versions has. */
#define FOUND_MAX 64

#if defined(__x86_64__)
#define DYNAMIC_LINKER "/lib64/ld-linux-x86-64.so.2"
#elif defined(__aarch64__)
#define DYNAMIC_LINKER "/lib/ld-linux-aarch64.so.1"
#endif

struct found {
	char *paths[FOUND_MAX]; /* real ones: each program once */
	size_t count;
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

static void found_add(struct found *found, const char *folder, const char *name)
{
	CLEANUP(freep) char *path = xasprintf("%s/%s", folder, name);
	char *real = access(path, X_OK) == 0 ? realpath(path, NULL) : NULL;

	for (size_t i = 0; real && i < found->count; i++) {
		if (strcmp(found->paths[i], real) == 0) {
			free(real);
			return;
		}
	}
	if (real && found->count < FOUND_MAX)
		found->paths[found->count++] = real;
	else
		free(real);
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

/* An interpreter in the file at path; false if there is none. */
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

static int spawn_linker(const char *program, pid_t *out_pid)
{
	char *const arguments[] = { (char *)DYNAMIC_LINKER, (char *)"--list", (char *)program,
				    NULL };
	char *const environment[] = { (char *)"LC_ALL=C", NULL };
	posix_spawn_file_actions_t actions;
	int ends[2];

	if (pipe(ends) < 0)
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	const int rc =
		posix_spawn(out_pid, DYNAMIC_LINKER, &actions, NULL, arguments, environment);

	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (rc != 0)
		close(ends[0]);
	return rc ? -rc : ends[0];
}

/* "	libpython3.11.so.1.0 => /usr/lib/libpython3.11.so.1.0 (0x7f…)": the path, or NULL. */
static char *library_of_line(char *line)
{
	char *path = strstr(line, "=> /");

	if (!path || !(strstr(line, "libpython") || strstr(line, "libruby")))
		return NULL;
	path += strlen("=> ");
	path[strcspn(path, " \n")] = '\0';
	return path;
}

/* The interpreter is in a library of the program's. */
static bool check_libraries(struct checks *checks, const char *program)
{
	pid_t pid;
	const int fd = spawn_linker(program, &pid);
	FILE *lines = fd < 0 ? NULL : fdopen(fd, "r");
	char line[PATH_MAX + 256];
	bool is_found = false;

	while (lines && fgets(line, sizeof line, lines)) {
		const char *path = is_found ? NULL : library_of_line(line);

		is_found = is_found || (path && check_file(checks, program, path));
	}
	if (lines)
		fclose(lines);
	if (fd >= 0)
		waitpid(pid, NULL, 0);
	return is_found;
}

void found_check(struct checks *checks)
{
	struct found found = { 0 };

	search_path(&found);
	for (size_t i = 0; i < found.count; i++) {
		/* Others are scripts that start one (pyenv, rbenv), or other implementations. */
		if (!check_file(checks, found.paths[i], found.paths[i]))
			check_libraries(checks, found.paths[i]);
		free(found.paths[i]);
	}
}
