#include "record/lock.h"

#include <errno.h>
#include <fcntl.h>
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
