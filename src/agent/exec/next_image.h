/*
 * next_image - finds out whether the agent can be preloaded into a program about to be executed.
 *
 * abi/program.h judges the program; here is how its file is read.  Ten system calls for an ordinary
 * program, none of which is a cancellation point: access, stat, open, four reads and the close, and
 * two for the ids.  Allocates nothing, takes 3 KiB of stack; also for vfork children and handlers.
 */
#pragma once
#include <stdbool.h>

#include "abi/program_kind.h"

struct next_image_path {
	/* As execveat() takes them. */
	int folder;
	const char *path;
	int flags;
	const char *first_argument; /* argv[1], or NULL */
	const char *agent_path;     /* as LD_PRELOAD would have it */
};

struct next_image {
	struct program_answer answer;
	bool is_brief; /* its handshake is to be delayed: environment_program_is_brief() */
};

void next_image_judge(const struct next_image_path *path, struct next_image *out_image);
