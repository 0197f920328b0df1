/*
 * cpu_timer - makes timers of a thread's CPU clock that send it SIGTRAP.
 *
 * By system calls, past libc.  The kernel checks such timers in its tick; a child of fork has
 * none of its parent's, and exec deletes them.
 */
#pragma once
#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include "abi/types.h"

/*
 * Makes a timer, not begun, of the CPU clock of thread tid, which gets its signal; 0 or -errno.
 * mark: an address that distinguishes its signal from those of the program's timers.
 */
long cpu_timer_make(clockid_t clock, int tid, const void *mark, int *out_timer);
/* The same for the calling thread; false: refused. */
bool cpu_timer_make_own(const void *mark, int *out_timer);
/* Arms it: the signal comes when the clock has advanced by first_ns, then by every_ns (0: once). */
long cpu_timer_begin(int timer, u64 first_ns, u64 every_ns);
void cpu_timer_delete(int timer);
bool cpu_timer_is_of(const siginfo_t *info, const void *mark);
