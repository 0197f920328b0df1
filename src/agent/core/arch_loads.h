/*
 * arch_loads - where a load is listed that may fault: faults.h.
 */
#pragma once

/* Of the agent; the linker names its two ends. */
#define ARCH_LOADS_SECTION "fathom_loads"

/*
 * The instruction stands in a table, with where to go on if it faults; then arch_fail_load()
 * has set the flag that the load is asked with.
 */
#define ARCH_GUARDED(instruction)                      \
	"1: " instruction "\n2:\n"                     \
	".pushsection " ARCH_LOADS_SECTION ", \"a\"\n" \
	".balign 4\n"                                  \
	".long 1b - ., 2b - .\n"                       \
	".popsection\n"
