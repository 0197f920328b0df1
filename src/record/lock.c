#include "record/lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The byte before SQLite's PENDING_BYTE (sqlite3 os.h: 0x40000000). */
#define LOCK_OFFSET 0x3fffffff

static struct flock lock_of(short type)
{
	return (struct flock){
		.l_type = type, .l_whence = SEEK_SET, .l_start = LOCK_OFFSET, .l_len = 1
	};
}

int lock_take(int fd)
{
	struct flock lock = lock_of(F_WRLCK);

	if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
		return 0;
	return errno == EACCES || errno == EAGAIN ? -EBUSY : -errno;
}

bool lock_is_taken(int fd)
{
	struct flock lock = lock_of(F_WRLCK);

	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static bool is_same_file(int fd, int other)
{
	struct stat here, there;

	return fstat(fd, &here) == 0 && fstat(other, &there) == 0 &&
	       here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/*
 * Whether another descriptor of this process has the file. Without /proc this is unknown: yes,
 * as a descriptor too many does less harm than a lock too few.
 */
static bool is_open_elsewhere(int fd)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	bool is_found = folder == NULL;

	while (!is_found && (entry = readdir(folder)) != NULL) {
		int other = entry->d_name[0] == '.' ? fd : atoi(entry->d_name);

		is_found = other != fd && is_same_file(fd, other);
	}
	if (folder != NULL)
		closedir(folder);
	return is_found;
}

void lock_close(int fd)
{
	struct flock lock = lock_of(F_UNLCK);

	fcntl(fd, F_OFD_SETLK, &lock);
	if (!is_open_elsewhere(fd))
		close(fd);
}

void lock_closep(int *fd)
{
	if (*fd >= 0)
		lock_close(*fd);
}
