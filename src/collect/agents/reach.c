#include "collect/agents/reach.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "collect/agents/user_rights.h"

#define PATH_SIZE (PATH_MAX + 64)

static const char in_other_root[] = "in another root directory (chroot, a container), where "
				    "fathom's agent cannot be loaded: "
				    "run fathom in there";
static const char without_our_files[] = "in a mount namespace without fathom's files: set "
					"TMPDIR to a folder that is there, too";
static const char of_other_user[] =
	"its user may not read fathom's agent: install fathom where "
	"every user can read it";

/* stat(2) in the process's own root; symbolic links are followed as the recorder sees them. */
static int stat_in_root(pid_t pid, const char *path, struct stat *out_status)
{
	char whole[PATH_SIZE];

	if ((size_t)snprintf(whole, sizeof whole, "/proc/%d/root%s", (int)pid, path) >=
	    sizeof whole)
		return -ENAMETOOLONG;
	return stat(whole, out_status) < 0 ? -errno : 0;
}

static bool is_missing(pid_t pid, const char *path)
{
	struct stat status;
	const int rc = path == NULL ? 0 : stat_in_root(pid, path, &status);

	return rc == -ENOENT || rc == -ENOTDIR;
}

const char *reach_why_not(pid_t pid, const struct reach_paths *paths)
{
	const bool is_cut_off = is_missing(pid, paths->agent) || is_missing(pid, paths->socket);
	struct stat ours, its;

	/* Read last: only if the process still exists the results above count. */
	if (stat("/", &ours) < 0 || stat_in_root(pid, "/", &its) < 0)
		return NULL;
	if (ours.st_dev != its.st_dev || ours.st_ino != its.st_ino)
		return in_other_root;
	if (is_cut_off)
		return without_our_files;
	return paths->agent != NULL && user_rights_forbid_reading(pid, paths->agent)
		       ? of_other_user
		       : NULL;
}
