#include "cli/debian_package.h"

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define LISTS "/var/lib/dpkg/info/"

/* Packages built before /lib became /usr/lib list the shorter path. */
static bool is_listed(const char *line, const char *path)
{
	return strcmp(line, path) == 0 ||
	       (strncmp(path, "/usr/", 5) == 0 && strcmp(line, path + 4) == 0);
}

static bool lists(const char *list, const char *path)
{
	FILE *file = fopen(list, "re");
	char *line = NULL;
	size_t capacity = 0;
	bool is_found = false;

	while (file && !is_found && getline(&line, &capacity, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		is_found = is_listed(line, path);
	}
	free(line);
	if (file)
		fclose(file);
	return is_found;
}

char *debian_package_of(const char *path)
{
	glob_t found = { 0 };
	char *package = NULL;
	CLEANUP(freep) char *real = realpath(path, NULL);

	if (glob(LISTS "*.list", GLOB_NOSORT, NULL, &found) != 0)
		return NULL;
	for (size_t i = 0; i < found.gl_pathc && !package; i++) {
		if (lists(found.gl_pathv[i], path) || (real && lists(found.gl_pathv[i], real)))
			package = xstrdup(found.gl_pathv[i] + strlen(LISTS));
	}
	globfree(&found);
	/* "libz3-4:amd64.list" */
	if (package)
		package[strcspn(package, ":")] = '\0';
	char *suffix = package ? strstr(package, ".list") : NULL;

	if (suffix)
		*suffix = '\0';
	return package;
}
