/*
 * namespaces - ends sampling before dlmopen() loads libraries with a C library of their own.
 *
 * A library that dlmopen() loads into another namespace calls that namespace's libc, which we do
 * not interpose: its threads block our trap, its sigwait() takes the trap, its exec lets the trap
 * kill the next image, and a handler that it sets for SIGTRAP is in the kernel without our
 * knowledge.  The agent is not preloaded there, either.  So sampling ends.
 */
#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

#include "abi/handshake.h"
#include "agent/core/own_process.h"
#include "agent/core/own_ring.h"
#include "agent/core/handshake.h"
#include "agent/core/interposed.h"
#include "agent/core/mechanism.h"

/*
 * libc uses the RUNPATH and $ORIGIN of the image that it is called from, by its return address.
 * That must be the program's, so libc's function is jumped to, not called.  (test_programs.py
 * checks it.)
 */
AGENT_EXPORT void *dlmopen(Lmid_t namespace, const char *file, int mode)
{
	const int saved_errno = errno;

	if (namespace != LM_ID_BASE)
		MECHANISMS_DO(make_handshake, ());
	if (namespace != LM_ID_BASE && own_ring.header != NULL && !agent_is_of_another())
		handshake_stop(HANDSHAKE_SECOND_LIBC);
	errno = saved_errno;
	return HOOK_NEXT(dlmopen)(namespace, file, mode);
}
