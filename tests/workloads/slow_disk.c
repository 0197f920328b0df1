/*
 * slow_disk - a library to be preloaded: while the file that SLOW_DISK names is there, each
 * fsync() and fdatasync() takes three seconds.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DELAY_S 3

static void delay(void)
{
	const char *name = getenv("SLOW_DISK");
	struct timespec left = { .tv_sec = DELAY_S };

	if (name != NULL && access(name, F_OK) == 0)
		while (nanosleep(&left, &left) < 0 && errno == EINTR)
			;
}

int fsync(int fd)
{
	delay();
	return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	delay();
	return (int)syscall(SYS_fdatasync, fd);
}
