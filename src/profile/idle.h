/*
 * idle - threads that waited for something to do, at one place, for nearly all of their lives, as those
 * of a pool do that nothing was asked of, and shells that wait for their commands.
 *
 * A thread is not idle that waits for an answer (a peer that its program connected to, a file), or for
 * what another one holds (a lock, an interpreter).  Nor is the first thread of the program itself if all
 * others are.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "profile/ids.h"

struct profile;

struct idle {
	size_t threads; /* all of a wall recording, or some; 0: none, or another clock's recording */
	uint64_t ns; /* what they lived together */
};

struct idle idle_find(const struct profile *profile);
/* By thread id, 0 for none, the stack that it waited in; none: it is not idle.  The caller's to free. */
struct stack_id *idle_places(const struct profile *profile);
