/*
 * regions - the regions that a thread which waits has open, among the frames of its stack.
 *
 * The agent keeps them in the target's memory (walk/regions.h), for its own walks; they are read
 * there.  Each stands inside of the frame that it was begun in, as in those walks.
 */
#pragma once
#include <stdint.h>
#include <sys/types.h>

struct remote;
struct remote_stack;

/*
 * area: where the agent keeps them, any number; 0: nowhere.  inner_tid: the thread's id in its own
 * pid namespace.  What cannot be read has no regions.
 */
void remote_regions_add(struct remote *remote, uint64_t area, pid_t inner_tid,
			struct remote_stack *stack);
