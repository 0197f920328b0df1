#include "collect/agents/user_rights.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "collect/system/process_stat.h"

#define MAY_READ 4
#define MAY_PASS 1

static bool may(const struct process_status *process, const struct stat *status, unsigned right)
{
	if (status->st_uid == process->user)
		return (status->st_mode >> 6 & right) != 0;
	if (process_status_has_group(process, status->st_gid))
		return (status->st_mode >> 3 & right) != 0;
	return (status->st_mode & right) != 0;
}

/* Checks each folder on the path, and the file; path is cut and restored meanwhile. */
static bool is_forbidden(const struct process_status *process, char *path)
{
	struct stat status;

	for (char *at = strchr(path + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
		*at = '\0';
		const bool is_seen = stat(path, &status) == 0;
		*at = '/';

		if (!is_seen)
			return false;
		if (!may(process, &status, MAY_PASS))
			return true;
	}
	return stat(path, &status) == 0 && !may(process, &status, MAY_READ);
}

bool user_rights_forbid_reading(pid_t pid, const char *path)
{
	struct process_status process;
	char whole[PATH_MAX];

	if (path[0] != '/' || strlen(path) >= sizeof whole ||
	    !process_status_read(pid, &process) || !process.has_all_groups || process.user == 0)
		return false;
	strcpy(whole, path);
	return is_forbidden(&process, whole);
}
