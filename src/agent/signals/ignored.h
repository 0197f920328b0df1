/*
 * ignored - keeps signals that the program ignores unblocked while our handler runs.
 *
 * The kernel drops a signal that is ignored, and so sends none of SIGCHLD, SIGWINCH, SIGURG and
 * SIGCONT to processes without a handler for them; but not while it is blocked, since code that
 * unblocks it may have a handler by then (kernel/signal.c, sig_ignored).  Our handler blocks
 * all.  So when a child ended while the thread that had made it was in our handler, SIGCHLD
 * stayed pending for the process and woke another thread to take it: that thread's epoll_wait(),
 * sigwaitinfo() or semop() failed with EINTR, and its poll() too, where a trap had come as well.
 *
 * The ignored signals are looked up before the process has a second thread, and kept up to date
 * from then on: with one thread there is no other to be woken.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>

#include "abi/types.h"

/* The signals that our handler is not to block. */
u64 ignored_signals(void);
/* Our handler was installed with these unblocked; false if others are ignored by now. */
bool ignored_are_let_in(u64 signals);
/*
 * Called before and after the program sets a signal's action to this handler (or SIG_DFL,
 * SIG_IGN).  A signal with a handler must be blocked in ours, so that no handler of the
 * program's interrupts it.
 */
void ignored_before(int signal, sighandler_t handler);
void ignored_after(int signal, sighandler_t handler);
/* The signals that have, or have ever had, a handler of the program's. */
u64 ignored_ever_handled(void);
/* A thread is about to be created: looks up the ignored signals, and installs our handler so. */
void ignored_before_thread(void);
/* In our handler: corrects its mask for the next time, since libc creates threads, too. */
void ignored_look(void);
