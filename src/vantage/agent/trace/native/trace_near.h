/*
 * trace_near - jumps to us that an image can reach by a distance of 32 bits.
 */
#pragma once
#include "abi/types.h"

/* A jump is so many bytes behind the one before it. */
#define TRACE_NEAR_STEP 16U

/* From the page to the other end of the image, at most: there is room for what is added to it. */
#define TRACE_NEAR_REACH ((1ULL << 31) - (1ULL << 20))

/*
 * A page with a jump to each of the targets, which all of [low, high) can reach: the next free
 * one below that, or where there is none above it (any that is found, where a filter may forbid
 * to ask).  0: there is none, or what is written may not be executed.
 */
u64 trace_near_jumps(u64 low, u64 high, const u64 *targets, u32 count);
