/*
 * walk - the state of one walk of the calling thread's stack.
 *
 * sample/unwind.c makes the walk; layers that have frames of their own (interpreters, regions)
 * store them among the native ones as the walk passes them.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"
#include "abi/walk_status.h"

struct memory_copies;
struct native_scratch;
struct python_scratch;
struct regions;
struct ring_header;
struct ruby_scratch;

/* A thousand calls of a Python program, with five native frames for each (CPython up to 3.10). */
#define WALK_MAX_FRAMES 8192

/* The regions of the thread during a walk (regions.h). */
struct regions_walk {
	const struct regions *regions; /* NULL: there is nothing to do */
	u64 met;                       /* a bit for each that was placed */
	u64 leaf;                      /* the word of the region inside of the leaf; or 0 */
};

struct walk {
	struct ring_header *ring;
	u64 epoch;                    /* of the stack and names that are sent for it */
	struct native_scratch *rules; /* memory for finding unwind rules */
	struct memory_copies *copies; /* and for what is copied to be read */
	struct python_scratch *python;
	struct ruby_scratch *ruby;
	struct regions_walk regions;
	u64 *frames; /* callers, innermost first, as struct ring_stack has them */
	u64 leaf;    /* the address being executed */
	u64 sp;      /* and the stack pointer there */
	u32 count;
	u8 status;      /* enum walk_status */
	bool is_full;   /* there were more callers than there is room for */
	bool is_lost;   /* a frame's name could not be sent */
	bool is_astray; /* beyond the outermost frame is no address behind a call */
};

/* Stores a frame; false when there is no room. */
static inline bool walk_push(struct walk *walk, u64 frame)
{
	if (walk->count == WALK_MAX_FRAMES) {
		walk->is_full = true;
		return false;
	}
	walk->frames[walk->count++] = frame;
	return true;
}
