/*
 * trace_near - jumps to us that an image can reach by a distance of 32 bits.
 */
#pragma once
#include "abi/types.h"

/* A jump is so many bytes behind the one before it. */
#define TRACE_NEAR_STEP 16U

/*
 * A page below `start`, as near as there is room, with a jump to each of the targets.  0: there
 * is none, or what is written may not be executed.
 */
u64 trace_near_jumps(u64 start, const u64 *targets, u32 count);
