/*
 * debugger - interposes ptrace(): turns our traps off before a debugger comes.
 *
 * A debugger starts a program by PTRACE_TRACEME in its child, and counts the SIGTRAPs of the
 * exec that follows: one of ours would be one too many.  strace seizes a child that it has
 * forked, and shows the signals it gets.  The recorder would see the tracer, but not that soon.
 */
#include <errno.h>
#include <stdarg.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "abi/handshake.h"
#include "agent/core/own_process.h"
#include "agent/core/own_ring.h"
#include "agent/core/handshake.h"
#include "agent/signals/interposed.h"
#include "agent/core/mechanism.h"

static bool begins_tracing(enum __ptrace_request request)
{
	return request == PTRACE_TRACEME || request == PTRACE_SEIZE || request == PTRACE_ATTACH;
}

/* True if the caller's own traps are off now. */
static bool yield(enum __ptrace_request request, pid_t pid)
{
	MECHANISMS_DO(make_handshake, ());
	/* A vfork child has no events, and its memory is its parent's. */
	if (own_ring.header == NULL || agent_is_of_another())
		return false;
	if (request == PTRACE_TRACEME)
		return handshake_stop(HANDSHAKE_DEBUGGER);
	/* The recorder turns the traps on again in a second if no tracer comes. */
	handshake_yield_to_debugger((u32)pid);
	return false;
}

AGENT_EXPORT long ptrace(enum __ptrace_request request, ...)
{
	va_list list;

	va_start(list, request);
	const pid_t pid = va_arg(list, pid_t);
	void *address = va_arg(list, void *);
	void *data = va_arg(list, void *);

	va_end(list);
	const bool is_stopped = begins_tracing(request) && yield(request, pid);
	const long rc = HOOK_NEXT(ptrace)(request, pid, address, data);
	const int saved_errno = errno;

	if (is_stopped && rc < 0)
		handshake_resume();
	errno = saved_errno;
	return rc;
}
