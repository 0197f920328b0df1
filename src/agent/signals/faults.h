/*
 * faults - handles SIGSEGV and SIGBUS so that loads of our handler may fault and go on.
 *
 * An interpreter's frames are in the heap, where nothing is known to stay mapped.  A copy by
 * the kernel costs a microsecond a page (memory.h); a load costs nothing, but its fault would
 * kill the program.  So each of our loads that may fault is listed (core/loads.h), with the address
 * at which to go on if it does, and the kernel's action for SIGSEGV and SIGBUS is a function
 * of ours that looks a fault up in the list.  Faults that are not listed go to the program's action
 * (fault_actions.h), as without us.
 *
 * The first walk that needs this begins it, once an interpreter has been found in the process.
 * (docs/decisions/0004-reading-memory.md)
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"

struct mem;

/* Whether the process has an interpreter, whose frames walks load from the heap. */
bool faults_are_wanted(void);
/*
 * In our handler, whose stack pointer is `here` and which has interrupted mem->context: whether
 * loads may fault until it returns.  Costs a system call, or two.
 */
bool faults_may_come(const struct mem *mem, u64 here);

/* At our handler's end: has signals that were put off meanwhile delivered when it returns. */
void faults_end_trap(void);
