/*
 * idle - threads that waited at one place for nearly all of their lives, as those of a pool do that
 * nothing was asked of.
 *
 * The first thread of the program itself is none: what it waits for is the program's answer.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "profile/ids.h"

struct groups;
struct profile;

struct idle {
	size_t threads; /* all of a wall recording, or some; 0: none, or another clock's recording */
	uint64_t ns; /* what they lived together */
};

struct idle idle_find(const struct profile *profile);
/* By thread id, the stack that it waited in; none: it is not idle.  The caller's to free. */
struct stack_id *idle_places(const struct profile *profile);
/* Of rows by thread, those of idle threads of a process at one place become one: group.merged. */
void idle_merge_rows(struct groups *groups, const struct profile *profile);
