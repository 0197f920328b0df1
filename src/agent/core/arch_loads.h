/*
 * arch_loads - the list of loads that may fault (signals/faults.h).
 */
#pragma once

/* A section of the agent; the linker defines __start_ and __stop_ symbols for its ends. */
#define ARCH_LOADS_SECTION "fathom_loads"

/*
 * Lists the instruction, with the address at which to go on if it faults.  The handler of the fault
 * then sets the load's flag `has_failed` (arch_fail_load()) and resumes there.
 */
#define ARCH_GUARDED(instruction)                      \
	"1: " instruction "\n2:\n"                     \
	".pushsection " ARCH_LOADS_SECTION ", \"a\"\n" \
	".balign 4\n"                                  \
	".long 1b - ., 2b - .\n"                       \
	".popsection\n"
