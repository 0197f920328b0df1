/*
 * ignored - signals that the program ignores are not blocked by our handler.
 *
 * The kernel drops a signal that is ignored, and so sends none of SIGCHLD, SIGWINCH, SIGURG
 * and SIGCONT to processes without a handler for them; but not while it is blocked, since code that
 * unblocks it may have a handler by then (kernel/signal.c, sig_ignored).  Our handler blocks
 * all.  So a child that ended while the thread that had made it was in there left a SIGCHLD
 * to the process, which woke another thread to take it: that one's epoll_wait(), sigwaitinfo()
 * or semop() failed with EINTR, and its poll() too, where a trap had come as well.
 *
 * What is ignored is looked up before the process has threads, and kept from then on: where
 * there is one thread, no other thread is woken.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>

#include "abi/types.h"

/* Not to be blocked by our handler. */
u64 ignored_signals(void);
/* Its mask has been made so; false if they are others by now. */
bool ignored_are_let_in(u64 signals);
/*
 * Around a change of a signal's action by the program, which is to have this handler (or
 * SIG_DFL, SIG_IGN): before it is made, and when it has been.  No handler of the program's is
 * to find ours on its stack.
 */
void ignored_before(int signal, sighandler_t handler);
void ignored_after(int signal, sighandler_t handler);
/* Those that have had a handler of the program's, now or before. */
u64 ignored_ever_handled(void);
/* A thread is about to be made: from now on our handler's mask is right. */
void ignored_before_thread(void);
/* In our handler: has its mask be right from the next time on.  libc makes threads, too. */
void ignored_look(void);
