/*
 * delayed_handshake - delays a handshake by a period of CPU time, where siblings were brief.
 *
 * Most children of a shell in a loop end sooner than a sample of them is due: for these a
 * handshake, a ring and events are waste.  Where the recorder sees that a process's children are
 * brief, it sets delayed_handshakes in the process's ring; later children, by fork and by exec, then
 * arm a timer of the thread's CPU clock and make the handshake when it expires, in its handler.
 * They make it at once when something is about to happen that the recorder has to know of:
 * another thread, a filter of system calls, a debugger, a region.
 *
 * The kernel gives a child none of its parent's timers, and exec deletes them.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>

#include "abi/types.h"

/*
 * Delays the handshake until the calling thread has used period_ns more of CPU time; till then
 * own_handshake.is_due.  Returns true.
 */
bool delayed_handshake_begin(u32 occasion, u64 period_ns);
/* Makes the handshake now, if it is due; not in a vfork child (its parent's memory). */
void delayed_handshake_now(void);
/* Deletes the timer, so that no trap of it comes any more; makes it again. */
void delayed_handshake_hold(void);
void delayed_handshake_go_on(void);
/* In a child of fork: forgets its parent's delayed handshake. */
void delayed_handshake_forget(void);
/* In the handler: whether the signal is the timer's; makes the handshake. */
bool delayed_handshake_is_timer(const siginfo_t *info);
void delayed_handshake_take(void);
