/*
 * late_hello - a process whose siblings were brief says hello once it has burned a period.
 *
 * Most children of a shell in a loop end sooner than a sample of them is due: for these a
 * hello, a ring and events are waste.  Where the recorder sees that of a process's children, it
 * says so in the process's ring (late_hellos); those to come, by fork and by exec, then arm a
 * timer of the thread's CPU clock and say hello when it expires, in its handler.  They do so at
 * once when something is about to happen that the recorder has to know of: another thread, a
 * filter of system calls, a debugger, a region.
 *
 * The kernel gives a child none of its parent's timers, and exec deletes them.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>

#include "abi/types.h"

/*
 * Says hello (abi/handshake.h) when the calling thread has burned period_ns more: till then
 * agent_hello.is_due.  True.
 */
bool late_hello_begin(u32 occasion, u64 period_ns);
/*
 * Says it now, if so.  Not in a vfork child, whose memory is its parent's: there it does
 * nothing.
 */
void late_hello_now(void);
/* No trap of the timer's comes any more; it may begin again. */
void late_hello_hold(void);
void late_hello_go_on(void);
/* In a child of fork: its parent's hello is not its own. */
void late_hello_forget(void);
/* In the handler: whether the signal is the timer's. */
bool late_hello_is_timer(const siginfo_t *info);
void late_hello_take(void);
