/*
 * other_files - interposes chroot() and its like: makes a delayed handshake before.
 *
 * A delayed handshake looks for the recorder's socket when it is due (delayed_handshake.h), and another
 * root directory or mount namespace may not have that.  seccomp.c does the same for syscall().
 */
#include <sched.h>
#include <unistd.h>

#include "agent/sample/interposed.h"
#include "agent/sample/delayed_handshake.h"

AGENT_EXPORT int chroot(const char *path)
{
	delayed_handshake_now();
	return HOOK_NEXT(chroot)(path);
}

AGENT_EXPORT int unshare(int flags)
{
	delayed_handshake_now();
	return HOOK_NEXT(unshare)(flags);
}

AGENT_EXPORT int setns(int fd, int kind)
{
	delayed_handshake_now();
	return HOOK_NEXT(setns)(fd, kind);
}
