#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/memory.h"

static int open_looked_at(const char *path, int flags, struct stat *out_about)
{
	/* O_PATH only resolves the path: no driver or lock notices. */
	CLEANUP(closep) int there = open(path, O_PATH | O_CLOEXEC | flags);
	struct stat about;
	char link[32];

	if (there < 0 || fstat(there, &about) < 0)
		return -errno;
	if (!S_ISREG(about.st_mode))
		return -EINVAL;
	snprintf(link, sizeof link, "/proc/self/fd/%d", there);
	/* O_NONBLOCK: do not wait for another program's file lease. */
	int fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -errno;
	if (out_about)
		*out_about = about;
	return fd;
}

int regular_file_open(const char *path, struct stat *out_about)
{
	return open_looked_at(path, 0, out_about);
}

int regular_file_open_unlinked(const char *path, struct stat *out_about)
{
	return open_looked_at(path, O_NOFOLLOW, out_about);
}
