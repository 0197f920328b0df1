/*
 * handshake - hello to the recorder, and the ring from it, in bounded time.
 *
 * Not for handlers.  Whatever fails, the process runs on unsampled.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

/*
 * Says hello on the socket the environment names. Leaves own_ring.header set, or
 * not; with a reason (abi/handshake.h), not.
 */
void handshake_run(u32 occasion, u32 reason);
/*
 * Asks not to be sampled any more, 0.25 s at most.  True: the events are off, and no trap
 * comes to the calling thread after this returns; another thread may still have one when it
 * returns from the system call it is in.  Not for handlers, nor for a vfork child, whose
 * events (it has none) and memory are its parent's: callers look at own_process.pid.
 */
bool handshake_stop(u32 reason);
/* The same of a vfork child, of which nothing is to be stopped: it waits for the answer. */
void handshake_report_exec(u32 reason);
/* What it stopped for is over, or has failed: it may be sampled again. */
void handshake_resume(void);
/* Has the recorder look for interpreters among what was loaded since the start. */
void handshake_report_loaded(void);
/* Asks that the traps of another process, which the caller is about to trace, go off. */
void handshake_yield_to_debugger(u32 target);
/*
 * The ring is not written to any more, as far as handlers know of it.  Its memory is the process's
 * own from then on, and the next ring's place: a handler may be at work in it still.
 */
void handshake_leave(void);
/* Forgets the ring, which is the parent's, in a child of fork. */
void handshake_forget(void);
