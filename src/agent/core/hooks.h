/*
 * hooks - functions of the target that the agent interposes.
 *
 * Each layer has a table of its own (interposed.h).  A row has a function's name, what the agent's
 * definition does in the end, and why it is interposed.  PASSES_ON: it calls the next definition of
 * that name (libc's, or a sanitizer's).  ANSWERS: it does the work itself.
 */
#pragma once
#include "abi/types.h"
#include "agent/core/agent_state.h"

typedef void (*hook_function)(void);

/* A layer's table. */
struct hooks {
	const char *const *names; /* NULL: no next definition is called */
	hook_function *next;      /* the next definition of each, once it is found */
	u32 count;
};

/* From a layer's map of rows X(name, kind, why): their numbers, and the table. */
#define HOOK_NUMBER(name, kind, why) HOOK_##name,
#define HOOK_NAME(name, kind, why)   [HOOK_##name] = HOOK_##kind ? #name : NULL,
#define HOOK_PASSES_ON               1
#define HOOK_ANSWERS                 0
#define HOOKS_DEFINE(table, MAP)                                                               \
	static const char *const hook_names[] = { MAP(HOOK_NAME) };                            \
	static hook_function hook_found[sizeof hook_names / sizeof hook_names[0]] AGENT_STATE; \
	const struct hooks table = { hook_names, hook_found,                                   \
				     sizeof hook_names / sizeof hook_names[0] }

/* Finds the next definitions, in the constructor: handlers cannot, by dlsym(). */
void hooks_find(const struct hooks *hooks);
/*
 * For an agent that is loaded into a running process: takes the definitions that all images are
 * bound to (the program's, a sanitizer's or libc's), if they are not the agent's own.
 */
void hooks_find_global(const struct hooks *hooks);
/* Finds libc's functions that the agent itself calls, past definitions of the program's. */
void hooks_begin(void);
/* The next definition of a function that PASSES_ON. */
hook_function hook_next(const struct hooks *hooks, u32 number);

/* The same with the function's own type, as each layer's HOOK_NEXT(dlclose)(handle). */
#define HOOK_NEXT_OF(table, name) ((__typeof__(name) *)hook_next(&(table), HOOK_##name))

/* The agent exports interposed functions, those of control/, and attach.c's entry. */
#define AGENT_EXPORT __attribute__((visibility("default")))
/* A second name of a function that the same file interposes, as both are one function in libc. */
#define AGENT_ALIAS(second, name) \
	extern __typeof__(name) second AGENT_EXPORT __attribute__((alias(#name))) AGENT_AS(name)
/* clang has no such attribute, and does not warn without it. */
#ifdef __clang__
#define AGENT_AS(name)
#else
#define AGENT_AS(name) __attribute__((copy(name)))
#endif
