/*
 * sleeps - calls that wait, and go on after the program was stopped and continued.
 */
#pragma once
#include <ucontext.h>

#include "agent/signals/signals.h"

/*
 * In the handler, right behind a noted call that has failed with EINTR, no signal being
 * pending: has it go on if our trap alone can have ended it.  blocked: what it did not let in.
 */
void sleeps_begin_anew(const struct wait *wait, u64 blocked, ucontext_t *context);
/* The same where the kernel had put it back already: that would fail when ours has run. */
void sleeps_go_on(const struct wait *wait, ucontext_t *context);
