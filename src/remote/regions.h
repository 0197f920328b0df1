/*
 * regions - inserts the regions that a waiting thread has open into its stack.
 *
 * The agent keeps regions in the target's memory (walk/regions.h) for its own walks, where they
 * are read from outside. Each goes inside the frame that began it, as in those walks.
 */
#pragma once
#include <stdint.h>
#include <sys/types.h>

struct remote;
struct remote_stack;

/*
 * area: address of the agent's regions, any number; 0: none. inner_tid: the thread's id in its
 * own PID namespace. Unreadable regions are skipped.
 */
void remote_regions_add(struct remote *remote, uint64_t area, pid_t inner_tid,
			struct remote_stack *stack);
