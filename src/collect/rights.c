#include "collect/rights.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

/* Digits of more than 300 groups beside the lines before. */
#define STATUS_SIZE 4096
#define MAY_READ    4
#define MAY_PASS    1

/* What /proc/PID/status says of a process: the effective user and group, and the others. */
struct rights {
	uid_t user;
	gid_t group;
	const char *groups; /* numbers, up to the end of the line */
};

static const char *value_of(const char *text, const char *key)
{
	const char *line = strstr(text, key);

	return line == NULL ? NULL : line + strlen(key);
}

static bool rights_parse(const char *text, struct rights *out_rights)
{
	const char *users = value_of(text, "\nUid:"), *group = value_of(text, "\nGid:");

	out_rights->groups = value_of(text, "\nGroups:");
	return users != NULL && group != NULL && out_rights->groups != NULL &&
	       strchr(out_rights->groups, '\n') != NULL &&
	       sscanf(users, "%*u %u", &out_rights->user) == 1 &&
	       sscanf(group, "%*u %u", &out_rights->group) == 1;
}

static bool is_in_group(const struct rights *rights, gid_t group)
{
	const char *at = rights->groups;

	if (rights->group == group)
		return true;
	while (*at == ' ' || *at == '\t' || (*at >= '0' && *at <= '9')) {
		char *end;
		const unsigned long number = strtoul(at, &end, 10);

		if (end == at)
			break;
		if (number == group)
			return true;
		at = end + strspn(end, " \t");
	}
	return false;
}

static bool may(const struct rights *rights, const struct stat *status, unsigned right)
{
	if (status->st_uid == rights->user)
		return (status->st_mode >> 6 & right) != 0;
	if (is_in_group(rights, status->st_gid))
		return (status->st_mode >> 3 & right) != 0;
	return (status->st_mode & right) != 0;
}

/* Each folder on the way, and the file; path is cut off and mended on the way. */
static bool is_forbidden(const struct rights *rights, char *path)
{
	struct stat status;

	for (char *at = strchr(path + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
		*at = '\0';
		const bool is_seen = stat(path, &status) == 0;
		*at = '/';

		if (!is_seen)
			return false;
		if (!may(rights, &status, MAY_PASS))
			return true;
	}
	return stat(path, &status) == 0 && !may(rights, &status, MAY_READ);
}

bool rights_forbid_reading(pid_t pid, const char *path)
{
	char name[64], text[STATUS_SIZE], whole[PATH_MAX];
	struct rights rights;

	snprintf(name, sizeof name, "/proc/%d/status", (int)pid);
	CLEANUP(closep) int fd = open(name, O_RDONLY | O_CLOEXEC);
	const ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (length <= 0 || path[0] != '/' || strlen(path) >= sizeof whole)
		return false;
	text[length] = '\0';
	strcpy(whole, path);
	return rights_parse(text, &rights) && rights.user != 0 && is_forbidden(&rights, whole);
}
