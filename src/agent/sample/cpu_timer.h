/*
 * cpu_timer - a timer of a thread's CPU clock, whose signal is our trap.
 *
 * By system calls: libc knows nothing of it.  The kernel looks at such timers in its tick; a child of
 * fork has none of its parent's, and exec deletes them.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include "abi/types.h"

/*
 * Not begun: of a clock that only tid's running moves; 0 or -errno.  mark: an address by which its
 * signal is known from those of the program's timers.
 */
long cpu_timer_make(clockid_t clock, int tid, const void *mark, int *out_timer);
/* Of the calling thread. */
bool cpu_timer_make_own(const void *mark, int *out_timer);
/* Comes once the clock has advanced by so much, and each time it has by every_ns (0: once). */
long cpu_timer_begin(int timer, u64 first_ns, u64 every_ns);
void cpu_timer_delete(int timer);
bool cpu_timer_is_of(const siginfo_t *info, const void *mark);
