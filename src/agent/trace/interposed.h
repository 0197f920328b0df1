/*
 * interposed - every function of the target that trace/ interposes, and why.
 */
#pragma once
#include "agent/core/hooks.h"

#if defined(__x86_64__)
#define ARCH_HOOKS(X)                                             \
	/* native/entries_x86_64.S */                             \
	X(mcount, PASSES_ON, "calls of compiled code are traced") \
	X(_mcount, PASSES_ON, "the same")                         \
	X(__fentry__, PASSES_ON, "the same")
#else
#define ARCH_HOOKS(X)
#endif

#define TRACE_HOOKS(X)                                                               \
	/* interpreter_calls.c */                                                    \
	X(pthread_setspecific, PASSES_ON,                                            \
	  "shows a new thread state before it executes anything")                    \
	X(getenv, PASSES_ON, "Ruby reads RUBYLIB once its VM has been set up")       \
	X(isatty, PASSES_ON, "a new Ractor calls it first")                          \
	/* native/hooks.c */                                                         \
	X(__cyg_profile_func_enter, PASSES_ON, "calls of compiled code are traced")  \
	X(__cyg_profile_func_exit, PASSES_ON, "the same")                            \
	ARCH_HOOKS(X)                                                                \
	/* native/jumps.c */                                                         \
	X(longjmp, PASSES_ON, "ends the calls that it leaves")                       \
	X(_longjmp, PASSES_ON, "the same")                                           \
	X(siglongjmp, PASSES_ON, "the same")                                         \
	X(__longjmp_chk, PASSES_ON, "the same")                                      \
	X(_dl_find_object, PASSES_ON, "unwinders call it: calls may have been left") \
	/* native/signal_stack.c */                                                  \
	X(sigaltstack, ANSWERS, "shows the thread's alternate signal stack")

enum trace_hook { TRACE_HOOKS(HOOK_NUMBER) };

extern const struct hooks trace_hooks;
#define HOOK_NEXT(name) HOOK_NEXT_OF(trace_hooks, name)
