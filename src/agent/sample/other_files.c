/*
 * other_files - interposes chroot() and its like: makes a late handshake before other files are
 * seen.
 *
 * A late handshake looks for the recorder's socket when it is due (late_hello.h), and another
 * root directory or mount namespace may not have that.  seccomp.c does the same for syscall().
 */
#include <sched.h>
#include <unistd.h>

#include "agent/sample/interposed.h"
#include "agent/sample/late_hello.h"

AGENT_EXPORT int chroot(const char *path)
{
	late_hello_now();
	return HOOK_NEXT(chroot)(path);
}

AGENT_EXPORT int unshare(int flags)
{
	late_hello_now();
	return HOOK_NEXT(unshare)(flags);
}

AGENT_EXPORT int setns(int fd, int kind)
{
	late_hello_now();
	return HOOK_NEXT(setns)(fd, kind);
}
