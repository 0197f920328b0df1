/*
 * idle - finds threads that waited for something to do, at one place, for nearly all of their
 * lives: unused threads of a pool, shells that wait for their commands.
 *
 * A thread is not idle if it waits for an answer (from a file, or a peer that its program
 * connected to), or for something that another thread holds (a lock, an interpreter). The first
 * thread of the program itself is not idle if all others are.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "profile/ids.h"

struct profile;

struct idle {
	size_t threads; /* of a wall recording or a part of it; 0 for other clocks */
	uint64_t ns;    /* their lives, summed */
};

struct idle idle_find(const struct profile *profile);
/*
 * By thread id, 0 for none: the stack in which an idle thread waited; none: not idle. The
 * caller frees it.
 */
struct stack_id *idle_places(const struct profile *profile);
