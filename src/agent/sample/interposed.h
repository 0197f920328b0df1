/*
 * interposed - every function of the target that sample/ interposes, and why.
 */
#pragma once
#include "agent/core/hooks.h"

#define SAMPLE_HOOKS(X)                                                                     \
	/* thread_end.c */                                                                  \
	X(_exit, PASSES_ON, "what its process has burned is noted")                         \
	X(_Exit, PASSES_ON, "the same")                                                     \
	/* other_files.c */                                                                 \
	X(chroot, PASSES_ON, "the recorder is found before it, if it is still to be asked") \
	X(unshare, PASSES_ON, "the same")                                                   \
	X(setns, PASSES_ON, "the same")

enum sample_hook { SAMPLE_HOOKS(HOOK_NUMBER) };

extern const struct hooks sample_hooks;
#define HOOK_NEXT(name) HOOK_NEXT_OF(sample_hooks, name)
