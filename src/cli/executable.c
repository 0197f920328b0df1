#include "cli/executable.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

/* What execvp() searches if PATH is not set (glibc's confstr(_CS_PATH)). */
#define DEFAULT_PATH "/bin:/usr/bin"

static int check_file(const char *path)
{
	struct stat about;

	if (stat(path, &about) < 0)
		return -errno;
	if (S_ISDIR(about.st_mode))
		return -EISDIR;
	return access(path, X_OK) < 0 ? -errno : 0;
}

/* A file without execute permission does not end the search, but sets the error. */
static int check_path(const char *name)
{
	const char *path = getenv("PATH");
	int found = -ENOENT;

	if (!path)
		path = DEFAULT_PATH;
	for (;;) {
		size_t len = strcspn(path, ":");
		CLEANUP(freep)
		char *file = xasprintf("%.*s%s%s", (int)len, path, len ? "/" : "./", name);
		int rc = check_file(file);

		if (rc == 0)
			return 0;
		if (rc == -EACCES)
			found = -EACCES;
		if (path[len] == '\0')
			return found;
		path += len + 1;
	}
}

/* The prefix with which to run a file of the current folder, which PATH lacks. */
static const char *runner_of(const char *name)
{
	const char *suffix = strrchr(name, '.');

	if (suffix && strcmp(suffix, ".py") == 0)
		return "python3 ";
	return suffix && strcmp(suffix, ".rb") == 0 ? "ruby " : "./";
}

int executable_check(const char *name, struct error *err)
{
	int rc = strchr(name, '/') ? check_file(name) : check_path(name);

	if (*name == '\0')
		rc = -ENOENT;
	if (rc == 0)
		return 0;
	if (rc == -ENOENT && !strchr(name, '/') && *name && access(name, F_OK) == 0)
		return error_set(err, -ENOENT,
				 "cannot run '%s': no such command in PATH; the file in this "
				 "folder is run by '%s%s'",
				 name, runner_of(name), name);
	if (rc == -ENOENT && !strchr(name, '/'))
		return error_set(err, -ENOENT, "cannot run '%s': no such command in PATH",
				 name);
	error_errno(err, rc, "cannot run '%s'", name);
	return rc == -ENOENT || rc == -ENOTDIR ? -ENOENT : -EACCES;
}

char *executable_find_beside(const char *const *candidates)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);

	if (len < 0)
		return NULL;
	self[len] = '\0';
	char *slash = strrchr(self, '/');

	if (slash)
		*slash = '\0';
	for (size_t i = 0; candidates[i]; i++) {
		char *path = candidates[i][0] == '/' ? xstrdup(candidates[i])
						     : xasprintf("%s/%s", self, candidates[i]);

		if (access(path, R_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}
