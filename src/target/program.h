/*
 * program - what the kernel runs when a path is executed, and whether the agent can be loaded
 * into it.
 *
 * Implemented by abi/program.h, as in the agent; this is the recorder's version. Does not
 * search PATH, and starts nothing.
 */
#pragma once
#include <limits.h>
#include <stdbool.h>

#include "abi/program_kind.h"

struct target_program {
	char path[PATH_MAX]; /* the program itself, or the last interpreter of a script */
	enum program_kind kind;
	bool is_enterable;
	const char *why_not; /* a literal: "statically linked"; "" if it is enterable */
	/*
	 * Libraries that LD_PRELOAD must list before the agent: "libasan.so.8", "a:b", or "".
	 */
	char first_libraries[PROGRAM_LIBRARIES_SIZE];
	unsigned levels; /* "#!" lines followed, and ld.so's argument; 0: the path itself */
};

/* Whether the kind of program excludes an agent, and not only its permissions or place. */
bool program_has_no_agent(enum program_kind kind);
/*
 * Judges what execve(path, argv, ...) would run, for a process with our own ids. argv may be
 * NULL; its second element is the program if ld.so is run by name.
 */
void target_program_judge(const char *path, char *const *argv,
			  struct target_program *out_program);
