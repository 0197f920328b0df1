/*
 * altstack - a signal stack that is too small for our trap is replaced by a larger one.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "abi/types.h"

/*
 * What our handler writes below the kernel's frame of the signal, at most: measured 1.1 KiB
 * (tests/live/test_stacks.py).
 */
#define AGENT_STACK_NEED 2048

/* In the constructor. */
void altstack_begin(void);
/* What the kernel writes to a stack for one signal, with all registers there are. */
size_t altstack_frame_bytes(void);
/* Whether an address is on the stack for signals that the calling thread has now. */
bool altstack_holds(u64 address);
