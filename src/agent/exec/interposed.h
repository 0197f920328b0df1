/*
 * interposed - every function of the target that exec/ interposes, and why.
 */
#pragma once
#include "agent/core/hooks.h"

#define EXEC_HOOKS(X)                                                                   \
	/* exec.c */                                                                    \
	X(execve, ANSWERS, "the next image gets an agent, and no late trap kills it")   \
	X(execveat, ANSWERS, "the same")                                                \
	X(fexecve, ANSWERS, "the same")                                                 \
	X(execv, ANSWERS, "the same")                                                   \
	X(execvp, ANSWERS, "the same")                                                  \
	X(execvpe, ANSWERS, "the same")                                                 \
	X(execl, ANSWERS, "the same")                                                   \
	X(execle, ANSWERS, "the same")                                                  \
	X(execlp, ANSWERS, "the same")                                                  \
	/* launch.c */                                                                  \
	X(posix_spawn, PASSES_ON, "the same: within libc it does not pass execve()")    \
	X(posix_spawnp, PASSES_ON, "the same")                                          \
	/* system.c */                                                                  \
	X(system, PASSES_ON, "the same: within libc it does not pass posix_spawn()")    \
	/* popen.c */                                                                   \
	X(popen, PASSES_ON, "the same")                                                 \
	X(pclose, PASSES_ON, "waits for the shell of a stream that our popen() opened") \
	X(fclose, PASSES_ON, "the same")

enum exec_hook { EXEC_HOOKS(HOOK_NUMBER) };

extern const struct hooks exec_hooks;
#define HOOK_NEXT(name) HOOK_NEXT_OF(exec_hooks, name)
