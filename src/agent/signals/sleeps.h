/*
 * sleeps - lets poll(), nanosleep() and their like go on after SIGSTOP and SIGCONT.
 */
#pragma once
#include <ucontext.h>

#include "agent/signals/signals.h"

/*
 * In the handler, right behind a noted call that has failed with EINTR while no signal is pending:
 * repeats it if only our trap can have ended it.  blocked: the signals that it did not let in.
 */
void sleeps_begin_anew(const struct wait *wait, u64 blocked, ucontext_t *context);
/* The same where the kernel is about to resume the call, which would fail after our handler. */
void sleeps_go_on(const struct wait *wait, ucontext_t *context);
