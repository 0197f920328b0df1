/*
 * hooks - functions of the target that the agent interposes.
 *
 * Each floor has a table of its own (interposed.h): a row is a function's name, what the agent's
 * own does in the end, and the reason.  One that PASSES_ON calls the next definition of its name
 * (libc's, or a sanitizer's); one that ANSWERS makes the system call itself, or calls another of ours.
 */
#pragma once
#include "abi/types.h"
#include "agent/core/agent_state.h"

typedef void (*hook_function)(void);

/* A floor's table. */
struct hooks {
	const char *const *names; /* NULL: no next definition is called */
	hook_function *next;      /* of each, once it is found */
	u32 count;
};

/* Of a floor's map of rows X(name, kind, why): their numbers, and the table. */
#define HOOK_NUMBER(name, kind, why) HOOK_##name,
#define HOOK_NAME(name, kind, why)   [HOOK_##name] = HOOK_##kind ? #name : NULL,
#define HOOK_PASSES_ON               1
#define HOOK_ANSWERS                 0
#define HOOKS_DEFINE(table, MAP)                                                               \
	static const char *const hook_names[] = { MAP(HOOK_NAME) };                            \
	static hook_function hook_found[sizeof hook_names / sizeof hook_names[0]] AGENT_STATE; \
	const struct hooks table = { hook_names, hook_found,                                   \
				     sizeof hook_names / sizeof hook_names[0] }

/*
 * Finds the next definitions, in the constructor: dlsym() is not async-signal-safe, and some
 * of these functions are.
 */
void hooks_find(const struct hooks *hooks);
/*
 * Of an agent that is loaded late: the definitions that all images share, if they are not the
 * agent's own.  The program's own or a sanitizer's are called as without us.
 */
void hooks_find_global(const struct hooks *hooks);
/* The same of what the agent itself calls past the program's definitions. */
void hooks_begin(void);
/* The next definition of a function that PASSES_ON. */
hook_function hook_next(const struct hooks *hooks, u32 number);

/* The same with the function's own type, as each floor's HOOK_NEXT(dlclose)(handle). */
#define HOOK_NEXT_OF(table, name) ((__typeof__(name) *)hook_next(&(table), HOOK_##name))

/* Interposed functions are the only names the agent exports, but for those of control/. */
#define AGENT_EXPORT __attribute__((visibility("default")))
/* A second name of a function that the same file interposes: libc has one function of both, too. */
#define AGENT_ALIAS(second, name) \
	extern __typeof__(name) second AGENT_EXPORT __attribute__((alias(#name))) AGENT_AS(name)
/* clang has no such attribute, and does not warn without it. */
#ifdef __clang__
#define AGENT_AS(name)
#else
#define AGENT_AS(name) __attribute__((copy(name)))
#endif
