/*
 * regions - stretches of a program's time that it gives names, as frames on its stacks.
 *
 * A region that a thread has begun and not ended is a frame of its own: inside of the frame
 * that began it, outside of what this calls.  So it is kept with where that frame is:
 *
 *   native  an address within it: the stack pointer it had.
 *   Python  the frame's address and its code, and those of some that called it: a function that
 *           begins a region for its caller (ExitStack.enter_context()) has returned when the
 *           region is walked by, and another one may stand at its address.
 *   Ruby    the address of its control frame.
 *
 * A frame that is not on the stack now (a coroutine that waits, another fiber) has its regions
 * with it: they are not in what the thread does meanwhile.
 *
 * One thread writes its regions, and its own handler reads them, and while it waits the recorder:
 * nothing is locked, and nothing allocates.  What is full is not reported.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"
#include "agent/core/memory.h"
#include "walk/regions.h"

struct mem;
struct walk;

#define REGION_NAME_MAX 200U /* bytes: what is longer is cut */

/* The Python functions that ask for a region to begin, innermost first: their code objects. */
#define REGION_ASKING 6U
struct region_asking {
	u32 count;
	u64 codes[REGION_ASKING];
};

/* The calling thread's; NULL: it has none open. */
extern __thread struct regions *regions_own;

/* The region that was begun, or NULL if it cannot be kept. */
const struct region *regions_begin(const struct region_place *place, const char *name,
				   u64 length);
/*
 * Ends the innermost region of this name that was begun in this frame; if there is none, one that
 * was begun for a function that is on this stack; if there is none, the innermost of this name
 * (length 0: of any).  Its serial, or 0 if there is no such region.
 */
u64 regions_end(const struct region_place *place, const char *name, u64 length);
/* The key of a name, which is reported to the recorder; if it cannot be, walk->is_lost. */
u64 regions_name(struct walk *walk, const struct region_name *name);
/* Where they are: a struct regions_area, which the recorder reads of threads that wait. */
u64 regions_address(void);
/* In a child of fork: the other threads are not there. */
void regions_forget_others(void);

void regions_begin_walk(struct walk *walk);
/*
 * The native frame whose word was stored last (is_leaf: it is the leaf, and has none so far)
 * reaches from sp to cfa.
 */
void regions_meet_native(struct walk *walk, u64 sp, u64 cfa, bool is_leaf);
/* A Python frame is about to be stored. */
void regions_meet_python(struct walk *walk, u64 frame, u64 code);
/* The word of the region that stands for a method's control frame; 0: there is none. */
u64 regions_meet_ruby(struct walk *walk, u64 frame);
/* Where the walk did not come to the end, regions that were not met are outside of all. */
void regions_end_walk(struct walk *walk);
