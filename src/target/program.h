/*
 * program - what the kernel will run when a path is executed, and whether the agent can come
 * along.
 *
 * The judge is abi/program.h, the same as the agent's; here it reads for the recorder.  Does
 * not search PATH, and starts nothing.
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
	/* What must come before the agent in LD_PRELOAD: "libasan.so.8", "a:b", or "". */
	char first_libraries[PROGRAM_LIBRARIES_SIZE];
	unsigned levels; /* "#!" lines followed, and ld.so's argument; 0: it is itself */
};

/* Whether no agent can be in it for what it is, and not for its rights, or where it is. */
bool program_has_no_agent(enum program_kind kind);
/*
 * Judges what execve(path, argv, ...) would run, for a process with our own ids.  argv may be
 * NULL; its second is what ld.so starts when it is run by its name.
 */
void target_program_judge(const char *path, char *const *argv,
			  struct target_program *out_program);
