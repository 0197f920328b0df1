/*
 * handshake - registers this process with the recorder and maps the ring it gets, in bounded time.
 *
 * If anything fails, the process runs on unsampled.  None of this is for signal handlers, but for
 * handshake_run() in that of a delayed handshake's timer (sample/delayed_handshake.h).
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

/*
 * Makes the handshake on the socket that the environment names.  Sets own_ring.header if the
 * process is to be sampled or traced; with a reason (abi/handshake.h) it is not.
 */
void handshake_run(u32 occasion, u32 reason);
/*
 * Asks not to be sampled any more, and waits for the answer in bounded time (abi/handshake.h).
 * True: the events are off, and no trap comes to the calling thread after this returns; another
 * thread may still get one when it returns from its system call.  Not for a vfork child, which
 * has no events and shares its parent's memory: callers check agent_is_of_another().
 */
bool handshake_stop(u32 reason);
/* The same for the exec of a vfork child, which has no events to stop: it waits for the answer. */
void handshake_report_exec(u32 reason);
/* The reason for handshake_stop() is over, or the exec failed: asks to be sampled again. */
void handshake_resume(void);
/* Has the recorder look for interpreters among the libraries loaded since the start. */
void handshake_report_loaded(void);
/* Asks for no more traps to process `target`, which the caller is about to trace (ptrace(2)). */
void handshake_yield_to_debugger(u32 target);
/*
 * The recorder leaves: ends sampling.  The ring's memory becomes private to the process, and the
 * next ring is mapped in its place, since a handler may still be writing to it.
 */
void handshake_leave(void);
/* In a child of fork: forgets the ring, which is the parent's. */
void handshake_forget(void);
