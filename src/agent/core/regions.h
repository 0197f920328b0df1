/*
 * regions - keeps the program's named regions, and puts them into stacks as frames.
 *
 * An open region is a frame of its own: called by the frame that began it, and the caller of
 * what that frame calls.  So it is kept with the position of that frame:
 *
 *   native  an address within the frame: its stack pointer.
 *   Python  the frame's address and its code, and those of some callers: a function that begins
 *           a region for its caller (ExitStack.enter_context()) has returned by the time of a
 *           walk, and another frame may be at its address.
 *   Ruby    the address of its control frame.
 *
 * Regions of a frame that is not on the stack now (of a coroutine that waits, of another fiber)
 * are not shown meanwhile.
 *
 * Each thread writes its regions; its own handler reads them, and while the thread waits the
 * recorder does.  Nothing locks or allocates.  Regions beyond the limits are not reported.
 */
#pragma once
#include <stdbool.h>

#include "abi/types.h"
#include "agent/core/memory.h"
#include "walk/regions.h"

struct mem;
struct walk;

#define REGION_NAME_MAX 200U /* bytes: what is longer is cut */

/* The code objects of the Python functions that began a region, innermost first. */
#define REGION_ASKING 6U
struct region_asking {
	u32 count;
	u64 codes[REGION_ASKING];
};

/* The calling thread's open regions; NULL: none. */
extern __thread struct regions *regions_own;

/* Begins a region; NULL if there is no room to keep it. */
const struct region *regions_begin(const struct region_place *place, const char *name,
				   u64 length);
/*
 * Ends the innermost region of this name that was begun in this frame; if there is none, one that
 * was begun for a function that is on this stack; if there is none, the innermost of this name
 * (length 0: of any).  Returns its serial, or 0 if there is no such region.
 */
u64 regions_end(const struct region_place *place, const char *name, u64 length);
/* Sends a name to the recorder and returns its key; sets walk->is_lost if there is no room. */
u64 regions_name(struct walk *walk, const struct region_name *name);
/* The address of a struct regions_area, which the recorder reads for threads that wait. */
u64 regions_address(void);
/* In a child of fork: frees the slots of the parent's other threads. */
void regions_forget_others(void);

void regions_begin_walk(struct walk *walk);
/*
 * Adds the regions of the native frame whose word was stored last (is_leaf: it is the leaf, and
 * has no word so far) and which reaches from sp to cfa.
 */
void regions_meet_native(struct walk *walk, u64 sp, u64 cfa, bool is_leaf);
/* Adds the regions of a Python frame that is about to be stored. */
void regions_meet_python(struct walk *walk, u64 frame, u64 code);
/* The word of the region that replaces a method's control frame; 0: there is none. */
u64 regions_meet_ruby(struct walk *walk, u64 frame);
/* Regions whose frame was not found become outermost if the walk was cut, or that is unknown. */
void regions_end_walk(struct walk *walk);
