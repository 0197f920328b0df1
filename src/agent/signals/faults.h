/*
 * faults - loads that cannot kill.
 *
 * An interpreter's frames lie in the heap, where nothing is known to stay mapped.  A copy by
 * the kernel costs a microsecond a page (memory.h); a load costs nothing, but its fault would
 * be the program's death.  So each of our loads that may fault is listed (core/loads.h), by its instruction
 * and where to go on if it does, and the kernel's action for SIGSEGV and SIGBUS is a function
 * of ours that looks a fault up there.  What is not listed is handled by the program's action
 * (fault_actions.h), as if we were not there.
 *
 * None of this is begun before an interpreter has been found in the process, and then by the
 * first walk that needs it.  (docs/decisions/0004-reading-memory.md)
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct mem;

/* Whether there is something in this process whose walks load from the heap. */
bool faults_are_wanted(void);
/*
 * In our handler, which stands at `here` on its stack and has interrupted mem->context: whether
 * loads may fault until it returns.  Costs a system call, or two.
 */
bool faults_may_come(const struct mem *mem, u64 here);

/* At its end: what was sent meanwhile is delivered when it returns. */
void faults_end_trap(void);
