/*
 * next_image - whether what is about to be executed can be entered, in the agent's own means.
 *
 * The judge is abi/program.h; here is how it reads.  Ten system calls for an ordinary program,
 * none of which is a cancellation point: access, stat, open, four reads and the close, and two
 * for the ids.  No allocation, 3 KiB of stack; right in vfork children and in handlers.
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
	const char *agent_path;     /* as it would stand in LD_PRELOAD */
};

struct next_image {
	struct program_answer answer;
	bool is_brief; /* it says hello late: environment_program_is_brief() */
};

void next_image_judge(const struct next_image_path *path, struct next_image *out_image);
